"""Commands whose work is shared out: `--workers` gives it to several devices, `--scheduler` to other machines.
`--shard` does a piece of it, and `combine` puts the pieces together.

A command makes a `Job` of its options, and takes the parts of the result from `work_of`, wherever they come from: the
device of this process, processes on several devices, the workers of a scheduler, or pieces. `combine` runs the command
that made the pieces with the options that they hold and those of outputs that it was given itself.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from oclgenomics import runtime
from oclgenomics.app.commands import (
    add_command,
    chosen_engine,
    count,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
    shortened,
    started_progress,
)
from oclgenomics.app.files import (
    FileConflictError,
    NamedFile,
    check_output,
    chosen_actions,
    named_files,
    option_of,
    reads,
    role_of,
    works_in,
)
from oclgenomics.app.provenance import device_record
from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import refuse_packed
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from oclgenomics.app.cluster import Cluster
    from oclgenomics.app.jobs import Job
    from oclgenomics.app.pieces import PieceFile, PieceRecord, Shard
    from oclgenomics.app.pools import DevicePool
    from oclgenomics.app.run import Run
    from oclgenomics.runtime import Engine

cluster = late("oclgenomics.app.cluster")
jobs = late("oclgenomics.app.jobs")
pieces = late("oclgenomics.app.pieces")
pools = late("oclgenomics.app.pools")
run = late("oclgenomics.app.run")

PartT = TypeVar("PartT")
MEGABYTES = "MB", 1e6
NOT_KEPT = {
    "run", "parser", "command_line", "output", "shard", "device", "max_memory", "threads", "tmp_dir", "profile",
    "quiet", "verbose", "debug", "versions", "scheduler", "piece_count", "piece_dir", "workers",
}  # fmt: skip


def add_spread_options(parser: argparse.ArgumentParser) -> None:
    """Add --workers, --shard, --scheduler and what goes with it."""
    group = parser.add_argument_group("several devices and machines")
    group.add_argument(
        "--workers", metavar="DEVICES",
        help="work on several devices of this machine, in a process on each: auto (all GPUs, or the CPU without any), "
        "gpu, cpu, or indexes of `oclgenomics devices` such as 0,1; --max-memory is that of each",
    )  # fmt: skip
    group.add_argument(
        "--shard", type=_shard, metavar="I/N",
        help="do the I-th of N pieces of the work and write it to -o, for `combine`",
    )  # fmt: skip
    reads(group.add_argument(
        "--scheduler", metavar="ADDRESS",
        help="have the workers of a Dask scheduler do the work: tcp://HOST:PORT, or its scheduler file "
        "(default: this process does it)",
    ), lambda _, name: [] if "://" in name else [name])  # fmt: skip
    group.add_argument(
        "--pieces", dest="piece_count", type=count, metavar="N",
        help="with --scheduler: cut the work into N pieces (default: 4 for each worker)",
    )  # fmt: skip
    works_in(group.add_argument(
        "--piece-dir", metavar="FOLDER",
        help="with --scheduler: keep pieces there while the command runs; all machines have to see it (default: the "
        "folder of -o)",
    ))  # fmt: skip


def _shard(text: str) -> Shard:
    number, _, of = text.partition("/")
    try:
        found: Shard = pieces.Shard(int(number), int(of))
        return found
    except ValueError:
        told = f"{shortened(text)}: write I/N, such as 1/8 for the first of eight pieces"
        raise argparse.ArgumentTypeError(told) from None
    except UsageError as error:
        raise argparse.ArgumentTypeError(error.text if hasattr(error, "text") else str(error)) from None


class Work(Protocol):
    """Where the parts of a result come from."""

    def parts(self, job: Job[PartT], run: Run) -> Generator[PartT, None, None]:
        """Yield the parts of the whole job in their order."""

    def engine(self) -> contextlib.AbstractContextManager[Callable[[], Engine | None]]:
        """Lend what may put pieces together, when they are there; None if the host has to. It is opened meanwhile."""

    def provenance(self) -> dict[str, Any]:
        """Return what made the result; see `oclgenomics.app.provenance`."""

    def report_profile(self) -> None:
        """Write what --profile asks for."""


class _OnDevice:
    """Work of this process."""

    def __init__(self, args: argparse.Namespace, engine: Engine) -> None:
        self._args, self._engine = args, engine

    def parts(self, job: Job[PartT], run: Run) -> Generator[PartT, None, None]:
        return job.parts(self._engine, run)

    def engine(self) -> contextlib.AbstractContextManager[Callable[[], Engine]]:
        return contextlib.nullcontext(lambda: self._engine)

    def provenance(self) -> dict[str, Any]:
        return provenance(self._args, self._engine)

    def report_profile(self) -> None:
        report_profile(self._args, self._engine)


class _OnWorkers:
    """Work of other processes, one for each of several devices of this machine."""

    def __init__(self, args: argparse.Namespace, pool: DevicePool) -> None:
        self._args, self._pool = args, pool
        self.profile = runtime.Profile(args.profile is not None)

    def parts(self, job: Job[PartT], run: Run) -> Generator[PartT, None, None]:
        count = len(self._pool.devices)
        spread = jobs.Spread(
            self._pool, pools.PIECES_EACH * count, getattr(self._args, "tmp_dir", None),
            max_memory=self._args.max_memory, profile=self.profile,
        )  # fmt: skip
        told: Generator[PartT, None, None] = spread.parts(job, replace(run, threads=None))
        return told

    @contextlib.contextmanager
    def engine(self) -> Iterator[Callable[[], Engine]]:
        """Lend one on the first GPU, or the first device without any, whose worker has nothing left to do then."""
        device = min(self._pool.devices, key=lambda one: one.kind != "gpu")
        with ThreadPoolExecutor(1, "open-engine") as thread:
            opening = thread.submit(
                runtime.Engine, device, max_memory=self._args.max_memory, profile=self.profile.enabled
            )
            try:
                yield opening.result
            finally:
                opening.result().close()
        self.profile.extend(opening.result().profile.taken(f"device {device.index}, pieces put together"))

    def provenance(self) -> dict[str, Any]:
        records = [device_record(device) for device in self._pool.devices]
        workers = [f"{device.name} (device {device.index})" for device in self._pool.devices]
        return provenance(self._args, None) | _one_device(records) | {"workers": workers}

    def report_profile(self) -> None:
        report_profile(self._args, self)


class _OnScheduler:
    """Work of the workers of a scheduler."""

    def __init__(self, args: argparse.Namespace, workers: Cluster) -> None:
        self._args, self._workers = args, workers

    def parts(self, job: Job[PartT], run: Run) -> Generator[PartT, None, None]:
        return self._workers.parts(job, run)

    def engine(self) -> contextlib.AbstractContextManager[Callable[[], None]]:
        return contextlib.nullcontext(lambda: None)

    def provenance(self) -> dict[str, Any]:
        known = self._workers
        return provenance(self._args, None) | {"pieces": f"{known.pieces} on {known.address}", "workers": known.workers}

    def report_profile(self) -> None:
        """Do nothing: --profile is refused."""


class _OfPieces:
    """Work that is done already, in pieces."""

    def __init__(self, args: argparse.Namespace, pieces: list[PieceFile]) -> None:
        self._args, self._pieces = args, pieces

    def parts(self, job: Job[PartT], run: Run) -> Generator[PartT, None, None]:
        def seen() -> Iterator[PieceFile]:
            for number, piece in enumerate(self._pieces, 1):
                yield piece
                if run.progress is not None:
                    run.progress(number, len(self._pieces))

        yield from job.combined(seen())

    @contextlib.contextmanager
    def engine(self) -> Iterator[Callable[[], Engine | None]]:
        with chosen_engine(self._args) as engine:
            yield lambda: engine

    def provenance(self) -> dict[str, Any]:
        devices = [piece.record.device for piece in self._pieces]
        pieces = [f"{piece.record.shard} on {piece.record.device['name']}" for piece in self._pieces]
        return provenance(self._args, None) | _one_device(devices) | {"pieces": pieces}

    def report_profile(self) -> None:
        """Do nothing: no device is at work."""


def _one_device(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The device of a record of what made a result, if all work was done on one, or on equal ones."""
    return {"device": dict(records[0])} if all(record == records[0] for record in records) else {}


