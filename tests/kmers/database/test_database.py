"""Databases: what is written is read back, equal sets are equal files, and damage is noticed."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError, OutputError, UsageError
from oclgenomics.kmers.database.keys import key_words, keys_of, sortable
from oclgenomics.kmers.database.kmer_set import CountedKmers, KmerBlock
from oclgenomics.kmers.database.layout import COMPRESSED_VERSION, FOOT_BYTES, HEAD_BYTES, SECTION_KMERS, checksum
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import Device, Engine

FORMAT = Path(__file__).resolve().parents[3] / "docs" / "kmers-format.md"


def random_set(k: int, size: int, seed: int = 1) -> CountedKmers:
    """Random k-mers, mostly singletons, some of them many."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 1 << 64, (key_words(k), size), np.uint64)
    keys[-1] >>= np.uint64(64 * key_words(k) - 2 * k)
    keys[-1] >>= rng.integers(0, 2, size).astype(np.uint64) << np.uint64(1)  # neighbours near and far
    keys = keys[:, np.lexsort(keys)]
    keys = keys[:, np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])]
    counts = 1 + (rng.pareto(0.7, keys.shape[1]) * (rng.random(keys.shape[1]) < 0.3)).clip(0, 2**32 - 2)
    return CountedKmers(k, True, keys, counts.astype(np.uint32))


def write(
    path: Path,
    kmers: CountedKmers,
    cuts: list[int] | None = None,
    options: CountOptions | None = None,
    engine: Engine | None = None,
) -> bytes:
    edges = [0, *(cuts or []), kmers.distinct]
    options = options or CountOptions(kmers.k, kmers.canonical)
    with DatabaseWriter(path, options, engine=engine, threads=2) as writer:
        for start, end in itertools.pairwise(edges):
            keys, counts = kmers.keys[:, start:end].copy(), kmers.counts[start:end].copy()
            writer.append(KmerBlock(keys, counts))
            keys[:], counts[:] = 0, 0  # the writer has no more need of them
    return path.read_bytes()


def check_equal(found: CountedKmers, expected: CountedKmers) -> None:
    assert (found.k, found.canonical) == (expected.k, expected.canonical)
    np.testing.assert_array_equal(found.keys, expected.keys)
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert found.keys.dtype == np.uint64
    assert found.counts.dtype == np.uint32


@settings(max_examples=60)
@given(k=st.integers(1, 256), size=st.integers(1, 400), seed=st.integers(0, 99))
def test_sets_come_back(tmp_path_factory: pytest.TempPathFactory, k: int, size: int, seed: int) -> None:
    path = tmp_path_factory.mktemp("db") / "set.kmers"
    kmers = random_set(k, size, seed)
    write(path, kmers)
    with KmerDatabase.open(path) as database:
        check_equal(database.keys_counts(), kmers)
        assert (database.k, database.distinct, database.total) == (k, kmers.distinct, kmers.total)
        counts, numbers = database.histogram
    values, times = np.unique(kmers.counts, return_counts=True)
    np.testing.assert_array_equal(counts, values)
    np.testing.assert_array_equal(numbers, times)


@pytest.mark.parametrize("k", [31, 40])
def test_several_sections(tmp_path: Path, k: int) -> None:
    kmers = random_set(k, 5 * SECTION_KMERS + 1000)
    write(tmp_path / "set", kmers)
    with KmerDatabase.open(tmp_path / "set") as database:
        check_equal(database.keys_counts(), kmers)
        assert [len(block) for block in database.blocks(1)][:2] == [SECTION_KMERS] * 2
        assert database.sections == 6
        rng = np.random.default_rng(2)
        places = rng.integers(0, kmers.distinct, 500)
        missing = rng.integers(0, 1 << 2 * (k - 32 * (len(kmers.keys) - 1)), (len(kmers.keys), 500), np.uint64)
        sought = np.hstack([kmers.keys[:, places], missing, kmers.keys[:, :1], kmers.keys[:, -1:]])
        expected = [*kmers.counts[places], *[0] * 500, kmers.counts[0], kmers.counts[-1]]
        assert database.lookup(sought).tolist() == expected
        block = database.block_of(kmers.keys[:, SECTION_KMERS])
        assert block is not None
        np.testing.assert_array_equal(block.keys, kmers.keys[:, SECTION_KMERS : 2 * SECTION_KMERS])


def test_bytes_do_not_depend_on_the_blocks(tmp_path: Path) -> None:
    kmers = random_set(25, 5 * SECTION_KMERS)
    size = kmers.distinct
    whole = write(tmp_path / "set", kmers)
    for cuts in ([SECTION_KMERS], [1, 2, 2, 4 * SECTION_KMERS], list(range(0, size, 9973)), [size - 1], [0, size]):
        assert write(tmp_path / "set", kmers, cuts) == whole


