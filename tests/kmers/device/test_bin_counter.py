"""Counting by bins where prefixes have more k-mers than the pool holds, or than a table takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.kmer_sets import as_dict, random_text
from helpers.products import on_one_cpu
from hypothesis import given, strategies as st

from oclgenomics.errors import AllocationError, DeviceError
from oclgenomics.kmers import reference
from oclgenomics.kmers.device import bin_counter
from oclgenomics.kmers.device.bin_counter import BinCounter, EqualPrefixes, distinct_of, reach, share_taken
from oclgenomics.kmers.device.bin_fill import ALL, BinFiller, FilledBins
from oclgenomics.kmers.device.line_tables import Lined, LineTables
from oclgenomics.kmers.device.parts import EVERY, Kept, gather
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import bins as bin_plan
from oclgenomics.kmers.plan.bins import PrefixSpan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence import packed_blocks

SMALL = 1 << 16  # bytes that are free: the pool has the least size there is


def alike(letters: int, others: int) -> bytes:
    """Many k-mers that begin with 16 A, some of them equal."""
    rng = np.random.default_rng(letters)
    ends = [b">r\n" + b"A" * 16 + random_text(rng, 60, b"ACGT", 60).replace(b"\n", b"")[-54:] for _ in range(others)]
    return b">one\n" + b"A" * letters + b"\n" + b"\n".join(ends) + b"\n" + random_text(rng, 3000, b"ACGT", 700)


def letters(rng: np.random.Generator, size: int) -> bytes:
    """Random ones."""
    return rng.choice(np.frombuffer(b"ACGT", np.uint8), size).tobytes()


@pytest.fixture(autouse=True)
def two_walkers(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many compute units a device has: each walker needs some of the pool."""
    monkeypatch.setattr(bin_plan.BinPlan, "walkers", 2)


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> list[PrefixSpan]:
    """The spans that could not be divided."""
    spans: list[PrefixSpan] = []
    parts = EqualPrefixes.parts

    def noted(self: EqualPrefixes, span: PrefixSpan, kept: Kept, pieces: int) -> Iterator[object]:
        spans.append(span)
        return parts(self, span, kept, pieces)

    monkeypatch.setattr(EqualPrefixes, "parts", noted)
    return spans


def check(
    engine: Engine, path: Path, options: CountOptions, block_bytes: int, kept: Kept = EVERY, free: int = SMALL
) -> None:
    counter = BinCounter(engine, CountOptions(options.k, options.canonical))
    for block in packed_blocks(engine, [path], overlap=options.k - 1, block_bytes=block_bytes):
        counter.add(block.symbols)
    found = gather(engine, options.k, counter.kmers, counter.parts(free, kept))
    expected = reference.count([path.read_bytes()], options)
    assert list(as_dict([found], options.k).items()) == list(expected.items())


@pytest.mark.parametrize("k", [9, *on_one_cpu(17, 21), 40, 65])
def test_more_k_mers_with_a_prefix_than_fit(engine: Engine, tmp_path: Path, divided: list[PrefixSpan], k: int) -> None:
    path = tmp_path / "x.fa"
    path.write_bytes(alike(40_000, 20))
    check(engine, path, CountOptions(k, min_count=2, counter_max=30_000), 900, Kept(2, 1 << 30, 30_000))
    assert [span.bins for span in divided] == [1] * len(divided)
    assert divided


def test_a_sample_tells_what_does_not_fit(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, divided: list[PrefixSpan]
) -> None:
    """The pool is not filled in vain with k-mers that begin alike."""
    path, fill, asked = tmp_path / "x.fa", BinFiller.fill, []

    def noted(self: BinFiller, span: PrefixSpan, pool: DeviceArray, *, streams: slice = ALL) -> FilledBins | None:
        asked.append((span, len(range(self.streams)[streams])))
        return fill(self, span, pool, streams=streams)

    monkeypatch.setattr(BinFiller, "fill", noted)
    path.write_bytes(alike(40_000, 20))
    check(engine, path, CountOptions(40), 900)
    assert divided
    assert max(streams for span, streams in asked if span in divided) < 40_000 // 900


