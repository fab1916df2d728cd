"""Table III and Fig. 14 recomputed: rates from the model, and total speedups and seconds from the published rates.

Hardly anything here is a prediction. The memory of the paper's simulation is not known, so its latency is calibrated
(`hls_model.paper.published`); the data sets are not published, so windows and grid were chosen to match the total
speedups; the LD rates rest on fitted constants. What is left to predict are omega rates: with the memory of the board
instead of the simulation's, and, with the latency fitted to the first data set alone, those of the other two. Both take
the windows and the grid as given. Each number says which kind it is (`hls_model.paper.published`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from hls_model.choices import LEFT_BORDERS, Accounting, Level
from hls_model.config import Config
from hls_model.paper.published import (
    AMD_LD_RATES,
    AMD_OMEGA_RATES,
    LATENCY_CYCLES,
    OVERHEAD_CYCLES,
    OVERHEAD_US,
    TABLE1,
    TABLE3,
    Compared,
    Kind,
    Mix,
    Rates,
    as_simulated,
    with_overhead,
)
from hls_model.presets import PRESETS
from hls_model.project import Projection, project
from hls_model.ranges import Range
from hls_model.timing import simulate
from hls_model.uncertainty import Band
from hls_model.workload import Workload

CPU_LD_SECONDS = (52e-9, 40.2e-12)  # per score, and per score and sample: fits the CPU's three LD rates
LATENCIES = (1, 20, OVERHEAD_CYCLES, 50, LATENCY_CYCLES, 100)  # cycles, of the table by latency
MOST_CYCLES = 1 << 12  # of a fitted latency
LD_WHY = "one constant, genotype bits per second, chosen with all three rates in view; it is 90/10's rate times 500"
CPU_LD_WHY = "two constants for three points"
SPEEDUP_WHY = "published rates on windows and a grid that were chosen to match the published total speedups"


@dataclass(frozen=True)
class Seconds:
    """Time of one platform on one data set (a bar of Fig. 14)."""

    omega: float
    ld: float

    @property
    def total(self) -> float:
        """Seconds of both."""
        return self.omega + self.ld


@dataclass(frozen=True)
class Row:
    """One data set of Table III.

    Attributes
    ----------
    mix : Mix
        What is published.
    omegas, ld_scores : int
        Scores of the data set: SNPs spread evenly, OmegaPlus' example windows; LD counted as SNPs squared.
    widest : int
        Right-side iterations of its widest position.
    ld_rate, cpu_ld_rate : float
        Scores of LD per second, of the FPGA by bits per second and of the CPU by its fit.
    column_rate, grid_rate, overhead_rate : float
        Omegas per second of the model with the calibrated memory: at the widest position, averaged over the grid, and
        the latter with a shorter latency and a cost per position.
    fitted_cycles, fitted_rate : int or None, float or None
        Memory latency that gives 50/50's published rate over the grid, and the rate over this grid with it; None for
        designs other than the paper's.
    projection : Projection
        The scan with the memory of the board and all that is not known about it; `board` is its pipelines' part.
    cycles : int
        Memory latency of the other rates.
    of_the_paper : bool
        The design is the paper's.
    cpu, fpga, gpu, amd : Seconds
        From the counts and the published rates; `amd` is the CPU with four cores (section VI.D).
    model : Seconds
        Of the FPGA, from the counts and the model's rates over the grid.
    """

    mix: Mix
    omegas: int
    ld_scores: int
    widest: int
    ld_rate: float
    cpu_ld_rate: float
    column_rate: float
    grid_rate: float
    overhead_rate: float
    fitted_cycles: int | None
    fitted_rate: float | None
    projection: Projection
    cycles: int
    of_the_paper: bool
    cpu: Seconds
    fpga: Seconds
    gpu: Seconds
    amd: Seconds
    model: Seconds

    @property
    def board(self) -> Band:
        """The pipelines with the memory of the board, at both ends of what is not known."""
        assert self.projection.band is not None
        return self.projection.band

    @property
    def totals(self) -> dict[Accounting, Range]:
        """Seconds of the whole scan with the memory of the board, by accounting."""
        return self.projection.totals

    @property
    def fpga_speedup(self) -> float:
        """Total speedup of the FPGA over the CPU from published rates."""
        return self.cpu.total / self.fpga.total

    @property
    def gpu_speedup(self) -> float:
        """Total speedup of the GPU over the CPU from published rates."""
        return self.cpu.total / self.gpu.total

    @property
    def gpu_kernel_rate(self) -> float:
        """Omegas per second of the GPU's kernel alone, from its printed advantage over the FPGA's pipeline."""
        return self.mix.gpu_kernel_over_fpga * self.mix.fpga.omega * 1e6

    @property
    def model_speedup(self) -> float:
        """Total speedup of the model's FPGA over the published CPU."""
        return self.cpu.total / self.model.total

    @property
    def board_seconds(self) -> tuple[float, float]:
        """Least and greatest seconds of LD and omega with the memory of the board."""
        rates = self.board.hardware_rate
        return self.omegas / rates.high + self.model.ld, self.omegas / rates.low + self.model.ld

    def compared(self) -> dict[str, Compared]:
        """Return every number of the row that has a published counterpart, in millions a second or as a factor."""
        mix = self.mix
        calibrated = f"memory latency of {self.cycles} cycles"
        if self.cycles == LATENCY_CYCLES:
            calibrated += ", chosen because it comes near the first two omega rates"
        overhead = f"latency ({OVERHEAD_CYCLES} cycles) and {OVERHEAD_US:g} us: two numbers for three rates"
        rates = {
            "omega_widest": ("omega at the widest position", self.column_rate, mix.fpga.omega, calibrated),
            "omega_grid": ("omega over the grid", self.grid_rate, mix.fpga.omega, calibrated),
            "omega_overhead": ("omega, with a cost for each position", self.overhead_rate, mix.fpga.omega, overhead),
            "ld_fpga": ("LD of the FPGA", self.ld_rate, mix.fpga.ld, LD_WHY),
            "ld_cpu": ("LD of the CPU", self.cpu_ld_rate, mix.cpu.ld, CPU_LD_WHY),
        }
        speedups: dict[str, tuple[str, float, float, Kind, str]] = {
            "fpga": ("FPGA, published rates", self.fpga_speedup, mix.fpga_speedups["total"], "restated", SPEEDUP_WHY),
            "gpu": ("GPU, published rates", self.gpu_speedup, mix.gpu_speedups["total"], "restated", SPEEDUP_WHY),
            "model": ("FPGA, model's rates", self.model_speedup, mix.fpga_speedups["total"], "calibrated",
                      "latency, LD constant and data set are all chosen to match"),
        }  # fmt: skip
        found = {
            key: Compared(name, rate / 1e6, published, "calibrated", why)
            for key, (name, rate, published, why) in rates.items()
        }
        for key, (of, speedup, published, kind, why) in speedups.items():
            found[f"speedup_{key}"] = Compared(f"total speedup of the {of}", speedup, published, kind, why)
        if self.of_the_paper:
            found["omega_board"] = Compared(
                "omega, memory of the board", self.board.likely.hardware_rate / 1e6, mix.fpga.omega, "predicted",
                "latency and efficiency of the board's memory (hls_model.boards); no omega rate was used",
            )  # fmt: skip
        if self.fitted_rate is not None:
            kind = "calibrated" if mix is first_mix() else "predicted"
            fitted = f"memory latency fitted to {first_mix().name} alone"
            used = fitted if kind == "calibrated" else f"{fitted}; no omega rate of this data set was used"
            found["omega_fitted"] = Compared(
                "omega, latency fitted to 50/50", self.fitted_rate / 1e6, mix.fpga.omega, kind, used
            )
        return found


