"""Inputs as a stream of packed blocks: files are read in blocks of any size, which the device parses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.formats.source import Source
from oclgenomics.formats.workers import Workers
from oclgenomics.runtime import Engine
from oclgenomics.sequence.parse import DEFECTS, FastaState, FastqResult, parse_fasta, parse_fastq
from oclgenomics.sequence.symbols import Symbols

__all__ = ["BLOCK_BYTES", "PackedBlock", "packed_blocks"]

BLOCK_BYTES = 64 << 20


@dataclass(frozen=True)
class PackedBlock:
    """Part of an input, packed.

    Attributes
    ----------
    symbols : Symbols
        Records are parted by gaps. The last symbols of the block before it come first again, so that no window of
        `overlap` + 1 symbols is lost, and none of these is whole twice.
    text_bytes : int
        Bytes of text that it was made of.
    """

    symbols: Symbols
    text_bytes: int


def packed_blocks(
    engine: Engine,
    paths: Iterable[str | os.PathLike[str]],
    *,
    overlap: int = 0,
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
) -> Iterator[PackedBlock]:
    """Read FASTA and FASTQ files and pack them on the device.

    Parameters
    ----------
    engine : Engine
    paths : iterable of path
        Files, plain or gzip, in any mix; "-" is standard input. FASTQ has four lines a record.
    overlap : int
        Symbols of a FASTA record that go before the next block again: k - 1 for k-mers.
    block_bytes : int
        Bytes of text in a block; a longer FASTQ record makes its block longer.
    threads : int, optional
        Threads that inflate bgzip; as many as `Workers` takes if not given.

    Yields
    ------
    PackedBlock

    Raises
    ------
    InputError
        Anything wrong with an input, with its name, the record and the byte.
    """
    for path in paths:
        with Workers(threads) as workers, Source(path, workers=workers) as source:
            text = _Text(source, block_bytes)
            if not text.more(1):
                raise InputError("holds no sequence", source=source.name)
            first = text.first_letter()
            if first == ord(">"):
                yield from _fasta(engine, text, overlap)
            elif first == ord("@"):
                yield from _fastq(engine, text)
            else:
                raise InputError("is neither FASTA nor FASTQ: it starts with neither > nor @", source=source.name)


class _Text:
    """The text of an input in blocks; what a block does not use up comes first in the next one."""

    def __init__(self, source: Source, block_bytes: int) -> None:
        self.name, self.block_bytes = source.name, block_bytes
        self._chunks = iter(source)
        self._kept: list[NDArray[np.uint8]] = []
        self._size = 0
        self.offset = 0  # of the first byte kept, in the whole text
        self.ended = False

    def more(self, size: int) -> bool:
        """Read on until so many bytes are there, or the input ends; return whether there is any."""
        while self._size < size and not self.ended:
            chunk = next(self._chunks, None)
            if chunk is None:
                self.ended = True
            else:
                self._kept.append(np.frombuffer(chunk, np.uint8))
                self._size += len(chunk)
        return self._size > 0

    def first_letter(self) -> int:
        """The first byte that is no line break; blank lines before it are dropped."""
        while self.more(1):
            found = np.flatnonzero((self._kept[0] != ord("\n")) & (self._kept[0] != ord("\r")))
            if len(found):
                self.drop(int(found[0]))
                return int(self._kept[0][0])
            self.drop(len(self._kept[0]))
        raise InputError("holds no sequence", source=self.name)

    def block(self, size: int) -> NDArray[np.uint8]:
        """Return up to so many bytes, without dropping them."""
        self.more(size + 1)  # one more tells whether the text ends here
        whole = self._kept[0] if len(self._kept) == 1 else np.concatenate(self._kept)
        self._kept = [whole]
        return whole[:size]

    def drop(self, count: int) -> None:
        """Drop the first bytes."""
        self._kept[0] = self._kept[0][count:]
        self._size -= count
        self.offset += count
        if not len(self._kept[0]):
            del self._kept[0]

    @property
    def empty(self) -> bool:
        return not self.more(1)


def _fasta(engine: Engine, text: _Text, overlap: int) -> Iterator[PackedBlock]:
    state, before = FastaState(), None
    while not text.empty:
        block = text.block(text.block_bytes)
        symbols: Symbols = parse_fasta(engine, engine.upload(block), len(block), state, before, overlap)
        state, before = state.after(block), symbols
        text.drop(len(block))
        yield PackedBlock(symbols, len(block))


def _fastq(engine: Engine, text: _Text) -> Iterator[PackedBlock]:
    records, size = 0, text.block_bytes
    while not text.empty:
        block = text.block(size)
        final = text.ended and len(block) == text._size
        result = parse_fastq(engine, engine.upload(block), len(block), final=final)
        if result.defect is not None:
            raise _defect(text, block, records, result)
        used = result.tail
        if not used and not final:
            size *= 2  # not even one record is complete
            continue
        size = text.block_bytes
        records += result.records
        text.drop(used)
        yield PackedBlock(result.symbols, used)


def _defect(text: _Text, block: NDArray[np.uint8], records: int, result: FastqResult) -> InputError:
    assert result.defect is not None
    at, kind = result.defect
    lines = int(np.count_nonzero(block[:at] == ord("\n")))
    return InputError(DEFECTS[kind], source=text.name, record=records + lines // 4 + 1, byte=text.offset + at)