@pytest.mark.parametrize(("k", "sections"), [(13, 1.5), (31, 17.01), (32, 0.3), (40, 1.2), (100, 0.2), (256, 0.1)])
def test_the_device_gives_the_same_bytes(tmp_path: Path, engine: Engine, k: int, sections: float) -> None:
    kmers = random_set(k, int(sections * SECTION_KMERS))
    whole = write(tmp_path / "set", kmers)
    assert write(tmp_path / "set", kmers, engine=engine) == whole
    assert write(tmp_path / "set", kmers, [1, kmers.distinct // 3], engine=engine) == whole


def test_sets_of_few_kmers_on_the_device(tmp_path: Path, engine: Engine) -> None:
    for size in (0, 1, 2, 239, 240, 241, 959, 960, 961):
        keys = np.arange(size, dtype=np.uint64)[None] << np.uint64(7)
        kmers = CountedKmers(20, True, keys, np.ones(size, np.uint32))
        assert write(tmp_path / "set", kmers, engine=engine) == write(tmp_path / "set", kmers)


def test_little_device_memory(tmp_path: Path, device: Device) -> None:
    kmers = random_set(31, 5 * SECTION_KMERS)
    whole = write(tmp_path / "set", kmers)
    for memory in (1 << 20, 32 << 20):
        with Engine(device, max_memory=memory) as engine:
            assert write(tmp_path / "set", kmers, engine=engine) == whole


def test_every_cut_of_a_small_set(tmp_path: Path) -> None:
    kmers = random_set(33, 7)
    whole = write(tmp_path / "set", kmers)
    for cuts in range(1 << 6):
        assert write(tmp_path / "set", kmers, [place + 1 for place in range(6) if cuts >> place & 1]) == whole


def test_an_empty_set(tmp_path: Path) -> None:
    empty = CountedKmers(40, False, np.empty((2, 0), np.uint64), np.empty(0, np.uint32))
    assert len(write(tmp_path / "set", empty)) == HEAD_BYTES + FOOT_BYTES
    with KmerDatabase.open(tmp_path / "set") as database:
        check_equal(database.keys_counts(), empty)
        assert database.lookup(keys_of(["ACGT" * 10])).tolist() == [0]
        assert database.block_of(keys_of(["ACGT" * 10])[:, 0]) is None


def test_options_and_extremes(tmp_path: Path) -> None:
    options = CountOptions(32, canonical=False, min_count=2, max_count=(1 << 64) - 1, counter_max=255)
    keys = np.array([[0, (1 << 64) - 1]], np.uint64)
    write(tmp_path / "set", CountedKmers(32, False, keys, np.array([1, (1 << 32) - 1], np.uint32)), options=options)
    with KmerDatabase.open(tmp_path / "set") as database:
        assert database.options == options
        assert database.total == 1 << 32
        assert database.lookup(keys[:, ::-1]).tolist() == [(1 << 32) - 1, 1]
    with pytest.raises(UsageError, match="below 2\\^64"):
        DatabaseWriter(tmp_path / "set", CountOptions(5, max_count=1 << 64))


def test_the_example_of_the_format(tmp_path: Path) -> None:
    text = FORMAT.read_text()
    example = re.search(r"<!-- example -->\n```\n(.*?)```", text, re.DOTALL)
    assert example is not None
    lines = [re.split("  +", line.strip())[1] for line in example[1].splitlines()]
    kmers = keys_of(["ACAGA", "ACATG", "ATTAC", "GATTA"])
    found = write(tmp_path / "set", CountedKmers(5, True, kmers, np.array([1, 2, 3, 300], np.uint32)))
    expected = bytes.fromhex("".join(lines))
    version = slice(48, 64)  # the checksum after it depends on it
    assert found[:48] + found[72:] == expected[:48] + expected[72:]
    assert len(expected[version]) == 16


def read_all(path: Path) -> None:
    with KmerDatabase.open(path) as database:
        database.keys_counts()


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, bytes]:
    path = tmp_path / "small"
    return path, write(path, random_set(33, 12))


def test_every_cut_off_end_is_noticed(small: tuple[Path, bytes]) -> None:
    path, whole = small
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=rf"^{path}, byte \d+: .*(cut off|no k-mer database)") as caught:
            read_all(path)
        assert "\n" not in str(caught.value)


def test_every_damaged_byte_is_noticed(small: tuple[Path, bytes]) -> None:
    path, whole = small
    for place in range(len(whole)):
        for flip in (1, 0x80, 0xFF):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
            with pytest.raises(InputError, match=rf"^{path}, byte \d+: ") as caught:
                read_all(path)
            assert "\n" not in str(caught.value)


