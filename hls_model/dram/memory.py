"""The channels behind the ports of a design, in the cycles of its clock.

Port p lies on channel p modulo the channels in use, in a stretch of that channel of its own; with as many ports as
channels each port has one to itself. (On the U280 that is the pseudo channel beside the port, which it reaches without
crossing to another switch; such crossings are not modelled.) All ports read the same addresses in step, and a port
beat is there when the slowest of them has it. Ports that share a channel are served a burst at a time.

A read takes the fixed time of the path (AXI, interconnect, crossing of clocks) and the time of the DRAM. The path is
what the latency of the design leaves when the shortest time of the DRAM is taken off: an idle read from an open row
takes exactly that latency. The controller and the interconnect can hold the data of all requests under way.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hls_model.dram.channel import Channel
from hls_model.dram.mapping import Mapping
from hls_model.dram.parts import Part, find_part
from hls_model.errors import ModelError

if TYPE_CHECKING:
    from hls_model.config import Config

__all__ = ["PortMemory", "Shares", "shares"]


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
    mixed = (2_654_435_761 * (channel + 1) + 40_503 * seed) % 2**32
    mixed ^= mixed >> 15
    mixed = mixed * 2_246_822_519 % 2**32
    mixed ^= mixed >> 13
    return mixed % part.refi
