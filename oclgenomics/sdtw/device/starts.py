"""Where alignments start, found on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import BufferNeed, Engine
from oclgenomics.runtime.memory import chunks
from oclgenomics.sdtw.device.normaliser import Normaliser
from oclgenomics.sdtw.device.steps import Steps
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.plan import cost_defines, halo
from oclgenomics.sdtw.reference import normalised_levels
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

SOURCE = "sdtw/find_starts.cl"
STRIP = 8
CPU_GROUP = 16  # reads side by side: scores of a cache line


class StartFinder:
    """Finds where alignments start whose ends are known, as `reference.start_of` defines it.

    Parameters
    ----------
    engine : Engine
    references : sequence of Squiggle
    options : AlignOptions
    """

    def __init__(self, engine: Engine, references: Sequence[Squiggle], options: AlignOptions) -> None:
        self._engine, self._options = engine, options
        self._dtype = np.dtype(np.float32 if options.is_float else np.int32)
        self._normaliser = Normaliser(engine, options, self._dtype)
        levels = [normalised_levels(one.levels, one.column_strand, options) for one in references]
        self._columns = engine.upload(np.concatenate(levels).astype(self._dtype))
        self._bases = np.cumsum([0, *(len(one) for one in references)])
        tracks = [one.tracks[:-1] + base for one, base in zip(references, self._bases[:-1], strict=True)]
        self._tracks = np.concatenate(tracks)

    def find(
        self,
        samples: NDArray[np.int16],
        first: NDArray[np.int64],
        prefix: int,
        reference: NDArray[np.int64],
        column: NDArray[np.int64],
    ) -> Steps[NDArray[np.int64]]:
        """Find the columns at which alignments start.

        Parameters
        ----------
        samples : ndarray, int16
            Of all reads.
        first : ndarray, int64, (reads,)
        prefix : int
            The samples `first[i]` to `first[i] + prefix` of each read i are aligned.
        reference, column : ndarray, int64, (reads,)
            The reference of each alignment, and the column of it at which it ends; -1 for no alignment.

        Returns
        -------
        Steps of ndarray, int64, (reads,)
            Columns of the same references; -1 where there is no alignment.
        """
        there = np.flatnonzero(column >= 0)
        starts = np.full(len(column), -1, np.int64)
        rows = self._options.rows(prefix)
        for begin, end in chunks(len(there), self._reads_at_a_time(rows, prefix)):
            some = there[begin:end]
            base = self._bases[reference[some]]
            found, _ = yield from self._found(samples, first[some], prefix, base + column[some])
            starts[some] = found - base
        return starts

    def _reads_at_a_time(self, rows: int, prefix: int) -> int:
        needs = [
            BufferNeed("samples", per_item=2 * prefix),
            BufferNeed("levels and edges", per_item=4 * rows, copies=3 if self._options.bonus == "none" else 4),
        ]
        return self._engine.items_that_fit(needs, minimum=CPU_GROUP, item="read")

    def _found(
        self, samples: NDArray[np.int16], first: NDArray[np.int64], prefix: int, last: NDArray[np.int64]
    ) -> Steps[tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """Starts and costs of alignments, by one launch; columns are those of all references together."""
        engine, reads, rows = self._engine, len(first), self._options.rows(prefix)
        track = self._tracks[np.searchsorted(self._tracks, last, "right") - 1]
        window = np.maximum(track, last - halo(self._options, rows - 1))
        group = CPU_GROUP if engine.tuning.cpu else reads
        lanes = -(-reads // group) * group
        names = ["edges", "edge_bonuses"] if self._options.bonus != "none" else ["edges"]
        edges: dict[str, Any] = {name: engine.empty(rows * lanes, self._dtype) for name in names}
        starts, costs = engine.empty(reads, np.int32), engine.empty(reads, self._dtype)
        engine.launch_items(
            engine.kernel(SOURCE, "find_starts", **self._defines()),
            reads,
            levels=self._normaliser.levels(samples, first, prefix, lanes, group=group),
            columns=self._columns,
            windows=engine.upload(np.stack([window, last, window == track], axis=1).astype(np.int32)),
            rows=rows,
            group=group,
            reads=reads,
            edge_origins=engine.empty(rows * lanes, np.int32),
            **edges,
            starts=starts,
            costs=costs,
        )
        yield
        return engine.download(starts), engine.download(costs).astype(np.float64)

    def _defines(self) -> dict[str, int]:
        """The `-D` parameters of the kernel."""
        options = self._options
        return {
            "SCORE": 2 if options.is_float else 1,
            "LANES": 1,
            "FUSED": 0,
            "SATURATED": int(options.arithmetic == "uint16"),
            "STRIP": STRIP,
            "REACH": halo(options, 1),
            **cost_defines(options),
        }
