"""What the verbs return: summaries of what they have done, a histogram, and a matrix in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from math import expm1, inf, log1p, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.database.layout import Tally
from oclgenomics.sequence import Census


class _Summary:
    """Numbers that are one record."""

    def records(self) -> list[dict[str, Any]]:
        """All numbers as one record."""
        return [asdict(self)]  # type: ignore[call-overload]

    def to_frame(self) -> Any:
        """The record as a table of one row; see `oclgenomics.app.frames.to_frame`."""
        (record,) = self.records()
        return to_frame({name: [value] for name, value in record.items()})


@dataclass(frozen=True, repr=False)
class CountSummary(_Summary):
    """What a count found.

    Attributes
    ----------
    kmers : int
        K-mers of the input, equal ones included.
    distinct, total : int
        K-mers in the database, and the sum of their counts.
    temporary_runs, temporary_bytes : int
        Parts of the input that were counted apart, and what was written to the folder for temporary files; 0 where the
        input fits into memory.
    census : Census
        Records and letters of the input.
    """

    kmers: int
    distinct: int
    total: int
    temporary_runs: int = 0
    temporary_bytes: int = 0
    census: Census = field(default_factory=Census)

    def __repr__(self) -> str:
        return f"CountSummary(kmers={self.kmers}, distinct={self.distinct}, total={self.total})"

    def records(self) -> list[dict[str, Any]]:
        """All numbers as one record, those of the census among them."""
        record = asdict(self)
        return [record | record.pop("census")]


@dataclass(frozen=True, repr=False)
class Histogram:
    """The number of k-mers that have each count.

    Attributes
    ----------
    counts : ndarray, int64 (m,)
        Counts that occur, ascending.
    kmers : ndarray, int64 (m,)
        Distinct k-mers with each of these counts.
    """

    counts: NDArray[np.int64]
    kmers: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Histogram(distinct={self.distinct}, total={self.total}, largest={self.largest})"

    @classmethod
    def of(cls, tally: Tally) -> Histogram:
        """Make one of what was tallied."""
        table = tally.histogram()
        return cls(table["count"].astype(np.int64), table["kmers"].astype(np.int64))

    @classmethod
    def of_counts(cls, counts: Iterable[NDArray[np.uint32]]) -> Histogram:
        """Make one of the counts of k-mers, some at a time."""
        tally = Tally()
        for some in counts:
            tally.add(Tally(some))
        return cls.of(tally)

    @property
    def distinct(self) -> int:
        """The number of distinct k-mers."""
        return int(self.kmers.sum())

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return int((self.counts * self.kmers).sum())

    @property
    def largest(self) -> int:
        """The largest count, 0 if there is none."""
        return int(self.counts.max(initial=0))

    def dense(self, size: int) -> NDArray[np.int64]:
        """Return the number of k-mers with each count from 0 to size - 1, int64 (size,)."""
        tally = np.zeros(size, np.int64)
        there = self.counts < size
        tally[self.counts[there]] = self.kmers[there]
        return tally

    def rows(self) -> list[tuple[int, int]]:
        """Each count that occurs, ascending, and how many k-mers have it."""
        return list(zip(self.counts.tolist(), self.kmers.tolist(), strict=True))

    def records(self) -> list[dict[str, Any]]:
        """A record for each count that occurs: `count` and `kmers`."""
        return [{"count": count, "kmers": kmers} for count, kmers in self.rows()]

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        return to_frame({"count": self.counts, "kmers": self.kmers})


@dataclass(frozen=True)
class MergeSummary(_Summary):
    """What a merge wrote.

    Attributes
    ----------
    k : int
    canonical : bool
    distinct, total : int
        K-mers in the database, and the sum of their counts.
    """

    k: int
    canonical: bool
    distinct: int
    total: int


@dataclass(frozen=True)
class FilterSummary(_Summary):
    """What a filter read and kept.

    Attributes
    ----------
    reads, kept : int
        Records of the input, mates one by one, and those of them that were kept.
    pairs : int
        Pairs of the input.
    kmers, found : int
        K-mers of all reads, equal ones included, and those of them that the set has.
    """

    reads: int
    kept: int
    pairs: int
    kmers: int
    found: int


@dataclass(frozen=True, repr=False)
class CountMatrix:
    """Counts of k-mers in several samples, in memory.

    Attributes
    ----------
    k : int
    canonical : bool
    names : tuple of str
        Of the samples.
    keys : ndarray, uint64 (words, n)
        K-mers, ascending.
    counts : ndarray, uint32 (n, samples)
    """

    k: int
    canonical: bool
    names: tuple[str, ...]
    keys: NDArray[np.uint64]
    counts: NDArray[np.uint32]

    def __repr__(self) -> str:
        return f"CountMatrix(k={self.k}, canonical={self.canonical}, kmers={len(self.counts)}, samples={self.names})"

    def records(self) -> list[dict[str, Any]]:
        """A record for each k-mer: `kmer`, its letters, and the count of each sample under its name."""
        rows = zip(texts_of(self.keys, self.k), self.counts.tolist(), strict=True)
        return [{"kmer": kmer} | dict(zip(self.names, counts, strict=True)) for kmer, counts in rows]

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        columns = dict(zip(self.names, self.counts.T, strict=True))
        return to_frame({"kmer": texts_of(self.keys, self.k)} | columns)


@dataclass(frozen=True)
class MatrixSummary(_Summary):
    """What a matrix holds that was written.

    Attributes
    ----------
    k : int
    canonical : bool
    names : tuple of str
    kmers : int
        Rows.
    """

    k: int
    canonical: bool
    names: tuple[str, ...]
    kmers: int


MOST_COPIES = 5  # of a k-mer in an assembly; more are counted as so many


def error_rate(only: int, kmers: int, k: int) -> float | None:
    """Return the probability that a base of an assembly is wrong, of whose k-mers `only` are in no read.

    None where there are no k-mers.
    """
    if not kmers:
        return None
    return 1.0 if only == kmers else abs(expm1(log1p(-only / kmers) / k))  # exact where few are wrong


def quality_value(error: float | None) -> float | None:
    """Return the QV of an error rate: infinite for 0."""
    if error is None:
        return None
    return inf if error == 0 else abs(-10 * log10(error))


@dataclass(frozen=True, repr=False)
class CopySpectrum:
    """The k-mers of reads, by their counts there and their copies in an assembly.

    Attributes
    ----------
    counts : ndarray, int64 (m,)
        Counts that occur, ascending.
    kmers : ndarray, int64 (6, m)
        Distinct k-mers with each of these counts that an assembly has 0, 1, 2, 3, 4, or more times.
    """

    counts: NDArray[np.int64]
    kmers: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"CopySpectrum({int(self.kmers.sum())} k-mers of the reads, {len(self.counts)} counts)"

    def solid(self, least: int) -> tuple[int, int]:
        """Return how many k-mers of the reads have at least such a count, and how many of them the assembly has."""
        there = self.kmers[:, self.counts >= least].sum(axis=1)
        return int(there.sum()), int(there[1:].sum())

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Copies (5 for more than 4), count in the reads and number of k-mers, where there are some."""
        for copies, kmers in enumerate(self.kmers):
            some = np.flatnonzero(kmers)
            for count, number in zip(self.counts[some].tolist(), kmers[some].tolist(), strict=True):
                yield copies, count, number

    def records(self) -> list[dict[str, Any]]:
        """A record for each of `rows`: `copies`, `count` and `kmers`."""
        return [{"copies": copies, "count": count, "kmers": kmers} for copies, count, kmers in self.rows()]

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        rows = list(self.rows())
        names = ("copies", "count", "kmers")
        return to_frame({name: [row[place] for row in rows] for place, name in enumerate(names)})