@dataclass(frozen=True)
class ByLatency:
    """The omega rates over the grids with one memory latency, in the order of Table III.

    Attributes
    ----------
    cycles : int
        Memory latency M.
    rates : tuple of Compared
        Millions a second of each data set.
    """

    cycles: int
    rates: tuple[Compared, ...]


def first_mix() -> Mix:
    """Return the data set to which a latency is fitted."""
    return next(iter(TABLE3.values()))


def is_of_the_paper(config: Config) -> bool:
    """Whether a design is the paper's U200 in everything but its name; rates of others are no reproduction."""
    paper = PRESETS[TABLE1["u200"].board]
    return config.but(name=paper.name) == paper


def published_seconds(workload: Workload, config: Config) -> float | None:
    """Return the seconds that the published rates make of a scan; None unless it is one of Table III on the U200."""
    if not is_of_the_paper(config):
        return None
    mixes = (mix for mix in TABLE3.values() if (mix.snps, mix.samples) == (workload.snps, workload.samples))
    for mix in mixes:
        own = workload_of(mix)
        if np.array_equal(own.left, workload.left) and np.array_equal(own.right, workload.right):
            return _seconds_of(own, mix.fpga).total
    return None


def reproduce(config: Config, level: Level = "L1") -> list[Row]:
    """Return the three data sets as the paper has them and as a design would do them.

    Rates are those of the memory of the paper's simulation (`as_simulated`); `Row.board` has the board's.
    """
    cycles = fitted_latency(config, level)
    return [_row(mix, config, cycles, level) for mix in TABLE3.values()]


