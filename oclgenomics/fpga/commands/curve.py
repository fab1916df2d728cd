"""`curve`: throughput against right-side iterations (Figs. 10 and 11), or efficiency by unroll as well."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hls_model.choices import LEFT_BORDERS
from hls_model.errors import ModelError
from hls_model.paper.published import TABLE1
from hls_model.presets import parse_settings
from hls_model.ranges import Range
from hls_model.records import record_of
from hls_model.text import percent, range_text
from oclgenomics.app.commands import count
from oclgenomics.fpga import plots
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.common import counts, table
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from hls_model.curve import Curve

clock = late("hls_model.clock")
curve_model = late("hls_model.curve")
np = late("numpy")
resources = late("hls_model.resources")

ROWS = 12  # points in the table; --json has all
MAX_RIGHT = 30_500


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = common.add_command(subparsers, "curve", run)
    parser.add_argument(
        "--to", type=count, metavar="N",
        help="right-side iterations at the end of the curve (default: the most of the paper's data sets)",
    )  # fmt: skip
    common.add_count(parser, "--left", LEFT_BORDERS, "left borders tried")
    parser.add_argument(
        "--share", type=float, default=0.9, metavar="F",
        help="share of the ideal rate whose crossing is reported (default: 0.9)",
    )  # fmt: skip
    parser.add_argument(
        "--unrolls", type=counts, metavar="U,U,...", help="efficiency for each of these unrolls; 4,8,16 or 8:64:8"
    )
    common.add_shared_options(parser, "level design uncertainty")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.unrolls and (args.unroll is not None or "unroll" in parse_settings(args.settings)):
        raise ModelError("--unrolls and --unroll: give one of them")
    config = common.design(args)
    most = args.to or (TABLE1[config.board].most_right if config.board in TABLE1 else MAX_RIGHT)
    designs = [config.but(unroll=unroll, physical_lanes=0) for unroll in args.unrolls or []] or [config]
    how = {"left": args.left, "share": args.share, "level": args.level}
    uncertain = args.uncertainty and not args.unrolls
    curves = [
        curve_model.throughput_curve(resources.check_fits(one).config, most, uncertainty=uncertain, **how)
        for one in designs
    ]
    return _write_by_unroll(args, curves, most) if args.unrolls else _write_one(args, curves[0])


def _write_one(args: argparse.Namespace, curve: Curve) -> int:
    chosen = np.unique(np.linspace(0, len(curve.right) - 1, ROWS).round().astype(int))
    ideal = curve.config.ideal_rate
    rows = [(f"{curve.right[k]:,}", _rate_text(curve, k), percent(curve.rate[k] / ideal, 1)) for k in chosen]
    text = table(("right iterations", "M omega/s", "of ideal"), rows)
    line = f"{percent(curve.share)} line {curve.share * ideal / 1e6:,.0f} M omega/s"
    text += f"\n\nideal {ideal / 1e6:,.0f} M omega/s, {line}: {_crossing_text(curve)}"
    text += f"\n{clock.clock_text(curve.config)}"
    return common.write(args, text, _record(curve), lambda: plots.plot_curve(curve))


def _rate_text(curve: Curve, point: int) -> str:
    """The rate at a point of the curve, with its bounds where there are any."""
    likely = f"{curve.rate[point] / 1e6:,.1f}"
    if curve.slow is None or curve.fast is None:
        return likely
    bounds = Range(*(float(rate[point]) for rate in (curve.slow, curve.rate, curve.fast)))
    return range_text(bounds.times(1e-6), "")


def _crossing_text(curve: Curve) -> str:
    text = f"crossed at {curve.crossing:,} iterations" if curve.crossing else "not reached"
    fast, slow = curve.crossings
    if fast == slow == curve.crossing:
        return text
    ends = ("not reached" if end is None else f"{end:,}" for end in (fast, slow))
    return "{} (fast end: {}, slow end: {})".format(text, *ends)


def _write_by_unroll(args: argparse.Namespace, curves: list[Curve], most: int) -> int:
    shown = [right for right in (100, 300, 1_000, 3_000, 10_000, 30_000) if right <= most]
    header = ["unroll", "MHz", *(f"{right:,}" for right in shown), f"{percent(args.share)} at"]
    rows = []
    for curve in curves:
        efficiency = [percent(share, 1) for share in curve.efficiency(np.array(shown))]
        crossing = f"{curve.crossing:,}" if curve.crossing else "-"
        mhz = range_text(clock.clock_range(curve.config), "")
        rows.append((f"{curve.config.unroll}", mhz, *efficiency, crossing))
    head = "rate of the pipelines as a share of the ideal, by unroll and right-side iterations"
    text = f"{head}\n\n{table(header, rows)}"
    record = {"curves": [_record(curve) for curve in curves]}
    return common.write(args, text, record, lambda: plots.plot_efficiency(curves))


def _record(curve: Curve) -> dict[str, object]:
    return {
        **record_of(curve.config, "design=name unroll"),
        **clock.clock_record(curve.config),
        **record_of(curve, "level left ideal_omega_per_s=config.ideal_rate share crossing right omega_per_s=rate"),
        "range": None
        if curve.slow is None or curve.fast is None
        else {"low": curve.slow.tolist(), "high": curve.fast.tolist(), "crossings": curve.crossings},
    }
