"""Records as they stand in the text: blocks of letters, and of qualities, that the device reads in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.file_slice import first_byte
from oclgenomics.io.joined_source import JoinedSource
from oclgenomics.runtime import HostArray
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.name_list import NameList


@dataclass(frozen=True)
class Pieces:
    """Records, or parts of records, in a block of text; arrays of one length.

    A record that one block does not hold comes in pieces. Every piece repeats, behind what it owns, the first letters
    of the next one, so every window of `overlap` + 1 letters lies in one piece, and starts in what that piece owns.

    Attributes
    ----------
    record : ndarray, int64
        Number of the record, through all inputs.
    start : ndarray, int64
        Place of the piece's first letter in its record.
    letters : ndarray, uint32
        Place of its first letter in the text.
    size : ndarray, uint32
        Number of its letters.
    owned : ndarray, uint32
        How many of these are no other piece's; all of them in the last piece of a record.
    qualities : ndarray, uint32, or None
        Place of the first letter's quality in the text; None for FASTA.
    ends : ndarray, bool
        The record ends with this piece.
    table : (ndarray, HostArray), uint32 (pieces or more, 4)
        Letters, size, owned and qualities once more, in rows, for the host and on the device, if it found them there.
    """

    record: NDArray[np.int64]
    start: NDArray[np.int64]
    letters: NDArray[np.uint32]
    size: NDArray[np.uint32]
    owned: NDArray[np.uint32]
    qualities: NDArray[np.uint32] | None
    ends: NDArray[np.bool_]
    table: tuple[NDArray[np.uint32], HostArray] | None = None

    def __len__(self) -> int:
        return len(self.record)

    def windows(self, k: int) -> NDArray[np.int64]:
        """How many windows of k bases start in what each piece owns; k is `overlap` + 1 at most."""
        return np.minimum(np.maximum(self.size.astype(np.int64) - (k - 1), 0), self.owned)


@dataclass(frozen=True)
class Origins:
    """Which files the records of a block begin in, where several files are read as one text.

    Attributes
    ----------
    source : JoinedSource
    file : ndarray, int64
        Of each record that begins in the block: its file, a number in `source.paths`.
    record : ndarray, int64
        Its number in that file, from 0 on.
    """

    source: JoinedSource
    file: NDArray[np.int64]
    record: NDArray[np.int64]

    def place(self, byte: int) -> tuple[str, int]:
        """Return the file of a byte of the text, and the byte's place in that file."""
        file = int(self.source.file_at(np.array([byte]))[0])
        path = self.source.paths[file]
        return path, first_byte(path) + byte - int(self.source.starts[file])


def _no_texts() -> NameList:
    return NameList.of(())


@dataclass(frozen=True)
class LetterBlock:
    """Part of an input: text on the device, and where records are in it.

    Letters of a piece are neighbours, without line breaks between them. The text is valid until the next block is asked
    for.

    Attributes
    ----------
    text : Text
        On the device; places count from its first byte (`text.skip`).
    to_host : callable
        Gives the bytes of the text as an array of the host's; see `host`.
    pieces : Pieces
        In the order of the input.
    names : NameList
        The first word of the header of each record that begins in the block.
    first : int
        Number of the first of these records, through all inputs.
    source : str
        The input's name.
    before : int
        Records of the inputs before this one.
    byte_of : callable
        Gives the place in the decompressed input of the byte that is at a place of the text.
    texts : callable
        Gives, as long as the block is valid, the input's own text of each piece, with its header and line breaks; what
        pieces share is told once. A line break at the end may be missing.
    headers : callable
        Gives, as long as the block is valid, the header of each record that begins in the block: its line without > or
        @ and without the line break.
    origins : Origins or None
        Where several files are read as one text: the files of the records. `source` names all of them together then.
    """

    text: Text
    to_host: Callable[[], NDArray[np.uint8]]
    pieces: Pieces
    names: NameList
    first: int
    source: str
    before: int = 0
    byte_of: Callable[[int], int] = int
    texts: Callable[[], NameList] = _no_texts
    headers: Callable[[], NameList] = _no_texts
    origins: Origins | None = None

    @cached_property
    def host(self) -> NDArray[np.uint8]:
        """The bytes of the text, uint8 (text.size,). Those of FASTA are brought when they are first asked for."""
        return self.to_host()

    def error_at(self, place: int, message: str) -> InputError:
        """Return the error for a letter at a place of the text, as long as that is valid.

        Parameters
        ----------
        place : int
        message : str
            What is wrong with it, and what to do.
        """
        if self.origins is not None:
            source, byte = self.origins.place(self.byte_of(place))
            return InputError(message, source=source, byte=byte)
        piece = int(np.searchsorted(self.pieces.letters, place, side="right")) - 1
        record = int(self.pieces.record[piece]) - self.before + 1
        return InputError(message, source=self.source, record=record, byte=self.byte_of(place))
