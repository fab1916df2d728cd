"""Grid positions as `testbench.cpp` reads them, with the results that it has to find."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.functional import Best, Sums, run
from hls_model.hls.design import tile_beats
from hls_model.rtl.stimulus import PADDING, beat_order, port_beats

__all__ = ["stimulus"]

MAGIC = 0x534C484F  # "OHLS"
Words = NDArray[np.uint32]


def stimulus(positions: Sequence[Sums], config: Config, *, expected: bool = True) -> bytes:
    """Return positions for the test bench of a design.

    Parameters
    ----------
    positions : sequence of Sums
        Operands.
    config : Config
        The design.
    expected : bool
        Add what `hls_model.functional` computes, which the test bench compares.
    """
    head = [MAGIC, config.lanes, config.memory.words_per_beat, len(positions)]
    return np.array(head, "<u4").tobytes() + b"".join(_position(sums, config, expected) for sums in positions)


def _position(sums: Sums, config: Config, expected: bool) -> bytes:
    prefetched, columns = _memory(sums, config)
    maxima = _maxima(sums, config) if expected else np.empty((0, 4), np.uint32)
    memory = np.concatenate([prefetched, columns])
    head = [
        sums.left, sums.right, sums.first_left, sums.first_right, len(prefetched), len(memory), len(maxima),
    ]  # fmt: skip
    parts = (sums.LS.astype("<f4"), memory.astype("<f4"), maxima.astype("<u4"))
    return np.array(head, "<u4").tobytes() + b"".join(part.tobytes() for part in parts)


def _memory(sums: Sums, config: Config) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """RS columns and TS columns as port beats, float32 (n, words of one), both by tiles."""
    width = config.memory.words_per_beat
    none = np.empty((0, width), np.float32)
    order = beat_order(sums.right, config)
    if not len(order) or not sums.left:
        return none, none
    RS, TS = np.append(sums.RS, PADDING), np.concatenate([sums.TS, np.full((sums.left, 1), PADDING)], axis=1)
    if config.rs_prefetch == "none":
        both = np.concatenate([np.broadcast_to(RS[order], (sums.left, *order.shape)), TS[:, order]], axis=2)
        return none, port_beats(both, config).reshape(-1, width)
    step = tile_beats(config)
    tiles = [order[start : start + step] for start in range(0, len(order), step)]
    prefetched = [port_beats(RS[None, tile], config).reshape(-1, width) for tile in tiles]
    columns = [port_beats(TS[:, tile], config).reshape(-1, width) for tile in tiles]
    return np.concatenate(prefetched), np.concatenate(columns)


def _maxima(sums: Sums, config: Config) -> Words:
    """The winner of the lanes' merge and the lanes' maxima, uint32 (1 + lanes, 4)."""
    result = run(sums, config)
    return np.array([_words(best) for best in (result.hardware, *result.lanes)], np.uint32)


def _words(best: Best) -> tuple[int, int, int, int]:
    """Key, bits, column and right-side iteration as the kernel has them."""
    if not best.found:
        return 0, 0, 0, 0
    size = best.bits & 0x7FFFFFFF
    negative = best.bits >> 31 and size
    return (~best.bits & 0xFFFFFFFF) if negative else size | 0x80000000, best.bits, best.column, best.right
