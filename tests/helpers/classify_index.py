"""Databases and sketches as arrays, made at random or by hand, and their candidates by the oracle."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import reference
from oclgenomics.classify.database.features import NO_FEATURE, Features, mix
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.options import MAX_CANDIDATES
from oclgenomics.classify.result import Hits, SharedFeatures
from oclgenomics.classify.taxonomy.calls import Candidate, Candidates
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.runtime import Engine

__all__ = ["Case", "features_of", "random_case", "targets_of"]

Lists = dict[int, Sequence[int]]  # of each feature: windows through all targets, ascending


def targets_of(windows: Sequence[int]) -> Targets:
    """Targets of so many windows each."""
    count = len(windows)
    names = tuple(f"t{number}" for number in range(count))
    taxon, zeros = np.full(count, NO_TAXON, np.int32), np.zeros(count, np.int64)
    return Targets(names, (), zeros.astype(np.int32), zeros, taxon, zeros, np.array(windows, np.int64))


def features_of(lists: Lists) -> Features:
    """Features with these locations."""
    numbers = np.array(list(lists), np.uint32)
    keys = mix(numbers)
    order = np.argsort(keys)
    sizes = [len(lists[int(numbers[i])]) for i in order]
    kind = np.uint8 if max(sizes, default=0) < 256 else np.uint16
    locations = [np.array(lists[int(numbers[i])], np.uint32) for i in order]
    return Features(keys[order], np.array(sizes, kind), np.concatenate([*locations, np.zeros(0, np.uint32)]))


@dataclass(frozen=True)
class Case:
    """A database, and reads by their features.

    Attributes
    ----------
    lists : dict of int to sequence of int
        Windows of each feature.
    windows, groups : list of int
        Of each target.
    reads : list of list of list of int
        Features of the windows of each read.
    widths : list of int
    sketchlen : int
    repeats : bool
        Features count as often as they are found.
    """

    lists: Lists
    windows: list[int]
    groups: list[int]
    reads: list[list[list[int]]]
    widths: list[int]
    sketchlen: int
    repeats: bool = False

    @property
    def targets(self) -> Targets:
        return targets_of(self.windows)

    @functools.cached_property
    def features(self) -> Features:
        return features_of(self.lists)

    def sketches(self, engine: Engine) -> tuple[Sketches, NDArray[np.uint32], NDArray[np.uint32]]:
        """The sketches of the reads' windows, windows before each read, and the widths."""
        rows = [window for read in self.reads for window in read]
        features = np.full((max(len(rows), 1), self.sketchlen), NO_FEATURE, np.uint32)
        for row, window in zip(features, rows, strict=False):
            row[: len(window)] = window
        first = np.append(0, np.cumsum([len(read) for read in self.reads])).astype(np.uint32)
        return Sketches(engine.upload(features), len(rows)), first, np.array(self.widths, np.uint32)

    def hit(self, read: int) -> list[tuple[int, int]]:
        """Target and window of every location of a read's features."""
        return self._hits[read]

    @functools.cached_property
    def _hits(self) -> list[list[tuple[int, int]]]:
        return [[place for places in self._located(read) for place in places] for read in range(len(self.reads))]

    def _located(self, read: int) -> list[list[tuple[int, int]]]:
        """The same by feature."""
        own = [feature for row in self.reads[read] for feature in row]
        return [self._places.get(feature, []) for feature in (own if self.repeats else dict.fromkeys(own))]

    @functools.cached_property
    def _places(self) -> dict[int, list[tuple[int, int]]]:
        """Target and window of every location of each feature."""
        ends = np.cumsum(self.windows, dtype=np.int64)
        begins = ends - np.array(self.windows, np.int64)
        located = {}
        for feature, windows in self.lists.items():
            places = np.array(windows, np.int64)
            targets = np.searchsorted(ends, places, "right")
            located[feature] = list(zip(targets.tolist(), (places - begins[targets]).tolist(), strict=True))
        return located

    @property
    def group_array(self) -> NDArray[np.int32]:
        """The groups, as an array."""
        return np.array(self.groups, np.int32)

    def expected(self, maxcand: int) -> list[list[Candidate]]:
        """The candidates of each read."""
        return [candidates[:maxcand] for candidates in self._expected]

    @functools.cached_property
    def _expected(self) -> list[list[Candidate]]:
        groups = [None if group == NO_TAXON else group for group in self.groups]
        expected = []
        for read, width in enumerate(self.widths):
            apart = 0 if self.repeats else width
            hit = [place for places in self._located(read) for place in reference.counting(places, apart)]
            expected.append(reference.choose_candidates(hit, width, MAX_CANDIDATES, groups))
        return expected

    def check(self, found: Candidates, maxcand: int) -> None:
        """Compare candidates with those of the oracle."""
        assert len(found) == len(self.reads)
        assert found.targets.shape == found.hits.shape == found.first.shape == found.last.shape
        assert found.targets.shape == (len(self.reads), maxcand)
        for read, expected in enumerate(self.expected(maxcand)):
            assert found.of(read) == expected, f"read {read}"
            assert not found.hits[read, len(expected) :].any()
            assert found.located[read] == len(self.hit(read))

    def check_shared(self, found: SharedFeatures, maxcand: int) -> None:
        """Compare the features that reads share with their best candidates with those of the oracle."""
        assert len(found) == len(self.reads)
        for read, expected in enumerate(self.expected(maxcand)):
            own = [feature for row in self.reads[read] for feature in row if feature != NO_FEATURE]
            own = own if self.repeats else list(dict.fromkeys(own))
            listed = reference.shared_features(own, self._places, expected[0] if expected else None)
            some = found.features[found.offsets[read] : found.offsets[read + 1]].tolist()
            assert sorted(some) == sorted(listed), f"read {read}"

    def check_hits(self, found: Hits) -> None:
        """Compare hits with counts of equal locations."""
        assert len(found) == len(self.reads)
        rows = list(zip(found.targets.tolist(), found.windows.tolist(), found.hits.tolist(), strict=True))
        for read in range(len(self.reads)):
            own = rows[found.offsets[read] : found.offsets[read + 1]]
            assert own == [(*place, hits) for place, hits in sorted(Counter(self.hit(read)).items())], f"read {read}"


