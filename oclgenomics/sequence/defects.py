"""What is wrong with FASTQ, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from oclgenomics.errors import InputError

# The first four are those of kernels_cl/sequence/defects.clh.
NOT_AT, NOT_PLUS, LENGTHS, CUT, TITLES, NO_LETTER, NO_QUALITY = range(7)
DEFECTS = (
    "a record has to start with @",
    "a line that starts with + has to come between letters and qualities of a record",
    "letters and qualities of a record are not equally many",
    "the text ends within a record; it seems to be cut off",
    "the line that starts with + has another title than the record",
    "{} is no nucleotide; write bases as IUPAC codes or U",
    "{} is no quality; those are the characters ! to ~ (Phred + 33)",
)


def fastq_error(kind: int, *, source: str, record: int, byte: int, found: int = 0) -> InputError:
    """Return the error for a defect of FASTQ.

    Parameters
    ----------
    kind : int
        Index of `DEFECTS`.
    source : str
    record : int
        Number of the record, from 0 on.
    byte : int
        Place in the input.
    found : int
        The byte that is there.
    """
    return InputError(DEFECTS[kind].format(repr(chr(found))), source=source, record=record + 1, byte=byte)


MAX_FOREIGN = 0.1  # of the letters; of a protein's a third
BASES, URACILS = b"ACGTacgt", (b"U", b"u")
NUCLEOTIDES = b"ACGTURYSWKMBDHVNXacgturyswkmbdhvnx-.?"


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
        Of these, bytes that are no nucleotides. IUPAC codes, X and the gaps "-", "." and "?" do not count.
    uracils : int
        Of these, U.
    """

    records: int = 0
    letters: int = 0
    others: int = 0
    foreign: int = 0
    uracils: int = 0

    @classmethod
    def of(cls, texts: Iterable[bytes]) -> Census:
        """Count the characters of records that are on the host."""
        census = cls()
        for text in texts:
            others, foreign = (len(text.translate(None, known)) for known in (BASES, NUCLEOTIDES))
            census.add(cls(1, len(text), others, foreign, sum(map(text.count, URACILS))))
        return census

    def add(self, other: Census) -> None:
        """Add the numbers of another census."""
        for name, number in vars(other).items():
            setattr(self, name, getattr(self, name) + number)

    def check(self, source: str) -> None:
        """Refuse a text whose letters are hardly nucleotides.

        Raises
        ------
        InputError
            More than a tenth of the characters are none.
        """
        if self.foreign > MAX_FOREIGN * self.letters:
            raise InputError(
                f"{self.foreign:,} of {self.letters:,} characters are no nucleotides; it seems to be protein, or no "
                "sequence: give DNA",
                source=source,
            )
