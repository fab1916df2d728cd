"""A part of a file: it is the file's name, and exactly its bytes are read, in every way that inputs are read."""

from __future__ import annotations

import copy
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from helpers.bgzf import END, blocks

from oclgenomics.errors import InputError
from oclgenomics.io import raw_file
from oclgenomics.io.file_slice import FileSlice, stored_size
from oclgenomics.io.joined_source import JoinedSource, head_of
from oclgenomics.io.raw_file import StoredBytes
from oclgenomics.io.source import Source
from oclgenomics.io.workers import Workers

TEXT = bytes(range(65, 91)) * 40
LONG = TEXT * 10  # more than is looked at to find out how a file is packed


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = tmp_path / "x.fa"
    path.write_bytes(TEXT)
    return str(path)


def test_it_is_the_name_of_the_file(path: str) -> None:
    part = FileSlice(path, 3, 9, 2, 1)
    assert part == path
    assert os.fspath(part) is part
    for other in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
        assert (other, other.start, other.stop, other.skip, other.drop) == (path, 3, 9, 2, 1)
        assert isinstance(other, FileSlice)
    assert stored_size(part) == 6
    assert stored_size(path) == len(TEXT)
    assert stored_size("-") is None
    assert stored_size(os.path.dirname(path)) is None


@pytest.mark.parametrize("places", [(3, 3), (4, 3), (-1, 3), (0, 3, -1), (0, 3, 0, -1)])
def test_no_bytes_are_no_part(places: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no part of a file"):
        FileSlice("x", *places)


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (0, 700), (1, 2), (26, 1000), (1039, 1040), (0, 1040)])
def test_its_bytes_are_read(path: str, start: int, stop: int) -> None:
    part, wanted, told = FileSlice(path, start, stop), TEXT[start:stop], []
    with Source(part, chunk_bytes=100, progress=lambda *at: told.append(at)) as source:
        assert b"".join(source) == wanted
        assert (source.skipped, source.size, source.name) == (start, len(wanted), path)
    assert told[-1] == (len(wanted), len(wanted))


@pytest.mark.parametrize(("start", "stop"), [(0, 9000), (26, 10390), (5000, 10400), (10399, 10400)])
def test_its_bytes_are_read_into_arrays(path: str, start: int, stop: int, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(path).write_bytes(LONG)
    part, wanted = FileSlice(path, start, stop), LONG[start:stop]
    room = np.zeros(64, np.uint8)
    with Source(part) as source:
        found = b""
        while count := source.read_into(room):
            found += room[:count].tobytes()
        assert found == wanted
    monkeypatch.setattr(raw_file, "PIECE_BYTES", 7)
    monkeypatch.setattr(raw_file, "MIN_SHARED_OUT", 1)
    with Source(part) as source, ThreadPoolExecutor(source.readers) as threads:
        found = b""
        while count := max([0, *(end for _, end in source.start_reading(room, threads))]):
            found += room[:count].tobytes()
        assert found == wanted


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 9), (3, 4), (2, 10), (9, 11), (0, 11)])
@pytest.mark.parametrize(("skip", "drop"), [(0, 0), (5, 0), (0, 7), (40, 40), (99, 0), (0, 99)])
def test_blocks_of_bgzip_are_read(tmp_path: Path, first: int, last: int, skip: int, drop: int, threads: int) -> None:
    path, packed = tmp_path / "x.gz", [*blocks(TEXT, 100), END]  # the last but one has 40 bytes
    path.write_bytes(b"".join(packed))
    places = [sum(map(len, packed[:number])) for number in range(len(packed) + 1)]
    places[-2] = places[-1]
    skip, drop = min(skip, 39), min(drop, 39) if first + 1 >= last or last == 11 else drop
    wanted = TEXT[100 * first : 100 * last][skip:]
    with Workers(threads) as workers, Source(FileSlice(path, places[first], places[last], skip, drop),
                                             workers=workers) as source:  # fmt: skip
        assert b"".join(source) == wanted[: len(wanted) - drop]


def test_only_the_end_of_the_file_needs_an_end_marker(tmp_path: Path) -> None:
    path, packed = tmp_path / "x.gz", blocks(TEXT, 520)
    path.write_bytes(b"".join(packed))
    with Source(FileSlice(path, 0, len(packed[0]))) as source:
        assert b"".join(source) == TEXT[:520]
    with (
        Source(FileSlice(path, len(packed[0]), len(b"".join(packed)))) as source,
        pytest.raises(InputError, match="end"),
    ):
        list(source)


def test_it_is_joined_with_other_files(path: str) -> None:
    parts = [FileSlice(path, 5, 26), path, FileSlice(path, 1000, 1040)]
    heads = [head_of(part) for part in parts]
    assert heads == [(TEXT[5:26], 21), (TEXT, 1040), (TEXT[1000:], 40)]
    source = JoinedSource(parts, [21, 1040, 40])
    room = np.zeros(2000, np.uint8)
    assert room[: source.read_into(room)].tobytes() == b"".join(head + b"\n" for head, _ in heads if head)


def test_a_file_that_became_shorter(path: str) -> None:
    part = FileSlice(path, 1000, 1041)
    with pytest.raises(InputError, match=r"x\.fa from stored byte 1000 on: became shorter after"):
        Source(part)
    stored = StoredBytes(FileSlice(path, 0, 1040))
    os.truncate(path, 500)
    assert stored.read(500) == TEXT[:500]
    for read in (lambda: stored.read(1), lambda: stored.read_into(memoryview(bytearray(1)))):
        with pytest.raises(InputError, match=r"x\.fa: became shorter while it was read"):
            read()
    stored.close()


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_what_is_no_file(tmp_path: Path, kind: str) -> None:
    name = tmp_path if kind == "folder" else tmp_path / "absent"
    with pytest.raises(InputError, match="folder" if kind == "folder" else "no such file"):
        Source(FileSlice(name, 0, 1))
