"""VCF: one alignment per contiguous run of CHROM, read in batches of lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..errors import InputError
from .alignment import Alignment
from .batch import Batch, next_batch
from .chromosome import Chromosome
from .samples import columns_of
from .vcf_genotypes import GenotypeReader
from .vcf_records import ColumnFinder, judge_records
from .window import ByteWindow

__all__ = ["BATCH_BYTES", "read_vcf"]

BATCH_BYTES = 1 << 20  # lines handled at once; the working arrays stay within a few times this


def read_vcf(
    window: ByteWindow, *, samples: Iterable[str] | None = None, phase: str = "auto", batch_bytes: int = BATCH_BYTES
) -> Iterator[Alignment]:
    """Read the chromosomes of a VCF, one at a time.

    Parameters
    ----------
    window : ByteWindow
        The input, unconsumed.
    samples : iterable of str, optional
        Samples to keep, in the order of the file; all if not given.
    phase : str
        'auto': a heterozygous call with '/' makes the alignment unphased; 'ignore': '/' is read as '|'.
    batch_bytes : int
        Bytes of lines handled at once; results do not depend on it.

    Yields
    ------
    Alignment
        A chromosome in which every record was left out has no sites.

    Raises
    ------
    InputError
        No header, no sample columns or no record with GT, an unknown sample, no records, positions that go back, calls
        that cannot be read; the message names the line.
    """
    names = _read_header(window)
    keep = columns_of(names, samples, window.source)
    chromosomes = _Chromosomes(window.source, GenotypeReader(names, keep, batch_bytes // 16), phase)
    while (batch := next_batch(window, batch_bytes)) is not None:
        if len(batch.starts):
            yield from chromosomes.add(batch)
    yield from chromosomes.finish()


def _read_header(window: ByteWindow) -> tuple[str, ...]:
    """Consume the header; the sample names."""
    while (line := window.peek_line()) is not None and line.startswith(b"##"):
        window.line()
    if line is None or not line.startswith(b"#CHROM"):
        raise window.error("the header has no '#CHROM' line")
    columns = line.decode("utf-8", "replace").split("\t")
    if len(columns) < 10:
        raise window.error("has no GT: the header names no samples")
    window.line()
    return tuple(columns[9:])


class _Chromosomes:
    """Cuts batches at the changes of CHROM and completes one chromosome after the other."""

    def __init__(self, source: str, reader: GenotypeReader, phase: str) -> None:
        self._source, self._phase = source, phase
        self._finder, self._reader = ColumnFinder(), reader
        self._open: Chromosome | None = None
        self._held: list[Alignment] = []  # chromosomes without any GT, held until a record has one
        self._genotypes_seen = False
        self._started = 0

    def add(self, batch: Batch) -> Iterator[Alignment]:
        """Take the records of a batch; yields the chromosomes that end in it."""
        records = self._finder.find(batch)
        keep, alleles, reasons = judge_records(batch, records.tabs)
        self._genotypes_seen |= not bool(reasons[-1][1].all())
        ends = np.append(records.run_starts[1:], len(batch.starts))
        for start, end, name in zip(records.run_starts.tolist(), ends.tolist(), records.run_names, strict=True):
            if self._open is None or self._open.name != name:
                yield from self._close()
                self._started += 1
                samples = self._reader.samples
                self._open = Chromosome(name, self._started, len(samples), samples, self._source)
            chosen = start + np.flatnonzero(keep[start:end])
            if wrong := self._open.out_of_order(records.positions[start:end]):
                raise batch.error(start + wrong[0], wrong[1])
            self._open.count_skipped([(reason, flags[start:end]) for reason, flags in reasons])
            if len(chosen):
                genotypes = self._reader.read(batch, chosen, records.tabs[chosen, 8] + 1, alleles[chosen])
                self._open.add(records.positions[chosen], genotypes)

    def finish(self) -> Iterator[Alignment]:
        """The last chromosome."""
        if self._open is None:
            raise InputError("the file has a header but no records", source=self._source)
        if not self._genotypes_seen:
            raise InputError("has no GT: no record has genotypes (FORMAT without GT)", source=self._source)
        yield from self._close()

    def _close(self) -> Iterator[Alignment]:
        if self._open is not None:
            self._held.append(self._open.finish(self._phase))
            self._open = None
        if self._genotypes_seen:
            while self._held:
                yield self._held.pop(0)
