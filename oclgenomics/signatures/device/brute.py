"""Brute force: every pattern compared with every piece at every start, the method of the paper and a base line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence.device_text import Text
from oclgenomics.signatures.device.choice import Choice, chosen_patterns
from oclgenomics.signatures.device.found import FoundPairs, FoundStarts
from oclgenomics.signatures.device.pair_rounds import (
    MAX_PAIRS,
    MAX_STARTS,
    ListRound,
    PairRound,
    find_pairs,
    list_starts,
)
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.quality_sums import quality_sums, sum_type
from oclgenomics.signatures.device.samples import SampleLetters

__all__ = ["BruteMatcher"]

SOURCE = "signatures/brute.cl"


class BruteMatcher:
    """Compares each piece with each pattern; a `Matcher`.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    which : ndarray, optional
        Numbers of the patterns to find; all if not given.
    prefix_sums : bool
        Take the sum of a window's qualities from prefix sums; else add them up at each match.
    flat : bool
        Compare all pieces of a block by one launch; else each one is in buffers and has a launch of its own.
    max_pairs, max_starts : int
        Most that a round compares and lists.
    """

    def __init__(
        self,
        engine: Engine,
        patterns: DevicePatterns,
        which: NDArray[np.integer[Any]] | None = None,
        *,
        prefix_sums: bool = True,
        flat: bool = True,
        max_pairs: int = MAX_PAIRS,
        max_starts: int = MAX_STARTS,
    ) -> None:
        self._engine, self._patterns = engine, patterns
        self._prefix_sums, self._flat = prefix_sums, flat
        self._max_pairs, self._max_starts = max_pairs, max_starts
        self._numbers = chosen_patterns(len(patterns.patterns), which)
        lengths = patterns.patterns.lengths[self._numbers]
        self._shortest = int(lengths.min(initial=1 << 32))
        self._sum = sum_type(int(lengths.max(initial=1)))

    def pairs(self, samples: SampleLetters, pieces: NDArray[np.bool_] | None = None) -> FoundPairs:
        """Find all pairs of a block, or of some of its pieces; see `Matcher`."""
        choice = self._choice(samples, pieces)
        return choice.pairs(self._find(samples, choice, self._arguments(samples, choice)))

    def starts(self, samples: SampleLetters, pairs: FoundPairs) -> Iterator[FoundStarts]:
        """List all matches of some of a block's pairs, in parts that follow each other in the order of the pairs."""
        choice = Choice.of_pairs(pairs, self._numbers)
        arguments = self._arguments(samples, choice)
        everything = {**arguments, **self._whole(samples)}

        def fill(lot: ListRound) -> None:
            where: dict[str, Any] = {"row": lot.row, "column": lot.column, "places": lot.places, "pairs": lot.pairs}
            list_matches = self._kernel("list_starts", samples)
            self._engine.launch_items(list_matches, lot.pairs, **everything, **where, starts=lot.starts)

        return choice.starts(list_starts(self._engine, choice.places(pairs), fill, most=self._max_starts))

    def _choice(self, samples: SampleLetters, pieces: NDArray[np.bool_] | None) -> Choice:
        return Choice.of(samples.block.pieces, pieces, self._numbers, self._shortest)

    def _arguments(self, samples: SampleLetters, choice: Choice) -> dict[str, Any]:
        """What all launches for a block have in common."""
        patterns = self._patterns
        return {
            "pieces": self._engine.upload(choice.pieces),
            "numbers": self._engine.upload(choice.patterns),
            "size": samples.size,
            "owned": samples.owned,
            "sets": patterns.sets,
            "offsets": patterns.offsets,
            "least_sum": patterns.least_sum,
            "least_informative": patterns.least_informative,
            "most": patterns.max_mismatches,
        }

    def _find(self, samples: SampleLetters, choice: Choice, arguments: dict[str, Any]) -> FoundPairs:
        compare = self._kernel("compare_pairs", samples)
        whole = self._whole(samples) if self._flat else {}
        alone = [] if self._flat else self._alone(samples, choice)

        def find(lot: PairRound) -> None:
            where = {"row": lot.row, "column": lot.column, "columns": lot.columns, "pairs": lot.pairs}
            common = {**arguments, **where, "found": lot.found, "table": lot.table}
            if self._flat:
                self._engine.launch_items(compare, lot.pairs, **common, **whole, begin=0, end=lot.pairs)
                return
            for begin in range(0, lot.pairs, lot.columns):
                piece, end = alone[lot.row + begin // lot.columns], begin + lot.columns
                self._engine.launch_items(compare, lot.columns, **common, **piece, begin=begin, end=end)

        rows, columns = len(choice.pieces), len(choice.patterns)
        return find_pairs(self._engine, rows, columns, find, most=self._max_pairs)

    def _whole(self, samples: SampleLetters) -> dict[str, Any]:
        """The buffers of a block."""
        buffers = self._buffers(samples.codes, samples.block.text if samples.has_qualities else None)
        return {**buffers, "letters": samples.letters, "qualities": samples.qualities}

    def _alone(self, samples: SampleLetters, choice: Choice) -> list[dict[str, Any]]:
        """Buffers for each of the chosen pieces, in which its letters and its qualities come first."""
        pieces = samples.block.pieces
        codes = self._engine.download(samples.codes)
        first = self._engine.upload(np.zeros(len(pieces), np.uint32))
        buffers = []
        for piece in choice.pieces.tolist():
            letters, size = int(pieces.letters[piece]), int(pieces.size[piece])
            text = None
            if pieces.qualities is not None:
                scores = samples.block.host[int(pieces.qualities[piece]) :][:size]
                text = Text(self._engine.upload(scores), 0, size)
            own = self._buffers(self._engine.upload(codes[letters : letters + size]), text)
            buffers.append({**own, "letters": first, "qualities": first})
        return buffers

    def _buffers(self, codes: DeviceArray, text: Text | None) -> dict[str, Any]:
        """Letters, and what their qualities are taken from if they have any: sums or a text."""
        sums = quality_sums(self._engine, text, self._sum) if text is not None and self._prefix_sums else None
        place = {"memory": None, "skip": 0} if text is None else text.place
        return {"codes": codes, "sums": sums, **place}

    def _kernel(self, name: str, samples: SampleLetters) -> Kernel:
        return self._engine.kernel(
            SOURCE,
            name,
            QUALITIES=samples.has_qualities,
            PREFIX_SUMS=self._prefix_sums,
            FILTERED=self._patterns.filtered,
            SUM=self._sum,
        )
