"""Statistics of the haplotypes of windows: homozygosity (Garud et al. 2015), and how their spectrum is distorted.

All of them follow from how often the most common haplotypes of each window occur, which the device counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from oclgenomics.runtime import Engine
from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.device.haplotypes import HaplotypeCounter, HaplotypeCounts, window_starts
from oclgenomics.sweeps.options import HAPLOTYPE_STATISTICS, Statistic, SweepOptions
from oclgenomics.sweeps.plan import Portion, sites_known
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import SitePlanes, UsedSites
from oclgenomics.sweeps.statistics.families import Background, Native
from oclgenomics.sweeps.statistics.lassi import KEPT, lassi_values, least_distance, saltilassi_values

COMPLETE_SHARE = 0.5  # of haplotypes, below which a window has no value
SPECTRUM_STATISTICS = ("lassi", "saltilassi")


@dataclass(frozen=True, eq=False)
class HaplotypeWindows:
    """The haplotypes of the windows of one alignment.

    Attributes
    ----------
    at : ndarray of float64, shape (windows,)
        Middles of the windows, bp.
    counts : HaplotypeCounts
    known : ndarray of bool, shape (windows,)
        Enough haplotypes have no missing state, no excluded region parts the window, and it is accessible.
    copies : int
        Haplotypes, or samples of unphased genotypes.
    genotypes : bool
    """

    at: Floats
    counts: HaplotypeCounts
    known: np.ndarray[tuple[int], np.dtype[np.bool_]]
    copies: int
    genotypes: bool

    @classmethod
    def joined(cls, several: Sequence[HaplotypeWindows]) -> HaplotypeWindows:
        """Return those of an alignment from those of its portions."""
        at, known = (np.concatenate([getattr(one, name) for one in several]) for name in ("at", "known"))
        return replace(several[0], at=at, known=known, counts=HaplotypeCounts.joined([one.counts for one in several]))

    def weighted(self) -> Floats:
        """Return frequencies among the most common haplotypes times all of the window, for windows that are known."""
        top = self.counts.top[:, self.known].T.astype(np.float64)
        found: Floats = top / top.sum(axis=1, keepdims=True) * self.counts.complete[self.known, None]
        return found


class HaplotypeFamily:
    """H1, H12, H123, H2/H1, LASSI's T and saltiLASSI's L.

    Parameters
    ----------
    engine : Engine, optional
        None: windows come from elsewhere.
    block_sites : int, optional
        Sites of a block instead of those that fit in memory. Results never depend on it.
    """

    name: ClassVar[str] = "haplotypes"
    statistics: ClassVar[tuple[Statistic, ...]] = HAPLOTYPE_STATISTICS
    late: ClassVar[bool] = False

    def __init__(self, engine: Engine | None, *, block_sites: int | None = None) -> None:
        self._counter = None if engine is None else HaplotypeCounter(engine, block_sites=block_sites)

    def needs_background(self, options: SweepOptions) -> bool:
        """Say whether the mean spectrum of all windows is needed."""
        return any(name in options.statistics for name in SPECTRUM_STATISTICS)

    def measure(
        self, used: Sequence[UsedSites], options: SweepOptions, masks: Sequence[Mask], portions: Sequence[Portion]
    ) -> list[HaplotypeWindows]:
        """Count the haplotypes of each window."""
        assert self._counter is not None
        window, step = options.haplotype_window, options.haplotype_step
        firsts = [_own_starts(one.sites, window, step, portion) for one, portion in zip(used, portions, strict=True)]
        planes = [_with_windows(one.planes, first, window, step) for one, first in zip(used, firsts, strict=True)]
        counted = self._counter.count(planes, window, step, KEPT)
        found = []
        for one, counts, mask, first in zip(used, counted, masks, firsts, strict=True):
            start, end = one.positions[first], one.positions[first + window - 1]
            copies = one.facts.haplotypes // 2 if one.planes.genotypes else one.facts.haplotypes
            known = counts.complete >= _fewest(copies)
            known &= sites_known(start, end, options, mask)
            found.append(HaplotypeWindows((start + end) / 2, counts, known, copies, one.planes.genotypes))
        return found

    def joined(self, measured: Sequence[HaplotypeWindows]) -> HaplotypeWindows:
        """Join the windows of portions."""
        return HaplotypeWindows.joined(measured)

    def see(self, used: UsedSites, options: SweepOptions) -> None:
        """Do nothing: windows say what the background needs."""

    def background(self, measured: Sequence[HaplotypeWindows], options: SweepOptions) -> Background:
        """Return the mean spectrum of all windows, and the smallest distance of two of a chromosome (0 without any)."""
        total, windows, least = np.zeros(KEPT), 0, np.inf
        for one in measured:
            spectra = one.weighted() / one.counts.complete[one.known, None]
            total += spectra.sum(axis=0)
            windows += len(spectra)
            least = min(least, least_distance(one.at[one.known]))
        return {"spectrum": total / max(windows, 1), "least_distance": np.array([least if np.isfinite(least) else 0.0])}

    def native(self, measured: HaplotypeWindows, options: SweepOptions, background: Background | None) -> Native:
        """Return the values of windows."""
        names: list[str] = [name for name in self.statistics if name in options.statistics]
        values = dict.fromkeys(names, np.zeros(0)) | _homozygosity(measured.counts)
        if background is not None:
            neutral, weighted = background["spectrum"], measured.weighted()
            if "lassi" in names:
                values["lassi"] = _spread(lassi_values(weighted, neutral), measured)
            if "saltilassi" in names:
                least = float(background["least_distance"][0]) or np.inf
                at = measured.at[measured.known]
                values["saltilassi"] = _spread(saltilassi_values(at, weighted, neutral, least), measured)
        known = {name: np.where(measured.known, values[name], np.nan) for name in names}
        return Native(measured.at, known, _remarks(measured))

    def nearer(
        self, found: Native, used: UsedSites, at: Floats, options: SweepOptions, mask: Mask,
        background: Background | None,
    ) -> Native:  # fmt: skip
        """Return the values of windows, all of which are known."""
        return found


def _own_starts(sites: int, window: int, step: int, portion: Portion) -> Ints:
    """First sites of the windows of a portion."""
    every = window_starts(sites, window, step)
    begin, end = portion.share(len(every))
    return every[begin:end]


def _with_windows(planes: SitePlanes, first: Ints, window: int, step: int) -> SitePlanes:
    """The sites of windows that begin at some sites."""
    if len(first) == len(window_starts(planes.sites, window, step)):
        return planes
    return planes.between(int(first[0]), int(first[-1]) + window) if len(first) else planes.between(0, 0)


def _homozygosity(counts: HaplotypeCounts) -> dict[str, Floats]:
    """H1, H12, H123 and H2/H1 of windows; without meaning where no haplotype is complete."""
    first, second, third = counts.top[:3].astype(np.float64)
    squares, pairs = counts.squares.astype(np.float64), np.maximum(counts.complete, 1).astype(np.float64) ** 2
    return {
        "h1": squares / pairs,
        "h12": (squares + 2 * first * second) / pairs,
        "h123": (squares + 2 * (first * second + third * (first + second))) / pairs,
        "h2_h1": (squares - first * first) / np.maximum(squares, 1),
    }


def _remarks(measured: HaplotypeWindows) -> tuple[str, ...]:
    """How many haplotypes are left out because of missing states."""
    complete = measured.counts.complete
    left_out = 1 - float(complete.mean()) / measured.copies if len(complete) else 0.0
    if not left_out:
        return ()
    kind = "genotypes" if measured.genotypes else "haplotypes"
    text = f"windows of haplotypes leave out {100 * left_out:.1f} % of the {kind}, which have missing states there"
    few = int((complete < _fewest(measured.copies)).sum())
    if few:
        text = f"warning: {text}, and {few:,} of {len(complete):,} have no value because fewer than half are left"
        text += "; use fewer sites (--haplotype-window), --missing drop, or imputed data"
    return (text,)


def _fewest(copies: int) -> float:
    """How many haplotypes without missing states a window needs at least."""
    return max(2.0, COMPLETE_SHARE * copies)


def _spread(values: Floats, measured: HaplotypeWindows) -> Floats:
    """Values of the windows that are known at the places of all."""
    found = np.full(len(measured.at), np.nan)
    found[measured.known] = values
    return found
