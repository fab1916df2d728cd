"""From a workload and a design to cycles, seconds and rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hls_model import extras
from hls_model.choices import Level
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.limits import check_sides
from hls_model.text import check_choice
from hls_model.timing import events, machine
from hls_model.timing.passes import Passes, PassPhases, split
from hls_model.timing.schedule import Schedule, Stages, schedule
from hls_model.workload import Workload

LEVELS: Mapping[Level, Callable[[Config, NDArray[np.int64], NDArray[np.int64]], PassPhases]] = {
    "L1": events.time_passes,
    "L2": machine.time_passes,
}
MOST_CYCLES = 1 << 62
PHASES = ("prefetch", "fill", "stream", "stall", "drain", "merge", "overhead")


@dataclass(frozen=True)
class Timing:
    """Where the time of a scan goes on one design.

    Attributes
    ----------
    config, workload, level : Config, Workload, str
        What was timed, and how.
    phases : dict of str to ndarray, int64 (grid,)
        Cycles at each grid position, by phase (`PHASES`).
    stages : Stages
        Cycles of each position by stage of its kernel.
    schedule : Schedule
        When each position runs, and on which kernel.
    hardware_omegas, software_omegas : int
        Scores from the pipelines, and from the remainder that software computes.
    transfer_bytes : int
        Bytes over the host link.
    """

    config: Config
    workload: Workload
    level: str
    phases: Mapping[str, NDArray[np.int64]]
    stages: Stages
    schedule: Schedule
    hardware_omegas: int
    software_omegas: int
    transfer_bytes: int

    @property
    def position_cycles(self) -> NDArray[np.int64]:
        """Cycles of each grid position by itself, int64 (grid,)."""
        total: NDArray[np.int64] = np.sum(list(self.phases.values()), axis=0)
        return total

    @property
    def cycles(self) -> int:
        """Cycles of the whole scan, to the end of its last position."""
        return self.schedule.makespan

    @property
    def bound(self) -> str:
        """What `cycles` are: 'exact', 'at most' (banks or port shared), or 'about'."""
        config = self.config
        shared = self.schedule.bound or config.banks_shared
        if not shared:
            return "exact"
        # Positions that end sooner may go to other kernels, which is no bound where several are in flight.
        ordered = config.kernels == 1 or config.positions_in_flight == 1
        return "at most" if ordered else "about"

    @property
    def hardware_seconds(self) -> float:
        """Seconds that the pipelines are at work."""
        return self.cycles / (self.config.clock_mhz * 1e6)

    def seconds_with_overhead(self, microseconds: float) -> float:
        """Return the seconds that the pipelines would be at work if a position had so much `position_overhead_us`."""
        config = self.config
        busy = self.stages.columns > 0
        front = self.stages.front - self.phases["overhead"] + busy * _overhead_cycles(config, microseconds)
        changed = schedule(replace(self.stages, front=front), config.kernels, config.positions_in_flight)
        return changed.makespan / (config.clock_mhz * 1e6)

    @property
    def software_seconds(self) -> float:
        """Seconds that software needs for the remainder."""
        return self.software_omegas / self.config.software_rate

    @property
    def transfer_seconds(self) -> float:
        """Seconds of the host link."""
        return self.transfer_bytes / (self.config.host_rate.likely * 1e9)

    @property
    def seconds_beside(self) -> float:
        """Seconds of the longest that the host does while the pipelines run."""
        return max(self._of_host(overlapped=True), default=0.0)

    @property
    def seconds_after(self) -> float:
        """Seconds of what the host does when the pipelines have ended."""
        return sum(self._of_host(overlapped=False))

    @property
    def seconds(self) -> float:
        """Seconds of the whole scan: what runs during the pipelines counts only where it takes longer."""
        return max(self.hardware_seconds, self.seconds_beside) + self.seconds_after

    def _of_host(self, *, overlapped: bool) -> list[float]:
        config = self.config
        work = (self.software_seconds, config.software_overlap), (self.transfer_seconds, config.host_overlap)
        return [seconds for seconds, beside in work if beside == overlapped]

    @property
    def hardware_rate(self) -> float:
        """Scores per second of the pipelines alone, which is how we read the paper's rates; 0 where they do nothing."""
        return self.hardware_omegas / self.hardware_seconds if self.cycles else 0.0

    @property
    def rate(self) -> float:
        """Scores per second of the whole scan; 0 where there is nothing to do."""
        return self.workload.omegas / self.seconds if self.seconds else 0.0


