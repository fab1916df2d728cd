"""Matches with edits that run past the start or the end of a record.

The device says which pairs of an end and a pattern have any; these few are aligned on the host, many at a time. At the
start of a record both are read backwards, so that all is as at the end of one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.overhangs import MAX_PAIRS, WORDS, ends_of, masks_of
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.options import OverhangAt
from oclgenomics.signatures.panels.letters import ANY, SETS, is_concrete
from oclgenomics.signatures.panels.panel import Patterns
from oclgenomics.signatures.result import Columns

LONGEST = max(WORDS)
ALIGNED = 1 << 14  # pairs that are aligned at a time


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
    pattern_ns : ndarray, int64
        Letters N of the pattern that lie inside.
    """

    TYPES = "qqqqqqqq"

    piece: NDArray[np.int64]
    pattern: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    edits: NDArray[np.int64]
    informative: NDArray[np.int64]
    outside: NDArray[np.int64]
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
    max_pairs, aligned : int
        Most pairs of an end and a pattern that are compared, and aligned, at a time.

    Raises
    ------
    ParameterError
        A pattern has more than 64 letters.
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
    ) -> None:
        known = patterns.patterns
        longest = int(known.lengths.max())
        if longest > LONGEST:
            text = f"with `max_edits` is for signatures of up to {LONGEST} bases, and one has {longest:,}"
            raise ParameterError("overhang", text, least)
        self._engine, self._patterns, self._max_edits = engine, patterns, max_edits
        self._least, self._at = least, at
        self._bits = next(bits for bits in WORDS if longest <= bits)
        both = np.stack([masks_of(known), masks_of(_backwards(known))], axis=1)
        self._masks = engine.upload(both.astype(WORDS[self._bits]))
        self._rows, self._aligned = max(1, max_pairs // len(known)), aligned

    def find(self, samples: SampleLetters) -> EditOverhangs:
        """Return all of a block."""
        ends, columns = ends_of(samples.block.pieces, self._at), len(self._patterns.patterns)
        found = []
        for first in range(0, len(ends), self._rows):
            some = ends[first : first + self._rows]
            pairs = np.flatnonzero(self._flags(samples, some))
            for begin in range(0, len(pairs), self._aligned):
                lot = pairs[begin : begin + self._aligned]
                found.append(self._of_pairs(samples, some[lot // columns].astype(np.int64), lot % columns))
        return EditOverhangs.joined(found)

    def _flags(self, samples: SampleLetters, ends: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """Whether each pair has a match."""
        engine, columns = self._engine, len(self._patterns.patterns)
        pairs = len(ends) * columns
        flags = engine.empty(pairs, np.uint8)
        engine.launch_items(
            engine.kernel("signatures/overhang_edits.cl", "flag_overhangs", BITS=self._bits), pairs,
            codes=samples.codes, pieces=samples.pieces, patterns=self._patterns.on_device, ends=engine.upload(ends),
            columns=columns, pairs=pairs, least=self._least, edits=self._max_edits, masks=self._masks, flags=flags,
        )  # fmt: skip
        return engine.download(flags)

    def _of_pairs(self, samples: SampleLetters, ends: NDArray[np.int64], pattern: NDArray[np.int64]) -> EditOverhangs:
        """The matches of pairs that have one each."""
        known, pieces = self._patterns.patterns, samples.block.pieces
        piece, last = ends // 2, (ends % 2).astype(np.bool_)
        length, size = known.lengths[pattern], pieces.size[piece].astype(np.int64)
        wide, row = int(length.max()) + self._max_edits, np.arange(len(pattern))
        # Texts end where the record does, behind letters that match nothing where they are too short.
        back = np.arange(wide)[::-1]
        letters = pieces.letters[piece].astype(np.int64)
        at = letters[:, None] + np.where(last[:, None], (size - 1)[:, None] - back, back)
        inside = back < size[:, None]
        text = np.where(inside, SETS[samples.block.host[np.where(inside, at, letters[:, None])]], np.uint8(0))
        number = np.arange(int(length.max()))
        there = number < length[:, None]
        at = np.where(last[:, None], number, length[:, None] - 1 - number)
        sets = known.sets[known.offsets[pattern][:, None] + np.where(there, at, 0)]
        cost, start, informative = _end_costs(text, sets)
        allowed = self._max_edits * (number + 1) // length[:, None]
        right = there & (number + 1 >= self._least) & (number + 1 < length[:, None]) & (cost <= allowed)
        missed = np.where(right, cost + length[:, None] - (number + 1), np.iinfo(np.int64).max)
        chosen = missed.shape[1] - 1 - missed[:, ::-1].argmin(axis=1)  # of equal ones that with the most letters
        under = wide - start[row, chosen]
        ns = np.cumsum(sets == ANY, axis=1)[row, chosen]
        return EditOverhangs(
            piece, pattern, np.where(last, size - under, 0), np.where(last, size, under), cost[row, chosen],
            informative[row, chosen], length - 1 - chosen, ns,
        )  # fmt: skip


def _backwards(patterns: Patterns) -> Patterns:
    """Patterns with their letters in reverse order."""
    source = np.repeat(patterns.offsets[:-1] + patterns.offsets[1:] - 1, patterns.lengths) - np.arange(
        len(patterns.sets)
    )
    return Patterns(patterns.sets[source], patterns.offsets, patterns.signature, patterns.strand)


def _end_costs(
    text: NDArray[np.uint8], patterns: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Edits, start and informative positions of the first letters of patterns that end with texts.

    Keys are those of `oclgenomics.signatures.reference.end_costs`. All results are int64 (patterns, letters).
    """
    end = np.arange(text.shape[1] + 1)
    per_start = patterns.shape[1] + 1
    per_edit = per_start * len(end)
    cost = np.broadcast_to(-end * per_start, (len(text), len(end)))
    last = np.empty(patterns.shape, np.int64)
    for j in range(patterns.shape[1]):
        bases = patterns[:, j : j + 1]
        met = (text & bases) != 0
        same = met & is_concrete(text) & is_concrete(bases)
        across = cost[:, :-1] + np.where(met, -same.astype(np.int64), per_edit)
        cost = cost + per_edit
        cost[:, 1:] = np.minimum(cost[:, 1:], across)
        cost = np.minimum.accumulate(cost - end * per_edit, axis=1) + end * per_edit
        last[:, j] = cost[:, -1]
    edits, rest = -(-last // per_edit), -last % per_edit
    return edits, rest // per_start, rest % per_start
