"""Bit planes: each pattern compared with each piece, hundreds of starts at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.primitives.shapes import scan_lanes
from oclgenomics.runtime import Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.signatures.device.bit_planes import make_planes
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
from oclgenomics.signatures.device.programs import concrete_bits, head_steps, make_programs
from oclgenomics.signatures.device.quality_sums import group_sums, sum_type
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.letters import is_concrete

__all__ = ["PlanesMatcher"]

SOURCE = "signatures/planes.cl"
CPU_ALIGN, GPU_ALIGN = 8, 32  # positions at their multiples need no shift
SHARED_LETTERS = 32 * 32  # of a piece: from here on a work-group of a GPU shares a pair
FEW_PAIRS = 1 << 14  # so do those of shorter pieces if there are so few pairs


class PlanesMatcher:
    """Compares planes of each piece with each pattern; a `Matcher`.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    which : ndarray, optional
        Numbers of the patterns to find; all if not given.
    max_pairs, max_starts : int
        Most that a round compares and lists.

    Raises
    ------
    ParameterError
        A pattern is too long.
    """

    def __init__(
        self,
        engine: Engine,
        patterns: DevicePatterns,
        which: NDArray[np.integer[Any]] | None = None,
        *,
        max_pairs: int = MAX_PAIRS,
        max_starts: int = MAX_STARTS,
    ) -> None:
        self._engine, self._patterns = engine, patterns
        self._max_pairs, self._max_starts = max_pairs, max_starts
        self._numbers = chosen_patterns(len(patterns.patterns), which)
        lengths = patterns.patterns.lengths[self._numbers]
        self._shortest = int(lengths.min(initial=1 << 32))
        self._sum = sum_type(int(lengths.max(initial=1)))
        self._counters = patterns.max_mismatches.bit_length()
        self._program = self._upload_programs()

    def _upload_programs(self) -> dict[str, Any]:
        """Programs of the patterns, as kernels take them."""
        engine, patterns = self._engine, self._patterns
        align = CPU_ALIGN if engine.tuning.cpu else GPU_ALIGN
        programs = make_programs(patterns.patterns, self._numbers, align=align)
        self._sets, self._aligned = programs.sets, float(np.median(programs.aligned)) if len(self._numbers) else 0.0
        filters: dict[str, Any] = {"concrete": None, "concrete_begins": None, "concrete_letters": None}
        if patterns.filtered:
            bits, begins = concrete_bits(patterns.patterns, self._numbers)
            letters = np.array([is_concrete(patterns.patterns.of(number)).sum() for number in self._numbers.tolist()])
            filters["concrete"], filters["concrete_begins"] = engine.upload(bits), engine.upload(begins)
            filters["concrete_letters"] = engine.upload(letters.astype(np.uint32))
        return {
            "numbers": engine.upload(self._numbers),
            "offsets": patterns.offsets,
            "steps": engine.upload(programs.steps),
            "first_steps": engine.upload(programs.first_steps),
            "begins": engine.upload(programs.begins),
            "turns": engine.upload(programs.turns),
            "least_sum": patterns.least_sum,
            "least_informative": patterns.least_informative,
            "spare": (1 << self._counters) - 1 - patterns.max_mismatches,
            **filters,
        }

    def pairs(self, samples: SampleLetters, pieces: NDArray[np.bool_] | None = None) -> FoundPairs:
        """Find all pairs of a block, or of some of its pieces; see `Matcher`."""
        choice = Choice.of(samples.block.pieces, pieces, self._numbers, self._shortest)
        return choice.pairs(self._find(samples, choice, self._arguments(samples, choice)))

    def starts(self, samples: SampleLetters, pairs: FoundPairs) -> Iterator[FoundStarts]:
        """List all matches of some of a block's pairs, in parts that follow each other in the order of the pairs."""
        choice = Choice.of_pairs(pairs, self._numbers)
        arguments = self._arguments(samples, choice)
        kernel = self._kernel("list_starts", samples, choice)

        def fill(lot: ListRound) -> None:
            where = {"row": lot.row, "column": lot.column, "to": lot.places, "starts": lot.starts}
            self._launch(kernel, lot.pairs, **arguments, **where)

        return choice.starts(list_starts(self._engine, choice.places(pairs), fill, most=self._max_starts))

    def _find(self, samples: SampleLetters, choice: Choice, arguments: dict[str, Any]) -> FoundPairs:
        kernel = self._kernel("match_planes", samples, choice)
        letters = int(samples.block.pieces.size[choice.pieces].sum(dtype=np.int64))
        long = letters >= SHARED_LETTERS * len(choice.pieces)

        def find(lot: PairRound) -> None:
            where = {"row": lot.row, "column": lot.column, "columns": lot.columns, "pairs": lot.pairs}
            everything = {**arguments, **where, "found": lot.found, "table": lot.table}
            if self._engine.tuning.cpu:
                self._launch(kernel, lot.pairs, **everything)
            else:
                shared = long or lot.pairs <= FEW_PAIRS
                self._launch(kernel, lot.pairs if shared else -(-lot.pairs // self._lanes), **everything, shared=shared)

        return find_pairs(self._engine, len(choice.pieces), len(choice.patterns), find, most=self._max_pairs)

    @property
    def _lanes(self) -> int:
        """Work-items of a group."""
        return 1 if self._engine.tuning.cpu else scan_lanes(self._engine)[0]

    def _launch(self, kernel: Kernel, groups: int, **arguments: Any) -> None:
        lanes = self._lanes
        self._engine.launch(kernel, (groups * lanes,), (lanes,), **arguments)

    def _arguments(self, samples: SampleLetters, choice: Choice) -> dict[str, Any]:
        """What all launches for a block have in common; nothing is launched where no piece was chosen."""
        if not len(choice.pieces):
            return {}
        engine, text = self._engine, samples.block.text
        numbers = engine.upload(choice.pieces)
        made = make_planes(engine, samples, choice.pieces, numbers, self._sets, singles=self._patterns.filtered)
        return {
            **self._program,
            "pieces": numbers,
            "size": samples.size,
            "owned": samples.owned,
            "qualities": samples.qualities,
            "scored": samples.has_qualities,
            "sums": group_sums(engine, text, self._sum) if samples.has_qualities else None,
            **text.place,
            "text_size": text.size,
            "planes": made.planes,
            "places": made.places,
            "stride": made.stride,
            "single": made.single,
            "ranks": made.ranks,
        }

    def _kernel(self, name: str, samples: SampleLetters, choice: Choice) -> Kernel:
        letters = int(samples.block.pieces.owned[choice.pieces].sum(dtype=np.int64))
        ambiguous = int(samples.ambiguous[choice.pieces].sum()) / max(1, letters)
        head = head_steps(ambiguous, self._patterns.max_mismatches, self._aligned)
        lanes, root = (1, 1) if self._engine.tuning.cpu else scan_lanes(self._engine)
        return self._engine.kernel(
            SOURCE,
            name,
            CPU=self._engine.tuning.cpu,
            HEAD=head,
            COUNTERS=self._counters,
            FILTERED=self._patterns.filtered,
            SUM=self._sum,
            LANES=lanes,
            ROOT=root,
        )
