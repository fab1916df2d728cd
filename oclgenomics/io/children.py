"""Processes of this program that do tasks for it, one after the other.

They are joined to this one by pipes alone, which the system closes however it ends: they notice, and nothing is left.
They form process groups of their own, so that signals to this one's group (Ctrl-C, a closed terminal) reach this one
only, whose business it is to end them.

A task comes by standard input, as a pickle; answers go to standard output, each a pickle after its size. A process ends
when its input does, in the middle of a task, too: then the process that wanted the answer is gone.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import IO, Any, NoReturn

from oclgenomics.errors import OclGenomicsError
from oclgenomics.io.processes import child_environment, child_python

SIZE = struct.Struct("<Q")  # of the pickle that follows

_telling = threading.Lock()
_answers: IO[bytes] | None = None


class LostChildError(Exception):
    """A process is gone; the text says how it ended."""


class _Forked:
    """What `Child` needs to know of a process that was forked, as `subprocess.Popen` has it."""

    def __init__(self, number: int) -> None:
        self.pid = number
        self._status: int | None = None

    def poll(self) -> int | None:
        """Return how it ended, or None while it runs."""
        return self._ended(os.WNOHANG)

    def wait(self) -> int:
        """Wait until it ends, and return how."""
        status = self._ended(0)
        assert status is not None
        return status

    def _ended(self, options: int) -> int | None:
        if self._status is None:
            number, status = os.waitpid(self.pid, options)
            self._status = os.waitstatus_to_exitcode(status) if number else None
        return self._status


class Child:
    """A process that runs a module, which calls `serve`.

    Parameters
    ----------
    module : str
    environment : mapping, optional
        Variables that it gets in addition to those of this process.

    Raises
    ------
    OSError
        It cannot be started.
    """

    _process: subprocess.Popen[bytes] | _Forked

    def __init__(self, module: str, environment: Mapping[str, str] | None = None) -> None:
        process = subprocess.Popen(
            child_python("-m", module), env={**child_environment(), **(environment or {})},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._tasks, self._answers = process, process.stdin, process.stdout

    def fileno(self) -> int:
        """Return the handle that has something to read when there is an answer, or the process is gone."""
        return self._answers.fileno()

    def ask(self, task: Any) -> None:
        """Give it a task. That the process is gone shows when it does not answer."""
        with contextlib.suppress(BrokenPipeError):
            pickle.dump(task, self._tasks, protocol=5)
            self._tasks.flush()

    def answer(self) -> Any:
        """Wait for an answer.

        Raises
        ------
        LostChildError
            The process has ended.
        """
        (size,) = SIZE.unpack(self._receive(SIZE.size))
        return pickle.loads(self._receive(size))

    def _receive(self, size: int) -> bytearray:
        """Exactly so many bytes; none are read ahead, where `select.poll` would not see them."""
        data, place = bytearray(size), 0
        view = memoryview(data)
        while place < size:
            count = os.readv(self._answers.fileno(), [view[place:]])
            if not count:
                raise LostChildError(how_ended(self._process))
            place += count
        return data

    def kill(self) -> None:
        """Kill it, wherever it is in its work, and all processes that it started; another thread may wait for it."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill it, wait until it is gone, and close what joins it to this process."""
        self.kill()
        self._process.wait()
        for stream in (self._tasks, self._answers):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


class ForkedChild(Child):
    """A process that begins as a copy of this one, which has a single thread, so what is imported here is there, too.

    Parameters
    ----------
    answer, begin : callable
        As `serve` takes them.

    Raises
    ------
    OSError
        It cannot be started.
    """

    def __init__(self, answer: Callable[[Any], bytes], begin: Callable[[], None] | None = None) -> None:
        their_tasks, tasks = os.pipe()
        answers, their_answers = os.pipe()
        number = os.fork()
        if not number:
            _serve_copy(their_tasks, their_answers, answer, begin)
        os.close(their_tasks)
        os.close(their_answers)
        self._process, self._tasks, self._answers = _Forked(number), os.fdopen(tasks, "wb"), os.fdopen(answers, "rb")


def _serve_copy(tasks: int, answers: int, answer: Callable[[Any], bytes], begin: Callable[[], None] | None) -> NoReturn:
    """Do tasks in a process that was forked; it holds no file of the other one, and leaves all handlers to that."""
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(tasks, 0)
        os.dup2(answers, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        serve(answer, begin)
    finally:
        os._exit(1)


def how_ended(process: subprocess.Popen[Any] | _Forked) -> str:
    """Wait for a process to end, and say how it did: "ended by SIGKILL", "ended with 1"."""
    status = process.wait()
    if status >= 0:
        return f"ended with {status}"
    return f"ended by {next((one.name for one in signal.Signals if one == -status), f'signal {-status}')}"


def serve(answer: Callable[[Any], bytes], begin: Callable[[], None] | None = None) -> NoReturn:
    """Do tasks until nobody asks any more: the program of a child, whose standard output is for answers alone.

    Parameters
    ----------
    answer : callable
        Does a task, and returns the pickle of the answer.
    begin : callable, optional
        Is called before the first task, whether or not one comes.
    """
    global _answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process ends this one
    if hasattr(signal, "SIGXFSZ"):  # see `oclgenomics.app.stopping`
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGXFSZ])
    _answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # where what libraries print does no harm
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(os.fdopen(0, "rb", closefd=False), waiting), daemon=True).start()
    if begin is not None:
        begin()
    while True:
        tell(answer(waiting.get()))


def tell(answer: bytes) -> None:
    """Send the pickle of an answer, or of something that is said before it, to the process that asks."""
    assert _answers is not None
    try:
        with _telling:
            _answers.write(SIZE.pack(len(answer)))
            _answers.write(answer)
            _answers.flush()
    except BrokenPipeError:
        os._exit(0)


def answer_of(do: Callable[[], Any]) -> bytes:
    """Return the pickle of (what a task gives, None) or (None, the error that it raises)."""
    try:
        return pickle.dumps((do(), None), protocol=5)
    except (OclGenomicsError, MemoryError, OSError) as error:
        told: Exception = error
    except Exception as error:  # classes of other packages need not be known to the other process
        told = RuntimeError(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__)
    told.add_note("".join(["In another process:\n", *traceback.format_tb(told.__traceback__)]))
    return pickle.dumps((None, told), protocol=5)


def _take(tasks: IO[bytes], waiting: queue.SimpleQueue[Any]) -> None:
    try:
        while True:
            waiting.put(pickle.load(tasks))
    except (EOFError, OSError, pickle.UnpicklingError):  # the other process is gone, perhaps in the middle of a task
        os._exit(0)
    except BaseException:  # it is no task; nobody would know, and the other process would wait for ever
        os._exit(1)