def work_on(args: argparse.Namespace, engine: Engine) -> Work:
    """Return what does the work of a command on a device that is open."""
    return _OnDevice(args, engine)


@contextlib.contextmanager
def work_of(args: argparse.Namespace) -> Iterator[Work]:
    """Lend what does the work of a command: a device, workers, or pieces, where `combine` runs it."""
    if has_pieces(args):
        yield _OfPieces(args, args.pieces)
        return
    if getattr(args, "scheduler", None):
        with cluster.connected(args.scheduler) as client:
            workers = cluster.Cluster(client, args.piece_count, _piece_folder(args), args.max_memory)
            say(args, f"{workers.pieces:,} pieces on {workers.address}: {', '.join(workers.workers)}")
            yield _OnScheduler(args, workers)
        return
    if getattr(args, "workers", None) is not None:
        with pools.DevicePool(args.workers) as pool:
            for device in pool.devices:
                say(args, f"worker on device {device.index}: {device}")
            yield _OnWorkers(args, pool)
        return
    with open_engine(args) as engine:
        yield work_on(args, engine)


def is_combined(args: argparse.Namespace) -> bool:
    """Whether a command makes its result of pieces, so that it needs no device.

    Raises
    ------
    UsageError
        Options of --workers or --scheduler contradict others.
    DeviceError
        --workers names devices that are not there.
    """
    if getattr(args, "scheduler", None) is not None:
        _check_scheduled(args)
        return True
    for option, value in (("--pieces", args.piece_count), ("--piece-dir", args.piece_dir)):
        if value is not None:
            raise UsageError(f"{option}: has a meaning only with --scheduler")
    if args.workers is not None:
        _check_workers(args)
        return True
    return has_pieces(args)


