"""What no board can do: designs and scans that are refused, with the limit that they exceed by name.

A limit belongs to the board (its clock, ports and memory), to the AXI4 protocol, to the time that an operator takes, or
to the 32-bit counters of the lane. Whether a design fits its board is asked elsewhere
(`hls_model.resources`).
"""

from __future__ import annotations

from collections.abc import Iterator

from hls_model.boards import Board
from hls_model.config import Config
from hls_model.dram.parts import find_part
from hls_model.errors import ModelError
from hls_model.operators import REPORTED, REPORTED_MHZ
from hls_model.workload import LARGEST_SIDE, Workload

__all__ = ["MAX_LATENCY_NS", "check_possible", "check_sides"]

MAX_LATENCY_NS = 10_000.0  # ten times what a read takes that waits for a refresh and a full queue; assumed
AXI_BEATS = 256  # of a burst: AXI4 specification (Arm IHI 0022), AxLEN of 8 bits for INCR bursts
AXI_BYTES = 4_096  # no burst crosses a multiple of it, ibid.
AXI_BITS = 1_024  # of the data bus at most, ibid.
LEAST_SHARE = 0.5  # of the time that HLS reports for an operator, below which none is believed; assumed


def check_possible(config: Config) -> None:
    """Refuse a design that no tool could put on its board, whatever its size.

    Raises
    ------
    ModelError
        Names the first limit that is exceeded.
    """
    board = config.hardware
    for problem in (*_of_board(config, board), *_of_bursts(config), *_of_operators(config)):
        raise ModelError(problem)


def check_sides(workload: Workload) -> None:
    """Refuse a scan with windows that the lane cannot count.

    Raises
    ------
    ModelError
        A side of a window has more than 65,536 SNPs.
    """
    if workload.widest_side > LARGEST_SIDE:
        raise ModelError(
            f"a window has {workload.widest_side:,} SNPs on one side; the 32-bit counters of the hardware take "
            f"{LARGEST_SIDE:,}: take a smaller maxwin"
        )


def _of_board(config: Config, board: Board) -> Iterator[str]:
    memory = config.memory
    if config.clock_mhz > board.max_clock_mhz:
        yield (
            f"clock_mhz is {config.clock_mhz:g}; {board.name} allows {board.max_clock_mhz:g} MHz at most "
            f"({board.clock_limit})"
        )
    for name, asked, there in (
        ("memory.banks", memory.banks, board.banks),
        ("memory.ports", memory.ports, board.ports),
        ("kernels x memory.ports", config.kernels * memory.ports, board.ports),
        ("memory.port_bits", memory.port_bits, board.port_bits),
        ("memory.bank_gbps", memory.bank_gbps, board.bank_gbps),
    ):
        if asked > there:
            yield f"{name} is {asked:g}; {board.name} has {there:g}"
    if memory.dram != "none" and find_part(memory.dram).kind not in board.memory:
        yield f"memory.dram is {memory.dram}; {board.name} has {board.memory}"
    if memory.latency_ns > MAX_LATENCY_NS:
        yield f"memory.latency_ns is {memory.latency_ns:g}; no memory takes more than {MAX_LATENCY_NS:g}"


def _of_bursts(config: Config) -> Iterator[str]:
    memory = config.memory
    if memory.port_bits & (memory.port_bits - 1) or memory.port_bits > AXI_BITS:
        yield f"memory.port_bits is {memory.port_bits}; AXI data buses have a power of two, {AXI_BITS} at most"
    length = memory.burst_length * memory.port_bits // 8
    if memory.burst_length > AXI_BEATS:
        yield f"memory.burst_length is {memory.burst_length}; an AXI burst has {AXI_BEATS} beats at most"
    if AXI_BYTES % length:
        yield (
            f"memory.burst_length is {memory.burst_length}; bursts of {length:,} bytes would cross {AXI_BYTES:,}-byte "
            "boundaries, which AXI forbids: take one whose bytes divide that"
        )


def _of_operators(config: Config) -> Iterator[str]:
    for name, cycles in vars(config.latencies).items():
        least = LEAST_SHARE * getattr(REPORTED, name) * 1e3 / REPORTED_MHZ
        if cycles * 1e3 / config.clock_mhz < least:
            yield (
                f"operators.{name} is {cycles}, {cycles * 1e3 / config.clock_mhz:g} ns at {config.clock_mhz:g} MHz; "
                f"none takes less than {least:g} ns, half of what HLS reports"
            )
