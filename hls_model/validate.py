"""The model against the Verilog: cycles of every level of timing, and the winner of the float32 arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hls_model.functional import Best, run
from hls_model.paper.compared import Kind
from hls_model.rtl import twin
from hls_model.rtl.golden import Case
from hls_model.timing import LEVELS, Timing, simulate

__all__ = ["Check", "check", "live_runs", "same"]


@dataclass(frozen=True)
class Check:
    """A golden case and the results of the model and of a live run for it.

    Attributes
    ----------
    case : Case
        The row of the table.
    timings : dict of str to Timing
        The case at each level.
    computed : Best
        The hardware's winner by the model's arithmetic.
    lanes_agree : bool
        The lanes' maxima of a live run are the model's; true without one.
    live : Run, optional
        The result of the Verilog in a live run.
    """

    case: Case
    timings: Mapping[str, Timing]
    computed: Best
    lanes_agree: bool
    live: twin.Run | None

    @property
    def kind(self) -> Kind:
        """What the row is worth: predicted, as no level reads the table; restated where the Verilog has nothing to do.

        It is evidence that the model and the Verilog are one machine, and none about the hardware of the paper.
        """
        return "predicted" if self.case.touches_hardware else "restated"

    def level_agrees(self, level: str) -> bool:
        """Whether a level has the cycles of the Verilog."""
        return self.timings[level].cycles == self.case.cycles

    @property
    def omega_agrees(self) -> bool:
        """Whether the winner is the Verilog's, bit for bit, and the lanes' maxima are."""
        return same(self.computed, self.case.best) and self.lanes_agree

    @property
    def live_agrees(self) -> bool:
        """Whether the Verilog still does what the table says."""
        return self.live is None or (self.live.cycles == self.case.cycles and same(self.live.best, self.case.best))

    @property
    def agrees(self) -> bool:
        """Whether everything does."""
        return all(map(self.level_agrees, self.timings)) and self.omega_agrees and self.live_agrees


def same(one: Best, other: Best) -> bool:
    """Whether two maxima are equal bit for bit, with their place."""
    return (one.bits, one.column, one.right) == (other.bits, other.column, other.right)


def check(case: Case, live: twin.Run | None = None, levels: Sequence[str] = tuple(LEVELS)) -> Check:
    """Time and compute a golden case with the model.

    Parameters
    ----------
    case : Case
        The row of the table.
    live : Run, optional
        What the Verilog does now, to be compared as well.
    levels : sequence of str
        Levels of timing.
    """
    timings = {level: simulate(case.workload, case.config, level) for level in levels}  # type: ignore[arg-type]
    result = run(case.sums, case.config)
    lanes_agree = live is None or all(map(same, live.lanes, result.lanes))
    return Check(case, timings, result.hardware, lanes_agree, live)


def live_runs(cases: Sequence[Case], folder: Path) -> list[twin.Run]:
    """Build the Verilog of all cases' circuits in a folder and run it.

    Raises
    ------
    ModelError
        Verilator is missing, or a build or a run fails.
    """
    runs: dict[int, twin.Run] = {}
    groups: dict[twin.Circuit, list[int]] = {}
    for index, case in enumerate(cases):
        if case.touches_hardware:
            groups.setdefault(twin.Circuit.of(case.config), []).append(index)
        else:
            runs[index] = twin.Run(0, Best(), (Best(),) * case.config.lanes, ())
    for circuit, members in groups.items():
        bench = twin.build(circuit, folder)
        done = twin.run(bench, [(cases[index].sums, cases[index].config) for index in members])
        runs |= dict(zip(members, done, strict=True))
    return [runs[index] for index in range(len(cases))]
