"""Tasks for pools of worker processes, and a job without a device."""

from __future__ import annotations

import json
import os
import pickle
import signal
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__, notices
from oclgenomics.app.jobs import Job, Made
from oclgenomics.app.pieces import InputMark, PieceRecord, Shard, write_piece
from oclgenomics.app.run import EngineLike, Run
from oclgenomics.errors import DeviceLostError, InputError
from oclgenomics.io import children
from oclgenomics.runtime.profile import Span


@dataclass(frozen=True)
class Numbers:
    """A part of what `Counting` gives."""

    values: NDArray[np.int64]


@dataclass(frozen=True)
class Counting(Job[Numbers]):
    """Gives the numbers below `count`, which a file says."""

    NAME = "count numbers"
    KINDS = (Numbers,)

    file: str
    factor: int = 1
    seconds: float = 0.0
    deadly: int = 0

    def inputs(self) -> tuple[str, ...]:
        return (self.file,)

    def parameters(self) -> Mapping[str, Any]:
        return {"factor": self.factor}

    def parts(self, engine: EngineLike, run: Run, shard: Shard | None = None) -> Generator[Numbers, None, None]:
        count = int(json.loads(Path(self.file).read_text()))
        begin, end = (0, count) if shard is None else shard.share(count)
        if shard is not None and shard.number == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        for number in range(begin, end):
            time.sleep(self.seconds)
            yield Numbers(np.array([self.factor * number], np.int64))
            if run.progress is not None:
                run.progress(number + 1 - begin, end - begin)


def numbers_of(parts: Iterator[Numbers]) -> list[int]:
    """All numbers, in the order in which they come."""
    return [int(number) for part in parts for number in part.values]


def make_numbers(job: Counting, shard: Shard, path: str, *, run: Run, profile: bool = False, **_how: object) -> Made:
    """Do what `make_piece` does, without a device."""
    marks = tuple(map(InputMark.of, job.inputs()))
    device = {"name": os.environ.get("OCLGENOMICS_DEVICE", "")}
    record = PieceRecord(job.NAME, __version__, shard, job.parameters(), marks, {}, device)
    write_piece(path, record, job.parts(None, run, shard))
    spans = (Span("count", "host", 1, 2, f"process {os.getpid()}"),) if profile else ()
    return Made(path, shard, 0.0, device, spans)


def pid_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def index_here() -> str:
    """The device of the worker, as its environment names it."""
    return os.environ["OCLGENOMICS_DEVICE"]


def threads_here() -> str:
    return os.environ["OCLGENOMICS_THREADS"]


def slow_on(index: str, seconds: float) -> str:
    """Take so long on one device, and hardly any time on others."""
    time.sleep(seconds if index_here() == index else 0.05)
    return index_here()


def die_on(index: str) -> str:
    """End by SIGKILL on one device."""
    if index_here() == index:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return index_here()


def exit_with(status: int, _shard: Shard | None = None) -> None:
    os._exit(status)


def die_first(path: str, how: str) -> int:
    """End, or lose the device, at the first try only."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return os.getpid()
    if how == "lost":
        raise DeviceLostError("the device is gone")
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def log_and_fail(path: str) -> None:
    """Note the try, and raise an error of the input."""
    with open(path, "a") as file:
        file.write("x")
    raise InputError("is damaged", source="reads.fq", line=3)


def fail_oddly() -> None:
    class OddError(Exception):
        """No other process knows it."""

    raise OddError("something odd")


def notice(text: str) -> None:
    notices.tell(text)


def half_then(path: str) -> str:
    """Say that half of it is done, and wait for a file."""
    children.tell(pickle.dumps(0.5))
    while not os.path.exists(path):
        time.sleep(0.01)
    return "done"
