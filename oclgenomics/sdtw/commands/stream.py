"""`oclgenomics sdtw stream`: selection while sequencing, played on a simulated flow cell."""

from __future__ import annotations

import argparse
import math
from contextlib import ExitStack
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import oclgenomics
from oclgenomics import sdtw, signals
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads, writes
from oclgenomics.app.html_output import add_html_option, input_title, write_page
from oclgenomics.app.inputs import THRESHOLDS_TRIM, add_signal_inputs, add_signal_options
from oclgenomics.errors import UsageError
from oclgenomics.io.json_text import json_text
from oclgenomics.sdtw import live, plots
from oclgenomics.sdtw.commands.options import add_align_options, add_decision_options, references_of, thresholds_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ACTIONS = ("unblock", "stop_receiving", "proceed")
NAMES = "names"
TARGET_CLASS = "target"


def add_parser(actions: Any) -> None:
    """Add `stream` to the actions of `sdtw`."""
    parser = app.add_command(
        actions, run, "stream",
        help="play reads on a simulated flow cell and select among them while they are sequenced",
        description="Play reads on a simulated flow cell, in real time, and accept or reject them while they are "
        "sequenced. Tells how long decisions take, and how much more of the target is sequenced than without that.",
    )  # fmt: skip
    add_signal_inputs(parser)
    _add_selection_options(parser)
    _add_flow_cell_options(parser)
    _add_report_options(parser)
    app.add_device_options(parser, threads=argparse.SUPPRESS)


def _add_selection_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("selection")
    add_decision_options(group)
    add_align_options(group)
    add_signal_options(group, default=THRESHOLDS_TRIM)
    for name, default, read in (
        ("accept", "stop_receiving", "accepted"), ("reject", "unblock", "rejected"),
        ("undecided", "stop_receiving", "undecided after --max-samples"),
    ):  # fmt: skip
        what = f"what the sequencer does with reads that are {read} (default: %(default)s)"
        group.add_argument(f"--on-{name}", choices=ACTIONS, default=default, help=what)
    for option, kind, default_value, metavar, text in (
        ("--max-samples", app.count, None, "N", "samples after which a read without a decision is undecided (default: "
         "twice the last stage)"),
        ("--control", app.count, 0, "N", "the first N channels sequence all their reads (default: 0)"),
        ("--max-latency", float, 0.4, "S", "seconds for which the loop waits for the device (default: 0.4)"),
        ("--max-batch", app.count, None, "N", "reads that are aligned together at most (default: what the device "
         "judges soon enough)"),
        ("--deadline", float, None, "S", "seconds within which a read is judged, or not at all (default: 1, or four of "
         "the smallest batches)"),
        ("--select", app.count, None, "N", "select N channels (default: as many as the device can serve)"),
        ("--interval", float, 0.1, "S", "seconds from one request for chunks to the next (default: 0.1)"),
    ):  # fmt: skip
        group.add_argument(option, type=kind, default=default_value, metavar=metavar, help=text)
    group.add_argument("--dry-run", action="store_true", help="unblock nothing; reports tell what would have been")


