"""`oclgenomics sdtw stream`: selection while sequencing, played on a simulated flow cell."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from oclgenomics.app.commands import (
    add_device_options,
    add_output_options,
    binary_output,
    count,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
    text_output,
    whole,
)
from oclgenomics.app.files import reads, writes
from oclgenomics.app.inputs import THRESHOLDS_TRIM, add_signal_inputs, add_signal_options
from oclgenomics.app.progress import Progress
from oclgenomics.errors import UsageError
from oclgenomics.sdtw.commands.align_options import add_align_options
from oclgenomics.sdtw.commands.decision_options import add_decision_options, references_of, thresholds_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from oclgenomics.sdtw.live.flow_cell_options import FlowCellOptions
    from oclgenomics.sdtw.live.options import LiveOptions
    from oclgenomics.sdtw.live.playback import Played
    from oclgenomics.signals.model import Signals

__all__ = ["add_parser", "run"]

ACTIONS = ("unblock", "stop_receiving", "proceed")
NAMES = "names"


def add_parser(actions: Any) -> None:
    """Add `stream` to the actions of `sdtw`."""
    parser = actions.add_parser(
        "stream",
        help="play reads on a simulated flow cell and select among them while they are sequenced",
        description="Play reads on a simulated flow cell, in real time, and accept or reject them while they are "
        "sequenced. Tells how long decisions take, and how much more of the target is sequenced than without that.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    add_signal_inputs(parser)
    _add_selection_options(parser)
    _add_flow_cell_options(parser)
    _add_report_options(parser)
    add_device_options(parser)


def _add_selection_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("selection")
    add_decision_options(group)
    add_align_options(group)
    add_signal_options(group, default=THRESHOLDS_TRIM)
    for name, default in (("accept", "stop_receiving"), ("reject", "unblock"), ("undecided", "stop_receiving")):
        group.add_argument(
            f"--on-{name}", choices=ACTIONS, default=default,
            help="what the sequencer is told of reads that are " + {"accept": "accepted", "reject": "rejected"}.get(
                name, "undecided after --max-samples") + " (default: %(default)s)",
        )  # fmt: skip
    group.add_argument(
        "--max-samples", type=count, metavar="N",
        help="samples after which a read without a decision is undecided (default: twice the last stage)",
    )  # fmt: skip
    group.add_argument(
        "--control", type=count, default=0, metavar="N",
        help="the first N channels sequence all their reads (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--max-latency", type=float, default=0.4, metavar="S",
        help="seconds for which the loop waits for the device (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--max-batch", type=count, metavar="N",
        help="reads that are aligned together at most (default: what the device judges soon enough)",
    )  # fmt: skip
    group.add_argument(
        "--deadline", type=float, metavar="S",
        help="seconds within which a read is judged, or not at all (default: 1, or four of the smallest batches)",
    )  # fmt: skip
    group.add_argument(
        "--select", type=count, metavar="N",
        help="select N channels (default: as many as the device can serve)",
    )  # fmt: skip
    group.add_argument(
        "--interval", type=float, default=0.1, metavar="S",
        help="seconds from one request for chunks to the next (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--dry-run", action="store_true", help="unblock nothing; reports tell what would have been")


def _add_flow_cell_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("flow cell")
    for option, kind, default, name, text in (
        ("--channels", count, 512, "N", "channels"),
        ("--chunk", float, 0.4, "S", "seconds from one chunk of a read to the next"),
        ("--duration", float, 60.0, "S", "seconds to play"),
        ("--capture", float, 1.0, "S", "mean seconds from the end of a read to the next one of the channel"),
        ("--unblock-latency", float, 0.07, "S", "seconds from the request to unblock a read to its end"),
        ("--unblock-duration", float, 0.1, "S", "seconds for which the voltage is reversed then"),
        ("--speed", float, 1.0, "X", "how much faster to play than in real time; 0 simulates the time, too"),
        ("--seed", whole, 1, "N", "of captures and of the choice of reads"),
    ):
        group.add_argument(option, type=kind, default=default, metavar=name, help=f"{text} (default: %(default)s)")
    group.add_argument(
        "--rate", type=float, metavar="HZ", help="samples per second (default: that of the reads, else 4000)"
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
    group.add_argument("--class", dest="target_class", default="target", metavar="NAME",
                       help="class of the target in --truth (default: %(default)s)")  # fmt: skip


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    add_output_options(parser)
    group = parser.add_argument_group("more output")
    writes(group.add_argument("--debug-tsv", metavar="FILE", help="write a line for each decision"))
    writes(group.add_argument("--plot", metavar="FILE", help="draw latencies and decisions; .png, .svg or .pdf"))
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
    from oclgenomics.app.figures import plot_format
    from oclgenomics.io.plain_json import json_text
    from oclgenomics.runtime import select_device
    from oclgenomics.sdtw.formats.live import played_text
    from oclgenomics.sdtw.live.playback import play

    flow_cell, live, thresholds = _flow_cell(args), _live(args), thresholds_of(args)
    if args.plot:
        plot_format(args.plot)
    select_device(args.device)  # a device that is not there is told before anything is read
    targets, decoys, trim = references_of(args, thresholds)
    live = replace(live, trim=trim)
    signals = _signals(args)
    if args.rate is None:
        flow_cell = replace(flow_cell, rate=_rate(signals) or flow_cell.rate)
    truth = _truth(args, signals)
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine(args))
        debug: IO[str] | None = stack.enter_context(text_output(args.debug_tsv)) if args.debug_tsv else None
        played = play(
            signals, targets, thresholds, decoys=decoys, truth=truth, flow_cell=flow_cell, live=live, speed=args.speed,
            engine=engine, debug=debug, tell=lambda text: say(args, text), log_seconds=args.log_every,
        )  # fmt: skip
        made = provenance(args, engine)
        report_profile(args, engine)
    with text_output(args.output) as stream:
        if args.json:
            stream.write(json_text({**played.record(), "provenance": made}, indent=1) + "\n")
        else:
            stream.write(played_text(played))
    if args.plot:
        _write_plot(args, played)
    say_written(args)
    return 0


def _flow_cell(args: argparse.Namespace) -> FlowCellOptions:
    from oclgenomics.sdtw.live.flow_cell_options import FlowCellOptions

    given = {name: getattr(args, name) for name in FlowCellOptions.__dataclass_fields__}
    return FlowCellOptions(**{name: value for name, value in given.items() if value is not None})


def _live(args: argparse.Namespace) -> LiveOptions:
    from oclgenomics.sdtw.live.options import LiveOptions

    if args.control > args.channels:
        raise UsageError(f"--control {args.control}: there are {args.channels} channels")
    return LiveOptions(
        accept=args.on_accept, reject=args.on_reject, undecided=args.on_undecided,
        control_channels=frozenset(range(1, args.control + 1)), max_samples=args.max_samples,
        max_latency=args.max_latency, max_batch=args.max_batch, deadline=args.deadline, select=args.select,
        interval=args.interval,
        unblock_duration=args.unblock_duration, dry_run=args.dry_run,
    )  # fmt: skip


def _signals(args: argparse.Namespace) -> Signals:
    """All reads, from their beginnings: what is trimmed is trimmed live."""
    from oclgenomics.signals.model import Signals
    from oclgenomics.signals.read import read_signals

    progress = Progress(enabled=not args.quiet)
    progress.stage("reading", "MB", 1e6)
    signals = Signals.joined(list(read_signals(args.signals, progress=progress.update)))
    progress.clear()
    return signals


def _rate(signals: Signals) -> float | None:
    """Samples per second of the first read that tells it; the others are compared with it before they are played."""
    known = signals.rate[signals.rate > 0]
    return float(known[0]) if len(known) else None


def _truth(args: argparse.Namespace, signals: Signals) -> NDArray[np.bool_] | None:
    from oclgenomics.sdtw.live.truth import named_classes, of_class, read_classes

    if args.truth is None:
        return None
    names = signals.names.tolist()
    classes = named_classes(names) if args.truth == NAMES else read_classes(args.truth)
    return of_class(names, classes, args.target_class, "names of reads" if args.truth == NAMES else args.truth)


def _write_plot(args: argparse.Namespace, played: Played) -> None:
    from oclgenomics.app.figures import plot_format, save_plot
    from oclgenomics.sdtw.plots.live import plot_played

    first, *others = args.signals
    title = Path(first).name + (f" and {len(others):,} more" if others else "")
    with binary_output(args.plot) as stream:
        save_plot(plot_played(played, title=title), stream, plot_format(args.plot))
