"""`explore`: many designs on one workload, and its Pareto front."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from hls_model.boards import KINDS
from hls_model.errors import ModelError
from hls_model.presets import parse_settings
from hls_model.records import record_of
from hls_model.text import percent, range_text
from oclgenomics.app.commands import started_progress
from oclgenomics.fpga import plots
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.common import counts, table_of
from oclgenomics.fpga.commands.resources import regions_record, room_text
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from hls_model.extras.explore import Design, Exploration, Space

exploring = late("hls_model.extras.explore")

UNROLLS = "4,8,16,24,32,48,64,96,128,192,256"
NOTES = (
    "MHz: the clock that a design is likely to reach on its regions, at most the one asked for\n"
    "M omega/s: scores of the pipelines over the time of the whole scan, without those that software computes\n"
    "roof: the most that lanes, ports or banks of the design allow at their likely rates"
)
OVERLAPS = {"both": (False, True), "yes": (True,), "no": (False,)}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = common.add_command(subparsers, "explore", run)
    group = parser.add_argument_group("space")
    group.add_argument(
        "--unrolls", type=counts, metavar="U,U,...",
        help=f"unrolls to try; FROM:TO:STEP is a range (default: {UNROLLS}, or --unroll where that is given)",
    )  # fmt: skip
    group.add_argument(
        "--clocks", type=counts, default=[], metavar="MHZ,...", help="clocks to try (default: the design's)"
    )
    group.add_argument(
        "--ports", type=counts, metavar="N,...",
        help="memory ports of a kernel to try (default: 1,2,4, or those of --set memory.ports)",
    )  # fmt: skip
    group.add_argument(
        "--overlap", choices=tuple(OVERLAPS),
        help="designs whose columns overlap (yes), or follow one another (no) (default: both, or --set overlap_outer)",
    )  # fmt: skip
    group.add_argument(
        "--kernels", type=counts, default=[], metavar="N,...", help="copies of the pipeline (default: the design's)"
    )
    group.add_argument("--all", action="store_true", help="list all designs that fit (default: the Pareto front)")
    common.add_shared_options(parser, "workload level design uncertainty")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    progress = started_progress(args, "timing designs", "designs", 1)
    found = exploring.explore(
        common.workload(args), common.design(args), _space(args), level=args.level, progress=progress.update,
        uncertainty=args.uncertainty,
    )  # fmt: skip
    progress.clear()
    return common.write(args, _text(found, args.all), _record(found), lambda: plots.plot_pareto(found))


def _space(args: argparse.Namespace) -> Space:
    """The designs to try; what --unroll and --set give is the only value of it.

    Raises
    ------
    ModelError
        A parameter is both given and to be tried.
    """
    settings = parse_settings(args.settings)
    memory = settings.get("memory")
    fixed = {
        "--unrolls": ("--unroll", args.unroll is not None or "unroll" in settings),
        "--clocks": ("--set clock_mhz", "clock_mhz" in settings),
        "--ports": ("--set memory.ports", isinstance(memory, dict) and "ports" in memory),
        "--overlap": ("--set overlap_outer", "overlap_outer" in settings),
        "--kernels": ("--set kernels", "kernels" in settings),
    }
    for option, (other, given) in fixed.items():
        if given and getattr(args, option[2:]):
            raise ModelError(f"{option} and {other}: give one of them")
    tried = {option: not given for option, (_, given) in fixed.items()}
    space: Space = exploring.Space(
        args.unrolls or (counts(UNROLLS) if tried["--unrolls"] else []),
        [float(clock) for clock in args.clocks],
        args.ports or ([1, 2, 4] if tried["--ports"] else []),
        OVERLAPS[args.overlap or "both"] if tried["--overlap"] else (),
        args.kernels,
    )
    return space


def _text(found: Exploration, everything: bool) -> str:
    first = found.designs[0]
    text = f"{first.timing.workload.name} on {first.config.board}: {len(found.designs)} designs fit, "
    text += f"{found.too_large} do not, {found.impossible} are none; {len(found.front)} are on the Pareto front\n\n"
    columns = COLUMNS | {"": lambda design: "front" if everything and design.on_front else ""}
    rows = table_of(found.designs if everything else found.front, columns)
    return f"{text}{rows}\n\n{NOTES}\n{room_text(first.resources.board)}"


def _share_of(kind: str) -> Callable[[Design], str]:
    return lambda design: percent(design.resources.shares[kind], 1)


COLUMNS: dict[str, Callable[[Design], str]] = {
    "unroll": lambda design: f"{design.config.unroll}",
    "MHz": lambda design: f"{design.config.clock_mhz:.4g}",
    "ports": lambda design: f"{design.config.memory.ports}",
    "overlap": lambda design: "yes" if design.config.overlap_outer else "no",
    "kernels": lambda design: f"{design.config.kernels}",
    "M omega/s": lambda design: range_text(design.rate_range.times(1e-6), ""),
    "roof": lambda design: f"{design.roofline.height / 1e6:,.0f} {design.roofline.binding}",
    "largest share": lambda design: percent(design.cost, 1),
    **{kind.upper(): _share_of(kind) for kind in KINDS},
    "lanes by region": lambda design: " + ".join(str(one.lanes) for one in design.resources.placement.regions),
}


def _record(found: Exploration) -> dict[str, object]:
    return {
        **record_of(found.designs[0], "workload=timing.workload.name board=config.board"),
        **record_of(found, "too_large impossible"),
        "designs": [
            {
                **record_of(design.config, "unroll clock_mhz target_mhz ports=memory.ports overlap_outer kernels"),
                **record_of(design, "omega_per_s=rate scan_omega_per_s=timing.rate roof_omega_per_s=roofline.height"),
                **record_of(design, "roof=roofline.binding pipeline_omega_per_s=timing.hardware_rate"),
                **record_of(design, "largest_share=cost share=resources.shares"),
                "regions": regions_record(design.resources),
                "on_front": design.on_front,
                "range": None if design.band is None else {"omega_per_s": design.rate_range.record()},
            }
            for design in found.designs
        ],
    }
