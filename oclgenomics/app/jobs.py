"""Jobs: verbs with what they are given, so that other processes and machines can do pieces of them.

A job is a small dataclass of paths and options that can be pickled. Its i-th piece is a pure function of its inputs and
of the number of pieces; `make_piece`, the task of all executors, writes it to a file, and `Job.combined` makes of the
pieces the parts that one run gives.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import closing
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from oclgenomics import __version__, notices
from oclgenomics.app.pieces import (
    InputMark,
    PieceFile,
    PieceRecord,
    Shard,
    check_alike,
    check_version,
    in_order,
    write_piece,
)
from oclgenomics.app.provenance import device_record
from oclgenomics.app.run import EngineLike, Run
from oclgenomics.errors import InputError, OutputError, ParameterError
from oclgenomics.io.atomic_file import check_folder
from oclgenomics.io.closing import Closing
from oclgenomics.io.cores import available_memory
from oclgenomics.io.raw_file import Progress
from oclgenomics.runtime import Engine
from oclgenomics.runtime.profile import Profile, Span

PartT = TypeVar("PartT")
ItemT = TypeVar("ItemT")
ClosingT = TypeVar("ClosingT", bound=Closing)
LOOK_SECONDS = 0.1  # between two looks at how far the work is
PIECES = 16  # of a job, where nobody says how many: enough for several devices of unequal speed
KEPT_BYTES = 2 << 30  # of what a piece read, kept in memory for the next one
KEPT_SHARE = 4  # and no more than a quarter of the memory that is left then
KEPT_LOOK = 32 << 20  # bytes after which to see how much is left


@dataclass(frozen=True)
class Job(ABC, Generic[PartT]):
    """A verb with what it is given.

    A subclass is a dataclass whose fields are paths and options. What it makes of them for its own use is kept in
    `functools.cached_property`, which no other process gets.
    """

    NAME: ClassVar[str]
    """System and verb: "signatures scan"."""
    KINDS: ClassVar[tuple[type, ...]]
    """Dataclasses that parts are made of, the part itself among them."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    @abstractmethod
    def inputs(self) -> Sequence[str]:
        """All files that are read, in an order of their own."""

    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """All that the result depends on but the inputs, by name, as plain values."""

    @abstractmethod
    def parts(self, engine: EngineLike, run: Run, shard: Shard | None = None) -> Generator[PartT, None, None]:
        """Do the job, or one piece of it, and yield what it gives, part by part."""

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[PartT]:
        """Make the parts of the whole job of its pieces, which come in their order, maybe one after the other.

        Where parts count from the start of the job, such as records of the input, this is the place to add what came
        before.
        """
        for piece in pieces:
            yield from self.read(piece)

    def read(self, piece: PieceFile) -> Iterator[PartT]:
        """Read the parts of a piece."""
        return piece.parts(self.KINDS)


class AgainError(InputError):
    """Pieces do not suit each other, and have to be made again by another job.

    Parameters
    ----------
    message : str
        What a user has to do who makes pieces one by one.
    source : str, optional
        A piece.
    job : Job, optional
    """

    def __init__(self, message: str, *, source: str | None = None, job: Job[Any] | None = None) -> None:
        super().__init__(message, source=source)
        self.job = job


@dataclass(frozen=True)
class Made:
    """What has become of a piece.

    Attributes
    ----------
    path : str
    shard : Shard
    seconds : float
    device : mapping
        Where it was made, as `oclgenomics.app.provenance` records it.
    spans : tuple of Span
        What took how long, if that was asked for.
    """

    path: str
    shard: Shard
    seconds: float
    device: Mapping[str, Any]
    spans: tuple[Span, ...] = ()


