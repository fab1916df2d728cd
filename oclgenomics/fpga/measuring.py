"""A scan timed on this machine: several runs, wall and CPU time of each, and what other programs took meanwhile.

The shortest run counts. On a machine that others use, even that is too long, and the CPU time of the process says more:
a scan of a CPU device cannot take less than its CPU time spread over all cores. So the time with the machine alone lies
between the two, and a comparison has to hold for both.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hls_model.ranges import Range
from hls_model.records import record_of

if TYPE_CHECKING:
    from oclgenomics.runtime import Device


FEWEST_RUNS, MOST_RUNS, ENOUGH_SECONDS = 3, 9, 5.0  # at least so many; then until so many, or so many seconds
COUNTED_SECONDS, SHORT_RUNS = 0.3, 1_000  # short scans go on so long, as the machine's counters have steps of 10 ms
LONG_SECONDS = 60.0  # of a run that is not repeated
BUSY = 0.05  # share of the machine's CPUs: what others take beyond it makes a measurement too long
CONTENDED = 0.5  # of CPU time that is left where nobody shares caches, clock and the threads of a core; assumed


@dataclass(frozen=True)
class Clocks:
    """What a run is timed with.

    Attributes
    ----------
    wall, process : callable
        Seconds that have passed, and CPU seconds of this process in all its threads.
    machine : callable
        CPU seconds of all programs on all CPUs of the machine; None where the system does not say.
    """

    wall: Callable[[], float] = time.perf_counter
    process: Callable[[], float] = time.process_time
    machine: Callable[[], float | None] = lambda: _machine_seconds(Path("/proc/stat"))


@dataclass(frozen=True)
class TimedRun:
    """One run of some scans that go together.

    Attributes
    ----------
    seconds : tuple of float
        Wall time of each scan.
    cpu : float
        CPU seconds of this process.
    others : float or None
        CPU seconds of all other programs; None where the system does not say.
    """

    seconds: tuple[float, ...]
    cpu: float
    others: float | None

    @property
    def wall(self) -> float:
        """Seconds of all scans."""
        return sum(self.seconds)


@dataclass(frozen=True)
class Measured:
    """The same scans on this machine.

    Attributes
    ----------
    device : str
        The OpenCL device.
    seconds : tuple of float
        LD and omega of each scan in the shortest run, sites in memory and kernels compiled; of scans that go together,
        the share.
    slowest : float
        Seconds of all scans in the longest run of each.
    cpu_seconds : float
        Least CPU seconds of this process for all scans.
    cores : int
        Cores that a CPU device computes on; 0 for other devices, whose work is no CPU time.
    runs : int
        Runs of the scans, the fewest where they differ.
    others : float or None
        Share of the machine's CPUs that other programs took meanwhile; None where the system does not say.
    """

    device: str
    seconds: tuple[float, ...]
    slowest: float = 0.0
    cpu_seconds: float = 0.0
    cores: int = 0
    runs: int = 1
    others: float | None = None

    @property
    def total(self) -> float:
        """Seconds of all scans."""
        return sum(self.seconds)

    @property
    def busy(self) -> bool:
        """Whether other programs made the measurement too long."""
        return self.others is not None and self.others > BUSY

    @property
    def range(self) -> Range | None:
        """Seconds that the scans take with the machine alone; None where that cannot be said.

        At least, where others ran or the system does not say, half of the CPU time spread over all cores; at most, the
        longest run. Nothing bounds a single run, or a device that others may have used as well.
        """
        quiet = self.others is not None and not self.busy
        if self.runs < 2 or not (quiet or self.cores):
            return None
        least = self.total if quiet else min(CONTENDED * self.cpu_seconds / self.cores, self.total)
        return Range(least, self.total, max(self.slowest, self.total))

    def times(self, projected: Range) -> Range | None:
        """Return a projected time over the measured one; None where `range` is."""
        own = self.range
        if own is None or not own.low:
            return None
        return Range(projected.low / own.high, projected.likely / own.likely, projected.high / own.low)

    def record(self) -> dict[str, object]:
        """Return the measurement for JSON."""
        names = "device seconds total slowest cpu_seconds cores runs others_share_of_cpus=others range"
        return record_of(self, names)


def repeated(scan: Callable[[], Sequence[float]], clocks: Clocks = Clocks()) -> list[TimedRun]:
    """Time a scan several times after one in which kernels are compiled; `scan` returns seconds of each alignment."""
    scan()
    runs: list[TimedRun] = []
    spent = 0.0
    while len(runs) < FEWEST_RUNS or (spent < ENOUGH_SECONDS and len(runs) < _most(spent)):
        start, process, machine = clocks.wall(), clocks.process(), clocks.machine()
        seconds = tuple(scan())
        ended = clocks.machine()
        cpu, wall = clocks.process() - process, clocks.wall() - start
        others = None if machine is None or ended is None else max(ended - machine - cpu, 0.0)
        runs.append(TimedRun(seconds, cpu, others))
        spent += wall
        if wall > LONG_SECONDS:
            break
    return runs


def _most(spent: float) -> int:
    """The most runs after so many seconds of them."""
    return MOST_RUNS if spent >= COUNTED_SECONDS else SHORT_RUNS


def measured_of(device: Device, batches: Sequence[Sequence[TimedRun]], cpus: int | None = None) -> Measured:
    """Return the measurement that the runs of all batches come to.

    Parameters
    ----------
    device : Device
    batches : sequence of sequences of TimedRun
        Of each batch, its runs.
    cpus : int, optional
        CPUs of the machine; counted if missing.
    """
    best = [min(runs, key=lambda run: run.wall) for runs in batches]
    every = [run for runs in batches for run in runs]
    others = [run.others for run in every if run.others is not None]
    elapsed = (cpus or os.cpu_count() or 1) * sum(run.wall for run in every)
    told = len(others) == len(every) and elapsed > 0
    return Measured(
        str(device),
        tuple(seconds for run in best for seconds in run.seconds),
        slowest=sum(max(run.wall for run in runs) for runs in batches),
        cpu_seconds=sum(min(run.cpu for run in runs) for runs in batches),
        cores=device.compute_units if device.kind == "cpu" else 0,
        runs=min(map(len, batches), default=0),
        others=sum(others) / elapsed if told else None,
    )


def _machine_seconds(path: Path) -> float | None:
    """CPU seconds of all programs from Linux' counters of all CPUs (man proc_stat); None where there are none."""
    try:
        name, *ticks = path.read_text(encoding="ascii").split("\n", 1)[0].split()
        user, nice, system, _, _, irq, softirq, *_ = map(int, ticks)
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK") if name == "cpu" else None
