"""The combined score: how rare several statistics are at a place among neutral replicates, in one number.

Statistics of one window depend on each other, so no table of probabilities holds for their sum. Neutral replicates are
split: one half says how rare each value is at a single position (local p), and the largest sums of the other half say
what the sum means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oclgenomics.errors import UsageError
from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.options import LOW
from oclgenomics.sweeps.result import Scan

COMBINED, COMBINED_P = "combined", "combined_p"
REACH = 10_000.0  # bp around a position, of which the best local p counts
EXACT, QUANTILES = 1_000, 1_000  # largest values that are kept, and so many of all others


@dataclass(frozen=True, eq=False)
class Reference:
    """Values of a statistic at all positions of neutral replicates, as a staircase.

    Attributes
    ----------
    scores : ndarray of float64, shape (steps,)
        Ascending; larger ones are more like a sweep.
    counts : ndarray of int64, shape (steps,)
        Positions with at least this score.
    total : int
        Positions with any.
    """

    scores: Floats
    counts: Ints
    total: int

    @classmethod
    def of(cls, scores: Floats) -> Reference:
        """Take all scores, NaN where there is none; of those below the largest ones only some are kept."""
        known = np.sort(scores[~np.isnan(scores)])
        total = len(known)
        bulk = max(total - EXACT, 0)
        kept = np.unique(np.concatenate([np.linspace(0, bulk, QUANTILES).astype(np.int64), np.arange(bulk, total)]))
        steps = np.unique(known[kept[kept < total]])
        return cls(steps, total - np.searchsorted(known, steps, side="left").astype(np.int64), total)

    def local_p(self, scores: Floats) -> Floats:
        """Return the probability of at least these scores at a neutral position, float64 (...); 1 for NaN."""
        place = np.searchsorted(self.scores, scores, side="left")
        above = np.append(self.counts, 0)[place]
        return np.where(np.isnan(scores), 1.0, (1 + above) / (1 + self.total))


@dataclass(frozen=True, eq=False)
class Combination:
    """Several statistics as one score.

    Attributes
    ----------
    references : mapping of str to Reference
        Of each statistic.
    reach : float
        Bp around a position, of which the best local p counts.
    """

    references: Mapping[str, Reference]
    reach: float = REACH

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics that are combined."""
        return tuple(self.references)

    def local_p(self, scan: Scan) -> dict[str, Floats]:
        """Return the best local p within reach of each row by statistic, float64 (rows,) each.

        Raises
        ------
        UsageError
            The scan lacks a statistic.
        """
        lacking = [name for name in self.references if name not in scan.values]
        if lacking:
            raise UsageError(f"the combined score needs {', '.join(lacking)}, which the scan lacks; add it to --stat")
        return {
            name: lowest_within(scan.positions, reference.local_p(scores_at(scan, name)), self.reach)
            for name, reference in self.references.items()
        }

    def scores(self, scan: Scan) -> Floats:
        """Return the sum of -ln p at each row, float64 (rows,); NaN where no statistic has a value."""
        found = np.zeros(len(scan.positions))
        for p in self.local_p(scan).values():
            found -= np.log(p)
        unknown = np.all([np.isnan(scan.values[name]) for name in self.references], axis=0)
        return np.where(unknown, np.nan, found)

    def fine_scores(self, scan: Scan) -> Floats:
        """Return the sum of -ln p at each fine row, by all rows within reach, coarse ones and fine ones.

        Returns
        -------
        ndarray of float64, shape (fine rows,)
            NaN where no statistic has a value. It is at least that of the coarse rows there.
        """
        fine = scan.fine
        assert fine is not None
        both = np.concatenate([scan.positions, fine.positions])
        order = np.argsort(both, kind="stable")
        values = {
            name: np.concatenate([scan.values[name], fine.values[name]])[order] for name in self.references
        }  # fmt: skip
        found = np.empty(len(both))
        found[order] = self.scores(replace(scan, positions=both[order], values=values, fine=None))
        return found[len(scan.positions) :]


def combine(scans: Iterable[Scan], statistics: Sequence[str]) -> tuple[Combination, list[tuple[float, float]]]:
    """Split neutral replicates, and return the combination and the highest score of each of the other half, and where.

    Raises
    ------
    UsageError
        Too few replicates, or a statistic without any value.
    """
    every = list(scans)
    first, second = every[::2], every[1::2]
    if not second:
        raise UsageError("a combined score needs two neutral replicates or more")
    references = {name: Reference.of(np.concatenate([scores_at(one, name) for one in first])) for name in statistics}
    for name, reference in references.items():
        if not reference.total:
            raise UsageError(f"no neutral replicate has a value of {name}")
    found = Combination(references)
    return found, [_highest(one.positions, found.scores(one)) for one in second]


def scores_at(scan: Scan, statistic: str) -> Floats:
    """Return values that are larger the more they are like a sweep, float64 (rows,); NaN where there is none."""
    return -scan.values[statistic] if statistic in LOW else scan.values[statistic]


def _highest(positions: Floats, scores: Floats) -> tuple[float, float]:
    if np.isnan(scores).all():
        return np.nan, np.nan
    best = int(np.nanargmax(scores))
    return float(scores[best]), float(positions[best])


def lowest_within(positions: Floats, values: Floats, reach: float) -> Floats:
    """Return the lowest value within `reach` bp of each position, both ends included; positions ascend."""
    rows = len(positions)
    if not rows:
        return values.copy()
    first = np.searchsorted(positions, positions - reach, side="left")
    stop = np.searchsorted(positions, positions + reach, side="right")
    found, levels = np.empty(rows), [values]  # the lowest of 1, 2, 4, ... values from each one on
    level = np.frexp(stop - first)[1] - 1
    while len(levels) <= level.max():
        last, half = levels[-1], 1 << (len(levels) - 1)
        levels.append(np.minimum(last[:-half], last[half:]))
    for number, lowest in enumerate(levels):
        own = level == number
        found[own] = np.minimum(lowest[first[own]], lowest[stop[own] - (1 << number)])
    return found


def q_values(p: Floats, tested: Floats) -> Floats:
    """Return the false discovery rate (Benjamini and Hochberg 1995) at which each p-value is still a discovery.

    Parameters
    ----------
    p : ndarray of float64, shape (...)
    tested : ndarray of float64, shape (tests,)
        The p-values of all tests.
    """
    ordered = np.sort(tested)
    rates = np.minimum.accumulate((ordered * len(ordered) / np.arange(1, len(ordered) + 1))[::-1])[::-1]
    below = np.searchsorted(ordered, p, side="right")
    own = p * len(ordered) / np.maximum(below, 1)
    after = np.append(rates, np.inf)[np.searchsorted(ordered, p, side="left")]
    found: Floats = np.minimum(np.minimum(own, after), 1.0)
    return found
