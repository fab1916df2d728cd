"""Pieces as files: what was written comes back, all else is one error that names the file."""

from __future__ import annotations

import gzip
import os
import random
import struct
import threading
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.pool_tasks import Counting, Numbers, make_numbers
from hypothesis import given, strategies as st

from oclgenomics import __version__
from oclgenomics.app import pieces
from oclgenomics.app.jobs import pieces_of
from oclgenomics.app.pieces import InputMark, PieceFile, PieceRecord, Shard, in_order, write_piece
from oclgenomics.app.run import Run
from oclgenomics.errors import InputError, OutputError, ParameterError
from oclgenomics.io.array_layout import KEY, checksum
from oclgenomics.io.atomic_file import WholeFile
from oclgenomics.io.records import pack_record

PARTS = [Numbers(np.arange(5)), Numbers(np.arange(0)), Numbers(np.arange(1000, 1003))]
RECORD = PieceRecord("count", __version__, Shard(2, 3), {"a": 1}, (InputMark("x", 1, 2, "ab"),), {}, {"name": "cpu"})


@dataclass(frozen=True)
class Other:
    """No kind of part that the reader knows."""

    number: int


@pytest.fixture
def piece(tmp_path: Path) -> Path:
    write_piece(tmp_path / "piece", RECORD, PARTS)
    return tmp_path / "piece"


def read(path: Path) -> list[list[int]]:
    """All of a piece."""
    found = PieceFile(path)
    assert found.record == RECORD
    return [part.values.tolist() for part in found.parts([Numbers])]


WHOLE = [part.values.tolist() for part in PARTS]


# Shards


