"""Kernel sources by name, with includes resolved on the host.

Resolving here rather than in the OpenCL compiler keeps `-I` paths (which some compilers cannot take with a space) out
of the build and makes the whole text part of the program cache's key. `#line` directives keep the compilers' messages
about the real files.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from oclgenomics.errors import BuildError

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"[ \t]*(?://.*)?$')
_LINE = re.compile(r'^#line (\d+) "([^"]+)"$')


@functools.cache
def source_folder() -> Path:
    """Return the folder `kernels_cl`: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "kernels_cl", package.parent / "kernels_cl"):
        if folder.is_dir():
            return folder
    raise BuildError(
        f"the kernel sources are missing: no kernels_cl in or next to {package}; install oclgenomics again"
    )


@functools.cache
def load_source(name: str) -> str:
    """Return a kernel source with its includes, each file once.

    Parameters
    ----------
    name : str
        Path below `kernels_cl`, such as "omega/ld.cl".

    Raises
    ------
    BuildError
        The file, or one it includes, does not exist.
    """
    return _resolve(name, set(), f"asked for as {name}") + "\n"


def place_of(text: str, line: int) -> str:
    """Return where a line of a resolved source comes from, for compilers that ignore `#line`.

    Parameters
    ----------
    text : str
        What `load_source` returned.
    line : int
        Counted from 1.

    Returns
    -------
    str
        "file:line".
    """
    file, number = "?", 0
    for text_line in text.splitlines()[:line]:
        directive = _LINE.match(text_line)
        if directive is None:
            number += 1
        else:
            file, number = directive[2], int(directive[1]) - 1
    return f"{file}:{number}"


def _resolve(name: str, seen: set[str], place: str) -> str:
    if name in seen:
        return ""
    seen.add(name)
    path = source_folder() / name
    try:
        text = path.read_text(encoding="ascii")
    except FileNotFoundError as error:
        raise BuildError(f"kernel source {name} does not exist ({place})") from error
    except UnicodeDecodeError as error:
        raise BuildError(f"kernel source {name} is not plain ASCII (byte {error.start})") from error
    lines = [f'#line 1 "{name}"']
    for number, line in enumerate(text.splitlines(), start=1):
        match = _INCLUDE.match(line) if "include" in line else None
        if match is None:
            lines.append(line)
            continue
        lines.append(_resolve(match.group(1), seen, f"included at {name}:{number}"))
        lines.append(f'#line {number + 1} "{name}"')
    return "\n".join(lines)
