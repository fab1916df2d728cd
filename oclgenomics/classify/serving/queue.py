"""Requests in a queue of limited length, the one thread that answers them, and the files in which both lie.

Bodies and answers are in files without a name: memory does not hold them, and nothing is left of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from typing import Any, Protocol

from oclgenomics.classify.serving.protocol import HttpError, busy, ending, refusal_of
from oclgenomics.errors import AllocationError, BuildError, DeviceError, OclGenomicsError, OutputError
from oclgenomics.io.atomic_file import unnamed_file
from oclgenomics.io.closing import Closing

WEIGHT = 0.2  # of the last request in the mean time that requests take
PIECE_BYTES = 1 << 18
LOOK_SECONDS = 0.25  # after which a client that waits for an answer is checked


class Query(Protocol):
    """What a request asks for."""

    @property
    def content_type(self) -> str: ...


class Answerer(Protocol):
    """What a server serves.

    `info` is what clients get who ask for it, as JSON. `parse` takes the parameters of a request, of which it refuses
    what it does not know by a `UsageError`; it is called from any thread. `answer` yields the answer for the reads in a
    file; it is called from one thread, the one that made the answerer.
    """

    @property
    def info(self) -> Mapping[str, Any]: ...

    def parse(self, parameters: Mapping[str, str]) -> Query: ...

    def answer(self, path: str, query: Any) -> Generator[bytes | memoryview, None, None]: ...


AnswererMaker = Callable[[], AbstractContextManager[Answerer]]
"""Makes the answerer, in the thread that is going to use it."""


class AbandonedError(Exception):
    """Nobody waits for the answer any more."""


class BodySpool(Closing):
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

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes.

        Raises
        ------
        OutputError
            There is no room for them.
        """
        rest = memoryview(data).cast("B")
        try:
            while len(rest):
                done = os.pwrite(self._handle, rest, self.size)
                rest, self.size = rest[done:], self.size + done
        except OSError as error:
            trouble = f"reads and answers cannot be kept ({error.strerror}); make room, or name a folder with `tmp_dir`"
            raise OutputError(trouble) from error

    def close(self) -> None:
        """Forget the bytes; may be called again."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class AnswerSpool(BodySpool):
    """An answer that one thread writes while an event loop sends what is there, however slowly the client takes it.

    It is made in the event loop.
    """

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._lock = threading.Lock()
        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        self._ended = False
        self._error: Exception | None = None

    @property
    def whole_size(self) -> int | None:
        """Bytes of the answer, if all of it is there."""
        with self._lock:
            return self.size if self._ended and self._error is None else None

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
            if self._handle < 0:
                raise AbandonedError
            super().write(data)
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
                count, ended = min(self.size - done, PIECE_BYTES), self._ended
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
        """Forget the answer; who writes on gets an `AbandonedError`. May be called again."""
        with self._lock:
            super().close()


class WorkQueue:
    """Answers requests one after the other, in a thread of its own.

    Parameters
    ----------
    make : AnswererMaker
        Called in that thread.
    max_waiting : int
        Requests that may wait for the one that is answered. One that is still being received counts.
    on_defect : callable
        Called with exceptions that are no fault of a request.

    Attributes
    ----------
    answerer : Answerer
    held : int
        Places that are taken, that of the request at work included.
    answered : int
        Requests so far, those that were refused for what they say included.
    closing : bool
        Whether no request is taken any more.

    Raises
    ------
    Exception
        What `make` raised.
    """

    def __init__(self, make: AnswererMaker, max_waiting: int, on_defect: Callable[[Exception], None]) -> None:
        self._max_waiting, self._on_defect = max_waiting, on_defect
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._jobs: dict[AnswerSpool, Future[None]] = {}  # that wait
        self.held, self.answered, self.closing = 0, 0, False
        self._mean_seconds = 0.0
        self._failure: Exception | None = None  # what ended it, if it was not `close`
        self._made = ExitStack()
        self._thread = ThreadPoolExecutor(1, "classify worker")
        try:
            self.answerer = self._thread.submit(lambda: self._made.enter_context(make())).result()
        except BaseException:  # also an interrupt
            self.close()
            raise

    @property
    def waiting(self) -> int:
        """Requests that have come whole and wait."""
        return len(self._jobs)

    def reserve(self) -> None:
        """Take a place, which `leave` gives back.

        Raises
        ------
        HttpError
            There is none, or the server ends.
        """
        with self._lock:
            if self.closing:
                raise ending()
            if self.held > self._max_waiting:
                raise busy(self._mean_seconds * self.held)
            self.held += 1

    def leave(self) -> None:
        """Give a place back that no request was submitted for."""
        with self._lock:
            self.held -= 1

    def submit(self, query: Query, body: BodySpool, answer: AnswerSpool) -> None:
        """Have a request answered; the body is closed and the place given back when that is done."""

        def end(job: Future[None]) -> None:
            if job.cancelled():
                self._end(body, answer, ending())

        with self._lock:
            if self.closing:
                raise ending()
            self._jobs[answer] = self._thread.submit(self._answer, query, body, answer)
            job = self._jobs[answer]
        job.add_done_callback(end)

    def withdraw(self, answer: AnswerSpool) -> None:
        """Close an answer; if it has not been begun, it never will be."""
        answer.close()
        job = self._jobs.pop(answer, None)
        if job is not None:
            job.cancel()

    def close(self) -> None:
        """Refuse all requests but the one at work, and wait for its end. May be called again."""
        self._refuse_all()
        with contextlib.suppress(RuntimeError):  # it was closed before
            self._thread.submit(self._made.close)
        self._thread.shutdown()

    def wait(self) -> None:
        """Wait until it ends.

        Raises
        ------
        Exception
            What ended it.
        """
        self._ended.wait()
        if self._failure is not None:
            raise self._failure

    def _refuse_all(self) -> None:
        with self._lock:
            self.closing = True
            jobs = list(self._jobs.values())
            self._jobs.clear()
        for job in jobs:
            job.cancel()
        self._ended.set()

    def _answer(self, query: Query, body: BodySpool, answer: AnswerSpool) -> None:
        with self._lock:  # `submit` may not have ended yet
            self._jobs.pop(answer, None)
        began = time.monotonic()
        error: Exception | None = None
        try:
            with closing(self.answerer.answer(body.path, query)) as pieces:
                for piece in pieces:
                    answer.write(piece)
        except AbandonedError:
            pass
        except Exception as raised:
            error = raised
            if not isinstance(raised, OclGenomicsError):
                self._on_defect(raised)
        finally:
            self.answered += 1
            self._end(body, answer, None if error is None else refusal_of(error, body.path))
        self._mean_seconds += WEIGHT * (time.monotonic() - began - self._mean_seconds)
        if isinstance(error, DeviceError) and not isinstance(error, (AllocationError, BuildError)):
            self._failure = error  # no device, no answers
            self._refuse_all()

    def _end(self, body: BodySpool, answer: AnswerSpool, error: HttpError | None) -> None:
        body.close()
        self.leave()
        answer.end(error)
