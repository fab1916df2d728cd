"""Seconds that bytes take: through the card's ports and banks, over the host link, in the host's memory."""

from __future__ import annotations

from hls_model.config import Config
from hls_model.phases.assumed import DMA_US, TURNAROUND, host_of
from hls_model.ranges import Range
from hls_model.roofline import banks_gbps, ports_gbps

__all__ = ["CARD_MEMORY", "HOST_LINK", "bank_seconds", "host_copy_seconds", "link_seconds", "slower", "stream_seconds"]

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
    return setup + Range(moved / (rate.high * 1e9), moved / (rate.likely * 1e9), moved / (rate.low * 1e9))


def host_copy_seconds(config: Config, moved: int) -> Range:
    """Return the seconds in which a core of the host moves bytes, those read and those written."""
    rate = host_of(config.hardware).memory_gbps
    return Range(moved / (rate.high * 1e9), moved / (rate.likely * 1e9), moved / (rate.low * 1e9))


def slower(one: Range, other: Range) -> Range:
    """Return the range of what is bound by two things."""
    return Range(max(one.low, other.low), max(one.likely, other.likely), max(one.high, other.high))
