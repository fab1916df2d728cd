"""The phases up to a complete M: packing, the way to the card, LD, and Eq. (3) on the card or by the host.

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

from hls_model.config import WORD_BITS, Config, Ld
from hls_model.ld import time_ld
from hls_model.phases.phase import Phase
from hls_model.phases.rates import (
    CARD_MEMORY,
    HOST_LINK,
    bank_seconds,
    host_copy_seconds,
    host_of,
    link_phase,
    slower,
    stream_seconds,
)
from hls_model.ranges import Range
from hls_model.workload import Workload, blocks_of, reaches

PACKED = "Genotypes are bits without missing states, filled up to words; a mask of missing ones would double them."


def genotype_phases(workload: Workload, config: Config, *, all_pairs: bool) -> tuple[Phase, ...]:
    """Return the phases up to r2; none where the samples are not known or no pair is needed."""
    pairs = workload.ld_scores if all_pairs else workload.window_pairs
    if not workload.samples or not pairs:
        return ()
    if config.ld == "published":
        return (_published(workload, config, pairs),)
    return (*_to_card(workload, config), _ld_on_card(workload, config, pairs, all_pairs=all_pairs))


def _to_card(workload: Workload, config: Config) -> tuple[Phase, Phase]:
    genotypes = workload.snps * workload.samples
    words = -(-workload.samples // config.ld_word_bits)
    sent = workload.snps * words * config.ld_word_bits // 8
    host = host_of(config.hardware)
    rate = host.pack_gbps
    packing = rate.times(1e9).under(genotypes)
    return (
        Phase(
            "pack genotypes", "host", packing, genotypes + sent, genotypes, "genotypes",
            (f"Assumed: {rate.low:g} to {rate.high:g} GB/s, {host.note}.", PACKED),
        ),
        link_phase("send genotypes", config, sent, (HOST_LINK, PACKED)),
    )  # fmt: skip


def _ld_on_card(workload: Workload, config: Config, pairs: int, *, all_pairs: bool) -> Phase:
    found = time_ld(workload, config, all_pairs=all_pairs)
    hertz, moved = config.clock_mhz * 1e6, found.bytes_read + found.bytes_written
    published = pairs * workload.samples / config.ld_bits_per_s
    cycles = Range(found.cycles / hertz, found.cycles / hertz, max(found.serial_cycles / hertz, published))
    return Phase(
        "LD", "card", slower(cycles, bank_seconds(config, moved)), moved, pairs, "pairs",
        (
            f"The engine of hls_model.ld with {config.ld_units} units of {config.ld_word_bits} bit, bound by its "
            f"{found.bound}; no such engine was built, and its clock is that of the design (assumed).",
            "At most: it finishes each tile before it loads the next one, and is no faster than the accelerator that "
            f"was built and published ({config.ld_bits_per_s:g} genotype bits a second, ld_bits_per_s).",
            PACKED,
        ),
        unbuilt="an array of population counters; at most as slow as the published accelerator, "
        f"{config.ld_bits_per_s:g} genotype bits a second",
    )  # fmt: skip


def _published(workload: Workload, config: Config, pairs: int) -> Phase:
    return Phase(
        "LD", "elsewhere", Range.exactly(pairs * workload.samples / config.ld_bits_per_s), 0, pairs, "pairs",
        (
            f"{config.ld_bits_per_s:g} genotype bits a second: Table III of the paper, which takes LD from Bozikas et "
            "al. (FPGA, four Virtex-6 LX760 of a Convey HC-2ex) and says that this partially underestimates the time "
            "to access SNPs in memory.",
            "How genotypes reach that platform and r2 leaves it is not counted.",
        ),
    )  # fmt: skip


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
        return (*_r2_moved("send r2", workload, config, there="card"), _m_on_card(workload, config))
    return (*_r2_moved("fetch r2", workload, config, there="published"), _m_on_host(workload, config))


def _r2_moved(name: str, workload: Workload, config: Config, *, there: Ld) -> tuple[Phase, ...]:
    """The way of r2 to where M is built; none where LD is computed `there`, or not known for want of samples."""
    if config.ld == there or not workload.samples:
        return ()
    return (link_phase(name, config, WORD * workload.window_pairs, (HOST_LINK,)),)


def _m_on_card(workload: Workload, config: Config) -> Phase:
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


def _m_on_host(workload: Workload, config: Config) -> Phase:
    elements = workload.window_pairs
    moved = 3 * WORD * elements  # r2 and the column to the right are read, the column is written
    return Phase(
        "build M", "host", host_copy_seconds(config, moved), moved, ADDITIONS * elements, "additions",
        ("Assumed: one core adds as fast as its memory brings 12 bytes an element (Eq. (3) of the paper).",),
    )  # fmt: skip
