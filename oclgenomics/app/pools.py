"""Worker processes of this machine, one for each device, as an executor; this module is their program, too.

Processes, because NVIDIA's OpenCL lets one thread of a process in at a time. Each has an engine of its own, which stays
open from task to task. A task goes to whichever worker is free, so devices share the work by their measured speed. A
worker with nothing left to do also does a task that another one would take longer to end; the first answer counts, and
a worker that is still at it is killed before that is known. So a slow device holds nobody up, nor one that hangs.

A task whose worker dies, or loses its device, is given to another one, or to a fresh one, until `TRIES` are lost.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Executor, Future
from types import TracebackType
from typing import Any, TypeVar

from oclgenomics import notices
from oclgenomics.app.pieces import Shard
from oclgenomics.errors import DeviceError, DeviceLostError, OclGenomicsError
from oclgenomics.io import children
from oclgenomics.io.children import Child, LostChildError
from oclgenomics.io.cores import VARIABLE, usable_cores
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.early_context import keep_context
from oclgenomics.runtime.selection import select_device, select_devices

PIECES_EACH = 8  # tasks for each worker: the last ones are short, and few enough that starting each costs little
TRIES = 3  # workers that a task may cost
DEATHS = 3  # of a device's workers, one after the other, after which it is left out
LOOK_SECONDS = 0.1  # after which one with nothing to do looks again whether to help
TOLD_SECONDS = 0.1  # between two messages of how far a task is

Outcome = tuple[Any, BaseException | None]
ResultT = TypeVar("ResultT")


class DevicePool(Executor):
    """Worker processes, one for each device; a context manager.

    They end with it, with this process, however that ends, and when the `with` block raises an error. Each may use its
    share of the cores.

    Parameters
    ----------
    devices : str or sequence of Device
        As `oclgenomics.runtime.selection.select_devices` takes them; one that is there twice has two workers.

    Attributes
    ----------
    devices : tuple of Device

    Raises
    ------
    UsageError, DeviceError
        From `select_devices`.
    """

    def __init__(self, devices: str | Sequence[Device] = "auto") -> None:
        self.devices = tuple(select_devices(devices) if isinstance(devices, str) else devices)
        self._changed = threading.Condition()
        self._waiting: deque[_Task] = deque()
        self._begun: list[_Task] = []
        self._closing = False
        share = {VARIABLE: str(max(1, usable_cores() // len(self.devices)))}  # of the cores
        self._workers = [_Worker(device, {**share, "OCLGENOMICS_DEVICE": str(device.index)}) for device in self.devices]
        self._threads = [threading.Thread(target=self._serve, args=[one], daemon=True) for one in self._workers]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def progress(done: int, total: int | None) -> None:
        """Tell, in a worker, how much of the input of its task is read; becomes `fraction` of its future."""
        global _told
        if total and time.monotonic() - _told >= TOLD_SECONDS:
            _told = time.monotonic()
            children.tell(pickle.dumps(done / total))

    def submit(self, fn: Callable[..., ResultT], /, *args: Any, **kwargs: Any) -> Future[ResultT]:
        """Give a task to the worker that is free first.

        Returns
        -------
        Future
            To cancel it ends the worker, if one is at it. `fraction` is how much of it is done.
        """
        shard = next((value for value in args if isinstance(value, Shard)), None)
        name = "a task" if shard is None else f"piece {shard}"
        task = _Task(pickle.dumps((fn, args, kwargs)), name, self._cancel)
        with self._changed:
            if self._closing:
                raise RuntimeError("the pool is closed; make another one")
            self._waiting.append(task)
            self._changed.notify_all()
        return task

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers when all is done, or at once what is not begun."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if cancel_futures:
            for task in list(self._waiting):
                task.cancel()
        if wait:
            for thread in self._threads:
                thread.join()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for task in [*self._waiting, *self._begun]:
                task.cancel()
        self.shutdown()

    def _cancel(self, task: _Task) -> bool:
        with self._changed:
            if Future.cancel(task):
                if task in self._waiting:
                    self._waiting.remove(task)
                    task.set_running_or_notify_cancel()
                self._changed.notify_all()
            elif task.outcome is None and not task.done():
                task.outcome = (None, CancelledError())
                self._settle(task)
            return task.outcome is None or isinstance(task.outcome[1], CancelledError)

    def _serve(self, worker: _Worker) -> None:
        """Have a worker do tasks, in a thread of its own, until there are no more."""
        with contextlib.suppress(OSError):  # which its first task tells
            worker.begin()
        while (task := self._next(worker)) is not None:
            outcome, lost = worker.tried(task)
            if lost:
                worker.end()  # now, so that nobody is at it any more when the outcome is known
            with self._changed:
                task.held.remove(worker)
                if worker.unwanted:
                    worker.end()
                elif lost:
                    self._lose(worker, task, lost)
                worker.unwanted = False
                task.outcome = task.outcome or outcome
                self._settle(task)
        worker.end()

    def _next(self, worker: _Worker) -> _Task | None:
        """Wait for a task; None where there will be none."""
        with self._changed:
            while worker in self._workers and (self._waiting or self._begun or not self._closing):
                if (task := self._choice(worker)) is not None:
                    if not task.held:
                        task.since, task.fraction = time.monotonic(), 0.0
                        self._begun.append(task)
                    task.held.append(worker)
                    return task
                self._changed.wait(LOOK_SECONDS if self._begun else None)
        return None

    def _choice(self, worker: _Worker) -> _Task | None:
        """A task that waits, if there is one, else one that another worker is slow with."""
        alone = len(self._workers) == 1
        for task in list(self._waiting):
            if task.lost_by is not worker or alone:
                self._waiting.remove(task)
                if not task.running():
                    task.set_running_or_notify_cancel()
                return task
        slow = [task for task in self._begun if worker.is_faster(task)]
        return max(slow, key=_Task.left, default=None)

    def _lose(self, worker: _Worker, task: _Task, how: str) -> None:
        """Remember that a worker died at a task, and give up one of them if that is too often."""
        device, told = worker.device, f"on device {worker.device.index}, {worker.device.name}, {how}"
        task.lost_by, task.losses, worker.deaths = worker, task.losses + 1, worker.deaths + 1
        if task.losses >= TRIES and not task.held:
            remedy = "it may be short of memory: try fewer `workers` or a smaller `max_memory`"
            task.outcome = task.outcome or (
                None, DeviceError(f"{task.name}: {task.losses} workers were lost at it, the last one {told}; {remedy}")
            )  # fmt: skip
        if worker.deaths >= DEATHS and len(self._workers) > 1:
            self._workers.remove(worker)
            notices.tell(f"warning: device {device.index}, {device}, is left out: {DEATHS} workers in a row {how}")

    def _settle(self, task: _Task) -> None:
        """Have a task take its outcome when nobody is at it any more, or wait for another worker if it has none."""
        if task.outcome is not None:
            for other in task.held:
                other.kill()
        if not task.held:
            for tasks in (self._begun, self._waiting):
                if task in tasks:
                    tasks.remove(task)
            if task.outcome is None:
                self._waiting.appendleft(task)
            else:
                task.settle()
        self._changed.notify_all()


class _Task(Future[Any]):
    """What is to be done, and what is known of it; all but `fraction` is changed under the lock of the pool."""

    def __init__(self, call: bytes, name: str, cancel: Callable[[_Task], bool]) -> None:
        super().__init__()
        self.call, self.name, self._cancel = call, name, cancel
        self.held: list[_Worker] = []  # those at work on it
        self.outcome: Outcome | None = None
        self.losses = 0
        self.lost_by: _Worker | None = None  # the last one
        self.since, self.fraction = 0.0, 0.0

    def left(self) -> float:
        """Return how many seconds it will take yet; where it does not say how far it is, as long as it took so far."""
        spent = time.monotonic() - self.since
        return spent * (1 / self.fraction - 1) if self.fraction else spent

    def cancel(self) -> bool:
        """Have it not be done; who is at work on it is killed."""
        return self._cancel(self)

    def settle(self) -> None:
        """Tell who waits for it."""
        assert self.outcome is not None
        value, error = self.outcome
        if error is None:
            self.set_result(value)
        else:
            self.set_exception(error)


class _Worker:
    """A device, and the process on it, if one is running."""

    def __init__(self, device: Device, environment: dict[str, str]) -> None:
        self.device, self._environment = device, environment
        self.unwanted = False  # what it does, so that its process was killed
        self.deaths = 0  # one after the other
        self._seconds = math.inf  # that a task takes at most
        self._child: Child | None = None

    def tried(self, task: _Task) -> tuple[Outcome | None, str]:
        """Do a task; return what comes of it, or how the process was lost."""
        start = time.monotonic()
        try:
            value, error = self._answer(task)
        except LostChildError as lost:
            return None, str(lost)
        except OSError as trouble:
            told = f"no worker process can be started ({trouble.strerror or trouble}); try fewer `workers`"
            return (None, OclGenomicsError(told)), ""
        if isinstance(error, DeviceLostError):
            return None, f"was lost ({error})"
        self.deaths, spent = 0, time.monotonic() - start
        self._seconds = spent if self._seconds == math.inf else max(self._seconds, spent)
        return (value, error), ""

    def begin(self) -> Child:
        """Start its process, which gets its device ready, and return it; the one that runs if there is one.

        Raises
        ------
        OSError
            It cannot be started.
        """
        if self._child is None:
            self._child = Child("oclgenomics.app.pools", self._environment)
        return self._child

    def _answer(self, task: _Task) -> Any:
        child = self.begin()
        if not self.unwanted:
            child.ask(task.call)
        while not self.unwanted:
            answer = child.answer()
            if isinstance(answer, tuple):
                return answer
            if isinstance(answer, str):
                notices.tell_once(answer)
            else:
                task.fraction = max(task.fraction, answer)
        raise LostChildError("was killed")

    def is_faster(self, task: _Task) -> bool:
        """Whether it would do a task of another device before that one is done with it."""
        others = [other.device for other in task.held]
        wanted = task.outcome is None and task.lost_by is not self and len(others) == 1
        return wanted and self.device not in others and self._seconds < task.left()

    def kill(self) -> None:
        """Have it end what it does, which nobody wants any more."""
        self.unwanted = True
        if self._child is not None:
            self._child.kill()

    def end(self) -> None:
        """End its process; the next task gets a fresh one."""
        if self._child is not None:
            self._child.end()
        self._child = None


_told = 0.0


def _answer(call: bytes) -> bytes:
    def do() -> Any:
        function, args, kwargs = pickle.loads(call)
        return function(*args, **kwargs)

    return children.answer_of(do)


def _get_ready() -> None:
    """Have a context on this worker's device before the first task comes; what goes wrong is for the task to tell."""
    with contextlib.suppress(OclGenomicsError):
        device = select_device()
        importlib.import_module("oclgenomics.app.jobs")
        keep_context(device)


if __name__ == "__main__":
    notices.send_to(lambda text: children.tell(pickle.dumps(text)))
    children.serve(_answer, _get_ready)
