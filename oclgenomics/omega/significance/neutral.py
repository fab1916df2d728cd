"""Thresholds of omega from neutral replicates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.omega.options import ScanOptions, scan_parameters
from oclgenomics.omega.peaks import Peak
from oclgenomics.omega.significance.null_facts import NullFacts
from oclgenomics.omega.significance.replicates import scan_replicates
from oclgenomics.omega.significance.sweeps import SweepResults
from oclgenomics.omega.significance.thresholds import Maxima, Threshold, p_values, thresholds
from oclgenomics.omega.sources import AlignmentSource
from oclgenomics.variation.read_options import ReadOptions

if TYPE_CHECKING:
    from oclgenomics.omega.significance.compared import Compared
    from oclgenomics.runtime import Device, Engine
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions

__all__ = ["Significance", "find_thresholds"]


@dataclass(frozen=True, eq=False, repr=False)
class Significance:
    """What neutral replicates say of omegas.

    Attributes
    ----------
    scan : mapping of str to object
        Options of the replicates' scan by name, as plain values.
    length : int or None
        Of a replicate, bp, if it is known.
    haplotypes : int or None
        Largest number in a replicate, if it is known.
    mean_sites : float or None
        Sites used per replicate, if it is known.
    maxima : Maxima
        Of the replicates.
    thresholds : tuple of Threshold
    peaks : tuple of Peak, optional
        Of a scan whose significance is asked for.
    sweeps : SweepResults, optional
        Of replicates with a sweep.
    source : str
        The file that these were read from; empty if they were found in this process.
    data : NullFacts, optional
        What was scanned of the replicates.
    compared : Compared, optional
        The scan whose peaks these are.
    """

    scan: Mapping[str, Any]
    length: int | None
    haplotypes: int | None
    mean_sites: float | None
    maxima: Maxima
    thresholds: tuple[Threshold, ...]
    peaks: tuple[Peak, ...] | None = None
    sweeps: SweepResults | None = None
    source: str = ""
    data: NullFacts | None = None
    compared: Compared | None = None

    def __repr__(self) -> str:
        found = ", ".join(f"omega {one.omega:.6g} at fpr {one.fpr:g}" for one in self.thresholds)
        return f"<Significance from {len(self.maxima):,} neutral replicates: {found}>"

    def p_values(self, omega: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the probability of so large an omega anywhere in a neutral alignment, float64 (...)."""
        return p_values(omega, self.maxima.omega)

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each threshold: 'fpr', 'omega', 'rank', 'replicates', 'expected_fpr' and 'fpr_error'."""
        return [threshold.record() for threshold in self.thresholds]

    def to_frame(self) -> Any:
        """Make a table of the thresholds, with the names of `records`; see `oclgenomics.app.frames.to_frame`."""
        records = self.records()
        return to_frame({name: [record[name] for record in records] for name in records[0]})


def find_thresholds(
    source: AlignmentSource,
    options: ScanOptions,
    *,
    fpr: Sequence[float] = (0.05,),
    length: int | None = None,
    reading: ReadOptions = ReadOptions(),
    exclude: BedRegions | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Significance:
    """Scan neutral replicates and find the omegas that a neutral alignment exceeds with given probabilities.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        The replicates: a file, or alignments such as `oclgenomics.simulate.neutral_alignments` gives.
    options : ScanOptions
        Those of the scan whose peaks are judged.
    fpr : sequence of float
        False-positive rates per replicate, each between 0 and 1.
    length : int, optional
        Of a replicate, bp, for the record; that of `reading` if not given.
    reading, exclude, on_alignment, engine, device, max_memory, threads
        As for `oclgenomics.omega.api`.
    progress : callable, optional
        Called with (replicates that have come, None).

    Raises
    ------
    UsageError
        A rate outside its range, or too small for so few replicates; options that do not suit the replicates.
    InputError, DeviceError
        As for `oclgenomics.omega.api`.

    Examples
    --------
    >>> from oclgenomics.omega import ScanOptions, find_thresholds
    >>> from oclgenomics.simulate import Region, neutral_alignments
    >>> options = ScanOptions(grid=100, minwin=1_000, maxwin=20_000)
    >>> neutral = neutral_alignments(Region(50, 100_000, 10_000, theta=50, rho=50), 1, 1_000)
    >>> found = find_thresholds(neutral, options, fpr=(0.05, 0.01))  # doctest: +SKIP
    >>> found.p_values(12.5)  # doctest: +SKIP
    """
    found = scan_replicates(
        source, options, reading=reading, exclude=exclude, on_alignment=on_alignment, engine=engine, device=device,
        max_memory=max_memory, threads=threads, progress=progress,
    )  # fmt: skip
    ranked = tuple(thresholds(found.maxima.omega, fpr))
    known = reading.length if length is None else length
    return Significance(
        scan_parameters(options),
        None if known is None else int(known),
        found.haplotypes,
        found.sites / len(found.maxima),
        found.maxima,
        ranked,
        data=found.data,
    )
