"""When several kernels, and several positions in each, are at work: positions in order, each to the first free kernel.

A position goes through three stages of its kernel, each of which has one position at a time:

    front    its launch and the prefetch of RS (of its first tile) into a buffer that is free
    columns  everything else that reads memory, up to the drain of the last column
    merge    of the maxima

A kernel holds at most F positions (`positions_in_flight`), each with an RS buffer and a set of maxima of its own: the
front of its position n waits for the merge of n - F. The memory port is shared. A prefetch comes first there and pushes
the columns at work back by the cycles that its port beats take. With one position in flight all three stages follow
one another.

Given the cycles of each position, the schedule is exact where nothing is shared. It is an upper bound

- where a prefetch runs during columns: port cycles in which the columns ask for nothing are not made use of
  (`Schedule.bound`);
- where kernels share banks: each position is timed as if all kernels read all the time
  (`Config.banks_shared`).

Launches of different kernels do not wait for one another; this is assumed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Cycles = NDArray[np.int64]


@dataclass(frozen=True)
class Stages:
    """Cycles of each position in its stages, int64 (positions,); all 0 where it does not touch the hardware.

    Attributes
    ----------
    front, columns, merge : ndarray
        Cycles alone in each stage.
    port : ndarray
        Cycles of the memory port that the front takes from columns at work; at most `front`.
    """

    front: Cycles
    columns: Cycles
    merge: Cycles
    port: Cycles

    @property
    def total(self) -> Cycles:
        """Cycles of each position alone."""
        return self.front + self.columns + self.merge


@dataclass(frozen=True)
class Schedule:
    """Where and when each position runs, in cycles from the start of the scan.

    Attributes
    ----------
    kernel : ndarray, int64 (positions,)
        The kernel of each position; -1 where it does not touch the hardware.
    start, end : ndarray, int64 (positions,)
        Begin of its front and end of its merge; 0 where it does not touch the hardware.
    busy : ndarray, int64 (kernels,)
        Cycles in which columns of a kernel run, or wait for the port beats of a prefetch.
    bound : bool
        A prefetch ran during columns: the schedule is an upper bound; else exact.
    """

    kernel: Cycles
    start: Cycles
    end: Cycles
    busy: Cycles
    bound: bool

    @property
    def makespan(self) -> int:
        """Cycles of the whole scan."""
        return int(self.end.max(initial=0))

    @property
    def utilisation(self) -> NDArray[np.float64]:
        """Share of the scan in which the columns of each kernel run, float64 (kernels,)."""
        return self.busy / max(self.makespan, 1)


@dataclass
class _Job:
    """A position on a kernel: the end of its front, its cycles in columns and merge, and when these end."""

    ready: int
    columns: int
    merge: int
    columns_end: int = 0
    end: int = 0


class _Kernel:
    """The positions that one kernel holds, and what it did."""

    def __init__(self, in_flight: int) -> None:
        self.jobs = deque([_Job(0, 0, 0)] * in_flight, maxlen=in_flight)  # the last ones, done or not
        self.before = _Job(0, 0, 0)
        self.busy = 0
        self.bound = False

    def free(self) -> int:
        """First cycle in which the front can take a position."""
        return max(self.jobs[-1].ready, self.jobs[0].end)

    def turn(self) -> tuple[int, int]:
        """By which kernels are chosen, the smallest first: when one is free, and how many positions it holds then."""
        free = self.free()
        return free, sum(job.end > free for job in self.jobs)

    def run(self, front: int, columns: int, merge: int, port: int) -> _Job:
        """Take a position; its end may come to be later, by what others behind it take of the port."""
        start = self.free()
        beside = next((job for job in self.jobs if job.columns_end > start), None)
        if beside is not None and port:
            beside.columns += port
            self.busy += port
            self.bound = True
        self.before = self.jobs[0]
        self.jobs.append(_Job(start + front, columns, merge))
        self.busy += columns
        before = self.before
        for job in self.jobs:
            job.columns_end = max(job.ready, before.columns_end) + job.columns
            job.end = max(job.columns_end, before.end) + job.merge
            before = job
        return self.jobs[-1]


def schedule(stages: Stages, kernels: int, in_flight: int) -> Schedule:
    """Run positions in order, each on the kernel that is free first.

    Of equals it is the one that holds fewest positions, so that none is idle while another has several that need no
    front; then the one with the lowest number.
    """
    if kernels == in_flight == 1:
        return _one_after_the_other(stages)
    line = [_Kernel(in_flight) for _ in range(kernels)]
    kernel, start, end = np.full_like(stages.front, -1), np.zeros_like(stages.front), np.zeros_like(stages.front)
    jobs: dict[int, _Job] = {}
    rows = zip(stages.front.tolist(), stages.columns.tolist(), stages.merge.tolist(), stages.port.tolist(), strict=True)
    for position, (front, columns, merge, port) in enumerate(rows):
        if not columns:
            continue
        chosen = min(range(kernels), key=lambda number: line[number].turn())
        kernel[position], start[position] = chosen, line[chosen].free()
        jobs[position] = line[chosen].run(front, columns, merge, port)
    for position, job in jobs.items():
        end[position] = job.end
    busy = np.array([one.busy for one in line], np.int64)
    return Schedule(kernel, start, end, busy, any(one.bound for one in line))


def _one_after_the_other(stages: Stages) -> Schedule:
    """The schedule of one kernel with one position at a time."""
    runs = stages.columns > 0
    took = np.where(runs, stages.total, 0)
    end = np.cumsum(took)
    busy = np.array([stages.columns.sum()], np.int64)
    return Schedule(np.where(runs, 0, -1), np.where(runs, end - took, 0), np.where(runs, end, 0), busy, bound=False)
