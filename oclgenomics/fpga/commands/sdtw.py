"""`sdtw`: reads through a systolic array for subsequence DTW: rates, latency, resources and placement."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING

from hls_model.boards import BOARDS
from hls_model.choices import ASIC
from hls_model.errors import ModelError
from hls_model.paper.published import evidence_text
from hls_model.presets import load, parse_settings
from hls_model.ranges import Range
from hls_model.records import record_of
from hls_model.text import percent, range_text
from oclgenomics.app.commands import count
from oclgenomics.app.files import reads
from oclgenomics.fpga import plots
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.common import table
from oclgenomics.fpga.commands.resources import cells
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hls_model.extras.sdtw.design import SystolicArray
    from hls_model.extras.sdtw.resources import ArrayResources
    from hls_model.extras.sdtw.timing import ArrayTiming, Stage

    Timed = list[tuple[Stage, ArrayTiming]]

designs = late("hls_model.extras.sdtw.design")
resources_model = late("hls_model.extras.sdtw.resources")
timing = late("hls_model.extras.sdtw.timing")


LAMBDA = 97_004  # both strands of the lambda phage


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = common.add_command(subparsers, "sdtw", run)
    group = parser.add_argument_group("reads")
    group.add_argument(
        "--columns", type=count, default=LAMBDA, metavar="N",
        help=f"columns of the reference, all strands together (default: {LAMBDA}, both of the lambda phage)",
    )  # fmt: skip
    common.add_count(group, "--samples", 2_000, "samples of a read")
    group.add_argument(
        "--stages", type=_stages, metavar="N:SHARE,...",
        help="a filter of several stages instead: samples of each, and the share of reads that come to it, such as "
        "1000:1,3000:0.2",
    )  # fmt: skip
    group = parser.add_argument_group("array")
    board = group.add_argument(
        "--board", default="u250", metavar="NAME",
        help=f"device and memory: {', '.join(BOARDS)}, or those of a design (a preset, or a .toml file); {ASIC} is a "
        "chip of one's own without external memory, whose clock is believed and whose area is not counted "
        "(default: u250)",
    )  # fmt: skip
    reads(board, lambda args, given: [] if given in {*BOARDS, ASIC} else common.design_files(args, given))
    common.add_count(group, "--pes", 2_000, "processing elements", "P")
    common.add_set_option(group, "clock_mhz=300, arrays=4 or reference=memory")
    parser.add_argument(
        "--published", action="store_true", help="compare the model with the numbers of SquiggleFilter's chip, and stop"
    )
    parser.add_argument(
        "--level", choices=("L0", "L1"), default="L1", help="timing by closed form or by events (default: L1)"
    )
    common.add_shared_options(parser, "")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.published:
        if args.plot:
            raise ModelError("--published has no figure: leave --plot out")
        rows = timing.compared()
        lines = [(row.name, f"{row.published:,.6g}", row.text(1), row.why) for row in rows]
        shown = table(("SquiggleFilter", "published", "model", "why"), lines)
        text = f"{shown}\n\n{evidence_text(rows, 'theirs')}"
        return common.write(args, text, {"compared": [row.record() for row in rows]})
    stages = args.stages or [timing.Stage(args.samples, 1.0)]
    samples, kept = stages[-1].samples, len(stages) > 1
    array = resources_model.placed(_array(args), args.columns, samples, kept=kept)
    bounds = [timing.time_stages(one, args.columns, stages, args.level) for one in array.within_bounds()]
    resources = most = None
    if array.board != ASIC:
        resources = resources_model.check_fits(array, args.columns, samples, kept=kept)
        most = resources_model.largest_arrays(array, args.columns, samples, kept=kept)
    report = _Report(args.columns, args.level, bounds, resources, most)

    def figure() -> Figure:
        return plots.plot_array(timing.time_read(array, args.columns, samples, args.level))

    return common.write(args, report.text(), report.record(), figure)


def _array(args: argparse.Namespace) -> SystolicArray:
    """Return the array that the options describe."""
    settings = parse_settings(args.settings)
    kinds = {one.name: one.default for one in dataclasses.fields(designs.SystolicArray) if one.name != "own_board"}
    for name, value in settings.items():
        if name in ("board", "pes"):
            raise ModelError(f"--set {name}={value}: give --{name}")
        if name == "crossings":
            raise ModelError(f"--set {name}={value}: it follows from where the PEs go")
        if name not in kinds:
            raise ModelError(f"{name} is no parameter; there are {', '.join(kinds)}")
        if isinstance(value, bool) or not isinstance(value, (type(kinds[name]), int)):
            raise ModelError(f"{name} is {value!r}; it has to be like {kinds[name]!r}")
    design = None if args.board in (*BOARDS, ASIC) else load(args.board)
    board, own = (design.board, design.own_board) if design else (args.board, None)
    array: SystolicArray = designs.SystolicArray(board=board, own_board=own, pes=args.pes, **settings)
    return array


def _stages(text: str) -> list[Stage]:
    try:
        pairs = [one.split(":") for one in text.split(",")]
        return [timing.Stage(int(samples), float(share)) for samples, share in pairs]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write SAMPLES:SHARE,SAMPLES:SHARE,...") from None


def _rates(timed: Timed) -> dict[str, float]:
    """Reads, samples and cells per second of all arrays, over the stages that a read comes to on average."""
    array = timed[0][1].array
    cycles = sum(stage.share * one.period for stage, one in timed)
    reads = array.arrays * array.clock_mhz * 1e6 / cycles
    samples = reads * sum(stage.share * one.samples for stage, one in timed)
    return {"reads_per_s": reads, "samples_per_s": samples, "cells_per_s": samples * timed[0][1].columns}


@dataclasses.dataclass(frozen=True)
class _Report:
    """What the command says: a design at its fast end, as it is and at its slow end, and what it takes of a board."""

    columns: int
    level: str
    bounds: list[Timed]
    resources: ArrayResources | None
    most: Range | None

    @property
    def timed(self) -> Timed:
        """The stages of the design as it is."""
        return self.bounds[1]

    @property
    def array(self) -> SystolicArray:
        """The design."""
        return self.timed[0][1].array

    def rates(self) -> dict[str, Range]:
        """The rates with their bounds."""
        fast, likely, slow = map(_rates, self.bounds)
        return {name: Range(slow[name], likely[name], fast[name]) for name in likely}

    def latencies(self) -> list[Range]:
        """Seconds to the decision of each stage."""
        return [Range(*(one.latency for _, one in stage)) for stage in zip(*self.bounds, strict=True)]

    def text(self) -> str:
        """The report in words and tables."""
        array, rates = self.array, self.rates()
        where = {"chip": "block RAM" if self.resources else "memory on the chip", "memory": "external memory"}
        blocks = [
            f"{array.arrays} x {array.pes:,} PEs at {array.clock_mhz:g} MHz on {_board(array)}, "
            f"{self.columns:,} columns in {where[array.reference]}",
            self._stages(),
            f"{range_text(rates['reads_per_s'], 'reads/s')}, "
            f"{range_text(rates['samples_per_s'].times(1e-6), 'M samples/s')}, "
            f"{range_text(rates['cells_per_s'].times(1e-9), 'G cells/s')}",
        ]
        if self.resources and self.most:
            blocks += [_parts(self.resources), _places(self.resources, self.most)]
        blocks.append("\n".join(f"{kind}: {what}" for kind, what in self.kinds().items()))
        return "\n\n".join(blocks)

    def _stages(self) -> str:
        cycles = ("load", "stream", "stall", "drain", "busy")
        header = ("samples", "share", "passes", *cycles[:-1], "cycles", "PEs at work", "decision after")
        rows = [
            (
                f"{stage.samples:,}", percent(stage.share, 1), f"{len(self.array.passes(one.samples))}",
                *(f"{getattr(one, name):,}" for name in cycles), percent(one.utilisation, 1), range_text(latency),
            )
            for (stage, one), latency in zip(self.timed, self.latencies(), strict=True)
        ]  # fmt: skip
        return table(header, rows)

    def kinds(self) -> dict[str, str]:
        """Say of the numbers which are predicted, which calibrated and which assumed."""
        array = self.array
        exact = "as in sdtw_array.v (simulated with 4 and 5 PEs), given when columns are there"
        if self.level == "L0" and array.streams:
            exact = "a lower bound: the closed form"
        assumed = [f"clock of {array.clock_mhz:g} MHz"]
        if array.normaliser_cycles:
            assumed.append(f"normaliser of two runs over the samples and {array.normaliser_cycles} cycles")
        found = {"predicted": f"cycles, {exact}", "calibrated": "nothing"}
        if self.resources:
            luts = range_text(resources_model.pe_luts(array), "LUT")
            found["synthesised"] = f"processing element of {luts}, by hand and by {resources_model.PE_SOURCE}"
            assumed.append("control, normaliser and ports in resources")
        if array.crossings:
            assumed.append(f"{range_text(designs.CROSSING_CYCLES, 'cycles')} a border")
        if array.streams:
            for name, unit in (("latency_ns", "ns"), ("efficiency", "of the memory's peak")):
                assumed.append(self._of_memory(name, unit))
        found["assumed"] = "; ".join(assumed)
        return found

    def _of_memory(self, name: str, unit: str) -> str:
        """A figure of the memory that the design sets, or the board's with its source."""
        value, board = getattr(self.array, name), self.array.hardware
        if value:
            return f"{name.partition('_')[0]} of {value:g} {unit}, as set"
        field = {"latency_ns": "latency_ns", "efficiency": "efficiency_range"}[name]
        figure = self.array.efficiency_range if name == "efficiency" else board.latency_ns
        return f"{name.partition('_')[0]} of {range_text(figure, unit)} ({board.sources[field].document})"

    def record(self) -> dict[str, object]:
        """Return the report for JSON."""
        resources = self.resources
        found: dict[str, object] = {
            "array": {name: value for name, value in vars(self.array).items() if name != "own_board"},
            "columns": self.columns,
            "level": self.level,
            "kinds": self.kinds(),
            **_rates(self.timed),
            "ranges": {name: rate.record() for name, rate in self.rates().items()},
            "stages": [
                {
                    **record_of(stage, "samples share"),
                    "cycles": record_of(one, "normalise load stream stall drain"),
                    **record_of(one, "period_cycles=period latency_seconds=latency"),
                    "latency_range": latency.record(),
                    "utilisation": one.utilisation,
                }
                for (stage, one), latency in zip(self.timed, self.latencies(), strict=True)
            ],
        }
        if resources and self.most:
            found |= {
                **record_of(resources, "resources=total share=shares"),
                "pe_luts": resources_model.pe_luts(self.array).record(),
                "largest_pes": self.most.record(),
                "regions": [
                    record_of(one, "name=region.name pes=lanes used room") for one in resources.placement.regions
                ],
            }
        return found


