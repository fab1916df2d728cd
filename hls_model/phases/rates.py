"""What bytes take through the card's ports and banks, over the host link and in the host's memory, and what is assumed.

Rates of the host are those of one core. `Board.host_link` tells a processor on the device from a server.
"""

from __future__ import annotations

from dataclasses import dataclass

from hls_model.boards import Board
from hls_model.config import Config
from hls_model.phases.phase import Phase
from hls_model.ranges import Range
from hls_model.roofline import banks_gbps, ports_gbps

TURNAROUND = 0.75  # share of what banks reach that is left where reads and writes alternate; assumed
DMA_US = Range(5.0, 20.0, 100.0)  # to set up a transfer over the host link and to learn of its end; assumed
SHARED_LEFT = 0.75  # share of the memory that a processor on the device leaves, next to its own software; assumed

RESULT_BYTES = 12  # of a grid position: the maximum, its column and its right-side iteration


@dataclass(frozen=True)
class Host:
    """The software's machine.

    Attributes
    ----------
    pack_gbps : Range
        GB/s of genotypes, a byte each, that a core packs into bits.
    memory_gbps : Range
        GB/s that a core reads and writes in all when it copies or adds.
    note : str
        Which machine.
    embedded : bool
        It is the processor on the device.
    """

    pack_gbps: Range
    memory_gbps: Range
    note: str
    embedded: bool


_SERVER = Host(
    Range(1.0, 4.0, 8.0),
    Range(4.0, 10.0, 20.0),
    "one core of a server (numpy.packbits packs 5 GB/s on an AMD EPYC)",
    False,
)
_EMBEDDED = Host(Range(0.2, 0.8, 2.0), Range(1.0, 3.0, 6.0), "one Cortex-A53 core of the processing system", True)


def host_of(board: Board) -> Host:
    """Return the host of a board: a server, or the processor on the device where they share memory."""
    return _EMBEDDED if board.host_link == "shared memory" else _SERVER


CARD_MEMORY = (
    "Ports read and write at once (AXI4 has separate channels for both), banks in turn, at the board's efficiency or "
    "memory.efficiency; at most: one after the other, and banks at three quarters of the least efficiency.",
    "Assumed: three quarters are left where reads and writes alternate.",
)
HOST_LINK = "The rate of the host link is the board's (hls_model.boards), or host_gbps where it is set."


def bank_seconds(config: Config, moved: int) -> Range:
    """Return the seconds in which the banks in use move bytes, read or written, at the range of their efficiency.

    At most, reads and writes alternate.
    """
    share, peak = config.efficiency_range, banks_gbps(config) / config.efficiency * 1e9
    return Range(moved / (peak * share.high), moved / (peak * share.likely), moved / (peak * share.low * TURNAROUND))


def stream_seconds(config: Config, read: int, written: int) -> Range:
    """Return the seconds in which long bursts move bytes through ports and banks of a design."""
    ports = ports_gbps(config) * 1e9
    at_once, in_turn = max(read, written) / ports, (read + written) / ports
    return slower(Range(at_once, at_once, in_turn), bank_seconds(config, read + written))


def link_seconds(config: Config, moved: int, transfers: int = 1) -> Range:
    """Return the seconds in which bytes cross the host link in so many transfers."""
    rate, setup = config.host_rate, DMA_US.times(1e-6 * transfers)
    return setup + rate.times(1e9).under(moved)


def link_phase(
    name: str, config: Config, moved: int, why: tuple[str, ...], *, transfers: int = 1, beside: str | None = None
) -> Phase:
    """Return the phase in which bytes cross the host link; see `Phase` and `link_seconds`."""
    return Phase(name, "link", link_seconds(config, moved, transfers), moved, assumptions=why, beside=beside)


def host_copy_seconds(config: Config, moved: int) -> Range:
    """Return the seconds in which a core of the host moves bytes, those read and those written."""
    return host_of(config.hardware).memory_gbps.times(1e9).under(moved)


def slower(one: Range, other: Range) -> Range:
    """Return the range of what is bound by two things."""
    return Range(max(one.low, other.low), max(one.likely, other.likely), max(one.high, other.high))
