"""What a scan finds: the samples, and the matches of signatures in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.sequence.name_list import NameList
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.reference import ERROR_BITS, HASH_MODULUS

STRANDS = ("+", "-")

ColumnsT = TypeVar("ColumnsT", bound="Columns")


@dataclass(frozen=True)
class Columns:
    """Arrays of one length, the fields of a subclass."""

    TYPES = ""  # NumPy's letters, one for each field

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    @classmethod
    def none(cls: type[ColumnsT]) -> ColumnsT:
        """Return arrays without rows."""
        return cls(*(np.empty(0, letter) for letter in cls.TYPES))

    @classmethod
    def joined(cls: type[ColumnsT], parts: Iterable[ColumnsT]) -> ColumnsT:
        """Join parts in their order; one that has all rows is returned as it is."""
        some = [part for part in parts if len(part)]
        if len(some) < 2:
            return some[0] if some else cls.none()
        return cls(*(_joined([getattr(part, field.name) for part in some]) for field in fields(cls)))

    def take(self: ColumnsT, which: NDArray[Any] | slice) -> ColumnsT:
        """Return some rows."""
        return type(self)(*(getattr(self, field.name)[which] for field in fields(self)))


def _joined(columns: Sequence[Any]) -> Any:
    return NameList.joined(columns) if isinstance(columns[0], NameList) else np.concatenate(columns)


@dataclass(frozen=True)
class Samples(Columns):
    """Samples in the order of the input; arrays of one length.

    Attributes
    ----------
    number : ndarray, int64
        Through all inputs, from 0 on.
    name : ndarray, object (str)
        The first word of the header; several samples may have the same. Until users see it, a `NameList`: most samples
        are counted, and their names never read.
    source : ndarray, object (str)
        The file.
    letters : ndarray, int64
    ns : ndarray, int64
        Letters N.
    ambiguous : ndarray, int64
        Letters that are no single nucleotide, N among them.
    has_qualities : ndarray, bool
    quality_sum : ndarray, uint64
        Of all letters; 0 without qualities.
    pairs : ndarray, int64
        Signatures that match, counted on each strand.
    ends : ndarray, bool
        False for a sample that goes on in the next part; its numbers are those of what was read so far.
    least_quality : ndarray, uint8
        The lowest of all letters; 255 where there is none.
    """

    TYPES = "qOOqqq?Qq?B"

    number: NDArray[np.int64]
    name: NDArray[np.object_]
    source: NDArray[np.object_]
    letters: NDArray[np.int64]
    ns: NDArray[np.int64]
    ambiguous: NDArray[np.int64]
    has_qualities: NDArray[np.bool_]
    quality_sum: NDArray[np.uint64]
    pairs: NDArray[np.int64]
    ends: NDArray[np.bool_]
    least_quality: NDArray[np.uint8]

    @property
    def ended(self) -> Samples:
        """All but one that goes on in the next part."""
        return self.take(slice(0, len(self) - int(not self.ends[-1:].all())))

    def of_its_own(self) -> Samples:
        """Return the same for users, who may change it: names as texts, and arrays that nothing shares."""
        own = {field.name: np.array(getattr(self, field.name)) for field in fields(self) if field.name != "name"}
        return replace(self, name=_texts(self.name), **own)

    @property
    def hash(self) -> NDArray[np.int64]:
        """The sum of qualities modulo 97; -1 without qualities."""
        value = (self.quality_sum % np.uint64(HASH_MODULUS)).astype(np.int64)
        return np.where(self.has_qualities, value, -1)

    @property
    def mean_quality(self) -> NDArray[np.float64]:
        """Mean quality of all letters; NaN without qualities or letters."""
        wanted = self.has_qualities & (self.letters > 0)
        mean: NDArray[np.float64] = np.full(len(self), np.nan)
        np.divide(self.quality_sum.astype(np.float64), self.letters, out=mean, where=wanted)
        return mean


@dataclass(frozen=True)
class Matches(Columns):
    """Matches, ordered by sample, signature, strand and start; arrays of one length.

    Attributes
    ----------
    sample : ndarray, int64
        `Samples.number`.
    signature : ndarray, int32
        Number in the panel.
    strand : ndarray, uint8
        0 for the signature as it is, 1 for its reverse complement.
    start, end : ndarray, int64
        The letters sample[start : end].
    hits : ndarray, int64
        Matches that the row represents: all of the signature on the strand; 1 where all matches are reported.
    mismatches : ndarray, int32
    has_qualities : ndarray, bool
    quality_sum : ndarray, uint64
        Of the sample's letters under the signature; 0 without qualities.
    informative : ndarray, int64
        Positions at which both letters are a single nucleotide.
    sample_ns, signature_ns : ndarray, int64
        Positions at which the sample or the signature has N.
    error_units : ndarray, uint64
        Expected number of wrong letters in units of 2^-32; 0 without qualities.
    outside : ndarray, int64
        Letters of the signature that lie before the start or behind the end of the sample.
    before : ndarray, int64
        Those of them before the start, in the direction of the sample.
    """

    TYPES = "qiBqqqi?QqqqQqq"

    sample: NDArray[np.int64]
    signature: NDArray[np.int32]
    strand: NDArray[np.uint8]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    hits: NDArray[np.int64]
    mismatches: NDArray[np.int32]
    has_qualities: NDArray[np.bool_]
    quality_sum: NDArray[np.uint64]
    informative: NDArray[np.int64]
    sample_ns: NDArray[np.int64]
    signature_ns: NDArray[np.int64]
    error_units: NDArray[np.uint64]
    outside: NDArray[np.int64]
    before: NDArray[np.int64]

    def inside(self, lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which bases of each signature lie inside the sample: the first, and the one behind the last.

        Parameters
        ----------
        lengths : ndarray, int64
            Of all signatures.
        """
        begin = np.where(self.strand == 0, self.before, self.outside - self.before)
        return begin, begin + lengths[self.signature] - self.outside

    @property
    def missed(self) -> NDArray[np.int64]:
        """Mismatches, and bases of the signature outside the sample: the best match has the fewest."""
        return self.mismatches + self.outside

    @property
    def score(self) -> NDArray[np.float64]:
        """Mean quality under the signature; NaN without qualities."""
        mean = self.quality_sum.astype(np.float64) / (self.end - self.start)
        return np.where(self.has_qualities, mean, np.nan)

    @property
    def expected_errors(self) -> NDArray[np.float64]:
        """Expected number of wrong letters under the signature; NaN without qualities."""
        return np.where(self.has_qualities, self.error_units.astype(np.float64) / (1 << ERROR_BITS), np.nan)


