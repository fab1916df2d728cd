"""The golden sets of samples and signatures, and what a brute-force matcher found in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["GOLDEN_SETS", "GoldenPair", "GoldenSet"]

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class GoldenPair:
    """A sample and a signature that matches it.

    Attributes
    ----------
    sample, signature : str
    sample_length, signature_length : int
    matches : int
    first, best : int
        Starts of the leftmost match, and of the one that is reported.
    quality_sum : int
        Of the match that is reported.
    score : str
        Its mean quality, as printed.
    hash : int
        Of the sample.
    starts : list of int
        Of the first fifty matches.
    """

    sample: str
    signature: str
    sample_length: int
    signature_length: int
    matches: int
    first: int
    best: int
    quality_sum: int
    score: str
    hash: int
    starts: list[int]


@dataclass(frozen=True)
class GoldenSet:
    """A FASTQ file of samples, a FASTA file of signatures, and what has to be found."""

    name: str

    @property
    def samples(self) -> Path:
        """FASTQ, packed with gzip."""
        return TESTS / "data" / "signatures" / f"{self.name}.sample.fastq.gz"

    @property
    def signatures(self) -> Path:
        """FASTA."""
        return TESTS / "data" / "signatures" / f"{self.name}.sig.fasta"

    @property
    def lines(self) -> list[str]:
        """The lines of the course's output, sorted."""
        return (TESTS / "golden" / "signatures" / f"{self.name}.expected.txt").read_text().splitlines()

    @property
    def pairs(self) -> list[GoldenPair]:
        """Every pair that matches, sorted by names."""
        rows = (TESTS / "golden" / "signatures" / f"{self.name}.positions.tsv").read_text().splitlines()
        return [_pair(row) for row in rows if not row.startswith("#")]


def _pair(row: str) -> GoldenPair:
    sample, signature, *numbers, score, total, starts = row.split("\t")
    found = [int(start) for start in starts.split(",")]
    return GoldenPair(sample, signature, *(int(number) for number in numbers), score, int(total), found)


GOLDEN_SETS = [GoldenSet(name) for name in ("tiny", "small", "highN", "short", "extraN", "edge")]
