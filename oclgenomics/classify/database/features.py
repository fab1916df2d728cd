"""Features of a database: how they are hashed and ordered, where they lie, and which of them are kept.

A feature is the hash of a canonical k-mer, and a key another hash of it, by which databases are ordered; both are
bijections of 32 bits, and kernels_cl/classify/hashes.clh computes the same. Features that are in too many places lose
all their locations; their keys stay, so nothing added brings them back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.options import MAX_LOCATIONS, RANKS, BuildOptions
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import AllocationError
from oclgenomics.io.array_file import Window
from oclgenomics.io.workers import Workers

if TYPE_CHECKING:
    from oclgenomics.runtime import DeviceLimits


COUNTED = 1 << 20  # features whose locations are counted at a time

Counts = NDArray[np.uint8] | NDArray[np.uint16]
SectionRoom = Callable[[str, int], NDArray[np.uint8]]  # gives memory for so many bytes of a section


NO_FEATURE = 0xFFFFFFFF
MAX_KEY = 1 << 32
STEP = 1 << 12  # features whose locations are summed up beforehand
LOOKED_THROUGH = 1 << 20
FEATURES = 1 << 22  # or locations, that are looked at together
CELLS = 1 << 22  # of windows; locations are counted by cell


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
    def of(cls, counts: Iterable[Counts], threads: Workers | None = None) -> FeatureNumbers:
        """Sum up the numbers of locations of features, which come block by block; threads may look at several."""
        return cls.added(map(cls.of_block, counts) if threads is None else threads.map(cls.of_block, counts))

    @classmethod
    def added(cls, numbers: Iterable[FeatureNumbers]) -> FeatureNumbers:
        """Add up the numbers of features that follow each other."""
        total = cls(0, 0, 0, 0, 0)
        for one in numbers:
            sums = cls(*(a + b for a, b in zip(total, one, strict=True)))
            total = sums._replace(largest=max(total.largest, one.largest))
        return total

    @classmethod
    def of_block(cls, block: Counts) -> FeatureNumbers:
        """Sum up the numbers of locations of some features."""
        alive, single = int(np.count_nonzero(block)), int(np.count_nonzero(block == 1))
        return cls(alive, len(block) - alive, single, int(block.max(initial=0)), int(block.sum(dtype=np.int64)))


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
        return FeatureNumbers.of(self._blocks())

    def counted(self, threads: Workers | None = None) -> FeatureNumbers:
        """Count them once, in threads if there are any."""
        if "numbers" not in vars(self):
            vars(self)["numbers"] = FeatureNumbers.of(self._blocks(), threads)
        return self.numbers

    def _blocks(self) -> Iterator[Counts]:
        return (self.counts[begin : begin + COUNTED] for begin in range(0, len(self), COUNTED))

    @cached_property
    def in_lists(self) -> int:
        """Locations of the features that have several."""
        return len(self.locations) - int(np.count_nonzero(self.counts == 1))

    @property
    def dead(self) -> int:
        """Features without locations."""
        return self.numbers.dead

    @property
    def located(self) -> int:
        """How many locations there are."""
        return len(self.locations)

    def in_order(self, windows: int) -> bool:
        """Whether keys and the locations of each feature are known to ascend, and these to be of so many windows."""
        return False

    @property
    def packed(self) -> None:
        """Nothing, as they are not packed."""
        return None

    @property
    def blocks(self) -> Mapping[str, int]:
        """Blocks whose checksums are to be made: none, as nothing comes from a file."""
        return {}

    def pieces(self, features: int, locations: int) -> Iterator[Features]:
        """Yield the features in pieces of so many, and of so many locations if a piece is more than one feature."""
        first = 0
        for begin in range(0, len(self), features):
            keys, counts = self.keys[begin : begin + features], self.counts[begin : begin + features]
            for cut, located in cut_features(counts, locations):
                yield Features(keys[cut], counts[cut], self.locations[first : first + located])
                first += located

    def stored_pieces(
        self, features: int, locations: int, found: Callable[[], Found], room: SectionRoom | None = None
    ) -> Iterator[StoredPiece]:
        """Yield the features in pieces as `pieces`, of which no bytes have to be verified.

        Raises
        ------
        ValueError
            They were found to be out of order.
        """
        for piece in self.pieces(features, locations):
            yield StoredPiece(piece)
        if not found().in_order:
            raise ValueError("features or locations are out of order, or behind the last window")

    def whole(self) -> Features:
        """Return the features."""
        return self

    @classmethod
    def none(cls, kind: Any) -> Features:
        """Return no features, with counts of a type."""
        return cls(np.empty(0, np.uint32), np.empty(0, kind), np.empty(0, np.uint32))

    @classmethod
    def joined(cls, parts: Sequence[Features]) -> Features:
        """Put features behind each other, whose keys ascend."""
        keys, counts, locations = zip(*((part.keys, part.counts, part.locations) for part in parts), strict=True)
        return cls(np.concatenate(keys), np.concatenate(counts), np.concatenate(locations))

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the list of each feature starts, and the last one ends, int64 (features + 1,)."""
        return np.append(np.int64(0), np.cumsum(self.counts, dtype=np.int64))


