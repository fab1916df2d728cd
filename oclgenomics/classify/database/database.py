"""A database as it lies in the host's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.options import BuildOptions
from oclgenomics.classify.targets import Targets
from oclgenomics.classify.taxonomy.tree import Taxonomy

__all__ = ["Counts", "Database", "FeatureNumbers", "FeatureSource", "Features", "cut_features"]

COUNTED = 1 << 20  # features whose locations are counted at a time

Counts = NDArray[np.uint8] | NDArray[np.uint16]


class FeatureNumbers(NamedTuple):
    """How many features there are, by their locations.

    Attributes
    ----------
    alive, dead : int
        With and without locations.
    single : int
        With one location.
    largest : int
        Locations that one feature has at most.
    located : int
        Locations of all.
    """

    alive: int
    dead: int
    single: int
    largest: int
    located: int

    @property
    def in_lists(self) -> int:
        """Locations of the features that have several."""
        return self.located - self.single

    @classmethod
    def of(cls, counts: Iterable[Counts]) -> FeatureNumbers:
        """Sum up the numbers of locations of features, which come block by block."""
        alive = dead = single = largest = located = 0
        for block in counts:
            alive += (some := int(np.count_nonzero(block)))
            dead += len(block) - some
            single += int(np.count_nonzero(block == 1))
            largest = max(largest, int(block.max(initial=0)))
            located += int(block.sum(dtype=np.int64))
        return cls(alive, dead, single, largest, located)


@dataclass(frozen=True)
class Features:
    """Features and their locations: lists one behind the other, in the order of the features' keys.

    Attributes
    ----------
    keys : ndarray, uint32 (features,)
        `hashes.mix` of each feature; ascending, no two equal.
    counts : ndarray, uint8 or uint16 (features,)
        Locations of each one; 0 of a feature that lost all because it is overpopulated or ambiguous.
    locations : ndarray, uint32 (locations,)
        Numbers of windows through all targets (`Targets.first_window`); those of a feature ascend.
    """

    keys: NDArray[np.uint32]
    counts: Counts
    locations: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def numbers(self) -> FeatureNumbers:
        """How many there are, with and without locations."""
        return FeatureNumbers.of(self.counts[begin : begin + COUNTED] for begin in range(0, len(self), COUNTED))

    def pieces(self, features: int, locations: int) -> Iterator[Features]:
        """Yield the features in pieces of so many, and of so many locations if a piece is more than one feature."""
        first = 0
        for begin in range(0, len(self), features):
            keys, counts = self.keys[begin : begin + features], self.counts[begin : begin + features]
            for cut, located in cut_features(counts, locations):
                yield Features(keys[cut], counts[cut], self.locations[first : first + located])
                first += located

    def whole(self) -> Features:
        """Return the features."""
        return self

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the list of each feature starts, and the last one ends, int64 (features + 1,)."""
        return np.append(np.int64(0), np.cumsum(self.counts, dtype=np.int64))


class FeatureSource(Protocol):
    """Features in memory, or in a file from which they come piece by piece.

    Attributes
    ----------
    numbers : FeatureNumbers
    """

    @property
    def numbers(self) -> FeatureNumbers: ...

    def __len__(self) -> int: ...

    def pieces(self, features: int, locations: int) -> Iterator[Features]: ...

    def whole(self) -> Features: ...


def cut_features(counts: Counts, locations: int) -> Iterator[tuple[slice, int]]:
    """Cut features into pieces.

    Parameters
    ----------
    counts : ndarray (features,)
        Locations of each feature.
    locations : int
        Of a piece at most. A feature with more locations is a piece of its own.

    Yields
    ------
    features : slice
    located : int
        Their locations.
    """
    ends = np.cumsum(counts, dtype=np.int64)
    for begin, end in plan.batches(ends, locations):
        yield slice(begin, end), int(ends[end - 1] - (ends[begin - 1] if begin else 0))


@dataclass(frozen=True)
class Database:
    """Targets, what is known of them, and where their features are.

    Attributes
    ----------
    options : BuildOptions
    targets : Targets
    taxonomy : Taxonomy
        Of the targets' taxa and those above them.
    features : Features
    provenance : dict of str to object
        See `oclgenomics.app.provenance`.
    """

    options: BuildOptions
    targets: Targets
    taxonomy: Taxonomy
    features: Features
    provenance: dict[str, Any]
