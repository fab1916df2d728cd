"""Inputs as a stream of packed blocks: files are read in blocks of any size, which the device parses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from oclgenomics.errors import InputError
from oclgenomics.io.source import Progress, Source
from oclgenomics.io.workers import Workers
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.block_records import BlockRecords, RecordTable
from oclgenomics.sequence.census import Census
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.parse import BEST_QUALITY, DEFECTS, MAX_BYTES, FastaState, parse_fasta, parse_fastq
from oclgenomics.sequence.symbols import Symbols
from oclgenomics.sequence.text import TextBlocks

__all__ = ["PackedBlock", "largest_block", "packed_blocks"]

CPU_BLOCK, GPU_BLOCK, MIN_BLOCK = 64 << 20, 128 << 20, 1 << 16  # bytes; GPUs wait for each block's end
BLOCK_SHARE = 8  # blocks that the device's memory holds: two or three of text, and what is made of them


@dataclass(frozen=True)
class PackedBlock:
    """Part of an input, packed.

    Attributes
    ----------
    symbols : Symbols
        Gaps separate records. The last symbols of the block before are repeated in front, so that every window of
        `overlap` + 1 symbols is complete in one block, and in one only.
    text_bytes : int
        Bytes of text from which it was made.
    qualities : DeviceArray, uint8 (symbols.size,), or None
        The quality of each letter in its symbol's place, `NO_QUALITY` (255) where there is no letter. Letters other
        than A, C, G and T have theirs, too.
    records : BlockRecords or None
        Places and names of the records that start in the block.
    """

    symbols: Symbols
    text_bytes: int
    qualities: DeviceArray | None = None
    records: BlockRecords | None = None


def packed_blocks(
    engine: Engine,
    paths: Iterable[str | os.PathLike[str]],
    *,
    overlap: int = 0,
    block_bytes: int | None = None,
    threads: int | None = None,
    min_quality: int | None = None,
    qualities: bool = False,
    names: bool = False,
    census: Census | None = None,
    progress: Progress | None = None,
) -> Iterator[PackedBlock]:
    """Read FASTA and FASTQ files and pack them on the device.

    Parameters
    ----------
    engine : Engine
    paths : iterable of path
        Files, plain or gzip, in any mix; "-" is standard input. FASTQ has four lines per record. Lines of FASTA end
        with a newline, a carriage return or both.
    overlap : int
        Symbols of a FASTA record that are repeated before the next block: k - 1 for k-mers.
    block_bytes : int, optional
        Bytes of text in a block; a longer FASTQ record makes its block longer. Chosen for the device's memory if
        not given: at most 64 MiB on CPUs and 128 MiB on GPUs.
    threads : int, optional
        Threads that inflate bgzip; as many as `Workers` takes if not given.
    min_quality : int, optional
        Letters of lower quality (Phred + 33) become gaps, as N does; 0 to `BEST_QUALITY` (93).
    qualities : bool
        Blocks have qualities.
    names : bool
        Blocks have records. No block ends within a header of FASTA then; a longer header makes its block longer.
    census : Census, optional
        Receives the numbers of each input that is read to its end.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the input at work; see `oclgenomics.io.source.Progress`.

    Yields
    ------
    PackedBlock

    Raises
    ------
    InputError
        A defect of an input, with its name, the record and the byte; at its end, an input whose letters are hardly
        nucleotides; FASTA, if qualities are requested.
    ValueError
        `min_quality` outside its range.
    """
    if min_quality is not None and not 0 <= min_quality <= BEST_QUALITY:
        raise ValueError(f"a least quality of {min_quality}: qualities are 0 to {BEST_QUALITY}")
    table = RecordTable(engine) if names else None
    for path in paths:
        with ExitStack() as files:
            workers = files.enter_context(Workers(threads))
            source = files.enter_context(Source(path, progress=progress, workers=workers))
            size = min(largest_block(engine) if block_bytes is None else block_bytes, _enough_for(source))
            text = files.enter_context(TextBlocks(engine, source, size))
            first = text.first_letter()
            if first == ord(">") and (qualities or min_quality is not None):
                raise InputError("is FASTA, which has no qualities; give FASTQ, or ask for none", source=source.name)
            found = Census()
            if first == ord(">"):
                yield from _fasta(engine, text, overlap, table, found)
            elif first == ord("@"):
                yield from _fastq(engine, text, source.name, min_quality, qualities, table, found)
            else:
                raise InputError("is neither FASTA nor FASTQ: it starts with neither > nor @", source=source.name)
            found.check(source.name)
            if census is not None:
                census.add(found)


def largest_block(engine: Engine) -> int:
    """Bytes of text in a block that suit the device and its memory."""
    most = CPU_BLOCK if engine.tuning.cpu else GPU_BLOCK
    return min(most, max(MIN_BLOCK, engine.budget // BLOCK_SHARE), max(MIN_BLOCK, engine.max_allocation // 2))


def _enough_for(source: Source) -> int:
    """Bytes of a block that holds a small file: a power of two, so that files can share memory."""
    return MAX_BYTES if source.size is None else 1 << source.size.bit_length()


def _fasta(
    engine: Engine, text: TextBlocks, overlap: int, table: RecordTable | None, census: Census
) -> Iterator[PackedBlock]:
    state = FastaState()
    before: Symbols | None = None
    there = True
    while there:
        size = text.size if table is None else state.whole_headers(text.host, final=text.final)
        if size:
            part, continued = text.on_device(size), before is not None
            result = parse_fasta(engine, part, state, before, overlap, table)
            before = result.symbols
            state = state.after(text.host[:size])
            yield PackedBlock(before, size, records=_named(table, part, continued))
            census.add(result.census(engine))  # now that it has been packed
        there = text.read(size)


def _fastq(
    engine: Engine,
    text: TextBlocks,
    name: str,
    min_quality: int | None,
    qualities: bool,
    table: RecordTable | None,
    census: Census,
) -> Iterator[PackedBlock]:
    there = True
    while there:
        part = text.on_device(text.size)
        result = parse_fastq(engine, part, final=text.final, min_quality=min_quality, qualities=qualities, table=table)
        if result.defect is not None:
            at, kind = result.defect
            lines = int(np.count_nonzero(text.host[:at] == ord("\n")))
            raise InputError(DEFECTS[kind], source=name, record=census.records + lines // 4 + 1, byte=text.offset + at)
        census.add(result.census)
        if result.census.records:
            yield PackedBlock(result.symbols, result.tail, result.qualities, _named(table, part, False))
        there = text.read(result.tail)


def _named(table: RecordTable | None, text: Text, continued: bool) -> BlockRecords | None:
    return None if table is None else table.gather(text, continued=continued)
