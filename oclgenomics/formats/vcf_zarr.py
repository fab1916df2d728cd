"""VCF Zarr (extra `zarr`): one alignment per contiguous run of one contig, read chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import InputError
from .alignment import Alignment
from .chromosome import Chromosome
from .samples import columns_of
from .source import Progress
from .vcf_zarr_genotypes import CallReader
from .vcf_zarr_records import RecordReader
from .zarr_store import ZarrStore

__all__ = ["read_vcf_zarr"]


def read_vcf_zarr(
    path: str,
    *,
    samples: Sequence[str] | None = None,
    phase: str = "auto",
    block_bytes: int = 1 << 22,
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
        'auto': a heterozygous call that is not phased makes the alignment unphased; 'ignore': all are taken as phased.
    block_bytes : int
        Genotypes held unpacked, at least the chunks of one range of records; results do not depend on it.
    progress : callable, optional
        See `Progress`; bytes of the genotypes, unpacked.

    Yields
    ------
    Alignment
        A chromosome in which every record was left out has no sites.

    Raises
    ------
    InputError
        No VCF Zarr, a damaged one, one without genotypes or records, an unknown sample, positions that go back, calls
        that cannot be read.
    MissingDependencyError
        zarr is not installed.
    """
    store = ZarrStore(path)
    try:
        records = RecordReader(store)
        store.need("sample_id", 1)
        names = [str(name) for name in store.read("sample_id").tolist()]
        calls = CallReader(store, names, columns_of(names, samples, path), phase)
        if not records.count:
            raise InputError("the VCF Zarr holds no records", source=path)
        yield from _chromosomes(records, calls, path, block_bytes, progress)
    finally:
        store.close()


def _chromosomes(
    records: RecordReader, calls: CallReader, path: str, block_bytes: int, progress: Progress | None
) -> Iterator[Alignment]:
    """Alignments in the order of the records."""
    current: Chromosome | None = None
    number = 0
    step = calls.records_in(block_bytes)
    for start in range(0, records.count, step):
        stop = min(start + step, records.count)
        block = records.read(start, stop)
        genotypes = calls.block(start, stop)
        ends = [first for first, _ in block.contigs[1:]] + [stop - start]
        for (first, name), end in zip(block.contigs, ends, strict=True):
            if current is None or current.name != name:
                if current is not None:
                    yield current.finish("auto")
                number += 1
                current = Chromosome(name, number, len(calls.samples), calls.samples, path)
            if wrong := current.out_of_order(block.positions[first:end]):
                raise InputError(wrong[1], source=path, record=start + first + wrong[0] + 1)
            current.count_skipped([(reason, flags[first:end]) for reason, flags in block.reasons])
            chosen = first + np.flatnonzero(block.keep[first:end])
            for rows in genotypes.slices(chosen):
                given = genotypes.given(rows)
                current.count_skipped([("no GT", ~given)])
                if given.any():
                    read = rows[given]
                    current.add(block.positions[read], genotypes.read(read, block.alleles[read]))
        if progress is not None:
            progress(stop * calls.record_bytes, records.count * calls.record_bytes)
    if current is not None:
        yield current.finish("auto")
