"""Records of FASTA and FASTQ, one by one, on the host."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import EmptyInputError, InputError
from oclgenomics.io.foreign import HEAD_BYTES, foreign_format, not_sequences
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.source import Source
from oclgenomics.lazy_names import late
from oclgenomics.sequence.aligned_reads import fastq_converter

rewritten_source = late("oclgenomics.sequence.rewritten_source")  # of FASTQ

PART_BYTES = 1 << 20  # of FASTQ, rewritten at a time
MAX_LINE_BYTES = 1 << 30  # packed zeros could ask for any memory
MAX_LETTERS = 1 << 32  # of a record; the longest chromosomes that are assembled have fewer


@dataclass(frozen=True)
class Record:
    """A sequence and its name, the first word of its header."""

    name: str
    letters: bytes


def read_records(path: str | os.PathLike[str], *, progress: Progress | None = None) -> Iterator[Record]:
    """Read a file, uncompressed or compressed; "-" is standard input.

    Letters and qualities of FASTQ may be wrapped. Lines of FASTA end with a newline, a carriage return or both.

    Parameters
    ----------
    path : path
    progress : callable, optional
        Called with (bytes read, bytes in all) of the file.

    Yields
    ------
    Record

    Raises
    ------
    InputError
        The file cannot be read, or is neither FASTA nor FASTQ.
    """
    with Source(path, progress=progress, converter=fastq_converter(os.fspath(path))) as source:
        chunks = iter(source)
        first = next(chunks, b"")  # by then it is known whether a byte-order mark was skipped
        if not first:
            raise EmptyInputError("holds no sequence", source=source.name)
        yield from records_of(chain([first], chunks), source.name, offset=source.skipped)


def records_of(text: Iterable[bytes], source: str, *, offset: int = 0) -> Iterator[Record]:
    """Read records from chunks of text; see `read_records`.

    Parameters
    ----------
    text : iterable of bytes
    source : str
        Name of the input, for messages.
    offset : int
        Place of the text's first byte in the input.
    """
    chunks = iter(text)
    head, blank = _head(chunks)
    text = chain([head], chunks)
    first = head[:HEAD_BYTES]
    if first.startswith(b">"):
        lines = _lines((chunk.replace(b"\r", b"\n") for chunk in text), source)
        yield from _fasta(next(lines), lines, source)
    elif first.startswith(b"@") and not foreign_format(first):
        yield from _fastq(text, source, offset + blank)
    else:
        raise InputError(not_sequences(first), source=source)


def _head(chunks: Iterator[bytes]) -> tuple[bytes, int]:
    """The first chunk that holds anything but line breaks, from there on, and how many line breaks came before."""
    blank = 0
    for chunk in chunks:
        head = chunk.lstrip(b"\r\n")
        blank += len(chunk) - len(head)
        if head:
            return head, blank
    return b"", blank


def _lines(chunks: Iterable[bytes], source: str) -> Iterator[bytes]:
    """Lines without their ends, which are newlines, with or without a carriage return before them."""
    begun: list[bytes] = []
    size = 0
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        begun.append(first)
        size += len(first)
        if size > MAX_LINE_BYTES:
            raise InputError(f"a line of more than {MAX_LINE_BYTES:,} bytes; wrap its sequence", source=source)
        if others:
            size = len(others[-1])
            yield b"".join(begun).rstrip(b"\r")
            for line in others[:-1]:
                yield line.rstrip(b"\r")
            begun = [others[-1]]
    last = b"".join(begun).rstrip(b"\r")
    if last:
        yield last


def _fasta(header: bytes, lines: Iterator[bytes], source: str) -> Iterator[Record]:
    letters = bytearray()  # in a list, short lines would take many times their bytes
    for line in lines:
        if line.startswith(b">"):
            yield Record(name_in(header), bytes(letters))
            header, letters = line, bytearray()
        else:
            letters += line
            if len(letters) > MAX_LETTERS:
                message = (
                    f"the record {name_in(header)!r} has more than {MAX_LETTERS:,} bases, too many to be read whole"
                )
                raise InputError(message, source=source)
    yield Record(name_in(header), bytes(letters))


def _fastq(chunks: Iterator[bytes], source: str, offset: int) -> Iterator[Record]:
    rewriter, size = rewritten_source.Rewriter(source, offset=offset), 0
    for text in rewriter.rewrite(_parts(chunks)):
        size += len(text)
        rewriter.forget(size)
        lines = text.tobytes().removesuffix(b"\n").split(b"\n")
        for header, letters in zip(lines[::4], lines[1::4], strict=True):
            yield Record(name_in(header), letters.removesuffix(b"\r"))


def _parts(chunks: Iterator[bytes]) -> Iterator[tuple[NDArray[np.uint8], bool]]:
    """The chunks in larger parts, then the end."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= PART_BYTES:
            yield np.frombuffer(b"".join(held), np.uint8), False
            held, size = [], 0
    yield np.frombuffer(b"".join(held), np.uint8), True


def name_in(header: bytes) -> str:
    """Return the name that a header has: its first word, without the mark before it."""
    words = header[1:].split(maxsplit=1)
    return words[0].decode("utf-8", "replace") if words else ""