def simulate(workload: Workload, config: Config, level: Level = "L1") -> Timing:
    """Time a workload on a design.

    Parameters
    ----------
    workload : Workload
        Trip counts of every grid position.
    config : Config
        The design.
    level : {'L1', 'L2'}
        Events, or every cycle; they agree.
        A design with a DRAM behind its ports (`memory.dram`) is for L2 alone.

    Raises
    ------
    ModelError
        No such level, a window of more than 65,536 SNPs on a side, a DRAM at another level than L2, or a scan of more
        cycles than 64 bits count.
    """
    check_sides(workload)
    check_choice("level", level, LEVELS)
    if config.memory.dram != "none" and level != "L2":
        raise ModelError(f"memory.dram is {config.memory.dram}, which level L2 alone models; take --level L2")
    passes = split(workload, config)
    _check_countable(config, passes, len(workload.left))
    time_passes = LEVELS[level] if config.memory.dram == "none" else extras.time_passes
    timed = time_passes(config, passes.columns, passes.beats)
    grid = len(workload.left)

    def per_position(cycles: NDArray[np.int64]) -> NDArray[np.int64]:
        total = np.zeros(grid, np.int64)
        np.add.at(total, passes.position, cycles)
        return total

    phases = {name: per_position(getattr(timed, name)) for name in ("prefetch", "fill", "stream", "stall", "drain")}
    busy = np.zeros(grid, np.int64)
    busy[passes.position] = 1
    phases["merge"] = busy * config.lanes
    phases["overhead"] = busy * _overhead_cycles(config, config.position_overhead_us)
    stages = _stages(config, passes, timed, phases)
    return Timing(
        config=config,
        workload=workload,
        level=level,
        phases=phases,
        stages=stages,
        schedule=schedule(stages, config.kernels, config.positions_in_flight),
        hardware_omegas=int(passes.hardware_omegas.sum()),
        software_omegas=int(passes.software_omegas.sum()),
        transfer_bytes=_transfer_bytes(workload, config),
    )


def _overhead_cycles(config: Config, microseconds: float) -> int:
    return int(np.ceil(microseconds * config.clock_mhz))


def _check_countable(config: Config, passes: Passes, positions: int) -> None:
    """Refuse what may take more cycles than an int64 holds; the bound lets no requests overlap."""
    memory = config.memory
    random_waits = 12  # cycles at most, of a gap and a stall together
    port_beat = config.latency + float(config.pace) + memory.burst_gap + random_waits
    beat, column = config.ii + 2 * config.beats_per_issue * port_beat, config.latency + config.depth + config.fsm_cycles
    columns = passes.columns.astype(float)
    cycles = float((columns * (passes.beats * beat + column)).sum())
    cycles += positions * (config.position_overhead_us * config.clock_mhz + config.lanes)
    if cycles > MOST_CYCLES:
        raise ModelError(f"the scan may take {cycles:.2g} cycles; the model counts {MOST_CYCLES:.2g}")


def _stages(config: Config, passes: Passes, timed: PassPhases, phases: Mapping[str, NDArray[np.int64]]) -> Stages:
    """Sort the phases of each position into the stages of a kernel."""
    prefetch, port = (np.zeros_like(phases["merge"]) for _ in range(2))
    if config.rs_prefetch == "per_position":  # else RS is read with the columns that it is for
        position, first = np.unique(passes.position, return_index=True)
        prefetch[position] = timed.prefetch[first]
        port[position] = timed.prefetch[first] - config.latency - 1  # from its first port beat to its last
    front = phases["overhead"] + prefetch
    total: NDArray[np.int64] = np.sum(list(phases.values()), axis=0)
    return Stages(front, total - front - phases["merge"], phases["merge"], port)


def _transfer_bytes(workload: Workload, config: Config) -> int:
    """Bytes of M that cross the host link."""
    if config.host_transfer == "none":
        return 0
    if config.host_transfer == "full":
        left, right = workload.left, workload.right
        return 4 * int((left * right + left + right)[left * right > 0].sum())
    return 4 * workload.window_pairs  # M(i, j) does not depend on the position
