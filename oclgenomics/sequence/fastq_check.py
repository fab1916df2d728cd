"""Defects of FASTQ that packing its letters does not show, found on the device."""

from __future__ import annotations

from oclgenomics.runtime import Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.parse import FastqResult
from oclgenomics.sequence.tiles import NOTHING, Tiles, filled

__all__ = ["find_defect"]


def find_defect(engine: Engine, text: Text, result: FastqResult) -> tuple[int, int] | None:
    """Look through the records of a block in which parsing found no defect.

    Letters and qualities have to be characters from ! to ~, letters may not start with +, and the title behind the + of
    a record has to be that of its first line, or none.

    Parameters
    ----------
    engine : Engine
    text : Text
        That was parsed.
    result : FastqResult

    Returns
    -------
    tuple of int or None
        Where the first record with a defect starts, and its kind (an index of `defects.DEFECTS`).
    """
    if not result.census.records or result.lines is None:
        return None
    launch = Tiles(engine, text.size, "sequence/check_fastq.cl")
    report = filled(engine, 1, "uint32", NOTHING)
    launch("check_fastq", **text.place, lines=result.lines, stop=result.tail, report=report)
    (defect,) = engine.download(report).tolist()
    return None if defect == NOTHING else (defect >> 2, defect & 3)
