"""Inputs larger than memory: temporary runs, their merge, and databases that are the same for every limit of memory."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import random_text
from helpers.products import examples, on_one_cpu, only_whole
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import OutputError
from oclgenomics.io import atomic_file
from oclgenomics.io.processes import process_limit
from oclgenomics.kmers import reference
from oclgenomics.kmers.api import count, count_to_database
from oclgenomics.kmers.database.keys import key_words, letters_of
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.device import counting, reader
from oclgenomics.kmers.device.counting import KmerCounter, Spill, counted_files, kept_blocks
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.kmers.plan import memory as plan
from oclgenomics.kmers.result import CountSummary
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Symbols


def fasta(letters: int, seed: int, alphabet: bytes = b"ACGT", record: int = 5000) -> bytes:
    return random_text(np.random.default_rng(seed), letters, alphabet, record)


def pairs_of(blocks: Iterator[KmerBlock]) -> list[tuple[tuple[int, ...], int]]:
    return [
        (tuple(key), times)
        for block in blocks
        for key, times in zip(block.keys[::-1].T.tolist(), block.counts.tolist(), strict=True)
    ]


def open_files(folder: Path) -> int:
    """Files in a folder that this process has open, with or without a name."""
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return sum(os.path.lexists(link) and os.readlink(link).startswith(str(folder)) for link in links)


def filling(*blocks: KmerBlock) -> Callable[[DatabaseWriter], None]:
    return lambda writer: writer.append_blocks(blocks)


class InParts:
    """Makes the counting of files give up its counter after so many k-mers, and read small blocks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def set(self, most: int, *, block: int = 256, at_a_time: int = 64) -> None:
        def has_room(counter: KmerCounter, _: Symbols) -> bool:
            return counter.kmers < most

        self._patch.setattr(KmerCounter, "has_room", has_room)
        self._patch.setattr(counting, "largest_block", lambda _: block)
        self._patch.setattr(plan, "runs_at_a_time", lambda *_: at_a_time)


@pytest.mark.parametrize(
    ("k", "parts", "at_a_time"),
    [(9, 2, 64), (31, 70, 64), (64, 24, 2), *on_one_cpu((31, 3, 2), (33, 10, 3)), *only_whole((33, 2, 2), (64, 3, 64))],
)
def test_any_number_of_runs_gives_the_same_bytes(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, k: int, parts: int, at_a_time: int
) -> None:
    text = fasta(9000, 1) + fasta(9000, 1, record=700)  # the same k-mers in several parts
    (tmp_path / "x.fa").write_bytes(text)
    options = CountOptions(k, min_count=2, max_count=9, counter_max=3)
    whole = count_to_database([tmp_path / "x.fa"], options, tmp_path / "whole.db", engine=engine)
    assert (whole.temporary_runs, whole.temporary_bytes) == (0, 0)
    InParts(monkeypatch).set(whole.kmers // parts - 256, at_a_time=at_a_time)
    spills: list[tuple[int, int]] = []
    summary = count_to_database(
        [tmp_path / "x.fa"], options, tmp_path / "parts.db", engine=engine, on_spill=lambda *about: spills.append(about)
    )
    assert summary.temporary_runs >= parts
    assert spills == sorted(spills)
    assert spills[-1][0] == summary.temporary_runs
    assert summary == CountSummary(
        whole.kmers, whole.distinct, whole.total, summary.temporary_runs, summary.temporary_bytes, whole.census
    )
    assert (tmp_path / "parts.db").read_bytes() == (tmp_path / "whole.db").read_bytes()


@settings(max_examples=examples(30))
@given(
    k=st.sampled_from([1, 4, 21, 32, 33, 64, 65, 256]),
    letters=st.integers(0, 2500),
    alphabet=st.sampled_from([b"ACGT", b"ACGTNacgt", b"A", b"AT"]),
    canonical=st.booleans(),
    min_count=st.sampled_from([1, 2]),
    max_count=st.sampled_from([3, MAX_COUNTER]),
    counter_max=st.sampled_from([2, MAX_COUNTER]),
    most=st.sampled_from([1, 300, 1000]),
    block=st.sampled_from([1 << 16, 200]),
    at_a_time=st.sampled_from([2, 3, 64]),
    seed=st.integers(0, 1 << 32),
)
def test_any_count_in_parts(
    engine: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    k: int,
    letters: int,
    alphabet: bytes,
    canonical: bool,
    min_count: int,
    max_count: int,
    counter_max: int,
    most: int,
    block: int,
    at_a_time: int,
    seed: int,
) -> None:
    path = tmp_path_factory.mktemp("any") / "x.fa"
    path.write_bytes(b">\n" + fasta(letters, seed, alphabet, 400))
    options = CountOptions(k, canonical, min_count, max_count, counter_max)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "MIN_BLOCK", block)
        InParts(patch).set(most, block=block, at_a_time=at_a_time)
        counted = count([path], options, engine=engine)
    kmers = [row.tobytes().decode() for row in letters_of(counted.keys, k)]
    found = dict(zip(kmers, counted.counts.tolist(), strict=True))
    assert list(found.items()) == list(reference.count([path.read_bytes()], options).items())


