"""Files of arrays: what is written is read back, equal content is equal bytes, and damage is noticed."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import siphash
from helpers.products import examples
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from oclgenomics.errors import InputError, OutputError
from oclgenomics.io import array_file, array_writing
from oclgenomics.io.array_file import ArrayFile, is_of_kind
from oclgenomics.io.array_layout import ALIGNMENT, END, FOOT, HEAD, KEY, TYPES, Description, FileKind, checksum
from oclgenomics.io.array_writing import write_arrays
from oclgenomics.io.atomic_file import WholeFile
from oclgenomics.io.siphash import BLOCK_BYTES, sum_of_sums
from oclgenomics.io.workers import Workers

OLD = FileKind(b"\x89otest\r\n", 2, "test file", "make it again with `oclgenomics test`", blocks_since=3)
KIND = replace(OLD, version=3, older=(2,))
VERSIONS = pytest.mark.parametrize("kind", [KIND, OLD], ids=["blocks", "whole"])
METADATA = {"of": "a test", "numbers": [1, 2.5, None]}
ARRAYS = {
    "letters": np.arange(5, dtype=np.uint8),
    "none": np.empty((0, 3), np.int64),
    "one": np.array(7.5),
    "many": np.arange(12, dtype=np.uint32).reshape(3, 4),
}


def write(path: Path, content: dict[str, Any] = ARRAYS, kind: FileKind = KIND) -> bytes:
    write_arrays(path, kind, "1.2.3", METADATA, content)
    return path.read_bytes()


def read(path: Path, kind: FileKind = KIND) -> dict[str, Any]:
    with ArrayFile(path, kind) as file:
        return {name: file.array(name, one.dtype, len(one.shape)) for name, one in file.sections.items()}


def check_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(found) == list(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)
        assert (found[name].dtype, found[name].shape) == (array.dtype.newbyteorder("="), array.shape)


numbers = st.sampled_from(TYPES).flatmap(lambda dtype: arrays(dtype, array_shapes(min_dims=0, min_side=0, max_side=9)))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=examples(50))
@given(
    content=st.dictionaries(st.text(), numbers, max_size=4),
    metadata=st.dictionaries(st.text(), anything, max_size=4),
    program=st.text(),
)
def test_arrays_come_back(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any], metadata: dict[str, Any], program: str
) -> None:
    path = tmp_path_factory.mktemp("arrays") / "x"
    write_arrays(path, KIND, program, metadata, content)
    with ArrayFile(path, KIND) as file:
        assert (file.program, file.metadata) == (program, metadata)
        assert all(section.offset % ALIGNMENT == 0 for section in file.sections.values())
    check_equal(read(path), content)
    whole = path.read_bytes()
    assert len(whole) % ALIGNMENT == FOOT.size
    write_arrays(path, KIND, program, dict(reversed(metadata.items())), content)
    assert path.read_bytes() == whole


def test_any_layout_of_memory_gives_the_same_bytes(tmp_path: Path) -> None:
    array = np.arange(60, dtype=np.int32).reshape(5, 12)[::2, ::3]
    whole = write(tmp_path / "x", {"a": array})
    for other in (array.copy(), np.asfortranarray(array), array.astype(">i4")):
        assert write(tmp_path / "y", {"a": other}) == whole


def test_arrays_cannot_be_written_to_and_outlive_the_file(tmp_path: Path) -> None:
    write(tmp_path / "x")
    found = read(tmp_path / "x")
    (tmp_path / "x").write_bytes(b"")
    check_equal(found, ARRAYS)
    with pytest.raises(ValueError, match="read-only"):
        found["letters"][0] = 1


def test_a_closed_file_is_not_read(tmp_path: Path) -> None:
    write(tmp_path / "x")
    with ArrayFile(tmp_path / "x", KIND) as file:
        pass
    with pytest.raises(ValueError, match="is closed"):
        file.array("letters", "|u1")


def test_the_mark_tells_contents_apart(tmp_path: Path) -> None:
    marks = set()
    for letters in ([1, 2], [1, 3], [1, 2]):
        write(tmp_path / "x", {"a": np.array(letters, np.uint8)})
        with ArrayFile(tmp_path / "x", KIND) as file:
            marks.add(file.mark)
    assert len(marks) == 2


@pytest.mark.parametrize(
    "array", [np.array(["a"]), np.array([None]), np.zeros(2, np.bool_), np.zeros(2, np.complex64), np.zeros((1,) * 9)]
)
def test_arrays_that_cannot_be_written(tmp_path: Path, array: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"array 'a' of .* cannot be written"):
        write(tmp_path / "x", {"a": array})
    assert not list(tmp_path.iterdir())


def test_metadata_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_arrays(tmp_path / "x", KIND, "1", {"a": float("nan")}, {})
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "x", tmp_path):
        with pytest.raises(OutputError):
            write(path)


# Files that are something else


def test_kinds_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path / "x")
    other = FileKind(b"\x89oelse\r\n", 3, "other file", "make it again with that")
    assert is_of_kind(tmp_path / "x", KIND)
    assert not is_of_kind(tmp_path / "x", other)
    with pytest.raises(InputError, match=r"x, byte 0: is no other file, or cut off in its head; make one"):
        ArrayFile(tmp_path / "x", other)
    newer = FileKind(KIND.mark, 4, "test file", "make it again")
    with pytest.raises(InputError, match=r"x, byte 8: has version 3 of the format, not 4 as this program; make it"):
        ArrayFile(tmp_path / "x", newer)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").write_bytes(b"")
    assert not any(is_of_kind(tmp_path / name, KIND) for name in ("", "missing", "pipe", "empty"))
    assert not is_of_kind("-", KIND)
    for name, message in (("", "is no file"), ("missing", "no such file"), ("empty", "is no test file")):
        with pytest.raises(InputError, match=message):
            ArrayFile(tmp_path / name, KIND)


def test_sections_of_another_type(tmp_path: Path) -> None:
    write(tmp_path / "x")
    with ArrayFile(tmp_path / "x", KIND) as file:
        for words in (("many", "<u4"), ("many", "<i4", 2), ("letters", "|i1"), ("nothing", "|u1")):
            with pytest.raises(InputError, match=rf"has no section '{words[0]}' of .*; make it again"):
                file.array(*words)  # type: ignore[arg-type]


# Damage


def refused(path: Path, data: bytes) -> str:
    """The one line that damaged bytes give, which says where and what to do."""
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"^{path}, byte \d+: ") as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert "make it again" in str(caught.value) or "is no test file" in str(caught.value)
    return str(caught.value)


def test_every_cut_off_end_is_noticed(tmp_path: Path) -> None:
    whole = write(tmp_path / "x")
    for size in range(len(whole)):
        assert "cut off" in refused(tmp_path / "x", whole[:size])


@VERSIONS
def test_every_damaged_byte_is_noticed(tmp_path: Path, kind: FileKind) -> None:
    whole = write(tmp_path / "x", kind=kind)
    for place in range(len(whole)):
        flipped = whole[place] ^ 1 << place % 8
        refused(tmp_path / "x", whole[:place] + bytes([flipped]) + whole[place + 1 :])


def test_bytes_that_are_too_many_are_noticed(tmp_path: Path) -> None:
    whole = write(tmp_path / "x")
    for extra in (b"\0", bytes(64), whole[-FOOT.size :], whole):
        refused(tmp_path / "x", whole + extra)
    for place in range(0, len(whole), 16):
        refused(tmp_path / "x", whole[:place] + bytes(ALIGNMENT) + whole[place:])


def test_the_damaged_section_is_named(tmp_path: Path) -> None:
    whole = bytearray(write(tmp_path / "x"))
    whole[-FOOT.size - 20] ^= 1
    start = len(whole) - FOOT.size - ALIGNMENT
    assert refused(tmp_path / "x", bytes(whole)).startswith(f"{tmp_path}/x, byte {start}: section 'many' is damaged")
    with ArrayFile(tmp_path / "x", KIND) as file:
        assert file.array("letters", "|u1").tolist() == [0, 1, 2, 3, 4]


def test_text_transfer_is_noticed(tmp_path: Path) -> None:
    whole = write(tmp_path / "x")
    for text in (whole.replace(b"\r\n", b"\n"), whole.replace(b"\n", b"\r\n"), bytes(byte & 127 for byte in whole)):
        assert "is no test file" in refused(tmp_path / "x", text)


# Descriptions whose checksums are right, but which say what cannot be


def described(change: Callable[[dict[str, Any]], object], head: int | None = None) -> bytes:
    """A file of one section of 3 numbers, its description changed."""
    data = np.arange(3, dtype=np.uint32).tobytes().ljust(ALIGNMENT, b"\0")
    sum_ = checksum(KEY, checksum(KEY, data).to_bytes(8, "little"))
    section = {"name": "a", "dtype": "<u4", "shape": [3], "offset": 0, "checksum": f"{sum_:016x}"}
    known: dict[str, Any] = {"program": "1", "metadata": {}, "sections": [section]}
    changed = change(known)
    text = changed if isinstance(changed, bytes) else json.dumps(known).encode()
    text += b" " * (-(HEAD.size + len(text)) % ALIGNMENT)
    before = HEAD.pack(KIND.mark, KIND.version, len(text) if head is None else head) + text
    return before + data + FOOT.pack(checksum(KEY, before), END)


def section_with(**facts: object) -> Callable[[dict[str, Any]], object]:
    return lambda known: known["sections"][0].update(facts)


def sections(*offsets: int) -> Callable[[dict[str, Any]], object]:
    """Sections of the same bytes at some offsets."""

    def change(known: dict[str, Any]) -> None:
        (one,) = known["sections"]
        known["sections"] = [one | {"name": str(i), "offset": offset} for i, offset in enumerate(offsets)]

    return change


def test_the_description_is_right_before_it_is_changed(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(described(lambda known: None))
    check_equal(read(tmp_path / "x"), {"a": np.arange(3, dtype=np.uint32)})


MALFORMED = {
    "big-endian": section_with(dtype=">u4"),
    "native": section_with(dtype="=u4"),
    "objects": section_with(dtype="|O"),
    "text": section_with(dtype="<U1"),
    "records": section_with(dtype="u4,u4"),
    "no type": section_with(dtype=4),
    "oversized": section_with(shape=[17]),
    "too small": section_with(shape=[0]),
    "huge": section_with(shape=[1 << 62]),
    "huge by huge": section_with(shape=[1 << 62, 1 << 62]),
    "beyond 64 bits": section_with(shape=[10**30]),
    "nothing, but huge": lambda known: known["sections"].append(
        known["sections"][0] | {"name": "b", "offset": 64, "shape": [10**30, 0]}
    ),
    "negative": section_with(shape=[-3]),
    "negative twice": section_with(shape=[-3, -1]),
    "broken": section_with(shape=[3.0]),
    "truth": section_with(shape=[3, True]),
    "no shape": section_with(shape=3),
    "too many dimensions": section_with(shape=[3] + [1] * 8),
    "moved": section_with(offset=64),
    "unaligned": section_with(offset=4),
    "before the file": section_with(offset=-64),
    "beyond the file": section_with(offset=10**30),
    "no offset": section_with(offset="0"),
    "no name": section_with(name=None),
    "no checksum": section_with(checksum=7),
    "another field": section_with(more=1),
    "overlapping": sections(0, 0),
    "two": sections(0, 64),
    "none": sections(),
    "same name": lambda known: known["sections"].append(known["sections"][0] | {"offset": 64, "shape": [0]}),
    "no section": lambda known: known.update(sections=[7]),
    "no list": lambda known: known.update(sections={}),
    "no metadata": lambda known: known.update(metadata=[]),
    "no program": lambda known: known.update(program=None),
    "a part missing": lambda known: known.pop("metadata") and None,
    "not an object": lambda known: b"[]",
    "no JSON": lambda known: b"{",
    "no ASCII": lambda known: '{"ä": 1}'.encode(),
    "nested": lambda known: b"[" * 200_000,
    "many digits": lambda known: b"9" * 100_000,
    "empty": lambda known: b"",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_descriptions(tmp_path: Path, name: str) -> None:
    told = refused(tmp_path / "x", described(MALFORMED[name]))
    assert "the description is malformed: " in told
    assert len(told) < 400


@pytest.mark.parametrize("size", [0, 1, 0x7FFFFFFF, 0xFFFFFFFF])
def test_sizes_of_the_description(tmp_path: Path, size: int) -> None:
    refused(tmp_path / "x", described(lambda known: None, size))


def test_a_wrong_checksum_of_a_section(tmp_path: Path) -> None:
    assert "section 'a' is damaged" in refused(tmp_path / "x", described(section_with(checksum="0" * 16)))


def test_descriptions_begin_sections_at_64_bytes() -> None:
    for length in range(130):
        text = Description("1", {"x": "a" * length}, []).pack()
        assert (HEAD.size + len(text)) % ALIGNMENT == 0
        assert Description.unpack(text, 0).metadata == {"x": "a" * length}


def test_a_file_that_becomes_shorter(tmp_path: Path) -> None:
    whole = write(tmp_path / "x")
    with ArrayFile(tmp_path / "x", KIND) as file:
        os.truncate(tmp_path / "x", len(whole) - 100)
        with pytest.raises(InputError, match=r"byte \d+: became shorter while it was read; make it again"):
            file.array("many", "<u4", 2)


@VERSIONS
@pytest.mark.parametrize(
    "sizes",
    [[], [0, 1000], [1, 15, 16, 17, 951], [1000], [8192], [8191, 1, 8193], [0, 1, 30_000, 0], [5] * 5000, [8192, 8192]],
)
def test_arrays_are_read_from_start_to_end(tmp_path: Path, sizes: list[int], kind: FileKind) -> None:
    many = np.arange(sum(sizes), dtype=np.uint16)
    write(tmp_path / "x", {"before": np.arange(3), "many": many, "rows": np.zeros((2, 2))}, kind)
    with ArrayFile(tmp_path / "x", KIND) as file:
        reader = file.reader("many", "<u2")
        assert len(reader) == reader.left == len(many)
        parts = [reader.read(size) for size in sizes]
        assert reader.left == 0
        assert [part.dtype for part in parts] == [np.uint16] * len(sizes)
        assert np.concatenate([*parts, []]).tolist() == many.tolist()
        with pytest.raises(ValueError, match="'many' has 0 items left, not 1"):
            reader.read(1)
        reader.finish()
        for name, dtype in (("many", "<u4"), ("rows", "<f8"), ("none", "<u2")):
            with pytest.raises(InputError, match=f"has no section '{name}'"):
                file.reader(name, dtype)


@VERSIONS
@pytest.mark.parametrize("size", [1000, 7000, 30_000])
@pytest.mark.parametrize("place", [0, 16_383, 16_384, 59_999, 60_000, -1])
def test_what_is_read_from_start_to_end_is_verified_at_the_end(
    tmp_path: Path, place: int, size: int, kind: FileKind
) -> None:
    data = bytearray(write(tmp_path / "x", {"many": np.arange(30_000, dtype=np.uint16)}, kind))
    data[-FOOT.size - 60_032 + place % 60_032] ^= 1
    (tmp_path / "x").write_bytes(data)
    with ArrayFile(tmp_path / "x", KIND) as file:
        reader = file.reader("many", "<u2")
        while reader.left:
            reader.read(min(size, reader.left))
        with pytest.raises(InputError, match="'many' is damaged"):
            reader.finish()


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> int:
    """Arrays are read and written in pieces of so many bytes."""
    for module in (array_file, array_writing):
        monkeypatch.setattr(module, "PIECE_BYTES", BLOCK_BYTES)
    return BLOCK_BYTES


@VERSIONS
@pytest.mark.parametrize("items", [0, 1, 15, 16, 17, 4096, 4095, 4097, 8192, 30_000])
def test_pieces_make_the_same_file(tmp_path: Path, items: int, kind: FileKind, request: pytest.FixtureRequest) -> None:
    content = {"first": np.arange(items, dtype=np.uint32), "second": np.arange(3)}
    whole = write(tmp_path / "whole", content, kind)
    request.getfixturevalue("pieces")
    assert write(tmp_path / "pieces", content, kind) == whole
    check_equal(read(tmp_path / "whole"), content)


def test_pieces_go_through_a_pipe(tmp_path: Path, pieces: int) -> None:
    content = {"many": np.arange(30_000, dtype=np.uint16)}
    whole = write(tmp_path / "whole", content)
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=write_arrays, args=(tmp_path / "pipe", KIND, "1.2.3", METADATA, content))
    writer.start()
    with open(tmp_path / "pipe", "rb") as pipe:
        assert pipe.read() == whole
    writer.join()


@VERSIONS
@pytest.mark.parametrize("place", [0, 16_383, 16_384, 50_000, 59_999, 60_031])
def test_damage_is_noticed_in_every_piece(tmp_path: Path, pieces: int, place: int, kind: FileKind) -> None:
    data = bytearray(write(tmp_path / "file", {"many": np.zeros(60_000, np.uint8)}, kind))
    data[-FOOT.size - 60_032 + place] ^= 1
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(InputError, match="'many' is damaged"):
        read(tmp_path / "file")


def test_a_piece_that_went_away(tmp_path: Path, pieces: int) -> None:
    size = len(write(tmp_path / "file", {"many": np.zeros(60_000, np.uint8)}))
    with ArrayFile(tmp_path / "file", KIND) as file:
        os.truncate(tmp_path / "file", size - 40_000)
        with pytest.raises(InputError, match="became shorter"):
            file.array("many", "|u1")


def test_a_piece_that_cannot_be_written(tmp_path: Path, pieces: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_at(file: WholeFile, data: memoryview, place: int) -> None:
        if place > 20_000:
            raise OutputError("no space")

    monkeypatch.setattr(WholeFile, "write_at", write_at)
    with pytest.raises(OutputError, match="no space"):
        write(tmp_path / "file", {"many": np.zeros(60_000, np.uint8), "more": np.zeros(100)})
    assert os.listdir(tmp_path) == []


# Blocks


def sum_by_the_page(data: bytes) -> int:
    """The checksum of a section as docs/signatures-format.md tells it, by another package."""
    blocks = [data[begin : begin + 16_384] for begin in range(0, len(data), 16_384)]
    sums = (siphash.SipHash_2_4(KEY, block).hash().to_bytes(8, "little") for block in blocks)
    return int(siphash.SipHash_2_4(KEY, b"".join(sums)).hash())


@pytest.mark.parametrize("size", [0, 1, 16_384, 16_385, 40_000])
def test_checksums_are_those_of_the_page(tmp_path: Path, size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    write(tmp_path / "new", {"a": data})
    write(tmp_path / "old", {"a": data}, OLD)
    filled = data.tobytes() + bytes(-size % ALIGNMENT)
    with ArrayFile(tmp_path / "new", KIND) as new, ArrayFile(tmp_path / "old", KIND) as old:
        assert (new.version, new.in_blocks, old.version, old.in_blocks) == (3, True, 2, False)
        assert int(new.sections["a"].checksum, 16) == sum_by_the_page(filled)
        assert int(old.sections["a"].checksum, 16) == siphash.SipHash_2_4(KEY, filled).hash()
        assert (new.sections["a"].checksum == old.sections["a"].checksum) == (size == 0)


def test_a_version_taken_for_the_other_is_noticed(tmp_path: Path) -> None:
    """Whichever way the checksums of sections were made, those of the other version differ."""
    for kind in (KIND, OLD):
        whole = write(tmp_path / "x", kind=kind)
        size = HEAD.unpack_from(whole)[2]
        other = HEAD.pack(KIND.mark, 5 - kind.version, size) + whole[HEAD.size : HEAD.size + size]
        changed = other + whole[len(other) : -FOOT.size] + FOOT.pack(checksum(KEY, other), END)
        assert "section 'letters' is damaged" in refused(tmp_path / "x", changed)


@settings(max_examples=60)
@given(
    dtype=st.sampled_from(["|u1", "<u2", "<u4", "<f8"]),
    sizes=st.lists(st.sampled_from([0, 1, 7, 2047, 2048, 8192, 16_384, 20_001]), min_size=1, max_size=6),
    cuts=st.lists(st.floats(0, 1), max_size=3),
)
def test_each_block_ends_in_one_window(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, sizes: list[int], cuts: list[float]
) -> None:
    """Whatever the windows, and whatever the parts that they are cut into, which hold the items in their order."""
    many = np.random.default_rng(len(sizes)).integers(0, 100, sum(sizes)).astype(dtype)
    path = tmp_path_factory.mktemp("windows") / "x"
    write(path, {"many": many})
    with ArrayFile(path, KIND) as file:
        reader = file.reader("many", dtype)
        sums, found = np.zeros(reader.blocks, np.uint64), []
        for size in sizes:
            window = reader.window(size)
            places = sorted({0, size, *(int(cut * size) for cut in cuts)})
            parts = [window.part(*cut) for cut in itertools.pairwise(places)] or [window]
            assert sum(part.blocks for part in parts) == window.blocks
            for part in parts:
                assert len(part.data) % 8 == 0
                assert part.begin == part.skipped * many.itemsize < BLOCK_BYTES
                for block in range(part.blocks):
                    data = part.data[block * BLOCK_BYTES : min((block + 1) * BLOCK_BYTES, part.summed)]
                    assert not sums[part.first + block]
                    sums[part.first + block] = checksum(KEY, data.tobytes())
                found.append(part.items)
        assert np.concatenate(found).tolist() == many.tolist()
        reader.finish(sums)
        assert f"{sum_of_sums(KEY, sums):016x}" == file.sections["many"].checksum
        if len(sums):
            sums[-1] ^= np.uint64(1)
            with pytest.raises(InputError, match="'many' is damaged"):
                reader.finish(sums)


# Blocks

SUMMED = replace(KIND, version=4, sums_since=4)
LONG = {"short": np.arange(9, dtype=np.uint16), "long": np.arange(5 * BLOCK_BYTES // 8 + 9), "none": np.empty(0)}


def test_the_checksums_of_blocks_are_in_the_file(tmp_path: Path) -> None:
    write(tmp_path / "x", LONG, SUMMED)
    with ArrayFile(tmp_path / "x", SUMMED) as file:
        *sections, last = file.sections.values()
        sums = []
        for one in sections:
            data = file._read(one.filled_bytes, file._first + one.offset).tobytes()
            blocks = [data[begin : begin + BLOCK_BYTES] for begin in range(0, len(data), BLOCK_BYTES)]
            sums += [siphash.SipHash_2_4(KEY, block).hash() for block in blocks]
        assert (last.name, last.dtype, file.array("block_sums", "<u8").tolist()) == ("block_sums", "<u8", sums)
    check_equal({name: one for name, one in read(tmp_path / "x", SUMMED).items() if name != "block_sums"}, LONG)


@settings(max_examples=30)
@given(
    cuts=st.lists(
        st.sampled_from([*range(0, 5 * BLOCK_BYTES, BLOCK_BYTES // 2), 1, 5 * BLOCK_BYTES + 70]), max_size=12
    ).map(sorted),
    threads=st.sampled_from([None, 2]),
    piece=st.sampled_from([1, 2, 100]),
)
def test_ranges_of_bytes_are_taken(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], threads: int | None, piece: int
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "x"
    write(path, LONG, SUMMED)
    whole = LONG["long"].view(np.uint8)
    begins, ends = np.array([0, *cuts[::2]], np.int64), np.array([0, *(cuts + cuts[-1:])[1::2]][: 1 + len(cuts[::2])])
    with (
        mock.patch.object(array_file, "PIECE_BYTES", piece * BLOCK_BYTES),
        ArrayFile(path, SUMMED) as file,
        Workers(threads or 1) as workers,
    ):
        reader = file.blocks("long", "<i8")
        assert len(reader) == len(LONG["long"])
        taken = reader.take(begins, ends, workers if threads else None)
        for begin, end, place in zip(begins.tolist(), ends.tolist(), taken.places.tolist(), strict=True):
            assert taken.data[place : place + end - begin].tobytes() == whole[begin:end].tobytes()
        spans = (range(begin // BLOCK_BYTES, -(-end // BLOCK_BYTES)) for begin, end in zip(begins, ends, strict=True))
        assert len(taken.data) <= len(set().union(*spans)) * BLOCK_BYTES


@pytest.mark.parametrize("block", range(6))
def test_a_damaged_block_is_noticed_when_it_is_taken(tmp_path: Path, block: int) -> None:
    whole = bytearray(write(tmp_path / "x", LONG, SUMMED))
    with ArrayFile(tmp_path / "x", SUMMED) as file:
        section, start = file._find("long", "<i8", 1)
    place = block * BLOCK_BYTES if block < 5 else section.filled_bytes - 1
    whole[start + place] ^= 16
    (tmp_path / "x").write_bytes(whole)
    with ArrayFile(tmp_path / "x", SUMMED) as file:
        reader = file.blocks("long", "<i8")
        for other in range(6):
            begin = np.array([other * BLOCK_BYTES])
            if other != block:
                reader.take(begin, begin + 8)
                continue
            message = f"x, byte {start + block * BLOCK_BYTES}: section 'long' is damaged .the checksum of a block"
            with pytest.raises(InputError, match=message):
                reader.take(begin, begin + 8)


def test_checksums_of_blocks_that_are_not_those_of_the_section(tmp_path: Path) -> None:
    whole = bytearray(write(tmp_path / "x", LONG, SUMMED))
    with ArrayFile(tmp_path / "x", SUMMED) as file:
        _, start = file._find("block_sums", "<u8", 1)
    for place in (0, 8, 20):
        (tmp_path / "x").write_bytes(whole[: start + place] + b"?" + whole[start + place + 1 :])
        with ArrayFile(tmp_path / "x", SUMMED) as file, pytest.raises(InputError, match="'block_sums' is damaged"):
            file.blocks("long", "<i8")
    write(tmp_path / "x", LONG, SUMMED)
    with ArrayFile(tmp_path / "x", SUMMED) as file:
        file.sections["long"] = replace(
            file.sections["long"], checksum="0" * 16
        )  # as under a right checksum of its own
        with pytest.raises(InputError, match="the blocks of 'long' are not those of the section; make it again"):
            file.blocks("long", "<i8")
