"""How molecules go through each kind of pore: all numbers that differ from pore to pore, in one place.

Currents set how coarse simulated samples are; no cost depends on them, since signals and references are normalised.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from oclgenomics.errors import ParameterError
from oclgenomics.signals.chemistry import molecule_named
from oclgenomics.signals.kmers import KmerModel, Molecule
from oclgenomics.signals.published import PUBLISHED
from oclgenomics.signals.trimming import MAX_STALL, TrimOptions

ROWS_PER_BASE = 3  # no k-mer is skipped, so a fast read needs more than one row for each base
STEPS = (3, 32)  # samples of a row that is a median of three, from and to
ADAPTER_BASES = 112.5  # that are left out after the stall


@dataclass(frozen=True)
class Sequencing:
    """How molecules go through a pore, and what currents they give.

    Attributes
    ----------
    name : str
        Of the pore and the molecule.
    pore : str
        One of `oclgenomics.signals.chemistry.PORES`.
    molecule : {'dna', 'rna'}
    rate : float
        Samples per second.
    speed : float
        Bases per second.
    current : (float, float)
        Mean and standard deviation in pA of the levels of k-mers, to which levels in standard units are brought.
    deviation : float
        Standard deviation of the samples of a k-mer, in standard units, where a model has none.
    """

    name: str
    pore: str
    molecule: Molecule
    rate: float
    speed: float
    current: tuple[float, float]
    deviation: float

    @property
    def samples_per_base(self) -> float:
        """Samples of a base, on average."""
        return self.rate / self.speed

    @property
    def step(self) -> int:
        """Samples that make a row of an alignment: a third of those of a base."""
        return min(max(round(self.samples_per_base / ROWS_PER_BASE), STEPS[0]), STEPS[1])

    @property
    def trim(self) -> TrimOptions:
        """What to leave out at the beginning of reads: the stall, and as much of the adapter for each pore."""
        extra = round(ADAPTER_BASES * self.samples_per_base, -2)
        return TrimOptions(extra=int(extra), max_trim=int(MAX_STALL * self.rate / SEQUENCING[0].rate))


SEQUENCING = (
    Sequencing("R9.4.1 DNA", "R9", "dna", 4000.0, 450.0, (90.2, 12.87), 0.17),
    Sequencing("R10.4.1 DNA", "R10", "dna", 5000.0, 400.0, (92.56, 23.11), 0.23),
    Sequencing("RNA002", "R9", "rna", 3012.0, 70.0, (92.1, 18.5), 0.21),
    Sequencing("RNA004", "RNA004", "rna", 4000.0, 130.0, (80.0, 17.5), 0.2),
)
"""R9.4.1 comes first. Currents and deviations of R9.4.1 and RNA002 are those of Oxford Nanopore's tables in pA, those
of R10.4.1 of Uncalled4's; of RNA004 the spread is that of f5c's table, the mean and the deviation are nominal."""


def sequencing_of(pore: str, molecule: str = "", rate: float | None = None) -> Sequencing | None:
    """Return how a molecule goes through a pore; None if that is not known.

    Parameters
    ----------
    pore : str
        One of `oclgenomics.signals.chemistry.PORES`, or empty.
    molecule : {'dna', 'rna', ''}
        Empty for the one that is usual.
    rate : float, optional
        Samples per second, if they are not the usual ones of the pore.
    """
    for one in SEQUENCING:
        if one.pore == pore and molecule in ("", one.molecule):
            return one if rate is None else replace(one, rate=rate)
    return None


def molecule_of(model: KmerModel, given: Molecule | None = None) -> Molecule:
    """Return the molecule that a model is for: what is given, else what its pore or its name says, else DNA.

    Raises
    ------
    ParameterError
        What is given contradicts the pore.
    """
    of_pore = {one.molecule for one in SEQUENCING if one.pore == model.pore}
    named = molecule_named(model.name)
    if model.name in PUBLISHED and named == "rna":
        of_pore = {"rna"}
    if given is not None:
        if of_pore and given not in of_pore:
            raise ParameterError("molecule", f"contradicts the model {model.name}, which is for the other one", given)
        return given
    return of_pore.pop() if len(of_pore) == 1 else "rna" if named == "rna" else "dna"
