"""What judges reads next to the loop: a thread that owns the device, so that the loop waits no longer than it wants to.

In simulated time batches are aligned at once, and take as long as they would have.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from oclgenomics.app.run import EngineLike
from oclgenomics.runtime import Engine
from oclgenomics.sdtw.decisions.thresholds import Thresholds
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.device.strips import PrefixAligner
from oclgenomics.sdtw.live.judging import Criteria, Job, Judge, Verdict
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

CLOSE_SECONDS = 5.0  # a device that hangs is left behind then


class Clock(Protocol):
    """Tells the time and lets it pass, in seconds."""

    def now(self) -> float:
        """Seconds since some moment."""

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""

    def real(self, seconds: float) -> float:
        """How long so much time really takes."""


class RealClock:
    """The time of the machine.

    Parameters
    ----------
    speed : float
        How much faster time passes than it does.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self._speed, self._start = speed, time.perf_counter()

    def now(self) -> float:
        """Seconds since this clock was made."""
        return (time.perf_counter() - self._start) * self._speed

    def sleep(self, seconds: float) -> None:
        """Wait."""
        if seconds > 0:
            time.sleep(self.real(seconds))

    def real(self, seconds: float) -> float:
        """How long so much time really takes."""
        return seconds / self._speed


class VirtualClock:
    """A time that only passes when somebody lets it."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        """Seconds that were let pass."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let so much time pass at once."""
        self._now += max(0.0, seconds)

    def real(self, seconds: float) -> float:
        """No time at all."""
        return 0.0


MakeAligner = Callable[[], AbstractContextManager[PrefixAligner]]
MakeWorker = Callable[[MakeAligner, Criteria, Clock], "Worker"]


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

    @property
    def idle(self) -> bool:
        """Whether it has no job, and no outcome that nobody took."""

    def submit(self, job: Job) -> None:
        """Begin a job; only when idle."""

    def wait(self, seconds: float) -> Outcome | None:
        """Return the outcome of the job; None if it is not there after so much time of the clock."""

    def close(self) -> None:
        """Release the device."""


def warm_up(aligner: PrefixAligner, thresholds: Thresholds) -> None:
    """Align a read of each length, so that no kernel is compiled when reads wait."""
    rng = np.random.default_rng(0)
    samples = rng.integers(300, 700, thresholds.prefixes[-1], dtype=np.int16)
    for prefix in thresholds.prefixes:
        aligner.align(samples, np.zeros(1, np.int64), prefix)


def tried(judge: Judge, job: Job) -> tuple[Verdict | None, Exception | None]:
    """Return the verdict of a job, or the error that it ended with: whatever that is, reads go on."""
    try:
        return judge.verdict(job), None
    except Exception as error:
        return None, error


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
            found = tried(judge, job)
            self._outcomes.put(Outcome(job, *found, self._clock.now() - begun))


class VirtualWorker:
    """Judges in the caller's thread, and lets the outcome be there later.

    Parameters
    ----------
    make : callable
        Returns a context manager of the aligner.
    criteria : Criteria
    clock : VirtualClock
    seconds : callable, optional
        Returns how long a job takes, given it and the real seconds that it took; these, if not given.
    """

    def __init__(
        self,
        make: MakeAligner,
        criteria: Criteria,
        clock: VirtualClock,
        seconds: Callable[[Job, float], float] | None = None,
    ) -> None:
        self._make, self._criteria, self._clock = make, criteria, clock
        self._seconds = seconds or (lambda _, real: real)
        self._stack = ExitStack()
        self._judge: Judge | None = None
        self._outcome: Outcome | None = None
        self._ready = 0.0

    def start(self) -> None:
        """Make the aligner and warm it up; raises what that raises."""
        aligner = self._stack.enter_context(self._make())
        warm_up(aligner, self._criteria.thresholds)
        self._judge = Judge(aligner, self._criteria)

    @property
    def idle(self) -> bool:
        """Whether it has no job, and no outcome that nobody took."""
        return self._outcome is None

    def submit(self, job: Job) -> None:
        """Judge; only when idle and started."""
        assert self._judge is not None
        begun = time.perf_counter()
        found = tried(self._judge, job)
        seconds = self._seconds(job, time.perf_counter() - begun)
        self._outcome = Outcome(job, *found, seconds)
        self._ready = self._clock.now() + seconds

    def wait(self, seconds: float) -> Outcome | None:
        """Let time pass until the outcome is there, at most so much; None if it is not there then."""
        outcome, left = self._outcome, self._ready - self._clock.now()
        if outcome is None:
            return None
        self._clock.sleep(min(left, seconds))
        if left > seconds:
            return None
        self._outcome = None
        return outcome

    def close(self) -> None:
        """Release the device."""
        self._stack.close()


def given_aligner(aligner: PrefixAligner) -> MakeAligner:
    """Return a maker of an aligner that is there."""
    return lambda: contextlib.nullcontext(aligner)


def own_aligner(
    references: Sequence[Squiggle], options: AlignOptions, engine: EngineLike, max_memory: int | None
) -> MakeAligner:
    """Return a maker of an aligner on an engine, which stays open, or on a device that is opened for it."""

    @contextlib.contextmanager
    def make() -> Iterator[PrefixAligner]:
        lent = engine if isinstance(engine, Engine) else Engine(engine, max_memory=max_memory)
        with contextlib.nullcontext(engine) if lent is engine else lent:
            yield Aligner(lent, references, options)

    return make
