"""The matrix M of Eq. (3): built on the card, or by the host and sent.

Column l of M holds the sums over SNPs l to r, for all r to its right up to the last with which l shares a window. With
R(l, r), the sum of r2 of l with l + 1 to r, Eq. (3) is

    R(l, r) = R(l, r - 1) + r2(l, r)           M(l, r) = M(l + 1, r) + R(l, r)

so columns are built from the right to the left, two additions an element. A running sum waits for its adder; a pair of
adders therefore takes as many neighbouring columns in turn as an adder has cycles, and each of them hands its elements
to the next. So each pair gives an element a cycle, r2 is read and M written once, and of the columns that A pairs take
together only the first reads the column to its right from memory. A group is timed as if its first column reached as
far as its last one. M takes the place of r2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import WORD_BITS, Config
from hls_model.phases.memory import (
    CARD_MEMORY,
    HOST_LINK,
    host_copy_seconds,
    link_seconds,
    slower,
    stream_seconds,
)
from hls_model.phases.phase import Phase
from hls_model.ranges import Range
from hls_model.reach import blocks_of, reaches
from hls_model.workload import Workload

__all__ = ["MatrixTiming", "build_columns", "matrix_phases", "time_matrix"]

WORD = WORD_BITS // 8
ADDITIONS = 2  # of an element


@dataclass(frozen=True)
class MatrixTiming:
    """The building of M on the card.

    Attributes
    ----------
    elements : int
        Of M, off its diagonal.
    cycles : int
        Of the adders, as if memory kept up.
    waiting_cycles : int
        Of adders that take no neighbouring columns in turn: every element waits for the sum before it.
    bytes_read, bytes_written : int
        Of the card's memory.
    """

    elements: int
    cycles: int
    waiting_cycles: int
    bytes_read: int
    bytes_written: int


def time_matrix(workload: Workload, config: Config) -> MatrixTiming:
    """Time the building of M for a scan by the design's adders."""
    adder = config.latencies.fadd
    together = adder * config.matrix_adders
    elements = workload.window_pairs
    blocks = blocks_of(reaches(workload), together)
    longest = blocks.last - blocks.first
    cycles = int((adder * longest + config.latency + ADDITIONS * adder).sum())
    return MatrixTiming(elements, cycles, adder * cycles, WORD * (elements + int(longest.sum())), WORD * elements)


def build_columns(r2: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return M as the card builds it, [l, r] being the sum of r2 over all pairs of SNPs from l to r.

    Parameters
    ----------
    r2 : ndarray, float64 (snps, snps)
        Used where the second index is greater.
    """
    snps = len(r2)
    matrix = np.zeros((snps, snps))
    for left in range(snps - 2, -1, -1):
        running = np.cumsum(r2[left, left + 1 :])
        matrix[left, left + 1 :] = matrix[left + 1, left + 1 :] + running
    return matrix


def matrix_phases(workload: Workload, config: Config) -> tuple[Phase, ...]:
    """Return the phases between r2 and a complete M, on the card or in the host's memory."""
    if not workload.window_pairs:
        return ()
    if config.host_transfer == "none":
        return (*_r2_sent(workload, config), _on_card(workload, config))
    return (*_r2_fetched(workload, config), _on_host(workload, config))


def _r2_sent(workload: Workload, config: Config) -> tuple[Phase, ...]:
    """The way of r2 to the card from where the published LD comes; none where the samples, so LD, are not known."""
    if config.ld == "card" or not workload.samples:
        return ()
    moved = WORD * workload.window_pairs
    return (Phase("send r2", "link", link_seconds(config, moved), moved, 0, "", (HOST_LINK,)),)


def _r2_fetched(workload: Workload, config: Config) -> tuple[Phase, ...]:
    if config.ld != "card" or not workload.samples:
        return ()
    moved = WORD * workload.window_pairs
    return (Phase("fetch r2", "link", link_seconds(config, moved), moved, 0, "", (HOST_LINK,)),)


def _on_card(workload: Workload, config: Config) -> Phase:
    found = time_matrix(workload, config)
    moved = found.bytes_read + found.bytes_written
    hertz = config.clock_mhz * 1e6
    adders = Range(found.cycles / hertz, found.cycles / hertz, found.waiting_cycles / hertz)
    memory = stream_seconds(config, found.bytes_read, found.bytes_written)
    alone = stream_seconds(config, 2 * WORD * found.elements, found.bytes_written)  # each column reads its neighbour
    return Phase(
        "build M", "card", slower(slower(adders, memory), Range(0.0, 0.0, alone.high)), moved,
        ADDITIONS * found.elements, "additions",
        (
            f"Eq. (3) of the paper, column by column from the right, with {config.matrix_adders} pairs of adders that "
            "each give an element a cycle; the paper does not say where M is built or how long it takes.",
            "At most: every element waits for the sum before it, and every column reads its neighbour from memory, 12 "
            "bytes an element.",
            "M takes 4 bytes an element of the card's memory, in the place of r2; what does not fit is done in "
            "stretches.",
            *CARD_MEMORY,
        ),
        unbuilt="pairs of adders; at most, they wait for every sum",
    )  # fmt: skip


def _on_host(workload: Workload, config: Config) -> Phase:
    elements = workload.window_pairs
    moved = 3 * WORD * elements  # r2 and the column to the right are read, the column is written
    return Phase(
        "build M", "host", host_copy_seconds(config, moved), moved, ADDITIONS * elements, "additions",
        ("Assumed: one core adds as fast as its memory brings 12 bytes an element (Eq. (3) of the paper).",),
    )  # fmt: skip
