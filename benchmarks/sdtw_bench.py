"""What all parts of the sDTW benchmark work with."""

from __future__ import annotations

from dataclasses import dataclass

from sdtw_data import Reads
from sdtw_timing import Clock

from oclgenomics.runtime import Engine
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["Bench"]


@dataclass(frozen=True, eq=False)
class Bench:
    """What all parts work with.

    Attributes
    ----------
    engine : Engine
    references : dict
        Squiggles by name, lambda first.
    reads : Reads
    counts : tuple of int
        Numbers of reads of the first part.
    clock : Clock
    ghz : float or None
        Clock of a CPU.
    """

    engine: Engine
    references: dict[str, Squiggle]
    reads: Reads
    counts: tuple[int, ...]
    clock: Clock
    ghz: float | None

    @property
    def cpu(self) -> bool:
        """Whether kernels have their shape for CPUs."""
        return self.engine.tuning.cpu

    @property
    def first(self) -> Squiggle:
        """Lambda."""
        return next(iter(self.references.values()))
