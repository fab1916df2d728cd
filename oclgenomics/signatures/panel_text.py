"""The signatures of a file as it holds them: names and letters, and at which byte each letter stands."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.source import Source
from oclgenomics.sequence.four_lines import four_lines
from oclgenomics.sequence.records import name_in, records_of

__all__ = ["PanelText", "read_panel_text"]

NEWLINE = ord("\n")


@dataclass(frozen=True)
class PanelText:
    """The text of a file of signatures, and what it says.

    Attributes
    ----------
    names : list of str
    letters : list of bytes
        Of each signature, without line breaks.
    text : bytes
        All of the file, decompressed.
    skipped : int
        Bytes of the file before the text: those of a byte-order mark.
    """

    names: list[str]
    letters: list[bytes]
    text: bytes
    skipped: int = 0

    def byte_of(self, record: int, letter: int) -> int:
        """Return the place of a letter in the file, unpacked; records and letters count from 0."""
        return self.skipped + self._place_of(record, letter)

    def _place_of(self, record: int, letter: int) -> int:
        if _is_fasta(self.text):
            text = _with_newlines(self.text)
            begin = text.index(b"\n", int(_headers(text)[record]))
            return begin + int(np.flatnonzero(np.frombuffer(text[begin:], np.uint8) != NEWLINE)[letter])
        rewritten = four_lines(np.frombuffer(self.text, np.uint8), final=True)
        breaks = np.flatnonzero(rewritten.text == NEWLINE)
        return rewritten.place_of(int(breaks[4 * record]) + 1 + letter)


def read_panel_text(path: str | os.PathLike[str]) -> PanelText:
    """Read the signatures of a file, FASTA or FASTQ, plain or packed; "-" is standard input.

    Raises
    ------
    InputError
        The file cannot be read, or is neither FASTA nor FASTQ.
    """
    with Source(path) as source:
        text = b"".join(source)
        skipped = source.skipped
    if _is_fasta(text):
        names, letters = _fasta(_with_newlines(text))
    else:
        records = list(records_of([text], source.name))
        names, letters = [record.name for record in records], [record.letters for record in records]
    return PanelText(names, letters, text, skipped)


def _is_fasta(text: bytes) -> bool:
    return text[:1] == b">" or text.lstrip(b"\r\n")[:1] == b">"


def _with_newlines(text: bytes) -> bytes:
    """The text with a newline for each carriage return, so that every byte keeps its place."""
    return text.replace(b"\r", b"\n")


def _headers(text: bytes) -> NDArray[np.int64]:
    """Where headers begin."""
    letters = np.frombuffer(text, np.uint8)
    marks = np.flatnonzero(letters == ord(">"))
    headers: NDArray[np.int64] = marks[(marks == 0) | (letters[marks - 1] == NEWLINE)]
    return headers


def _fasta(text: bytes) -> tuple[list[str], list[bytes]]:
    """Names and letters, record by record: a loop over signatures, not over lines."""
    names, letters = [], []
    for begin, end in pairwise([*_headers(text).tolist(), len(text)]):
        header, _, lines = text[begin:end].partition(b"\n")
        names.append(name_in(header))
        letters.append(lines.replace(b"\n", b""))
    return names, letters
