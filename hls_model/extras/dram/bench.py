"""What a memory gives by itself: latency of an idle read, and bandwidth by burst and stride."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hls_model.choices import BURSTS, STRIDES
from hls_model.dram_parts import Part
from hls_model.errors import ModelError
from hls_model.extras.dram.channel import Channel, Mapping
from hls_model.extras.dram.memory import PortMemory
from hls_model.text import check_choice

if TYPE_CHECKING:
    from hls_model.config import Config


STATES = ("hit", "closed", "conflict")
READS = 20_000  # of a measurement: some 8 refreshes


@dataclass(frozen=True)
class Bandwidth:
    """What one channel gives to bursts of `burst` bytes, `stride` bytes from the start of one to that of the next.

    Attributes
    ----------
    gbps : float
        Bytes per nanosecond.
    share : float
        The same as a share of the part's peak.
    hits : float
        Share of the READs that found their row open.
    """

    burst: int
    stride: int
    gbps: float
    share: float
    hits: float


def idle_ns(part: Part, state: str) -> float:
    """Return nanoseconds from the request to the last data of one READ on an idle channel, far from any refresh.

    Parameters
    ----------
    part : Part
        The DRAM.
    state : {'hit', 'closed', 'conflict'}
        Its row is open, its bank is closed, or another row of the bank is open.

    Raises
    ------
    ModelError
        No such state.
    """
    check_choice("state", state, STATES)
    mapping = Mapping(part)
    channel = Channel(mapping, first_refresh=part.refi)
    row, column = {"hit": (0, 1), "closed": (0, 0), "conflict": (1, 0)}[state]
    if state != "closed":
        channel.read(0, mapping.access())
    later = part.refi // 2
    return part.ns(channel.read(later, mapping.access(row=row, column=column)) - later)


def bandwidth(part: Part, burst: int, stride: int, reads: int = READS, window: int = 16) -> Bandwidth:
    """Measure one channel with requests that always wait; bursts read again from the beginning at the end of it.

    Raises
    ------
    ModelError
        A burst or stride that is no multiple of what one READ brings, or a stride less than the burst.
    """
    size = part.access_bytes
    for name, value in (("burst", burst), ("stride", stride)):
        if value < size or value % size:
            raise ModelError(f"the {name} is {value:,} bytes; it has to be a multiple of {size}, what one READ brings")
    if stride < burst:
        raise ModelError(f"the stride is {stride:,} bytes; it has to be at least the burst, {burst:,} bytes")
    mapping = Mapping(part)
    channel = Channel(mapping, window=window, first_refresh=part.refi // 2)
    each, apart = burst // size, stride // size
    accesses = (number // each * apart + number % each for number in range(reads))
    ends = channel.read_all((0, access % mapping.accesses) for access in accesses)
    gbps = reads * size / part.ns(ends[-1])
    return Bandwidth(burst, stride, gbps, gbps / part.peak_gbps, channel.hits / reads)


def sweep(
    part: Part, bursts: Sequence[int] = BURSTS, strides: Sequence[int] = STRIDES, reads: int = READS
) -> list[Bandwidth]:
    """Measure every burst with every stride that holds it."""
    return [
        bandwidth(part, burst, stride, reads)
        for burst in bursts
        for stride in strides
        if stride >= burst
    ]  # fmt: skip


def in_step(config: Config, reads: int = READS) -> tuple[float, float]:
    """Measure the ports of a design with a DRAM, which read in step and in sequence, and take every beat at once.

    Returns
    -------
    gbps, roof : float
        Bytes per nanosecond of all ports, and the lower of what the ports and the peaks of the channels allow.

    Raises
    ------
    ModelError
        See `PortMemory`.
    """
    source, memory = PortMemory(config), config.memory
    beat_bytes = memory.ports * memory.port_bits // 8
    bursts = max(1, reads * source.part.access_bytes // (memory.burst_length * memory.port_bits // 8))
    ends = deque([-1] * memory.outstanding, maxlen=memory.outstanding)
    asked = taken = -1
    for number in range(bursts):
        asked = max(asked, ends[0]) + 1
        for there in source.burst(asked, number * memory.burst_length, memory.burst_length):
            taken = max(taken + 1, there)
        ends.append(taken)
    per_ns = config.clock_mhz / 1e3
    gbps = bursts * memory.burst_length * beat_bytes / (taken + 1) * per_ns
    return gbps, min(beat_bytes * per_ns, len(source.channels) * source.part.peak_gbps)
