"""Inputs as a stream of packed blocks: files are read in blocks of any size, which the device parses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oclgenomics.errors import InputError
from oclgenomics.io.file_slice import FileSlice
from oclgenomics.io.raw_file import Progress
from oclgenomics.lazy_names import late
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.defects import Census
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.fastq_text import FastqText
from oclgenomics.sequence.files import opened_text, without_reads
from oclgenomics.sequence.parse import BEST_QUALITY, FastaState, Symbols, parse_fasta, parse_fastq
from oclgenomics.sequence.text import TextBlocks

if TYPE_CHECKING:
    from oclgenomics.sequence.block_records import BlockRecords, RecordTable

block_records = late("oclgenomics.sequence.block_records")
compression = late("oclgenomics.sequence.compress")


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
    may_be_empty: bool = False,
    compress: bool = False,
    census: Census | None = None,
    progress: Progress | None = None,
) -> Iterator[PackedBlock]:
    """Read FASTA and FASTQ files and pack them on the device.

    Parameters
    ----------
    engine : Engine
    paths : iterable of path
        Files, uncompressed or compressed, in any mix; "-" is standard input. FASTQ has four lines per record. Lines of
        FASTA end with a newline, a carriage return or both.
    overlap : int
        Symbols of a FASTA record that are repeated before the next block: k - 1 for k-mers.
    block_bytes : int, optional
        Bytes of text in a block; a longer FASTQ record makes its block longer. Chosen for the device's memory if
        not given: at most 32 MiB on CPUs and 128 MiB on GPUs.
    threads : int, optional
        Threads that inflate bgzip; as many as `Workers` takes if not given.
    min_quality : int, optional
        Letters of lower quality (Phred + 33) become gaps, as N does; 0 to `BEST_QUALITY` (93).
    qualities : bool
        Blocks have qualities.
    names : bool
        Blocks have records. No block ends within a header of FASTA then; a longer header makes its block longer.
    may_be_empty : bool
        A file with nothing in it is a sample without reads: it gives no block, and a warning.
    compress : bool
        Each run of equal bases becomes one of them; not with `qualities` or `names`, and `overlap` is at least 1.
    census : Census, optional
        Receives the numbers of each input that is read to its end. Of a part of a file, who asks for them says whether
        the file's letters are nucleotides.
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
        `min_quality` outside its range, or `compress` with what it does not go with.
    """
    if compress and (qualities or names or overlap < 1):
        raise ValueError("runs of equal bases are compressed without qualities and names, and with an overlap")
    if min_quality is not None and not 0 <= min_quality <= BEST_QUALITY:
        raise ValueError(f"a least quality of {min_quality}: qualities are 0 to {BEST_QUALITY}")
    table = _record_table(engine) if names else None
    for path in paths:
        found = Census()
        with (
            without_reads(allowed=may_be_empty),
            opened_text(engine, path, block_bytes=block_bytes, threads=threads, progress=progress) as (text, fastq),
        ):
            if not fastq and (qualities or min_quality is not None):
                raise InputError("is FASTA, which has no qualities; give FASTQ, or ask for none", source=text.name)
            if fastq:
                yield from _fastq(engine, text, min_quality, qualities, table, found, compress)
            else:
                yield from _fasta(engine, text, overlap, table, found, compress)
            if census is None or not isinstance(path, FileSlice):
                found.check(text.name)
            if census is not None:
                census.add(found)


def _fasta(
    engine: Engine, text: TextBlocks, overlap: int, table: RecordTable | None, census: Census, compress: bool
) -> Iterator[PackedBlock]:
    state = FastaState()
    before: Symbols | None = None
    there = True
    while there:
        size = text.size if table is None else state.whole_headers(text.host, final=text.final)
        if size:
            part, continued = text.on_device(size), before is not None
            result = parse_fasta(engine, part, state, before, overlap, table)
            # What is repeated is compressed, so a run that began there goes on here.
            before = compression.compressed_symbols(engine, result.symbols) if compress else result.symbols
            state = state.after(text.host[:size])
            yield PackedBlock(before, size, records=_named(table, part, continued))
            census.add(result.census(engine))  # now that it has been packed
        there = text.read(size)


def _fastq(
    engine: Engine,
    text: TextBlocks,
    min_quality: int | None,
    qualities: bool,
    table: RecordTable | None,
    census: Census,
    compress: bool,
) -> Iterator[PackedBlock]:
    with FastqText(engine, text) as lines:
        there = True
        while there:
            part, final = lines.on_device(), lines.final
            result = parse_fastq(engine, part, final=final, min_quality=min_quality, qualities=qualities, table=table)
            if result.defect is not None:
                there = lines.refused(result.defect, census.records)
                continue
            census.add(result.census)
            if result.census.records:
                symbols = compression.compressed_symbols(engine, result.symbols) if compress else result.symbols
                yield PackedBlock(symbols, result.tail, result.qualities, _named(table, part, False))
            there = lines.read(result.tail)


def _record_table(engine: Engine) -> RecordTable:
    table: RecordTable = block_records.RecordTable(engine)
    return table


def _named(table: RecordTable | None, text: Text, continued: bool) -> BlockRecords | None:
    return None if table is None else table.gather(text, continued=continued)
