"""What is wrong with FASTQ, in words."""

from __future__ import annotations

from oclgenomics.errors import InputError

__all__ = ["CUT", "DEFECTS", "LENGTHS", "NOT_AT", "NO_LETTER", "NO_QUALITY", "TITLES", "fastq_error"]

# The first four are those of kernels_cl/sequence/defects.clh.
NOT_AT, NOT_PLUS, LENGTHS, CUT, TITLES, NO_LETTER, NO_QUALITY = range(7)
DEFECTS = (
    "a record has to start with @",
    "a line that starts with + has to come between letters and qualities of a record",
    "letters and qualities of a record are not equally many",
    "the text ends within a record; it seems to be cut off",
    "the line that starts with + has another title than the record",
    "{} stands for no nucleotide; letters of IUPAC do, and U",
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