@dataclass(frozen=True)
class Alignments:
    """How signatures are aligned to their matches.

    Attributes
    ----------
    same : ndarray, int64
        Of each match: positions at which bases agree.
    cigar : NameList
        Of each match, in the direction of the signature: =, X, I (a base of the sample alone) and D (one of the
        signature), as `oclgenomics.signatures.reference.cigar` defines it.
    letters : NameList
        Of each match: the sample's bases under the signature, as they stand in the sample.
    reads, qualities : NameList
        Of each sample with matches: all its bases and qualities as they stand in the input; nothing without qualities.
    """

    same: NDArray[np.int64]
    cigar: NameList
    letters: NameList
    reads: NameList
    qualities: NameList

    @classmethod
    def none(cls) -> Alignments:
        """Return those of no matches."""
        nothing = NameList.of(())
        return cls(np.empty(0, np.int64), nothing, nothing, nothing, nothing)

    @classmethod
    def joined(cls, parts: Sequence[Alignments]) -> Alignments:
        """Join parts in their order."""
        lists = {
            field.name: NameList.joined([getattr(part, field.name) for part in parts]) for field in fields(cls)[1:]
        }
        return cls(np.concatenate([np.empty(0, np.int64), *(part.same for part in parts)]), **lists)


@dataclass(frozen=True)
class Rivals(Columns):
    """What else matches the samples of which only the best match is reported; arrays of one length, a row each.

    Attributes
    ----------
    ties : ndarray, int64
        Other signatures that match with as few mismatches; letters outside the sample count as such, here and below.
    next_mismatches : ndarray, int64
        The fewest mismatches of any other signature; -1 where no other one matches.
    """

    TYPES = "qq"

    ties: NDArray[np.int64]
    next_mismatches: NDArray[np.int64]


@dataclass(frozen=True)
class ScanPart:
    """What a block of the input gives.

    Attributes
    ----------
    samples : Samples
        Their numbers follow each other. The last one may go on in the next part (`Samples.ends`).
    matches : Matches
        Of these samples. Those of a sample that goes on come with its end; where all matches are reported without their
        alignments, they come as they are found.
    alignments : Alignments, optional
        Those of the matches, if `ScanOptions.alignments` asks for them.
    rivals : Rivals, optional
        Those of the matches, if one match of each sample is reported.
    """

    samples: Samples
    matches: Matches
    alignments: Alignments | None = None
    rivals: Rivals | None = None

    def of_its_own(self) -> ScanPart:
        """Return the same with `Samples.of_its_own`; all else is shared with nothing."""
        return replace(self, samples=self.samples.of_its_own())


