"""`table1` and `table3`: Table I, Table III and Fig. 14 of the paper, and the model's numbers for them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from hls_model.boards import KINDS
from hls_model.choices import ACCOUNTINGS
from hls_model.paper.published import KINDS as COMPARED_KINDS, OVERHEAD_CYCLES, OVERHEAD_US, Compared, evidence_text
from hls_model.ranges import Range
from hls_model.records import record_of
from hls_model.text import range_text
from oclgenomics.fpga import plots
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.common import table, table_of
from oclgenomics.fpga.commands.projection_text import TITLES
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from hls_model.paper.table1 import Column
    from hls_model.paper.table3 import ByLatency, Row

table1 = late("hls_model.paper.table1")
table3 = late("hls_model.paper.table3")

LEGEND1 = "p predicted, c calibrated (chosen to match Table I)"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands."""
    common.add_shared_options(common.add_command(subparsers, "table1", _run_table1), "")
    parser = common.add_command(subparsers, "table3", _run_table3)
    common.add_shared_options(parser, "level design uncertainty")


def _run_table1(args: argparse.Namespace) -> int:
    """Run the command."""
    columns = table1.reproduce()
    blocks = [_column_text(column) for column in columns]
    notes = [f"- {sentence}" for sentence in table1.contradictions()]
    every = _estimates(columns)
    text = "\n\n".join((*blocks, f"{evidence_text(every)}\n{LEGEND1}"))
    text += "\n\nWhere the paper contradicts itself:\n" + "\n".join(notes)
    record = {
        "boards": [_column_record(column) for column in columns],
        "kinds": {kind: sum(one.kind == kind for one in every) for kind in COMPARED_KINDS},
        "contradictions": table1.contradictions(),
    }
    return common.write(args, text, record, lambda: plots.plot_table1(columns))


def _estimates(columns: list[Column]) -> list[Compared]:
    """All amounts compared with those of Table I; the percentages are the same numbers once more."""
    rows = (row for column in columns for name, row in column.compared().items() if name != "percent")
    return [one for row in rows for one in row.values()]


def _column_text(column: Column) -> str:
    system = column.system
    printed = (f"{getattr(system.used, kind):,} ({system.percent[kind]:.2f} %)" for kind in KINDS)
    rows = [("Table I", *printed)]
    compared = column.compared()
    for resources in column.estimates:
        name = table1.estimate_name(resources)
        rows.append((name, *(_beside(compared[name][kind]) for kind in KINDS)))
    title = f"{system.board}: unroll {system.unroll}, {system.clock_mhz:g} MHz"
    return f"{title}\n" + table(("", *(kind.upper() for kind in KINDS)), rows)


def _beside(one: Compared) -> str:
    return f"{one.value:,.0f} ({100 * one.deviation:+.0f} %) {one.kind[0]}"


def _column_record(column: Column) -> dict[str, object]:
    return {
        **record_of(column.system, "board unroll paper=used paper_percent=percent"),
        "percent": column.percent,
        "compared": {
            name: {kind: one.record() for kind, one in row.items()} for name, row in column.compared().items()
        },
        "model": [{"method": one.method, "lanes": one.config.lanes, **vars(one.total)} for one in column.estimates],
    }


RATES = {
    "omega_widest": "widest position",
    "omega_grid": "whole grid",
    "omega_fitted": "fitted to 50/50",
    "omega_overhead": "with overhead",
}
UNITS = {  # names of rates in JSON
    "ld_rate": "ld_scores_per_s",
    "cpu_ld_rate": "cpu_ld_scores_per_s",
    "column_rate": "widest_omega_per_s",
    "grid_rate": "grid_omega_per_s",
    "overhead_rate": "overhead_omega_per_s",
    "fitted_rate": "fitted_omega_per_s",
}
BARS = ("cpu", "amd", "gpu", "fpga", "model")
LEGEND3 = (
    "p predicted, c calibrated (a parameter was chosen to match), r restated (arithmetic on published numbers)\n"
    "all omega rates rest on windows and a grid that were chosen to match the published total speedups"
)


def _run_table3(args: argparse.Namespace) -> int:
    """Run the command."""
    config = common.fitting_design(args)
    rows, latencies = table3.reproduce(config, args.level), table3.by_latency(config, args.level)
    blocks = (
        _rates(rows, args.uncertainty), _latencies(latencies), table_of(rows, LD_COLUMNS),
        table_of(rows, SPEEDUP_COLUMNS), _seconds(rows), _totals(rows, args.uncertainty),
        f"{evidence_text(table3.compared(rows))}\n{LEGEND3}",
    )  # fmt: skip
    record = {
        "mixes": [_row_record(row) for row in rows],
        "by_latency": [{"cycles": one.cycles, "omega": [rate.record() for rate in one.rates]} for one in latencies],
        "kinds": {kind: sum(one.kind == kind for one in table3.compared(rows)) for kind in COMPARED_KINDS},
    }
    return common.write(
        args, "\n\n".join(blocks), record, lambda: plots.plot_platforms(rows, uncertainty=args.uncertainty)
    )


