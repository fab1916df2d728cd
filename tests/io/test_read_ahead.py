"""Chunks that a thread reads: they come in order, errors behind them, and the thread ends with who asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from oclgenomics.io.read_ahead import read_ahead


def chunks(taken: list[int], count: int) -> Iterator[int]:
    for number in range(count):
        taken.append(number)
        yield number
    raise OSError("the end")


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "read-ahead"]


def test_errors_come_behind_the_chunks_before() -> None:
    found: list[int] = []
    with pytest.raises(OSError, match="the end"):
        found.extend(read_ahead(chunks([], 5), 1))
    assert found == list(range(5))
    assert not readers()


def test_the_thread_ends_with_the_generator() -> None:
    taken: list[int] = []
    ahead = read_ahead(chunks(taken, 1000), 1)
    assert (next(ahead), next(ahead)) == (0, 1)
    ahead.close()
    assert not readers()
    assert len(taken) < 10
