"""The phases of the omegas: layout of columns, starts of kernels, the pipelines, what runs during them, and results.

Columns come to start at port beats by a copy on the card, by a shifter at the ports, or by the host. In M a position's
columns start anywhere within a port beat. The pipelines (and the Verilog) take columns that start with one, beats of
lanes one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import WORD_BITS, Config
from hls_model.paper.published import OVERHEAD_US
from hls_model.phases.phase import Phase
from hls_model.phases.rates import (
    CARD_MEMORY,
    HOST_LINK,
    RESULT_BYTES,
    host_copy_seconds,
    host_of,
    link_phase,
    stream_seconds,
)
from hls_model.ranges import Range
from hls_model.resources.engines import shifter_stages
from hls_model.timing import Timing
from hls_model.timing.passes import split
from hls_model.workload import Workload

WORD = WORD_BITS // 8
PIPELINES = "omega pipelines"
COPIER = "a copier of columns; at most, it waits for the first data of each"
COLUMN_BY_COLUMN = "At most: each column is asked for when the one before has been written."
PAPER = (
    "The paper says that OmegaPlus' memory layout was transformed so that sums are fetched efficiently, and not how "
    "long that takes (section V)."
)


@dataclass(frozen=True)
class BlockBytes:
    """The blocks of all positions that the pipelines take.

    Attributes
    ----------
    columns : int
        Of TS and RS; each is read once, streamed RS with every column.
    read, written : int
        Bytes of a copy: whole port beats, one more to read because a column starts within one.
    """

    columns: int
    read: int
    written: int


def block_bytes(workload: Workload, config: Config) -> BlockBytes:
    """Return what a copy of every position's block moves: its TS columns, and RS once or with each of them."""
    _, columns, beats = _columns(workload, config)
    beat_bytes = config.memory.words_per_beat * WORD
    return BlockBytes(
        int(columns.sum()), int(np.sum(columns * (beats + 1))) * beat_bytes, int(np.sum(columns * beats)) * beat_bytes
    )


def largest_block(workload: Workload, config: Config) -> int:
    """Return the bytes of the largest copy of a position's block, all its tiles together."""
    position, columns, beats = _columns(workload, config)
    whole = np.zeros(len(workload.left), np.int64)
    np.add.at(whole, position, columns * beats)
    return int(whole.max(initial=0)) * config.memory.words_per_beat * WORD


def _columns(workload: Workload, config: Config) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Position, columns of TS and RS, and port beats of each, of all passes."""
    passes = split(workload, config)
    streamed = config.rs_prefetch == "none"
    columns = passes.columns * (2 if streamed else 1) + (0 if streamed else 1)
    return passes.position, columns, -(-passes.beats * config.lanes // config.memory.words_per_beat)


def layout_phases(workload: Workload, config: Config) -> tuple[Phase, ...]:
    """Return the phases that lay out columns; none where the pipelines do nothing."""
    blocks = block_bytes(workload, config)
    if not blocks.columns:
        return ()
    if config.host_transfer == "full":
        return (_by_host(blocks, config),)
    if config.layout == "repacked":
        return (_repacked(blocks, config),)
    return (_shifted(blocks, config), *([_permuted(blocks, config)] if config.lane_map == "blocked" else []))


def _repacked(blocks: BlockBytes, config: Config) -> Phase:
    together = ("The order of blocked lanes comes with the copy.",) if config.lane_map == "blocked" else ()
    return Phase(
        "repack blocks of M", "card", _copied(blocks, config, blocks.read, blocks.written),
        blocks.read + blocks.written, 0, "",
        ("Every position's block is copied before the pipelines start on it.", COLUMN_BY_COLUMN, PAPER, *together,
         *CARD_MEMORY),
        unbuilt=COPIER,
    )  # fmt: skip


def _copied(blocks: BlockBytes, config: Config, read: int, written: int) -> Range:
    """Seconds of a copy on the card; at most, each column is waited for before the next one is asked for."""
    waits = blocks.columns * config.latency / (config.clock_mhz * 1e6)
    return stream_seconds(config, read, written) + Range(0.0, 0.0, waits)


def _shifted(blocks: BlockBytes, config: Config) -> Phase:
    """One more port beat a column, and the shifter's registers where a column waits for its first beat."""
    hertz = config.clock_mhz * 1e6
    late = 0 if config.overlap_outer else shifter_stages(config)
    beat = blocks.columns / config.kernels / hertz
    return Phase(
        "shift columns", "card",
        Range(late * beat, (1 + late) * beat, (float(config.pace) + shifter_stages(config)) * beat),
        blocks.read - blocks.written, 0, "",
        (
            f"A shifter of whole words at the ports: one more port beat a column, and {late} cycles of its registers; "
            "at least: ports that are ahead of the lanes hide the beat; at most: its registers delay every column.",
            *(["Assumed: kernels have a shifter each and equally many columns."] if config.kernels > 1 else []),
            "The Verilog has no such shifter; its cycles are added to those of the pipelines.",
        ),
        unbuilt="a shifter at the ports; at most, every column takes a beat of the banks and all registers more",
    )  # fmt: skip


