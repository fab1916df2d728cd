"""Decisions of a scan for signatures: pure arithmetic, tested without a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CPU_COSTS",
    "GPU_COSTS",
    "MethodCosts",
    "PairPart",
    "index_cost",
    "parts_of_pairs",
    "planes_cost",
]

MATCHES_AT_ONCE = 1 << 19  # that are listed; a writer of text takes up to a kilobyte of memory for each


@dataclass(frozen=True)
class PairPart:
    """Some of a block's pairs, whose matches are listed together.

    Attributes
    ----------
    begin, end : int
        The pairs begin .. end - 1.
    first_piece, end_piece : int
        The pieces first_piece .. end_piece - 1, those without pairs included.
    again : bool
        The part before has pairs of the first piece, too.
    goes_on : bool
        The next part has pairs of the last piece, too.
    """

    begin: int
    end: int
    first_piece: int
    end_piece: int
    again: bool
    goes_on: bool


def parts_of_pairs(
    piece: NDArray[np.uint32], hits: NDArray[np.uint32], pieces: int, most: int = MATCHES_AT_ONCE
) -> Iterator[PairPart]:
    """Cut pairs, ordered by piece, into parts of at most `most` matches; a pair that has more is a part of its own.

    Parameters
    ----------
    piece, hits : ndarray, uint32
        The piece of each pair, and the number of its matches.
    pieces : int
        Pieces of the block.
    most : int

    Yields
    ------
    PairPart
        At least one.
    """
    ends = np.cumsum(hits, dtype=np.int64)
    begin, first, again = 0, 0, False
    while True:
        before = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, before + most, side="right")), min(begin + 1, len(hits)))
        done = end == len(hits)
        goes_on = not done and piece[end] == piece[end - 1]
        stop = pieces if done else int(piece[end]) + int(goes_on)
        yield PairPart(begin, end, first, stop, again, bool(goes_on))
        if done:
            return
        begin, first, again = end, stop - int(goes_on), bool(goes_on)


@dataclass(frozen=True)
class MethodCosts:
    """What methods take, in nanoseconds of a device and its host.

    Attributes
    ----------
    look_up : float
        Of the index, for a letter of a sample.
    candidate : float
        Of the index, for a seed that has to be compared with the sample.
    compare : float
        Of the index, for each letter of a pattern until the sample's letters differ.
    seed : float
        To make the index, for a seed under one of its codes.
    plane : float
        Of bit planes, for a start, a pattern and a plane that is looked at.
    step : float
        To prepare bit planes, for a letter of a pattern.
    """

    look_up: float
    candidate: float
    compare: float
    seed: float
    plane: float
    step: float


# Measured with benchmarks/signatures.py: on two cores of 2024 (Zen 5) with Intel's runtime, and on an H200.
CPU_COSTS = MethodCosts(look_up=0.4, candidate=4.0, compare=0.035, seed=40.0, plane=0.0035, step=30.0)
GPU_COSTS = MethodCosts(look_up=0.01, candidate=0.04, compare=0.0005, seed=40.0, plane=0.000025, step=40.0)
MOST_AGREE = 0.99999
STARTS_TOGETHER = 512  # of a word of planes: planes are looked at until none of so many is left


def index_cost(
    costs: MethodCosts,
    letters: NDArray[Any],
    ambiguous: NDArray[Any],
    candidates: NDArray[Any],
    lengths: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return what the index takes, in nanoseconds.

    Parameters
    ----------
    costs : MethodCosts
    letters, ambiguous : ndarray of int
        Letters of samples, and how many of them are no single nucleotide.
    candidates : ndarray
        Seeds that have to be compared with each sample.
    lengths : ndarray, int64 (patterns,)
    """
    compared = np.minimum(1 / (1 - _agreeing(letters, ambiguous)), lengths.mean() if len(lengths) else 0)
    cost: NDArray[np.float64] = costs.look_up * letters + (costs.candidate + costs.compare * compared) * candidates
    return cost


def planes_cost(
    costs: MethodCosts, letters: NDArray[Any], ambiguous: NDArray[Any], lengths: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what bit planes take, in nanoseconds; parameters as those of `index_cost`."""
    planes = np.log(STARTS_TOGETHER) / -np.log(_agreeing(letters, ambiguous))
    looked_at = np.minimum(planes * len(lengths), lengths.sum())
    cost: NDArray[np.float64] = costs.plane * looked_at * letters
    return cost


def _agreeing(letters: NDArray[Any], ambiguous: NDArray[Any]) -> NDArray[np.float64]:
    """How likely a letter of each sample agrees with a nucleotide, by chance."""
    unknown = ambiguous / np.maximum(letters, 1)
    agreeing: NDArray[np.float64] = np.minimum(unknown + (1 - unknown) / 4, MOST_AGREE)
    return agreeing
