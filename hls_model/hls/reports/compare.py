"""What a tool reports beside what the model says of the same design."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hls_model.boards import KINDS
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.hls.design import LS_BLOCK, TOP, extent, latency_cycles, port_interval
from hls_model.hls.reports.cosim import Cosimulation, read_cosim
from hls_model.hls.reports.csynth import ReportedLoop, Synthesis, read_csynth
from hls_model.hls.reports.xml_file import LARGEST_REPORT
from hls_model.hls.source import PARTS
from hls_model.reading import read_text
from hls_model.resources import METHODS, estimate
from hls_model.timing import simulate
from hls_model.workload import Workload

__all__ = ["Comparison", "Reports", "Row", "compare", "main_loop", "read_reports"]

Basis = Literal["predicted", "calibrated", "given"]
PIPELINE = "beats"  # label of the pipelined loop of the kernel
FITTED = {"paper-calibrated"}  # methods whose constants come from a published result of the same design
CLOSE_ENOUGH = 1.005  # of two clock periods: reports round them


@dataclass(frozen=True)
class Reports:
    """The reports of one design.

    Attributes
    ----------
    synthesis : Synthesis or None
        That of the top function.
    loops : tuple of ReportedLoop
        Of all functions.
    cosimulations : tuple of Cosimulation
    """

    synthesis: Synthesis | None
    loops: tuple[ReportedLoop, ...]
    cosimulations: tuple[Cosimulation, ...]


@dataclass(frozen=True)
class Row:
    """One quantity.

    Attributes
    ----------
    section, quantity : str
        What it is, and of what.
    reported, model : float or None
        What the tool reports and what the model says; None where it does not.
    basis : {'predicted', 'calibrated', 'given'}
        The model computes it from the design alone; from constants fitted to a result of this design; or it is an
        input of both, which has to agree before the others mean anything.
    """

    section: str
    quantity: str
    reported: float | None
    model: float | None
    basis: Basis

    @property
    def deviation(self) -> float | None:
        """The model's number over the reported one, less 1; None where one is missing or 0 is reported."""
        if self.reported is None or self.model is None or not self.reported:
            return None
        return self.model / self.reported - 1


@dataclass(frozen=True)
class Comparison:
    """All quantities, and what a reader has to know about them."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...]


def read_reports(paths: Sequence[str | os.PathLike[str]], top: str | None = None) -> Reports:
    """Read synthesis and cosimulation reports; what a file is follows from its content.

    Parameters
    ----------
    paths : sequence of path
        Files; with several synthesis reports, one is that of the top function and the others add their loops.
    top : str, optional
        The top function; `omega_kernel` if missing, or the only one there is.

    Raises
    ------
    ModelInputError
        A file that is no such report.
    ModelError
        None of the synthesis reports is that of the top function.
    """
    syntheses: list[Synthesis] = []
    cosimulations: list[Cosimulation] = []
    for path in paths:
        text = read_text(path, "is no text", LARGEST_REPORT)
        if text.lstrip("\ufeff \t\r\n").startswith("<"):
            syntheses.append(read_csynth(path, text))
        else:
            cosimulations += read_cosim(path, text)
    chosen = None
    if syntheses:
        names = [one.top for one in syntheses]
        wanted = top or (TOP if TOP in names or len(syntheses) > 1 else names[0])
        if wanted not in names:
            shown = ", ".join(sorted({name[:60] for name in names}))
            raise ModelError(f"no report is of the function {wanted}, but of {shown}; name the top function with --top")
        chosen = syntheses[names.index(wanted)]
    loops: dict[tuple[str, str], ReportedLoop] = {}
    for one in ([chosen] if chosen else []) + syntheses:
        for loop in one.loops:
            loops.setdefault((loop.module, loop.name), loop)
    return Reports(chosen, tuple(loops.values()), tuple(cosimulations))


def main_loop(loops: Sequence[ReportedLoop], wanted: str | None = None) -> ReportedLoop | None:
    """Return the pipelined loop of the lanes.

    Parameters
    ----------
    loops : sequence of ReportedLoop
        All loops.
    wanted : str, optional
        Its label. If missing it is `beats`, also as the end of the label of joined loops, else the deepest pipeline.

    Raises
    ------
    ModelError
        No pipelined loop has that label.
    """
    pipelined = [loop for loop in loops if loop.interval is not None]
    label = wanted or PIPELINE
    named = [loop for loop in pipelined if loop.label == label or (not wanted and loop.label.endswith(f"_{label}"))]
    if named:
        return named[0]
    if wanted:
        known = ", ".join(dict.fromkeys(loop.label[:60] for loop in pipelined)) or "none"
        raise ModelError(f"no pipelined loop is called {wanted!r}; there are {known}")
    return max(pipelined, key=lambda loop: loop.depth[1] if loop.depth else 0, default=None)


def compare(reports: Reports, config: Config, workload: Workload | None = None, loop: str | None = None) -> Comparison:
    """Put reports beside the model's numbers of a design: those of the pipelines of one kernel, as the source has them.

    Parameters
    ----------
    reports : Reports
    config : Config
        The design that was synthesised; `kernels` does not count, nor do the engines of LD and M.
    workload : Workload, optional
        The positions that the reports' latencies belong to; without it no cycles are compared.
    loop : str, optional
        Label of the pipelined loop.

    Raises
    ------
    ModelError
        No such loop, or a workload without a beat for the lanes.
    """
    rows: list[Row] = []
    notes: list[str] = []
    config = config.but(kernels=1)
    cycles = None if workload is None else _position_cycles(workload, config)
    if reports.synthesis is not None:
        rows += _clock(reports.synthesis, config)
        rows += _loop(main_loop(reports.loops, loop), config, workload, notes)
        rows += _latency(reports.synthesis, cycles)
        rows += _resources(reports.synthesis, config)
        notes += _remarks(reports.synthesis, config)
    if workload is not None and len(workload.left) == 1 and (reports.synthesis is None or reports.synthesis.top == TOP):
        notes.append(_beyond(int(workload.left[0]), int(workload.right[0]), config))
    for one in reports.cosimulations:
        title = f"cosimulation{', ' + one.language if one.language else ''}, cycles"
        model = cycles or (None, None, None)
        names = ("least", "mean", "greatest")
        values = (one.least, one.average, one.most)
        rows += [Row(title, *row, "predicted") for row in zip(names, values, model, strict=True)]
        if one.status and one.status.lower() != "pass":
            notes.append(f"{one.path}: the cosimulation says {one.status!r}; its cycles are those of a wrong result")
    if cycles is None:
        notes.append("no position is given, so no cycles of the model: name it with --left and --right, or a workload")
    return Comparison(tuple(rows), tuple(notes))


def _position_cycles(workload: Workload, config: Config) -> tuple[float, float, float]:
    """Least, mean and greatest cycles of the positions that the hardware touches, without overhead around it."""
    cycles = simulate(workload, config.but(position_overhead_us=0.0)).position_cycles
    touched = cycles[cycles > 0]
    if not len(touched):
        raise ModelError(f"no position has {config.unroll} right-side iterations; there are no cycles to compare")
    return float(touched.min()), float(touched.mean()), float(touched.max())


def _beyond(left: int, right: int, config: Config) -> str:
    """What the kernel does and the model does not: reads of the position's fields and of the left sums ahead."""
    found = extent(left, right, config)
    latency, reads = latency_cycles(config), found.tiles * found.blocks
    cycles = (1 + reads) * latency + found.tiles * left
    return (
        f"{TOP} reads the fields of a position, and LS in blocks of {LS_BLOCK}, before it begins: some {cycles:,} "
        f"cycles here ((1 + {reads}) x {latency} of latency, {found.tiles * left:,} left sums), which the model lacks"
    )


