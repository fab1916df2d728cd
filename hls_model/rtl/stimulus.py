"""A grid position as the Verilog takes it: settings, and the columns of M as port beats. See docs/how/fpga.md."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.functional import Sums

__all__ = ["beat_order", "port_beats", "stimulus"]

Words = NDArray[np.uint32]
PADDING = np.float32(1e30)  # in RS and TS alike it makes an omega that would win if its lane were not masked
LIMITS = {  # of the registers and memories in omega_top.v
    "memory.fifo_beats": 256,
    "memory.outstanding": 128,
    "memory.burst_length": 65_535,
    "latency": 1 << 30,
    "ii": 60_000,
    "fsm_cycles": 60_000,
    "rs_buffer_words / lanes": 1024,
}


def beat_order(right: int, config: Config) -> NDArray[np.int64]:
    """Return the right-side iteration of each beat and lane, int64 (beats, lanes); -1 where the lane is masked."""
    inside = right - (right % config.unroll if config.remainder == "software" else 0)
    lanes = config.lanes
    beats = -(-inside // lanes)
    beat, lane = np.arange(beats)[:, None], np.arange(lanes)
    stretch, longer = divmod(inside, lanes)
    if config.lane_map == "interleaved":
        order = beat * lanes + lane
        return np.where(order < inside, order, -1)
    order = lane * stretch + np.minimum(lane, longer) + beat
    return np.where(beat < stretch + (lane < longer), order, -1)


def stimulus(sums: Sums, config: Config, *, trace: bool = False) -> bytes:
    """Return a position as `bench.cpp` reads it.

    Parameters
    ----------
    sums : Sums
        Operands; the position needs a beat at least.
    config : Config
        The design and its memory.
    trace : bool
        Ask for the cycle of every beat's issue.

    Raises
    ------
    ModelError
        Settings beyond what the Verilog has registers for.
    """
    order = beat_order(sums.right, config)
    streamed = config.rs_prefetch == "none"
    most = len(order) if streamed else min(config.rs_buffer_words // config.lanes, len(order))
    _check(config, 1 if streamed else most)
    tiles = [order[start : start + most] for start in range(0, len(order), most)]
    inside = int((order >= 0).sum())
    RS, TS = np.append(sums.RS, PADDING), np.concatenate([sums.TS, np.full((sums.left, 1), PADDING)], axis=1)
    if streamed:
        both = np.concatenate([np.broadcast_to(RS[order], (sums.left, *order.shape)), TS[:, order]], axis=2)
        rs_ports, ts_ports = [], [port_beats(both, config)]
    else:
        rs_ports = [port_beats(RS[None, tile], config) for tile in tiles]
        ts_ports = [port_beats(TS[:, tile], config) for tile in tiles]
    rs_memory, ts_memory = (
        [_from_burst_starts(ports, config) for ports in columns] for columns in (rs_ports, ts_ports)
    )
    memory = np.concatenate([*rs_memory, *ts_memory])
    settings = [
        *_design_words(config),
        sums.left, len(tiles),
        len(tiles[0]), ts_ports[0].shape[1], len(tiles[-1]), ts_ports[-1].shape[1],
        int((order[-1] >= 0).sum()), *divmod(inside, config.lanes), sums.first_left, sums.first_right,
        *_memory_words(config),
        sum(map(len, rs_memory)), len(memory), config.memory.port_bits // 8, trace,
    ]  # fmt: skip
    return np.array(settings, "<u4").tobytes() + b"".join(a.astype("<f4").tobytes() for a in (sums.LS, memory))


def port_beats(columns: NDArray[np.float32], config: Config) -> NDArray[np.float32]:
    """Lay columns, float32 (columns, beats, words), out as port beats, (columns, port beats, words of one)."""
    width = config.memory.words_per_beat
    count, beats, words = columns.shape
    shared = max(1, width // words)
    whole = -(-beats // shared) * shared
    columns = np.pad(columns, ((0, 0), (0, whole - beats), (0, 0)), constant_values=PADDING)
    groups = columns.reshape(count * whole // shared, shared * words)
    filled = -(-groups.shape[1] // width) * width
    groups = np.pad(groups, ((0, 0), (0, filled - groups.shape[1])), constant_values=PADDING)
    return groups.reshape(count, -1, width)


def _from_burst_starts(columns: NDArray[np.float32], config: Config) -> NDArray[np.float32]:
    """Lay port beats of columns out in memory, each column from a multiple of the burst length on; (n, words of one).

    A burst whose bytes divide 4 KB does not cross a multiple of these, then.
    """
    spare = -columns.shape[1] % config.memory.burst_length
    return np.pad(columns, ((0, 0), (0, spare), (0, 0)), constant_values=PADDING).reshape(-1, columns.shape[2])


def _design_words(config: Config) -> list[int]:
    memory = config.memory
    return [
        config.overlap_outer, config.rs_prefetch == "per_outer", config.lane_map == "blocked",
        memory.burst_length, memory.outstanding, memory.fifo_beats, config.ii, config.fsm_cycles,
    ]  # fmt: skip


def _memory_words(config: Config) -> list[int]:
    memory = config.memory
    pace = config.pace
    late_below, stall_below = (
        ceil(Fraction(percent) * 65536 / 100) for percent in (memory.random_gap_percent, memory.random_stall_percent)
    )
    return [
        config.latency, memory.burst_gap, pace.numerator, pace.denominator, late_below,
        stall_below, memory.random_gap_seed & 0xFFFFFFFF,
    ]  # fmt: skip


def _check(config: Config, buffer_beats: int) -> None:
    memory = config.memory
    values = (
        memory.fifo_beats, memory.outstanding, memory.burst_length, config.latency, config.ii, config.fsm_cycles,
        buffer_beats,
    )  # fmt: skip
    for (name, limit), value in zip(LIMITS.items(), values, strict=True):
        if value > limit:
            raise ModelError(f"{name} is {value}; the Verilog takes {limit} at most")
