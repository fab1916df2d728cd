"""A design as the constants of the C++ kernel, and grid positions as its test bench reads them.

`design.hpp` holds the constants; with the positions come the results that the test bench has to find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import WORD_BITS, Config
from hls_model.errors import ModelError
from hls_model.functional import Best, Sums, run
from hls_model.rtl.stimulus import beat_order, tile_ports
from hls_model.timing.passes import split
from hls_model.workload import Workload

TOP = "omega_kernel"
LS_BLOCK = 512  # left sums read at a time: what one block RAM of 18 kbit holds
LONGEST_BURST = 256  # beats; AXI4 (ARM IHI 0022)
WIDEST_PORT = 1024  # bits; AXI4 (ARM IHI 0022)
NO_TILES = 1 << 31  # beats of a tile where RS is not buffered


@dataclass(frozen=True)
class Extent:
    """How often the loops of the kernel run, and what it reads, for positions of at most some trip counts.

    Attributes
    ----------
    tiles, port_beats : int
        Tiles of the right side, and port beats of a column of the largest.
    blocks, held : int
        Blocks of left sums, and columns of the largest.
    calls, trips : int
        Runs of the pipelined loop in a block, and iterations of one.
    memory, left_sums : int
        Port beats and left sums to be read.
    """

    tiles: int
    port_beats: int
    blocks: int
    held: int
    calls: int
    trips: int
    memory: int
    left_sums: int


def latency_cycles(config: Config) -> int:
    """Return the latency of the memory in cycles, as the directives of the ports state it."""
    return config.latency


def port_interval(config: Config) -> int:
    """Return the cycles between two port beats in the kernel's pipelined loop."""
    return (
        config.issues_per_beat * config.ii if config.beats_per_issue == 1 else -(-config.ii // config.beats_per_issue)
    )


def tile_beats(config: Config) -> int:
    """Return the beats of a tile: those that the RS buffer holds."""
    return NO_TILES if config.rs_prefetch == "none" else config.rs_buffer_words // config.lanes


def extent(left: int, right: int, config: Config) -> Extent:
    """Return the trip counts of the kernel's loops for a position.

    Raises
    ------
    ModelError
        The position has no beat for the lanes.
    """
    beats = split(Workload.single(left, right), config).beats
    if not left or not len(beats):
        raise ModelError(f"a position of {left} x {right} has no beat of {config.unroll} right-side iterations")
    c, g = config.beats_per_issue, config.issues_per_beat
    ports = [int(count) * c if c > 1 else -(-int(count) // g) for count in beats]
    held = min(left, LS_BLOCK)
    together = held if config.overlap_outer else 1
    memory = (left + (config.rs_prefetch != "none")) * sum(ports)
    return Extent(
        tiles=len(ports), port_beats=max(ports), blocks=-(-left // LS_BLOCK), held=held,
        calls=held // together, trips=together * max(ports), memory=memory, left_sums=left,
    )  # fmt: skip


def check_bus(config: Config) -> None:
    """Refuse what no AXI4 port can be.

    Raises
    ------
    ModelError
        A width that is no power of two or over 1,024 bits, or a burst of over 256 beats.
    """
    bits, burst = config.memory.port_bits, config.memory.burst_length
    if bits > WIDEST_PORT or bits & (bits - 1):
        raise ModelError(
            f"memory.port_bits is {bits}; an AXI4 port has a power of two from {WORD_BITS} to {WIDEST_PORT} bits"
        )
    if burst > LONGEST_BURST:
        raise ModelError(f"memory.burst_length is {burst}; an AXI4 burst has {LONGEST_BURST} beats at most")


def design_header(config: Config, most: Extent, *, write_lanes: bool) -> str:
    """Return `design.hpp`.

    Parameters
    ----------
    config : Config
        The design.
    most : Extent
        Of the largest position of the test bench: depths of the ports in a cosimulation, and expected trip counts.
    write_lanes : bool
        Write the maximum of each lane as well; for tests.
    """
    memory = config.memory
    sections: Mapping[str, Mapping[str, int]] = {
        "lanes": {
            "LANES": config.lanes,
            "UNROLL": config.unroll,
            "STREAM_RS": int(config.rs_prefetch == "none"),
            "PREFETCH_PER_COLUMN": int(config.rs_prefetch == "per_outer"),
            "BLOCKED": int(config.lane_map == "blocked"),
            "MASKED": int(config.remainder == "masked"),
            "OVERLAP_OUTER": int(config.overlap_outer),
            "WRITE_LANES": int(write_lanes),
        },
        "buffers": {"RS_BUFFER_BEATS": 1 if config.rs_prefetch == "none" else tile_beats(config), "LS_BLOCK": LS_BLOCK},
        "memory": {
            "PORTS": memory.ports,
            "PORT_WORDS": memory.port_bits // WORD_BITS,
            "BEATS_PER_ISSUE": config.beats_per_issue,
            "ISSUES_PER_BEAT": config.issues_per_beat,
            "PORT_INTERVAL": port_interval(config),
            "BURST_LENGTH": memory.burst_length,
            "OUTSTANDING": memory.outstanding,
            "LATENCY": latency_cycles(config),
        },
        "the largest position of the test bench": {
            "DEPTH_MEMORY": most.memory,
            "DEPTH_LS": most.left_sums,
            "TRIP_TILES": most.tiles,
            "TRIP_PORTS": most.port_beats,
            "TRIP_BLOCKS": most.blocks,
            "TRIP_HELD": most.held,
            "TRIP_COLUMNS": most.calls,
            "TRIP_BEATS": most.trips,
        },
    }
    lines = [f"// Constants of the design {_comment(config.name)}.", "#ifndef DESIGN_HPP", "#define DESIGN_HPP"]
    for title, values in sections.items():
        lines += ["", f"// {title}", *(f"#define {name} {value}" for name, value in values.items())]
        if title == "buffers":
            lines.append(f"#define TILE_BEATS {tile_beats(config)}u")
    each = " ".join(f"DO({port})" for port in range(memory.ports))
    return "\n".join([*lines, "", f"#define FOR_EACH_PORT(DO) {each}", "", "#endif", ""])


def _comment(name: str) -> str:
    """A name that cannot leave its line."""
    return "".join(one if one.isascii() and one.isprintable() and one != "\\" else "?" for one in name)


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
    step = tile_beats(config)
    tiles = [order[start : start + step] for start in range(0, len(order), step)]
    prefetched, columns = (
        np.concatenate([none, *(one.reshape(-1, width) for one in ports)]) for ports in tile_ports(sums, tiles, config)
    )
    return prefetched, columns


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
