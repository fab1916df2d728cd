"""The references of a build, gathered block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.windows import count_windows
from oclgenomics.sequence import LetterBlock

__all__ = ["TargetTable"]


class TargetTable:
    """Records, their headers and their lengths.

    Attributes
    ----------
    headers : list of str
        Of each record that has begun, without > or @; bytes that are not UTF-8 are replaced.
    """

    def __init__(self) -> None:
        self.headers: list[str] = []
        self._numbers: dict[str, int] = {}
        self._source: list[NDArray[np.int32]] = []
        self._record: list[NDArray[np.int64]] = []
        self._letters: list[NDArray[np.int64]] = []

    def add(self, block: LetterBlock) -> None:
        """Take down the records that begin or end in a block."""
        pieces, begun = block.pieces, len(block.names)
        self._letters.append((pieces.start + pieces.size)[pieces.ends])
        self.headers += block.headers()
        if block.origins is None:
            self._source.append(np.full(begun, self._number(block.source), np.int32))
            self._record.append(np.arange(begun) + (block.first - block.before))
        else:
            files, places = np.unique(block.origins.file, return_inverse=True)
            numbers = [self._number(block.origins.source.paths[file]) for file in files.tolist()]
            self._source.append(np.array(numbers, np.int32)[places])
            self._record.append(block.origins.record)

    def _number(self, source: str) -> int:
        return self._numbers.setdefault(source, len(self._numbers))

    def __len__(self) -> int:
        return len(self.headers)

    @property
    def sources(self) -> list[str]:
        """Files in the order in which they came."""
        return list(self._numbers)

    @property
    def source(self) -> NDArray[np.int32]:
        """The file of each record, int32 (records,)."""
        return np.concatenate([np.empty(0, np.int32), *self._source])

    @property
    def record(self) -> NDArray[np.int64]:
        """Number of each record in its file, int64 (records,)."""
        return np.concatenate([np.empty(0, np.int64), *self._record])

    @property
    def letters(self) -> NDArray[np.int64]:
        """Length of each record, int64 (records,), once all have ended."""
        return np.concatenate([np.empty(0, np.int64), *self._letters])

    def windows(self, options: SketchOptions) -> NDArray[np.int64]:
        """Windows of each record, int64 (records,)."""
        return count_windows(self.letters, options)
