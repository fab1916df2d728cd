"""The methods behind one interface: each pattern and each sample goes to the one that is done with it sooner."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.brute import BruteMatcher
from oclgenomics.signatures.device.index import IndexMatcher
from oclgenomics.signatures.device.pairs import FoundPairs, FoundStarts
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.planes import PlanesMatcher
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.device.seed_table import DeviceTable
from oclgenomics.signatures.formats.panel_file import has_table
from oclgenomics.signatures.options import Method
from oclgenomics.signatures.plan import (
    CPU_COSTS,
    GPU_COSTS,
    choose_head,
    index_cost,
    index_pays,
    index_surely_pays,
    planes_cost,
)


class Methods:
    """Finds the matches of patterns in blocks.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    method : {'auto', 'index', 'planes', 'brute'}
        One for all samples, or the one that takes the least time for each. The index leaves patterns that have no
        seeds to the planes.
    times : int
        As many letters as the first block has come so often, as far as is known.
    """

    def __init__(self, engine: Engine, patterns: DevicePatterns, method: Method, times: int = 1) -> None:
        self._engine, self._patterns, self._method, self._times = engine, patterns, method, times
        self._costs = CPU_COSTS if engine.tuning.cpu else GPU_COSTS
        self._index: IndexMatcher | None = None

    def pairs(self, samples: SampleLetters) -> FoundPairs:
        """Find all pairs of a block."""
        if self._method == "brute":
            return self._brute.pairs(samples)
        if self._method == "planes" or not self._wants_index(samples):
            return self._planes.pairs(samples)
        index = self._made_index(samples)
        suits = self._suits_index(index, samples)
        every = bool(suits.all())
        parts = [index.pairs(samples, None if every else suits)]
        if not every:
            parts.append(self._planes.pairs(samples, ~suits))
        if len(index.unseeded):
            parts.append(self._unseeded.pairs(samples, suits))
        return FoundPairs.joined(parts).in_order()

    def starts(self, samples: SampleLetters, pairs: FoundPairs) -> FoundStarts:
        """List the matches of some of a block's pairs."""
        lister = self._brute if self._method == "brute" else self._planes
        return FoundStarts.joined(lister.starts(samples, pairs))

    def _wants_index(self, samples: SampleLetters) -> bool:
        """Whether the index is likely to be sooner done with a block, its making included."""
        if self._method == "index" or self._index is not None:
            return True
        patterns, mismatches = self._patterns.patterns, self._patterns.max_mismatches
        return index_pays(
            self._costs, patterns, mismatches, samples.owned_letters, samples.ambiguous, self._times,
            has_index=has_table(patterns, mismatches), has_planes=self._has_planes,
        )  # fmt: skip

    @property
    def _has_planes(self) -> bool:
        """Whether all patterns have been prepared for planes."""
        return "_planes" in vars(self)

    def _made_index(self, samples: SampleLetters) -> IndexMatcher:
        """The index, with the table of the panel's file, or one made for samples like these when it is first wanted."""
        if self._index is None:
            patterns, mismatches = self._patterns.patterns, self._patterns.max_mismatches
            head = choose_head(patterns, mismatches, *samples.rate(self._times))
            table = DeviceTable.of_patterns(self._engine, self._patterns, mismatches, head)
            self._index = IndexMatcher(self._engine, self._patterns, table)
        return self._index

    def _suits_index(self, index: IndexMatcher, samples: SampleLetters) -> NDArray[np.bool_]:
        """The pieces that do not have so many candidates that planes are sooner done with them."""
        if self._method == "index":
            return np.ones(len(samples.block.pieces), np.bool_)
        letters, candidates = samples.owned_letters, index.candidates(samples)
        seeded = np.delete(self._patterns.patterns.lengths, index.unseeded)
        if index_surely_pays(self._costs, letters, candidates, seeded):
            return np.ones(len(letters), np.bool_)
        found = index_cost(self._costs, letters, samples.ambiguous, candidates, seeded)
        gain = found - planes_cost(self._costs, letters, samples.ambiguous, seeded)
        prepared = 0 if self._has_planes else self._costs.step * len(self._patterns.patterns.sets)
        suits: NDArray[np.bool_] = (gain <= 0) | (self._times * gain[gain > 0].sum() <= prepared)
        return suits

    @cached_property
    def _brute(self) -> BruteMatcher:
        return BruteMatcher(self._engine, self._patterns)

    @cached_property
    def _planes(self) -> PlanesMatcher:
        return PlanesMatcher(self._engine, self._patterns)

    @cached_property
    def _unseeded(self) -> PlanesMatcher:
        assert self._index is not None
        return PlanesMatcher(self._engine, self._patterns, self._index.unseeded)
