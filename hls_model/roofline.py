"""What lanes, ports, banks and host link of a design allow at most, in scores per second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hls_model.choices import Level
from hls_model.config import WORD_BITS, Config
from hls_model.dram_parts import find_part
from hls_model.limits import check_possible
from hls_model.ranges import Range
from hls_model.timing import Timing
from hls_model.timing.passes import split
from hls_model.uncertainty import Band, built_timing
from hls_model.workload import Workload

WORD_BYTES = WORD_BITS // 8


@dataclass(frozen=True)
class Roofline:
    """The roofs over a workload on a design.

    Attributes
    ----------
    timing : Timing
        What the design does.
    bytes_per_omega : float
        Bytes that the ports read for each score of the pipelines: TS, and RS as often as it is read.
    host_bytes_per_omega : float
        Bytes over the host link for each score of the pipelines.
    roofs : dict of str to float
        Scores per second that 'lanes', 'ports', 'banks' and, where something crosses it, 'host link' allow.
    """

    timing: Timing
    bytes_per_omega: float
    host_bytes_per_omega: float
    roofs: dict[str, float]

    @property
    def binding(self) -> str:
        """The lowest roof."""
        return min(self.roofs, key=lambda name: self.roofs[name])

    @property
    def height(self) -> float:
        """Scores per second that the lowest roof allows."""
        return self.roofs[self.binding]

    @property
    def rate(self) -> float:
        """Scores per second of the pipelines and the host link that serves them, whatever software does."""
        pipelines, link = self.timing.hardware_seconds, self.timing.transfer_seconds
        seconds = max(pipelines, link) if self.timing.config.host_overlap else pipelines + link
        return self.timing.hardware_omegas / seconds if self.timing.hardware_omegas else 0.0

    @property
    def share(self) -> float:
        """Share of the lowest roof that is reached."""
        return self.rate / self.height


def rate_range(found: Band) -> Range:
    """Return the rate beneath the roofs with its bounds, those of a design that is timed at both ends."""
    likely, *ends = (roofline_of(one).rate for one in (found.likely, found.low, found.high))
    return Range.spanning(likely, *ends)


def ports_gbps(config: Config) -> float:
    """Return GB/s of all ports of all kernels together at the accelerator's clock."""
    return config.kernels * config.memory.words_per_beat * WORD_BYTES * config.clock_mhz / 1e3


def banks_gbps(config: Config) -> float:
    """Return GB/s that the banks in use give together, at their efficiency, to ports that run in step."""
    memory = config.memory
    busiest = config.ports_per_bank * memory.port_bits / 8 * config.clock_mhz / 1e3
    return ports_gbps(config) * memory.bank_gbps * config.efficiency / busiest


def roof_gbps(config: Config) -> float:
    """Return GB/s that no read of the banks exceeds: `banks_gbps`, or the peak of a DRAM that level L2 knows."""
    memory = config.memory
    if memory.dram == "none":
        return banks_gbps(config)
    return banks_gbps(config) * find_part(memory.dram).peak_gbps / (memory.bank_gbps * config.efficiency)


def roofline(workload: Workload, config: Config, level: Level = "L1") -> Roofline:
    """Return the roofs over a workload on a design as built for its best clock, and the rate beneath them.

    Raises
    ------
    ModelError
        A design that no board can be, or what `simulate` refuses.
    """
    check_possible(config)
    return roofline_of(built_timing(workload, config, level))


def roofline_of(timing: Timing) -> Roofline:
    """Return the roofs over a scan that is timed; with a DRAM (level L2) those of the banks are its peak."""
    workload, config = timing.workload, timing.config
    read = _bytes_read(workload, config) / max(timing.hardware_omegas, 1)
    sent = timing.transfer_bytes / max(timing.hardware_omegas, 1)
    roofs = {"lanes": config.kernels * config.ideal_rate}
    if read:
        roofs["ports"] = ports_gbps(config) * 1e9 / read
        roofs["banks"] = roof_gbps(config) * 1e9 / read
    if sent and timing.hardware_omegas:
        roofs["host link"] = config.host_rate.likely * 1e9 / sent
    return Roofline(timing, read, sent, roofs)


def _bytes_read(workload: Workload, config: Config) -> int:
    """Bytes that the wide ports bring: TS, RS as often as it is read; LS comes over a port of its own."""
    passes = split(workload, config)
    words = passes.beats * config.lanes
    columns = passes.columns * (2 if config.rs_prefetch in ("none", "per_outer") else 1)
    once = 1 if config.rs_prefetch == "per_position" else 0
    return WORD_BYTES * int(np.sum(words * (columns + once)))