def _add_flow_cell_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("flow cell")
    for option, kind, default, name, text in (
        ("--channels", app.count, 512, "N", "channels"),
        ("--chunk", float, 0.4, "S", "seconds from one chunk of a read to the next"),
        ("--duration", float, 60.0, "S", "seconds to play"),
        ("--capture", float, 1.0, "S", "mean seconds from the end of a read to the next one of the channel"),
        ("--unblock-latency", float, 0.07, "S", "seconds from the request to unblock a read to its end"),
        ("--unblock-duration", float, 0.1, "S", "seconds for which the voltage is reversed then"),
        ("--speed", float, 1.0, "X", "how much faster to play than in real time; 0 simulates the time, too"),
        ("--seed", app.whole, 1, "N", "of captures and of the choice of reads"),
    ):
        group.add_argument(option, type=kind, default=default, metavar=name, help=f"{text} (default: %(default)s)")
    group.add_argument(
        "--rate",
        type=float,
        metavar="HZ",
        help="samples per second (default: that of the reads, else of the references' pore)",
    )
    group.add_argument("--once", action="store_true", help="play each read once, instead of drawing them again")
    group.add_argument(
        "--accumulate", action="store_true", help="send all of a read each time, as readfish's client does"
    )
    truth = group.add_argument(
        "--truth", metavar="FILE",
        help="table with the columns read and class; `names` takes the class from the names of simulated reads "
        "(default: what is true is not known)",
    )  # fmt: skip
    reads(truth, lambda _args, name: () if name == NAMES else (name,))
    group.add_argument("--class", dest="target_class", metavar="NAME",
                       help=f"class of the target in --truth (default: {TARGET_CLASS})")  # fmt: skip


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    app.add_output_options(parser)
    group = parser.add_argument_group("more output")
    writes(group.add_argument("--debug-tsv", metavar="FILE", help="write a line for each decision"))
    writes(group.add_argument("--plot", metavar="FILE", help="draw latencies and decisions; .png, .svg or .pdf"))
    add_html_option(group, "latencies and decisions")
    group.add_argument(
        "--log-every", type=float, default=60.0, metavar="S",
        help="seconds after which to tell how it goes; 0 for never (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Play the run, and report it.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    flow_cell, selection, thresholds = _flow_cell(args), _selection(args), thresholds_of(args)
    if args.plot:
        plots.plot_format(args.plot)
    oclgenomics.select_device(args.device)  # a device that is not there is reported before anything is read
    targets, decoys, trim = references_of(args, thresholds)
    selection = replace(selection, trim=trim)
    played_reads = _signals(args)
    if args.rate is None:
        known = played_reads.rate[played_reads.rate > 0]  # all are compared with each other before they are played
        pore = sdtw.sequencing_for((*targets, *decoys))
        usual = flow_cell.rate if pore is None else pore.rate
        flow_cell = replace(flow_cell, rate=float(known[0]) if len(known) else usual)
    truth = _truth(args, played_reads)
    with ExitStack() as stack:
        engine = stack.enter_context(app.open_engine(args))
        debug: IO[str] | None = stack.enter_context(app.text_output(args.debug_tsv)) if args.debug_tsv else None
        played = live.play(
            played_reads, targets, thresholds, decoys=decoys, truth=truth, flow_cell=flow_cell, live=selection,
            speed=args.speed, engine=engine, debug=debug, tell=lambda text: app.say(args, text),
            log_seconds=args.log_every,
        )  # fmt: skip
        made = app.provenance(args, engine)
        app.report_profile(args, engine)
    with app.text_output(args.output) as stream:
        if args.json:
            stream.write(json_text({**played.record(), "provenance": made}, indent=1) + "\n")
        else:
            stream.write(live.played_text(played))
    title = input_title(args.signals)
    if args.plot:
        plots.write_figure(args.plot, plots.plot_played(played, title=title))
    if args.html:
        write_page(args, plots.played_page(played, title=title).text(made))
    app.say_written(args)
    return 0


def _flow_cell(args: argparse.Namespace) -> live.FlowCellOptions:
    given = {name: getattr(args, name) for name in live.FlowCellOptions.__dataclass_fields__}
    return live.FlowCellOptions(**{name: value for name, value in given.items() if value is not None})


def _selection(args: argparse.Namespace) -> live.LiveOptions:
    if args.target_class is not None and args.truth is None:
        raise UsageError("--class has no effect without --truth")
    if not 0 <= args.log_every < math.inf:
        raise UsageError(f"--log-every {args.log_every:g}: give seconds, or 0 for never")
    if args.control > args.channels:
        raise UsageError(f"--control {args.control}: there are {args.channels} channels")
    return live.LiveOptions(
        accept=args.on_accept, reject=args.on_reject, undecided=args.on_undecided,
        control_channels=frozenset(range(1, args.control + 1)), max_samples=args.max_samples,
        max_latency=args.max_latency, max_batch=args.max_batch, deadline=args.deadline, select=args.select,
        interval=args.interval, unblock_duration=args.unblock_duration, dry_run=args.dry_run,
    )  # fmt: skip


def _signals(args: argparse.Namespace) -> signals.Signals:
    """All reads, from their beginnings: what is trimmed is trimmed live."""
    progress = app.started_progress(args, "reading")
    found = signals.Signals.joined(list(signals.read_signals(args.signals, progress=progress.update)))
    progress.clear()
    return found


def _truth(args: argparse.Namespace, found: signals.Signals) -> NDArray[np.bool_] | None:
    if args.truth is None:
        return None
    wanted = TARGET_CLASS if args.target_class is None else args.target_class
    names = found.names.tolist()
    classes = live.named_classes(names) if args.truth == NAMES else live.read_classes(args.truth)
    return live.of_class(names, classes, wanted, "names of reads" if args.truth == NAMES else args.truth)
