"""How many records and letters an input has, and whether they are nucleotides."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.errors import InputError

__all__ = ["Census"]

MAX_FOREIGN = 0.1  # of the letters; of a protein's a third


@dataclass
class Census:
    """Numbers of records and letters, as they stand in the text.

    Attributes
    ----------
    records : int
    letters : int
        Of all records.
    others : int
        Letters other than A, C, G and T, in either case. With a least quality, only those that reach it.
    foreign : int
        Of these, bytes that stand for no nucleotide. IUPAC's codes, X and the gaps "-", "." and "?" do not count.
    uracils : int
        Of these, U.
    """

    records: int = 0
    letters: int = 0
    others: int = 0
    foreign: int = 0
    uracils: int = 0

    def add(self, other: Census) -> None:
        """Add the numbers of another census."""
        self.records += other.records
        self.letters += other.letters
        self.others += other.others
        self.foreign += other.foreign
        self.uracils += other.uracils

    def check(self, source: str) -> None:
        """Refuse a text whose letters are hardly nucleotides.

        Raises
        ------
        InputError
            More than a tenth of the letters stand for none.
        """
        if self.foreign > MAX_FOREIGN * self.letters:
            raise InputError(
                f"{self.foreign:,} of {self.letters:,} letters stand for no nucleotide; it seems to be protein, or no "
                "sequence: give DNA",
                source=source,
            )