def test_bytes_at_the_end_are_noticed(small: tuple[Path, bytes]) -> None:
    path, whole = small
    for extra in (b"\0", whole[-FOOT_BYTES:], whole):
        path.write_bytes(whole + extra)
        with pytest.raises(InputError, match=r"damaged|cut off|contradicts"):
            read_all(path)


def test_the_damaged_section_is_named(tmp_path: Path) -> None:
    kmers = random_set(31, 3 * SECTION_KMERS)
    whole = bytearray(write(tmp_path / "set", kmers))
    with KmerDatabase.open(tmp_path / "set") as database:
        before = database.section(0)
        offset = len(whole) // 2
        whole[offset] ^= 1
        (tmp_path / "set").write_bytes(whole)
        blocks = database.blocks()
        np.testing.assert_array_equal(next(blocks).keys, before.keys)
        with pytest.raises(InputError, match=r"set, byte \d+: section 2 of 3 is damaged"):
            next(blocks)


@pytest.mark.parametrize(("place", "number"), [(8, COMPRESSED_VERSION + 1), (20, SECTION_KMERS + 240)])
def test_other_versions(small: tuple[Path, bytes], place: int, number: int) -> None:
    path, whole = small
    head = bytearray(whole[: HEAD_BYTES - 8])
    head[place : place + 4] = number.to_bytes(4, "little")
    path.write_bytes(head + checksum(bytes(head)).to_bytes(8, "little") + whole[HEAD_BYTES:])
    with pytest.raises(InputError, match=r"has version \d+ of the format, not 1 or 2 as this program"):
        KmerDatabase.open(path)


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        KmerDatabase.open(tmp_path / "missing")
    with pytest.raises(InputError, match="is no file"):
        KmerDatabase.open(tmp_path)
    (tmp_path / "text").write_bytes(b">a\nACGT\n" * 100)
    with pytest.raises(InputError, match="text, byte 0: is FASTA, and no k-mer database"):
        KmerDatabase.open(tmp_path / "text")


@pytest.mark.parametrize(
    ("keys", "counts", "message"),
    [
        ([[5, 5]], [1, 1], "ascending"),
        ([[6, 5]], [1, 1], "ascending"),
        ([[3]], [1], "ascending"),
        ([[1 << 10]], [1], "more than 5 bases"),
        ([[9]], [0], "count is 0"),
        ([[9], [9]], [1], "do not suit"),
        ([[9, 10]], [1], "do not suit"),
    ],
)
def test_blocks_that_are_wrong(tmp_path: Path, keys: list[list[int]], counts: list[int], message: str) -> None:
    with DatabaseWriter(tmp_path / "set", CountOptions(5)) as writer:
        writer.append(KmerBlock(np.array([[3]], np.uint64), np.array([1], np.uint32)))
        with pytest.raises(ValueError, match=message):
            writer.append(KmerBlock(np.array(keys, np.uint64), np.array(counts, np.uint32)))


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, RuntimeError])
def test_nothing_is_left_of_what_fails(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "set").write_text("what was there")
    kmers = random_set(31, 5 * SECTION_KMERS)

    def fail() -> None:
        with DatabaseWriter(tmp_path / "set", CountOptions(31)) as writer:
            writer.append(KmerBlock(kmers.keys, kmers.counts))
            raise error

    with pytest.raises(error):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    assert (tmp_path / "set").read_text() == "what was there"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "no" / "set", "cannot be written"),
        (tmp_path, "is a folder"),
        ("/dev/full", "cannot be written .No space left"),
    ):
        with pytest.raises(OutputError, match=message), DatabaseWriter(path, CountOptions(5)):
            pass


WRITING = """
import os, resource, signal, sys
import numpy as np
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.database.kmer_set import KmerBlock

with DatabaseWriter(sys.argv[1], CountOptions(20), threads=1) as writer:
    if sys.argv[2] == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
    keys = np.arange(2_000_000, dtype=np.uint64)[None] << np.uint64(10)
    writer.append(KmerBlock(keys, np.ones(2_000_000, np.uint32)))
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("limit", [1000, 4_000_000])
def test_a_full_disk(tmp_path: Path, limit: int) -> None:
    command = [sys.executable, "-c", WRITING, tmp_path / "set", "full", str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"OutputError: {tmp_path}/set: cannot be written (File too large)" in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_WRONLY))
    except (AttributeError, OSError):
        pytest.skip("no files without a name here")
    done = subprocess.run([sys.executable, "-c", WRITING, tmp_path / "set", "kill"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


def test_sortable_order_is_that_of_numbers() -> None:
    keys = np.array([[1 << 63, 1, 0, 1 << 7], [0, 0, 1, 1 << 63]], np.uint64)
    assert np.argsort(sortable(keys)).tolist() == [1, 0, 2, 3]
