"""The signatures of a file as it holds them: names and letters, and at which byte each letter stands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.source import Source
from oclgenomics.lazy_names import late
from oclgenomics.sequence.records import name_in, records_of

rewritten_source = late("oclgenomics.sequence.rewritten_source")  # of FASTQ

NEWLINE = ord("\n")
MAX_BYTES, MAX_SIGNATURES = 1 << 30, 1 << 24  # of a file: packed zeros could ask for any memory
PIECE_BYTES = 1 << 20  # looked at together


@dataclass(frozen=True)
class PanelText:
    """The text of a file of signatures, and what it says.

    Attributes
    ----------
    names : list of str
    letters : list of bytes
        Of each signature, without line breaks.
    text : bytes
        All of the file, decompressed, but for line breaks before the first record.
    skipped : int
        Bytes of the file before the text: a byte-order mark and blank lines.
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
            return self._place_in_fasta(record, letter)
        return self._place_in_fastq(record, letter)

    def _place_in_fasta(self, record: int, letter: int) -> int:
        text = _with_newlines(self.text)
        begin = text.index(b"\n", int(_headers(text)[record]))
        for at in range(begin, len(text), PIECE_BYTES):
            found = np.flatnonzero(np.frombuffer(text[at : at + PIECE_BYTES], np.uint8) != NEWLINE)
            if letter < len(found):
                return at + int(found[letter])
            letter -= len(found)
        raise ValueError("the record has fewer letters")

    def _place_in_fastq(self, record: int, letter: int) -> int:
        rewriter, size, line = rewritten_source.Rewriter(""), 0, 4 * record
        pieces = ((np.frombuffer(piece, np.uint8), False) for piece in _pieces(self.text))
        for text in rewriter.rewrite(chain(pieces, [(np.empty(0, np.uint8), True)])):
            breaks = np.flatnonzero(text == NEWLINE)
            if line < len(breaks):
                place: int = rewriter.place_of(size + int(breaks[line]) + 1 + letter)
                return place
            size, line = size + len(text), line - len(breaks)
            rewriter.forget(size)
        raise ValueError("there are fewer records")


def read_panel_text(path: str | os.PathLike[str], progress: Progress | None = None) -> PanelText:
    """Read the signatures of a file, FASTA or FASTQ, uncompressed or compressed; "-" is standard input.

    Parameters
    ----------
    path : path
    progress : callable, optional
        Called with (bytes read, bytes in all or None).

    Raises
    ------
    InputError
        The file cannot be read, or is neither FASTA nor FASTQ.
    """
    with Source(path, progress=progress) as source:
        text, blank = _whole_text(source)
        name, skipped = source.name, source.skipped + blank
    if _is_fasta(text):
        with_newlines = _with_newlines(text)
        headers = _headers(with_newlines)
        _refuse_number(len(headers), name)
        names, letters = _fasta(with_newlines, headers)
    else:
        names, letters = [], []
        for record in records_of(_pieces(text), name, offset=skipped):
            names.append(record.name)
            letters.append(record.letters)
            _refuse_number(len(names), name)
    return PanelText(names, letters, text, skipped)


def _whole_text(source: Source) -> tuple[bytes, int]:
    """The text from the first byte on that is no line break, and how many line breaks come before."""
    parts: list[bytes] = []
    blank = size = 0
    for chunk in source:
        kept = chunk if parts else chunk.lstrip(b"\r\n")
        blank += len(chunk) - len(kept)
        if kept and not parts and not kept.startswith((b">", b"@")):
            return kept, blank  # neither FASTA nor FASTQ, whatever follows
        size += len(kept)
        if size > MAX_BYTES:
            raise InputError(f"holds more than {MAX_BYTES:,} bytes of signatures", source=source.name)
        if kept:
            parts.append(kept)
    return b"".join(parts), blank


def _refuse_number(count: int, source: str) -> None:
    if count > MAX_SIGNATURES:
        raise InputError(f"holds more than {MAX_SIGNATURES:,} signatures; scan for some at a time", source=source)


def _pieces(text: bytes) -> Iterator[bytes]:
    """A text in pieces, none of which takes much memory while it is looked at."""
    for at in range(0, len(text), PIECE_BYTES):
        yield text[at : at + PIECE_BYTES]


def _is_fasta(text: bytes) -> bool:
    return text[:1] == b">"


def _with_newlines(text: bytes) -> bytes:
    """The text with a newline for each carriage return, so that every byte keeps its place."""
    return text.replace(b"\r", b"\n")


def _headers(text: bytes) -> NDArray[np.int64]:
    """Where headers begin."""
    letters = np.frombuffer(b"\n" + text, np.uint8)
    found = [np.zeros(0, np.int64)]
    for at in range(0, len(text), PIECE_BYTES):
        before = letters[at : min(at + PIECE_BYTES, len(text))]
        here = letters[at + 1 : at + 1 + len(before)]
        found.append(at + np.flatnonzero((here == ord(">")) & (before == NEWLINE)))
    return np.concatenate(found)


def _fasta(text: bytes, headers: NDArray[np.int64]) -> tuple[list[str], list[bytes]]:
    """Names and letters, record by record: a loop over signatures, not over lines."""
    names, letters = [], []
    for begin, end in pairwise([*headers.tolist(), len(text)]):
        header, _, lines = text[begin:end].partition(b"\n")
        names.append(name_in(header))
        letters.append(lines.replace(b"\n", b""))
    return names, letters
