"""A thread that works on an item while the next one is made."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["work_behind"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def work_behind(work: Callable[[Item], Result], items: Iterator[Item]) -> Generator[Result, None, None]:
    """Yield `work(item)` for each item, in order.

    The work is done in a thread, an item at a time, while the next item is made where the results are asked for. So a
    result comes only when the next item is there, and an item must not depend on what making the next one changes.
    An error of the items comes behind the results of those before it. The thread ends with the generator.

    Parameters
    ----------
    work : callable
    items : iterator
    """
    with ThreadPoolExecutor(1, "work-behind") as thread:
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