@given(st.integers(1, 50), st.integers(0, 10**6))
def test_shares_are_all_and_equal(of: int, total: int) -> None:
    shares = [Shard(number, of).share(total) for number in range(1, of + 1)]
    assert (shares[0][0], shares[-1][1]) == (0, total)
    assert all(one[1] == other[0] for one, other in pairwise(shares))
    assert {end - begin for begin, end in shares} <= {total // of, total // of + 1}


@pytest.mark.parametrize(
    ("number", "of", "told"),
    [
        (0, 3, "there is no piece 0 of 3; the first is 1/3"),
        (4, 3, "there is no piece 4 of 3"),
        (-1, 1, "there is no piece -1"),
        (1, 0, "a job has 1 to 1,000,000 pieces, not 0"),
        (1, 1_000_001, "a job has 1 to 1,000,000 pieces, not 1,000,001"),
        (1.0, 2, "must be two whole numbers"),
        (True, 2, "must be two whole numbers"),
    ],
)
def test_shards_that_are_none(number: Any, of: Any, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        Shard(number, of)


# Marks of inputs


def test_marks_are_of_the_content_and_the_time_wherever_a_file_lies(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"a" * 200_000)
    mark = InputMark.of(str(one))
    os.link(one, two)
    assert (mark.name, InputMark.of(str(two)).key) == (str(one), mark.key)
    before = one.stat()
    for place in (0, 199_999, 65_000):
        data = bytearray(b"a" * 200_000)
        data[place] = 98
        one.write_bytes(data)
        os.utime(one, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert InputMark.of(str(one)).key != mark.key
    one.write_bytes(b"a" * 200_000)
    os.utime(one, ns=(0, before.st_mtime_ns + 1))
    assert InputMark.of(str(one)).key != mark.key


def test_marks_of_folders(tmp_path: Path) -> None:
    (tmp_path / "store" / "in").mkdir(parents=True)
    for name in ("b", "in/c"):
        (tmp_path / "store" / name).write_text(name)
    mark = InputMark.of(str(tmp_path / "store"))
    assert mark.size == 5
    assert InputMark.of(str(tmp_path / "store")).key == mark.key
    (tmp_path / "store" / "in" / "c").rename(tmp_path / "store" / "d")
    assert InputMark.of(str(tmp_path / "store")).key != mark.key


def test_inputs_that_no_second_piece_could_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, told in (
        ("-", "standard input: pieces of a job all read the input; give a file"),
        (str(tmp_path / "pipe"), "is a pipe or a device"),
        ("/dev/null", "is a pipe or a device"),
        (str(tmp_path / "none"), "no such file"),
    ):
        with pytest.raises(InputError, match=told):
            InputMark.of(name)


# Files


def test_what_was_written_comes_back_as_often_as_wanted(piece: Path) -> None:
    found = PieceFile(piece)
    for _ in range(2):
        assert [part.values.tolist() for part in found.parts([Numbers])] == WHOLE
    assert found.last([Numbers]).values.tolist() == WHOLE[-1]


def test_a_piece_without_parts(tmp_path: Path) -> None:
    write_piece(tmp_path / "piece", RECORD, [])
    assert read(tmp_path / "piece") == []
    assert PieceFile(tmp_path / "piece").last([Numbers]) is None


def test_the_same_parts_are_the_same_bytes(piece: Path, tmp_path: Path) -> None:
    write_piece(tmp_path / "again", RECORD, PARTS)
    assert (tmp_path / "again").read_bytes() == piece.read_bytes()


def test_an_error_of_a_part_leaves_nothing(tmp_path: Path) -> None:
    def parts() -> Any:
        yield PARTS[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_piece(tmp_path / "piece", RECORD, parts())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="cannot be written"):
        write_piece(tmp_path / "none" / "piece", RECORD, PARTS)


@pytest.mark.parametrize("parts", [0, 1, 7])
def test_a_full_disk_is_one_error_and_leaves_nothing(
    parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = len(PARTS[0].values.tobytes()) * parts

    def write(self: WholeFile, data: bytes | memoryview) -> None:
        nonlocal room
        room -= len(data)
        if room < 0:
            raise OutputError("no space left")

    monkeypatch.setattr(WholeFile, "write", write)
    with pytest.raises(OutputError, match="no space left"):
        write_piece(tmp_path / "piece", RECORD, [PARTS[0]] * 100)
    assert list(tmp_path.iterdir()) == []
    assert not any(thread.name.startswith("work-behind") for thread in threading.enumerate())


def test_every_byte_that_is_flipped_is_one_error(piece: Path) -> None:
    data = piece.read_bytes()
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        piece.write_bytes(damaged)
        with pytest.raises(InputError) as caught:
            read(piece)
        assert str(caught.value).startswith(f"{piece}, byte ")
        assert "\n" not in str(caught.value)


def test_every_truncation_is_one_error(piece: Path) -> None:
    data = piece.read_bytes()
    for size in range(len(data)):
        piece.write_bytes(data[:size])
        with pytest.raises(InputError) as caught:
            read(piece)
        assert str(caught.value).startswith(f"{piece}, byte ")


def test_bytes_that_are_too_many_moved_or_from_another_piece(piece: Path, tmp_path: Path) -> None:
    data, rng = piece.read_bytes(), random.Random(2)
    write_piece(tmp_path / "other", RECORD, PARTS[::-1])
    other = (tmp_path / "other").read_bytes()
    assert len(other) == len(data)
    changed = [data + b"x", data + data, data[: len(data) // 2] + other[len(data) // 2 :]]
    for _ in range(200):
        begin, end = sorted(rng.sample(range(len(data)), 2))
        changed += [data[:begin] + data[end:], data[:end] + data[begin:], data[:begin] + other[begin:end] + data[end:]]
    for damaged in changed:
        if damaged not in (data, other):
            piece.write_bytes(damaged)
            with pytest.raises(InputError) as caught:
                read(piece)
            assert str(caught.value).startswith(f"{piece}, byte ")


def test_parts_in_another_order_are_an_error(tmp_path: Path) -> None:
    """All records are whole, and the foot is that of the other order."""
    write_piece(tmp_path / "one", RECORD, PARTS)
    write_piece(tmp_path / "two", RECORD, PARTS[::-1])
    size = pieces.FOOT.size
    one, two = (tmp_path / "one").read_bytes(), (tmp_path / "two").read_bytes()
    (tmp_path / "mixed").write_bytes(one[:-size] + two[-size:])
    with pytest.raises(InputError, match="its parts are not those that were written"):
        read(tmp_path / "mixed")


def forged(data: bytes, place: int, number: int) -> bytes:
    """The bytes with another number at a place."""
    changed = bytearray(data)
    struct.pack_into("<Q", changed, place, number)
    return bytes(changed)


@pytest.mark.parametrize("field", [0, 8])
def test_a_forged_size_allocates_nothing(piece: Path, field: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text or the arrays of a record are longer than the file."""
    data, sizes = piece.read_bytes(), []
    monkeypatch.setattr(pieces, "bytearray", lambda size: sizes.append(size) or bytearray(size), raising=False)
    for size in (1 << 20, 1 << 40, (1 << 64) - 1, (1 << 64) - len(data)):
        piece.write_bytes(forged(data, pieces.HEAD.size + field, size))
        with pytest.raises(InputError, match="a part is longer than the file: it is cut off or damaged"):
            PieceFile(piece)
    assert max(sizes) < len(data)


def test_a_forged_number_of_records(piece: Path) -> None:
    data = piece.read_bytes()
    for records in (0, 1, 3, 5, 1 << 40):
        piece.write_bytes(forged(data, len(data) - 24, records))
        with pytest.raises(InputError):
            read(piece)


@pytest.mark.parametrize("version", [0, 2, 1 << 63])
def test_another_version_of_the_format(piece: Path, version: int) -> None:
    data = piece.read_bytes()
    piece.write_bytes(forged(data, 8, version))
    told = f"has version {version} of the format, not 1 as this program; make it again with the same command"
    with pytest.raises(InputError, match=told):
        PieceFile(piece)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is no piece of a job; --shard makes pieces"),
        (b">r\nACGT\n", "no piece of a job"),
        (gzip.compress(b"ACGT" * 100, mtime=0), "no piece of a job"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "no piece of a job"),
    ],
)
def test_foreign_files(tmp_path: Path, data: bytes, told: str) -> None:
    (tmp_path / "foreign").write_bytes(data)
    with pytest.raises(InputError, match=told):
        PieceFile(tmp_path / "foreign")


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, told in ((tmp_path, "is no file"), (tmp_path / "none", "no such file"), ("/dev/null", "is no file")):
        with pytest.raises(InputError, match=told):
            PieceFile(name)


def whole_record(path: Path, value: Any) -> Path:
    """A piece whose first record is something else; all its checksums are right."""
    head, *rest = (bytes(part) for part in pack_record(value))
    foot = pieces.FOOT.pack(1, checksum(KEY, head), pieces.END)
    path.write_bytes(pieces.HEAD.pack(pieces.MARK, pieces.VERSION) + head + b"".join(rest) + foot)
    return path


@pytest.mark.parametrize(
    "value",
    [
        5, RECORD.shard, RECORD.inputs[0], [RECORD], replace(RECORD, shard=None), replace(RECORD, inputs=(1,)),
        replace(RECORD, inputs=None), replace(RECORD, parameters=5), replace(RECORD, parameters={1: 2}),
        replace(RECORD, job=3), replace(RECORD, arguments="x"), replace(RECORD, device=None),
    ],
)  # fmt: skip
def test_a_first_record_that_is_something_else(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError, match="does not say what it is a piece of"):
        PieceFile(whole_record(tmp_path / "piece", value))


def test_a_part_of_a_kind_that_is_not_expected(tmp_path: Path) -> None:
    write_piece(tmp_path / "piece", RECORD, [Other(1)])
    with pytest.raises(InputError, match=r"a part is malformed: .*KeyError: 'Other'"):
        list(PieceFile(tmp_path / "piece").parts([Numbers]))


# Pieces together


def named(*records: PieceRecord) -> list[tuple[str, PieceRecord]]:
    return [(f"file{place}", record) for place, record in enumerate(records)]


def of_three(*numbers: int) -> list[PieceRecord]:
    return [replace(RECORD, shard=Shard(number, 3)) for number in numbers]


def test_pieces_come_in_any_order() -> None:
    assert in_order(named(*of_three(3, 1, 2))) == [1, 2, 0]


@pytest.mark.parametrize(
    ("records", "told"),
    [
        (of_three(1, 3), "file0: is one of 3 pieces, of which 2/3|2 is missing"),
        (of_three(2), "file0: is one of 3 pieces, of which 1, 3 are missing"),
        (of_three(1, 2, 3, 2), "file3: is piece 2/3, as file1 is; give each piece once"),
        ([*of_three(1, 2), replace(RECORD, shard=Shard(3, 4))], "file2: is one of so many pieces: 4, and file0 of 3"),
        ([*of_three(1, 2), replace(RECORD, job="other", shard=Shard(3, 3))], "file2: is of the job other, and file0"),
        ([*of_three(1, 2), replace(RECORD, program="9", shard=Shard(3, 3))], "file2: is made by version 9, and file0"),
        ([*of_three(1, 2), replace(RECORD, parameters={"a": 2}, shard=Shard(3, 3))], "with a 2, and file0 with 1"),
        ([*of_three(1, 2), replace(RECORD, parameters={}, shard=Shard(3, 3))], "with a nothing, and file0 with 1"),
        ([*of_three(1, 2), replace(RECORD, inputs=(), shard=Shard(3, 3))], "file2: is of 0 inputs, and file0 of 1"),
        (
            [*of_three(1, 2), replace(RECORD, inputs=(InputMark("x", 1, 3, "ab"),), shard=Shard(3, 3))],
            "file2: the input x was another one, or changed since, when file0 was made; combine pieces of one command",
        ),
        (
            [*of_three(1, 2), replace(RECORD, inputs=(InputMark("y", 1, 3, "ab"),), shard=Shard(3, 3))],
            "file2: the input y differs from x when file0 was made",
        ),
    ],
)
def test_pieces_that_are_not_together(records: list[PieceRecord], told: str) -> None:
    with pytest.raises(InputError, match=told):
        in_order(named(*records))


def test_inputs_may_lie_elsewhere() -> None:
    moved = replace(RECORD, inputs=(replace(RECORD.inputs[0], name="elsewhere"),), shard=Shard(1, 3))
    assert in_order(named(moved, *of_three(2, 3))) == [0, 1, 2]


def test_of_many_missing_pieces_some_are_named() -> None:
    one = replace(RECORD, shard=Shard(1, 100_000))
    with pytest.raises(InputError, match=r"of which 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 99,989 more are missing"):
        in_order(named(one))


def test_pieces_of_another_version_of_the_program(tmp_path: Path) -> None:
    write_piece(tmp_path / "piece", replace(RECORD, program="0.0.9", shard=Shard(1, 1)), PARTS)
    told = f"was made by version 0.0.9 of the program, and this is {__version__}; use the same for both"
    with pytest.raises(InputError, match=told):
        pieces_of([str(tmp_path / "piece")])


def test_pieces_of_a_job(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("10")
    job, paths = Counting(str(tmp_path / "count")), [str(tmp_path / f"{number}") for number in (1, 2, 3)]
    for number, path in enumerate(paths, 1):
        make_numbers(job, Shard(number, 3), path, run=Run())
    found = pieces_of([paths[2], paths[0], paths[1]])
    assert [int(number) for part in job.combined(found) for number in part.values] == list(range(10))
    with pytest.raises(InputError, match="give each piece once"):
        pieces_of([paths[0], *paths])
