"""VCF: one alignment per contiguous run of CHROM, read in blocks of lines.

Blocks are parsed in threads; what depends on the blocks before (where a chromosome ends, the order of the positions)
is done with the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.workers import Workers
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.planes import Genotypes
from oclgenomics.variation.read_options import Phase, Records as WhichRecords, Region
from oclgenomics.variation.readers.chromosome import Chromosomes, count_reasons, first_out_of_order, nothing_in
from oclgenomics.variation.readers.input_buffer import InputBuffer
from oclgenomics.variation.readers.line_blocks import LineBlock, parse_blocks
from oclgenomics.variation.readers.vcf.genotypes import GenotypeReader
from oclgenomics.variation.readers.vcf.records import (
    ColumnFinder,
    Records,
    ancestral_bases,
    judge_as_raisd,
    judge_records,
)
from oclgenomics.variation.samples import columns_of, first_repeated

BLOCK_BYTES = 1 << 22  # lines handled at once: large, as every array operation costs some microseconds of one thread


def read_vcf(
    buffer: InputBuffer,
    *,
    samples: Iterable[str] | None = None,
    phase: Phase = "auto",
    records: WhichRecords = "usual",
    ancestral: bool = False,
    region: Region | None = None,
    part: InputBuffer | None = None,
    block_bytes: int = BLOCK_BYTES,
    workers: Workers | None = None,
) -> Iterator[Alignment]:
    """Read the chromosomes of a VCF, one at a time.

    Parameters
    ----------
    buffer : InputBuffer
        The input, unconsumed.
    samples : iterable of str, optional
        Samples to keep, in the order of the file; all if not given.
    phase : str
        One of `phase.PHASES`.
    records : str
        Which records are read; see `ReadOptions`.
    ancestral : bool
        Give the bases of INFO/AA.
    region : Region, optional
        The only records that are read; of the others only the first columns are looked at.
    part : InputBuffer, optional
        A part of the records, with all of the region; of `buffer` only the header is read.
    block_bytes : int
        Bytes of lines that one thread handles at once; results do not depend on it.
    workers : Workers, optional
        The threads; none but the caller's if not given.

    Yields
    ------
    Alignment
        A chromosome in which every record was left out has no sites.

    Raises
    ------
    InputError
        No header, no sample columns or no record with GT, an unknown sample, no records, or none in the region,
        positions that go back, calls that cannot be read; the message names the line.
    """
    names = _read_header(buffer)
    keep = columns_of(names, samples, buffer.source)
    parser = _Parser(GenotypeReader(names, keep, block_bytes // 8, phase), region, records, ancestral=ancestral)
    workers = workers or Workers(1)
    chromosomes = _RunsOfChromosomes(
        parser.samples, buffer.source, phase, workers, ends=records == "raisd", ancestral=ancestral
    )
    rest = buffer if part is None else part
    for block, parsed in parse_blocks(rest, block_bytes, workers, parser.parse):
        yield from chromosomes.add(block, parsed)
    if region is not None and parser.names and chromosomes.open is None:
        raise nothing_in(region, parser.names, buffer.source)
    yield from chromosomes.finish()


def _read_header(buffer: InputBuffer) -> tuple[str, ...]:
    """Consume the header; the sample names."""
    while (line := buffer.peek_line()) is not None and (line.startswith(b"##") or not line.strip()):
        buffer.line()
    if line is None or not line.startswith(b"#CHROM"):
        raise buffer.error("the header has no '#CHROM' line")
    columns = line.decode("utf-8", "replace").split("\t")
    if len(columns) < 10:
        raise buffer.error("has no GT: the header names no samples")
    if twice := first_repeated(columns[9:]):
        raise buffer.error(f"two samples are named {twice!r}; rename one (bcftools reheader)")
    buffer.line()
    return tuple(columns[9:])


@dataclass
class _Run:
    """Neighbouring records of a block that have one CHROM.

    Attributes
    ----------
    name : str
        CHROM.
    record : int
        The first record in the block.
    first, last : int
        POS of the first and the last record, whether they are read or not.
    skipped : Counter
        Records left out, by reason.
    positions : ndarray of int64, shape (sites,)
        POS of the records read.
    genotypes : Genotypes, or None
        Their calls; None if there are none.
    has_genotypes : bool
        A record, read or not, has GT.
    ancestral : ndarray of uint8, shape (sites,), or None
        Ancestral bases of the records read, if they were asked for.
    """

    name: str
    record: int
    first: int
    last: int
    skipped: Counter[str]
    positions: NDArray[np.int64]
    genotypes: Genotypes | None
    has_genotypes: bool
    ancestral: NDArray[np.uint8] | None = None


class _Parser:
    """Parses blocks by themselves.

    Attributes
    ----------
    names : set of str
        The chromosomes of the records looked at, where only those of a region are read.
    """

    def __init__(
        self, reader: GenotypeReader, region: Region | None, records: WhichRecords, *, ancestral: bool
    ) -> None:
        self._finder, self._reader, self._region = ColumnFinder(), reader, region
        self._ancestral = ancestral
        self._judge = judge_as_raisd if records == "raisd" else judge_records
        self.samples = reader.samples
        self.names: set[str] = set()

    def parse(self, block: LineBlock) -> list[_Run]:
        """All that can be said without the blocks before.

        Raises
        ------
        InputError
            Something is wrong with a record; not always with the first that is bad.
        """
        records, rows = self._finder.find(block), np.arange(len(block.starts))
        if self._region is not None:
            rows = self._inside(records, len(rows), self._region)
            if not len(rows):
                return []
            block = block.chosen(rows)
            names = [self._region.chromosome]
            records = Records(records.positions[rows], np.zeros(1, np.int64), names, records.tabs[rows])
        keep, alleles, reasons = self._judge(block, records.tabs)
        bases = ancestral_bases(block, records.tabs) if self._ancestral else None
        ends = np.append(records.run_starts[1:], len(block.starts))
        runs = []
        for start, end, name in zip(records.run_starts.tolist(), ends.tolist(), records.run_names, strict=True):
            positions = records.positions[start:end]
            if wrong := first_out_of_order(positions, name):
                raise block.error(start + wrong[0], wrong[1])
            chosen = start + np.flatnonzero(keep[start:end])
            genotypes = None
            if len(chosen):
                genotypes = self._reader.read(block, chosen, records.tabs[chosen, 8] + 1, alleles[chosen])
            skipped = count_reasons([(reason, flags[start:end]) for reason, flags in reasons])
            has_genotypes = not bool(reasons[-1][1][start:end].all())
            first, last = int(positions[0]), int(positions[-1])
            sites = records.positions[chosen]
            own = None if bases is None else bases[chosen]
            runs.append(_Run(name, int(rows[start]), first, last, skipped, sites, genotypes, has_genotypes, own))
        return runs

    def _inside(self, records: Records, count: int, region: Region) -> NDArray[np.int64]:
        """Which of the records are in the region."""
        self.names.update(records.run_names)
        named = [name == region.chromosome for name in records.run_names]
        of_chromosome = np.repeat(named, np.diff(np.append(records.run_starts, count)))
        return np.flatnonzero(of_chromosome & region.holds(records.positions))


class _RunsOfChromosomes(Chromosomes):
    """Cuts blocks at the changes of CHROM and completes one chromosome after the other."""

    def __init__(
        self, samples: tuple[str, ...], source: str, phase: Phase, workers: Workers, *, ends: bool, ancestral: bool
    ) -> None:
        super().__init__(samples, source, phase, workers)
        self._with_ancestral = ancestral
        self._ends = ends  # whether alignments say where their last records lie
        self._held: list[Alignment] = []  # chromosomes without any GT, held until a record has one
        self._genotypes_seen = False

    def add(self, block: LineBlock, runs: list[_Run]) -> Iterator[Alignment]:
        """Take the records of a block; yields the chromosomes that end in it."""
        for run in runs:
            chromosome = self.open
            if chromosome is None or chromosome.name != run.name:
                self._held += self.close()
                yield from self._complete()
                chromosome = self.begin(run.name, partial(block.error, run.record))
                chromosome.with_ancestral = self._with_ancestral
            if wrong := chromosome.out_of_order(np.array([run.first, run.last])):
                raise block.error(run.record, wrong[1])
            chromosome.skip(run.skipped)
            if self._ends:
                chromosome.last_record = run.last
            if run.genotypes is not None:
                chromosome.add(run.positions, run.genotypes, run.ancestral)
            self._genotypes_seen |= run.has_genotypes
            yield from self._complete()

    def finish(self) -> Iterator[Alignment]:
        """The last chromosome."""
        if self.open is None:
            raise InputError("the file has a header but no records", source=self._source)
        if not self._genotypes_seen:
            raise InputError("has no GT: no record has genotypes (FORMAT without GT)", source=self._source)
        self._held += self.close()
        yield from self._complete()

    def _complete(self) -> Iterator[Alignment]:
        """The chromosomes closed, once any record has genotypes."""
        while self._held and self._genotypes_seen:
            yield self._held.pop(0)
