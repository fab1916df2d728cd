"""The processor as the system describes it: machine code and built-in functions fit only some processors."""

from __future__ import annotations

import functools
import platform
from pathlib import Path


@functools.cache
def description() -> str:
    """Return the processor's model and instruction sets, as far as the system names them."""
    wanted = ("vendor", "cpu family", "model", "flags", "Features", "CPU part")
    kept = [line for line in _first_processor() if line.startswith(wanted)]
    return "\n".join(kept) or platform.machine()


@functools.cache
def instruction_sets() -> frozenset[str]:
    """Return the instruction sets by the names that Linux gives them, such as "avx2"; none where it names none."""
    for line in _first_processor():
        name, _, words = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(words.split())
    return frozenset()


def _first_processor() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text().split("\n\n", 1)[0].splitlines()
    except OSError:
        return []
