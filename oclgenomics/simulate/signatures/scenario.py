"""What simulated signatures and samples are like: the numbers of a data set, and those of the paper's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from oclgenomics.errors import ParameterError, check_choice
from oclgenomics.simulate.limits import check_pair, check_probability, check_range

PlantedStrand = Literal["+", "-", "both"]
PLANTED_STRANDS: tuple[PlantedStrand, ...] = get_args(PlantedStrand)

MAX_RECORDS = 10_000_000  # signatures, samples, or copies in all
MAX_LETTERS = 1_000_000_000  # of a sample, and of all signatures
MAX_SIGNATURE = 100_000_000  # bases
MAX_QUALITY = 93  # the highest that a printable byte shows

Range = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Signatures, and samples of which some hold copies of them.

    Ranges are (least, most), both included, and what is drawn from them is uniform.

    Attributes
    ----------
    signatures : int
        Number of signatures.
    signature_length : (int, int)
        Bases of a signature.
    signature_n : float
        Probability of each base of a signature to be N.
    clean, infected : int
        Samples without copies of signatures, and samples with copies.
    copies : (int, int)
        Copies in an infected sample, of signatures drawn one by one: several may be of the same one.
    sample_length : (int, int)
        Bases of a sample. One whose copies take more is as long as these.
    quality : (int, int)
        Of a sample's bases: the mean is drawn from this range, and each base's quality from a normal distribution
        around it with standard deviation 3, rounded and brought into the range. N has quality 0.
    sample_n : float
        Probability of each base of a sample outside copies to be N.
    planted_n : float or None
        The same within copies; None for `sample_n`. A copy has a nucleotide where its signature has N.
    strand : {'+', '-', 'both'}
        Copies are as the signature is, its reverse complement, or either with equal probability.
    mismatches : int
        Up to so many bases of a copy are replaced by others.

    Raises
    ------
    ParameterError
        A value outside its range.
    """

    signatures: int = 100
    signature_length: Range = (300, 1000)
    signature_n: float = 0.1
    clean: int = 90
    infected: int = 10
    copies: Range = (1, 3)
    sample_length: Range = (10_000, 20_000)
    quality: Range = (10, 30)
    sample_n: float = 0.1
    planted_n: float | None = None
    strand: PlantedStrand = "+"
    mismatches: int = 0

    def __post_init__(self) -> None:
        check_range("signatures", self.signatures, 1, MAX_RECORDS)
        check_pair("signature_length", self.signature_length, 1, MAX_SIGNATURE)
        check_range("clean", self.clean, 0, MAX_RECORDS)
        check_range("infected", self.infected, 0, MAX_RECORDS)
        if not self.samples:
            raise ParameterError("clean", "and `infected` are both 0; ask for a sample")
        check_pair("copies", self.copies, 0, MAX_RECORDS)
        check_pair("sample_length", self.sample_length, 0, MAX_LETTERS)
        check_pair("quality", self.quality, 0, MAX_QUALITY)
        for name in ("signature_n", "sample_n", "planted_n"):
            if (rate := getattr(self, name)) is not None:
                check_probability(name, rate)
        check_choice("strand", self.strand, PLANTED_STRANDS)
        check_range("mismatches", self.mismatches, 0, MAX_SIGNATURE)
        self._check_totals()

    def _check_totals(self) -> None:
        longest = self.signature_length[1]
        if self.signatures * longest > MAX_LETTERS:
            raise ParameterError("signatures", f"of {longest:,} bases have more than {MAX_LETTERS:,} in all")
        if self.infected and self.copies[1] * longest > MAX_LETTERS:
            raise ParameterError("copies", f"of {longest:,} bases do not fit into a sample of {MAX_LETTERS:,}")
        if self.infected * self.copies[1] > MAX_RECORDS:
            raise ParameterError("copies", f"may be {MAX_RECORDS:,} in all `infected` samples")

    @property
    def samples(self) -> int:
        """Samples in all."""
        return self.clean + self.infected


_LARGE = Scenario(
    signatures=1000, signature_length=(3000, 10_000), signature_n=0.1, clean=1000, infected=10, copies=(100, 200),
    sample_length=(100_000, 200_000), quality=(10, 30), sample_n=0.1,
)  # fmt: skip
PRESETS: dict[str, Scenario] = {
    "paper-large": _LARGE,
    "paper-medium": replace(_LARGE, sample_length=(50_000, 100_000)),
    "paper-small": replace(_LARGE, sample_length=(10_000, 20_000)),
}
"""The data sets of the paper; its second set of signatures has `signature_length=(300, 1000)`."""