def _rates(rows: list[Row], uncertainty: bool) -> str:
    columns = [key for key in RATES if key in rows[0].compared()]

    def cells(row: Row) -> tuple[str, ...]:
        rates = (row.compared()[key].text() for key in columns)
        return (_title(row), f"{row.mix.fpga.omega:,.0f}", *rates, *_board_cells(row, uncertainty))

    header = ("omega, M/s", "paper", *(RATES[key] for key in columns), "memory of the board", "deviation")
    first = rows[0]
    widest = ", ".join(f"{row.widest:,}" for row in rows)
    shares = " or ".join(dict.fromkeys(f"{row.widest / row.mix.snps:.3f}" for row in rows))
    notes = [
        f"widest position: {widest} right-side iterations, {shares} for each SNP; "
        f"memory at full rate with a latency of {first.cycles} cycles",
        "whole grid: the mean over 1,000 positions, same memory",
        f"with overhead: the same with a memory latency of {OVERHEAD_CYCLES} cycles and {OVERHEAD_US:g} us a position",
        "memory of the board: its latency and efficiency, and the range over all that is not known",
    ]
    if first.fitted_cycles is not None:
        notes.insert(2, f"fitted to 50/50: whole grid, latency of {first.fitted_cycles} cycles")
    if not first.of_the_paper:
        notes.append("this design is not the paper's: what it deviates by says nothing about the model")
    return "\n".join((table(header, map(cells, rows)), *notes))


def _board_cells(row: Row, uncertainty: bool) -> tuple[str, str]:
    """The rate with the board's memory, and its deviation with the letter of its kind where that is a reproduction."""
    rate = row.board.hardware_rate.times(1e-6)
    one = row.compared().get("omega_board")
    text = range_text(rate if uncertainty else Range.exactly(rate.likely), "")
    return text, f"{100 * one.deviation:+.1f} % {one.kind[0]}" if one else "-"


def _latencies(latencies: list[ByLatency]) -> str:
    """The deviations of the three rates by memory latency."""
    header = ("memory latency, cycles", *(rate.name for rate in latencies[0].rates))
    lines = [(f"{one.cycles}", *(f"{100 * rate.deviation:+.1f} %" for rate in one.rates)) for one in latencies]
    return "omega over the whole grid against the paper, by memory latency\n" + table(header, lines)


LD_COLUMNS: dict[str, Callable[[Row], str]] = {
    "LD, M/s": lambda row: _title(row),
    "FPGA, paper": lambda row: f"{row.mix.fpga.ld:g}",
    "FPGA": lambda row: row.compared()["ld_fpga"].text(2),
    "CPU, paper": lambda row: f"{row.mix.cpu.ld:g}",
    "CPU": lambda row: row.compared()["ld_cpu"].text(2),
}
SPEEDUP_COLUMNS: dict[str, Callable[[Row], str]] = {
    "total speedup": lambda row: _title(row),
    "omegas": lambda row: f"{row.omegas:,}",
    "FPGA, paper": lambda row: f"{row.mix.fpga_speedups['total']:g}",
    "FPGA": lambda row: row.compared()["speedup_fpga"].text(2),
    "FPGA, model's rates": lambda row: row.compared()["speedup_model"].text(2),
    "GPU, paper": lambda row: f"{row.mix.gpu_speedups['total']:g}",
    "GPU": lambda row: row.compared()["speedup_gpu"].text(2),
}


def _seconds(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        times = [getattr(row, bar) for bar in BARS]
        lines.append((_title(row), *(f"{t.omega:.2f} + {t.ld:.2f} = {t.total:.2f}" for t in times)))
    header = ("seconds, omega + LD", "CPU", "4 cores (AMD)", "GPU", "FPGA", "FPGA, model's rates")
    return table(header, lines)


def _totals(rows: list[Row], uncertainty: bool) -> str:
    """The whole scan on the board by each accounting, and whether the paper's total lies in its range."""
    lines = []
    for row in rows:
        cells = [f"{row.fpga.total:.2f} s"]
        for name in ACCOUNTINGS:
            seconds = row.totals[name]
            cells.append(range_text(seconds if uncertainty else Range.exactly(seconds.likely)))
            cells.append("holds the paper's" if seconds.holds(row.fpga.total) else "does not")
        lines.append((_title(row), *cells))
    titles = (cell for name in ACCOUNTINGS for cell in (TITLES[name], "its range"))
    header = ("whole scan, memory of the board", "FPGA, paper", *titles)
    return "\n".join([table(header, lines), *(f"{TITLES[name]}: {what}" for name, what in ACCOUNTINGS.items())])


def _title(row: Row) -> str:
    return f"{row.mix.name} ({row.mix.snps:,} x {row.mix.samples:,})"


def _row_record(row: Row) -> dict[str, object]:
    kept = [entry.name for entry in fields(row) if entry.name not in (*BARS, "projection", "mix")]
    record: dict[str, object] = {UNITS.get(name, name): getattr(row, name) for name in kept}
    return record | {
        "mix": asdict(row.mix),
        **{f"{bar}_seconds": asdict(getattr(row, bar)) for bar in BARS},
        "board_omega_per_s": row.board.hardware_rate.record(),
        "board_total_seconds": {name: seconds.record() for name, seconds in row.totals.items()},
        **record_of(row, "fpga_speedup gpu_speedup model_speedup gpu_kernel_omega_per_s=gpu_kernel_rate"),
        "compared": {key: one.record() for key, one in row.compared().items()},
    }
