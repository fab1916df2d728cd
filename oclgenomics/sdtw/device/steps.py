"""Work in steps: each gives the device something to do, and the next one waits for it.

Two works that take steps in turn keep a device busy: one is on the device while the host sees to the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future
from typing import Generic, TypeAlias, TypeVar

ResultT = TypeVar("ResultT")

Steps: TypeAlias = Generator[None, None, ResultT]
"""Yields when the device has something to do, and returns what came of it."""


def finished(steps: Steps[ResultT]) -> ResultT:
    """Take all steps, one after the other, and return what came of them."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: ResultT = end.value
            return result


def in_turn(works: Iterable[Steps[ResultT]], together: int) -> Generator[ResultT, None, None]:
    """Yield what comes of works, in their order, of which so many at a time take steps in turn.

    A result waits for no work that has not begun. An error of a work or of the iterable comes behind the results of
    the works before it.

    Parameters
    ----------
    works : iterable of Steps
        Each is asked for when there is a place for it, and takes its first step at once.
    together : int
    """
    source, going = iter(works), deque[_Work[ResultT]]()
    ended, trouble = False, None
    while True:
        while len(going) < together and not ended:
            try:
                going.append(_Work(next(source)))
            except StopIteration:
                ended = True
            except Exception as error:
                ended, trouble = True, error
            else:
                going[-1].step()
        if not going:
            break
        for work in list(going):
            work.step()
            if going[0].outcome.done():
                yield going.popleft().outcome.result()
                break
    if trouble is not None:
        raise trouble


class _Work(Generic[ResultT]):
    """Steps under way, and what comes of them: a result or an error."""

    def __init__(self, steps: Steps[ResultT]) -> None:
        self._steps = steps
        self.outcome: Future[ResultT] = Future()

    def step(self) -> None:
        """Take the next step, if there is one."""
        if self.outcome.done():
            return
        try:
            next(self._steps)
        except StopIteration as end:
            self.outcome.set_result(end.value)
        except Exception as error:
            self.outcome.set_exception(error)
