"""`sdtw`: reads through a systolic array for subsequence DTW: rates, latency, resources."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from hls_model.boards import BOARDS
from hls_model.cli import common
from hls_model.cli.tables import table
from hls_model.errors import ModelError
from hls_model.presets import parse_settings
from hls_model.sdtw.design import SystolicArray
from hls_model.sdtw.resources import ArrayResources, check_fits
from hls_model.sdtw.timing import ArrayTiming, Stage, time_read, time_stages
from hls_model.text import percent, seconds_text

__all__ = ["add_parser"]

LAMBDA = 97_004  # both strands of the lambda phage


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser("sdtw", help="nanopore reads through a systolic array for sDTW", allow_abbrev=False)
    group = parser.add_argument_group("reads")
    group.add_argument(
        "--columns", type=int, default=LAMBDA, metavar="N",
        help=f"columns of the reference, all strands together (default: {LAMBDA}, both of the lambda phage)",
    )  # fmt: skip
    group.add_argument("--samples", type=int, default=2_000, metavar="N", help="samples of a read (default: 2000)")
    group.add_argument(
        "--stages", type=_stages, metavar="N:SHARE,...",
        help="a filter of several stages instead: samples of each, and the share of reads that come to it, such as "
        "1000:1,3000:0.2",
    )  # fmt: skip
    group = parser.add_argument_group("array")
    group.add_argument("--board", default="u250", choices=tuple(BOARDS), help="device and memory (default: u250)")
    group.add_argument("--pes", type=int, default=2_000, metavar="P", help="processing elements (default: 2000)")
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="any other parameter, such as clock_mhz=300, arrays=4 or reference=memory; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--level", choices=("L0", "L1"), default="L1", help="timing by closed form or by events (default: L1)"
    )
    common.add_output_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from hls_model.plots.sdtw import plot_array

    array = _array(args)
    stages = args.stages or [Stage(args.samples, 1.0)]
    resources = check_fits(array, args.columns, max(stage.samples for stage in stages), kept=len(stages) > 1)
    timed = time_stages(array, args.columns, stages, args.level)
    samples = stages[-1].samples
    common.write(
        args,
        _text(args, timed, resources),
        _record(args, timed, resources),
        lambda: plot_array(time_read(array, args.columns, samples, args.level)),
    )
    return 0


def _array(args: argparse.Namespace) -> SystolicArray:
    """Return the array that the options describe."""
    settings = parse_settings(args.settings)
    kinds = {field.name: field.default for field in dataclasses.fields(SystolicArray)}
    for name, value in settings.items():
        if name in ("board", "pes"):
            raise ModelError(f"--set {name}={value}: give --{name}")
        if name not in kinds:
            raise ModelError(f"{name} is no parameter; there are {', '.join(kinds)}")
        if isinstance(value, bool) or not isinstance(value, (type(kinds[name]), int)):
            raise ModelError(f"{name} is {value!r}; it has to be like {kinds[name]!r}")
    return SystolicArray(board=args.board, pes=args.pes, **settings)


def _stages(text: str) -> list[Stage]:
    try:
        pairs = [one.split(":") for one in text.split(",")]
        return [Stage(int(samples), float(share)) for samples, share in pairs]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write SAMPLES:SHARE,SAMPLES:SHARE,...") from None


def _rates(timed: list[tuple[Stage, ArrayTiming]]) -> dict[str, float]:
    """Reads, samples and cells per second of all arrays, over the stages that a read comes to on average."""
    array = timed[0][1].array
    cycles = sum(stage.share * one.period for stage, one in timed)
    reads = array.arrays * array.clock_mhz * 1e6 / cycles
    samples = reads * sum(stage.share * one.samples for stage, one in timed)
    return {"reads_per_s": reads, "samples_per_s": samples, "cells_per_s": samples * timed[0][1].columns}


def _text(args: argparse.Namespace, timed: list[tuple[Stage, ArrayTiming]], resources: ArrayResources) -> str:
    array, rates = timed[0][1].array, _rates(timed)
    text = (
        f"{array.arrays} x {array.pes:,} PEs at {array.clock_mhz:g} MHz on {array.board}, {args.columns:,} columns in "
    )
    text += {"chip": "block RAM", "memory": "external memory"}[array.reference] + "\n\n"
    header = (
        "samples",
        "share",
        "passes",
        "load",
        "stream",
        "stall",
        "drain",
        "cycles",
        "PEs at work",
        "decision after",
    )
    rows = [
        (
            f"{stage.samples:,}", percent(stage.share, 1), f"{len(array.passes(one.samples))}", f"{one.load:,}",
            f"{one.stream:,}", f"{one.stall:,}", f"{one.drain:,}", f"{one.busy:,}", percent(one.utilisation, 1),
            seconds_text(one.latency),
        )
        for stage, one in timed
    ]  # fmt: skip
    text += table(header, rows) + "\n\n"
    text += f"{rates['reads_per_s']:,.0f} reads/s, {rates['samples_per_s'] / 1e6:,.2f} M samples/s, "
    text += f"{rates['cells_per_s'] / 1e9:,.0f} G cells/s\n\n"
    total, shares = resources.total, resources.shares
    parts = [(part.name, f"{part.count:,}", *_amounts(part.total)) for part in resources.parts]
    parts.append(("total", "", *_amounts(total)))
    parts.append((f"of {array.board}", "", *(percent(shares[kind], 1) for kind in shares)))
    return text + table(("part", "count", *(kind.upper() for kind in shares)), parts)


def _amounts(amount: Any) -> tuple[str, ...]:
    return tuple(f"{value:,}" for value in vars(amount).values())


def _record(
    args: argparse.Namespace, timed: list[tuple[Stage, ArrayTiming]], resources: ArrayResources
) -> dict[str, object]:
    return {
        "array": dataclasses.asdict(timed[0][1].array),
        "columns": args.columns,
        "level": args.level,
        **_rates(timed),
        "stages": [
            {
                "samples": stage.samples,
                "share": stage.share,
                "cycles": {name: getattr(one, name) for name in ("normalise", "load", "stream", "stall", "drain")},
                "period_cycles": one.period,
                "latency_seconds": one.latency,
                "utilisation": one.utilisation,
            }
            for stage, one in timed
        ],
        "resources": dataclasses.asdict(resources.total),
        "share": resources.shares,
    }
