"""`validate`: the model against the Verilog, from the golden table or by running the Verilog now."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hls_model.boards import find_board
from hls_model.choices import LEVELS
from hls_model.errors import ModelError
from hls_model.records import record_of
from oclgenomics.app.commands import count, started_progress
from oclgenomics.app.files import reads, works_in
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.common import table
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from hls_model.validate import Check

golden = late("hls_model.rtl.golden")
validate = late("hls_model.validate")

DIFFERS = 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = common.add_command(
        subparsers, "validate", run,
        "Compare cycles of all levels of timing and the winning omega with those that the Verilog had when "
        "its runs were recorded, or with --live has now. Exit status 1 says that something differs. The read rates of "
        "a vendor's log on a U200 are compared with those of the model as well.",
    )  # fmt: skip
    parser.add_argument(
        "--live", action="store_true", help="build the Verilog and run it now (needs verilator; takes minutes)"
    )
    parser.add_argument(
        "--lanes", type=count, metavar="P",
        help="only designs with at most P lanes; few lanes build quickly (default: all)",
    )  # fmt: skip
    works_in(parser.add_argument(
        "--build-folder", metavar="FOLDER",
        help="keep the built Verilog here for the next time (default: a temporary one)",
    ))  # fmt: skip
    reads(parser.add_argument(
        "--table", metavar="FILE", help="table of runs (default: the one shipped)"
    ))  # fmt: skip
    parser.add_argument(
        "--update", action="store_true", help="run the Verilog and write its results into the table; implies --live"
    )
    common.add_shared_options(parser, "", plot="")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    path = golden.TABLE if args.table is None else Path(args.table)
    cases = golden.read_cases(path)
    if args.update and args.lanes is not None:
        raise ModelError("--update writes the whole table; leave --lanes out")
    if args.lanes is not None:
        cases = [case for case in cases if case.config.lanes <= args.lanes]
    runs = None
    if args.live or args.update:
        with tempfile.TemporaryDirectory() as temporary:
            progress = started_progress(args, "building and running the Verilog", "circuits", 1)
            runs = validate.live_runs(cases, Path(args.build_folder or temporary), progress.update)
            progress.clear()
        if args.update:
            cases = [case.with_result(one) for case, one in zip(cases, runs, strict=True)]
            golden.write_cases(cases, path)
    checks = [validate.check(case, runs[index] if runs else None) for index, case in enumerate(cases)]
    differ = [one for one in checks if not one.agrees]
    summary = _summary(len(checks), len(differ), live=runs is not None)
    record = _record(checks, live=runs is not None)
    text = f"{_table(checks)}\n{summary}\n{_worth(checks)}\n\n{_bursts_text()}"
    common.write(args, text, record | {"burst_log": _bursts_record()})
    if differ and (args.json or args.output != "-"):
        print(f"oclgenomics: {summary}", file=sys.stderr)
    return DIFFERS if differ else 0


def _summary(count: int, differ: int, *, live: bool) -> str:
    if live:
        return f"{count} live runs of the Verilog compared with the model and with the recorded ones, {differ} differ"
    return (
        f"{count} recorded runs of the Verilog compared with the model, {differ} differ; --live runs the Verilog again"
    )


def _worth(checks: Sequence[Check]) -> str:
    """How many rows are evidence, and of what."""
    predicted = sum(one.kind == "predicted" for one in checks)
    restated = len(checks) - predicted
    text = f"{predicted} rows are predicted: evidence that the model and the Verilog agree, not about the paper's FPGAs"
    return text + (f"; {restated} restated: the pipelines have nothing to do there" if restated else "")


def _table(checks: Sequence[Check]) -> str:
    heads = [f"{'lanes':>5} {'left':>5} {'right':>5} {'verilog':>9}"]
    heads += [f"{level:>10}" for level in LEVELS]
    lines = ["".join(heads) + "  omega  settings"]
    for one in checks:
        case = one.case
        shown = [f"{case.config.lanes:>5} {case.left:>5} {case.right:>5} {case.cycles:>9}"]
        for level, timing in one.timings.items():
            mark = "!" if not one.level_agrees(level) else " "
            shown.append(f"{mark}{timing.cycles:>9}")
        omega = ("equal" if one.omega_agrees else "DIFFER") + ("" if one.live_agrees else " LIVE DIFFERS")
        lines.append(f"{''.join(shown)}  {omega}  {case.settings}")
    return "\n".join(lines)


def _efficiencies() -> tuple[float, float]:
    """The efficiency that fits the log's fastest rate, and the likely one of the board."""
    return validate.best_efficiency(), find_board(validate.BOARD).efficiency


def _bursts_text() -> str:
    """The read rates of the vendor's log and those of the event engine."""
    fits, likely = _efficiencies()
    fitted, preset = validate.compared(fits), validate.compared(likely)
    lines = [
        (one.name, f"{one.published:.2f}", one.text(2), f"{other.value:.2f} ({100 * other.deviation:+.1f} %)")
        for one, other in zip(fitted, preset, strict=True)
    ]
    header = ("reads of a U200's bank, GB/s", "measured", f"model, efficiency {fits:.3f}", f"{likely:g}, the board's")
    ends = [100 * bound(one.deviation for one in fitted) for bound in (min, max)]
    used = sum(one.kind == "calibrated" for one in fitted)
    return "\n".join(
        [
            table(header, lines),
            f"with efficiency {fits:.3f} the {len(fitted)} rates deviate by {ends[0]:+.1f} to {ends[1]:+.1f} %; {used} "
            f"of them were used for latency and efficiency (c), {len(fitted) - used} for nothing (p)",
            f"the board's likely {likely:g} is that of a copy from bank to bank, and pessimistic for reads alone",
            f"{validate.SOURCE.document}: {validate.SOURCE.note}",
        ]
    )


def _bursts_record() -> dict[str, Any]:
    """The same for JSON, by efficiency."""
    fits, likely = _efficiencies()
    return {
        "source": validate.SOURCE.url,
        "fitted": {"efficiency": fits, "rates": [one.record() for one in validate.compared(fits)]},
        "board": {"efficiency": likely, "rates": [one.record() for one in validate.compared(likely)]},
    }


def _record(checks: Sequence[Check], *, live: bool) -> dict[str, Any]:
    return {
        "agree": all(one.agrees for one in checks),
        "live": live,
        "cases": [
            {
                **record_of(one.case, "settings left right seed operands=kind cycles"),
                "kind": one.kind,
                "levels": {
                    level: {"cycles": timing.cycles, "agrees": one.level_agrees(level)}
                    for level, timing in one.timings.items()
                },
                "omega_agrees": one.omega_agrees,
                "live_agrees": one.live_agrees if one.live else None,
            }
            for one in checks
        ],
    }
