"""Seeded operands of a grid position, the same everywhere, and the position as the Verilog takes it.

That is settings, and the columns of M as port beats; see docs/how/fpga-cycles.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.functional import Sums

SPECIAL = np.array(
    [0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000], np.uint32
)


def operands(left: int, right: int, seed: int, kind: str = "plain") -> Sums:
    """Return operands of one of the `KINDS`.

    Parameters
    ----------
    left, right : int
        Trip counts.
    seed : int
        Seed, 0 to 2**32 - 1.
    kind : str
        `plain`: sums as an alignment has them. `ties`: half of all omegas are equal and the greatest. `tiny`: sums near
        the smallest numbers, so that operators flush. `special`: any bits, with zeros, infinities and NaN among them.

    Raises
    ------
    ModelError
        No such kind.
    """
    if kind not in KINDS:
        raise ModelError(f"{kind!r} is no kind of operands; choose one of {', '.join(KINDS)}")
    first = 2 + seed % 5, 2 + seed % 3
    return KINDS[kind](left, right, seed, first)


def _words(count: int, seed: int) -> NDArray[np.uint32]:
    """Hash the numbers from 0: uint32 (count,)."""
    x = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B9) + np.uint32((seed * 0x85EBCA6B + 1) & 0xFFFFFFFF)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def _uniform(count: int, seed: int) -> NDArray[np.float32]:
    return (_words(count, seed) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


def _plain(left: int, right: int, seed: int, first: tuple[int, int]) -> Sums:
    scores = 1 + 99 * _uniform(left + right + left * right, seed)
    LS, RS, across = scores[:left], scores[left : left + right], scores[left + right :].reshape(left, right)
    return Sums(LS, RS, (LS[:, None] + RS) + across, *first)


def _ties(left: int, right: int, seed: int, first: tuple[int, int]) -> Sums:
    k, m = np.arange(first[0], first[0] + left), np.arange(first[1], first[1] + right)
    LS, RS = (k * (k - 1) // 2).astype(np.float32), (m * (m - 1) // 2).astype(np.float32)
    across = k[:, None] * m * (_words(left * right, seed).reshape(left, right) & 1)
    return Sums(LS, RS, (LS[:, None] + RS) + across.astype(np.float32), *first)


def _tiny(left: int, right: int, seed: int, first: tuple[int, int]) -> Sums:
    plain, scale = _plain(left, right, seed, first), np.float32(2.0**-126)
    return Sums(plain.LS * scale, plain.RS * scale, plain.TS * scale, *first)


def _special(left: int, right: int, seed: int, first: tuple[int, int]) -> Sums:
    count = left + right + left * right
    bits, choice = _words(count, seed), _words(count, seed + 1)
    bits = np.where(choice % 8 == 0, SPECIAL[(choice >> 8) % len(SPECIAL)], bits)
    numbers = bits.view(np.float32)
    return Sums(numbers[:left], numbers[left : left + right], numbers[left + right :].reshape(left, right), *first)


KINDS: Mapping[str, Callable[[int, int, int, tuple[int, int]], Sums]] = {
    "plain": _plain,
    "ties": _ties,
    "tiny": _tiny,
    "special": _special,
}


PADDING = np.float32(1e30)  # in RS and TS alike it makes an omega that would win if its lane were not masked


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
    rs_ports, ts_ports = tile_ports(sums, tiles, config)
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


def tile_ports(
    sums: Sums, tiles: Sequence[NDArray[np.int64]], config: Config
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
    """Return the port beats of the RS column and of the TS columns of each tile; streamed RS lies next to TS.

    Parameters
    ----------
    sums : Sums
    tiles : sequence of ndarray
        The `beat_order` of each; one where RS is streamed.
    config : Config
    """
    RS, TS = np.append(sums.RS, PADDING), np.concatenate([sums.TS, np.full((sums.left, 1), PADDING)], axis=1)
    if config.rs_prefetch == "none":
        (order,) = tiles
        both = np.concatenate([np.broadcast_to(RS[order], (sums.left, *order.shape)), TS[:, order]], axis=2)
        return [], [port_beats(both, config)]
    return (
        [port_beats(RS[None, tile], config) for tile in tiles],
        [port_beats(TS[:, tile], config) for tile in tiles],
    )


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
    """Refuse what the registers and memories in omega_top.v do not hold."""
    memory = config.memory
    for name, value, limit in (
        ("memory.fifo_beats", memory.fifo_beats, 256),
        ("memory.outstanding", memory.outstanding, 128),
        ("memory.burst_length", memory.burst_length, 65_535),
        ("latency", config.latency, 1 << 30),
        ("ii", config.ii, 60_000),
        ("fsm_cycles", config.fsm_cycles, 60_000),
        ("rs_buffer_words / lanes", buffer_beats, 1024),
    ):
        if value > limit:
            raise ModelError(f"{name} is {value}; the Verilog takes {limit} at most")
