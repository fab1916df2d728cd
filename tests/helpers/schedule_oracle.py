"""Kernels that work on positions, stepped through every cycle with one counter for each stage."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class _Kernel:
    in_flight: int
    front: tuple[int, int] | None = None  # (position, cycles left)
    ready: list[int] = field(default_factory=list)  # prefetched, in order
    columns: tuple[int, int] | None = None
    unmerged: list[int] = field(default_factory=list)
    merge: tuple[int, int] | None = None
    held: int = 0

    def free(self) -> bool:
        return self.front is None and self.held < self.in_flight


def run(positions: list[tuple[int, int, int, int]], kernels: int, in_flight: int) -> list[tuple[int, int, int]]:
    """Return (kernel, start, end) of each position of (front, columns, merge, port) cycles, all at least 1 but port.

    A front that begins while columns run adds its port cycles to theirs.
    """
    line = [_Kernel(in_flight) for _ in range(kernels)]
    waiting = list(range(len(positions)))
    found = [[-1, 0, 0] for _ in positions]
    now = 0
    while waiting or any(kernel.held for kernel in line):
        while waiting and any(kernel.free() for kernel in line):
            number = min((kernel.held, n) for n, kernel in enumerate(line) if kernel.free())[1]
            position = waiting.pop(0)
            line[number].front = (position, positions[position][0])
            line[number].held += 1
            if line[number].columns is not None:
                running, left = line[number].columns
                line[number].columns = (running, left + positions[position][3])
            found[position][:2] = number, now
        now += 1
        for kernel in line:
            _step(kernel, positions, found, now)
    return [(kernel, start, end) for kernel, start, end in found]


def _step(kernel: _Kernel, positions: list[tuple[int, int, int, int]], found: list[list[int]], now: int) -> None:
    """Let a cycle pass, which ends at `now`."""
    for stage in ("front", "columns", "merge"):
        work = getattr(kernel, stage)
        if work is not None:
            setattr(kernel, stage, (work[0], work[1] - 1))
    if kernel.merge is not None and kernel.merge[1] == 0:
        found[kernel.merge[0]][2] = now
        kernel.merge, kernel.held = None, kernel.held - 1
    if kernel.front is not None and kernel.front[1] == 0:
        kernel.ready.append(kernel.front[0])
        kernel.front = None
    if kernel.columns is not None and kernel.columns[1] == 0:
        kernel.unmerged.append(kernel.columns[0])
        kernel.columns = None
    if kernel.columns is None and kernel.ready:
        position = kernel.ready.pop(0)
        kernel.columns = (position, positions[position][1])
    if kernel.merge is None and kernel.unmerged:
        position = kernel.unmerged.pop(0)
        kernel.merge = (position, positions[position][2])