def compared(rows: Sequence[Row]) -> list[Compared]:
    """Return every number of the rows that has a published counterpart."""
    return [one for row in rows for one in row.compared().values()]


def workload_of(mix: Mix) -> Workload:
    """Return the scan assumed for a data set of Table III, with the windows of OmegaPlus' example."""
    return _uniform(mix.snps, mix.samples)


@cache
def _uniform(snps: int, samples: int) -> Workload:
    return Workload.uniform(snps, samples=samples)


def widest_right(mix: Mix) -> int:
    """Return the right-side iterations of a data set's widest position: those of windows from `minwin` to `maxwin`."""
    return int(workload_of(mix).right.max())


def by_latency(config: Config, level: Level = "L1", latencies: Sequence[int] = LATENCIES) -> list[ByLatency]:
    """Return the omega rates over the grids for each memory latency in cycles."""
    why = "the memory latency is not published, and is varied here"
    return [
        ByLatency(
            cycles,
            tuple(
                Compared(mix.name, _rate(mix, _with_latency(config, cycles), level) / 1e6, mix.fpga.omega,
                         "calibrated", why)
                for mix in TABLE3.values()
            ),
        )
        for cycles in latencies
    ]  # fmt: skip


def fitted_latency(config: Config, level: Level = "L1") -> int | None:
    """Return the memory latency in cycles that comes nearest to 50/50's published rate; None for other designs."""
    if not is_of_the_paper(config):
        return None
    mix = first_mix()

    def off(cycles: int) -> float:
        return _rate(mix, _with_latency(config, cycles), level) / 1e6 - mix.fpga.omega

    low, high = 1, MOST_CYCLES  # the rate falls with the latency
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if off(middle) > 0 else (low, middle)
    return min((low, high), key=lambda cycles: abs(off(cycles)))


def cpu_ld_rate(samples: int) -> float:
    """Return the CPU's scores of LD per second, by a line in the samples near its three published rates."""
    fixed, each = CPU_LD_SECONDS
    return 1 / (fixed + each * samples)


def _with_latency(config: Config, cycles: int) -> Config:
    memory = dataclasses.replace(config.memory, latency_ns=cycles * 1e3 / config.clock_mhz)
    return as_simulated(config.but(memory=memory))


def _rate(mix: Mix, config: Config, level: Level) -> float:
    return simulate(workload_of(mix), config, level).hardware_rate


def _seconds_of(workload: Workload, rates: Rates) -> Seconds:
    """Seconds of a data set at rates in millions a second."""
    return Seconds(workload.omegas / (rates.omega * 1e6), workload.ld_scores / (rates.ld * 1e6))


def _row(mix: Mix, config: Config, fitted: int | None, level: Level) -> Row:
    workload, design, widest = workload_of(mix), as_simulated(config), widest_right(mix)
    column = simulate(Workload.single(LEFT_BORDERS, widest), design, level)
    grid_rate = _rate(mix, design, level)
    ld_rate = config.ld_bits_per_s / mix.samples

    def seconds(rates: Rates) -> Seconds:
        return _seconds_of(workload, rates)

    return Row(
        mix=mix,
        omegas=workload.omegas,
        ld_scores=workload.ld_scores,
        widest=widest,
        ld_rate=ld_rate,
        cpu_ld_rate=cpu_ld_rate(mix.samples),
        column_rate=column.hardware_rate,
        grid_rate=grid_rate,
        overhead_rate=_rate(mix, with_overhead(design), level),
        fitted_cycles=fitted,
        fitted_rate=None if fitted is None else _rate(mix, _with_latency(config, fitted), level),
        projection=project(workload, config, level),
        cycles=design.latency,
        of_the_paper=is_of_the_paper(config),
        cpu=seconds(mix.cpu),
        fpga=seconds(mix.fpga),
        gpu=seconds(mix.gpu),
        amd=seconds(Rates(sum(AMD_OMEGA_RATES) / 2, AMD_LD_RATES[mix.name])),
        model=Seconds(workload.omegas / grid_rate, workload.ld_scores / ld_rate),
    )
