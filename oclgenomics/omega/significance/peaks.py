"""Regions of high omega, and their p-values where neutral replicates are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from oclgenomics.app.frames import to_frame
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.omega.formats.reading import Track
from oclgenomics.omega.peaks import Peak, merge_peaks, quantile_threshold, top_threshold
from oclgenomics.omega.result import Scan
from oclgenomics.omega.significance.comparable import compare
from oclgenomics.omega.significance.compared import Compared
from oclgenomics.omega.significance.neutral import Significance
from oclgenomics.omega.significance.thresholds import Maxima, p_values, thresholds

__all__ = ["PEAK_COLUMNS", "Peaks", "find_peaks"]

PEAK_COLUMNS = ("name", *(field.name for field in fields(Peak)), "p_value")


@dataclass(frozen=True, eq=False, repr=False)
class Peaks:
    """Regions of high omega, and what they were told by.

    Attributes
    ----------
    peaks : tuple of Peak
    threshold : float
        Omega that their positions exceed.
    maxima : Maxima, optional
        Of neutral replicates, for p-values.
    fpr : float, optional
        False-positive rate of the threshold.
    compared : Compared, optional
        What was compared with the neutral replicates.
    """

    peaks: tuple[Peak, ...]
    threshold: float
    maxima: Maxima | None = None
    fpr: float | None = None
    compared: Compared | None = None

    def __repr__(self) -> str:
        highest = max((peak.omega for peak in self.peaks), default=0.0)
        shown = f", highest {highest:.6g}" if self.peaks else ""
        return f"<Peaks: {len(self.peaks):,} regions with omega above {self.threshold:.6g}{shown}>"

    def __len__(self) -> int:
        return len(self.peaks)

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each peak with the names of `PEAK_COLUMNS`, sorted by chromosome (its bytes) and start.

        `name` is "peak1" for the highest, and so on; `p_value` is None without neutral replicates.
        """
        omega = np.array([peak.omega for peak in self.peaks], np.float64)
        rank = np.argsort(np.argsort(-omega, kind="stable"), kind="stable") + 1
        p = [None] * len(omega) if self.maxima is None else p_values(omega, self.maxima.omega).tolist()
        records = [
            {"name": f"peak{place}", **asdict(peak), "p_value": value}
            for place, peak, value in zip(rank.tolist(), self.peaks, p, strict=True)
        ]
        return sorted(records, key=lambda one: (one["chromosome"].encode(), one["start"], one["end"], one["replicate"]))

    def to_frame(self) -> Any:
        """Make a table of the peaks, with the columns `PEAK_COLUMNS`; see `oclgenomics.app.frames.to_frame`."""
        records = self.records()
        return to_frame({name: [record[name] for record in records] for name in PEAK_COLUMNS})


def find_peaks(
    tracks: Sequence[Scan] | Sequence[Track],
    *,
    threshold: float | Significance | None = None,
    top: int | None = None,
    quantile: float | None = None,
    fpr: float | None = None,
    merge: int = 0,
) -> Peaks:
    """Find the regions in which omega is high; one of `threshold`, `top` and `quantile` says what that is.

    Parameters
    ----------
    tracks : sequence of Scan or Track
        All scans of an input, or `read_report(path).tracks`.
    threshold : float or Significance, optional
        Positions with a larger omega count. What neutral replicates say (`find_thresholds`, `read_thresholds`) gives
        p-values, too.
    top : int, optional
        The positions with the largest omegas count, so many of them.
    quantile : float, optional
        Positions above this quantile of all omegas count, such as 0.995.
    fpr : float, optional
        False-positive rate of the threshold from neutral replicates; the first that they were asked for if not given.
    merge : int
        Windows at most so many bp apart are one region.

    Raises
    ------
    UsageError
        Not one of the three is given, `fpr` without neutral replicates, or a value out of range; neutral replicates
        of other data or options than the scan's (`oclgenomics.omega.significance.comparable`).

    Examples
    --------
    >>> from oclgenomics.omega import find_peaks, read_report
    >>> find_peaks(read_report("chr20.tsv").tracks, quantile=0.995).to_frame()  # doctest: +SKIP
    """
    if sum(given is not None for given in (threshold, top, quantile)) != 1:
        raise UsageError("which positions are high is for you to say: give one of `threshold`, `top` and `quantile`")
    if fpr is not None and not isinstance(threshold, Significance):
        raise ParameterError("fpr", "has no effect without a `threshold` from neutral replicates")
    maxima = compared = None
    if isinstance(threshold, Significance):
        compared = compare(threshold, tracks)
        (chosen,) = threshold.thresholds[:1] if fpr is None else thresholds(threshold.maxima.omega, [fpr])
        omega, maxima, fpr = chosen.omega, threshold.maxima, chosen.fpr
    elif top is not None:
        omega = top_threshold(tracks, top)
    elif quantile is not None:
        omega = quantile_threshold(tracks, quantile)
    else:
        assert threshold is not None
        omega = threshold
    return Peaks(tuple(merge_peaks(tracks, omega, merge)), omega, maxima, fpr, compared)
