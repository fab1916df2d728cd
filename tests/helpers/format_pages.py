"""Pages of docs that describe a file byte by byte and by a program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

__all__ = ["FormatPage"]

DOCS = Path(__file__).resolve().parents[2] / "docs"
BYTES = re.compile(r"(?P<hex>[0-9a-f]{2}(?: [0-9a-f]{2})*)(?: x (?P<times>[0-9]+))?")


class FormatPage:
    """A page with one example of a file, each line a place and bytes, and one program with what it prints."""

    def __init__(self, name: str) -> None:
        self.path = DOCS / name
        self.text = self.path.read_text()

    def example(self) -> bytes:
        """Return the file of the example; its places are checked."""
        (example,) = re.findall(r"<!-- example -->\n```\n(.*?)```", self.text, re.DOTALL)
        data = b""
        for line in example.splitlines():
            place, part = re.split("  +", line.strip())[:2]
            assert int(place) == len(data)
            data += _listed(part)
        return data

    def run_program(self) -> str:
        """Run the program in the working folder, and return what the page says that it prints."""
        (program,), (shown,) = (
            re.findall(rf"```{kind}\n(.*?)```", self.text, re.DOTALL) for kind in ("python", "text")
        )
        names: dict[str, Any] = {}
        exec(compile(program, str(self.path), "exec"), names)
        return str(shown)


def _listed(line: str) -> bytes:
    """The bytes of a line: hexadecimal, the same byte several times, or text."""
    found = BYTES.fullmatch(line)
    return bytes.fromhex(found["hex"]) * int(found["times"] or 1) if found else line.encode()
