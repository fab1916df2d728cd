"""VCF Zarr (extra `zarr`): one alignment per contiguous run of one contig, read chunk by chunk."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.raw_file import Progress
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.read_options import Phase, Region
from oclgenomics.variation.readers.chromosome import Chromosome, Chromosomes, count_reasons, nothing_in
from oclgenomics.variation.readers.vcf_zarr.genotypes import CallBlock, CallReader
from oclgenomics.variation.readers.vcf_zarr.records import RecordReader, ZarrRecords
from oclgenomics.variation.readers.vcf_zarr.store import STRINGS, ZarrStore
from oclgenomics.variation.samples import columns_of, first_repeated


def read_vcf_zarr(
    path: str,
    *,
    samples: Sequence[str] | None = None,
    phase: Phase = "auto",
    region: Region | None = None,
    block_bytes: int = 1 << 24,
    progress: Progress | None = None,
) -> Iterator[Alignment]:
    """Read the chromosomes of a VCF Zarr, one at a time, as `read_vcf` reads them from the VCF it was made of.

    Parameters
    ----------
    path : str
        Folder of the Zarr group, or a zip file of what is in it.
    samples : sequence of str, optional
        Samples to keep, in the order of the store; all if not given.
    phase : str
        One of `phase.PHASES`.
    region : Region, optional
        The only records that are read; chunks of genotypes without any are not unpacked.
    block_bytes : int
        Genotypes read at once, twice as much is held; at least the chunks of one range of records. Results do not
        depend on it.
    progress : callable, optional
        See `Progress`; bytes of the genotypes, unpacked.

    Yields
    ------
    Alignment
        A chromosome in which every record was left out has no sites.

    Raises
    ------
    InputError
        No VCF Zarr, a damaged one, one without genotypes, records, or any in the region, an unknown sample, positions
        that go back, calls that cannot be read.
    MissingDependencyError
        zarr is not installed.
    """
    store = ZarrStore(path)
    try:
        records = RecordReader(store, region)
        if not records.count:
            raise InputError("the VCF Zarr holds no records", source=path)
        store.need("sample_id", STRINGS, 1)
        names = [str(name) for name in store.read("sample_id").tolist()]
        if twice := first_repeated(names):
            raise InputError(f"two samples are named {twice!r}; rename one", source=path)
        calls = CallReader(store, records.count, names, columns_of(names, samples, path), phase)
        chromosomes = _Contigs(calls.samples, path, phase)
        contigs: set[str] = set()
        with closing(_blocks(records, calls, calls.records_in(block_bytes))) as blocks:
            for block in blocks:
                contigs.update(name for _, name in block.records.contigs)
                yield from chromosomes.add(block)
                if progress is not None:
                    stop = block.start + len(block.records.keep)
                    progress(stop * calls.record_bytes, records.count * calls.record_bytes)
        if region is not None and chromosomes.open is None:
            raise nothing_in(region, contigs, path)
        yield from chromosomes.close()
    finally:
        store.close()


@dataclass
class _Block:
    """A range of records: the first, what they say, and their calls."""

    start: int
    records: ZarrRecords
    calls: CallBlock


def _blocks(records: RecordReader, calls: CallReader, step: int) -> Generator[_Block]:
    """Blocks of `step` records, the next of which is read while one is in use."""

    def load(start: int) -> _Block:
        stop = min(start + step, records.count)
        block = _Block(start, records.read(start, stop), CallBlock(calls, start, stop))
        if block.records.keep.any():
            block.calls.load()
        return block

    with ThreadPoolExecutor(1, "read-ahead") as reader:
        following = reader.submit(load, 0)
        for start in range(step, records.count, step):
            block = following.result()
            following = reader.submit(load, start)
            yield block
        yield following.result()


class _Contigs(Chromosomes):
    """Cuts blocks at the changes of contig and completes one chromosome after the other."""

    def add(self, block: _Block) -> Iterator[Alignment]:
        """Take the records of a block; yields the chromosomes that end in it."""
        contigs = block.records.contigs
        ends = [*(first for first, _ in contigs[1:]), len(block.records.keep)]
        for (first, name), end in zip(contigs, ends, strict=True):
            rows = first + np.flatnonzero(block.records.inside[first:end])
            if not len(rows):
                continue
            chromosome = self.open
            if chromosome is None or chromosome.name != name:
                yield from self.close()
                place = block.start + int(rows[0]) + 1
                chromosome = self.begin(name, partial(InputError, source=self._source, record=place))
            self._add_run(chromosome, block, rows)

    def _add_run(self, chromosome: Chromosome, block: _Block, run: NDArray[np.int64]) -> None:
        """Add records of a block, in order."""
        records = block.records
        if wrong := chromosome.out_of_order(records.positions[run]):
            raise InputError(wrong[1], source=self._source, record=block.start + int(run[wrong[0]]) + 1)
        chromosome.skip(count_reasons([(reason, flags[run]) for reason, flags in records.reasons]))
        for rows in block.calls.slices(run[records.keep[run]]):
            given = block.calls.given(rows)
            chromosome.skip({"no GT": int((~given).sum())})
            if given.any():
                sites = rows[given]
                chromosome.add(records.positions[sites], block.calls.read(sites, records.alleles[sites]))
