"""Level 2 with a DRAM: the same registers, but port beats come when the DRAM has them."""

from __future__ import annotations

from collections import deque
from itertools import count, cycle
from typing import Protocol

from hls_model.timing.wiring import Probe, ReadPath

__all__ = ["Source", "beats_to_keep", "stream"]


class Source(Protocol):
    """Where port beats come from."""

    def burst(self, cycle: int, beat: int, beats: int) -> list[int]:
        """Return the cycles from which on port beats `beat` and following, asked for in `cycle`, are there."""
        ...


def beats_to_keep(path: ReadPath) -> int:
    """Port beats from the begin of a column to that of the next: whole bursts, so that none crosses 4 KB."""
    burst = path.memory.burst_length
    return -(-len(path.offers) // burst) * burst


def stream(path: ReadPath, columns: int, start: int, probe: Probe, source: Source, begin: int) -> tuple[int, int, int]:
    """Step from the first request to the issue of the last beat; the columns lie one after the other from `begin` on.

    Returns
    -------
    first, cycle, lanes : int
        Cycle of the first issue, the first cycle after the last one, and the lanes' shift register then.
    """
    length, ports, apart = path.memory.burst_length, len(path.offers), beats_to_keep(path)
    needed, interval = path.needed, path.interval - 1
    requested, taken, blocked, issued = probe.requested, probe.taken, probe.blocked, probe.issued
    slots, room = path.memory.outstanding, path.memory.fifo_beats
    asks = (
        (begin + column * apart + at, min(length, ports - at))
        for column in range(columns)
        for at in range(0, ports, length)
    )
    ask = next(asks, None)
    there: deque[int] = deque()
    entered = 1 << path.stages >> 1
    fifo = spacing = lanes = first = 0
    issues = total = columns * len(path.leaving)
    offers, leaving = cycle(path.offers), cycle(path.leaving)
    for now in count(start):
        # Everything below sees the registers as they were when the cycle began.
        held = fifo
        lanes >>= 1
        if ask and slots:
            requested(now)
            slots -= 1
            there.extend(source.burst(now, *ask))
            ask = next(asks, None)
        if there and there[0] <= now:
            if held < room:
                taken(now)
                fifo += 1
                there.popleft()
                if not next(offers)[0]:
                    slots += 1
            else:
                blocked(now)
        if spacing:
            spacing -= 1
        elif held >= needed:
            issued(now)
            if issues == total:
                first = now
            fifo -= next(leaving)
            lanes |= entered
            spacing = interval
            issues -= 1
            if not issues:
                break
    return first, now + 1, lanes
