"""Requests in a queue of limited length, and the one thread that answers them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from oclgenomics.classify.serving.protocol import CLOSING, Answerer, AnswererMaker, HttpError, Query, busy, refusal_of
from oclgenomics.classify.serving.spool import AbandonedError, AnswerSpool, BodySpool
from oclgenomics.errors import AllocationError, BuildError, DeviceError, OclGenomicsError

__all__ = ["Place", "WorkQueue"]

WEIGHT = 0.2  # of the last request in the mean time that requests take


@dataclass
class Place:
    """A place in the queue; it is given back once."""

    _leave: Callable[[], None]
    _held: bool = True

    def release(self) -> None:
        """Give it back."""
        if self._held:
            self._held = False
            self._leave()


@dataclass
class _Job:
    query: Query
    body: BodySpool
    answer: AnswerSpool
    place: Place


class WorkQueue:
    """Answers requests one after the other, in a thread of its own.

    Parameters
    ----------
    make : AnswererMaker
        Called in that thread.
    max_waiting : int
        Requests that may wait for the one that is answered. One that is still being received counts.
    on_defect : callable
        Told of exceptions that are no fault of a request.

    Attributes
    ----------
    answerer : Answerer
    answered : int
        Requests so far, those that were refused for what they say included.

    Raises
    ------
    Exception
        What `make` raised.
    """

    answerer: Answerer
    _failure: Exception | None  # what ended the thread, if it was not `close`

    def __init__(self, make: AnswererMaker, max_waiting: int, on_defect: Callable[[Exception], None]) -> None:
        self._make, self._max_waiting, self._on_defect = make, max_waiting, on_defect
        self._changed = threading.Condition()
        self._jobs: deque[_Job] = deque()
        self._held, self._closing, self._ready = 0, False, False
        self._mean_seconds = 0.0
        self.answered, self._failure = 0, None
        self._thread = threading.Thread(target=self._run, name="classify worker", daemon=True)
        self._thread.start()
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._ready or self._closing)
        except BaseException:  # an interrupt
            self.close()
            raise
        if self._failure is not None:
            raise self._failure

    @property
    def held(self) -> int:
        """Places that are taken, that of the request at work included."""
        return self._held

    @property
    def closing(self) -> bool:
        """Whether no request is taken any more."""
        return self._closing

    def reserve(self) -> Place:
        """Take a place.

        Raises
        ------
        HttpError
            There is none, or the server ends.
        """
        with self._changed:
            if self._closing:
                raise _ending()
            if self._held > self._max_waiting:
                raise busy(self._mean_seconds * self._held)
            self._held += 1
        return Place(self._leave)

    def submit(self, query: Query, body: BodySpool, answer: AnswerSpool, place: Place) -> None:
        """Have a request answered; the body is closed and the place given back when that is done."""
        with self._changed:
            if self._closing:
                raise _ending()
            self._jobs.append(_Job(query, body, answer, place))
            self._changed.notify_all()

    def withdraw(self, answer: AnswerSpool) -> None:
        """Close an answer; if it has not been begun, it never will be."""
        answer.close()
        with self._changed:
            unwanted = [job for job in self._jobs if job.answer is answer]
            for job in unwanted:
                self._jobs.remove(job)
        for job in unwanted:
            _end(job, None)

    def close(self) -> None:
        """Refuse all requests but the one at work, and wait for its end."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def wait(self) -> None:
        """Wait for the end of the thread.

        Raises
        ------
        Exception
            What ended it.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._closing)
        if self._failure is not None:
            raise self._failure

    def _leave(self) -> None:
        with self._changed:
            self._held -= 1

    def _run(self) -> None:
        try:
            with self._make() as answerer:
                self.answerer = answerer
                with self._changed:
                    self._ready = True
                    self._changed.notify_all()
                while (job := self._next()) is not None:
                    self._answer(answerer, job)
        except Exception as error:
            self._failure = error
        finally:
            self._refuse_all()

    def _next(self) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closing)
            return None if self._closing else self._jobs.popleft()

    def _refuse_all(self) -> None:
        with self._changed:
            self._closing = True
            jobs = list(self._jobs)
            self._jobs.clear()
            self._changed.notify_all()
        for job in jobs:
            _end(job, _ending())

    def _answer(self, answerer: Answerer, job: _Job) -> None:
        began = time.monotonic()
        error: Exception | None = None
        try:
            with closing(answerer.answer(job.body.path, job.query)) as pieces:
                for piece in pieces:
                    job.answer.write(piece)
        except AbandonedError:
            pass
        except Exception as raised:
            error = raised
            if not isinstance(raised, OclGenomicsError):
                self._on_defect(raised)
        finally:
            self.answered += 1
            _end(job, None if error is None else refusal_of(error, job.body.path))
        self._mean_seconds += WEIGHT * (time.monotonic() - began - self._mean_seconds)
        if isinstance(error, DeviceError) and not isinstance(error, (AllocationError, BuildError)):
            raise error  # no device, no answers


def _end(job: _Job, error: HttpError | None) -> None:
    job.body.close()
    job.place.release()
    job.answer.end(error)


def _ending() -> HttpError:
    return HttpError(CLOSING, "the server is ending")
