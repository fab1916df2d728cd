"""How the columns of a position come to start at port beats: a copy on the card, a shifter at the ports, or the host.

In M a position's columns start anywhere within a port beat. The pipelines (and the Verilog) take columns that start
with one, beats of lanes one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import WORD_BITS, Config
from hls_model.phases.memory import CARD_MEMORY, host_copy_seconds, stream_seconds
from hls_model.phases.phase import Phase
from hls_model.ranges import Range
from hls_model.resources.engines import shifter_stages
from hls_model.timing.passes import split
from hls_model.workload import Workload

__all__ = ["BlockBytes", "block_bytes", "largest_block", "layout_phases"]

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
    """Return what a copy of every position's block moves: its TS columns, and RS once or beside each of them."""
    _, columns, beats = _columns(workload, config)
    beat_bytes = config.memory.words_per_beat * WORD
    return BlockBytes(
        int(columns.sum()),
        int(np.sum(columns * (beats + 1))) * beat_bytes,
        int(np.sum(columns * beats)) * beat_bytes,
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
