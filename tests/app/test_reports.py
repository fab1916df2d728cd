"""Reports are written while the next part is made, in order, and whatever goes wrong is one error."""

from __future__ import annotations

import errno
import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oclgenomics.app.reports import Report, write_reports
from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import open_whole


class Counted(Report[int]):
    """A part is a number; the bytes of it lie where those of the one before the last one were."""

    def __init__(self) -> None:
        self._rooms = [bytearray(4), bytearray(4)]

    def head(self) -> bytes:
        return b"head\n"

    def body(self, part: int, /) -> memoryview:
        room = self._rooms[part % 2]
        room[:] = b"%03d\n" % part
        return memoryview(room)

    def tail(self) -> bytes:
        return b"tail\n"


def lines(parts: int) -> str:
    return "".join(["head\n", *(f"{part:03d}\n" for part in range(parts)), "tail\n"])


def threads_left() -> bool:
    return any(thread.name.startswith("work-behind") for thread in threading.enumerate())


@pytest.mark.parametrize("parts", [0, 1, 2, 200])
def test_files_and_streams_get_the_same_bytes(parts: int, tmp_path: Path) -> None:
    seen: list[int] = []
    for mode in ("wb", "w+b"):
        with (tmp_path / "one").open(mode) as one, (tmp_path / "two").open(mode, buffering=0) as two:
            write_reports(iter(range(parts)), [(one, Counted()), (two, Counted())], on_part=[seen.append])
        assert (tmp_path / "one").read_text() == (tmp_path / "two").read_text() == lines(parts)
    assert seen == 2 * list(range(parts))
    stream = io.BytesIO()
    write_reports(iter(range(parts)), [(stream, Counted())], flush=True)
    assert stream.getvalue().decode() == lines(parts)
    assert not threads_left()


def test_a_part_is_made_while_the_one_before_is_written(tmp_path: Path) -> None:
    written = threading.Event()

    class Stream(io.FileIO):
        def write(self, data: Any, /) -> int:
            written.set()
            return super().write(data)

    def parts() -> Iterator[int]:
        yield 0
        assert written.wait(10), "nothing is written before the next part is there"
        yield 1

    with Stream(str(tmp_path / "lines"), "w") as stream:
        write_reports(parts(), [(stream, Counted())])
    assert (tmp_path / "lines").read_text() == lines(2)


def test_a_pipe_has_each_part_before_the_next_one_is_made() -> None:
    reading, writing = os.pipe()

    def parts() -> Iterator[int]:
        for part in range(3):
            yield part
            assert os.read(reading, 100).endswith(b"%03d\n" % part)

    with open(writing, "wb", buffering=0) as stream:
        write_reports(parts(), [(stream, Counted())])
    assert os.read(reading, 100) == b"tail\n"
    os.close(reading)


@pytest.mark.parametrize("good", [0, 1, 5])
def test_a_full_disk_is_one_error_and_leaves_nothing(good: int, tmp_path: Path) -> None:
    class Full:
        def __init__(self, stream: Any) -> None:
            self.fileno, self._stream, self._left = stream.fileno, stream, good

        def write(self, data: Any) -> None:
            self._left -= 1
            if self._left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            self._stream.write(data)

        def flush(self) -> None:
            self._stream.flush()

    made: list[int] = []
    with (
        pytest.raises(OutputError, match=r"lines: cannot be written \(No space left.*nothing half written is left"),
        open_whole(tmp_path / "lines", "wb", OutputError) as stream,
    ):
        write_reports(iter(range(100)), [(Full(stream), Counted())], on_part=[made.append])
    assert len(made) <= good + 2, "work goes on that nobody can use"
    assert list(tmp_path.iterdir()) == []
    assert not threads_left()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_came_before_an_error_is_written(error: type[BaseException], tmp_path: Path) -> None:
    def parts() -> Iterator[int]:
        yield from range(3)
        raise error

    with (tmp_path / "lines").open("wb") as stream, pytest.raises(error):
        write_reports(parts(), [(stream, Counted())])
    whole = lines(3).removesuffix("tail\n")
    found = (tmp_path / "lines").read_text()
    assert found == whole if error is ValueError else whole.startswith(found)
    assert not threads_left()
