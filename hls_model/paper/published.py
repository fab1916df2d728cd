"""The numbers that the paper prints, as data: Tables I, III and IV, and what sections V and VI say in words.

Rates are in million scores per second. "Accelerating selective sweep detection using GPUs and FPGAs" (Corts, Sterenborg
and Alachiotis). Its FPGA rates of omega come from post-place-and-route simulation, and those of LD are "performance
numbers reported by Bozikas et al.", whose platform is a Convey HC-2ex with four Virtex-6 LX760: another machine than
the boards of Table I, and the paper does not say how many of the four the rates are for.

Each number of the model that is compared with one of the paper is (`Compared`)

- predicted: the model's output; no parameter was chosen with the published number in view. Only these are evidence.
- calibrated: a parameter was chosen so that the model gives the published number, or one of a group that holds it.
- restated: arithmetic on published numbers, or on a data set that was chosen to match them.

The memory of the paper's simulation is inferred (`as_simulated`). The FPGA's rates come "from post-place-and-route
cycle accurate simulations" (section VI.D), not from a board. The paper states neither bandwidth nor latency of the
memory there. A memory that keeps up with the ports, and a latency of 64 cycles, give the first two rates of Table III
within 8 %. The 64 cycles are calibrated: 64 is the default of `m_axi_latency` in the Vitis flow of HLS, a scheduling
expectation, but 0 is that of the Vivado flow (AMD UG1399, Default Settings of Vivado/Vitis Flows), and the paper used
Vivado HLS 2020.1. By the rates alone 50 cycles would fit better (`hls_model.paper.table3.fitted_latency`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from hls_model.boards import Amount
from hls_model.config import Config

Kind = Literal["predicted", "calibrated", "restated"]
KINDS: tuple[Kind, ...] = ("predicted", "calibrated", "restated")


@dataclass(frozen=True)
class Compared:
    """One number of the model and the published one.

    Attributes
    ----------
    name : str
        What is compared.
    value, published : float
        The model's number and the paper's, in the same unit.
    kind : {'predicted', 'calibrated', 'restated'}
        What their agreement is worth.
    why : str
        Which number was used, or that none was.
    """

    name: str
    value: float
    published: float
    kind: Kind
    why: str

    @property
    def deviation(self) -> float:
        """The model's number over the published one, less 1."""
        return self.value / self.published - 1

    def text(self, digits: int = 0) -> str:
        """Return the model's number, its deviation and the first letter of its kind."""
        return f"{self.value:,.{digits}f} ({100 * self.deviation:+.1f} %) {self.kind[0]}"

    def record(self) -> dict[str, object]:
        """Return the comparison for JSON."""
        return {**vars(self), "deviation": self.deviation}


def evidence(rows: Iterable[Compared]) -> list[Compared]:
    """Return the rows that count as evidence: those that are predicted."""
    return [row for row in rows if row.kind == "predicted"]


def evidence_text(rows: Iterable[Compared], others: str = "the paper's") -> str:
    """Return how many numbers there are of each kind, and how those deviate that are evidence."""
    every = list(rows)
    found = evidence(every)
    counts = ", ".join(f"{sum(row.kind == kind for row in every)} {kind}" for kind in KINDS)
    text = f"{len(every)} numbers compared with {others}: {counts} (p, c, r)"
    if not found:
        return f"{text}; none is evidence"
    off = [100 * row.deviation for row in found]
    only = "only the predicted are evidence"
    return f"{text}; {only}, and deviate by {min(off):+.1f} to {max(off):+.1f} %"


@dataclass(frozen=True)
class System:
    """A column of Table I, and the range of its evaluation.

    Attributes
    ----------
    board : str
        Short name of the board, which is that of the preset as well.
    unroll, clock_mhz : int, float
        Unroll factor and clock.
    used : Amount
        Resources used.
    percent : dict of str to float
        Share of the device as printed.
    figure, most_right : int, int
        The figure of its throughput, and the most right-side iterations of the data sets of its evaluation (section
        VI.A). That the 90 % line is crossed within them is our inference.
    """

    board: str
    unroll: int
    clock_mhz: float
    used: Amount
    percent: Mapping[str, float]
    figure: int
    most_right: int