def make_piece(
    job: Job[Any],
    shard: Shard,
    path: str,
    *,
    device: str | None = None,
    max_memory: int | None = None,
    profile: bool = False,
    run: Run | None = None,
    engine: Engine | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> Made:
    """Do one piece of a job and write it to a file: the task that executors are given.

    Parameters
    ----------
    job : Job
    shard : Shard
    path : str
        The file to write, where the process that combines finds it.
    device : str, optional
        As `oclgenomics.runtime.select_device` takes it. The engine of it stays open for the next piece that this thread
        does.
    max_memory : int, optional
        Bytes of device memory.
    profile : bool
        Keep the times of kernels and transfers.
    run : Run, optional
    engine : Engine, optional
        One that is open, instead of `device`, `max_memory` and `profile`.
    arguments : mapping, optional
        See `PieceRecord`.

    Raises
    ------
    OclGenomicsError
        Whatever the verb raises; nothing half written is left.
    """
    start = time.perf_counter()
    marks = tuple(InputMark.of(name) for name in job.inputs())
    used = engine or _kept_engine(device, max_memory, profile)
    job = _kept_job(job, marks)
    where = device_record(used.device)
    record = PieceRecord(job.NAME, __version__, shard, job.parameters(), marks, arguments or {}, where)
    with closing(job.parts(used, run or Run(), shard)) as parts:
        write_piece(path, record, parts)
    spans = used.profile.taken(f"device {used.device.index}, process {os.getpid()}") if engine is None else []
    return Made(path, shard, time.perf_counter() - start, where, tuple(spans))


_kept = threading.local()
KEPT_NAMES = ("engine", "key", "open")  # of it, of one engine


def _kept_job(job: Job[Any], marks: tuple[InputMark, ...]) -> Job[Any]:
    """The job as this thread had it before, with what it read of inputs that are still the same."""
    before, known = getattr(_kept, "job", (job, None))
    if before.NAME != job.NAME:
        _close_kept()
    if (before, known) != (job, marks):
        _kept.job = before, _ = job, marks
    return before


def _kept_engine(device: str | None, max_memory: int | None, profile: bool) -> Engine:
    """The engine of this thread for a device: starting one takes longer than a small piece."""
    if getattr(_kept, "key", None) != (device, max_memory, profile):
        _close_kept()
        if (before := getattr(_kept, "engine", None)) is not None:
            before.close()
        _kept.engine = _kept.key = None
        _kept.engine = Engine(device, max_memory=max_memory, profile=profile)
        _kept.key = device, max_memory, profile
    engine: Engine = _kept.engine
    return engine


@contextlib.contextmanager
def kept_open(engine: Engine, key: Hashable, opened: Callable[[], ClosingT]) -> Iterator[ClosingT]:
    """Lend what pieces of a job need on their engine, such as a database, and keep it open for the next piece.

    It is closed when a piece needs another one, or is of another job, and in the end of the `with` block if the engine
    is not one that `make_piece` keeps.

    Parameters
    ----------
    engine : Engine
    key : hashable
        What tells it from others.
    opened : callable
        Opens it on the engine.
    """
    if not is_kept(engine):
        with opened() as lent:
            yield lent
        return
    if getattr(_kept, "open", (None, None))[0] != key:
        _close_kept()
        _kept.open = key, opened()
    yield _kept.open[1]


def is_kept(engine: Engine) -> bool:
    """Whether an engine stays open for the next piece or job that this thread does."""
    return engine is getattr(_kept, "engine", None)


@contextlib.contextmanager
def keeping(engine: Engine) -> Iterator[None]:
    """Have what `kept_open` opens on an engine stay open for the next job of this thread, until the body ends."""
    before: dict[str, Any] = {name: vars(_kept).pop(name) for name in KEPT_NAMES if name in vars(_kept)}
    _kept.engine, _kept.key = engine, None
    try:
        yield
    finally:
        _close_kept()
        del _kept.engine, _kept.key
        vars(_kept).update(before)


class KeptItems(Closing, Generic[ItemT]):
    """What all pieces of a job read, kept in memory by a worker that does several; `kept_open` lends it.

    No more than 2 GiB are kept, nor more than a quarter of the memory that is left.

    Parameters
    ----------
    keep : bool
        Whether another piece may come.
    """

    def __init__(self, *, keep: bool) -> None:
        self._keep = keep
        self._items: dict[str, list[ItemT]] = {}
        self._size = 0  # of all of them

    def close(self) -> None:
        """Forget them."""
        self._items.clear()

    def walk(
        self,
        name: str,
        read: Callable[[], Generator[ItemT, None, None]],
        size: Callable[[ItemT], int],
        progress: Progress | None = None,
    ) -> Generator[ItemT, None, None]:
        """Give all items of an input: those that are kept, or as they are read.

        Parameters
        ----------
        name : str
            Of the input, among those of the job.
        read : callable
            Reads the items, and tells the progress of that.
        size : callable
            Bytes of an item.
        progress : callable, optional
            Called with (items done, items in all) where they are kept.
        """
        if name not in self._items:
            yield from self._read(name, read, size)
            return
        items = self._items[name]
        for number, item in enumerate(items):
            if progress is not None:
                progress(number, len(items))
            yield item

    def _read(
        self, name: str, read: Callable[[], Generator[ItemT, None, None]], size: Callable[[ItemT], int]
    ) -> Generator[ItemT, None, None]:
        kept: list[ItemT] = []
        total, room = self._size, 0
        with closing(read()) as items:
            for item in items:
                if self._keep:
                    total += size(item)
                    if total > room:
                        room = min(total + KEPT_LOOK, _room_to_keep())
                    kept.append(item)
                    if total > room:
                        self._keep = False
                        kept.clear()
                yield item
                del item  # before the next one is read
        if self._keep:
            self._items[name], self._size = kept, total


def _room_to_keep() -> int:
    """Bytes that may be kept for the next piece, as much memory is left now."""
    left = available_memory()
    return KEPT_BYTES if left is None else min(KEPT_BYTES, left // KEPT_SHARE)


def _close_kept() -> None:
    """Close what is kept open on the engine of this thread."""
    _, lent = vars(_kept).pop("open", (None, None))
    if lent is not None:
        lent.close()


@dataclass(frozen=True)
class Spread:
    """How a job is spread over the workers of an executor.

    Attributes
    ----------
    executor : concurrent.futures.Executor
        Any: processes of this machine, Dask's, MPI's.
    pieces : int
        How many tasks the job becomes. More than there are workers even out devices of unequal speed.
    folder : str, optional
        Where all workers can write and this process can read; the system's folder for temporary files if not given. The
        pieces are in a folder of their own there, which is removed in the end.
    device : str, optional
        As `oclgenomics.runtime.select_device` takes it, in each worker; by what the worker's environment says if not
        given.
    max_memory : int, optional
        Bytes of device memory of each worker.
    profile : Profile, optional
        Gets what took how long in the workers, if it is enabled.

    Raises
    ------
    ParameterError
        There are no pieces.
    """

    executor: Executor
    pieces: int = PIECES
    folder: str | os.PathLike[str] | None = None
    device: str | None = None
    max_memory: int | None = None
    profile: Profile | None = None

    def __post_init__(self) -> None:
        if self.pieces < 1:
            raise ParameterError("pieces", "give 1 or more", self.pieces)

    def parts(self, job: Job[PartT], run: Run | None = None, size: int | None = None) -> Generator[PartT, None, None]:
        """Do a job and yield the parts of its result as one run gives them.

        Parameters
        ----------
        job : Job
        run : Run, optional
        size : int, optional
            Bytes of all inputs, for the progress; they are looked at if it is not given.

        Raises
        ------
        OclGenomicsError
            The first error of any piece; pieces that were not begun are not done.
        """
        run = run or Run()
        size = sum(InputMark.of(name).size for name in job.inputs()) if size is None else size
        with _piece_folder(self.folder) as folder:
            shards = [Shard(number, self.pieces) for number in range(1, self.pieces + 1)]
            how: dict[str, Any] = {
                "device": self.device, "max_memory": self.max_memory,
                "profile": self.profile is not None and self.profile.enabled,
                "run": Run(run.threads, getattr(self.executor, "progress", None)),
            }  # fmt: skip
            given, again = 0, True
            while again:
                again = False
                tasks = [
                    self.executor.submit(make_piece, job, shard, os.path.join(folder, f"{shard.number}.piece"), **how)
                    for shard in shards
                ]
                try:
                    for part in islice(job.combined(self._opened_when_made(tasks, size, run)), given, None):
                        given += 1
                        yield part
                except AgainError as error:
                    if error.job is None:
                        raise
                    job, again = error.job, True  # what was given already is the same in the new pieces
                finally:
                    for task in tasks:
                        task.cancel()
                    _settle(tasks)

    def _opened_when_made(self, tasks: Sequence[Future[Made]], size: int, run: Run) -> Iterator[PieceFile]:
        """Open pieces in their order, each as soon as it is there; progress is a share of the bytes of all inputs."""
        first: tuple[str, PieceRecord] | None = None
        for task in tasks:
            while run.progress is not None and not task.done():
                wait([task], LOOK_SECONDS)
                run.progress(int(size * _share_done(tasks)), size)
            made = task.result()
            if run.progress is not None:
                run.progress(int(size * _share_done(tasks)), size)
            if self.profile is not None:
                self.profile.extend(made.spans)
            piece = PieceFile(made.path)
            first = first or (piece.name, piece.record)
            check_version(piece.name, piece.record)
            check_alike(piece.name, piece.record, *first)
            yield piece


def _share_done(tasks: Sequence[Future[Made]]) -> float:
    """How much is done of all tasks; of one that is not, executors of our own say it."""
    return sum(1.0 if task.done() else getattr(task, "fraction", 0.0) for task in tasks) / len(tasks)


def _settle(tasks: Sequence[Future[Made]]) -> None:
    """Wait until nothing writes to the folder of the pieces any more."""
    for task in tasks:
        with contextlib.suppress(BaseException):
            task.result()


@contextlib.contextmanager
def _piece_folder(folder: str | os.PathLike[str] | None) -> Iterator[str]:
    """Lend a folder for pieces, which vanishes in the end."""
    if folder is not None:
        check_folder(os.fspath(folder))
    try:
        held = tempfile.TemporaryDirectory(prefix="oclgenomics-", dir=folder, ignore_cleanup_errors=True)
    except OSError as error:
        raise OutputError(f"{error.filename}: no folder for pieces can be made ({error.strerror or error})") from error
    with held as name:
        yield name
    if os.path.exists(name):  # a machine that shares the folder may still have a file of it open
        notices.tell(f"warning: {name}: the folder of the pieces cannot be removed; remove it yourself")


def pieces_of(paths: Sequence[str]) -> list[PieceFile]:
    """Return all pieces of a job in the order of their shards.

    Raises
    ------
    InputError
        A piece that is missing, there twice, damaged, of another job or of another version of the program.
    """
    pieces = [PieceFile(path) for path in paths]
    for piece in pieces:
        check_version(piece.name, piece.record)
    return [pieces[place] for place in in_order([(piece.name, piece.record) for piece in pieces])]


ExecutorLike: TypeAlias = Executor | Spread | None
"""Who does pieces of a job: an executor, one with what to spread how, or None: this process does it all."""


def spread_over(executor: Executor | Spread, engine: EngineLike) -> Spread:
    """Return how a verb's job is spread over an executor.

    Parameters
    ----------
    executor : Executor or Spread
    engine : str, optional
        Device of each worker, as verbs take it.

    Raises
    ------
    ParameterError
        It is an engine or a device of this process.
    """
    if engine is not None and not isinstance(engine, str):
        text = "must be the name of a device, or not be given: the workers of `executor` open engines of their own"
        raise ParameterError("engine", text)
    spread = executor if isinstance(executor, Spread) else Spread(executor)
    return spread if engine is None else replace(spread, device=engine)


def path_of(parameter: str, value: object) -> str:
    """Return the path that an input is, as other processes have to read it.

    Raises
    ------
    ParameterError
        It is something in this process's memory.
    """
    if not isinstance(value, (str, os.PathLike)):
        raise ParameterError(parameter, "must be a file with `executor`, whose workers read it themselves")
    return os.fspath(value)
