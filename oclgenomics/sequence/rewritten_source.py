"""The rest of an input of FASTQ with four lines a record, whatever layout it has."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.sequence.defects import fastq_error
from oclgenomics.sequence.four_lines import FourLines, four_lines
from oclgenomics.sequence.line_breaks import NEWLINE
from oclgenomics.sequence.parse import MAX_BYTES

MAX_LINES = 1 << 24  # of a record, and so many blank ones: each takes a hundred bytes, whatever it holds
PIECE_BYTES = 4 << 20  # rewritten at a time: what is made of them stays in the processor's cache


@dataclass(frozen=True)
class _Piece:
    """Rewritten text, where it starts in all of the rewritten text, and where its original starts in the input."""

    rewritten: FourLines
    new: int
    old: int


class Rewriter:
    """Rewrites text that comes in parts of any size, and finds the places of its bytes in the input.

    Parameters
    ----------
    name : str
        The input's, for messages.
    records : int
        Of the input before this text.
    offset : int
        Place of the text's first byte in the input.
    """

    def __init__(self, name: str, *, records: int = 0, offset: int = 0) -> None:
        self._name, self._records = name, records
        self._old, self._new = offset, 0  # where the next piece starts
        self._pieces: deque[_Piece] = deque()

    def rewrite(
        self, parts: Iterator[tuple[NDArray[np.uint8], bool]], *, eager: bool = False
    ) -> Iterator[NDArray[np.uint8]]:
        """Rewrite parts of a text.

        Parameters
        ----------
        parts : iterator of (text, final)
            Each part, and whether the text ends with it.
        eager : bool
            What is complete is wanted as soon as it is there.

        Yields
        ------
        ndarray, uint8
            Complete records, with four lines each; never empty.

        Raises
        ------
        InputError
            The first defect of the text, or a record that is too long.
        """
        waiting: list[NDArray[np.uint8]] = []
        size, least, breaks = 0, 0, 0
        for part, final in parts:
            waiting.append(part.copy())
            size += len(part)
            breaks += int(np.count_nonzero(part == NEWLINE))
            if size > MAX_BYTES:
                message = f"a record of FASTQ takes more than {MAX_BYTES:,} bytes, too many to be read at once"
                raise InputError(message, source=self._name, byte=self._old)
            if breaks > MAX_LINES:
                message = f"a record of FASTQ takes more than {MAX_LINES:,} lines, too many to be read at once"
                raise InputError(message, source=self._name, byte=self._old)
            if size < least and not final and not eager:
                continue
            rewritten, rest = self._rewritten(waiting, final=final)
            if len(rewritten.text):
                yield rewritten.text
            waiting, size, breaks = [rest], len(rest), int(np.count_nonzero(rest == NEWLINE))
            least = 2 * size  # so that a long record is looked through a few times only

    def place_of(self, place: int) -> int:
        """Return the place in the input of a byte of the rewritten text that has not been forgotten."""
        piece = next(piece for piece in reversed(self._pieces) if piece.new <= place)
        return piece.old + piece.rewritten.place_of(place - piece.new)

    def forget(self, place: int) -> None:
        """Nobody will ask for bytes of the rewritten text before this place."""
        while len(self._pieces) > 1 and self._pieces[1].new <= place:
            self._pieces.popleft()

    def _rewritten(self, waiting: list[NDArray[np.uint8]], *, final: bool) -> tuple[FourLines, NDArray[np.uint8]]:
        text = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
        rewritten = four_lines(text, final=final)
        if rewritten.defect is not None:
            kind, place = rewritten.defect.kind, rewritten.defect.place
            record, found = self._records + rewritten.defect.record, int(text[place]) if place < len(text) else 0
            raise fastq_error(kind, source=self._name, record=record, byte=self._old + place, found=found)
        self._pieces.append(_Piece(rewritten, self._new, self._old))
        self._new += len(rewritten.text)
        self._old += rewritten.used
        self._records += rewritten.records
        return rewritten, text[rewritten.used :]


class RewrittenSource:
    """Rewritten text; offers what `TextBlocks` takes of a `Source`.

    Parameters
    ----------
    name : str
    chunks : iterator of ndarray, uint8
    live : bool
        The chunks come as somebody gives them.
    """

    repeatable, size, readers, skipped = False, None, 1, 0

    def __init__(self, name: str, chunks: Iterator[NDArray[np.uint8]], *, live: bool) -> None:
        self.name, self.live = name, live
        self._chunks = chunks
        self._rest = np.empty(0, np.uint8)

    def read_into(self, target: NDArray[np.uint8]) -> int:
        """Fill an array; see `Source.read_into`."""
        filled = 0
        while filled < len(target) and (count := self.read_some_into(target[filled:])):
            filled += count
        return filled

    def read_some_into(self, target: NDArray[np.uint8]) -> int:
        """Put the rest of a chunk into an array, or the next one; see `Source.read_some_into`."""
        if not len(self._rest):
            self._rest = next(self._chunks, self._rest)
        count = min(len(self._rest), len(target))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def start_reading(self, target: NDArray[np.uint8], threads: ThreadPoolExecutor) -> Iterator[tuple[int, int]]:
        """Have an array filled; see `Source.start_reading`."""
        reading: Future[int] = threads.submit(self.read_into, target)
        return iter([(0, reading.result())])
