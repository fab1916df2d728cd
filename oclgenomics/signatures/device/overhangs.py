"""Matches of patterns that run past the start or the end of a record.

Only the first and the last bases of a record matter, fewer than a pattern has. A pair of an end and a pattern is a
work-item, which tries all overhangs: matches of all pairs are counted, then those of pairs that have any are listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.pieces import Pieces
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.options import OverhangAt
from oclgenomics.signatures.panels.panel import Patterns
from oclgenomics.signatures.result import Columns

SOURCE = "signatures/overhangs.cl"
NUCLEOTIDES = np.arange(4, dtype=np.uint8)
MAX_PAIRS = 1 << 20  # that are compared at a time
WORDS = {32: np.uint32, 64: np.uint64}  # by bits, for masks of patterns that are no longer
MAX_FOUND = 1 << 26  # matches that these may have


@dataclass(frozen=True)
class Overhangs(Columns):
    """Matches that run past an end, ordered by piece, end and pattern, and from left to right; arrays of one length.

    Attributes
    ----------
    piece, pattern : ndarray, int64
        Number of the piece in its block, and of the pattern.
    start, end : ndarray, int64
        The letters start .. end - 1 of the piece lie under the pattern.
    skip : ndarray, int64
        Letters of the pattern before the first one that lies above the piece.
    """

    TYPES = "qqqqq"

    piece: NDArray[np.int64]
    pattern: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    skip: NDArray[np.int64]


class OverhangFinder:
    """Finds them in blocks.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    least : int
        Letters of a pattern that have to lie in a record, 1 or more.
    at : {'both', 'start', 'end'}
        Which end of records matches may run past.
    max_pairs : int
        Most pairs of an end and a pattern that are compared at a time.
    masks : bool
        Compare short patterns as words, a bit for each letter, instead of letter by letter.
    """

    def __init__(
        self,
        engine: Engine,
        patterns: DevicePatterns,
        least: int,
        at: OverhangAt = "both",
        *,
        max_pairs: int = MAX_PAIRS,
        masks: bool = True,
    ) -> None:
        self._engine, self._patterns, self._least, self._at = engine, patterns, least, at
        sizes = patterns.patterns.lengths
        self._most_letters = int(sizes.max())
        self._bits = next((bits for bits in WORDS if self._most_letters <= bits), 0) if masks else 0
        self._masks = engine.upload(masks_of(patterns.patterns).astype(WORDS[self._bits])) if self._bits else None
        self._rows = max(1, min(max_pairs // len(patterns.patterns), MAX_FOUND // len(patterns.patterns.sets)))

    def find(self, samples: SampleLetters) -> Overhangs:
        """Return all of a block."""
        ends = ends_of(samples.block.pieces, self._at)
        lots = range(0, len(ends), self._rows)
        return Overhangs.joined(self._of_ends(samples, ends[begin : begin + self._rows]) for begin in lots)

    def _of_ends(self, samples: SampleLetters, ends: NDArray[np.uint32]) -> Overhangs:
        engine, columns = self._engine, len(self._patterns.patterns)
        pairs = len(ends) * columns
        given: dict[str, Any] = {
            "codes": samples.codes, "pieces": samples.pieces, **self._patterns.arguments, "least": self._least,
            "most": self._patterns.max_mismatches,
        }  # fmt: skip
        hits = engine.download(self._counts(samples, engine.upload(ends), pairs, given))
        some = np.flatnonzero(hits)
        if not len(some):
            return Overhangs.none()
        hits = hits[some].astype(np.int64)
        end, pattern = ends[some // columns], some % columns
        behind = np.cumsum(hits)
        listed = np.stack([end, pattern, behind - hits], axis=1).astype(np.uint32)
        found = engine.empty(int(behind[-1]), np.uint32)
        kernel = engine.kernel(SOURCE, "list_overhangs", BITS=0)
        engine.launch_items(kernel, len(some), **given, listed=engine.upload(listed), pairs=len(some), found=found)
        number = engine.download(found).astype(np.int64)
        return self._placed(samples.block.pieces, np.repeat(end, hits), np.repeat(pattern, hits), number)

    def _counts(self, samples: SampleLetters, ends: DeviceArray, pairs: int, given: dict[str, Any]) -> DeviceArray:
        """Number of matches of each pair."""
        engine, masks = self._engine, None
        size: dict[str, Any] = {"most_letters": self._most_letters}
        if self._bits:
            masks = engine.empty((ends.size, len(NUCLEOTIDES)), WORDS[self._bits])
            kernel = engine.kernel(SOURCE, "mask_ends", BITS=self._bits)
            engine.launch_items(
                kernel, ends.size, codes=samples.codes, pieces=samples.pieces, ends=ends, count=ends.size, **size,
                masks=masks,
            )  # fmt: skip
        counts = engine.empty(pairs, np.uint32)
        kernel = engine.kernel(SOURCE, "count_overhangs", BITS=self._bits)
        engine.launch_items(
            kernel, pairs, **given, **size, ends=ends, columns=pairs // ends.size, pairs=pairs, end_masks=masks,
            pattern_masks=self._masks, counts=counts,
        )  # fmt: skip
        return counts

    def _placed(
        self, pieces: Pieces, end: NDArray[np.uint32], pattern: NDArray[np.int64], number: NDArray[np.int64]
    ) -> Overhangs:
        """Where matches lie, by their numbers; overhangs.cl says what these are."""
        piece, last = (end // 2).astype(np.int64), end % 2 == 1
        size, length = pieces.size[piece].astype(np.int64), self._patterns.patterns.lengths[pattern]
        skip = np.where(last, 0, length - self._least - number)
        start = np.where(last, np.maximum(size - length + 1, 0) + number, 0)
        return Overhangs(piece, pattern, start, np.minimum(start + length - skip, size), skip)


def masks_of(patterns: Patterns, bits: int = max(WORDS)) -> NDArray[np.uint64]:
    """Return in which bases of each word each nucleotide may be, uint64 (words, 4): bit j is base j.

    Parameters
    ----------
    patterns : Patterns
        Their words follow each other.
    bits : int
        Bases of a word.
    """
    number = np.arange(len(patterns.sets)) - np.repeat(patterns.offsets[:-1], patterns.lengths)
    bit = number % bits
    sets = (patterns.sets[:, None] >> NUCLEOTIDES & 1).astype(np.uint64) << bit.astype(np.uint64)[:, None]
    masks: NDArray[np.uint64] = np.bitwise_or.reduceat(sets, np.flatnonzero(bit == 0))
    return masks


def ends_of(pieces: Pieces, at: OverhangAt) -> NDArray[np.uint32]:
    """Return the ends of records in a block in order, uint32: twice the number of the piece, plus 1 for its last bases.

    Parameters
    ----------
    pieces : Pieces
        Those of a record overlap by as many bases as a pattern has, less one, or more.
    at : {'both', 'start', 'end'}
    """
    first, last = np.flatnonzero((pieces.start == 0) & (at != "end")), np.flatnonzero(pieces.ends & (at != "start"))
    return np.sort(np.concatenate([2 * first, 2 * last + 1])).astype(np.uint32)
