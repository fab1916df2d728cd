"""Work of the workers of a Dask scheduler: each piece of a job is a task, its result a file that all machines see.

A task gets what the process that asks for it has: the version of the package, the working folder and the marks of
the inputs. A worker that has another one of them does nothing and says what differs. A piece that nobody waits for any
more, as its command was interrupted, ends where it tells its progress next.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pickle
import socket
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from oclgenomics import __version__, notices
from oclgenomics.app.jobs import Job, Made, Spread
from oclgenomics.app.pieces import InputMark
from oclgenomics.app.run import Run
from oclgenomics.errors import (
    DeviceError,
    InputError,
    OclGenomicsError,
    OutputError,
    ParameterError,
    SchedulerError,
    UsageError,
    reason_of,
)
from oclgenomics.lazy_names import optional

PartT = TypeVar("PartT")
NEED = "a Dask scheduler needs the package `distributed`; install it with: pip install 'oclgenomics[dask]'"
DEVICE = "DEVICE"  # the resource of workers: one for each piece that they can do at a time
PIECES_A_WORKER = 4
RETRIES = 2  # of a piece whose device fails, on whatever worker is free
WITHOUT_WORKERS = 300  # seconds
LOOK_SECONDS = 1.0  # how often a piece finds out whether anybody waits for it
ASK_SECONDS = 5.0  # how often the scheduler is asked for its workers
ANSWER_SECONDS = 60.0  # that it may take to answer
CLOSE_SECONDS = 5.0
START_WORKERS = "start some with: oclgenomics worker"
SAME_PLACE = "inputs need the same names and contents on all machines"


def distributed() -> Any:
    """Return Dask's package.

    Raises
    ------
    MissingDependencyError
    """
    return optional("distributed", NEED)


def scheduler_address(scheduler: str) -> str:
    """Return the address of a scheduler that is given by it or by its scheduler file, which may come a little later.

    Raises
    ------
    SchedulerError
        There is no such file, or it is none of a scheduler.
    """
    if "://" in scheduler or not (scheduler.endswith(".json") or os.path.exists(scheduler)):
        return scheduler
    until = time.monotonic() + _connect_seconds()
    while not os.path.exists(scheduler):
        if time.monotonic() > until:
            told = "there is no such scheduler file; start the scheduler with: dask scheduler --scheduler-file"
            raise SchedulerError(f"{scheduler}: {told} {scheduler}")
        time.sleep(0.1)
    try:
        with open(scheduler, encoding="utf-8") as file:
            return str(json.load(file)["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        told = f"is no scheduler file ({reason_of(error)}); give what `dask scheduler --scheduler-file` writes"
        raise SchedulerError(f"{scheduler}: {told}") from None


def _connect_seconds() -> float:
    dask = optional("dask", NEED)
    seconds: float = optional("dask.utils", NEED).parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))
    return seconds


@contextlib.contextmanager
def connected(scheduler: str) -> Iterator[Any]:
    """Lend a client of a scheduler.

    Parameters
    ----------
    scheduler : str
        Its address, such as tcp://HOST:8786, or its scheduler file.

    Raises
    ------
    MissingDependencyError
    SchedulerError
        Nothing answers there as a scheduler does.
    """
    dask = distributed()
    address = scheduler_address(scheduler)
    with _silent_logging(), contextlib.ExitStack() as stack:
        # One that fails to connect is closed, too: else that is done whenever it is collected, and where this happens
        # while another one starts, Dask waits for ever for a lock that it holds itself.
        client = dask.Client.__new__(dask.Client)
        stack.callback(_close, client)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a table of all versions, of which tasks compare ours
                dask.Client.__init__(client, address, set_as_default=False)
        except Exception as error:
            told = f"no Dask scheduler answers at {address} ({reason_of(error)}); start one with: dask scheduler"
            raise SchedulerError(told) from error
        yield client


@contextlib.contextmanager
def _silent_logging() -> Iterator[None]:
    """Keep Dask's log off standard error: what is wrong comes as one error."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):  # a scheduler that is gone cannot be told that this client goes, too
        client.close(timeout=CLOSE_SECONDS)
    client.status = "closed"  # whatever came of it, nobody is to try again when the client is collected


@dataclass(frozen=True)
class Asked:
    """What a worker needs to have as the process that asks for a piece has it.

    Attributes
    ----------
    program : str
        Version of the package.
    folder : str
        The working folder, from which names of files are read.
    marks : tuple of InputMark
    """

    program: str
    folder: str
    marks: tuple[InputMark, ...]


