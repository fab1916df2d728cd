"""The definitions of the statistics, written out in plain Python: the oracle of the tests.

A site is a sequence of states, one for each haplotype: 0 (ancestral), 1 (derived) or None (missing). For genotypes it
has a dosage of 0, 1 or 2 for each sample instead.
"""

from __future__ import annotations

import math
from collections import Counter
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


def glibc_rand(seed: int, count: int) -> list[int]:
    """Return what `rand()` of the GNU C library gives first after `srand(seed)`, 0 to 2^31 - 1."""
    r = [seed or 1]
    for _ in range(30):
        r.append(16807 * r[-1] % (2**31 - 1))
    for i in range(31, 34):
        r.append(r[i - 31])
    for i in range(34, 344 + count):
        r.append((r[i - 31] + r[i - 3]) % 2**32)
    return [x >> 1 for x in r[344:]]


def raisd_imputed(sites: Sequence[Sequence[State]], seed: int) -> list[list[State]]:
    """Return sites without missing states, as RAiSD 2.9 draws them (`-M 1 -a SEED`).

    Nothing is drawn at sites of which no state is observed, or none but derived ones.
    """
    draws = iter(glibc_rand(seed, sum(one is None for site in sites for one in site)))
    found = []
    for site in sites:
        derived, observed = site.count(1), len(site) - site.count(None)
        if derived == observed:
            found.append(list(site))
            continue
        chance = derived / observed
        found.append([int(next(draws) / (2**31 - 1) <= chance) if one is None else one for one in site])
    return found


