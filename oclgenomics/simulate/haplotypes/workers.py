"""Replicates from processes side by side; this module is their program, too."""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from oclgenomics.errors import OclGenomicsError
from oclgenomics.io.children import Child, LostChildError, answer_of, serve

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


class _Worker(Child):
    """A process, and the numbers of the tasks that it has not answered, in their order."""

    def __init__(self) -> None:
        super().__init__("oclgenomics.simulate.haplotypes.workers")
        self.asked: list[int] = []

    def draw(self, number: int, task: Task[Any]) -> None:
        """Ask for what a task gives."""
        self.asked.append(number)
        self.ask(task)

    def drawn(self) -> tuple[int, Any, BaseException | None]:
        """The number of the task, what was drawn, and an error instead."""
        try:
            drawn, error = self.answer()
        except LostChildError:
            raise OclGenomicsError(
                "a process that simulates replicates was killed, perhaps for lack of memory; try fewer `jobs`"
            ) from None
        return self.asked.pop(0), drawn, error


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
        min(self._workers, key=lambda worker: len(worker.asked)).draw(number, task)

    def _start(self) -> None:
        try:
            worker = _Worker()
        except OSError as error:
            raise OclGenomicsError(
                f"no process that simulates replicates can be started ({error.strerror}); try fewer `jobs`"
            ) from None
        self._workers.append(worker)
        self._poll.register(worker, select.POLLIN)

    def wait(self) -> None:
        """Take an answer of each process that has one, and wait for the first."""
        ready = {handle for handle, _ in self._poll.poll()}
        for worker in self._workers:
            if worker.fileno() in ready:
                number, drawn, error = worker.drawn()
                if error is not None:
                    raise error
                self.drawn[number] = drawn


def _draw(task: Task[Any]) -> bytes:
    return answer_of(task.draw)


if __name__ == "__main__":
    serve(_draw)