def _board(array: SystolicArray) -> str:
    return "an ASIC, whose clock is not checked and whose area is not counted" if array.board == ASIC else array.board


def _parts(resources: ArrayResources) -> str:
    shares = resources.shares
    parts = [(part.name, f"{part.count:,}", *cells(part.total)) for part in resources.parts]
    parts.append(("total", "", *cells(resources.total)))
    parts.append((f"of {resources.board.name}", "", *(percent(shares[kind], 1) for kind in shares)))
    return table(("part", "count", *(kind.upper() for kind in shares)), parts)


def _places(resources: ArrayResources, most: Range) -> str:
    """Where the PEs go, and what the borders between regions cost."""
    array = resources.array
    places = ", ".join(f"{one.lanes:,} in {one.region.name}" for one in resources.placement.regions if one.lanes)
    text = f"PEs: {places}, next to the shell and below the placeable share; each array that fits has at most "
    text += range_text(most, "PEs") + "\n"
    if not array.crossings:
        return text + "no array crosses a border between regions"
    borders = "a border" if array.crossings == 1 else f"{array.crossings} borders"
    later = (
        designs.CROSSING_CYCLES
        if array.crossing_cycles == designs.CROSSING_CYCLES.likely
        else Range.exactly(array.crossing_cycles)
    )
    cycles = range_text(later.times(array.crossings), "cycles")
    return text + f"the chain crosses {borders} between regions: each pass is {cycles} longer, columns come as fast"
