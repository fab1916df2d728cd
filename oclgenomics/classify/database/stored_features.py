"""Features that stay in the file of a database until they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np

from oclgenomics.classify.database.checks import key_before, numbers_fault, piece_fault
from oclgenomics.classify.database.database import Counts, FeatureNumbers, Features, cut_features
from oclgenomics.errors import InputError
from oclgenomics.io.array_file import ArrayFile, SectionReader
from oclgenomics.io.read_ahead import ReadAhead
from oclgenomics.io.work_behind import work_behind

__all__ = ["StoredFeatures", "contradiction"]

BLOCK, LOCATIONS = 1 << 20, 1 << 22  # features and locations that are read at a time


class StoredFeatures:
    """The features of a database in an open file. None of them is in memory.

    Parameters
    ----------
    file : ArrayFile
    count_type : str
        What numbers of locations are in the file: '|u1' or '<u2'.
    windows : int
        Of all targets.
    max_locations : int
        Of a feature.

    Attributes
    ----------
    numbers : FeatureNumbers

    Raises
    ------
    InputError
        The file is damaged or contradicts itself.
    """

    def __init__(self, file: ArrayFile, count_type: str, windows: int, max_locations: int) -> None:
        self._file, self._count_type, self._windows = file, count_type, windows
        self._features = len(self._keys())
        self.numbers = FeatureNumbers.of(self._counted())
        fault = numbers_fault(self.numbers, self._features, len(self._locations()), max_locations)
        if fault is not None:
            raise contradiction(file, fault)

    def __len__(self) -> int:
        return self._features

    def pieces(self, features: int, locations: int) -> Iterator[Features]:
        """Read the features in pieces as those of `Features.pieces`, and check them.

        What is damaged may be noticed behind the last piece only.

        Raises
        ------
        InputError
            The file is damaged or contradicts itself, or has changed since it was opened.
        """
        ahead = ReadAhead(self._read(features, locations), ready=1)
        try:
            with closing(work_behind(self._checked, key_before(ahead))) as pieces:
                yield from pieces
        finally:
            ahead.stop(wait=True)

    def whole(self) -> Features:
        """Read all features, and check them; errors are those of `pieces`."""
        keys, locations = np.empty(len(self), np.uint32), np.empty(self.numbers.located, np.uint32)
        counts = np.empty(len(self), self._count_type)
        begin = first = 0
        for piece in self.pieces(BLOCK, LOCATIONS):
            keys[begin : begin + len(piece)], counts[begin : begin + len(piece)] = piece.keys, piece.counts
            locations[first : first + len(piece.locations)] = piece.locations
            begin, first = begin + len(piece), first + len(piece.locations)
        for array in (keys, counts, locations):
            array.flags.writeable = False
        return Features(keys, counts, locations)

    def _keys(self) -> SectionReader:
        return self._file.reader("keys", "<u4")

    def _locations(self) -> SectionReader:
        return self._file.reader("locations", "<u4")

    def _counted(self) -> Iterator[Counts]:
        """Read numbers of locations block by block."""
        reader = self._file.reader("counts", self._count_type)
        while reader.left:
            yield reader.read(min(BLOCK, reader.left))
        reader.finish()

    def _read(self, features: int, locations: int) -> Iterator[Features]:
        """Read pieces that have no more locations than were counted, and not more in lists of several."""
        keys, lists, counts = self._keys(), self._locations(), self._file.reader("counts", self._count_type)
        listed = self.numbers.in_lists
        while keys.left:
            size = min(features, keys.left)
            block_keys, block = keys.read(size), counts.read(size)
            for cut, located in cut_features(block, locations):
                listed -= FeatureNumbers.of([block[cut]]).in_lists
                if listed < 0 or located > lists.left:
                    raise self._file.error("changed while it was read", 0)
                yield Features(block_keys[cut], block[cut], lists.read(located))
        for reader in (keys, counts, lists):
            reader.finish()

    def _checked(self, one: tuple[Features, int]) -> Features:
        fault = piece_fault(*one, self._windows)
        if fault is not None:
            raise contradiction(self._file, fault)
        return one[0]


def contradiction(file: ArrayFile, fault: str) -> InputError:
    """Return the error for a file that has a fault, although its checksums are right."""
    return file.error(f"contradicts itself: it has {fault}", 0)
