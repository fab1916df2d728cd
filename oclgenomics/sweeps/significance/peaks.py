"""Regions in which a statistic passes a threshold: neighbouring rows, their windows merged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import frame_of
from oclgenomics.app.tracks import MergedRegion, merged_windows, named_regions
from oclgenomics.errors import ParameterError
from oclgenomics.sweeps.result import Scan
from oclgenomics.sweeps.significance.combined import COMBINED, REACH, q_values
from oclgenomics.sweeps.significance.thresholds import Significance, sign_of
from oclgenomics.variation.genes import Genes


@dataclass(frozen=True)
class Peak(MergedRegion):
    """A region in which a statistic passes a threshold.

    Attributes
    ----------
    chromosome, replicate, start, end, position
        See `MergedRegion`; `position` is that of a row.
    value : float
        At `position`.
    rows : int
        Rows merged.
    p_value : float or None
        Probability of so extreme a value anywhere in a neutral alignment; None without neutral replicates.
    q_value : float or None
        False discovery rate of this and all better ones, over all stretches that are as long as a replicate; None
        where their length is not known.
    local_p : dict of str to float, or None
        Of the combined score: the probability of each statistic's value at a single neutral position.
    fine_position, fine_value : float or None
        Of refined scans: the row within the region that is most like a sweep, fine ones among them; None where the
        region has no fine row. Thresholds and p-values are of `value`, and not of this one.
    """

    value: float
    rows: int
    p_value: float | None = None
    q_value: float | None = None
    local_p: Mapping[str, float] | None = None
    fine_position: float | None = None
    fine_value: float | None = None


FINE_COLUMNS = ("fine_position", "fine_value")


PEAK_COLUMNS = ("name", *(one.name for one in fields(Peak) if one.name not in ("local_p", *FINE_COLUMNS)))


GENE_COLUMNS = ("genes", "nearest_gene", "gene_distance")


@dataclass(frozen=True, eq=False, repr=False)
class Peaks:
    """Regions in which a statistic passes a threshold.

    Attributes
    ----------
    statistic : str
    peaks : tuple of Peak
    threshold : float
    fpr : float, optional
        False-positive rate of the threshold.
    compared : str, optional
        What was compared with the neutral replicates.
    genes : Genes, optional
        An annotation, from which each peak gets its genes.
    refined : bool
        The scans have fine rows.
    """

    statistic: str
    peaks: tuple[Peak, ...]
    threshold: float
    fpr: float | None = None
    compared: str | None = None
    genes: Genes | None = None
    refined: bool = False

    def __repr__(self) -> str:
        return f"<Peaks: {len(self.peaks):,} regions with {self.statistic} beyond {self.threshold:.6g}>"

    def __len__(self) -> int:
        return len(self.peaks)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: `PEAK_COLUMNS`, of refined scans `FINE_COLUMNS`, with an annotation `GENE_COLUMNS`."""
        return (*PEAK_COLUMNS, *self.more_columns)

    @property
    def more_columns(self) -> tuple[str, ...]:
        """Those of `columns` that not all peaks have."""
        return (*(FINE_COLUMNS if self.refined else ()), *(() if self.genes is None else GENE_COLUMNS))

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each peak with the names of `columns`, sorted by chromosome (its bytes) and start.

        `name` is "peak1" for the one that is most like a sweep, and so on. `genes` are the names of those that overlap
        the region, with commas between them, `gene_distance` the bp to the nearest one from `fine_position`, or from
        `position` where there is none.
        """
        sign, regions = sign_of(self.statistic), [asdict(peak) for peak in self.peaks]
        if not self.refined:
            regions = [{name: value for name, value in one.items() if name not in FINE_COLUMNS} for one in regions]
        if self.genes is not None:
            for region, peak in zip(regions, self.peaks, strict=True):
                names = self.genes.overlapping(peak.chromosome, peak.start, peak.end)
                region["genes"] = ",".join(name.replace(",", "_") for name in names) or None
                at = peak.position if peak.fine_position is None else peak.fine_position
                near = self.genes.nearest(peak.chromosome, at)
                region["nearest_gene"], region["gene_distance"] = near or (None, None)
        return named_regions(regions, [sign * peak.value for peak in self.peaks])

    def to_frame(self) -> Any:
        """Make a table of the peaks, with the names of `columns`; see `oclgenomics.app.frames.to_frame`."""
        return frame_of(self.records(), self.columns)


def cut_at(scans: Sequence[Scan], statistic: str, *, top: int | None = None, quantile: float | None = None) -> float:
    """Return the value that the `top` rows of all scans pass, or a share of 1 - `quantile` of them.

    Rows of one value pass together: with the last of the top rows, and if they are the most extreme ones always. If
    all rows have one value none does, unless all are asked for.

    Raises
    ------
    UsageError
        A value out of range.
    """
    sign = sign_of(statistic)
    values = np.concatenate([np.zeros(0), *(sign * scan.values[statistic] for scan in scans)])
    values = np.sort(values[~np.isnan(values)])[::-1]
    if top is not None:
        if top < 1:
            raise ParameterError("top", "at least 1 row is needed", top)
        return sign * _below(values, float(values[top - 1])) if top < len(values) else -sign * math.inf
    assert quantile is not None
    if not 0 < quantile < 1:
        raise ParameterError("quantile", "it lies between 0 and 1, such as 0.995 for 0.5 % of the rows", quantile)
    if not len(values):
        return sign * math.inf
    cut = float(np.quantile(values, quantile))
    return sign * (cut if cut < values[0] else _below(values, cut))


def _below(values: NDArray[np.float64], cut: float) -> float:
    """The middle between one of some descending values and the next smaller one; of the least one what all pass."""
    smaller = values[values < cut]
    least = -math.inf if cut < values[0] else cut
    return (cut + float(smaller[0])) / 2 if len(smaller) else least


def merge_rows(
    scans: Sequence[Scan], statistic: str, threshold: float, merge: int = 0, null: Significance | None = None
) -> Iterator[Peak]:
    """Merge the windows of rows that pass a threshold, where they overlap or lie at most `merge` bp apart.

    Yields
    ------
    Peak
        In the order of the scans, and along each by `start`.

    Raises
    ------
    UsageError
        A negative `merge`.
    """
    if merge < 0:
        raise ParameterError("merge", "a distance is 0 bp or more", merge)
    sign = sign_of(statistic)
    if statistic == COMBINED:  # rows say what lies within reach
        known = None if null is None else null.combination
        merge = max(merge, math.ceil(REACH if known is None else known.reach))
    tested = None if null is None or not null.length else _stretches(scans, statistic, null, null.length)
    for scan in scans:
        values, local = scan.values[statistic], dict[str, NDArray[np.float64]]()
        if statistic == COMBINED and null is not None and null.combination is not None:
            local = null.combination.local_p(scan)
        with np.errstate(invalid="ignore"):
            chosen = np.flatnonzero(sign * values > sign * threshold)
        for part in merged_windows(chosen, scan.start, scan.end, merge):
            best = int(part[np.argmax(sign * values[part])])
            value = float(values[best])
            best = scan.middle(statistic, best)
            p = None if null is None else float(null.p_values(statistic, value))
            q = None if p is None or tested is None else float(q_values(np.array(p), tested))
            start, end = math.floor(scan.start[part].min()), math.ceil(scan.end[part].max()) - scan.by_bp
            place = float(scan.positions[best])
            own = {name: float(each[best]) for name, each in local.items()} or None
            fine = fine_row(scan, statistic, start, end, (place, value))
            yield Peak(scan.name, scan.replicate, max(start, 1), end, place, value, len(part), p, q, own, *fine)


def fine_row(
    scan: Scan, statistic: str, start: float, end: float, coarse: tuple[float, float]
) -> tuple[float, float] | tuple[None, None]:
    """Return position and value of the fine row of a region that is most like a sweep, or of the best coarse one.

    The combined score has plateaus, of which that is the row nearest to the middle.

    Parameters
    ----------
    scan : Scan
    statistic : str
    start, end : float
        First and last bp of the region.
    coarse : (float, float)
        Position and value of its best coarse row.
    """
    fine = scan.fine
    if fine is None or statistic not in fine.values:
        return None, None
    scores = sign_of(statistic) * fine.values[statistic]
    scores = np.where((fine.positions >= start) & (fine.positions <= end) & ~np.isnan(scores), scores, -np.inf)
    if not np.isfinite(scores).any():
        return None, None
    best = int(np.argmax(scores))
    if scores[best] < sign_of(statistic) * coarse[1]:
        return coarse
    if statistic == COMBINED:
        below = np.flatnonzero(scores[best:] < scores[best])
        level = fine.positions[best : best + int(below[0]) if len(below) else None]
        best += int(np.argmin(np.abs(level - (level[0] + level[-1]) / 2)))
    return float(fine.positions[best]), float(fine.values[statistic][best])


def _stretches(scans: Sequence[Scan], statistic: str, null: Significance, length: int) -> NDArray[np.float64]:
    """The p-value of the best row of each stretch that is as long as a replicate."""
    found = []
    for scan in scans:
        values = sign_of(statistic) * scan.values[statistic]
        known = np.flatnonzero(~np.isnan(values))
        if len(known):
            stretch = (scan.positions[known] - scan.positions[known[0]]) // length
            best = np.full(int(stretch[-1]) + 1, -np.inf)
            np.maximum.at(best, stretch.astype(np.int64), values[known])
            found.append(null.p_values(statistic, sign_of(statistic) * best[np.isfinite(best)]))
    return np.concatenate(found) if found else np.zeros(0)