TABLE1: Mapping[str, System] = {
    system.board: system
    for system in (
        System(
            "zcu102", 4, 100.0, Amount(36, 48, 12_003, 12_847),
            {"bram18k": 1.97, "dsp": 1.90, "ff": 2.19, "lut": 4.69}, 10, 4_500,
        ),
        System(
            "u200", 32, 250.0, Amount(40, 215, 50_841, 50_584),
            {"bram18k": 0.93, "dsp": 3.14, "ff": 2.15, "lut": 4.28}, 11, 30_500,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Rates:
    """Million scores per second of one platform (Table III)."""

    omega: float
    ld: float


@dataclass(frozen=True)
class Mix:
    """A row of Table III: a data set, and what each platform does on it.

    Attributes
    ----------
    name : str
        Shares of omega and LD in the CPU's time.
    snps, samples : int
        Size of the data set (section VI.D).
    cpu, fpga, gpu : Rates
        Million scores per second.
    fpga_speedups, gpu_speedups : dict of str to float
        Printed speedups over the CPU: 'omega', 'ld' and 'total' (the text after Fig. 14).
    gpu_kernel_over_fpga : float
        How much faster than the FPGA's pipeline the GPU's kernel alone is (end of section VI.D).
    """

    name: str
    snps: int
    samples: int
    cpu: Rates
    fpga: Rates
    gpu: Rates
    fpga_speedups: Mapping[str, float]
    gpu_speedups: Mapping[str, float]
    gpu_kernel_over_fpga: float


TABLE3: Mapping[str, Mix] = {
    mix.name: mix
    for mix in (
        Mix(
            "50/50", 13_000, 7_000, Rates(71.26, 2.98), Rates(3500.0, 38.2), Rates(206.72, 37.14),
            {"omega": 49.1, "ld": 12.8, "total": 21.4}, {"omega": 2.9, "ld": 12.5, "total": 4.5}, 4.3,
        ),
        Mix(
            "90/10", 15_000, 500, Rates(60.76, 13.91), Rates(3750.0, 535.0), Rates(173.26, 32.25),
            {"omega": 61.7, "ld": 38.5, "total": 57.1}, {"omega": 2.9, "ld": 2.3, "total": 2.8}, 4.2,
        ),
        Mix(
            "10/90", 5_000, 60_000, Rates(72.5, 0.41), Rates(1500.0, 4.5), Rates(181.1, 15.84),
            {"omega": 20.7, "ld": 11.0, "total": 11.8}, {"omega": 2.5, "ld": 38.9, "total": 12.9}, 7.4,
        ),
    )
}  # fmt: skip

# The 4-core AMD A10-5757M (section VI.D): LD by mix, and the range of its omegas.
AMD_LD_RATES: Mapping[str, float] = {"50/50": 4.0, "90/10": 41.0, "10/90": 0.5}
AMD_OMEGA_RATES = (119.0, 120.0)


LATENCY_CYCLES = 64
OVERHEAD_CYCLES, OVERHEAD_US = 37, 133.0  # latency and cost per grid position that fit all three omega rates


def as_simulated(config: Config) -> Config:
    """Return the design with that memory, where it does not set its own latency or efficiency."""
    memory = config.memory
    latency_ns = memory.latency_ns or LATENCY_CYCLES * 1e3 / config.clock_mhz
    return config.but(memory=dataclasses.replace(memory, latency_ns=latency_ns, efficiency=memory.efficiency or 1.0))


def with_overhead(config: Config) -> Config:
    """Return the design with a shorter latency and a cost per grid position: two numbers that fit three rates."""
    memory = dataclasses.replace(config.memory, latency_ns=OVERHEAD_CYCLES * 1e3 / config.clock_mhz)
    return config.but(memory=memory, position_overhead_us=OVERHEAD_US)
