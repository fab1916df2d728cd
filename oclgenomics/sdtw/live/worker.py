"""The thread that owns the device, so that the loop never waits for it longer than it wants to."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from oclgenomics.sdtw.decisions.thresholds import Thresholds
from oclgenomics.sdtw.found import PrefixAligner
from oclgenomics.sdtw.live.clock import Clock
from oclgenomics.sdtw.live.judging import Criteria, Job, Judge, Verdict

__all__ = ["MakeAligner", "MakeWorker", "Outcome", "ThreadWorker", "Worker", "warm_up"]

MakeAligner = Callable[[], AbstractContextManager[PrefixAligner]]
MakeWorker = Callable[[MakeAligner, Criteria, Clock], "Worker"]
CLOSE_SECONDS = 5.0  # a device that hangs is left behind then


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a job: a verdict, or an error.

    Attributes
    ----------
    job : Job
    verdict : Verdict, optional
    error : Exception, optional
    seconds : float
        That it took.
    """

    job: Job
    verdict: Verdict | None
    error: Exception | None
    seconds: float


class Worker(Protocol):
    """Judges one job at a time, elsewhere."""

    def start(self) -> None:
        """Make the aligner ready; raises what that raises."""
        ...

    @property
    def idle(self) -> bool:
        """Whether it has no job, and no outcome that nobody took."""
        ...

    def submit(self, job: Job) -> None:
        """Begin a job; only when idle."""
        ...

    def wait(self, seconds: float) -> Outcome | None:
        """Return the outcome of the job; None if it is not there after so much time of the clock."""
        ...

    def close(self) -> None:
        """Release the device."""
        ...


def warm_up(aligner: PrefixAligner, thresholds: Thresholds) -> None:
    """Align a read of each length, so that no kernel is compiled when reads wait."""
    rng = np.random.default_rng(0)
    samples = rng.integers(300, 700, thresholds.prefixes[-1], dtype=np.int16)
    for prefix in thresholds.prefixes:
        aligner.align(samples, np.zeros(1, np.int64), prefix)


class ThreadWorker:
    """Judges in a thread of its own, in which the aligner is also made and released.

    Parameters
    ----------
    make : callable
        Returns a context manager of the aligner.
    criteria : Criteria
    clock : Clock
    """

    def __init__(self, make: MakeAligner, criteria: Criteria, clock: Clock) -> None:
        self._make, self._criteria, self._clock = make, criteria, clock
        self._jobs: queue.Queue[Job | None] = queue.Queue(maxsize=1)
        self._outcomes: queue.Queue[Outcome] = queue.Queue(maxsize=1)
        self._ready: queue.Queue[Exception | None] = queue.Queue(maxsize=1)
        self._busy = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="oclgenomics-live", daemon=True)

    def start(self) -> None:
        """Make the aligner and warm it up; raises what that raises."""
        self._thread.start()
        error = self._ready.get()
        if error is not None:
            raise error

    @property
    def idle(self) -> bool:
        """Whether it has no job, and no outcome that nobody took."""
        return not self._busy

    def submit(self, job: Job) -> None:
        """Begin a job; only when idle."""
        self._busy = True
        self._jobs.put_nowait(job)

    def wait(self, seconds: float) -> Outcome | None:
        """Return the outcome of the job; None if it is not there after so much time of the clock."""
        if not self._busy:
            return None
        try:
            real = self._clock.real(seconds)
            outcome = self._outcomes.get(timeout=real) if real > 0 else self._outcomes.get_nowait()
        except queue.Empty:
            return None
        self._busy = False
        return outcome

    def close(self) -> None:
        """Release the device; one that hangs is left to the end of the process."""
        self._closing.set()
        if self._thread.is_alive():
            with contextlib.suppress(queue.Full):  # it has a job, and ends after it
                self._jobs.put_nowait(None)
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        try:
            with self._make() as aligner:
                warm_up(aligner, self._criteria.thresholds)
                self._ready.put(None)
                self._serve(aligner)
        except Exception as error:  # of making it, or of releasing a device that is lost
            if self._ready.empty():
                self._ready.put(error)

    def _serve(self, aligner: PrefixAligner) -> None:
        judge = Judge(aligner, self._criteria)
        while not self._closing.is_set() and (job := self._jobs.get()) is not None:
            begun = self._clock.now()
            verdict, error = None, None
            try:
                verdict = judge.verdict(job)
            except Exception as raised:  # whatever it is, reads must go on
                error = raised
            self._outcomes.put(Outcome(job, verdict, error, self._clock.now() - begun))
