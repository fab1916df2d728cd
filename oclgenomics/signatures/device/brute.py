"""Brute force: every pattern compared with every piece at every start, the method of the paper and a base line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence.device_text import Text
from oclgenomics.signatures.device.pairs import ListRound, PairMatcher, PairRound
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters, quality_sums

__all__ = ["BruteMatcher"]

SOURCE = "signatures/brute.cl"


class BruteMatcher(PairMatcher):
    """Compares letter by letter.

    Parameters
    ----------
    engine, patterns, which, **most
        See `PairMatcher`.
    prefix_sums : bool
        Take the sum of a window's qualities from prefix sums; else add them up at each match.
    flat : bool
        Compare all pieces of a block by one launch; else each one is in buffers and has a launch of its own.
    """

    def __init__(
        self,
        engine: Engine,
        patterns: DevicePatterns,
        which: NDArray[np.integer[Any]] | None = None,
        *,
        prefix_sums: bool = True,
        flat: bool = True,
        **most: int,
    ) -> None:
        super().__init__(engine, patterns, which, **most)
        self._prefix_sums, self._flat = prefix_sums, flat

    def _arguments(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> dict[str, Any]:
        """What all launches for a block have in common."""
        patterns = self._patterns
        return {
            "pieces": self._engine.upload(rows),
            "numbers": self._engine.upload(self._numbers),
            "size": samples.size,
            "owned": samples.owned,
            "sets": patterns.sets,
            "offsets": patterns.offsets,
            "least_sum": patterns.least_sum,
            "least_informative": patterns.least_informative,
            "most": patterns.max_mismatches,
        }

    def _finder(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> Callable[[PairRound], None]:
        compare, arguments = self._kernel("compare_pairs", samples), self._arguments(samples, rows)
        whole = self._whole(samples) if self._flat else {}
        alone = [] if self._flat else self._alone(samples, rows)

        def find(lot: PairRound) -> None:
            common = {**arguments, **vars(lot)}
            if self._flat:
                self._engine.launch_items(compare, lot.pairs, **common, **whole, begin=0, end=lot.pairs)
                return
            for begin in range(0, lot.pairs, lot.columns):
                piece, end = alone[lot.row + begin // lot.columns], begin + lot.columns
                self._engine.launch_items(compare, lot.columns, **common, **piece, begin=begin, end=end)

        return find

    def _lister(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> Callable[[ListRound], None]:
        arguments = {**self._arguments(samples, rows), **self._whole(samples)}
        list_matches = self._kernel("list_starts", samples)

        def fill(lot: ListRound) -> None:
            self._engine.launch_items(list_matches, lot.pairs, **arguments, **vars(lot))

        return fill

    def _whole(self, samples: SampleLetters) -> dict[str, Any]:
        """The buffers of a block."""
        buffers = self._buffers(samples.codes, samples.block.text if samples.has_qualities else None)
        return {**buffers, "letters": samples.letters, "qualities": samples.qualities}

    def _alone(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> list[dict[str, Any]]:
        """Buffers for each of the chosen pieces, in which its letters and its qualities come first."""
        pieces = samples.block.pieces
        codes = self._engine.download(samples.codes)
        first = self._engine.upload(np.zeros(len(pieces), np.uint32))
        buffers = []
        for piece in rows.tolist():
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
