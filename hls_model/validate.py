"""The model against the Verilog: cycles of every level of timing, and the winner of the float32 arithmetic.

The read rates of a vendor's log on a U200 are compared with those that the event engine gives for the same ports and
bursts. The log is that of `axi_burst_performance` for 16 MB: kernels at 300 MHz that read one bank of DDR4 through one
port, in bursts of 4 to 32 beats of which 4 or 32 are under way. Three of its twelve rates were used: the board's
latency comes from the two with the fewest beats under way, and its best efficiency from the fastest. Nine are left to
predict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hls_model.boards import Source, find_board
from hls_model.cycles import cycles_of
from hls_model.functional import Best, run, same
from hls_model.paper.published import Compared, Kind
from hls_model.rtl import twin
from hls_model.rtl.golden import Case
from hls_model.streams import Flow, ReadPath, Supply, slower
from hls_model.timing import LEVELS, Timing, simulate


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


def live_runs(
    cases: Sequence[Case], folder: Path, progress: Callable[[int, int], None] | None = None
) -> list[twin.Run]:
    """Build the Verilog of all cases' circuits in a folder and run it; `progress` gets circuits done and in all.

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
    for done, (circuit, members) in enumerate(groups.items()):
        if progress is not None:
            progress(done, len(groups))
        bench = twin.build(circuit, folder)
        ran = twin.run(bench, [(cases[index].sums, cases[index].config) for index in members])
        runs |= dict(zip(members, ran, strict=True))
    return [runs[index] for index in range(len(cases))]


BOARD = "u200"
CLOCK_MHZ = 300.0
BYTES = 1 << 20  # a sixteenth of what was read: the rate is that of all but the first beat, and does not change
GIB = 1 << 30
SOURCE = Source(
    "Vitis_Accel_Examples, performance/axi_burst_performance",
    "https://github.com/Xilinx/Vitis_Accel_Examples/blob/main/performance/axi_burst_performance/README.rst",
    "U200, reads of 16 MB, kernels at 300 MHz; its GB are 2^30 bytes",
)
BANK_GBPS = find_board(BOARD).bank_gbps
BUFFER_BEATS = 1 << 10  # room for all bursts under way; the consumer takes a beat a cycle


@dataclass(frozen=True)
class BurstRate:
    """A row of the log.

    Attributes
    ----------
    port_bits, burst_length, outstanding : int
        Width of the port, beats of a burst, and bursts under way.
    gib_per_s : float
        What was measured, in GiB/s.
    used_for : str
        The figure of the board that was taken from it; empty where none was.
    """

    port_bits: int
    burst_length: int
    outstanding: int
    gib_per_s: float
    used_for: str = ""

    @property
    def name(self) -> str:
        """What was read, in a few words."""
        return f"{self.port_bits} bit, {self.outstanding} bursts of {self.burst_length}"

    @property
    def gbps(self) -> float:
        """The same in GB/s."""
        return self.gib_per_s * GIB / 1e9


LOG = (
    BurstRate(256, 4, 4, 2.02206, "latency"),
    BurstRate(256, 16, 4, 6.80909),
    BurstRate(256, 32, 4, 8.59958),
    BurstRate(256, 4, 32, 8.68773),
    BurstRate(256, 16, 32, 8.93942),
    BurstRate(256, 32, 32, 8.93942),
    BurstRate(512, 4, 4, 3.92988, "latency"),
    BurstRate(512, 16, 4, 13.1114),
    BurstRate(512, 32, 4, 16.8218),
    BurstRate(512, 4, 32, 16.8222),
    BurstRate(512, 16, 32, 16.8295, "efficiency"),
    BurstRate(512, 32, 32, 16.8219),
)


def best_efficiency() -> float:
    """Return the share of the bank's peak that the fastest row reaches."""
    return max(row.gbps for row in LOG) / BANK_GBPS


def modelled(row: BurstRate, efficiency: float, latency_ns: float | None = None) -> float:
    """Return the GB/s of the event engine for the port and the bursts of a row.

    Parameters
    ----------
    row : BurstRate
    efficiency : float
        Share of the bank's peak that is reached.
    latency_ns : float, optional
        From a request to its first data; the board's likely one if missing.
    """
    latency = find_board(BOARD).latency_ns.likely if latency_ns is None else latency_ns
    port = row.port_bits / 8 * CLOCK_MHZ * 1e6
    lost = max(round(1_000 * (port / (BANK_GBPS * 1e9 * efficiency) - 1)), 0)
    supply = Supply(
        cycles_of(latency, CLOCK_MHZ), row.burst_length, outstanding=row.outstanding,
        fifo_beats=BUFFER_BEATS, late=slower(lost, 1_000),
    )  # fmt: skip
    issues = ReadPath([Flow(supply)], BYTES * 8 // row.port_bits, 1).column()
    seconds = int(issues[-1] - issues[0]) / (CLOCK_MHZ * 1e6)
    return (BYTES - row.port_bits / 8) / seconds / 1e9


def compared(efficiency: float, rows: Sequence[BurstRate] = LOG) -> list[Compared]:
    """Return each measured rate in GB/s and the engine's at an efficiency, and what the agreement is worth."""
    fitted = efficiency == best_efficiency()
    found = []
    for row in rows:
        used = row.used_for == "latency" or (fitted and row.used_for == "efficiency")
        value = modelled(row, efficiency)
        why = f"the board's {row.used_for} was taken from this rate" if used else "this rate was used for nothing"
        found.append(Compared(row.name, value, row.gbps, "calibrated" if used else "predicted", why))
    return found