class Cluster:
    """The workers of a scheduler, at work for one command.

    Parameters
    ----------
    client : distributed.Client
    pieces : int, optional
        How many tasks the job becomes; four for each worker if not given.
    folder : str
        Where all workers can write.
    max_memory : int, optional
        Bytes of device memory of each worker.

    Attributes
    ----------
    workers : list of str
        Names of those that were there at the start.

    Raises
    ------
    SchedulerError
        No worker came.
    """

    def __init__(self, client: Any, pieces: int | None, folder: str, max_memory: int | None = None) -> None:
        self._client, self._folder, self._max_memory = client, os.path.abspath(folder), max_memory
        self.address: str = client.scheduler.address
        self.workers = _wait_for_workers(client)
        self.pieces = PIECES_A_WORKER * len(self.workers) if pieces is None else pieces

    def parts(self, job: Job[PartT], run: Run) -> Generator[PartT, None, None]:
        """Do a job and yield the parts of its result as one run gives them.

        Raises
        ------
        OclGenomicsError
            The first error of any piece, or of the scheduler.
        """
        marks = tuple(InputMark.of(name) for name in job.inputs())
        asked = Asked(__version__, os.getcwd(), marks)
        with _Tasks(self._client, asked) as executor:
            spread = Spread(executor, self.pieces, self._folder, max_memory=self._max_memory)
            yield from spread.parts(job, run, sum(mark.size for mark in marks))


def _wait_for_workers(client: Any) -> list[str]:
    """Return the names of the workers that can do pieces, when there is one."""
    until, told = time.monotonic() + _patience(), False
    while not (found := _workers(client)):
        if time.monotonic() > until:
            raise SchedulerError(_no_workers(client.scheduler.address))
        if not told:
            notices.tell(f"{client.scheduler.address} has no worker with a device yet; waiting for one ...")
            told = True
        time.sleep(LOOK_SECONDS)
    return found


def _patience() -> float:
    """Seconds that a scheduler may be without workers: Dask's own setting, if there is one."""
    setting = optional("dask", NEED).config.get("distributed.scheduler.no-workers-timeout")
    found: float | None = optional("dask.utils", NEED).parse_timedelta(setting)
    return WITHOUT_WORKERS if found is None else found


def _no_workers(address: str) -> str:
    resource = f"(a worker of Dask's own needs --nthreads 1 --resources {DEVICE}=1)"
    return f"{address} has had no worker with a device for {_patience():.0f} s; {START_WORKERS} {address} {resource}"


def _workers(client: Any) -> list[str]:
    try:
        identity = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER_SECONDS)
    except Exception as error:
        raise SchedulerError(_lost(client, reason_of(error))) from error
    known = identity["workers"].values()
    return [str(worker["name"]) for worker in known if worker["resources"].get(DEVICE, 0) >= 1]


def _lost(client: Any, reason: str) -> str:
    where = getattr(client.scheduler, "address", "the scheduler")
    return f"lost the connection to {where} ({reason}); see whether the scheduler still runs, and run the command again"


@dataclass(frozen=True)
class _Call:
    """What unpickles to the answer of `do_piece`.

    A worker that cannot unpickle a task before it begins, as one without this package, neither does it nor says why.
    """

    asked: Asked
    packed: bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return do_piece, (self.asked, self.packed)


class _Tasks(Executor):
    """Has workers do pieces; nothing of it waits for ever."""

    def __init__(self, client: Any, asked: Asked) -> None:
        self._client, self._asked = client, asked
        self._waiting: dict[Future[Made], Any] = {}
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._watch_scheduler, name="oclgenomics-scheduler", daemon=True)
        self._watch.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        task = self._client.submit(
            pickle.loads, pickle.dumps(_Call(self._asked, pickle.dumps((fn, args, kwargs)))), pure=False,
            retries=RETRIES, resources={DEVICE: 1}, key=f"piece-{uuid.uuid4().hex}",
        )  # fmt: skip
        made: Future[Made] = Future()
        self._waiting[made] = task
        made.add_done_callback(self._forget)
        task.add_done_callback(lambda _: self._begin_settling(made, task))
        return made

    def _begin_settling(self, made: Future[Made], task: Any) -> None:
        """Settle in a thread of its own: to fetch an answer may take for ever, and all callbacks of Dask share one."""
        threading.Thread(target=self._settle, args=[made, task], name="oclgenomics-answer", daemon=True).start()

    def _forget(self, made: Future[Made]) -> None:
        self._waiting.pop(made).release()  # the worker that is at it ends, if it is not done

    def _settle(self, made: Future[Made], task: Any) -> None:
        try:
            answer = task.result()
        except BaseException as error:
            self._fail(made, self._explained(error))
            return
        if isinstance(answer, OclGenomicsError):
            self._fail(made, answer)
        else:
            with contextlib.suppress(InvalidStateError):  # cancelled meanwhile
                made.set_result(answer)

    @staticmethod
    def _fail(made: Future[Made], error: BaseException) -> None:
        with contextlib.suppress(InvalidStateError):
            made.set_exception(error)

    def _explained(self, error: BaseException) -> BaseException:
        """What went wrong with a task that gave no answer."""
        known = distributed()
        if isinstance(error, OclGenomicsError):
            return error
        if isinstance(error, CancelledError):
            return SchedulerError(_lost(self._client, "it has dropped the work"))
        if isinstance(error, known.KilledWorker):
            last = getattr(error.last_worker, "name", error.last_worker)
            told = f"{error.allowed_failures + 1} workers ended while they did the same piece, the last of them {last}"
            return SchedulerError(f"{told}; see their logs, and give them more memory or cut the work into more pieces")
        if isinstance(error, (ImportError, AttributeError, pickle.UnpicklingError)):
            told = f"a worker cannot import what this process uses ({reason_of(error)})"
            return SchedulerError(f"{told}; {_install()}")
        if isinstance(error, (OSError, TimeoutError)) or type(error).__module__.startswith("distributed"):
            return SchedulerError(_lost(self._client, reason_of(error)))
        return error

    def _watch_scheduler(self) -> None:
        """Give up where the scheduler does not answer, or has had no workers for long."""
        seen = time.monotonic()
        while not self._over.wait(ASK_SECONDS):
            try:
                seen = time.monotonic() if _workers(self._client) else seen
                trouble = _no_workers(self._client.scheduler.address) if time.monotonic() - seen > _patience() else None
            except Exception as error:
                trouble = str(error) if isinstance(error, SchedulerError) else _lost(self._client, reason_of(error))
            if trouble is not None and not self._over.is_set():
                for made in list(self._waiting):
                    self._fail(made, SchedulerError(trouble))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._over.set()


