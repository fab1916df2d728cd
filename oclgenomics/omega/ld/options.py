"""Which pairs of sites a map of linkage disequilibrium shows."""

from __future__ import annotations

import os
from collections.abc import Set
from dataclasses import dataclass

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.omega.formats.reading import OmegaReport
from oclgenomics.omega.options import MissingState

__all__ = ["LdOptions"]


@dataclass(frozen=True, kw_only=True)
class LdOptions:
    """What is shown: the surroundings of a peak of a scan, or a region without any window.

    Parameters
    ----------
    scan : OmegaReport or path, optional
        Report of the scan. The input is read and filtered as it says.
    peak : int, optional
        Which of its peaks, of windows that do not overlap; 1, the highest, if neither this nor `at` is given.
    at : tuple of str and float, optional
        Chromosome and bp: the report's grid position that is nearest.
    margin : int, optional
        Bp shown on both sides of the window; a quarter of its width if not given.
    region : tuple of str, int and int, optional
        Chromosome, first and last bp, instead of `scan`.
    maf, no_singletons, binary, impute, seed : optional
        Filters of sites and draws as in `ScanOptions`. With `scan` they are those of its report if not given, and
        cannot be others.

    Raises
    ------
    UsageError
        Neither or both of `scan` and `region`, or parameters without effect.
    """

    scan: OmegaReport | str | os.PathLike[str] | None = None
    peak: int | None = None
    at: tuple[str, float] | None = None
    margin: int | None = None
    region: tuple[str, int, int] | None = None
    maf: float | None = None
    no_singletons: bool | None = None
    binary: bool | None = None
    impute: Set[MissingState] | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if (self.scan is None) == (self.region is None):
            raise UsageError("what to show is for you to say: give `scan=REPORT` or `region=CHR:FROM-TO`")
        alone = [name for name in ("peak", "at", "margin") if getattr(self, name) is not None]
        if self.region is not None and alone:
            raise UsageError(f"`{alone[0]}` has no effect with `region`; it needs `scan=REPORT`")
        if self.peak is not None and self.at is not None:
            raise UsageError("`peak` and `at` contradict each other; give one of them")
        if self.region is not None and self.region[1] > self.region[2]:
            text = "its end comes before its start; exchange them"
            raise ParameterError("region", text, "{}:{}-{}".format(*self.region))
