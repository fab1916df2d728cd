"""nSL, iHS, XP-nSL and XP-EHH, written out in plain Python: the oracle of the tests.

A site is a sequence of alleles, one for each haplotype: 0 (ancestral) or 1 (derived); or of genotypes, 0, 1 or 2, one
for each sample.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

CUTOFF = 0.05
REACH_SITES = 100


@dataclass(frozen=True)
class Rules:
    """What selscan 3 calls --max-extend-nsl, --max-extend, --gap-scale, --max-gap and --trunc-ok.

    Attributes
    ----------
    score : {'nsl', 'ihs', 'xp_nsl', 'xp_ehh'}
    unphased : bool
        Sites are genotypes.
    max_gap : float
        Bp. selscan 3.0.0 has it for unphased data only.
    keep_edge : bool
        Cores from which the end of the data is reached have a score.
    """

    score: str
    unphased: bool = False
    max_gap: float = 200_000
    keep_edge: bool = False

    @property
    def by_bp(self) -> bool:
        """Distances are those of bp, not of sites."""
        return self.score in ("ihs", "xp_ehh")


def homozygosity(haplotypes: Sequence[tuple[int, ...]]) -> float:
    """Return the share of pairs that are equal; 0 of fewer than two haplotypes."""
    if len(haplotypes) < 2:
        return 0.0
    return sum(n * (n - 1) for n in Counter(haplotypes).values()) / (len(haplotypes) * (len(haplotypes) - 1))


def weight_of_step(
    positions: Sequence[float], here: int, step: int, rules: Rules, parted: Collection[int]
) -> float | str | None:
    """Return the weight of the next trapezoid of a walk; None where it ends with the data, or why there is no score."""
    ahead = here + step
    if not 0 <= ahead < len(positions):
        return None if rules.keep_edge else "end of the data"
    if max(here, ahead) in parted:
        return "excluded region"
    distance = abs(positions[ahead] - positions[here])
    if distance > rules.max_gap:
        return "gap"
    return min(distance, 20_000) / 1e6 if rules.by_bp else min(1.0, 20_000 / max(distance, 1e-9))


def has_reached(positions: Sequence[float], core: int, here: int, rules: Rules) -> bool:
    """Say whether a walk has gone as far as it goes."""
    return abs(positions[here] - positions[core]) >= 1e6 if rules.by_bp else abs(here - core) >= REACH_SITES


def side(
    sites: Sequence[Sequence[int]], positions: Sequence[float], core: int, step: int, rules: Rules,
    parted: Collection[int] = (),
) -> dict[str, float] | str:  # fmt: skip
    """Return the integrals on one side of a core, or why there are none.

    Parameters
    ----------
    sites : sequence
        Those of a minor allele frequency that counts.
    positions : sequence of float
    core, step : int
        Number of the core; 1 for sites above it, -1 for those below.
    rules : Rules
    parted : collection of int
        Sites which no walk reaches from the one before, nor the other way.

    Returns
    -------
    dict
        'derived' and 'ancestral', and with genotypes 'not derived' and 'not ancestral'.
    """
    top = 2 if rules.unphased else 1
    groups: dict[str, tuple[int, ...]] = {"ancestral": (0,), "derived": (top,)}
    if rules.unphased:
        groups |= {"not ancestral": (1, 2), "not derived": (0, 1)}
    members = {name: [h for h, allele in enumerate(sites[core]) if allele in own] for name, own in groups.items()}
    carried = dict.fromkeys(groups, 1.0)
    total = dict.fromkeys(groups, 0.0)
    here = core
    seen: list[tuple[int, ...]] = [(allele,) for allele in sites[core]]
    while True:
        low = (
            here != core
            and rules.score == "ihs"
            and all(
                len(members[name]) > 1 and homozygosity([seen[h] for h in members[name]]) <= CUTOFF
                for name in ("ancestral", "derived")
            )
        )
        if low and rules.unphased:
            break
        weight = weight_of_step(positions, here, step, rules, parted)
        if isinstance(weight, str):
            return weight
        if weight is None or low:
            break
        here += step
        seen = [(*before, allele) for before, allele in zip(seen, sites[here], strict=True)]
        for name, own_members in members.items():
            cut = not rules.unphased or (rules.score == "ihs" and not name.startswith("not"))
            if cut and carried[name] <= CUTOFF:
                continue
            now = homozygosity([seen[h] for h in own_members])
            total[name] += (carried[name] + now) / 2 * weight
            carried[name] = now
        if len(set(seen)) == len(seen):
            break
        if has_reached(positions, core, here, rules):
            break
    return total


def core_score(
    sites: Sequence[Sequence[int]], positions: Sequence[float], core: int, rules: Rules, parted: Collection[int] = ()
) -> tuple[float, float, float] | str:
    """Return the two numbers that selscan writes for a core, and its score; or why there are none.

    They are the integrals of derived and ancestral haplotypes and log10 of their ratio. With genotypes they are log10
    of the ratios of the integrals of derived and of ancestral homozygotes to those of all others; the score is the
    first, or where it is not larger minus the second one.
    """
    counts = Counter(sites[core])
    if rules.unphased and (max(counts.values()) == len(sites[core]) or counts[1] / len(sites[core]) > 0.95):
        return "mostly heterozygous"
    if not rules.unphased and min(counts[0], counts[1]) == 1:
        return "allele of one haplotype"
    total: dict[str, float] = {}
    for step in (-1, 1):
        one = side(sites, positions, core, step, rules, parted)
        if isinstance(one, str):
            return one
        total = {name: total.get(name, 0.0) + value for name, value in one.items()}
    if min(total.values()) == 0:
        return "no homozygosity"
    if not rules.unphased:
        first, second = total["derived"], total["ancestral"]
        return first, second, math.log10(first / second)
    first = math.log10(total["derived"] / total["not derived"])
    second = math.log10(total["ancestral"] / total["not ancestral"])
    return first, second, first if first > second else -second


def compared_side(
    sites: Sequence[Sequence[int]], positions: Sequence[float], core: int, step: int, first: int, rules: Rules,
    parted: Collection[int] = (),
) -> tuple[float, float] | str:  # fmt: skip
    """Return the integrals of two populations on one side of a core, or why there are none; parameters as `side`.

    The first `first` haplotypes are those of the first population.
    """
    populations = slice(None, first), slice(first, None)
    here, seen = core, [tuple[int, ...]((allele,)) for allele in sites[core]]
    totals, before = [0.0, 0.0], [homozygosity(seen[own]) for own in populations]
    while homozygosity(seen) > CUTOFF:
        weight = weight_of_step(positions, here, step, rules, parted)
        if isinstance(weight, str):
            return weight
        if weight is None:
            break
        here += step
        seen = [(*alleles, allele) for alleles, allele in zip(seen, sites[here], strict=True)]
        for number, own in enumerate(populations):
            now = homozygosity(seen[own])
            totals[number] += (before[number] + now) / 2 * weight
            before[number] = now
        if has_reached(positions, core, here, rules):
            break
    return totals[0], totals[1]


def compared_score(
    sites: Sequence[Sequence[int]], positions: Sequence[float], core: int, first: int, rules: Rules,
    parted: Collection[int] = (),
) -> tuple[float, float, float] | str:  # fmt: skip
    """Return the integrals of two populations at a core and log10 of their ratio; or why there are none."""
    totals = [0.0, 0.0]
    for step in (-1, 1):
        one = compared_side(sites, positions, core, step, first, rules, parted)
        if isinstance(one, str):
            return one
        totals = [total + value for total, value in zip(totals, one, strict=True)]
    if min(totals) == 0:
        return "no homozygosity"
    return totals[0], totals[1], math.log10(totals[0] / totals[1])
