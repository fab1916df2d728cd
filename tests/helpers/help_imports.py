"""What the help of commands says and imports."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

__all__ = ["HEAVY", "help_trouble"]

HEAVY = ("numpy", "pyopencl", "matplotlib", "tskit", "zarr")
# One process for all: a start takes far longer than a help. What one has imported stays there and is told of that one.
_RUN = """
import contextlib, io, json, sys
from {module} import main
for line in json.loads(sys.argv[1]):
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(said):
        status = main(line)
    said.seek(0)
    found = [name for name in {heavy!r} if name in sys.modules]
    wrong = [f"exit status {{status}}"] * bool(status) + [f"imports {{name}}" for name in found]
    wrong += ["no usage"] * ({usage!r} not in said.read())
    if wrong:
        sys.exit(f"{{' '.join(line)}}: {{', '.join(wrong)}}")
print("all")
"""


def help_trouble(module: str, usage: str, lines: Sequence[Sequence[str]], heavy: Sequence[str] = HEAVY) -> str:
    """Return which of some helps is the first to fail, to say no usage or to import what is heavy, or "".

    Parameters
    ----------
    module : str
        The one that holds `main`.
    usage : str
        What every help says.
    lines : sequence of sequence of str
        Arguments, each with its `--help`.
    heavy : sequence of str
        Modules that are not to be imported.
    """
    code = _RUN.format(module=module, heavy=tuple(heavy), usage=usage)
    done = subprocess.run([sys.executable, "-c", code, json.dumps(lines)], capture_output=True, text=True, check=False)
    return "" if (done.returncode, done.stdout) == (0, "all\n") else done.stderr or done.stdout or "no answer"
