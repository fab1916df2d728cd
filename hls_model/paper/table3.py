"""Table III and Fig. 14 recomputed: rates from the model, and total speedups and seconds from the published rates.

Nothing is fitted but `WITH_OVERHEAD`, which is shown as one explanation of the third row and is no default.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from hls_model.config import Config
from hls_model.curve import COLUMNS
from hls_model.paper.published import AMD_LD_RATES, AMD_OMEGA_RATES, TABLE3, Mix, Rates
from hls_model.paper.simulated import as_simulated
from hls_model.timing import simulate
from hls_model.timing.result import Level
from hls_model.workload import Workload

__all__ = ["Row", "Seconds", "cpu_ld_rate", "reproduce", "with_overhead", "workload_of"]

REACH = 0.2  # right-side iterations per SNP: 20 of 100 kb
CPU_LD_SECONDS = (52e-9, 40.2e-12)  # per score, and per score and sample: fits the CPU's three LD rates
OVERHEAD_LATENCY, OVERHEAD_US = 37, 133.0


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
    ld_rate, cpu_ld_rate : float
        Scores of LD per second, of the FPGA by bits per second and of the CPU by its fit.
    column_rate, grid_rate, overhead_rate : float
        Omegas per second of the model: read off the throughput curve at 0.2 right-side iterations per SNP, averaged
        over the grid, and the latter with a cost per position.
    cpu, fpga, gpu, amd : Seconds
        From the counts and the published rates; `amd` is the CPU with four cores (section VI.D).
    model : Seconds
        Of the FPGA, from the counts and the model's rates over the grid.
    """

    mix: Mix
    omegas: int
    ld_scores: int
    ld_rate: float
    cpu_ld_rate: float
    column_rate: float
    grid_rate: float
    overhead_rate: float
    cpu: Seconds
    fpga: Seconds
    gpu: Seconds
    amd: Seconds
    model: Seconds

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


def reproduce(config: Config, level: Level = "L1") -> list[Row]:
    """Return the three data sets as the paper has them and as a design would do them, in the paper's simulation."""
    design = as_simulated(config)
    return [_row(mix, design, level) for mix in TABLE3.values()]


def workload_of(mix: Mix) -> Workload:
    """Return the scan assumed for a data set of Table III, with the windows of OmegaPlus' example."""
    return Workload.uniform(mix.snps, samples=mix.samples)


def with_overhead(config: Config) -> Config:
    """Return the design with a shorter memory latency and a cost per grid position that fit all three omega rates."""
    memory = dataclasses.replace(config.memory, latency_ns=1e3 * OVERHEAD_LATENCY / config.clock_mhz)
    return config.but(memory=memory, position_overhead_us=OVERHEAD_US)


def cpu_ld_rate(samples: int) -> float:
    """Return the CPU's scores of LD per second, by a line in the samples through its three published rates."""
    fixed, each = CPU_LD_SECONDS
    return 1 / (fixed + each * samples)


def _row(mix: Mix, config: Config, level: Level) -> Row:
    workload = workload_of(mix)
    column = simulate(Workload.single(COLUMNS, int(REACH * mix.snps)), config, level)
    grid = simulate(workload, config, level)
    ld_rate = config.ld_bits_per_s / mix.samples

    def seconds(rates: Rates) -> Seconds:
        return Seconds(workload.omegas / (rates.omega * 1e6), workload.ld_scores / (rates.ld * 1e6))

    return Row(
        mix=mix,
        omegas=workload.omegas,
        ld_scores=workload.ld_scores,
        ld_rate=ld_rate,
        cpu_ld_rate=cpu_ld_rate(mix.samples),
        column_rate=column.hardware_rate,
        grid_rate=grid.hardware_rate,
        overhead_rate=simulate(workload, with_overhead(config), level).hardware_rate,
        cpu=seconds(mix.cpu),
        fpga=seconds(mix.fpga),
        gpu=seconds(mix.gpu),
        amd=seconds(Rates(sum(AMD_OMEGA_RATES) / 2, AMD_LD_RATES[mix.name])),
        model=Seconds(workload.omegas / grid.hardware_rate, workload.ld_scores / ld_rate),
    )