class StoredPiece(NamedTuple):
    """Features that are some of a row, on their way to a device.

    Attributes
    ----------
    features : Features
        Of lengths that go together, nothing else is certain.
    windows : dict of str to Window
        Of 'keys', 'counts' and 'locations', with the bytes of the blocks of the file that end with them: the checksums
        of these have to be made. Empty if the bytes are verified.
    """

    features: Features
    windows: Mapping[str, Window] = {}


class Found(NamedTuple):
    """What a device found of all features that came.

    Attributes
    ----------
    in_order : bool
        Keys ascend, locations of a feature ascend, and all are those of windows.
    sums : dict of str to ndarray, uint64 (blocks,)
        Checksums of the blocks of sections, of which windows came.
    """

    in_order: bool
    sums: Mapping[str, NDArray[np.uint64]]


class GrowingFeatures:
    """Features that are put together of parts, in memory that is taken beforehand; what is not used costs nothing.

    Parameters
    ----------
    features, locations : int
        At most.
    kind : dtype
        Of the numbers of locations.
    """

    def __init__(self, features: int, locations: int, kind: Any) -> None:
        self._keys, self._locations = np.empty(features, np.uint32), np.empty(locations, np.uint32)
        self._counts: Any = np.empty(features, kind)
        self._features = self._located = 0

    def append(self, part: Features) -> None:
        """Put features behind those that are there."""
        features, located = self._features + len(part), self._located + len(part.locations)
        self._keys[self._features : features] = part.keys
        self._counts[self._features : features] = part.counts
        self._locations[self._located : located] = part.locations
        self._features, self._located = features, located

    def features(self) -> Features:
        """Return them."""
        size = self._features
        return Features(self._keys[:size], self._counts[:size], self._locations[: self._located])


def count_type(max_locations: int) -> type[Any]:
    """Return the type that counts of so many locations have."""
    if not 1 <= max_locations <= MAX_LOCATIONS:
        raise ValueError(f"{max_locations} locations of a feature: 1 to {MAX_LOCATIONS} are possible")
    return np.uint8 if max_locations < 1 << 8 else np.uint16


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
    every = int(counts.sum(dtype=np.uint32 if int(np.iinfo(counts.dtype).max) * len(counts) < 1 << 32 else np.int64))
    if every <= locations:  # adding up as it goes takes many times as long
        yield from [(slice(0, len(counts)), every)] if len(counts) else []
        return
    ends = np.cumsum(counts, dtype=np.int64)
    for begin, end in plan.batches(ends, locations):
        yield slice(begin, end), int(ends[end - 1] - (ends[begin - 1] if begin else 0))


def _step(x: NDArray[np.uint32], shift: int, factor: int) -> NDArray[np.uint32]:
    return _folded(x, shift) * np.uint32(factor)


def _folded(x: NDArray[np.uint32], *shifts: int) -> NDArray[np.uint32]:
    """The exclusive or of numbers and of themselves shifted to the right."""
    folded = x
    for shift in shifts:
        folded = folded ^ np.right_shift(x, np.uint32(shift))
    return folded


