"""What no board can do: designs and scans that are refused, with the limit that they exceed by name.

A limit belongs to the board (its clock, ports and memory), to the AXI4 protocol, to the time that an operator takes, or
to the 32-bit counters of the lane. Whether a design fits its board is asked elsewhere
(`hls_model.resources`).
"""

from __future__ import annotations

from collections.abc import Iterator

from hls_model.boards import Board
from hls_model.config import Config
from hls_model.dram_parts import find_part
from hls_model.errors import ModelError
from hls_model.operators import REPORTED, REPORTED_MHZ
from hls_model.workload import LARGEST_SIDE, Workload

MAX_LATENCY_NS = 10_000.0  # ten times what a read takes that waits for a refresh and a full queue; assumed
MIN_LATENCY_NS = 10.0  # below what a DRAM's own column access takes, 14 to 15 ns (cl of hls_model.dram_parts)
MOST_OUTSTANDING = 256  # requests that a port keeps track of; assumed: HLS takes 16 by default
LINK_GBPS = {"PCIe 3.0 x16": 15.76, "PCIe 5.0 x8": 31.5, "PCIe 5.0 x16": 63.0}  # 8 or 32 GT/s, 128 of 130 bits data
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
    memory = config.memory
    bursts = burst_problems(memory.port_bits, memory.burst_length, "memory.")
    for problem in (*_of_board(config, board), *bursts, *_of_operators(config)):
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
    yield from clock_problems(config.clock_mhz, board)
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
    if 0 < memory.latency_ns < MIN_LATENCY_NS:
        yield f"memory.latency_ns is {memory.latency_ns:g}; no DRAM takes less than {MIN_LATENCY_NS:g}"
    if memory.outstanding > MOST_OUTSTANDING:
        yield f"memory.outstanding is {memory.outstanding}; a port keeps track of {MOST_OUTSTANDING} at most"
    link = LINK_GBPS.get(board.host_link, board.peak_gbps)  # what is shared is the memory
    if config.host_gbps > link:
        yield f"host_gbps is {config.host_gbps:g}; {board.name} has {link:g} GB/s at most ({board.host_link})"
    if config.power_watts > board.max_watts:
        yield f"power_watts is {config.power_watts:g}; {board.name} may draw {board.max_watts:g}"


def clock_problems(clock_mhz: float, board: Board) -> Iterator[str]:
    """Say what is wrong with a clock, in MHz, on a board."""
    if clock_mhz > board.max_clock_mhz:
        limit = f"{board.max_clock_mhz:g} MHz at most ({board.clock_limit})"
        yield f"clock_mhz is {clock_mhz:g}; {board.name} allows {limit}"


def burst_problems(port_bits: int, burst_length: int, prefix: str = "") -> Iterator[str]:
    """Say what AXI4 forbids of bursts of so many beats of a port; `prefix` goes before the names of both."""
    if port_bits & (port_bits - 1) or port_bits > AXI_BITS:
        yield f"{prefix}port_bits is {port_bits}; AXI data buses have a power of two, {AXI_BITS} at most"
    length = burst_length * port_bits // 8
    if burst_length > AXI_BEATS:
        yield f"{prefix}burst_length is {burst_length}; an AXI burst has {AXI_BEATS} beats at most"
    if AXI_BYTES % length:
        yield (
            f"{prefix}burst_length is {burst_length}; bursts of {length:,} bytes would cross {AXI_BYTES:,}-byte "
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
