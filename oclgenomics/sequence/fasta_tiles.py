"""What the tiles of FASTA text hold, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oclgenomics.primitives import scan
from oclgenomics.runtime import Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.fasta_state import FastaState
from oclgenomics.sequence.tiles import Tiles, filled

__all__ = ["FastaTiles", "count_fasta"]


@dataclass(frozen=True)
class FastaTiles:
    """The numbers of a text, and what kernels need that write its symbols tile by tile.

    Attributes
    ----------
    symbols : int
        Letters, and a gap for each header.
    headers : int
        0 if nobody asked.
    arguments : dict
        The text, where it begins, and what comes before each tile.
    """

    symbols: int
    headers: int
    arguments: dict[str, Any]


def count_fasta(engine: Engine, text: Text, state: FastaState, *, names: bool) -> FastaTiles:
    """Count the symbols of each tile.

    Parameters
    ----------
    engine : Engine
    text : Text
    state : FastaState
        Where the text begins.
    names : bool
        Headers are counted, too. The text does not end within one.
    """
    launch = Tiles(engine, text.size, "sequence/count_fasta.cl", NAMES=names)
    marks, prefix, rest = (engine.empty(launch.tiles, np.uint32) for _ in range(3))
    places = filled(engine, launch.tiles + 1, np.uint32, 0)
    headers = {"headers": filled(engine, launch.tiles + 1, np.uint32, 0)} if names else {}
    begin = {**text.place, "starts": state.starts_line}
    launch("summarize_fasta", **begin, marks=marks, prefix=prefix, rest=rest, **headers)
    scan(engine, marks, maximum=True, out=marks)
    begin["inside"] = state.in_header
    launch("count_fasta", **begin, marks=marks, prefix=prefix, rest=rest, symbols=places)
    totals = [
        int(engine.download(scan(engine, array, out=array), 1, launch.tiles)[0])
        for array in (places, *headers.values())
    ]
    return FastaTiles(totals[0], sum(totals[1:]), {**begin, "marks": marks, "places": places, **headers})
