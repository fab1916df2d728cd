"""Values along chromosomes or replicates, for figures and reports: end to end, summarised, and thinned out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame

GAP = 0.012  # between chromosomes, as a share of all of them together
GAPS = 0.3  # of all gaps together at most
SHOWN_POSITIONS, SHOWN_LINES = 2_000, 50  # of a sample in a report of MultiQC


class Track(NamedTuple):
    """Values along a chromosome or a replicate.

    Attributes
    ----------
    name : str
    positions : ndarray of float64, shape (rows,)
        Bp, in ascending order.
    values : ndarray of float64, shape (rows,)
        NaN where there is none.
    """

    name: str
    positions: NDArray[np.float64]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class MergedRegion:
    """Windows along a chromosome that are one region.

    Attributes
    ----------
    chromosome : str
    replicate : int
    start, end : int
        First and last bp of the merged windows, counted from 1.
    position : float
        The one in the region that is most like a sweep.
    """

    chromosome: str
    replicate: int
    start: int
    end: int
    position: float


class ScannedAlignment(Protocol):
    """What scans of all systems say of their alignment."""

    @property
    def name(self) -> str: ...

    @property
    def haplotypes(self) -> int: ...

    @property
    def sites(self) -> int: ...

    @property
    def discarded(self) -> Mapping[str, int]: ...


def scanned_line(scan: ScannedAlignment) -> str:
    """Return for a person which alignment was scanned, and what was left out of it and why."""
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in scan.discarded.items() if count)
    line = f"{scan.name}: {scan.haplotypes:,} haplotypes, {scan.sites:,} sites"
    return f"{line} (left out: {left_out})" if left_out else line


PartT = TypeVar("PartT")


class PartSequence(Sequence[PartT]):
    """A result with a part for each chromosome or replicate, as the sequence of its parts."""

    @property
    @abstractmethod
    def _parts(self) -> Sequence[PartT]: ...

    @overload
    def __getitem__(self, index: int) -> PartT: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[PartT]: ...

    def __getitem__(self, index: int | slice) -> PartT | Sequence[PartT]:
        return self._parts[index]

    def __len__(self) -> int:
        return len(self._parts)


class TabularScan(Protocol):
    """A scan with columns of one length."""

    def records(self) -> Iterator[dict[str, Any]]: ...

    def _columns(self) -> Mapping[str, NDArray[Any]]: ...


ScanT = TypeVar("ScanT", bound=TabularScan)


class ScanSequence(PartSequence[ScanT]):
    """The scans of an input, in its order."""

    _columns_of_none: ClassVar[Sequence[str]] = ()  # of a table without any scan

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(map(repr, self[:3]))}{', ...' * (len(self) > 3)}>"

    def records(self) -> Iterator[dict[str, Any]]:
        """Give a dict for each row of all scans, as `Scan.records` does."""
        for scan in self:
            yield from scan.records()

    def to_frame(self) -> Any:
        """Make a table of the rows of all scans, as `Scan.to_frame` does."""
        columns = [scan._columns() for scan in self]
        if not columns:
            return to_frame({name: [] for name in self._columns_of_none})
        return to_frame({name: np.concatenate([one[name] for one in columns]) for name in columns[0]})


def end_to_end(positions: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], float]:
    """Return what to add to the positions of each chromosome so that they lie end to end, and the bp between them.

    A single chromosome stays where it is.
    """
    firsts, lasts = (np.array([float(one[end]) for one in positions]) for end in (0, -1))
    spans = lasts - firsts
    gap = max(float(spans.sum()) * min(GAP, GAPS / len(spans)), 1.0)
    if len(spans) == 1:
        return np.zeros(1), gap
    return np.concatenate([[0.0], np.cumsum(spans + gap)[:-1]]) - firsts, gap


def merged_windows(
    chosen: NDArray[np.intp], start: NDArray[Any], end: NDArray[Any], merge: int
) -> list[NDArray[np.intp]]:
    """Return the rows whose windows are one region: those that overlap, or lie at most `merge` bp apart.

    Parameters
    ----------
    chosen : ndarray of int, shape (chosen,)
        Rows.
    start, end : ndarray, shape (rows,)
        First and last bp of the window of each row.
    merge : int

    Returns
    -------
    list of ndarray of int
        The rows of each region by `start`; regions along the chromosome.
    """
    if not len(chosen):
        return []
    chosen = chosen[np.argsort(start[chosen], kind="stable")]
    reached = np.maximum.accumulate(end[chosen])
    apart = start[chosen][1:] - reached[:-1] - 1
    return np.split(chosen, np.flatnonzero(apart > merge) + 1)


def named_regions(regions: Sequence[Mapping[str, Any]], heights: Sequence[float]) -> list[dict[str, Any]]:
    """Return regions with a 'name', "peak1" for the highest, and so on, sorted by chromosome (its bytes) and start.

    Parameters
    ----------
    regions : sequence of mapping
        With 'chromosome', 'start', 'end' and 'replicate'.
    heights : sequence of float
    """
    order = np.argsort(-np.asarray(heights, np.float64), kind="stable")
    rank = np.argsort(order, kind="stable") + 1
    named = [{"name": f"peak{place}", **region} for place, region in zip(rank.tolist(), regions, strict=True)]
    return sorted(named, key=lambda one: (one["chromosome"].encode(), one["start"], one["end"], one["replicate"]))


def quantiles_along(
    tracks: Sequence[Track], most: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return positions, and the 5 %, 50 % and 95 % quantiles of replicates there, each of which has its own positions.

    Parameters
    ----------
    tracks : sequence of Track
        Each has a value somewhere.
    most : int, optional
        So many positions at most; without it as many as the longest track has.
    """
    first = min(float(track.positions[0]) for track in tracks)
    last = max(float(track.positions[-1]) for track in tracks)
    longest = max(len(track.positions) for track in tracks)
    at = np.linspace(first, last, longest if most is None else min(longest, most))
    rows = np.array([_interpolated(at, track) for track in tracks])
    known = np.isnan(rows).mean(axis=0) <= 0.5
    low, middle, high = np.nanquantile(rows[:, known], (0.05, 0.5, 0.95), axis=0)
    return at[known], low, middle, high