@pytest.mark.parametrize(
    ("k", "limit", "letters"),
    [(5, 1 << 20, 500_000), *on_one_cpu((31, 1 << 20, 250_000)), (50, 3 << 19, 250_000)],
)
def test_every_limit_of_memory_gives_the_same_bytes(
    engine: Engine, tmp_path: Path, k: int, limit: int, letters: int
) -> None:
    (tmp_path / "x.fa").write_bytes(fasta(letters, k) + fasta(100_000, k))
    written = []
    for most in (limit, 1 << 30):
        with Engine(engine.device, max_memory=most) as small:
            summary = count_to_database(
                [tmp_path / "x.fa"], CountOptions(k), tmp_path / f"{most}.db", engine=small, tmp_dir=tmp_path
            )
            assert small.memory.peak <= most
        written.append((tmp_path / f"{most}.db").read_bytes())
        assert (summary.temporary_runs > 1) == (most == limit)
    assert written[0] == written[1]


@pytest.mark.each_value
@pytest.mark.parametrize("k", [65, *on_one_cpu(128), *only_whole(256)])
@pytest.mark.parametrize("max_count", [*on_one_cpu(MAX_COUNTER), 100])
def test_memory_full_of_kmers_that_all_differ(engine: Engine, tmp_path: Path, k: int, max_count: int) -> None:
    """There is room to encode as many k-mers as fit."""
    limit = 60 << 20
    (tmp_path / "x.fa").write_bytes(fasta(2_000_000, k, record=1 << 20))
    options = CountOptions(k, max_count=max_count)
    with Engine(engine.device, max_memory=limit) as small:
        summary = count_to_database([tmp_path / "x.fa"], options, tmp_path / "x.db", engine=small, tmp_dir=tmp_path)
        assert small.memory.peak <= limit
    assert summary.distinct == summary.kmers == 2_000_000 - 2 * (k - 1)


@pytest.mark.parametrize("k", [12, 40])
def test_kmers_that_all_begin_alike(engine: Engine, tmp_path: Path, k: int) -> None:
    """They are of one prefix, and no range is less than that."""
    (tmp_path / "x.fa").write_bytes(b">\n" + b"A" * 3_000_000 + b"\n")
    with Engine(engine.device, max_memory=4 << 20) as small:
        counted = count([tmp_path / "x.fa"], CountOptions(k), engine=small)
        assert small.memory.peak <= 4 << 20
    assert counted.counts.tolist() == [3_000_000 - k + 1]
    assert not counted.keys.any()


def block_of(k: int, counts: dict[int, int]) -> KmerBlock:
    keys = np.zeros((key_words(k), len(counts)), np.uint64)
    keys[-1] = np.array(sorted(counts), np.uint64) // np.uint64(3)  # some differ in the last word only
    keys[0] = sorted(counts)
    return KmerBlock(keys, np.array([counts[key] for key in sorted(counts)], np.uint32))


def test_counts_stop_at_the_largest(engine: Engine, tmp_path: Path) -> None:
    options = CountOptions(20, min_count=3, counter_max=1 << 31)
    with Spill(engine, options, tmp_path) as runs:
        for counts in ({1: MAX_COUNTER, 2: 2, 7: 1}, {1: MAX_COUNTER, 2: 1 << 31}, {2: 1 << 31, 7: 1}):
            runs.add(filling(block_of(20, counts)))
        merged = list(runs.merged())
        assert [times for block in merged for times in block.counts.tolist()] == [MAX_COUNTER, MAX_COUNTER, 2]
        kept = [times for block in kept_blocks(options, merged) for times in block.counts.tolist()]
    assert kept == [1 << 31, 1 << 31]


