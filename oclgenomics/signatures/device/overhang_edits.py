"""Matches with edits that run past the start or the end of a record.

The device chooses how many bases of a pattern lie inside, for each pair of an end and a pattern; the few that match are
aligned on the host, many at a time. At the start of a record both are read backwards, so that all is as at its end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.overhangs import MAX_PAIRS, WORDS, ends_of, masks_of
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.options import OverhangAt
from oclgenomics.signatures.panels.letters import ANY, SETS, is_concrete
from oclgenomics.signatures.panels.panel import Patterns
from oclgenomics.signatures.result import Columns

ALIGNED = 1 << 14  # pairs that are aligned at a time
ALIGNED_CELLS = 1 << 21  # of a row of their alignments, at most
CARRY_BYTES = 1 << 26  # of pairs that are compared at a time


@dataclass(frozen=True)
class EditOverhangs(Columns):
    """Matches with edits that run past an end, ordered by piece, end and pattern; arrays of one length.

    Attributes
    ----------
    piece, pattern : ndarray, int64
    start, end : ndarray, int64
        The letters start .. end - 1 of the piece lie under the pattern.
    edits, informative, outside : ndarray, int64
        `outside` letters of the pattern lie outside the record.
    before : ndarray, int64
        Those of them before the record's start.
    pattern_ns : ndarray, int64
        Letters N of the pattern that lie inside.
    """

    TYPES = "qqqqqqqqq"

    piece: NDArray[np.int64]
    pattern: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    edits: NDArray[np.int64]
    informative: NDArray[np.int64]
    outside: NDArray[np.int64]
    before: NDArray[np.int64]
    pattern_ns: NDArray[np.int64]


class EditOverhangFinder:
    """Finds them in blocks, one of a pattern at an end at most; see `oclgenomics.signatures.reference.places`.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    max_edits : int
    least : int
        Letters of a pattern that have to lie in a record, 1 or more.
    at : {'both', 'start', 'end'}
        Which end of records matches may run past.
    max_pairs, aligned, carry_bytes : int
        Most pairs of an end and a pattern that are compared, and aligned, at a time, and memory for comparing.
    """

    def __init__(
        self,
        engine: Engine,
        patterns: DevicePatterns,
        max_edits: int,
        least: int,
        at: OverhangAt = "both",
        *,
        max_pairs: int = MAX_PAIRS,
        aligned: int = ALIGNED,
        carry_bytes: int = CARRY_BYTES,
    ) -> None:
        known = patterns.patterns
        self._engine, self._patterns, self._max_edits = engine, patterns, max_edits
        self._least, self._at, self._aligned = least, at, aligned
        longest = int(known.lengths.max())
        self._bits = next((bits for bits in WORDS if longest <= bits), max(WORDS))
        self._long = longest > self._bits
        both = np.stack([masks_of(known, self._bits), masks_of(_backwards(known), self._bits)], axis=1)
        self._masks = engine.upload(both.astype(WORDS[self._bits]))
        words = -(-known.lengths // self._bits)
        self._first_words = engine.upload((np.cumsum(words) - words).astype(np.uint32))
        # Of a pair: two words for each word of columns.
        self._carried = 2 * -(-(longest + max_edits) // self._bits) if self._long else 0
        pairs = min(max_pairs, carry_bytes // max(1, self._carried * self._bits // 8))
        self._columns = min(len(known), max(1, pairs))
        self._rows = max(1, pairs // self._columns)

    def find(self, samples: SampleLetters) -> EditOverhangs:
        """Return all of a block."""
        ends, count = ends_of(samples.block.pieces, self._at), len(self._patterns.patterns)
        chosen: list[list[NDArray[np.int64]]] = [[np.empty(0, np.int64)] * 3]  # ends, patterns, bases inside
        for first in range(0, len(ends), self._rows):
            some = ends[first : first + self._rows]
            for pattern in range(0, count, self._columns):
                columns = min(self._columns, count - pattern)
                insides = self._insides(samples, some, pattern, columns)
                pairs = np.flatnonzero(insides)
                chosen.append(
                    [
                        some[pairs // columns].astype(np.int64),
                        pattern + pairs % columns,
                        insides[pairs].astype(np.int64),
                    ]
                )
        end, which, inside = map(np.concatenate, zip(*chosen, strict=True))
        order = np.lexsort((which, end))
        return self._aligned_pairs(samples, end[order], which[order], inside[order])

    def _insides(
        self, samples: SampleLetters, ends: NDArray[np.uint32], first: int, columns: int
    ) -> NDArray[np.uint32]:
        """How many bases of a pattern the match of each pair has, 0 where there is none."""
        engine, pairs = self._engine, len(ends) * columns
        insides = engine.empty(pairs, np.uint32)
        carry = engine.empty((pairs, self._carried), WORDS[self._bits]) if self._long else None
        engine.launch_items(
            engine.kernel("signatures/overhang_edits.cl", "choose_overhangs", BITS=self._bits, LONG=self._long), pairs,
            codes=samples.codes, pieces=samples.pieces, patterns=self._patterns.on_device, ends=engine.upload(ends),
            first=first, columns=columns, pairs=pairs, least=self._least, edits=self._max_edits, masks=self._masks,
            first_words=self._first_words, carry=carry, insides=insides,
        )  # fmt: skip
        return engine.download(insides)

    def _aligned_pairs(
        self, samples: SampleLetters, end: NDArray[np.int64], pattern: NDArray[np.int64], inside: NDArray[np.int64]
    ) -> EditOverhangs:
        """The matches of pairs with so many bases inside, in their order."""
        by_size = np.argsort(-inside, kind="stable")  # so that those of a lot have about as many
        edits, under, informative, ns = np.empty((4, len(end)), np.int64)
        begin = 0
        while begin < len(end):
            wide = int(inside[by_size[begin]]) + 2 * self._max_edits
            lot = by_size[begin : begin + max(1, min(self._aligned, ALIGNED_CELLS // wide))]
            aligned = self._alignments(samples, end[lot], pattern[lot], inside[lot])
            for column, found in zip((edits, under, informative, ns), aligned, strict=True):
                column[lot] = found
            begin += len(lot)
        piece, last = end // 2, end % 2 == 1
        size = samples.block.pieces.size[piece].astype(np.int64)
        outside = self._patterns.patterns.lengths[pattern] - inside
        return EditOverhangs(
            piece, pattern, np.where(last, size - under, 0), np.where(last, size, under), edits, informative, outside,
            np.where(last, 0, outside), ns,
        )  # fmt: skip

    def _alignments(
        self, samples: SampleLetters, end: NDArray[np.int64], pattern: NDArray[np.int64], inside: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Edits of pairs, bases of the record under the pattern, informative positions, and Ns of the pattern."""
        known, pieces = self._patterns.patterns, samples.block.pieces
        piece, last = end // 2, end % 2 == 1
        length, size = known.lengths[pattern], pieces.size[piece].astype(np.int64)
        band = int((self._max_edits * inside // length).max())
        # Texts begin with the band's last diagonal and end where the record does. Bases before it match nothing.
        back = (inside + band)[:, None] - 1 - np.arange(int(inside.max()) + band)
        letters = pieces.letters[piece].astype(np.int64)
        there = (back >= 0) & (back < size[:, None])
        at = letters[:, None] + np.where(last[:, None], (size - 1)[:, None] - back, back)
        text = np.where(there, SETS[samples.block.host[np.where(there, at, letters[:, None])]], np.uint8(0))
        number = np.arange(int(inside.max()))
        within = number < inside[:, None]
        at = np.where(last[:, None], number, length[:, None] - 1 - number)
        sets = known.sets[known.offsets[pattern][:, None] + np.where(within, at, 0)]
        edits, start, informative = _end_costs(text, sets, inside, band)
        return edits, inside + band - start, informative, ((sets == ANY) & within).sum(axis=1)


def _backwards(patterns: Patterns) -> Patterns:
    """Patterns with their letters in reverse order."""
    source = np.repeat(patterns.offsets[:-1] + patterns.offsets[1:] - 1, patterns.lengths) - np.arange(
        len(patterns.sets)
    )
    return Patterns(patterns.sets[source], patterns.offsets, patterns.signature, patterns.strand)


def _end_costs(
    text: NDArray[np.uint8], patterns: NDArray[np.uint8], inside: NDArray[np.int64], band: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Edits, start and informative positions of the first `inside` bases of patterns, that end with texts.

    A text has `band` bases more than are inside, and alignments stay within so many diagonals of the one that ends
    with both. Keys are those of `oclgenomics.signatures.reference.end_costs`. All results are int64 (patterns,).
    """
    per_start = patterns.shape[1] + 1
    per_edit = per_start * (text.shape[1] + 1)
    diagonal = np.arange(2 * band + 1)
    cost = np.zeros((len(text), len(diagonal) + 1), np.int64)
    cost[:, -1] = per_edit * (patterns.shape[1] + 1)  # beyond the band
    cost[:, :-1] = -diagonal * per_start
    final = np.empty(len(text), np.int64)
    for j in range(patterns.shape[1]):
        bases, here = patterns[:, j : j + 1], text[:, j : j + len(diagonal)]
        short = len(diagonal) - here.shape[1]  # behind the last base of the longest texts
        here = np.pad(here, ((0, 0), (0, short))) if short else here
        met = (here & bases) != 0
        same = met & is_concrete(here) & is_concrete(bases)
        across = cost[:, :-1] + np.where(met, -same.astype(np.int64), per_edit)
        least = np.minimum(across, cost[:, 1:] + per_edit)
        cost[:, :-1] = np.minimum.accumulate(least - diagonal * per_edit, axis=1) + diagonal * per_edit
        done = inside == j + 1
        final[done] = cost[done, band]
    edits, rest = -(-final // per_edit), -final % per_edit
    return edits, rest // per_start, rest % per_start
