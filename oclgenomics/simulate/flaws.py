"""What befalls real data, done to simulated ones: missing calls, third alleles, lost phase."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_missing", "add_third_alleles", "lose_phase"]


def add_missing(
    states: NDArray[np.uint8], rate: float, rng: np.random.Generator, *, missing: int, ploidy: int = 1
) -> NDArray[np.uint8]:
    """Make calls missing at random.

    Parameters
    ----------
    states : uint8 (rows, columns)
        Alleles; with ploidy 2 the columns 2s and 2s + 1 are one call and go missing together.
    rate : float
        Probability of each call to be missing.
    missing : int
        State to write.

    Returns
    -------
    uint8 (rows, columns)
        A copy, or `states` itself when the rate is 0.
    """
    if rate == 0:
        return states
    lost = rng.random((states.shape[0], states.shape[1] // ploidy), np.float32) < rate
    return np.where(np.repeat(lost, ploidy, axis=1), np.uint8(missing), states)


def add_third_alleles(states: NDArray[np.uint8], rate: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Turn some sites triallelic: each derived copy becomes state 2 with probability 1/2, but neither none nor all.

    Parameters
    ----------
    states : uint8 (sites, haplotypes)
        0 ancestral, 1 derived.
    rate : float
        Probability of each site with two or more derived copies to become triallelic.

    Returns
    -------
    uint8 (sites, haplotypes)
        A copy, or `states` itself when the rate is 0.
    """
    if rate == 0:
        return states
    changed = states.copy()
    for site in np.flatnonzero((rng.random(len(states)) < rate) & (states.sum(axis=1) >= 2)):
        carriers = np.flatnonzero(states[site])
        second = rng.random(len(carriers)) < 0.5
        second[rng.permutation(len(carriers))[:2]] = (False, True)
        changed[site, carriers[second]] = 2
    return changed


def lose_phase(
    states: NDArray[np.uint8], rate: float, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Forget which haplotype carries which allele, for diploid calls at random.

    Parameters
    ----------
    states : uint8 (sites, haplotypes)
        Columns 2s and 2s + 1 are one call.
    rate : float
        Probability of each call to lose its phase; its alleles are then in ascending order.

    Returns
    -------
    uint8 (sites, haplotypes), bool (sites, haplotypes / 2)
        The states, and where the phase is lost.
    """
    shape = (states.shape[0], states.shape[1] // 2)
    if rate == 0:
        return states, np.zeros(shape, bool)
    lost = rng.random(shape, np.float32) < rate
    pairs = states.reshape(*shape, 2)
    pairs = np.where(lost[:, :, None], np.sort(pairs, axis=2), pairs)
    return pairs.reshape(states.shape), lost
