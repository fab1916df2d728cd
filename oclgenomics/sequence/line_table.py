"""Where the lines of a text are, found on the device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.tiles import Tiles, filled

__all__ = ["LineTable", "line_table", "lines_before"]

SOURCE = "sequence/lines.cl"


@dataclass(frozen=True)
class LineTable:
    """The newlines of a text.

    Attributes
    ----------
    newlines : DeviceArray, uint32 (size,) or longer
        Their places, ascending.
    size : int
        How many there are.
    """

    newlines: DeviceArray
    size: int


def lines_before(engine: Engine, text: Text, *, total: bool) -> DeviceArray:
    """Newlines before each tile, uint32; behind the last tile's those of the whole text if `total`."""
    launch = Tiles(engine, text.size, SOURCE)
    lines = filled(engine, launch.tiles + 1, np.uint32, 0) if total else engine.empty(launch.tiles, np.uint32)
    launch("count_lines", **text.place, lines=lines)
    return scan(engine, lines, out=lines)


def line_table(engine: Engine, text: Text) -> LineTable:
    """Find all newlines."""
    launch = Tiles(engine, text.size, SOURCE)
    lines = lines_before(engine, text, total=True)
    size = int(engine.download(lines, 1, launch.tiles)[0])
    newlines = engine.empty(max(size, 1), np.uint32)
    launch("place_lines", **text.place, lines=lines, newlines=newlines)
    return LineTable(newlines, size)
