"""Values of statistics from counts of sites and of patterns; all sums are made once for all windows."""

from __future__ import annotations

import numpy as np

from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.options import Statistic, SweepOptions
from oclgenomics.sweeps.plan import Spans
from oclgenomics.sweeps.reference import harmonic
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import UsedSites
from oclgenomics.variation.selection import count_ones

MU_PARTS = ("mu", "mu_var", "mu_sfs", "mu_ld")
NOTHING = np.float32(1e-10)  # what RAiSD has for an edge sum or a share of patterns of 0


def mu_values(
    used: UsedSites, spans: Spans, lone: Ints, pairs: Ints, options: SweepOptions, mask: Mask
) -> dict[str, Floats]:
    """Return mu and its three factors in windows of sites, float64 (windows,) each.

    Parameters
    ----------
    used : UsedSites
    spans : Spans
        As `plan.site_windows` gives them.
    lone, pairs : ndarray of integers, shape (windows,)
        As `reference.pattern_counts` defines them.
    options : SweepOptions
        In compat precision values are those of float32.
    mask : Mask
        mu is NaN where excluded regions part a window, or 0, and NaN where too few bp are accessible.
    """
    sites = used if used.matches is None else used.matches
    edge = (sites.derived <= options.edge).astype(np.int64) + (sites.derived >= sites.observed - options.edge)
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(edge)])
    edges = sums[spans.stop] - sums[spans.first]
    compat = options.precision == "compat"
    total = harmonic(used.planes.haplotypes if compat else used.copies)
    if compat:
        columns = _raisd_mu(used, spans, edges, total, lone, pairs, options.width)
    else:
        span = mask.between(spans.start, spans.end)
        length = max(used.length, 1e-300)
        var = span / length / options.width * used.total
        sfs = edges * total / options.width
        ld = lone / np.maximum(pairs, 1)
        columns = (var * sfs * ld, var, sfs, ld)
    if options.on_exclude == "zero":
        columns = (np.where(mask.touched(spans.start, spans.end), 0.0, columns[0]), *columns[1:])
    columns = tuple(np.where(spans.known, one, np.nan) for one in columns)
    return dict(zip(MU_PARTS, columns, strict=True))


def _raisd_mu(
    used: UsedSites, spans: Spans, edges: Ints, total: float, lone: Ints, pairs: Ints, width: int
) -> tuple[Floats, ...]:
    """mu and its factors as RAiSD 2.9 has them: rounded to float32 after each operation."""
    f32 = np.float32
    var = (spans.end - spans.start).astype(f32) / f32(used.length) / f32(width) * f32(used.total)
    sfs = np.where(edges > 0, edges.astype(f32), NOTHING)
    sfs = (sfs.astype(np.float64) * total).astype(f32) / f32(width)
    ld = np.where(lone > 0, lone.astype(f32) / np.maximum(pairs, 1).astype(f32), NOTHING)
    return tuple(one.astype(np.float64) for one in (var * sfs * ld, var, sfs, ld))


def diversity_values(used: UsedSites, spans: Spans, names: tuple[Statistic, ...]) -> dict[str, Floats]:
    """Return statistics of diversity in windows, float64 (windows,) each; NaN where they are not known.

    Parameters
    ----------
    used : UsedSites
    spans : Spans
    names : tuple of str
        Some of 'pi' and 'theta' (for each bp), 'tajima_d' and 'fay_wu_h'.
    """
    d, t = used.derived.astype(np.float64), used.observed.astype(np.float64)
    pairs = t * (t - 1)
    a1 = _sums_below(used.planes.haplotypes, 1)
    pi = _sums(2 * d * (t - d) / pairs, spans)
    theta = _sums(1 / a1[used.observed], spans)
    length = np.where(spans.length > 0, spans.length, np.nan)
    found = {"pi": pi / length, "theta": theta / length}
    if "tajima_d" in names:
        found["tajima_d"] = _tajima_d(used, spans, pi - theta, a1)
    if "fay_wu_h" in names:
        found["fay_wu_h"] = pi - _sums(2 * d * d / pairs, spans)
    if "fay_wu_h" in names and used.polarised is not None:
        known = used.polarised
        h = _sums(np.where(known, 2 * d * (t - 2 * d) / pairs, 0.0), spans)
        blind = (_sums(known.astype(np.float64), spans) == 0) & (spans.stop > spans.first)
        found["fay_wu_h"] = np.where(blind, np.nan, h)
    return {name: np.where(spans.known, found[name], np.nan) for name in names if name in found}