def has_pieces(args: argparse.Namespace) -> bool:
    """Whether `combine` runs a command: all pieces are there, and no input is read again."""
    return bool(getattr(args, "pieces", None))


def _check_workers(args: argparse.Namespace) -> None:
    _refuse_both("--workers", {"--shard": args.shard, "--device": args.device})
    if any(file.name == "-" for file in named_files(args.parser, args) if file.kind == "input"):
        raise UsageError("--workers: standard input (-) can be read by one process only; name files")
    runtime.select_devices(args.workers)


def _refuse_both(option: str, others: Mapping[str, object]) -> None:
    for other, value in others.items():
        if value is not None:
            raise UsageError(f"{other} and {option} contradict each other; give one of them")


def _check_scheduled(args: argparse.Namespace) -> None:
    others = {"--workers": args.workers, "--shard": args.shard, "--device": args.device, "--profile": args.profile}
    _refuse_both("--scheduler", others)
    if args.piece_count == 0:
        raise UsageError("--pieces 0: give 1 or more")
    _piece_folder(args)


def _piece_folder(args: argparse.Namespace) -> str:
    """Where the pieces of a scheduler's workers lie.

    Raises
    ------
    UsageError
        No folder is named.
    """
    if args.piece_dir is not None:
        return str(args.piece_dir)
    if args.output == "-" or (os.path.exists(args.output) and not os.path.isfile(args.output)):
        raise UsageError("--scheduler: name a folder for the pieces with --piece-dir, or a file with -o")
    folder: str = os.path.dirname(os.path.abspath(args.output))
    return folder


def write_shard(
    args: argparse.Namespace,
    job: Job[Any],
    label: str,
    *,
    kept: Sequence[str] = (),
    unit: tuple[str, float] = MEGABYTES,
) -> int:
    """Do the piece of --shard, and write it to -o.

    Parameters
    ----------
    args : Namespace
    job : Job
    label : str
        That of the progress.
    kept : sequence of str
        Outputs in `args` that `combine` can write only if the piece was told of them.
    unit : tuple of str and float
        What the progress counts, and how many of them make one on display.

    Raises
    ------
    UsageError
        There is no file for the piece, or another output is asked for, which `combine` writes.
    OclGenomicsError
        Whatever the job raises.
    """
    shard: Shard = args.shard
    check_shard(args, kept)
    progress = started_progress(args, f"{label}, piece {shard}", *unit)
    start = time.perf_counter()
    with open_engine(args) as engine:
        how = run.Run(getattr(args, "threads", None), progress.update)
        jobs.make_piece(job, shard, args.output, engine=engine, run=how, arguments=_arguments(args))
        progress.clear()
        report_profile(args, engine)
    say(args, f"piece {shard} in {time.perf_counter() - start:.2f} s")
    for option in [option_of(args.parser, args)[name] for name in kept if getattr(args, name)]:
        say(args, f"the piece has what {option} needs; `combine` writes it")
    say_written(args)
    return 0


