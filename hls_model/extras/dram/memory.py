"""The channels behind the ports of a design, in the cycles of its clock.

Port p lies on channel p modulo the channels in use, in a stretch of that channel of its own; with as many ports as
channels each port has one to itself. (On the U280 that is the pseudo channel next to the port, which it reaches without
crossing to another switch; such crossings are not modelled.) All ports read the same addresses in step, and a port
beat is there when the slowest of them has it. Ports that share a channel are served a burst at a time.

A read takes the fixed time of the path (AXI, interconnect, crossing of clocks) and the time of the DRAM. The path is
what the latency of the design leaves when the shortest time of the DRAM is taken off: an idle read from an open row
takes exactly that latency. The controller and the interconnect can hold the data of all requests under way.

`time_passes` is level L2 with such a memory: the registers of `hls_model.timing.machine`, but port beats come when the
DRAM has them.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, cycle

import numpy as np
from numpy.typing import NDArray

from hls_model.config import WORD_BITS, Config
from hls_model.dram_parts import Part, find_part
from hls_model.errors import ModelError
from hls_model.extras.dram.channel import Channel, Mapping
from hls_model.timing import events
from hls_model.timing.machine import Bus, Probe, ReadPath, hashed, run_pass
from hls_model.timing.passes import PassPhases

MAX_CYCLES = 50_000_000  # some minutes
MAX_READS = 20_000_000  # of all channels, likewise


@dataclass(frozen=True)
class Shares:
    """What an idle read of an open row consists of.

    Attributes
    ----------
    dram_ns : float
        READ to last data, and the wait for the next edge of the DRAM's clock.
    path_ns : float
        The rest of the design's latency.
    """

    dram_ns: float
    path_ns: float


class PortMemory:
    """The DRAM of a design, from the first cycle on.

    Parameters
    ----------
    config : Config
        A design with `memory.dram` set.

    Raises
    ------
    ModelError
        No DRAM, or a latency that is less than the DRAM's own.
    """

    def __init__(self, config: Config) -> None:
        memory = config.memory
        part = find_part(memory.dram)
        self.part = part
        self._port_bytes = memory.port_bits // 8
        used = min(memory.ports, memory.banks)
        mapping = Mapping(part)
        self.channels = [
            Channel(mapping, first_refresh=_phase(part, memory.dram_seed, number)) for number in range(used)
        ]
        stretch = mapping.accesses // memory.ports_per_bank
        self._ports = [(self.channels[port % used], port // used * stretch) for port in range(memory.ports)]
        # A cycle of the design is clocks / cycles clocks of the DRAM.
        ratio = part.mhz / Fraction(config.clock_mhz)
        self._clocks, self._cycles = ratio.numerator, ratio.denominator
        self._path = config.latency * self._clocks - _own(part) * self._cycles
        if self._path < 0:
            raise ModelError(
                f"the latency is {config.latency} cycles, less than the {part.ns(_own(part)):.3g} ns of {part.name} "
                "itself; take a greater memory.latency_ns"
            )
        self.free = 0  # port beats from the beginning of memory to what is not in use

    def burst(self, cycle: int, beat: int, beats: int) -> list[int]:
        """Read port beats `beat` and following, asked for in `cycle` (not before the bursts asked for earlier).

        Returns
        -------
        list of int
            The cycle from which on each of them is there on all ports, ascending.
        """
        when = -(-(cycle * self._clocks + self._path) // self._cycles)
        size, width = self.part.access_bytes, self._port_bytes
        first, last = beat * width // size, ((beat + beats) * width - 1) // size
        accesses = range(first, last + 1)
        slowest = [0] * len(accesses)
        for channel, base in self._ports:
            read = channel.read
            for place, access in enumerate(accesses):
                clock = read(when, base + access)
                if clock > slowest[place]:
                    slowest[place] = clock
        cycles = [-(-clock * self._cycles // self._clocks) for clock in slowest]
        return [cycles[((beat + number + 1) * width - 1) // size - first] for number in range(beats)]

    def take(self, beats: int) -> int:
        """Lay out `beats` port beats behind those in use, and return where they begin."""
        begin = self.free
        self.free += beats
        return begin

    def bus(self, path: ReadPath, columns: int, start: int, requested: Callable[[int], None], begin: int) -> Bus:
        """Offer port beats when the DRAM has them; see `hls_model.timing.machine.Source`."""
        length, ports, apart = path.memory.burst_length, len(path.offers), path.kept
        slots, offers = path.memory.outstanding, cycle(path.offers)
        asks = (
            (begin + column * apart + at, min(length, ports - at))
            for column in range(columns)
            for at in range(0, ports, length)
        )
        ask = next(asks, None)
        there: deque[int] = deque()
        for now in count(start):
            if ask and slots:
                requested(now)
                slots -= 1
                there.extend(self.burst(now, *ask))
                ask = next(asks, None)
            if (yield bool(there) and there[0] <= now):
                there.popleft()
                if not next(offers)[0]:
                    slots += 1


def time_passes(config: Config, columns: NDArray[np.int64], beats: NDArray[np.int64]) -> PassPhases:
    """Return the cycles of passes of `columns` columns of `beats` beats each, int64 (passes,), both 1 or more.

    All of them are stepped through, one after the other: with a DRAM no two are alike. The next pass begins where the
    last one ended; merge and overhead of the positions between them do not count here.

    Raises
    ------
    ModelError
        More than `MAX_CYCLES` cycles or `MAX_READS` reads; see `PortMemory`.
    """
    steps = level1_cycles(config, columns, beats)
    if steps > MAX_CYCLES:
        raise ModelError(
            f"level L2 would step through {steps:,} cycles, {MAX_CYCLES:,} at most with memory.dram; "
            "take fewer positions"
        )
    source, probe, runs, now = PortMemory(config), Probe.ignoring(), [], 0
    reads = int((columns * beats).sum()) * config.issue_words * WORD_BITS // 8 // source.part.access_bytes
    if reads > MAX_READS:
        raise ModelError(f"level L2 would read the DRAM {reads:,} times, {MAX_READS:,} at most; take fewer positions")
    for columns_each, beats_each in zip(columns.tolist(), beats.tolist(), strict=True):
        phases, now = run_pass(config, columns_each, beats_each, now, probe, source)
        runs.append(phases)
    return PassPhases(*np.array(runs, np.int64).reshape(-1, 5).T)


def level1_cycles(config: Config, columns: NDArray[np.int64], beats: NDArray[np.int64]) -> int:
    """Return the cycles of passes by level L1, those of a DRAM as if its latency and pace were fixed."""
    fixed = config.but(memory=dataclasses.replace(config.memory, dram="none"))
    return int(events.time_passes(fixed, columns, beats).total.sum())


def shares(config: Config) -> Shares:
    """Return what the latency of a design with a DRAM consists of.

    Raises
    ------
    ModelError
        See `PortMemory`.
    """
    part = PortMemory(config).part
    own = part.ns(_own(part))
    return Shares(own, config.latency * 1e3 / config.clock_mhz - own)


def _own(part: Part) -> int:
    """Clocks of a READ from an open row, with the wait for the next edge of the clock."""
    return part.cl + part.burst + 1


def _phase(part: Part, seed: int, channel: int) -> int:
    """When the first refresh of a channel falls due: anywhere in tREFI, a 32-bit hash of the seed and the channel."""
    return hashed(2_654_435_761 * (channel + 1) + 40_503 * seed) % part.refi
