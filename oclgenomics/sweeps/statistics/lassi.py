"""LASSI's T and saltiLASSI's L: how much better a sweep explains the most common haplotypes of windows than neutrality.

Log likelihoods are sums over haplotypes of their counts times a number of each model, so windows are weighted and added
up before they meet the models: a product of small matrices for each window and decay. Threads share windows out.
"""

from __future__ import annotations

import math

import numpy as np

from oclgenomics.io.cores import usable_cores
from oclgenomics.io.workers import Workers
from oclgenomics.sweeps.arrays import Floats

KEPT = 10  # most common haplotypes
REACH = 100_000.0  # bp, of windows that L takes on either side
LARGEST, LEAST = 0.99999, 0.00001  # weight of the nearest window with the slowest decay, and with the fastest one
DECAYS = 101
CHUNK = 1 << 19  # weights at a time, so that caches hold most of them
THREADS = 8


def sweep_models(neutral: Floats) -> Floats:
    """Return the spectra of all sweeps that are considered, float64 (models, haplotypes); `reference` defines them.

    Parameters
    ----------
    neutral : ndarray of float64, shape (haplotypes,)
        Mean frequencies of the most common haplotypes, descending. If the last one is smaller than the smallest
        frequency considered, there is no model.
    """
    kept, least = len(neutral), float(neutral[-1])
    each = 1 / (100 * kept)
    epsilons = np.cumsum(np.full(int(least / each) + 2, each))
    epsilons = epsilons[epsilons <= least]
    found = [np.zeros((0, kept))]
    for m in range(1, kept):
        share = np.arange(kept - m) / max(kept - m - 1, 1) if m < kept - 1 else np.ones(1)
        tail = least - share * (least - epsilons[:, None])
        weights = np.exp(-np.arange(1.0, m + 1))
        moved = neutral[m:].sum() - tail.sum(axis=1, keepdims=True)
        found.append(np.concatenate([neutral[:m] + weights / weights.sum() * moved, tail], axis=1))
    return np.concatenate(found)


def _advantages(neutral: Floats) -> Floats:
    """What a haplotype of each rank adds to the log likelihood of each model, (haplotypes, models)."""
    models = sweep_models(neutral)
    known = neutral > 0  # where there is no haplotype, none is counted
    found = np.zeros_like(models)
    found[:, known] = np.log(models[:, known] / neutral[known])
    return np.ascontiguousarray(found.T)


def lassi_values(counts: Floats, neutral: Floats) -> Floats:
    """Return T of windows, float64 (windows,).

    Parameters
    ----------
    counts : ndarray of float64, shape (windows, haplotypes)
        Frequencies among the most common haplotypes, times the number of all haplotypes of the window.
    neutral : ndarray of float64, shape (haplotypes,)
    """
    advantages = _advantages(neutral)
    if not advantages.shape[1]:
        return np.zeros(len(counts))
    found: Floats = 2 * np.maximum((counts @ advantages).max(axis=1), 0.0)
    return found


def least_distance(at: Floats) -> float:
    """Return the smallest distance of two neighbouring windows that is not 0; infinity without any."""
    apart = np.diff(at)
    return float(apart[apart > 0].min()) if (apart > 0).any() else math.inf


def saltilassi_values(at: Floats, counts: Floats, neutral: Floats, least: float) -> Floats:
    """Return L at windows of one chromosome, float64 (windows,).

    Parameters
    ----------
    at : ndarray of float64, shape (windows,)
        Their positions, ascending.
    counts : ndarray of float64, shape (windows, haplotypes)
        As for `lassi_values`.
    neutral : ndarray of float64, shape (haplotypes,)
    least : float
        Smallest distance of two windows, by which decays are chosen.
    """
    advantages = _advantages(neutral)
    if not len(at) or not advantages.shape[1]:
        return np.zeros(len(at))
    if not math.isfinite(least):  # windows at one place, which have one weight
        return lassi_values(np.broadcast_to(counts.sum(axis=0), counts.shape), neutral)
    ends = np.log([-math.log(LARGEST) / least, -math.log(LEAST) / least])
    decays = np.exp(ends[0] + (ends[1] - ends[0]) * np.arange(DECAYS) / (DECAYS - 1))
    first = np.maximum(np.searchsorted(at, at - REACH, side="left") - 1, 0)
    stop = np.minimum(np.searchsorted(at, at + REACH, side="right") + 1, len(at))
    each = max(1, CHUNK // (DECAYS * max(advantages.shape[1], int((stop - first).max()))))

    def best(begin: int) -> Floats:
        own = slice(begin, begin + each)
        low, high = int(first[own].min()), int(stop[own].max())
        other = np.arange(low, high)
        used = (other >= first[own, None]) & (other < stop[own, None])
        distance = np.where(used, np.abs(at[low:high] - at[own, None]), np.inf)
        weights = np.exp(-decays[:, None, None] * distance)
        gains = (weights @ counts[low:high]).reshape(-1, counts.shape[1]) @ advantages
        of_own: Floats = np.maximum(gains.max(axis=1).reshape(DECAYS, -1).max(axis=0), 0.0)
        return of_own

    with Workers(min(THREADS, usable_cores())) as threads:
        parts = list(threads.map(best, range(0, len(at), each)))
    return 2 * np.concatenate(parts)