def random_case(
    seed: int, *, features: int, windows: int, longest: int, reads: int, most: int, width: int, repeats: bool = False
) -> Case:
    """A case drawn at random: few windows and features, so that reads hit the same places again and again.

    Parameters
    ----------
    seed : int
    features : int
        Of the database; reads have features that it lacks, too.
    windows : int
        Of a target at most; every fifth target has none.
    longest : int
        Locations of a feature at most.
    reads : int
    most : int
        Windows of a read at most.
    width : int
        Of a read's range at most.
    repeats : bool
        Features count as often as they are found.
    """
    rng = np.random.default_rng(seed)
    per_target = rng.integers(1, windows + 1, rng.integers(1, 12)) * (rng.random() < 0.9)
    per_target[rng.random(len(per_target)) < 0.2] = 0
    total = int(per_target.sum())
    numbers = rng.choice(3 * features + 1, features, replace=False) * (1 if rng.random() < 0.5 else 1_400_000_001)
    numbers = np.unique(numbers % (NO_FEATURE - 1))
    sizes = rng.integers(0, min(longest, total) + 1, len(numbers))
    lists = {
        int(number): np.sort(rng.choice(total, size, replace=False)).tolist()
        for number, size in zip(numbers, sizes, strict=True)
    }
    sketchlen = int(rng.integers(1, 9))
    pool = np.append(numbers, rng.integers(0, NO_FEATURE, features // 4 + 1))
    per_read = rng.integers(0, most + 1, reads)
    drawn = [
        [np.unique(rng.choice(pool, rng.integers(0, sketchlen + 1), replace=True)).tolist() for _ in range(number)]
        for number in per_read
    ]
    groups = rng.integers(-1, 4, len(per_target)) if rng.random() < 0.6 else np.arange(len(per_target))
    return Case(
        lists,
        per_target.tolist(),
        groups.tolist(),
        drawn,
        rng.integers(1, width + 1, reads).tolist(),
        sketchlen,
        repeats,
    )