@pytest.mark.each_value
@pytest.mark.parametrize("k", [20, 60])
@pytest.mark.parametrize("at_a_time", [2, *on_one_cpu(3, 5), 64])
def test_levels(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, k: int, at_a_time: int) -> None:
    monkeypatch.setattr(plan, "runs_at_a_time", lambda *_: at_a_time)
    rng = np.random.default_rng(k)
    every: dict[int, int] = {}
    added = 67 if at_a_time == 64 else at_a_time**2 + 2 * at_a_time + 3
    with Spill(engine, CountOptions(k), tmp_path) as runs:
        for number in range(1, added + 1):
            counts = {int(key): int(rng.integers(1, 9)) for key in rng.integers(0, 500, number % 4 * 20)}
            every = {key: every.get(key, 0) + counts.get(key, 0) for key in {*every, *counts}}
            runs.add(filling(block_of(k, counts)))
            assert 0 < open_files(tmp_path) <= (at_a_time - 1) * (np.log(number) / np.log(at_a_time) + 1) + 1e-9
        assert runs.added == added
        merged = pairs_of(runs.merged())
    assert merged == pairs_of(iter([block_of(k, every)]))
    assert not open_files(tmp_path)
    assert not list(tmp_path.iterdir())


def test_few_files_may_be_open(engine: Engine, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(64, 2 * len(os.listdir("/proc/self/fd"))), hard))
    try:
        with Spill(engine, CountOptions(20), tmp_path) as runs:
            for number in range(130):
                runs.add(filling(block_of(20, {number: 1, 500: 2})))
            assert pairs_of(runs.merged())[-1] == ((500,), 260)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(("limit", "files"), [(resource.RLIM_INFINITY, None), (1024, 1024)])
def test_files_that_may_be_open(monkeypatch: pytest.MonkeyPatch, limit: int, files: int | None) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert process_limit("RLIMIT_NOFILE") == files


def test_no_runs(engine: Engine) -> None:
    with Spill(engine, CountOptions(5)) as runs:
        assert list(runs.merged()) == []
        runs.add(filling())
        assert (runs.added, list(runs.merged())) == (1, [])


def test_a_run_that_comes_back_damaged(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handles: list[int] = []
    make = atomic_file.unnamed_file

    def remember(folder: str) -> int:
        handles.append(make(folder))
        return handles[-1]

    monkeypatch.setattr(atomic_file, "unnamed_file", remember)
    with Spill(engine, CountOptions(20), tmp_path) as runs:
        runs.add(filling(block_of(20, {1: 1, 5: 3, 700: 2})))
        runs.add(filling(block_of(20, {1: 1, 6: 3, 700: 2})))
        os.pwrite(handles[1], b"\xff", 82)  # in the only section, after the head of 72 bytes
        with pytest.raises(OutputError, match=r"temporary run 2 in .*damaged.*with tmp_dir"):
            list(runs.merged())


def test_a_folder_that_takes_no_file(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(atomic_file, "unnamed_file", refuse)
    with (
        Spill(engine, CountOptions(20), tmp_path) as runs,
        pytest.raises(OutputError, match="no file can be made there"),
    ):
        runs.add(filling())


def test_runs_are_databases(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[KmerDatabase] = []

    class Seen(KmerDatabase):
        def __init__(self, *args: object) -> None:
            super().__init__(*args)  # type: ignore[arg-type]
            opened.append(self)

    monkeypatch.setattr(reader, "KmerDatabase", Seen)
    (tmp_path / "x.fa").write_bytes(fasta(3000, 5))
    InParts(monkeypatch).set(1000)
    monkeypatch.setattr(plan, "MIN_BLOCK", 256)
    options = CountOptions(15, min_count=2, counter_max=3)
    with counted_files(tmp_path / "x.fa", options, engine=engine, run=None, tmp_dir=tmp_path):
        assert sum(database.total for database in opened) == 3000 - 14
        assert {database.options for database in opened} == {CountOptions(15)}