@dataclass(frozen=True, repr=False)
class SequenceQualities:
    """The quality of each sequence of an assembly.

    Attributes
    ----------
    k : int
    names : tuple of str
    kmers, assembly_only : ndarray, int64 (n,)
        K-mers of each sequence, repetitions included, and those of them that no read has.
    """

    k: int
    names: tuple[str, ...]
    kmers: NDArray[np.int64]
    assembly_only: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"SequenceQualities({len(self)} sequences, {self.assembly_only.sum()} of {self.kmers.sum()} k-mers only)"

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each sequence: `sequence`, `assembly_only`, `kmers`, `qv` and `error`."""
        for name, only, kmers in zip(self.names, self.assembly_only.tolist(), self.kmers.tolist(), strict=True):
            error = error_rate(only, kmers, self.k)
            yield {
                "sequence": name, "assembly_only": only, "kmers": kmers, "qv": quality_value(error), "error": error,
            }  # fmt: skip

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        records = list(self.records())
        names = ("sequence", "assembly_only", "kmers", "qv", "error")
        return to_frame({name: [record[name] for record in records] for name in names})


@dataclass(frozen=True, repr=False)
class AssemblyQuality:
    """The quality of an assembly, or of two together.

    Attributes
    ----------
    name : str
    k : int
    kmers, assembly_only : int
        K-mers, repetitions included, and those of them that no read has.
    distinct_only : int
        The distinct ones of these.
    min_solid : int or None
        K-mers of the reads with such a count are solid; None if that is not known.
    spectrum : CopySpectrum
    sequences : SequenceQualities or None
        None for two assemblies together.
    """

    name: str
    k: int
    kmers: int
    assembly_only: int
    distinct_only: int
    min_solid: int | None
    spectrum: CopySpectrum
    sequences: SequenceQualities | None = None

    def __repr__(self) -> str:
        (record,) = self.records()
        qv, share = record["qv"], record["completeness"]
        shown = "None" if qv is None else f"{qv:.2f}"
        return f"AssemblyQuality({self.name!r}, qv={shown}, completeness={'None' if share is None else f'{share:.2f}'})"

    @property
    def error(self) -> float | None:
        """The probability that a base is wrong; None without k-mers."""
        return error_rate(self.assembly_only, self.kmers, self.k)

    @property
    def qv(self) -> float | None:
        """-10 log10 of `error`; infinite if no k-mer is missing from the reads."""
        return quality_value(self.error)

    @property
    def solid(self) -> int | None:
        """Distinct solid k-mers of the reads."""
        return None if self.min_solid is None else self.spectrum.solid(self.min_solid)[0]

    @property
    def solid_found(self) -> int | None:
        """Those of them that the assembly has."""
        return None if self.min_solid is None else self.spectrum.solid(self.min_solid)[1]

    @property
    def completeness(self) -> float | None:
        """Their share, in per cent; None without solid k-mers."""
        if self.solid is None or self.solid_found is None or not self.solid:
            return None
        return 100 * self.solid_found / self.solid

    def records(self) -> list[dict[str, Any]]:
        """The numbers as one record, in the order of Merqury's tables."""
        return [{
            "assembly": self.name, "assembly_only": self.assembly_only, "kmers": self.kmers, "qv": self.qv,
            "error": self.error, "solid_found": self.solid_found, "solid": self.solid,
            "completeness": self.completeness,
        }]  # fmt: skip

    def to_frame(self) -> Any:
        """The record as a table of one row; see `oclgenomics.app.frames.to_frame`."""
        (record,) = self.records()
        return to_frame({name: [value] for name, value in record.items()})


@dataclass(frozen=True)
class QualityReport:
    """The quality of one assembly, or of two and of both together.

    Attributes
    ----------
    k : int
    min_solid : int or None
        Counts of solid k-mers begin here; None where the reads have no coverage peak and none was given.
    lower_bound : bool
        The database of the reads lacks k-mers by their counts: QVs are at least those given.
    assemblies : tuple of AssemblyQuality
        One, or that of each of two and that of both.
    notes : tuple of str
        What is not known, and why.
    """

    k: int
    min_solid: int | None
    lower_bound: bool
    assemblies: tuple[AssemblyQuality, ...]
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> AssemblyQuality:
        """The one, or both together."""
        return self.assemblies[-1]

    def records(self) -> list[dict[str, Any]]:
        """A record for each assembly; see `AssemblyQuality.records`."""
        return [record for each in self.assemblies for record in each.records()]

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        records = self.records()
        return to_frame({name: [record[name] for record in records] for name in records[0]})
