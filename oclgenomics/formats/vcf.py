"""VCF: one alignment per contiguous run of CHROM, read in batches of lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from ..errors import InputError
from .alignment import Alignment, words_for
from .batch import Batch, next_batch
from .packing import full_words, join_sites, spread_haplotypes
from .vcf_genotypes import GenotypeReader
from .vcf_planes import Genotypes
from .vcf_records import ColumnFinder, judge_records
from .window import ByteWindow

__all__ = ["BATCH_BYTES", "read_vcf"]

BATCH_BYTES = 1 << 20  # lines handled at once; the working arrays stay within a few times this
_LETTERS = np.frombuffer(b"ACGTN?", np.uint8)


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
    keep = _columns_of(names, samples, window.source)
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


def _columns_of(names: tuple[str, ...], samples: Iterable[str] | None, source: str) -> np.ndarray | None:
    """Columns of the wanted samples, None for all."""
    if samples is None:
        return None
    wanted = set(samples)
    unknown = sorted(wanted - set(names))
    if unknown:
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        raise InputError(f"no sample is named {unknown[0]!r}{more}", source=source)
    if not wanted:
        raise InputError("the list of samples to keep is empty", source=source)
    return np.array([i for i, name in enumerate(names) if name in wanted], np.int64)


class _Chromosomes:
    """Cuts batches at the changes of CHROM and completes one chromosome after the other."""

    def __init__(self, source: str, reader: GenotypeReader, phase: str) -> None:
        self._source, self._phase = source, phase
        self._finder, self._reader = ColumnFinder(), reader
        self._open: _Chromosome | None = None
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
                self._open = _Chromosome(name, self._started, self._reader.samples, self._source)
            chosen = start + np.flatnonzero(keep[start:end])
            self._open.check_order(batch, records.positions[start:end], start)
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


class _Chromosome:
    """The parts of one chromosome, site-major, until all of it is read."""

    def __init__(self, name: str, number: int, samples: tuple[str, ...], source: str) -> None:
        self.name, self._number, self._samples, self._source = name, number, samples, source
        self._last_position = 0
        self._skipped: Counter[str] = Counter()
        self._sites = 0
        self._positions: list[np.ndarray] = []
        self._letters: list[np.ndarray] = []
        self._bits: list[np.ndarray] = []
        self._valid: list[np.ndarray | None] = []
        self._multi_site: list[np.ndarray] = []
        self._multi_letter: list[np.ndarray] = []
        self._multi_bits: list[np.ndarray] = []
        self._ploidies: list[int] = []
        self._unphased = False

    def check_order(self, batch: Batch, positions: np.ndarray, first_record: int) -> None:
        """Refuse positions that go back within the chromosome."""
        steps = np.diff(positions, prepend=self._last_position)
        back = np.flatnonzero(steps < 0)
        if len(back):
            i = int(back[0])
            raise batch.error(
                first_record + i,
                f"position {positions[i]} comes after {positions[i] - steps[i]} on {self.name}; use bcftools sort",
            )
        self._last_position = int(positions[-1])

    def count_skipped(self, reasons: list[tuple[str, np.ndarray]]) -> None:
        """Count the records left out, each under the first reason that applies."""
        counted = np.zeros(len(reasons[0][1]), bool)
        for reason, flags in reasons:
            fresh = int((flags & ~counted).sum())
            counted |= flags
            if fresh:
                self._skipped[reason] += fresh

    def add(self, positions: np.ndarray, genotypes: Genotypes) -> None:
        """Append sites."""
        self._multi_site.append(genotypes.multi_site + self._sites)
        self._multi_letter.append(_LETTERS[genotypes.multi_letter])
        self._multi_bits.append(genotypes.multi_bits)
        self._sites += len(positions)
        self._positions.append(positions)
        self._letters.append(_LETTERS[genotypes.letters])
        self._bits.append(genotypes.bits)
        self._valid.append(genotypes.valid)
        self._ploidies.append(genotypes.ploidy)
        self._unphased |= genotypes.unphased

    def finish(self, phase: str) -> Alignment:
        """Join the parts."""
        ploidy = max(self._ploidies, default=2)
        haplotypes = ploidy * len(self._samples)
        complete = self._complete_masks(ploidy)
        parts = {name: self._spread(getattr(self, name), ploidy) for name in ("_bits", "_multi_bits")}
        words = words_for(haplotypes)
        bits = join_sites(parts["_bits"], words)
        valid = None if complete is None else join_sites(complete, words)
        return Alignment(
            name=self.name, positions=_joined(self._positions, np.int64), bits=bits, valid=valid,
            haplotypes=haplotypes, ploidy=ploidy, unphased=self._unphased and phase == "auto" and ploidy == 2,
            letters=_joined(self._letters, np.uint8, 2), multi_site=_joined(self._multi_site, np.int32),
            multi_bits=join_sites(parts["_multi_bits"], words), multi_letter=_joined(self._multi_letter, np.uint8),
            alphabet="dna", samples=self._samples, skipped=dict(self._skipped), replicate=self._number,
            source=self._source,
        )  # fmt: skip

    def _spread(self, parts: list[np.ndarray], ploidy: int) -> list[np.ndarray]:
        """Bring parts with haploid calls only among diploid ones; takes the list over."""
        samples = len(self._samples)
        for i, own in enumerate(self._ploidies):
            if own < ploidy:
                parts[i] = spread_haplotypes(parts[i], samples)
        return parts

    def _complete_masks(self, ploidy: int) -> list[np.ndarray] | None:
        """Valid masks of all parts in one ploidy, None if every state is observed."""
        mixed = any(own < ploidy for own in self._ploidies)
        if not mixed and all(part is None for part in self._valid):
            return None
        masks = []
        for part, own, bits in zip(self._valid, self._ploidies, self._bits, strict=True):
            full = np.broadcast_to(full_words(own * len(self._samples)), bits.shape)
            mask = full if part is None else part
            masks.append(spread_haplotypes(mask, len(self._samples)) if own < ploidy else mask)
        return masks


def _joined(parts: list[np.ndarray], dtype: type, width: int | None = None) -> np.ndarray:
    """Parts end to end, also if there are none."""
    empty: np.ndarray = np.zeros(0 if width is None else (0, width), dtype)
    return np.concatenate([empty, *parts]).astype(dtype, copy=False)