def _interpolated(at: NDArray[np.float64], track: Track) -> NDArray[np.float64]:
    known = ~np.isnan(track.values)
    return np.interp(at, track.positions[known], track.values[known], np.nan, np.nan)


def stretch_lines(
    sample: str, tracks: Sequence[Track], *, lowest: bool = False
) -> tuple[dict[str, list[list[float]]], str]:
    """Return lines of tracks that lie end to end for MultiQC, and what is said below them.

    Parameters
    ----------
    sample : str
        Name of the line, or the beginning of its name where each track has its own.
    tracks : sequence of Track
    lowest : bool
        Of each stretch of many positions the lowest value is drawn, and not the highest.

    Returns
    -------
    dict of str to list of [position in Mb, value]
    str
    """
    ends = np.cumsum([0.0, *(float(track.positions[-1]) if len(track.positions) else 0.0 for track in tracks)])
    stretch = max(float(ends[-1]) / SHOWN_POSITIONS, 1.0)
    lines: dict[str, list[list[float]]] = {}
    for track, offset in zip(tracks, ends.tolist(), strict=False):
        name = f"{sample}, {track.name}" if 1 < len(tracks) <= SHOWN_LINES else sample
        places = np.flatnonzero(~np.isnan(track.values))
        scores = track.values[places] if lowest else -track.values[places]
        places = places[np.argsort(scores, kind="stable")]
        _, best = np.unique(track.positions[places] // stretch, return_index=True)
        x, y = (offset + track.positions[places[best]]) / 1e6, track.values[places[best]].astype(np.float64)
        lines.setdefault(name, []).extend(np.stack([x, y], axis=1).tolist())
    which = f"The {'lowest' if lowest else 'highest'} value of each {stretch:,.0f} bp is shown."
    return lines, f"Chromosomes or replicates lie end to end. {which}"