def raisd_matches(
    sites: Sequence[Sequence[State]], width: int, capacity: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the pattern of each site where missing states match anything (`-M 3`), and the counts for its edges.

    Parameters
    ----------
    sites : sequence of sequence
    width : int
        Sites of a window.
    capacity : int
        Patterns that the pool holds; a full one keeps those of the last `width` - 1 sites.
    """

    def agree(site: Sequence[State], other: Sequence[State], flip: int) -> bool:
        return all(a is None or b is None or a == b ^ flip for a, b in zip(site, other, strict=True))

    pool: list[int] = []  # the site that each pattern comes from
    ids: list[int] = []
    for number, site in enumerate(sites):
        equal = [one for one in pool if agree(site, sites[one], 0)]
        turned = [one for one in pool if agree(site, sites[one], 1)]
        if not (equal or turned):
            pool.append(number)
        ids.append([*equal, *turned, number][0])
        if len(pool) == capacity:
            kept = 0
            for one in ids[-(width - 1) :]:
                at = pool.index(one)
                if at >= kept:
                    pool[at], pool[kept] = pool[kept], pool[at]
                    kept += 1
            pool = pool[:kept]
    counts = []
    for number, site in enumerate(sites):
        entry = sites[ids[number]]
        if None in entry:
            counts.append((entry.count(1), len(entry) - entry.count(None)))
        else:
            counts.append((site.count(1), len(site)))
    return ids, counts


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


def between_populations(sites: Sequence[tuple[tuple[int, int], tuple[int, int]]], length: float) -> dict[str, float]:
    """Return Hudson's Fst and dxy for each bp of a window, from differences of pairs of haplotypes.

    Parameters
    ----------
    sites : sequence of tuple of tuple of int
        Derived and observed haplotypes of each site, in the first and in the second population.
    length : float
        Bp that are accessible.

    Returns
    -------
    dict
        'fst' (NaN where haplotypes of different populations do not differ) and 'dxy'.
    """
    excess = differing = all_differing = 0.0
    for (d1, t1), (d2, t2) in sites:
        if not (t1 and t2):
            continue
        between = (d1 * (t2 - d2) + d2 * (t1 - d1)) / (t1 * t2)
        all_differing += between
        if t1 < 2 or t2 < 2:
            continue
        within = [2 * d * (t - d) / (t * (t - 1)) for d, t in ((d1, t1), (d2, t2))]
        excess += between - sum(within) / 2
        differing += between
    return {"fst": excess / differing if differing else NO_VALUE, "dxy": all_differing / length}


def half_away(value: float) -> float:
    """Round to a whole number, halves away from 0."""
    return math.copysign(math.floor(abs(value) + 0.5), value)


def haplotype_spectrum(sites: Sequence[Sequence[State]]) -> list[int]:
    """Return how often each haplotype of a window occurs, descending; those with a missing state are left out.

    Parameters
    ----------
    sites : sequence of sequence
        The sites of the window. With dosages these are multilocus genotypes.
    """
    counts = Counter(one for one in zip(*sites, strict=True) if None not in one)
    return sorted(counts.values(), reverse=True)


def homozygosity(counts: Sequence[int]) -> dict[str, float]:
    """Return H1, H12, H123 and H2/H1 of a window (Garud et al. 2015) from the counts of its haplotypes, descending."""
    f = [count / sum(counts) for count in counts]
    h1 = sum(x * x for x in f)
    found = {"h1": h1}
    for name, most in (("h12", 2), ("h123", 3)):
        found[name] = sum(f[:most]) ** 2 + sum(x * x for x in f[most:])
    return found | {"h2_h1": (h1 - f[0] ** 2) / h1}


def truncated(counts: Sequence[int], kept: int) -> list[float]:
    """Return the frequencies of the most common haplotypes among themselves, 0 where there are fewer."""
    top = [*counts[:kept], *[0] * (kept - len(counts))]
    return [count / sum(top) for count in top]


def lassi_models(neutral: Sequence[float]) -> list[list[float]]:
    """Return the spectra of all sweeps that LASSI considers (Harris and DeGiorgio 2020).

    Parameters
    ----------
    neutral : sequence of float
        The mean of `truncated` over all windows.
    """
    kept, least = len(neutral), neutral[-1]
    found = []
    for m in range(1, kept):
        weights = [math.exp(-i) for i in range(1, m + 1)]
        epsilon = 1 / (100 * kept)
        while epsilon <= least:
            tail = [least - (j - m - 1) / (kept - m - 1) * (least - epsilon) for j in range(m + 1, kept)] + [epsilon]
            moved = sum(neutral[m:]) - sum(tail)
            head = [p + weight / sum(weights) * moved for p, weight in zip(neutral[:m], weights, strict=True)]
            found.append([*head, *tail])
            epsilon += 1 / (100 * kept)
    return found


def lassi_gain(spectrum: Sequence[float], haplotypes: int, model: Sequence[float], neutral: Sequence[float]) -> float:
    """Return by how much a model explains a window better than neutrality, in log likelihood."""
    return haplotypes * sum(f * math.log(q / p) for f, q, p in zip(spectrum, model, neutral, strict=True) if f)


def lassi(spectrum: Sequence[float], haplotypes: int, neutral: Sequence[float]) -> float:
    """Return T of a window."""
    gains = [lassi_gain(spectrum, haplotypes, model, neutral) for model in lassi_models(neutral)]
    return 2 * max([0.0, *gains])


def decay_rates(least_distance: float) -> list[float]:
    """Return the decays per bp that saltiLASSI considers, by the smallest distance of two windows."""
    low, high = (math.log(-math.log(share) / least_distance) for share in (0.99999, 0.00001))
    return [math.exp(low + (high - low) * i / 100) for i in range(101)]


def saltilassi(
    at: Sequence[float], spectra: Sequence[Sequence[float]], haplotypes: Sequence[int], neutral: Sequence[float],
    least_distance: float, reach: float = 100_000.0,
) -> list[float]:  # fmt: skip
    """Return L at each window of a chromosome (DeGiorgio and Szpiech 2022), over the windows that lassip takes.

    Those are all within `reach` bp, and one more on either side.
    """
    models = lassi_models(neutral)
    found = []
    for centre in at:
        near = [k for k, other in enumerate(at) if abs(other - centre) <= reach]
        used = range(max(near[0] - 1, 0), min(near[-1] + 2, len(at)))
        best = 0.0
        for model in models:
            gains = [lassi_gain(spectra[k], haplotypes[k], model, neutral) for k in used]
            for rate in decay_rates(least_distance):
                total = sum(math.exp(-rate * abs(at[k] - centre)) * gain for k, gain in zip(used, gains, strict=True))
                best = max(best, total)
        found.append(2 * best)
    return found