def _permuted(blocks: BlockBytes, config: Config) -> Phase:
    return Phase(
        "permute for blocked lanes", "card", _copied(blocks, config, blocks.written, blocks.written),
        2 * blocks.written, 0, "",
        ("Blocked lanes need every block in another order; without a copy, a pass of its own.", COLUMN_BY_COLUMN,
         *CARD_MEMORY),
        unbuilt=COPIER,
    )  # fmt: skip


def _by_host(blocks: BlockBytes, config: Config) -> Phase:
    moved = 2 * blocks.written
    return Phase(
        "repack blocks of M", "host", host_copy_seconds(config, moved), moved, 0, "",
        ("Assumed: one core copies every position's block into a buffer, as fast as its memory.", PAPER),
        PIPELINES if config.host_overlap else None,
    )  # fmt: skip


def starts_each(config: Config) -> bool:
    """Whether what a position costs outside the pipelines is the start of a kernel, and no figure of the design's."""
    return config.launch == "per_position" and not config.position_overhead_us


def launch_phase(timing: Timing, engines: int, stretches: int = 1) -> Phase:
    """Return the starts of the pipelines in each stretch of the scan, and so many of other engines."""
    config = timing.config
    positions = int((timing.position_cycles > 0).sum())
    starts = positions if starts_each(config) else min(positions, config.kernels * stretches)
    others = config.hardware.launch_us.times(1e-6 * engines)
    return Phase(
        "start kernels", "host", _starts(timing, starts, stretches) + others, 0, starts + engines, "starts",
        ("Microseconds of a start are the board's (hls_model.boards).", *_said(config)),
    )  # fmt: skip


def _starts(timing: Timing, starts: int, stretches: int) -> Range:
    """Seconds by which the starts of the pipelines make a scan longer, those of several kernels side by side."""
    start = timing.config.hardware.launch_us
    if not starts_each(timing.config):
        one = start.times(1e-6 * min(starts, stretches))
        return Range(one.low, one.likely, max(one.high, start.high * 1e-6 * starts))
    without = timing.seconds_with_overhead(0.0)
    position = Range(start.low, start.likely, max(start.high, OVERHEAD_US))
    return position.each(lambda microseconds: timing.seconds_with_overhead(microseconds) - without)


def _said(config: Config) -> tuple[str, ...]:
    """What is assumed of the starts of the pipelines."""
    if config.position_overhead_us:
        return ("The pipelines are started once; what a position costs is position_overhead_us.",)
    if config.launch == "per_scan":
        return (
            "The pipelines are started once, with the list of positions in the card's memory.",
            "Assumed: starts of several kernels go on side by side; at most: one after the other.",
        )
    return (
        "The pipelines are started at every grid position; the paper counts no starts.",
        f"At most: the {OVERHEAD_US:g} us a position that fit Table III of the paper (position_overhead_us), of which "
        "a start is a part; they count here, and not with the pipelines.",
        "Assumed: starts of several kernels go on side by side; with several positions in flight, what runs beside "
        "the columns of another position is left out.",
    )


def omega_phases(timing: Timing, pipelines: Range) -> tuple[Phase, ...]:
    """Return the pipelines, whose seconds are given, and what runs during or after them."""
    why = f"Cycles of the model at level {timing.level}, which the Verilog confirms (fpga validate)."
    at_work = Phase(PIPELINES, "card", pipelines, 0, timing.hardware_omegas, "omegas", (why,))
    return (at_work, *_m_sent(timing), *_remainder(timing))


def _m_sent(timing: Timing) -> list[Phase]:
    config = timing.config
    if not timing.transfer_bytes:
        return []
    what = "every position's block" if config.host_transfer == "full" else "each element of M once"
    positions = int((timing.workload.left * timing.workload.right > 0).sum())
    why = (f"Over the link goes {what}, in a transfer for each position.", HOST_LINK)
    beside = PIPELINES if config.host_overlap else None
    return [link_phase("send M", config, timing.transfer_bytes, why, transfers=positions, beside=beside)]


def _remainder(timing: Timing) -> list[Phase]:
    """Software's omegas; where M is built on the card, their elements have to be fetched first."""
    config, omegas = timing.config, timing.software_omegas
    if not omegas:
        return []
    said = "its rate is software_rate, by default the paper's CPU in Table III"
    if host_of(config.hardware).embedded:
        said += ", and the processor on this board is slower (set software_rate)"
    software = Phase(
        "remainder", "host", Range.exactly(timing.software_seconds), 0, omegas, "omegas",
        (f"One core computes what is left of right sides after a division by the unroll; {said}.",),
        PIPELINES if config.software_overlap else None,
    )  # fmt: skip
    if config.host_transfer != "none":
        return [software]
    why = "Software needs an element of M for each of its omegas, and M is on the card; the paper does not count it."
    beside = PIPELINES if config.host_overlap else None
    return [link_phase("fetch remainder of M", config, WORD * omegas, (why, HOST_LINK), beside=beside), software]


def result_phase(timing: Timing) -> Phase:
    """Return the way of the maxima and their places back to the host, after the last position."""
    moved = RESULT_BYTES * int((timing.position_cycles > 0).sum())
    why = (
        "A maximum and its two places for each position, in one transfer at the end; writing them on the card takes no "
        "time of its own."
    )
    return link_phase("fetch results", timing.config, moved, (why, HOST_LINK))