def _install() -> str:
    return f"install oclgenomics {__version__} with the same extras where the workers run, and restart them"


def do_piece(asked: Asked, packed: bytes) -> Made | OclGenomicsError:
    """Do a piece on this worker: the task that schedulers are given.

    Errors that any worker would make again are returned, and those of the device raised, which Dask retries.

    Parameters
    ----------
    asked : Asked
    packed : bytes
        `oclgenomics.app.jobs.make_piece` and what it is given, to be read when the version is known to be the same.

    Raises
    ------
    DeviceError
        The device of this worker failed.
    """
    worker = distributed().get_worker()
    try:
        _check_worker(worker, asked)
        task, (job, shard, path), how = pickle.loads(packed)
        with _working_in(asked.folder):
            _check_inputs(asked)
            _check_folder(os.path.dirname(path))
            run = replace(how.pop("run"), progress=_UnwantedError.watch(worker))
            made: Made = task(job, shard, f"{path}-{uuid.uuid4().hex}", run=run, **how)
            return made
    except OclGenomicsError as error:
        if not isinstance(error, ParameterError):  # whose text is made when it is shown
            error.args = (f"{error.args[0]} (on the worker {worker.name}, {socket.gethostname()})",)
        if isinstance(error, DeviceError):
            raise
        return error


def _check_worker(worker: Any, asked: Asked) -> None:
    if asked.program != __version__:
        raise UsageError(
            f"a worker has version {__version__} of oclgenomics, and this command {asked.program}; {_install()}"
        )
    if worker.state.nthreads > 1:
        told = f"a worker has {worker.state.nthreads} threads, which would all open the device"
        raise UsageError(f"{told}; {START_WORKERS}, or dask worker --nthreads 1")


_folders = threading.Lock()


@contextlib.contextmanager
def _working_in(folder: str) -> Iterator[None]:
    """Work in the folder of the command, since names of inputs, which results hold, may start there."""
    with _folders, contextlib.ExitStack() as stack:
        try:
            stack.enter_context(contextlib.chdir(folder))
        except OSError as error:
            told = f"cannot be entered ({error.strerror or error}); start the command in a folder that all machines see"
            raise UsageError(f"the working folder {folder} {told}") from None
        yield


def _check_inputs(asked: Asked) -> None:
    for mark in asked.marks:
        try:
            own = InputMark.of(mark.name)
        except InputError as error:
            raise InputError(f"{error}; {SAME_PLACE}") from None
        if own.key != mark.key:
            raise InputError(
                f"is another file than where the command runs (size, time or content); {SAME_PLACE}", source=mark.name
            )


def _check_folder(folder: str) -> None:
    if not os.path.isdir(folder):
        told = "is not the folder that the command writes to; give a `piece_dir` that all machines see"
        raise OutputError(f"{os.path.dirname(folder)}: {told}")


class _UnwantedError(Exception):
    """Nobody waits for this piece any more."""

    @classmethod
    def watch(cls, worker: Any) -> Callable[[int, int | None], None]:
        """Return what to call as progress: it raises this when the scheduler has taken the task back."""
        key, looked = worker.get_current_task(), time.monotonic()

        def look(_done: int, _total: int | None) -> None:
            nonlocal looked
            now = time.monotonic()
            if now - looked >= LOOK_SECONDS:
                looked = now
                task = worker.state.tasks.get(key)
                if task is None or task.state == "cancelled":
                    raise cls

        return look
