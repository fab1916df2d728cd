"""A matrix of counts on its way to a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oclgenomics.errors import UsageError
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.kmers.sets.rows import RowBlock, RowChoice, rows_of

__all__ = ["KMER_COLUMN", "MatrixRows", "check_names"]

KMER_COLUMN = "kmer"


@dataclass(frozen=True)
class MatrixRows:
    """Counts of k-mers in several samples, row by row.

    Attributes
    ----------
    names : sequence of str
        Of the samples.
    sets : sequence of KmerSet
        Their k-mers.
    choice : RowChoice
    only : KmerSet or None
        The k-mers that may have rows.
    """

    names: Sequence[str]
    sets: Sequence[KmerSet]
    choice: RowChoice
    only: KmerSet | None = None

    @property
    def k(self) -> int:
        """Letters of a k-mer."""
        return self.sets[0].k

    @property
    def canonical(self) -> bool:
        """Whether a k-mer and its reverse complement are one."""
        return self.sets[0].canonical

    def blocks(self) -> Iterator[RowBlock]:
        """All rows in ascending order; each call starts anew."""
        return rows_of(self.sets, self.choice, self.only)


def check_names(names: Sequence[str]) -> None:
    """Refuse names that columns cannot have.

    Raises
    ------
    UsageError
        There is none, two are equal, or one is empty, holds a tab or a line break, or is that of the k-mers' column.
    """
    if not names:
        raise UsageError("there are no samples")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise UsageError(f"two samples are named {name}; name one of them otherwise: NAME=FILE")
        if not name or name == KMER_COLUMN or not name.isprintable():
            raise UsageError(f"{name!r} is no name for a sample; name it otherwise: NAME=FILE")