def _clock(found: Synthesis, config: Config) -> Iterator[Row]:
    yield Row("clock, ns", "target", _known(found.target_ns), 1e3 / config.clock_mhz, "given")
    yield Row("clock, ns", "estimated", _known(found.estimated_ns), None, "predicted")


def _loop(loop: ReportedLoop | None, config: Config, workload: Workload | None, notes: list[str]) -> Iterator[Row]:
    if loop is None:
        notes.append("the report lists no pipelined loop: give the reports of the functions below the top as well")
        return
    title = f"loop {loop.label[:60]}"
    trips = None
    if workload is not None and len(workload.left) == 1:
        trips = extent(int(workload.left[0]), int(workload.right[0]), config).trips
    yield Row(title, "initiation interval", _most(loop.interval), port_interval(config), "predicted")
    yield Row(title, "depth", _most(loop.depth), config.depth, "predicted")
    yield Row(title, "trip count", _most(loop.trips), trips, "given")
    notes.append(
        "depth: the model counts from the operands of a beat to the updated maximum; a tool also counts the read of "
        "the port beat, assumed to be 1 to 3 cycles more"
    )


def _latency(found: Synthesis, cycles: tuple[float, float, float] | None) -> Iterator[Row]:
    model = cycles or (None, None, None)
    for name, value, computed in zip(
        ("least", "mean", "greatest"), (found.best, found.average, found.worst), model, strict=True
    ):
        yield Row("latency of the function, cycles", name, value, computed, "predicted")


def _resources(found: Synthesis, config: Config) -> Iterator[Row]:
    available = config.hardware.available
    for kind in KINDS:
        yield Row("available", kind.upper(), found.available[kind], getattr(available, kind), "given")
    for method in METHODS:
        total = estimate(config, method, pipelines_only=True).total
        basis: Basis = "calibrated" if method in FITTED else "predicted"
        for kind in KINDS:
            yield Row(f"used, {method}", kind.upper(), found.used[kind], getattr(total, kind), basis)


def _remarks(found: Synthesis, config: Config) -> Iterator[str]:
    part = PARTS.get(config.board, "")
    if part and found.part and not found.part.lower().startswith(part.split("-")[0]):
        yield f"the report is for {found.part[:60]}, the design for {part}: choose the board with --board"
    period = 1e3 / config.clock_mhz
    if not period / CLOSE_ENOUGH < found.target_ns < period * CLOSE_ENOUGH:
        yield f"the report asks for {found.target_ns:g} ns, the design for {period:g} ns: set clock_mhz"
    margin = 0.0 if math.isnan(found.uncertainty_ns) else found.uncertainty_ns
    if found.estimated_ns > found.target_ns - margin:
        yield (
            f"the estimated period of {found.estimated_ns:g} ns misses the target of {found.target_ns:g} ns less "
            f"{margin:g} ns of uncertainty: the cycles stand, the seconds do not"
        )
    if found.used.get("uram"):
        yield f"the tool took {found.used['uram']:,} URAM, of which the model's designs use none"
    if found.worst is None:
        yield "the report knows no latency: its loops have bounds that only the data tell"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _most(count: tuple[int, int] | None) -> int | None:
    return None if count is None else count[1]
