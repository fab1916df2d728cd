"""Requests in a queue of limited length, the one thread that answers them, and the files in which both lie.

Bodies and answers are in files without a name: memory does not hold them, and nothing is left of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from oclgenomics.classify.serving.protocol import CLOSING, HttpError, busy, refusal_of
from oclgenomics.errors import AllocationError, BuildError, DeviceError, OclGenomicsError, OutputError
from oclgenomics.io.atomic_file import unnamed_file

WEIGHT = 0.2  # of the last request in the mean time that requests take
PIECE_BYTES = 1 << 18
LOOK_SECONDS = 0.25  # after which whoever waits for an answer looks whether it is still wanted


class Query(Protocol):
    """What a request asks for."""

    @property
    def content_type(self) -> str: ...


class Answerer(Protocol):
    """What a server serves.

    `info` is told to whoever asks, as JSON. `parse` takes the parameters of a request, of which it refuses what it does
    not know by a `UsageError`; it is called from any thread. `answer` yields the answer for the reads in a file; it
    is called from one thread, the one that made the answerer.
    """

    @property
    def info(self) -> Mapping[str, Any]: ...

    def parse(self, parameters: Mapping[str, str]) -> Query: ...

    def answer(self, path: str, query: Any) -> Generator[bytes | memoryview, None, None]: ...


class AnswererMaker(Protocol):
    """Makes the answerer, in the thread that is going to use it."""

    def __call__(self) -> AbstractContextManager[Answerer]: ...


class AbandonedError(Exception):
    """Nobody waits for the answer any more."""


class BodySpool:
    """The body of a request; a context manager.

    Attributes
    ----------
    path : str
        Under which this process can read it.
    size : int
    """

    def __init__(self, folder: str) -> None:
        self._handle = unnamed_file(folder)
        self.path, self.size = f"/dev/fd/{self._handle}", 0

    def __enter__(self) -> BodySpool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes.

        Raises
        ------
        OutputError
            There is no room for them.
        """
        _write_at(self._handle, data, self.size)
        self.size += len(data)

    def close(self) -> None:
        """Forget the body; may be called again."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class AnswerSpool:
    """An answer that one thread writes while an event loop sends what is there, however slowly the client takes it.

    It is made in the event loop.
    """

    def __init__(self, folder: str) -> None:
        self._handle = unnamed_file(folder)
        self._lock = threading.Lock()
        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        self._size, self._ended, self._abandoned = 0, False, False
        self._error: Exception | None = None

    @property
    def whole_size(self) -> int | None:
        """Bytes of the answer, if all of it is there."""
        with self._lock:
            return self._size if self._ended and self._error is None else None

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes.

        Raises
        ------
        AbandonedError
            Nobody waits for them.
        OutputError
            There is no room for them.
        """
        with self._lock:
            if self._abandoned:
                raise AbandonedError
            _write_at(self._handle, data, self._size)
            self._size += memoryview(data).nbytes
        self._notify()

    def end(self, error: Exception | None = None) -> None:
        """Say that this was all, or why there is no more."""
        with self._lock:
            self._ended, self._error = True, self._error or error
        self._notify()

    def _notify(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            self._loop.call_soon_threadsafe(self._news.set)

    async def pieces(self, wanted: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Yield the answer as it comes.

        Parameters
        ----------
        wanted : callable
            Asked now and then while there is nothing to yield; the answer is abandoned where it says no.

        Raises
        ------
        AbandonedError
            It was not wanted.
        Exception
            What `end` was given, behind all that came before.
        """
        done = 0
        while True:
            self._news.clear()
            with self._lock:
                count, ended = min(self._size - done, PIECE_BYTES), self._ended
            if count:
                yield os.pread(self._handle, count, done)
                done += count
            elif ended:
                if self._error is not None:
                    raise self._error
                return
            else:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), LOOK_SECONDS)
                if not self._news.is_set() and not wanted():
                    raise AbandonedError

    def close(self) -> None:
        """Forget the answer; whoever writes on is told. May be called again."""
        with self._lock:
            self._abandoned = True
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1


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
    def waiting(self) -> int:
        """Requests that have come whole and wait."""
        return len(self._jobs)

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


def _write_at(handle: int, data: bytes | memoryview, place: int) -> None:
    rest = memoryview(data).cast("B")
    try:
        while len(rest):
            done = os.pwrite(handle, rest, place)
            rest, place = rest[done:], place + done
    except OSError as error:
        trouble = f"reads and answers cannot be kept ({error.strerror}); make room, or name a folder with `tmp_dir`"
        raise OutputError(trouble) from error
