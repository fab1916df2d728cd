"""What a count and a merge tell of the databases they write."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from oclgenomics.app.frames import to_frame
from oclgenomics.sequence import Census

__all__ = ["CountSummary", "FilterSummary", "MergeSummary"]


@dataclass(frozen=True, repr=False)
class CountSummary:
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

    def to_frame(self) -> Any:
        """The record as a table of one row; see `oclgenomics.app.frames.to_frame`."""
        return _row(*self.records())


@dataclass(frozen=True)
class MergeSummary:
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

    def records(self) -> list[dict[str, Any]]:
        """All numbers as one record."""
        return [asdict(self)]

    def to_frame(self) -> Any:
        """The record as a table of one row; see `oclgenomics.app.frames.to_frame`."""
        return _row(*self.records())


@dataclass(frozen=True)
class FilterSummary:
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

    def records(self) -> list[dict[str, Any]]:
        """All numbers as one record."""
        return [asdict(self)]

    def to_frame(self) -> Any:
        """The record as a table of one row; see `oclgenomics.app.frames.to_frame`."""
        return _row(*self.records())


def _row(record: dict[str, Any]) -> Any:
    return to_frame({name: [value] for name, value in record.items()})
