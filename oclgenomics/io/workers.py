"""Host threads that inflate and parse parts of an input, their results in the order of the input."""

from __future__ import annotations

import functools
import itertools
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Any, ParamSpec, TypeVar

import numpy as np

from oclgenomics.errors import ParameterError
from oclgenomics.io.closing import Closing
from oclgenomics.io.cores import usable_cores

MAX_THREADS = 4  # taken where nobody says how many; the interpreter's lock lets no more work at once

_THREAD_LIMIT = 1024  # more is a slip of the pen
_MAPPED_BYTES = 31 << 20

Item = TypeVar("Item")
Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")


class Workers(Closing):
    """Threads for work that depends on nothing but its arguments; a context manager.

    Parameters
    ----------
    threads : int, optional
        One: the work is done where it is given out, without any thread. As many as this process may use cores, at
        most `MAX_THREADS`, if not given.

    Attributes
    ----------
    threads : int
        How many there are.
    stopped : bool
        Nobody wants the results any more.

    Raises
    ------
    UsageError
        Fewer than one thread, or more than 1,024.
    """

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and not 1 <= threads <= _THREAD_LIMIT:
            raise ParameterError("threads", f"must be between 1 and {_THREAD_LIMIT}, not {threads}")
        self.threads = min(usable_cores(), MAX_THREADS) if threads is None else threads
        self.stopped = False
        self._pool = ThreadPoolExecutor(self.threads, "reader") if self.threads > 1 else None
        _keep_freed_memory()
        self._running: set[Future[Any]] = set()
        self._lock = threading.Lock()

    @property
    def ahead(self) -> int:
        """Results that may wait for their turn: enough to keep every thread busy."""
        return self.threads + 1 if self._pool else 0

    def submit(
        self, work: Callable[Parameters, Result], *args: Parameters.args, **options: Parameters.kwargs
    ) -> Future[Result]:
        """Give out work."""
        if self._pool is None:
            return _done(work, *args, **options)
        future = self._pool.submit(work, *args, **options)
        with self._lock:
            self._running.add(future)
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: Future[Result]) -> None:
        with self._lock:
            self._running.discard(future)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items, of which `ahead` are taken before their time.

        An error of `items` comes after the results of the items before it.
        """
        if self._pool is None:
            yield from map(work, items)
            return
        waiting: deque[Future[Result]] = deque()
        held: list[Item] = []  # the last one, as a thread is not worth it if it is the only one
        failure: Exception | None = None
        source = iter(items)
        while True:
            try:
                item = next(source)
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            waiting.extend(self.submit(work, before) for before in held)
            held = [item]
            if len(waiting) >= self.ahead:
                yield waiting.popleft().result()
        if not waiting:
            yield from map(work, held)
            held = []
        waiting.extend(self.submit(work, before) for before in held)
        while waiting:
            yield waiting.popleft().result()
        if failure is not None:
            raise failure

    def settle(self) -> None:
        """Wait until no thread is at work."""
        with self._lock:
            running = list(self._running)
        wait(running)

    def stop(self) -> None:
        """Ask the readers that use these workers to end."""
        self.stopped = True

    def close(self) -> None:
        """Ask readers to end, and wait for the threads."""
        self.stop()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


@functools.cache
def _keep_freed_memory() -> None:
    """Have glibc keep what arrays free for the next ones: faults of fresh pages can take as long as the parsing.

    It does so for blocks up to the size of the largest that was mapped by itself and freed, at most 32 MiB. Nothing is
    touched, so this costs no memory, and other allocators do not care.
    """
    np.empty(_MAPPED_BYTES, np.uint8)


def _done(work: Callable[Parameters, Result], *args: Parameters.args, **options: Parameters.kwargs) -> Future[Result]:
    """The work, done now."""
    future: Future[Result] = Future()
    try:
        future.set_result(work(*args, **options))
    except Exception as error:
        future.set_exception(error)
    return future


def work_behind(
    work: Callable[[Item], Result], items: Iterator[Item], *, behind: bool = True
) -> Generator[Result, None, None]:
    """Yield `work(item)` for each item, in order.

    The work is done in a thread, an item at a time, while the next item is made where the results are asked for. So a
    result comes only when the next item is there, and an item must not depend on what making the next one changes.
    An error of the items comes behind the results of those before it. The thread ends with the generator.

    Parameters
    ----------
    work : callable
    items : iterator
    behind : bool
        Without it there is no thread: each result comes before the next item is made.
    """
    if not behind:
        yield from map(work, items)
        return
    thread = ThreadPoolExecutor(1, "work-behind")
    try:
        waiting: Future[Result] | None = None
        trouble: Exception | None = None
        while True:
            try:
                item = next(items)
            except StopIteration:
                break
            except Exception as error:
                trouble = error
                break
            begun = thread.submit(work, item)
            if waiting is not None:
                yield waiting.result()
            waiting = begun
        if waiting is not None:
            yield waiting.result()
        if trouble is not None:
            raise trouble
    finally:
        thread.shutdown(cancel_futures=True)  # after an error nobody wants what has not begun


def work_ahead(
    pool: Executor, work: Callable[[Item], Result], items: Iterable[Item], ahead: int
) -> Generator[Result, None, None]:
    """Yield `work(item)` for each item, in order, of which so many are begun before their time by a pool of others."""
    source = iter(items)
    coming: deque[Future[Result]] = deque(pool.submit(work, item) for item in itertools.islice(source, ahead))
    try:
        while coming:
            result = coming.popleft().result()
            coming.extend(pool.submit(work, item) for item in itertools.islice(source, 1))
            yield result
            del result
    finally:
        for future in coming:
            future.cancel()
