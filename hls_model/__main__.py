"""`python -m hls_model COMMAND`, the old spelling of `oclgenomics fpga COMMAND`."""

from __future__ import annotations

import sys

from oclgenomics.__main__ import program as front_end


def forwarded(words: list[str]) -> list[str]:
    """Return the words of `oclgenomics`; a projection measures nothing, as ever under the old spelling."""
    unmeasured = ["--no-measure"] if words[:1] == ["project"] and "--no-measure" not in words else []
    return ["fpga", *words, *unmeasured]


def program() -> int:
    """Run the command line in this process."""
    words = sys.argv[1:]
    if not {"-q", "--quiet"} & set(words):
        print("hls_model: `python -m hls_model` is now `oclgenomics fpga`", file=sys.stderr)
    sys.argv[1:] = forwarded(words)
    return front_end()


if __name__ == "__main__":
    raise SystemExit(program())
