"""The references of a build, gathered block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.windows import count_windows
from oclgenomics.sequence import LetterBlock

__all__ = ["TargetTable"]

LINE_BREAKS = b"\r\n"
SHORT_HEADER = 256  # bytes that are looked through at first for the end of a header


class TargetTable:
    """Records, their headers and their lengths.

    Attributes
    ----------
    headers : list of str
        Of each record that has begun, without > or @; bytes that are not UTF-8 are replaced.
    sources : list of str
        Files in the order in which they came.
    """

    def __init__(self) -> None:
        self.headers: list[str] = []
        self.sources: list[str] = []
        self._source: list[int] = []
        self._record: list[int] = []
        self._letters: list[NDArray[np.int64]] = []

    def add(self, block: LetterBlock) -> None:
        """Take down the records that begin or end in a block."""
        if not self.sources or self.sources[-1] != block.source:
            self.sources.append(block.source)
        pieces = block.pieces
        begun = len(block.names)
        self._letters.append((pieces.start + pieces.size)[pieces.ends])
        if begun:
            texts = block.texts()
            starts = texts.starts[len(pieces) - begun : len(pieces)].tolist()
            self.headers += [_header(texts.letters, start) for start in starts]
            self._source += [len(self.sources) - 1] * begun
            self._record += range(block.first - block.before, block.first - block.before + begun)

    def __len__(self) -> int:
        return len(self.headers)

    @property
    def source(self) -> NDArray[np.int32]:
        """The file of each record, int32 (records,)."""
        return np.array(self._source, np.int32)

    @property
    def record(self) -> NDArray[np.int64]:
        """Number of each record in its file, int64 (records,)."""
        return np.array(self._record, np.int64)

    @property
    def letters(self) -> NDArray[np.int64]:
        """Length of each record, int64 (records,), once all have ended."""
        return np.concatenate([np.empty(0, np.int64), *self._letters])

    def windows(self, options: SketchOptions) -> NDArray[np.int64]:
        """Windows of each record, int64 (records,)."""
        return count_windows(self.letters, options)


def _header(text: NDArray[np.uint8], start: int) -> str:
    """The line that begins at a place, without its mark and its end."""
    room = SHORT_HEADER
    while True:
        head = text[start : start + room].tobytes().lstrip(LINE_BREAKS)
        lines = head.replace(b"\r", b"\n").split(b"\n", 1)
        if len(lines) > 1 or start + room >= len(text):
            return lines[0][1:].decode("utf-8", "replace")
        room *= 4
