"""What simulated signals are like."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from oclgenomics.errors import ParameterError
from oclgenomics.signals.kmers import Molecule
from oclgenomics.simulate.limits import check_range

__all__ = ["PRESETS", "ReadStrand", "SignalScenario"]

ReadStrand = Literal["+", "both"]
READ_STRANDS: tuple[ReadStrand, ...] = get_args(ReadStrand)
MAX_LENGTH = 10_000_000  # samples of a read
MAX_ADAPTER = 10_000  # k-mers
MAX_DWELL = 10_000.0
MAX_CURRENT = 10_000.0
MAX_RATE = 1e6

Range = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class SignalScenario:
    """How signals are made of sequences. Ranges are (least, most), both included, and uniform.

    Attributes
    ----------
    samples : (int, int)
        Samples of a read behind its stall and adapter. It has fewer where its sequence ends.
    strand : {'+', 'both'}
        Reads are of the sequences as they are, or of both strands with equal probability. RNA has one strand.
    molecule : {'dna', 'rna'}
    dwell, dwell_sd : float
        Samples of a k-mer: normally distributed with this mean and standard deviation, times the slowness of the read,
        rounded, without its sign, and 1 at least.
    slowness_cv : float
        Standard deviation of the slowness of reads, whose mean is 1; it is from 0.4 to 1.6.
    amplitude : float
        Samples vary around the level of their k-mer by the model's standard deviation times this.
    jitter : float
        Standard deviation in pA of a shift that all samples of a k-mer of a read have in common.
    junk : float
        Probability of a read to be of random k-mers.
    stall : (int, int)
        Samples of high current at the beginning of a read.
    adapter : int
        K-mers of the adapter between the stall and the read, the same for all reads of a seed.
    deviation : float or None
        Standard deviation of the samples of a k-mer, in the model's units, where the model has none.
    current : (float, float) or None
        Mean and standard deviation in pA to which levels of a model in standard units are brought.
    rate : float
        Samples per second.

    Raises
    ------
    ParameterError
        A value outside its range.
    """

    samples: Range = (5000, 5000)
    strand: ReadStrand = "both"
    molecule: Molecule = "dna"
    dwell: float = 9.0
    dwell_sd: float = 4.0
    slowness_cv: float = 0.15
    amplitude: float = 1.0
    jitter: float = 3.0
    junk: float = 0.05
    stall: Range = (0, 0)
    adapter: int = 0
    deviation: float | None = None
    current: tuple[float, float] | None = None
    rate: float = 4000.0

    def __post_init__(self) -> None:
        for name, low, high in (("samples", 1, MAX_LENGTH), ("stall", 0, MAX_LENGTH)):
            least, most = getattr(self, name)
            check_range(name, least, low, high)
            check_range(name, most, low, high)
            if least > most:
                raise ParameterError(name, f"the least, {least:,}, is more than the most, {most:,}")
        for name, known in (("strand", READ_STRANDS), ("molecule", get_args(Molecule))):
            if getattr(self, name) not in known:
                raise ParameterError(name, f"choose one of {', '.join(known)}", getattr(self, name))
        check_range("dwell", self.dwell, 1, MAX_DWELL)
        check_range("dwell_sd", self.dwell_sd, 0, MAX_DWELL)
        check_range("adapter", self.adapter, 0, MAX_ADAPTER)
        check_range("rate", self.rate, 1, MAX_RATE)
        for name in ("slowness_cv", "junk"):
            check_range(name, getattr(self, name), 0, 1)
        for name in ("amplitude", "jitter"):
            check_range(name, getattr(self, name), 0, MAX_CURRENT)
        for value in () if self.deviation is None else (self.deviation,):
            check_range("deviation", value, 0, MAX_CURRENT)
        for value in self.current or ():
            check_range("current", value, 0, MAX_CURRENT)


_NORMAL = SignalScenario()
PRESETS = {
    "easy": replace(_NORMAL, slowness_cv=0.0, jitter=0.0, junk=0.0),
    "normal": _NORMAL,
    "hard": replace(_NORMAL, dwell_sd=6.0, slowness_cv=0.2, amplitude=1.5, jitter=4.0),
}
"""Cleaner than real reads of R9.4.1; about as they are; and worse."""