def hash_kmers(kmers: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Hash canonical k-mers as MetaCache does: the smallest values of a window are its features."""
    return _folded(_step(_step(kmers, 16, 0x45D9F3B), 16, 0x45D9F3B), 16)


def mix(features: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Spread features, which are small numbers, evenly over 32 bits: the last steps of MurmurHash3."""
    return _folded(_step(_step(features, 16, 0x85EBCA6B), 13, 0xC2B2AE35), 16)


def unmix(keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the features of `mix`."""
    x = _folded(keys, 16) * np.uint32(pow(0xC2B2AE35, -1, 1 << 32))
    return _folded(_folded(x, 13, 26) * np.uint32(pow(0x85EBCA6B, -1, 1 << 32)), 16)


class FeatureList:
    """Features of which ranges of keys are taken.

    Parameters
    ----------
    features : Features
    """

    def __init__(self, features: Features) -> None:
        self._features = features
        self._before = np.zeros(-(-len(features) // STEP) + 1, np.int64)
        if len(features):
            sums = np.add.reduceat(features.counts, np.arange(0, len(features), STEP), dtype=np.int64)
            np.cumsum(sums, out=self._before[1:])

    def place(self, key: int) -> tuple[int, int]:
        """Return how many features have smaller keys, and how many locations these have."""
        before = len(self._features) if key >= MAX_KEY else int(np.searchsorted(self._features.keys, np.uint32(key)))
        step = before // STEP
        counts: NDArray[np.integer] = self._features.counts[step * STEP : before]
        return before, int(self._before[step]) + int(counts.sum(dtype=np.int64))

    def cut(self, low: int, high: int) -> Features:
        """Return the features with keys from `low` to `high` - 1."""
        first, begin = self.place(low)
        last, end = self.place(high)
        whole = self._features
        return Features(whole.keys[first:last], whole.counts[first:last], whole.locations[begin:end])


def cut_ranges(lists: Sequence[FeatureList], most: int) -> list[tuple[int, int]]:
    """Cut all keys into ranges, in each of which all lists together have at most so many locations.

    Parameters
    ----------
    lists : sequence of FeatureList
    most : int

    Returns
    -------
    list of (int, int)
        The first key of each range and the one behind its last; ascending. Together they hold all keys.

    Raises
    ------
    AllocationError
        One key has more.
    """
    found = []
    todo = [(0, MAX_KEY)]
    while todo:
        low, high = todo.pop()
        locations = sum(each.place(high)[1] - each.place(low)[1] for each in lists)
        if locations <= most:
            found.append((low, high))
        elif high - low == 1:
            raise AllocationError(
                f"a feature has {locations:,} locations, and there is room for {most:,}; raise `max_memory`"
            )
        else:
            middle = (low + high) // 2
            todo += [(middle, high), (low, middle)]
    return found


def merged_features(sources: Sequence[Iterator[Features]], most: int) -> Iterator[Features]:
    """Merge features that come in pieces; locations of a feature come in the order of the sources.

    Parameters
    ----------
    sources : sequence of iterator of Features
        Keys of each ascend from piece to piece. Each source has a piece of it in memory at a time.
    most : int
        Locations of a feature that are kept, the first ones.

    Yields
    ------
    Features
        Keys ascend from piece to piece.
    """
    heads = [_Head(source) for source in sources]
    while left := [head for head in heads if head.filled()]:
        last = min(head.last for head in left)
        yield _united([head.take(last) for head in left], most)


def moved_features(features: Iterable[Features], windows: int) -> Iterator[Features]:
    """Number the windows of features behind so many others."""
    for part in features:
        yield Features(part.keys, part.counts, part.locations + np.uint32(windows))


class _Head:
    """The next features of a source."""

    def __init__(self, source: Iterator[Features]) -> None:
        self._source = source
        self._features: Features | None = None

    def filled(self) -> bool:
        """Whether there are any left."""
        while self._features is None or not len(self._features):
            self._features = next(self._source, None)
            if self._features is None:
                return False
        return True

    @property
    def last(self) -> int:
        assert self._features is not None
        return int(self._features.keys[-1])

    def take(self, last: int) -> Features:
        """Take those with keys up to the last one."""
        assert self._features is not None
        keys, counts, locations = self._features.keys, self._features.counts, self._features.locations
        count = int(np.searchsorted(keys, np.uint32(last), side="right"))
        located = int(counts[:count].sum(dtype=np.int64))
        self._features = Features(keys[count:], counts[count:], locations[located:])
        return Features(keys[:count], counts[:count], locations[:located])


def _united(parts: Sequence[Features], most: int) -> Features:
    """Join the lists of features, of which some are in several parts, and keep the first locations of each."""
    there = [part for part in parts if len(part)]
    if len(there) == 1:
        return there[0]
    joined = Features.joined(there)
    order = np.argsort(joined.keys, kind="stable")
    keys, counts, starts = joined.keys[order], joined.counts[order].astype(np.int64), joined.starts[:-1][order]
    ends = np.cumsum(counts)
    places = np.repeat(starts - (ends - counts), counts) + np.arange(len(joined.locations))
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    sizes = np.add.reduceat(counts, first)
    kept = np.minimum(sizes, most)
    within = np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    locations = joined.locations[places[within < np.repeat(kept, sizes)]]
    united: Any = kept.astype(joined.counts.dtype)
    return Features(keys[first], united, locations)


def filtered(features: Features, options: BuildOptions, lineages: Lineages) -> Features:
    """Empty the features that the options remove.

    Parameters
    ----------
    features : Features
        With at most `max_locations` locations each.
    options : BuildOptions
    lineages : Lineages
        Of all targets.
    """
    if options.remove_overpopulated:
        features = emptied(features, is_overpopulated(features, options.max_locations))
    if options.remove_ambiguous is not None:
        taxa = lineages.at_rank[len(lineages.taxonomy) :, RANKS.index(options.remove_ambiguous)]
        first_window = lineages.targets.first_window
        features = emptied(features, is_ambiguous(features, taxa, first_window, options.max_ambiguous))
    return features


def emptied(features: Features, remove: NDArray[np.bool_]) -> Features:
    """Take their locations from some features.

    Parameters
    ----------
    features : Features
    remove : ndarray, bool (features,)
    """
    if not remove.any():
        return features
    counts: Any = np.where(remove, features.counts.dtype.type(0), features.counts)
    return Features(features.keys, counts, features.locations[np.repeat(~remove, features.counts)])


def is_overpopulated(features: Features, max_locations: int) -> NDArray[np.bool_]:
    """Say which features have as many locations as are kept, and so may have more, bool (features,)."""
    found: NDArray[np.bool_] = features.counts >= max_locations
    return found


def is_ambiguous(
    features: Features, taxa: NDArray[np.int32], first_window: NDArray[np.int64], most: int
) -> NDArray[np.bool_]:
    """Say which features have locations in more than `most` taxa.

    As in MetaCache, all targets without a taxon of the rank count as one taxon more.

    Parameters
    ----------
    features : Features
    taxa : ndarray, int32 (targets,)
        Of each target; `NO_TAXON` is one more.
    first_window : ndarray, int64 (targets + 1,)
        Windows of the targets before each one.
    most : int

    Returns
    -------
    ndarray, bool (features,)
    """
    found = np.zeros(len(features), np.bool_)
    many = np.flatnonzero(features.counts > most)  # others cannot be in so many taxa
    if not len(many):
        return found
    starts, counts = features.starts[many], features.counts[many].astype(np.int64)
    ends = np.cumsum(counts)
    low = 0
    while low < len(many):
        done = ends[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(ends, done + LOOKED_THROUGH, side="right")))
        some = slice(low, high)
        found[many[some]] = _distinct(starts[some], counts[some], features.locations, taxa, first_window) > most
        low = high
    return found


def _distinct(
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    locations: NDArray[np.uint32],
    taxa: NDArray[np.int32],
    first_window: NDArray[np.int64],
) -> NDArray[np.int64]:
    """How many taxa each of some lists of locations is in, int64 (lists,)."""
    before = np.cumsum(counts) - counts
    places = np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
    targets = np.searchsorted(first_window, locations[places], side="right") - 1
    each = taxa[targets].astype(np.int64)
    lists = np.repeat(np.arange(len(counts)), counts)
    pairs = np.unique(lists << 32 | (each - NO_TAXON))
    return np.bincount(pairs >> 32, minlength=len(counts))


def feature_parts(features: Features, targets: Targets, limits: DeviceLimits) -> Iterator[Features]:
    """Split features by ranges of targets, such that an index of each part fits.

    The number of a feature's locations was limited when the database was built, so the parts have just the locations of
    the whole, and a read has the same best range in each target. Windows keep their numbers.
    `taxonomy.calls.merged` puts together what is found in the parts.

    Parameters
    ----------
    features : Features
    targets : Targets
    limits : DeviceLimits
        What an index may take.

    Yields
    ------
    Features
        One part after the other, made when it is asked for.

    Raises
    ------
    AllocationError
        A single target does not fit.
    """
    first = targets.first_window
    low, high = _locations_before(features.locations, first)
    sizes = plan.IndexSizes(len(features), int(first[-1]), len(targets))
    for begin, end in plan.target_ranges(low, high, sizes, limits, targets.names):
        yield _between(features, int(first[begin]), int(first[end]))


def _locations_before(
    locations: NDArray[np.uint32], first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many locations are before the windows `first`: at least, and at most; both exact if there are few windows."""
    shift = max(int(first[-1]) // CELLS, 0).bit_length()
    cells = (int(first[-1]) >> shift) + 1
    counts = np.zeros(cells, np.int64)
    for begin in range(0, len(locations), FEATURES):
        counts += np.bincount(locations[begin : begin + FEATURES] >> np.uint32(shift), minlength=cells)
    before = np.append(np.int64(0), np.cumsum(counts))
    return before[first >> shift], before[-(-first >> shift)]


def _between(features: Features, begin: int, end: int) -> Features:
    """The features with locations in windows begin .. end - 1, and those locations."""
    parts = [Features.none(features.counts.dtype)]
    for piece in features.pieces(FEATURES, FEATURES):
        ends, inside = np.cumsum(piece.counts, dtype=np.int64), (piece.locations >= begin) & (piece.locations < end)
        up_to = np.append(np.int64(0), np.cumsum(inside))
        counts = (up_to[ends] - up_to[ends - piece.counts]).astype(piece.counts.dtype)
        there = counts > 0
        parts.append(Features(piece.keys[there], counts[there], piece.locations[inside]))
    return Features.joined(parts)
