"""Sections encoded on devices, by the kernels for CPUs and for GPUs: the same bytes as NumPy's, however k-mers come."""

from __future__ import annotations

import errno
import functools
import gc
import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from helpers.kmer_forgery import FORGERIES, keys_in_order, write_forgery
from helpers.products import drawn, examples, on_one_cpu
from hypothesis import HealthCheck, assume, example, given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import InputError, OutputError
from oclgenomics.kmers.database.codec import check_ends, decode_section, encode_sections, greatest_keys, table_of
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.database.layout import SECTION_KMERS, checksum
from oclgenomics.kmers.device import encode_gpu as pinned_writer, reader as decode_device
from oclgenomics.kmers.device.encode_kernels import SIP_KEY
from oclgenomics.kmers.device.key_table import ChosenKmers, CountBounds
from oclgenomics.kmers.device.marks import Marks
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import memory as section_plan
from oclgenomics.kmers.plan.memory import TALLIED
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Device, Engine, SharedArray

FEW_KS = (1, 15, 31, 32, 33, 64, 65, 96, 256)  # of 1, 2, 3 and 8 words
FIXTURE = settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two sections, one of which is gathered on CPUs, and pieces of few bytes."""
    monkeypatch.setattr(section_plan, "SECTIONS_EACH", 0)
    monkeypatch.setattr(section_plan, "MIN_ENCODED", 2)
    monkeypatch.setattr(section_plan, "MAX_HELD", 1)
    monkeypatch.setattr(section_plan, "MAX_KEY_BYTES", 2 * 8 * SECTION_KMERS)
    monkeypatch.setattr(pinned_writer, "PIECE_WORDS", 1001)


def keys_of_gaps(gaps: list[int], k: int) -> np.ndarray:
    """Ascending keys with such gaps, as many as k letters hold: uint64 (words, n)."""
    numbers = [number for number in itertools.accumulate(gaps) if number < 1 << 2 * k]
    return np.array([[n >> 64 * w & (1 << 64) - 1 for n in numbers] for w in range(key_words(k))], np.uint64)


@functools.cache
def many_kmers(size: int) -> tuple[np.ndarray, np.ndarray]:
    """K-mers of 31 letters, near and far from each other, and counts of all sizes."""
    rng = np.random.default_rng(1)
    gaps = 1 + rng.integers(0, 1 << rng.integers(0, 42, size), dtype=np.uint64)
    counts = 1 + (rng.pareto(0.5, size) * (rng.random(size) < 0.2)).clip(0, 2**32 - 2)
    return np.cumsum(gaps)[None], counts.astype(np.uint32)


def write_runs(path: Path, engine: Engine, k: int, keys: np.ndarray, counts: np.ndarray, cuts: list[int]) -> bytes:
    with DatabaseWriter(path, CountOptions(k), engine=engine, threads=2) as writer:
        for start, end in itertools.pairwise([0, *cuts, len(counts)]):
            runs = Runs(engine.upload(keys[:, start:end]), engine.upload(counts[start:end]), end - start)
            writer.append_runs(runs)
    assert (writer.distinct, writer.total) == (len(counts), int(counts.sum(dtype=np.uint64)))
    return path.read_bytes()


def write_block(path: Path, k: int, keys: np.ndarray, counts: np.ndarray) -> bytes:
    with DatabaseWriter(path, CountOptions(k), threads=1) as writer:
        writer.append(KmerBlock(keys, counts))
    return path.read_bytes()


_encoded: dict[tuple[int, bool], bytes] = {}


def write_many(path: Path, size: int, *, ones: bool = False) -> bytes:
    """Write `many_kmers`, or each of them as seen once; they are encoded once."""
    if (size, ones) not in _encoded:
        keys, counts = many_kmers(size)
        _encoded[size, ones] = write_block(path, 31, keys, np.ones_like(counts) if ones else counts)
    path.write_bytes(_encoded[size, ones])
    return _encoded[size, ones]


@FIXTURE
@given(
    k=drawn(st.sampled_from(FEW_KS), whole=st.sampled_from([*FEW_KS, 128, 129, 200, 224])),
    data=st.data(),
    seed=st.integers(0, 1 << 32),
)
def test_gaps_of_any_width(
    tmp_path_factory: pytest.TempPathFactory, shaped: Engine, k: int, data: st.DataObject, seed: int
) -> None:
    widths = data.draw(st.lists(st.integers(0, 2 * k - 1), min_size=1, max_size=40))
    rng = np.random.default_rng(seed)
    gaps = [1 + int.from_bytes(rng.bytes(64), "little") % (1 << width) for width in widths]
    keys = keys_of_gaps(gaps, k)
    counts = rng.integers(1, 1 << rng.integers(1, 33, keys.shape[1]), dtype=np.uint64).astype(np.uint32)
    counts[-1:] = (1 << 32) - 1
    cuts = sorted(data.draw(st.lists(st.integers(0, len(counts)), max_size=4)))
    path = tmp_path_factory.mktemp("sections") / "set"
    assert write_runs(path, shaped, k, keys, counts, cuts) == write_block(path, k, keys, counts)


@pytest.mark.parametrize(
    "bits", [0, 7, 14, 28, 35, 56, 57, 63, 64, *on_one_cpu(6, 8, 13, 20, 21, 27, 34, 41, 42, 48, 49, 55, 62)]
)
def test_borders_of_gap_widths(tmp_path: Path, shaped: Engine, bits: int) -> None:
    gaps = [(1 << bits + more) + step for more in (0, 64, 448 - bits) for step in (-1, 0, 1)]
    keys = keys_of_gaps([max(gap, 1) for gap in gaps], 256)
    counts = np.arange(1, keys.shape[1] + 1, dtype=np.uint32)
    path = tmp_path / "set"
    assert write_runs(path, shaped, 256, keys, counts, []) == write_block(path, 256, keys, counts)


@pytest.mark.parametrize(
    "size",
    [
        *(0, 1, 239, 240, 241, 959, 960, 961, SECTION_KMERS - 1, SECTION_KMERS, SECTION_KMERS + 1),
        *(4 * SECTION_KMERS, 4 * SECTION_KMERS + 1, 5 * SECTION_KMERS - 1),
    ],
)
@pytest.mark.usefixtures("small_blocks")
def test_sizes_around_borders(tmp_path: Path, shaped: Engine, size: int) -> None:
    keys, counts = many_kmers(size)
    path, middle = tmp_path / "set", min(size, SECTION_KMERS + 7)
    whole = write_many(path, size)
    assert write_runs(path, shaped, 31, keys, counts, []) == whole
    assert write_runs(path, shaped, 31, keys, counts, [middle]) == whole
    ones = np.ones_like(counts)
    assert write_runs(path, shaped, 31, keys, ones, [middle]) == write_many(path, size, ones=True)


@pytest.mark.usefixtures("small_blocks")
def test_runs_cut_anywhere(tmp_path: Path, shaped: Engine) -> None:
    size = 5 * SECTION_KMERS + 321
    keys, counts = many_kmers(size)
    path = tmp_path / "set"
    whole = write_many(path, size)
    for cuts in (
        [SECTION_KMERS],
        [0, 0, 1, 2, 2, 2 * SECTION_KMERS + 2, 4 * SECTION_KMERS],
        [*range(0, size, 9973)],
        [2 * SECTION_KMERS - 1, 2 * SECTION_KMERS, 2 * SECTION_KMERS + 1],
        [size - 1, size, size],
    ):
        assert write_runs(path, shaped, 31, keys, counts, cuts) == whole
    with KmerDatabase.open(path) as database:
        found = database.keys_counts()
    np.testing.assert_array_equal(found.keys, keys)
    np.testing.assert_array_equal(found.counts, counts)


def test_whole_blocks(tmp_path: Path, shaped: Engine) -> None:
    keys, counts = many_kmers(34 * SECTION_KMERS + 5)
    path = tmp_path / "set"
    assert write_runs(path, shaped, 31, keys, counts, [17 * SECTION_KMERS + 1]) == write_many(path, len(counts))


def test_counts_around_what_is_tallied(tmp_path: Path, shaped: Engine) -> None:
    counts = np.repeat(np.arange(TALLIED - 2, TALLIED + 3, dtype=np.uint32), 3)
    keys = np.arange(len(counts), dtype=np.uint64)[None]
    path = tmp_path / "set"
    assert write_runs(path, shaped, 31, keys, counts, []) == write_block(path, 31, keys, counts)


def test_checksums_of_any_length(shaped: Engine) -> None:
    """Sections of one key and no words of counts but their gaps: bytes of any length, from anywhere on."""
    rng = np.random.default_rng(5)
    data = rng.integers(0, 256, 4000, np.uint8)
    source = np.array([*range(70), 71, 100, 129], np.uint32)
    starts = np.concatenate([[0], np.cumsum(source)]).astype(np.uint32)
    kernel = shaped.kernel("kmers/section_facts.cl", "sum_sections", WORDS=1, EVERY=1, STRETCHES=1)
    facts = shaped.empty((5, len(source)), np.uint64)
    words = shaped.upload(np.zeros(len(starts), np.uint32))
    padded = np.zeros(4016, np.uint8)
    padded[:4000] = data
    out = shaped.upload(padded.view(np.uint64))
    shape = dict.fromkeys(("size", "stretches", "sections"), len(source))
    places = {"gaps": shaped.upload(starts), "words": words}
    shaped.launch_items(kernel, len(source), out=out, **shape, **places, **SIP_KEY, facts=facts)
    expected = [checksum(data[low:high].tobytes()) for low, high in itertools.pairwise(starts.tolist())]
    assert shaped.download(facts)[2].tolist() == expected


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([[5, 5]], "ascending"),
        ([[6, 5]], "ascending"),
        ([[6, 7], [7]], "ascending"),
        ([[6, 7], [1]], "ascending"),
        ([[1 << 10]], "more than 5 bases"),
        ([[-9]], "count is 0"),
    ],
)
def test_runs_that_are_wrong(tmp_path: Path, shaped: Engine, runs: list[list[int]], message: str) -> None:
    def fill() -> None:
        with DatabaseWriter(tmp_path / "set", CountOptions(5), engine=shaped) as writer:
            for numbers in runs:
                keys = np.abs(np.array([numbers])).astype(np.uint64)
                counts = (np.array(numbers) > 0).astype(np.uint32)
                writer.append_runs(Runs(shaped.upload(keys), shaped.upload(counts), len(numbers)))

    used = shaped.memory.used
    with pytest.raises(ValueError, match=message):
        fill()
    assert not list(tmp_path.iterdir())
    assert shaped.memory.used == used


@pytest.mark.parametrize("place", [SECTION_KMERS - 1, SECTION_KMERS, SECTION_KMERS + 1, 2 * SECTION_KMERS])
@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.usefixtures("small_blocks")
def test_disorder_anywhere(tmp_path: Path, shaped: Engine, place: int, words: int) -> None:
    keys, counts = many_kmers(3 * SECTION_KMERS)
    keys = np.concatenate([np.zeros((words - 1, keys.size), np.uint64), keys])
    keys[:, place] = keys[:, place - 1]
    with pytest.raises(ValueError, match="ascending"):
        write_runs(tmp_path / "set", shaped, 32 * words - 1, keys, counts, [])


def test_arrays_that_do_not_suit(tmp_path: Path, shaped: Engine) -> None:
    keys, counts = np.ones((1, 2), np.uint64), np.ones(2, np.uint32)
    with DatabaseWriter(tmp_path / "set", CountOptions(5), engine=shaped) as writer:
        for wrong in (
            Runs(shaped.upload(keys), shaped.upload(counts), 1),
            Runs(shaped.upload(keys[0]), shaped.upload(counts), 2),
            Runs(shaped.upload(keys), shaped.upload(counts.astype(np.uint64)), 2),
        ):
            with pytest.raises(ValueError, match="do not suit"):
                writer.append_runs(wrong)
    with DatabaseWriter(tmp_path / "set", CountOptions(5)) as writer, pytest.raises(ValueError, match="not runs"):
        writer.append_runs(Runs(shaped.upload(keys), shaped.upload(counts), 2))


@pytest.mark.usefixtures("small_blocks")
def test_a_full_disk(tmp_path: Path, shaped: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "set").write_text("what was there")
    write_anywhere, used = os.pwrite, shaped.memory.used

    def pwrite(handle: int, data: memoryview, place: int) -> int:
        if place > 400_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_anywhere(handle, data[:100_000], place)

    monkeypatch.setattr(os, "pwrite", pwrite)
    with pytest.raises(OutputError, match=r"set: cannot be written \(No space left on device\); nothing"):
        write_runs(tmp_path / "set", shaped, 31, *many_kmers(9 * SECTION_KMERS), [])
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    assert (tmp_path / "set").read_text() == "what was there"
    gc.collect()  # a future and the exception that it raised hold each other
    assert shaped.memory.used == used


@pytest.mark.usefixtures("small_blocks")
def test_pipes(tmp_path: Path, shaped: Engine) -> None:
    """What cannot be written anywhere is written in order."""
    keys, counts = many_kmers(5 * SECTION_KMERS)
    whole = write_many(tmp_path / "set", len(counts))
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit((tmp_path / "pipe").read_bytes)
        with DatabaseWriter(tmp_path / "pipe", CountOptions(31), engine=shaped) as writer:
            writer.append_runs(Runs(shaped.upload(keys), shaped.upload(counts), len(counts)))
        assert found.result() == whole


@pytest.mark.parametrize("k", [5, 31, 32, 64, 65, 128, 256])
def test_runs_come_back(tmp_path: Path, shaped: Engine, k: int) -> None:
    rng = np.random.default_rng(k)
    widths = rng.integers(0, 2 * k - 1, 300).tolist()
    gaps = [1 + int.from_bytes(rng.bytes(64), "little") % (1 << width) for width in widths]
    keys = keys_of_gaps(gaps, k)
    counts = rng.integers(1, 1 << rng.integers(1, 33, keys.shape[1]), dtype=np.uint64).astype(np.uint32)
    write_block(tmp_path / "set", k, keys, counts)
    with KmerDatabase.open(tmp_path / "set") as database:
        found = database.keys_counts(shaped)
    np.testing.assert_array_equal(found.keys, keys)
    np.testing.assert_array_equal(found.counts, counts)


@pytest.mark.parametrize("size", [0, 1, SECTION_KMERS, 5 * SECTION_KMERS + 7])
def test_sections_come_back(tmp_path: Path, shaped: Engine, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(section_plan, "SECTIONS_EACH", 0)
    monkeypatch.setattr(section_plan, "MIN_DECODED", 2)
    monkeypatch.setattr(section_plan, "MAX_KEY_BYTES", 2 * 8 * SECTION_KMERS)
    keys, counts = many_kmers(size)
    write_many(tmp_path / "set", size)
    with KmerDatabase.open(tmp_path / "set") as database:
        sizes = [runs.size for runs in database.runs(shaped)]
        found = database.keys_counts(shaped)
    assert sizes == [min(2 * SECTION_KMERS, size - start) for start in range(0, size, 2 * SECTION_KMERS)]
    np.testing.assert_array_equal(found.keys, keys)
    np.testing.assert_array_equal(found.counts, counts)


def test_damage_is_noticed_on_the_device(tmp_path: Path, shaped: Engine) -> None:
    whole = bytearray(write_many(tmp_path / "set", 3 * SECTION_KMERS))
    with KmerDatabase.open(tmp_path / "set") as database:
        whole[len(whole) // 2] ^= 1
        (tmp_path / "set").write_bytes(whole)
        with pytest.raises(InputError, match=r"set, byte \d+: section 2 of 3 is damaged"):
            list(database.runs(shaped))
        (tmp_path / "set").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(InputError, match=r"set, byte \d+: section 2 of 3 is cut off"):
            list(database.runs(shaped))


@pytest.mark.pairwise
@pytest.mark.parametrize("k", [9, 32, 40])
@pytest.mark.parametrize("forgery", [*FORGERIES, "none"])
def test_order_across_sections(shaped: Engine, k: int, forgery: str, tmp_path: Path) -> None:
    """Each section is sound and under a right checksum; what is wrong is where its k-mers lie."""
    write_forgery(tmp_path / "set", k, "none" if (k, forgery) == (32, "letters") else forgery)
    with KmerDatabase.open(tmp_path / "set") as database:
        if forgery == "none" or (k, forgery) == (32, "letters"):
            keys = keys_in_order(k)
            for found in (database.keys_counts(), database.keys_counts(shaped)):
                np.testing.assert_array_equal(found.keys, keys)
            assert database.lookup(keys[:, ::-1]).all()
            return
        number, told = FORGERIES[forgery]
        first = np.ascontiguousarray(database._file.index.table["first"][number : number + 1].T.astype(np.uint64))
        readers: list[Callable[[], object]] = [
            lambda: database.section(number), lambda: list(database.blocks(2)), lambda: list(database.runs(shaped)),
            lambda: list(database.runs(shaped, all_marked(shaped))),
            lambda: database.keys_counts(), lambda: database.keys_counts(shaped), lambda: list(database.records()),
            lambda: database.lookup(first), lambda: database.block_of(first[:, 0]),
        ]  # fmt: skip
        for read in readers:
            with pytest.raises(InputError, match=rf"set, byte \d+: section {number + 1} of 3 is malformed: .*{told}"):
                read()


@given(st.integers(1, 3), st.lists(st.integers(1, (1 << 192) - 1), min_size=1, max_size=6, unique=True))
def test_greatest_keys_of_sections(words: int, numbers: list[int]) -> None:
    firsts = sorted({number % (1 << 64 * words) or 1 for number in numbers} | {1 << 64 * (words - 1)})
    keys = np.array([[first >> 64 * word & (1 << 64) - 1 for first in firsts] for word in range(words)], np.uint64)
    greatest = greatest_keys(keys, 32 * words - 1)
    found = [sum(int(word) << 64 * at for at, word in enumerate(column)) for column in greatest.T]
    assert found == [*(first - 1 for first in firsts[1:]), (1 << (64 * words - 2)) - 1]


def no_limit(table: NDArray[np.void]) -> NDArray[np.uint64]:
    """Greatest keys of sections that may hold any."""
    return np.full(table["first"].T.shape, ~np.uint64(0))


def decoded(engine: Engine, table: NDArray[np.void], room: SharedArray) -> tuple[Runs, NDArray[np.uint32]]:
    """What is in a section; the same where only marked k-mers stay and all are marked."""
    runs, some = decode_device.runs_for(engine, table), decode_device.runs_for(engine, table)
    status = decode_device.decode_into(engine, table, no_limit(table), room, runs)
    marks = all_marked(engine)
    again, kept = decode_device.decode_marked(engine, table, no_limit(table), room, some, marks, 32 * len(runs.keys))
    assert again.tolist() == status.tolist()
    if not status.any():
        joined = decode_device.join_marked(engine, table, some, kept)
        np.testing.assert_array_equal(engine.download(joined.keys), engine.download(runs.keys))
        np.testing.assert_array_equal(engine.download(joined.counts), engine.download(runs.counts))
    return runs, status


def all_marked(engine: Engine) -> Marks:
    marks = Marks(engine, 1)
    engine.fill(marks.array, 0xFFFFFFFF)
    return marks


ONE, LARGEST = 0xF << 60, 0xF << 60 | ((1 << 32) - 2)  # Simple-8b: a word with one number, which is a count less 1


@pytest.mark.parametrize(
    ("words", "gap", "counts", "fine"),
    [
        (1, b"\x05", [ONE, LARGEST], True),
        (1, b"\x05\x05", [ONE, ONE], False),  # a gap too many
        (1, b"\x05", [ONE, LARGEST + 1], False),  # a count of 2^32
        (1, b"\x05", [ONE, LARGEST + (1 << 32)], False),
        (1, b"\x80" * 9 + b"\x05", [ONE, ONE], True),
        (1, b"\x80" * 10 + b"\x05", [ONE, ONE], False),  # more bytes than a key has groups of 7 bits
        (1, b"\x83" + b"\x80" * 8 + b"\x05", [ONE, ONE], False),  # 2^64 and more
        (2, b"\x80" * 18 + b"\x05", [ONE, ONE], True),
        (2, b"\x80" * 19 + b"\x05", [ONE, ONE], False),
        (2, b"\x84" + b"\x80" * 17 + b"\x05", [ONE, ONE], False),
    ],
)
def test_sections_with_numbers_that_are_too_large(
    shaped: Engine, words: int, gap: bytes, counts: list[int], fine: bool
) -> None:
    """Their checksums are right, so the numbers themselves have to be looked at."""
    raw = bytes(8 * words) + gap + np.array(counts, "<u8").tobytes()
    first = np.zeros((words, 1), np.uint64)
    table = table_of(first, 2, [len(gap)], [len(counts)], [checksum(raw)])
    room = decode_device.room_for(shaped, [table])
    room.host[:] = 0
    room.host.view(np.uint8)[: len(raw)] = np.frombuffer(raw, np.uint8)
    runs, status = decoded(shaped, table, room)
    assert status.tolist() == [0 if fine else 2]
    if fine:
        expected = decode_section(raw, words, 2, len(gap))
        assert expected.keys[0].tolist() == shaped.download(runs.keys)[0].tolist() == [0, 5]
        assert expected.counts.tolist() == shaped.download(runs.counts).tolist()
    else:
        with pytest.raises(ValueError, match=r"count|quantit|larger|number|bytes"):
            decode_section(raw, words, 2, len(gap))


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize(("below", "gap"), [(5, 4), (5, 5), (5, 6), (1, 1), (1, 127), (0, 1), (5, 0)])
def test_gaps_that_lead_nowhere(shaped: Engine, words: int, below: int, gap: int) -> None:
    """A sum that wraps around would be a small key, out of order, and no gap the same key once more."""
    largest = (1 << 64 * words) - 1
    first = largest - below
    raw = first.to_bytes(8 * words, "little") + bytes([gap]) + np.array([ONE, ONE], "<u8").tobytes()
    key = np.frombuffer(raw, "<u8", words).astype(np.uint64).reshape(words, 1)
    table = table_of(key, 2, [1], [2], [checksum(raw)])
    room = decode_device.room_for(shaped, [table])
    room.host[:] = 0
    room.host.view(np.uint8)[: len(raw)] = np.frombuffer(raw, np.uint8)
    runs, status = decoded(shaped, table, room)
    if gap > below or not gap:
        assert status.tolist() == [2]
        with pytest.raises(ValueError, match=r"beyond|ascend|order|large|overflow|wrap"):
            decode_section(raw, words, 2, 1)
    else:
        assert status.tolist() == [0]
        found = shaped.download(runs.keys)[:, 1].tolist()
        assert sum(word << 64 * at for at, word in enumerate(found)) == first + gap


@settings(FIXTURE, max_examples=examples(75))
@given(words=st.sampled_from([1, 2, 8]), size=st.integers(1, 12), data=st.data())
def test_bytes_that_are_no_section(shaped: Engine, words: int, size: int, data: st.DataObject) -> None:
    """Whatever the bytes are, the device finds what the host finds in them."""
    widths = data.draw(st.lists(st.integers(0, 64 * words - 1), min_size=size, max_size=size))
    keys = keys_of_gaps([1 << width for width in widths], 32 * words)[:, :size]
    assume(keys.shape[1])
    code, coded = encode_sections(keys, np.full(keys.shape[1], 1 << data.draw(st.integers(0, 31)), np.uint32))
    raw, table = bytearray(code), coded.table
    for _ in range(data.draw(st.integers(0, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xE0, 0xF0, 0xFF]))
    table["gap_bytes"] += np.uint32(8 * (move := data.draw(st.integers(0, int(table["count_words"][0])))))
    table["count_words"] -= np.uint32(move)
    table["kmers"] += np.uint32(data.draw(st.integers(0, 1)))
    table["checksum"] = checksum(bytes(raw))
    room = decode_device.room_for(shaped, [table])
    room.host[:] = 0
    room.host.view(np.uint8)[: len(raw)] = raw
    runs, status = decoded(shaped, table, room)
    try:
        expected = decode_section(bytes(raw), words, int(table["kmers"][0]), int(table["gap_bytes"][0]))
        check_ends(expected.keys, table["first"][0], no_limit(table)[:, 0])
    except ValueError:
        assert status.tolist() == [2]
        return
    assert status.tolist() == [0]
    np.testing.assert_array_equal(shaped.download(runs.keys), expected.keys)
    np.testing.assert_array_equal(shaped.download(runs.counts), expected.counts)


@settings(FIXTURE, max_examples=examples(20))
@given(
    k=st.sampled_from([31, 32, 40]),
    sections=st.integers(1, 20),
    size=st.sampled_from([1, 2, 3, 30]),
    each=st.sampled_from([1, 2, 8, 11, 16]),
    seed=st.integers(0, 1 << 32),
    damage=st.lists(st.sampled_from(["checksum", "gap", "same", "more", "count", "rare", "short"]), max_size=2),
)
@example(k=31, sections=16, size=3, each=8, seed=1, damage=["gap"])
@example(k=31, sections=16, size=3, each=8, seed=1, damage=["same"])
@example(k=31, sections=16, size=3, each=8, seed=1, damage=["more"])
@example(k=31, sections=16, size=3, each=8, seed=1, damage=["rare"])
@example(k=31, sections=16, size=3, each=8, seed=1, damage=["short"])
def test_sections_side_by_side(
    shaped: Engine, k: int, sections: int, size: int, each: int, seed: int, damage: list[str]
) -> None:
    """What is wrong with a section, or rare about it, changes nothing of the others."""
    rng, words = np.random.default_rng(seed), key_words(k)
    codes, tables, expected, statuses = [], [], [], []
    wrong = dict(zip(rng.permutation(sections).tolist(), damage, strict=False))
    for number in range(sections):
        kind = wrong.get(number)
        gaps = [1 + int(rng.integers(0, 1 << int(rng.integers(1, 50)))) for _ in range(size)]
        if kind == "rare":
            gaps[-1] = (1 << 56) + 3  # more than 8 bytes
        keys = keys_of_gaps(gaps[: size - (kind == "short")] or gaps, k)
        counts = rng.integers(1, 1 << int(rng.integers(1, 33)), keys.shape[1], np.uint64).astype(np.uint32)
        code, coded = encode_sections(keys, counts)
        raw, table = bytearray(code), coded.table.copy()
        if kind == "gap":
            raw[8 * words : 8 * words + int(table["gap_bytes"][0])] = b"\xff" * int(table["gap_bytes"][0])
        if kind == "count":
            raw[-8:] = bytes(7) + b"\x10"  # a word of 120
        gap_bytes = int(table["gap_bytes"][0])
        if kind in ("same", "more"):  # gaps of 0, one gap too many
            held = raw[8 * words : 8 * words + gap_bytes]
            raw[8 * words : 8 * words + gap_bytes] = held + b"\5" if kind == "more" else bytes(size - 1)
            table["gap_bytes"] = gap_bytes + 1 if kind == "more" else size - 1
        table["checksum"] = checksum(bytes(raw))
        if kind == "checksum":
            table["checksum"] += np.uint64(1)
        broken = kind in ("count", "more") or (kind in ("gap", "same") and gap_bytes)
        statuses.append(1 if kind == "checksum" else 2 if broken else 0)
        codes.append(bytes(raw))
        tables.append(table)
        expected.append((keys, counts))
    table, data = np.concatenate(tables), np.frombuffer(b"".join(codes), np.uint8)
    room = decode_device.room_for(shaped, [table])
    room.host[:] = 0
    room.host.view(np.uint8)[: len(data)] = data
    given = shaped, table, no_limit(table), room
    runs, some = decode_device.runs_for(shaped, table), decode_device.runs_for(shaped, table)
    marks = Marks(shaped, 1)
    half = rng.integers(0, 1 << 32, marks.array.size, np.uint32)
    marks._array = mock.Mock(device=shaped.upload(half))
    with mock.patch.object(decode_device, "_each", return_value=each if shaped.tuning.cpu else 1):
        assert decode_device.decode_into(*given, runs).tolist() == statuses
        status, kept = decode_device.decode_marked(*given, some, marks, k)
    assert status.tolist() == statuses
    keys, counts = shaped.download(runs.keys), shaped.download(runs.counts)
    begins = np.cumsum(table["kmers"]) - table["kmers"]
    for begin, (of_keys, of_counts), fine in zip(begins.tolist(), expected, statuses, strict=True):
        if not fine:
            np.testing.assert_array_equal(keys[:, begin : begin + len(of_counts)], of_keys)
            np.testing.assert_array_equal(counts[begin : begin + len(of_counts)], of_counts)
    if not any(statuses):
        joined = decode_device.join_marked(shaped, table, some, kept)
        chosen = ChosenKmers(CountBounds(), marks).of(shaped, k, runs)
        np.testing.assert_array_equal(shaped.download(joined.keys), shaped.download(chosen.keys))
        np.testing.assert_array_equal(shaped.download(joined.counts), shaped.download(chosen.counts))


def test_memory_is_given_back(tmp_path: Path, device: Device) -> None:
    keys, counts = many_kmers(3 * SECTION_KMERS)
    path = tmp_path / "set"
    whole = write_block(path, 31, keys, counts)
    for memory in (4 << 20, 40 << 20):  # encoded on the host, on the device
        with Engine(device, max_memory=memory) as engine:
            assert write_runs(path, engine, 31, keys, counts, [SECTION_KMERS // 2]) == whole
            assert engine.memory.used == 0
            assert (engine.memory.peak > 4 << 20) == (memory > 4 << 20)
    assert [file.name for file in tmp_path.iterdir()] == ["set"]
