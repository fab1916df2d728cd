"""Replicates from processes side by side.

The processes are joined to this one by pipes alone, which the system closes however it ends: they notice, and nothing
is left. They form process groups of their own, so that signals to this one's group (Ctrl-C, a closed terminal) reach
this one only, whose business it is to end them.

This module is their program, too: tasks come by standard input, what was drawn goes to standard output. A process ends
when its input does, in the middle of a task, too: then the process that wanted the replicates is gone.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Any, Generic, Protocol, TypeVar

from oclgenomics.errors import OclGenomicsError
from oclgenomics.io.processes import child_environment, child_python

SIZE = struct.Struct("<Q")  # of the pickle that follows
AHEAD = 4  # tasks in work or waiting per process
Drawn = TypeVar("Drawn", covariant=True)


class Task(Protocol[Drawn]):
    """What is to be drawn; it is sent to a process as a pickle."""

    def draw(self) -> Drawn: ...


def drawn_side_by_side(tasks: Sequence[Task[Drawn]], processes: int) -> Iterator[Drawn]:
    """Draw in so many processes that run a little ahead.

    Yields
    ------
    object
        What was drawn, in the order of the tasks.

    Raises
    ------
    OclGenomicsError
        A process was killed, or cannot be started.
    """
    with _Workers[Drawn](processes) as workers:
        asked = 0
        for number in range(len(tasks)):
            while number not in workers.drawn:
                while asked < min(len(tasks), number + AHEAD * processes):
                    workers.ask(asked, tasks[asked])
                    asked += 1
                workers.wait()
            yield workers.drawn.pop(number)


class _Worker:
    """A process, and the numbers of the tasks that it has not answered, in their order."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.process = subprocess.Popen(
            child_python("-m", "oclgenomics.simulate.haplotypes.workers"), env=child_environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            process_group=0,
        )  # fmt: skip

    def ask(self, number: int, task: Any) -> None:
        assert self.process.stdin is not None
        self.asked.append(number)
        with contextlib.suppress(BrokenPipeError):  # that it is gone shows when it does not answer
            pickle.dump(task, self.process.stdin, protocol=5)
            self.process.stdin.flush()

    def answer(self) -> tuple[int, Any, BaseException | None]:
        """The number of the task, what was drawn, and an error instead."""
        (size,) = SIZE.unpack(self._receive(SIZE.size))
        drawn, error = pickle.loads(self._receive(size))
        return self.asked.pop(0), drawn, error

    def _receive(self, size: int) -> bytearray:
        """Exactly so many bytes; none are read ahead, where `select.poll` would not see them."""
        assert self.process.stdout is not None
        data, place = bytearray(size), 0
        view = memoryview(data)
        while place < size:
            count = os.readv(self.process.stdout.fileno(), [view[place:]])
            if not count:
                raise OclGenomicsError(
                    "a process that simulates replicates was killed, perhaps for lack of memory; try fewer `jobs`"
                )
            place += count
        return data

    def end(self) -> None:
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self.process.wait()


class _Workers(Generic[Drawn]):
    """Processes, and what they have drawn, by number; a context manager."""

    def __init__(self, processes: int) -> None:
        self.drawn: dict[int, Drawn] = {}
        self._processes = processes
        self._workers: list[_Worker] = []
        self._poll = select.poll()

    def __enter__(self) -> _Workers[Drawn]:
        return self

    def __exit__(self, *_error: object) -> None:
        for worker in self._workers:
            worker.end()

    def ask(self, number: int, task: Task[Drawn]) -> None:
        """Give a task to the process with the fewest."""
        while len(self._workers) < self._processes:
            self._start()
        min(self._workers, key=lambda worker: len(worker.asked)).ask(number, task)

    def _start(self) -> None:
        try:
            worker = _Worker()
        except OSError as error:
            raise OclGenomicsError(
                f"no process that simulates replicates can be started ({error.strerror}); try fewer `jobs`"
            ) from None
        self._workers.append(worker)
        assert worker.process.stdout is not None
        self._poll.register(worker.process.stdout, select.POLLIN)

    def wait(self) -> None:
        """Take an answer of each process that has one, and wait for the first."""
        ready = {handle for handle, _ in self._poll.poll()}
        for worker in self._workers:
            assert worker.process.stdout is not None
            if worker.process.stdout.fileno() in ready:
                number, drawn, error = worker.answer()
                if error is not None:
                    raise error
                self.drawn[number] = drawn


def serve(tasks: IO[bytes], answers: IO[bytes]) -> None:
    """Draw what is asked for until nobody asks any more.

    Parameters
    ----------
    tasks : binary stream
        Pickles, each of an object with a method `draw`.
    answers : binary stream
        Gets a pickle of (what was drawn, None) or (None, an error) for each, after its size.
    """
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(tasks, waiting), daemon=True).start()
    while True:
        answer = _draw(waiting.get())
        answers.write(SIZE.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def _take(tasks: IO[bytes], waiting: queue.SimpleQueue[Any]) -> None:
    try:
        while True:
            waiting.put(pickle.load(tasks))
    except (EOFError, OSError, pickle.UnpicklingError):  # the other process is gone, perhaps in the middle of a task
        os._exit(0)
    except BaseException:  # it is no task; nobody would know, and the other process would wait for ever
        os._exit(1)


def _draw(task: Any) -> bytes:
    try:
        return pickle.dumps((task.draw(), None), protocol=5)
    except (OclGenomicsError, MemoryError) as error:
        return pickle.dumps((None, error), protocol=5)
    except Exception as error:  # classes of other packages need not be known to the other process
        return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")), protocol=5)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:
        os._exit(0)
