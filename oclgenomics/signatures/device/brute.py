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

SOURCE = "signatures/brute.cl"
JOB = np.dtype(
    [("skip", np.uint64), *((name, np.uint32) for name in ("most", "row", "column", "columns", "pairs", "unused"))]
)  # as brute.cl has it
ALONE = [0, 3]  # where letters and qualities begin, in records of pieces


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

    def _arguments(self, samples: SampleLetters, rows: NDArray[np.uint32], *, flat: bool) -> dict[str, Any]:
        """What all launches for a block have in common."""
        records = samples.records[rows]
        if not flat:
            records[:, ALONE] = 0
        upload, patterns = self._engine.upload, self._patterns
        return {"pieces": upload(records), "patterns": upload(patterns.records[self._numbers]), "sets": patterns.sets}

    def _job(self, skip: int, **lot: int) -> DeviceArray:
        job = np.zeros(1, JOB)
        for name, value in {"skip": skip, "most": self._patterns.max_mismatches, **lot}.items():
            job[name] = value
        return self._engine.upload(job.view(np.uint8))

    def _finder(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> Callable[[PairRound], None]:
        flat, skip = self._flat, samples.block.text.skip if self._flat else 0
        compare, arguments = self._kernel("compare_pairs", samples), self._arguments(samples, rows, flat=flat)
        whole = self._whole(samples) if flat else {}
        alone = [] if flat else self._alone(samples, rows)

        def find(lot: PairRound) -> None:
            job = self._job(skip, row=lot.row, column=lot.column, columns=lot.columns, pairs=lot.pairs)
            common = {**arguments, "job": job, "found": lot.found, "table": lot.table}
            if flat:
                self._engine.launch_items(compare, lot.pairs, **common, **whole, begin=0, end=lot.pairs)
                return
            for begin in range(0, lot.pairs, lot.columns):
                piece, end = alone[lot.row + begin // lot.columns], begin + lot.columns
                self._engine.launch_items(compare, lot.columns, **common, **piece, begin=begin, end=end)

        return find

    def _lister(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> Callable[[ListRound], None]:
        arguments = {**self._arguments(samples, rows, flat=True), **self._whole(samples)}
        kernel, skip = self._kernel("list_starts", samples), samples.block.text.skip

        def fill(lot: ListRound) -> None:
            job = self._job(skip, pairs=lot.pairs)
            self._engine.launch_items(kernel, lot.pairs, **arguments, job=job, listed=lot.listed, starts=lot.starts)

        return fill

    def _whole(self, samples: SampleLetters) -> dict[str, Any]:
        """The buffers of a block."""
        return self._buffers(samples.codes, samples.block.text if samples.has_qualities else None)

    def _alone(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> list[dict[str, Any]]:
        """Buffers for each of the chosen pieces, in which its letters and its qualities come first."""
        codes, buffers = self._engine.download(samples.codes), []
        for letters, size, _, qualities in samples.records[rows].tolist():
            text = None
            if samples.has_qualities:
                text = Text(self._engine.upload(samples.block.host[qualities:][:size]), 0, size)
            buffers.append(self._buffers(self._engine.upload(codes[letters : letters + size]), text))
        return buffers

    def _buffers(self, codes: DeviceArray, text: Text | None) -> dict[str, Any]:
        """Letters, and what their qualities are taken from if they have any: sums or a text."""
        sums = quality_sums(self._engine, text, self._sum) if text is not None and self._prefix_sums else None
        return {"codes": codes, "sums": sums, "memory": None if text is None else text.memory}

    def _kernel(self, name: str, samples: SampleLetters) -> Kernel:
        return self._engine.kernel(
            SOURCE, name, QUALITIES=samples.has_qualities, PREFIX_SUMS=self._prefix_sums,
            FILTERED=self._patterns.filtered, SUM=self._sum,
        )  # fmt: skip