@pytest.mark.each_value
@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("k", [17, 31, 40, 50, 100])
def test_more_distinct_k_mers_with_a_prefix_than_a_table_takes(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, divided: list[PrefixSpan], k: int, canonical: bool
) -> None:
    monkeypatch.setattr(bin_plan, "MAX_LINES", 2)
    monkeypatch.setattr(bin_plan, "MIN_LINES", 2)
    path = tmp_path / "x.fa"
    path.write_bytes(alike(100 + k, 1 if k == 17 else 200))
    check(engine, path, CountOptions(k, canonical), 1 << 20)
    assert bool(divided) == (31 <= k < 70)


def test_too_many_equal_k_mers_in_a_stream(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "x.fa"
    path.write_bytes(b">one\n" + b"A" * 60_000)
    with pytest.raises(AllocationError, match="59,984 k-mers begin with the same bases"):
        check(engine, path, CountOptions(17), 1 << 20)


@pytest.mark.parametrize("k", [17, 40])
def test_k_mers_that_a_sample_misses(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, k: int) -> None:
    """One group of symbols tells the density of all."""
    monkeypatch.setattr(bin_plan, "SAMPLED_GROUPS", 1)
    path = tmp_path / "x.fa"
    path.write_bytes(random_text(np.random.default_rng(k), 10_000, b"ACGT", 700))
    for canonical in (True, False):
        check(engine, path, CountOptions(k, canonical), 1 << 20)


def test_k_mers_that_no_span_has(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bin_counter, "planned_spans", lambda *_: [PrefixSpan(0, 20, 2048)])
    path = tmp_path / "x.fa"
    path.write_bytes(random_text(np.random.default_rng(3), 5000, b"ACGT", 700))
    with pytest.raises(DeviceError, match=r"[0-9,]+ k-mers were counted instead of [0-9,]+"):
        check(engine, path, CountOptions(21, canonical=False), 1 << 20)


@pytest.mark.parametrize("k", [21, 31, 55])
def test_bins_that_take_more_slots_than_expected(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    """All k-mers differ, though few were expected to: parts are cut short, and what they lack is counted after them."""
    rng, ends = np.random.default_rng(k), []
    count = LineTables.count

    def noted(self: LineTables, filled: FilledBins, first: int, end: int, **how: Any) -> Lined:
        lined = count(self, filled, first, end, **how)
        ends.append((end, lined.end))
        return lined

    monkeypatch.setattr(LineTables, "count", noted)
    monkeypatch.setattr(bin_counter, "share_taken", lambda _, slots: 1 / 16 if len(slots) else 1.0)
    path = tmp_path / "x.fa"
    path.write_bytes(b"".join(b">r\n" + letters(rng, 4 * k) + b"\n" for _ in range(126_000 // (3 * k))))
    check(engine, path, CountOptions(k), 1 << 20, free=1 << 22)
    assert any(reached < end for end, reached in ends)


@given(
    sparse=st.lists(st.integers(16, 5000), max_size=20),
    full=st.lists(st.integers(16, 5000), max_size=20),
    room=st.integers(5000, 20000),
    late=st.booleans(),
)
def test_parts_reach_the_last_bin(sparse: list[int], full: list[int], room: int, late: bool) -> None:
    """One part in two takes a bin at least, even if the first bin always comes too late for the room."""
    slots = np.array(sparse + full)
    taken = np.concatenate([slots[: len(sparse)] // 50, slots[len(sparse) :]])
    first, share, parts = 0, 1.0, 0
    while first < len(slots):
        parts += 1
        assert parts <= 2 * len(slots)
        end = reach(slots, first, room / share)
        assert first < end <= len(slots)
        assert share < 1 or end == first + 1 or slots[first:end].sum() <= room
        took = np.cumsum(taken[first:end])
        stop = first if late and took[-1] > room else first + int((took <= room).sum())
        share = share_taken(int(took[-1]), slots[first:stop])
        assert 1 / 16 <= share <= 1
        first = stop


def test_distinct_k_mers_and_their_sums() -> None:
    keys = np.array([[3, 1, 3, 1], [0, 1, 0, 0]], np.uint64)
    found = distinct_of(keys)
    assert found.keys.tolist() == [[1, 3, 1], [0, 0, 1]]
    assert found.counts.tolist() == [1, 2, 1]
    sums = distinct_of(keys, np.array([1 << 31, 1, 1 << 31, 1], np.uint32))
    assert sums.counts.tolist() == [1, (1 << 32) - 1, 1]
    assert distinct_of(keys[:, :0]).keys.shape == (2, 0)