def check_shard(args: argparse.Namespace, kept: Sequence[str] = ()) -> None:
    """Refuse outputs that --shard does not have; `kept` as of `write_shard`.

    Raises
    ------
    UsageError
        There is no file for the piece, or another output is asked for, which `combine` writes.
    """
    if args.output == "-":
        raise UsageError(f"--shard {args.shard}: name the file of the piece with -o")
    refuse_packed(args.output, "a piece")
    allowed = {
        "-o",
        "--output",
        "the output",
        "--profile",
        "--versions",
        *(option_of(args.parser, args)[name] for name in kept),
    }
    others = [file for file in _outputs(args) if file.option not in allowed]
    if others:
        raise UsageError(f"{others[0]}: a piece is no whole result; give this option to `combine`, which writes it")


def _outputs(args: argparse.Namespace) -> list[NamedFile]:
    return [file for file in named_files(args.parser, args) if file.kind == "output"]


def _arguments(args: argparse.Namespace) -> dict[str, Any]:
    """What `combine` needs to know of the command."""
    outputs = {action.dest: None for action in chosen_actions(args.parser, args) if role_of(action) == "output"}
    return {name: value for name, value in (vars(args) | outputs).items() if name not in NOT_KEPT}


def add_combine(
    actions: Any, commands: Mapping[str, ModuleType], add_outputs: Callable[[argparse.ArgumentParser], object]
) -> None:
    """Add `combine` to the actions of a system.

    Parameters
    ----------
    actions : subparsers of argparse
    commands : mapping of str to module
        Commands that do the jobs, by name.
    add_outputs : callable
        Adds -o and all other options of outputs, those of messages among them.
    """
    names = " and ".join(f"`{name} --shard`" for name in commands)
    parser = add_command(
        actions, lambda args: _combine(args, commands), "combine", "put the pieces of a job together",
        f"Write what one run gives, from all pieces that {names} made. Pieces may come in any order.",
    )  # fmt: skip
    reads(parser.add_argument("piece_files", nargs="+", metavar="PIECE", help=f"all pieces of one job, by {names}"))
    add_outputs(parser)


def _combine(args: argparse.Namespace, commands: Mapping[str, ModuleType]) -> int:
    found: list[PieceFile] = jobs.pieces_of(args.piece_files)
    record = found[0].record
    if record.job not in commands or not record.arguments:
        known = " or ".join(f"`oclgenomics {name} --shard`" for name in commands)
        raise UsageError(f"{found[0].name}: is a piece of {record.job!r}; this command combines those of {known}")
    _refuse_inputs(args, record)
    status: int = commands[record.job].run(_combined_arguments(args, record, found))
    return status


def _refuse_inputs(args: argparse.Namespace, record: PieceRecord) -> None:
    """Refuse outputs that are an input of the pieces."""
    known = [NamedFile("the input", mark.name, "input") for mark in record.inputs]
    try:
        for output in _outputs(args):
            if isinstance(output.name, str):
                check_output(output, known)
    except FileConflictError as error:
        raise UsageError(str(error)) from None


def _combined_arguments(args: argparse.Namespace, record: PieceRecord, found: list[PieceFile]) -> argparse.Namespace:
    """The options of the command that made the pieces, and those of outputs that were given now."""
    given = {name: value for name, value in vars(args).items() if name not in ("piece_files", "command", "action")}
    options = option_of(args.parser, args)
    for action in chosen_actions(args.parser, args):
        name = action.dest
        if name not in given:
            continue
        unused = given[name] == action.default
        if unused and name not in NOT_KEPT:  # as it was for the pieces, if they know it
            del given[name]
        elif not unused and name in options and name not in {*record.arguments, *NOT_KEPT}:
            raise UsageError(f"{options[name]}: `{record.job}` has no such option")
    unset = (
        "shard", "device", "max_memory", "threads", "tmp_dir", "profile", "scheduler", "piece_count", "piece_dir",
        "workers",
    )  # fmt: skip
    kept = {**dict.fromkeys(unset), **record.arguments}
    if "format" in kept and given.keys() & {"format", "json"}:  # either says what the format is
        kept |= {"format": None, "json": False}
    return argparse.Namespace(**kept | given, pieces=found)
