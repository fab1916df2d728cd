"""Jobs done in pieces, by commands and by executors, to be compared with one run."""

from __future__ import annotations

import gzip
import multiprocessing
import pickle
import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from helpers.products import tried
from oclgenomics.app import jobs
from oclgenomics.app.jobs import Job, Spread, make_piece
from oclgenomics.app.pieces import Shard
from oclgenomics.cli.main import main
from oclgenomics.runtime import Device, Engine

__all__ = ["check_combined", "check_refusals", "make_pieces", "no_engine", "spreads", "without_made"]

MADE = (
    b"# program: ",
    b"# version: ",
    b"# command: ",
    b"# parameters: ",
    b"# device: ",
    b"# pieces: ",
    b"# workers: ",
    b'{"provenance": ',
    b"@PG\t",
    b"@CO\t",
)


def piece_numbers() -> Collection[int]:
    """Return into how many pieces a job is cut: one, a few, and more than there are of some inputs' records."""
    return tried((1, 3, 7), whole=range(1, 8))


def without_made(data: bytes) -> bytes:
    """A report, unpacked, without the lines that say what made it."""
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    return b"".join(line for line in data.splitlines(keepends=True) if not line.startswith(MADE))


def make_pieces(words: Sequence[str], number: int, folder: Path) -> list[str]:
    """Do all pieces of a command, the last one first; their files in order."""
    paths = [str(folder / f"{place}of{number}.piece") for place in range(1, number + 1)]
    for place in range(number, 0, -1):
        assert main([*words, "--shard", f"{place}/{number}", "-o", paths[place - 1], "-q"]) == 0
    return paths


def outputs_of(words: Sequence[str], outputs: Mapping[str, str], folder: Path) -> dict[str, bytes]:
    """Run a command that writes to a folder of its own, and read what it wrote."""
    folder.mkdir()
    named = [word for option, name in outputs.items() for word in (option, str(folder / name))]
    assert main([*words, *named, "-q"]) == 0
    found = {name: without_made((folder / name).read_bytes()) for name in outputs.values()}
    shutil.rmtree(folder)
    return found


def check_combined(
    command: Sequence[str],
    device: Sequence[str],
    outputs: Mapping[str, str],
    folder: Path,
    numbers: Collection[int] | None = None,
    *,
    given: Sequence[str] = (),
    also: Sequence[str] = (),
) -> None:
    """Compare what `combine` makes of pieces, without a device, with what one run writes.

    Parameters
    ----------
    command : sequence of str
        Words of the command: system, verb, inputs and options.
    device : sequence of str
        Its options of the device, which pieces have and `combine` does not.
    outputs : mapping
        Options of outputs, and names of files. A figure is drawn for the last of the numbers only.
    folder : path
        Where to work.
    numbers : collection of int
        Of pieces; `piece_numbers` if None.
    given : sequence of str
        Options of outputs that one run and `combine` are given, and pieces are not.
    also : sequence of str
        Options of a device with which `combine` has to give the same.
    """
    whole = outputs_of([*command, *device, *given], outputs, folder / "whole")
    numbers = list(piece_numbers() if numbers is None else numbers)
    for number in numbers:
        pieces = make_pieces([*command, *device], number, folder)
        asked = {option: name for option, name in outputs.items() if option != "--plot" or number == numbers[-1]}
        expected = {name: whole[name] for name in asked.values()}
        with no_engine():
            words = [command[0], "combine", *pieces[::-1], *given]
            assert outputs_of(words, asked, folder / "combined") == expected, f"of {number} pieces"
        if also:
            assert outputs_of([*words, *also], asked, folder / "combined") == expected, f"of {number} pieces, {also}"


@contextmanager
def no_engine() -> Iterator[None]:
    """Refuse to open a device."""

    def refused(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a device was opened")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "__init__", refused)
        yield


def spreads(numbers: Collection[int] | None = None, folder: Path | None = None) -> Iterator[Spread]:
    """Two threads that do so many pieces, for each of the numbers, and two processes that do three."""
    ways: list[tuple[Callable[[], Executor], Collection[int]]] = [
        (lambda: ThreadPoolExecutor(2), piece_numbers() if numbers is None else numbers),
        (lambda: ProcessPoolExecutor(2, multiprocessing.get_context("spawn")), [3]),
    ]
    for make, counts in ways:
        with make() as executor:
            for number in counts:
                yield Spread(executor, number, folder)


def check_refusals(
    system: str, first: Sequence[str], others: Sequence[Sequence[str]], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """See that a piece of a command is refused beside one of each of others, whose options make another result."""
    one = str(folder / "first.piece")
    assert main([*first, "--shard", "1/2", "-o", one, "-q"]) == 0
    for words in others:
        other = str(folder / "other.piece")
        assert main([*words, "--shard", "2/2", "-o", other, "-q"]) == 0
        capsys.readouterr()
        assert main([system, "combine", one, other, "-o", str(folder / "out"), "-q"]) == 3, words
        assert "combine pieces of one command" in capsys.readouterr().err
        assert not (folder / "out").exists()


@contextmanager
def in_one_thread() -> Iterator[Callable[..., Any]]:
    """Call functions in a thread of their own, which has what it kept of pieces that it did before."""
    with ThreadPoolExecutor(1) as executor:
        yield lambda function, *args, **kwargs: executor.submit(function, *args, **kwargs).result()
        executor.submit(_forget).result()


def _forget() -> None:
    """Close what is kept; a thread that ends would leave it to the collector."""
    jobs._close_kept()
    if getattr(jobs._kept, "engine", None) is not None:
        jobs._kept.engine.close()
    vars(jobs._kept).clear()


def piece_of(job: Job[Any], number: int, of: int, device: Device) -> bytes:
    """Do a piece of a job as workers do it; the bytes of its file."""
    path = Path(f"{threading.get_ident()}.piece")
    make_piece(pickle.loads(pickle.dumps(job)), Shard(number, of), str(path), device=str(device.index))
    return path.read_bytes()


def memory_kept(*, close: bool = False) -> int:
    """Bytes on the engine of this thread that are in use between pieces, maybe after what is kept there is closed."""
    if close:
        jobs._close_kept()
    used: int = jobs._kept.engine.memory.used
    return used


def noted(done: list[str], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the same, and tells a list its name first."""

    def called(*args: Any, **kwargs: Any) -> Any:
        done.append(name)
        return function(*args, **kwargs)

    return called
