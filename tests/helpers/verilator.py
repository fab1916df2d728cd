"""Objects of Verilator's own library, which all builds of a run share: they take longer than a small circuit."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_object_cache"]

# Called with the compiler's words, of which the last is the source. It is compiled without optimization, which takes
# longer than the library is at work.
PROGRAM = """#!/bin/sh
kept={folder}/
for word; do
    case $word in -DVM_* | *.o) kept=$kept$word ;; esac
done
case $word in
*/include/verilated*.cpp) ;;
*) exec "$@" ;;
esac
object=$(basename "$word" .cpp).o
if [ -e "$kept" ]; then
    exec cp "$kept" "$object"
fi
"$@" -O0 && cp "$object" "$kept.$$" && mv "$kept.$$" "$kept"
"""


def write_object_cache(folder: Path) -> Path:
    """Write the program that Verilator's makefiles take as `OBJCACHE`; it keeps objects in its folder."""
    program = folder / "compile"
    program.write_text(PROGRAM.format(folder=folder))
    program.chmod(0o755)
    return program
