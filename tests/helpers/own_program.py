"""`oclgenomics` on the PATH of child processes, as this Python runs it from this checkout."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

__all__ = ["put_on_path"]


def put_on_path(folder: Path) -> dict[str, str]:
    """Return the variables of processes that find `oclgenomics` in a folder, into which it is written."""
    folder.mkdir(exist_ok=True)
    program = folder / "oclgenomics"
    python_path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{python_path}" exec {sys.executable} -m oclgenomics "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": os.pathsep.join([str(folder), os.environ["PATH"]])}