@dataclass(frozen=True, repr=False)
class ScanResult:
    """All that a scan found.

    Attributes
    ----------
    panel : Panel
    samples : Samples
        All samples of the input.
    matches : Matches
    options : ScanOptions
    alignments : Alignments, optional
    rivals : Rivals, optional
        Both as a `ScanPart` has them.
    """

    panel: Panel
    samples: Samples
    matches: Matches
    options: ScanOptions = ScanOptions()
    alignments: Alignments | None = None
    rivals: Rivals | None = None

    def __repr__(self) -> str:
        return f"ScanResult(samples={len(self.samples)}, signatures={len(self.panel)}, matches={len(self.matches)})"

    def columns(self) -> dict[str, Any]:
        """The matches as named columns, NumPy arrays of one length."""
        columns = match_columns(self.panel, self.samples, self.matches)
        if self.options.overhang:
            columns["outside"] = self.matches.outside
        if self.rivals is not None:
            columns |= {"ties": self.rivals.ties, "next_mismatches": self.rivals.next_mismatches}
        if self.alignments is not None:
            columns["cigar"] = _texts(self.alignments.cigar)
        return columns

    def records(self) -> list[dict[str, Any]]:
        """The matches, one record each; None where a sample has no qualities, or no other signature matches."""
        columns = {name: column.tolist() for name, column in self.columns().items()}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        for row, known in zip(rows, self.matches.has_qualities.tolist(), strict=True):
            if not known:
                row.update(score=None, expected_errors=None, hash=None)
            if row.get("next_mismatches") == -1:
                row.update(next_mismatches=None)
        return rows

    def to_frame(self) -> Any:
        """The matches as a table; see `oclgenomics.app.frames.to_frame`."""
        return to_frame(self.columns())


@dataclass(frozen=True)
class FilterSummary:
    """What a filter read and kept.

    Attributes
    ----------
    reads, kept : int
        Records of the input, mates one by one, and those of them that were kept.
    pairs : int
        Pairs of the input.
    matching, ambiguous : int
        Reads that a signature matches, and those of them that several signatures match equally well.
    bases, kept_bases : int
        Bases of all reads, and those that were kept.
    empty : int
        Reads that were kept, of which trimming left no base.
    signatures : dict of str to int
        For each signature, of how many reads it is the best match, or the first of equally good ones; those of no read
        are left out.
    """

    reads: int
    kept: int
    pairs: int
    matching: int
    ambiguous: int
    bases: int
    kept_bases: int
    empty: int
    signatures: dict[str, int]

    def records(self) -> list[dict[str, Any]]:
        """All numbers as one record."""
        return [asdict(self)]

    def to_frame(self) -> Any:
        """The reads of each signature as a table; see `oclgenomics.app.frames.to_frame`."""
        return to_frame({"signature": list(self.signatures), "reads": list(self.signatures.values())})


def _texts(names: NameList | NDArray[np.object_]) -> NDArray[np.object_]:
    return np.array(names.tolist(), object)


def match_columns(panel: Panel, samples: Samples, matches: Matches) -> dict[str, NDArray[Any]]:
    """Return matches as named columns with the names of samples and signatures.

    Parameters
    ----------
    panel : Panel
    samples : Samples
        Those of the matches; their numbers follow each other.
    matches : Matches
        By sample.
    """
    begins = np.diff(matches.sample, prepend=-1) > 0
    row, which = matches.sample[begins], np.cumsum(begins) - 1
    matching = samples.take(row - samples.number[0] if len(samples) else row)
    names = np.array(panel.names, object)
    return {
        "sample": _texts(matching.name)[which],
        "signature": names[matches.signature],
        "strand": np.array(STRANDS, object)[matches.strand],
        "start": matches.start,
        "end": matches.end,
        "hits": matches.hits,
        "mismatches": matches.mismatches,
        "score": matches.score,
        "informative": matches.informative,
        "sample_ns": matches.sample_ns,
        "signature_ns": matches.signature_ns,
        "expected_errors": matches.expected_errors,
        "hash": matching.hash[which],
        "sample_number": matches.sample + 1,
    }
