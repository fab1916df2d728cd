"""Records of FASTA and FASTQ, one by one, on the host."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from oclgenomics.errors import InputError
from oclgenomics.io.source import Source

__all__ = ["Record", "name_in", "read_records", "records_of"]


@dataclass(frozen=True)
class Record:
    """A sequence and its name, the first word of its header."""

    name: str
    letters: bytes


def read_records(path: str | os.PathLike[str]) -> Iterator[Record]:
    """Read a file, plain or gzip; "-" is standard input.

    FASTQ has four lines per record. Lines of FASTA end with a newline, a carriage return or both.

    Yields
    ------
    Record

    Raises
    ------
    InputError
        The file cannot be read, or is neither FASTA nor FASTQ.
    """
    with Source(path) as source:
        yield from records_of(source, source.name)


def records_of(text: Iterable[bytes], source: str) -> Iterator[Record]:
    """Read records from chunks of text; see `read_records`.

    Parameters
    ----------
    text : iterable of bytes
    source : str
        Name of the input, for messages.
    """
    chunks = iter(text)
    head = _head(chunks)
    text = chain([head], chunks)
    first = head.lstrip(b"\r\n")
    if first.startswith(b">"):
        lines = _lines(chunk.replace(b"\r", b"\n") for chunk in text)
        yield from _fasta(next(line for line in lines if line), lines)
    elif first.startswith(b"@"):
        lines = _lines(text)
        number, header = next((number, line) for number, line in enumerate(lines, 1) if line)
        yield from _fastq(number, header, lines, source)
    else:
        raise InputError("is neither FASTA nor FASTQ: it starts with neither > nor @", source=source)


def _head(chunks: Iterator[bytes]) -> bytes:
    """The first chunks, up to one that holds anything but line breaks."""
    head: list[bytes] = []
    for chunk in chunks:
        head.append(chunk)
        if chunk.strip(b"\r\n"):
            break
    return b"".join(head)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines without their ends, which are newlines, with or without a carriage return before them."""
    begun: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        begun.append(first)
        if others:
            yield b"".join(begun).rstrip(b"\r")
            for line in others[:-1]:
                yield line.rstrip(b"\r")
            begun = [others[-1]]
    last = b"".join(begun).rstrip(b"\r")
    if last:
        yield last


def _fasta(header: bytes, lines: Iterator[bytes]) -> Iterator[Record]:
    letters: list[bytes] = []
    for line in lines:
        if line.startswith(b">"):
            yield Record(name_in(header), b"".join(letters))
            header, letters = line, []
        else:
            letters.append(line)
    yield Record(name_in(header), b"".join(letters))


def _fastq(number: int, header: bytes, lines: Iterator[bytes], source: str) -> Iterator[Record]:
    while True:
        letters, plus, qualities = next(lines, b""), next(lines, None), next(lines, b"")
        if not header.startswith(b"@"):
            raise InputError("a record has to start with @; FASTQ with four lines a record is read", source=source,
                             line=number)  # fmt: skip
        if plus is None or not plus.startswith(b"+") or len(letters) != len(qualities):
            raise InputError("the record is no FASTQ of four lines, with a quality for each letter", source=source,
                             line=number)  # fmt: skip
        yield Record(name_in(header), letters)
        number += 4
        following = next((line for line in lines if line), None)
        if following is None:
            return
        header = following


def name_in(header: bytes) -> str:
    """Return the name that a header has: its first word, without the mark before it."""
    words = header[1:].split(maxsplit=1)
    return words[0].decode("utf-8", "replace") if words else ""
