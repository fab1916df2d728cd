"""`table3`: rates, speedups and seconds of Table III and Fig. 14 beside the model's."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from hls_model.cli import common
from hls_model.cli.tables import table
from hls_model.paper.table3 import OVERHEAD_LATENCY, OVERHEAD_US, Row, reproduce

__all__ = ["add_parser"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "table3", help="rates and speedups of Table III, seconds of Fig. 14", allow_abbrev=False
    )
    common.add_level_option(parser)
    common.add_design_options(parser)
    common.add_output_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from hls_model.plots.platforms import plot_platforms

    rows = reproduce(common.design(args), args.level)
    text = "\n\n".join((_rates(rows), _ld(rows), _totals(rows), _seconds(rows)))
    common.write(args, text, {"mixes": [_record(row) for row in rows]}, lambda: plot_platforms(rows))
    return 0


def _against(value: float, paper: float, digits: int = 0) -> str:
    return f"{value:,.{digits}f} ({100 * (value / paper - 1):+.1f} %)"


def _rates(rows: list[Row]) -> str:
    lines = [
        (
            _title(row),
            f"{row.mix.fpga.omega:,.0f}",
            *(_against(r / 1e6, row.mix.fpga.omega) for r in (row.column_rate, row.grid_rate, row.overhead_rate)),
        )
        for row in rows
    ]
    text = table(("omega, M/s", "paper", "at 0.2 S", "whole grid", "with overhead"), lines)
    notes = (
        "at 0.2 S: the curve of Fig. 11 at 0.2 right-side iterations per SNP",
        "whole grid: the mean over 1,000 positions",
        f"with overhead: the same with a memory latency of {OVERHEAD_LATENCY} cycles and {OVERHEAD_US:g} us a position",
    )
    return "\n".join((text, *notes))


def _ld(rows: list[Row]) -> str:
    lines = [
        (
            _title(row),
            f"{row.mix.fpga.ld:g}",
            _against(row.ld_rate / 1e6, row.mix.fpga.ld, 2),
            f"{row.mix.cpu.ld:g}",
            _against(row.cpu_ld_rate / 1e6, row.mix.cpu.ld, 2),
        )
        for row in rows
    ]
    return table(("LD, M/s", "FPGA, paper", "FPGA", "CPU, paper", "CPU"), lines)


def _totals(rows: list[Row]) -> str:
    lines = [
        (
            _title(row),
            f"{row.omegas:,}",
            f"{row.mix.fpga_speedups['total']:g}",
            _against(row.fpga_speedup, row.mix.fpga_speedups["total"], 2),
            f"{row.mix.gpu_speedups['total']:g}",
            _against(row.gpu_speedup, row.mix.gpu_speedups["total"], 2),
            f"{row.model_speedup:.2f}",
        )
        for row in rows
    ]
    header = ("total speedup", "omegas", "FPGA, paper", "FPGA", "GPU, paper", "GPU", "FPGA, model's rates")
    return table(header, lines)


def _seconds(rows: list[Row]) -> str:
    bars = ("cpu", "amd", "gpu", "fpga", "model")
    lines = []
    for row in rows:
        times = [getattr(row, bar) for bar in bars]
        lines.append((_title(row), *(f"{t.omega:.2f} + {t.ld:.2f} = {t.total:.2f}" for t in times)))
    header = ("seconds, omega + LD", "CPU", "4 cores (AMD)", "GPU", "FPGA", "FPGA, model's rates")
    return table(header, lines)


def _title(row: Row) -> str:
    return f"{row.mix.name} ({row.mix.snps:,} x {row.mix.samples:,})"


def _record(row: Row) -> dict[str, object]:
    record = asdict(row)
    for bar in ("cpu", "amd", "gpu", "fpga", "model"):
        record[f"{bar}_seconds"] = record.pop(bar)
    return record | {
        "fpga_speedup": row.fpga_speedup,
        "gpu_speedup": row.gpu_speedup,
        "model_speedup": row.model_speedup,
        "gpu_kernel_rate": row.gpu_kernel_rate,
    }