def population_values(used: UsedSites, spans: Spans, names: tuple[Statistic, ...]) -> dict[str, Floats]:
    """Return statistics between two populations in windows, float64 (windows,) each; NaN where they are not known.

    Parameters
    ----------
    used : UsedSites
    spans : Spans
    names : tuple of str
        Some of 'fst' (Hudson's, the ratio of averages of Bhatia et al. 2013) and 'dxy' (for each bp).
    """
    chosen = [name for name in ("fst", "dxy") if name in names]
    if not chosen or used.populations is None:
        return {}
    d, t = (np.empty((2, used.sites)) for _ in range(2))
    for number, mask in enumerate(used.populations):
        own = mask[:, None] if used.repeated is None else mask[:, None] & ~used.repeated
        d[number] = count_ones(used.planes.bits & own)
        valid = used.planes.valid
        t[number] = np.bitwise_count(own).sum(axis=0) if valid is None else count_ones(valid & own)
    p = d / np.maximum(t, 1)
    within = p * (1 - p) / np.maximum(t - 1, 1)
    between = p[0] * (1 - p[1]) + p[1] * (1 - p[0])
    few = t.min(axis=0)
    found = {"dxy": _sums(np.where(few > 0, between, 0.0), spans) / np.where(spans.length > 0, spans.length, np.nan)}
    total = _sums(np.where(few > 1, between, 0.0), spans)
    excess = _sums(np.where(few > 1, (p[0] - p[1]) ** 2 - within.sum(axis=0), 0.0), spans)
    found["fst"] = np.where(total > 0, excess, np.nan) / np.where(total > 0, total, 1.0)
    return {name: np.where(spans.known, found[name], np.nan) for name in chosen}


def _sums(values: Floats, spans: Spans) -> Floats:
    """Sums of values of sites in windows."""
    sums = np.concatenate([np.zeros(1), np.cumsum(values)])
    found: Floats = sums[spans.stop] - sums[spans.first]
    return found


def _sums_below(most: int, power: int) -> Floats:
    """Item n is the sum of 1 / i ** power over 0 < i < n, for n from 0 to `most`."""
    return np.concatenate([[np.nan, 0.0], np.cumsum(1 / np.arange(1.0, max(most, 1)) ** power)])


def _tajima_d(used: UsedSites, spans: Spans, difference: Floats, a1: Floats) -> Floats:
    """Tajima's D (1989), by the mean number of observed haplotypes in the window; NaN where its variance is 0."""
    a2 = _sums_below(used.planes.haplotypes, 2)
    count = (spans.stop - spans.first).astype(np.float64)
    seen = np.concatenate([[0], np.cumsum(used.observed)])
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.floor((seen[spans.stop] - seen[spans.first]) / count + 0.5)
        n = np.where(count > 0, n, 2.0)
        at = n.astype(np.int64)
        c1 = (n + 1) / (3 * (n - 1)) - 1 / a1[at]
        c2 = 2 * (n * n + n + 3) / (9 * n * (n - 1)) - (n + 2) / (a1[at] * n) + a2[at] / a1[at] ** 2
        variance = c1 / a1[at] * count + c2 / (a1[at] ** 2 + a2[at]) * count * (count - 1)
        return np.where((count > 0) & (variance > 0), difference / np.sqrt(variance), np.nan)
