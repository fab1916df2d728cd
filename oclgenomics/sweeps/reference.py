"""The definitions of the statistics, written out in plain Python: the oracle of the tests.

A site is a sequence of states, one for each haplotype: 0 (ancestral), 1 (derived) or None (missing). For genotypes it
has a dosage of 0, 1 or 2 for each sample instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

State = int | None
f32 = np.float32
NO_VALUE = math.nan


def pattern(site: Sequence[State], *, genotypes: bool = False) -> tuple[State, ...]:
    """Return the pattern of a site, which is also that of its complement; a missing state stays missing."""
    top = 2 if genotypes else 1
    given = tuple(site)
    complement = tuple(None if state is None else top - state for state in given)
    return min(given, complement, key=str)


def edges(derived: int, observed: int, slack: int) -> int:
    """Return whether a site lies at the edges of the spectrum: one for either end."""
    return (derived <= slack) + (derived >= observed - slack)


def pattern_counts(left: Sequence[object], right: Sequence[object]) -> tuple[int, int]:
    """Return the numbers of mu_LD: patterns of one half alone times their sites, of both halves; pairs of patterns.

    Parameters
    ----------
    left, right : sequence
        The patterns of the sites of either half of a window.
    """
    ours, theirs = set(left), set(right)
    lone_left, lone_right = (sum(one not in other for one in half) for half, other in ((left, theirs), (right, ours)))
    return len(ours - theirs) * lone_left + len(theirs - ours) * lone_right, len(ours) * len(theirs)


def harmonic(count: int) -> float:
    """Return the sum of 1/i for i from 1 to count - 1."""
    total = 0.0
    for i in range(1, count):
        total += 1.0 / float(i)
    return total


def raisd_mu(
    span: float, length: float, sites: int, width: int, edge_sum: int, haplotypes: int, counts: tuple[int, int]
) -> tuple[np.float32, ...]:
    """Return mu_VAR, mu_SFS, mu_LD and mu of a window as RAiSD 2.9 computes them, each operation in float32.

    Parameters
    ----------
    span : float
        Distance of its first and last site, bp.
    length : float
        Of the region, bp.
    sites : int
        Of the region.
    width : int
        Sites of the window.
    edge_sum : int
        Sum of `edges` of its sites.
    haplotypes : int
    counts : tuple of int
        As `pattern_counts` gives them.
    """
    var = f32(f32(f32(f32(span) / f32(length)) / f32(width)) * f32(sites))
    sfs = f32(edge_sum) if edge_sum else f32(1e-10)
    sfs = f32(f32(float(sfs) * harmonic(haplotypes)) / f32(width))
    lone, pairs = counts
    ld = f32(f32(lone) / f32(pairs)) if lone else f32(1e-10)
    return var, sfs, ld, f32(f32(var * sfs) * ld)


def mu(
    span: float, length: float, sites: int, width: int, edge_sum: int, haplotypes: int, counts: tuple[int, int]
) -> tuple[float, ...]:
    """Return mu_VAR, mu_SFS, mu_LD and mu of a window in double precision; 0 where RAiSD has 1e-10."""
    var = span / length / width * sites
    sfs = edge_sum * harmonic(haplotypes) / width
    lone, pairs = counts
    ld = lone / pairs
    return var, sfs, ld, var * sfs * ld


def diversity(sites: Sequence[tuple[int, int]], length: float) -> dict[str, float]:
    """Return pi and Watterson's theta for each bp, Tajima's D, and Fay and Wu's H of a window.

    Parameters
    ----------
    sites : sequence of tuple of int
        Derived and observed haplotypes of each site.
    length : float
        Bp that are accessible.

    Returns
    -------
    dict
        'pi', 'theta', 'tajima_d' (NaN without sites, or where its variance is 0) and 'fay_wu_h'.
    """
    pi = sum(2 * d * (t - d) / (t * (t - 1)) for d, t in sites)
    theta = sum(1 / harmonic(t) for _, t in sites)
    theta_h = sum(2 * d * d / (t * (t - 1)) for d, t in sites)
    variance = 0.0
    if sites:
        n = math.floor(sum(t for _, t in sites) / len(sites) + 0.5)
        a1, a2 = harmonic(n), sum(1 / i**2 for i in range(1, n))
        c1 = (n + 1) / (3 * (n - 1)) - 1 / a1
        c2 = 2 * (n * n + n + 3) / (9 * n * (n - 1)) - (n + 2) / (a1 * n) + a2 / a1**2
        variance = c1 / a1 * len(sites) + c2 / (a1**2 + a2) * len(sites) * (len(sites) - 1)
    d = (pi - theta) / math.sqrt(variance) if variance > 0 else NO_VALUE
    return {"pi": pi / length, "theta": theta / length, "tajima_d": d, "fay_wu_h": pi - theta_h}


def half_away(value: float) -> float:
    """Round to a whole number, halves away from 0."""
    return math.copysign(math.floor(abs(value) + 0.5), value)


def raisd_grid(positions: Sequence[float], columns: Sequence[Sequence[float]], count: int) -> list[tuple[float, ...]]:
    """Return RAiSD's rows of a grid: each column interpolated linearly at all of `count` points but the first."""
    rows = []
    step = (positions[-1] - positions[0]) / (count - 1.0)
    for number in range(1, count):
        at = positions[-1] if number == count - 1 else positions[0] + number * step
        i = min(int(np.searchsorted(positions, at, side="right")) - 1, len(positions) - 2)
        share = (at - positions[i]) / (positions[i + 1] - positions[i])
        rows.append((at, *(float(y[i]) + share * (float(y[i + 1]) - float(y[i])) for y in columns)))
    return rows
