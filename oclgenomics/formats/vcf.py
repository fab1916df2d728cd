"""VCF: one alignment per contiguous run of CHROM, read in batches of lines.

Batches are parsed in threads; what depends on the batches before (where a chromosome ends, the order of the positions)
is done with the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .alignment import Alignment, words_for
from .batch import Batch, parse_batches
from .packing import full_words, join_sites, spread_haplotypes
from .vcf_genotypes import GenotypeReader
from .vcf_planes import Genotypes
from .vcf_records import ColumnFinder, judge_records
from .window import ByteWindow
from .workers import Workers

__all__ = ["BATCH_BYTES", "read_vcf"]

BATCH_BYTES = 1 << 22  # lines handled at once: large, as every array operation costs some microseconds of one thread
_LETTERS = np.frombuffer(b"ACGTN?", np.uint8)


def read_vcf(
    window: ByteWindow,
    *,
    samples: Iterable[str] | None = None,
    phase: str = "auto",
    batch_bytes: int = BATCH_BYTES,
    workers: Workers | None = None,
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
        No header, no sample columns or no record with GT, an unknown sample, no records, positions that go back, calls
        that cannot be read; the message names the line.
    """
    names = _read_header(window)
    keep = _columns_of(names, samples, window.source)
    parser = _Parser(GenotypeReader(names, keep, batch_bytes // 16))
    chromosomes = _Chromosomes(window.source, parser.samples, phase)
    for batch, parsed in parse_batches(window, batch_bytes, workers or Workers(1), parser.parse):
        yield from chromosomes.add(batch, parsed)
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


@dataclass
class _Run:
    """Neighbouring records of a batch that have one CHROM.

    Attributes
    ----------
    name : str
        CHROM.
    record : int
        The first record in the batch.
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
    """

    name: str
    record: int
    first: int
    last: int
    skipped: Counter[str]
    positions: np.ndarray
    genotypes: Genotypes | None
    has_genotypes: bool


class _Parser:
    """Parses batches by themselves."""

    def __init__(self, reader: GenotypeReader) -> None:
        self._finder, self._reader = ColumnFinder(), reader
        self.samples = reader.samples

    def parse(self, batch: Batch) -> list[_Run]:
        """All that can be said without the batches before.

        Raises
        ------
        InputError
            Something is wrong with a record; not always with the first that is bad.
        """
        records = self._finder.find(batch)
        keep, alleles, reasons = judge_records(batch, records.tabs)
        ends = np.append(records.run_starts[1:], len(batch.starts))
        runs = []
        for start, end, name in zip(records.run_starts.tolist(), ends.tolist(), records.run_names, strict=True):
            positions = records.positions[start:end]
            _check_order(batch, start, name, positions)
            chosen = start + np.flatnonzero(keep[start:end])
            genotypes = None
            if len(chosen):
                genotypes = self._reader.read(batch, chosen, records.tabs[chosen, 8] + 1, alleles[chosen])
            skipped = _count_skipped([(reason, flags[start:end]) for reason, flags in reasons])
            has_genotypes = not bool(reasons[-1][1][start:end].all())
            first, last = int(positions[0]), int(positions[-1])
            sites = records.positions[chosen]
            runs.append(_Run(name, start, first, last, skipped, sites, genotypes, has_genotypes))
        return runs


def _check_order(batch: Batch, record: int, name: str, positions: np.ndarray, before: int = 0) -> None:
    """Refuse positions that go back; the first is that of `record`, and `before` comes before it."""
    steps = np.diff(positions, prepend=before)
    back = np.flatnonzero(steps < 0)
    if len(back):
        i = int(back[0])
        raise batch.error(
            record + i, f"position {positions[i]} comes after {positions[i] - steps[i]} on {name}; use bcftools sort"
        )


def _count_skipped(reasons: list[tuple[str, np.ndarray]]) -> Counter[str]:
    """Count the records left out, each under the first reason that applies."""
    skipped: Counter[str] = Counter()
    counted = np.zeros(len(reasons[0][1]), bool)
    for reason, flags in reasons:
        skipped[reason] = int((flags & ~counted).sum())
        counted |= flags
    return skipped


class _Chromosomes:
    """Cuts batches at the changes of CHROM and completes one chromosome after the other."""

    def __init__(self, source: str, samples: tuple[str, ...], phase: str) -> None:
        self._source, self._samples, self._phase = source, samples, phase
        self._open: _Chromosome | None = None
        self._held: list[Alignment] = []  # chromosomes without any GT, held until a record has one
        self._genotypes_seen = False
        self._started = 0

    def add(self, batch: Batch, runs: list[_Run]) -> Iterator[Alignment]:
        """Take the records of a batch; yields the chromosomes that end in it."""
        for run in runs:
            if self._open is None or self._open.name != run.name:
                self._close()
                yield from self._complete()
                self._started += 1
                self._open = _Chromosome(run.name, self._started, self._samples, self._source)
            self._open.add(batch, run)
            self._genotypes_seen |= run.has_genotypes
            yield from self._complete()

    def finish(self) -> Iterator[Alignment]:
        """The last chromosome."""
        if self._open is None:
            raise InputError("the file has a header but no records", source=self._source)
        if not self._genotypes_seen:
            raise InputError("has no GT: no record has genotypes (FORMAT without GT)", source=self._source)
        self._close()
        yield from self._complete()

    def _close(self) -> None:
        if self._open is not None:
            self._held.append(self._open.finish(self._phase))
            self._open = None

    def _complete(self) -> Iterator[Alignment]:
        """The chromosomes closed, once any record has genotypes."""
        while self._held and self._genotypes_seen:
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

    def add(self, batch: Batch, run: _Run) -> None:
        """Append the sites of a run."""
        _check_order(batch, run.record, self.name, np.array([run.first]), self._last_position)
        self._last_position = run.last
        self._skipped.update(run.skipped)
        genotypes = run.genotypes
        if genotypes is None:
            return
        self._multi_site.append(genotypes.multi_site + self._sites)
        self._multi_letter.append(_LETTERS[genotypes.multi_letter])
        self._multi_bits.append(genotypes.multi_bits)
        self._sites += len(run.positions)
        self._positions.append(run.positions)
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
        skipped = {reason: count for reason, count in self._skipped.items() if count}
        return Alignment(
            name=self.name, positions=_joined(self._positions, np.int64), bits=bits, valid=valid,
            haplotypes=haplotypes, ploidy=ploidy, unphased=self._unphased and phase == "auto" and ploidy == 2,
            letters=_joined(self._letters, np.uint8, 2), multi_site=_joined(self._multi_site, np.int32),
            multi_bits=join_sites(parts["_multi_bits"], words), multi_letter=_joined(self._multi_letter, np.uint8),
            alphabet="dna", samples=self._samples, skipped=skipped, replicate=self._number,
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
