"""Matches with or without mismatches, block after block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.describe import describe
from oclgenomics.signatures.device.found import FoundStarts
from oclgenomics.signatures.device.methods import Methods
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.joining import rows_of_part, rows_of_pieces
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.plan import parts_of_pairs
from oclgenomics.signatures.result import Matches, Samples

__all__ = ["MatchScan"]


class MatchScan:
    """Finds the matches of blocks.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    options : ScanOptions
    """

    def __init__(self, engine: Engine, patterns: DevicePatterns, options: ScanOptions) -> None:
        self._engine, self._patterns, self._report = engine, patterns, options.report
        self._methods = Methods(engine, patterns, options.method)

    def parts(self, samples: SampleLetters) -> Iterator[tuple[Samples, Matches]]:
        """Yield the pieces of a block and their matches: at once where a pair has one, else as many as memory takes."""
        rows, pairs = rows_of_pieces(samples), self._methods.pairs(samples)
        if self._report != "all":
            starts = FoundStarts(pairs.piece, pairs.pattern, pairs.best if self._report == "best" else pairs.first)
            yield rows, self._matches(samples, starts, pairs.hits.astype(np.int64))
            return
        for part in parts_of_pairs(pairs.piece, pairs.hits, len(rows)):
            starts = self._methods.starts(samples, pairs.part(part.begin, part.end))
            matches = self._matches(samples, starts, np.ones(len(starts), np.int64))
            yield rows_of_part(rows, part.first_piece, part.end_piece, again=part.again, goes_on=part.goes_on), matches

    def _matches(self, samples: SampleLetters, found: FoundStarts, hits: NDArray[np.int64]) -> Matches:
        facts = describe(self._engine, samples, self._patterns, found)
        pieces, known = samples.block.pieces, self._patterns.patterns
        start = pieces.start[found.piece] + found.start
        return Matches(
            pieces.record[found.piece],
            known.signature[found.pattern],
            known.strand[found.pattern],
            start,
            start + known.lengths[found.pattern],
            hits,
            facts.mismatches.astype(np.int32),
            np.full(len(found), samples.has_qualities),
            facts.quality_sum,
            facts.informative,
            facts.sample_ns,
            facts.pattern_ns,
            facts.error_units,
        )
