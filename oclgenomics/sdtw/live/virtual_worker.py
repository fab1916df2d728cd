"""A worker for simulated time: batches are aligned at once, and take as long as they would have."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

from oclgenomics.sdtw.live.clock import VirtualClock
from oclgenomics.sdtw.live.judging import Criteria, Job, Judge
from oclgenomics.sdtw.live.worker import MakeAligner, Outcome, warm_up

__all__ = ["VirtualWorker"]


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
        verdict, error = None, None
        try:
            verdict = self._judge.verdict(job)
        except Exception as raised:  # as in a thread: reads must go on
            error = raised
        seconds = self._seconds(job, time.perf_counter() - begun)
        self._outcome = Outcome(job, verdict, error, seconds)
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
