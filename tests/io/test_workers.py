"""Work in a thread, an item behind."""

import threading
from collections.abc import Iterator
from itertools import islice

import pytest

from oclgenomics.io.workers import work_behind


def threads_left() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("work-behind")]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_results_come_in_order(count: int) -> None:
    assert list(work_behind(lambda item: 2 * item, iter(range(count)))) == [2 * item for item in range(count)]
    assert not threads_left()


def test_work_goes_on_while_the_next_item_is_made() -> None:
    begun = threading.Event()

    def items() -> Iterator[int]:
        yield 0
        assert begun.wait(10), "the work on the first item waits for the second one"
        yield 1

    def work(item: int) -> str:
        begun.set()
        return threading.current_thread().name

    assert all(name.startswith("work-behind") for name in work_behind(work, items()))


def test_at_most_two_items_are_held() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for item in range(9):
            made.append(item)
            yield item

    for result in work_behind(lambda item: item, items()):
        assert len(made) <= result + 2


def test_error_of_the_work_reaches_the_caller() -> None:
    def work(item: int) -> float:
        return 6 / (2 - item)

    results = work_behind(work, iter(range(9)))
    assert list(islice(results, 2)) == [3, 6]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert not threads_left()


@pytest.mark.parametrize("good", [0, 1, 3])
def test_error_of_the_items_comes_behind_the_results_before_it(good: int) -> None:
    def items() -> Iterator[int]:
        yield from range(good)
        raise OSError("no more")

    results = work_behind(str, items())
    assert list(islice(results, good)) == list(map(str, range(good)))
    with pytest.raises(OSError, match="no more"):
        next(results)
    assert not threads_left()


def test_closing_ends_the_thread() -> None:
    results = work_behind(str, iter(range(9)))
    next(results)
    assert threads_left()
    results.close()
    assert not threads_left()
