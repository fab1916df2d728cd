"""Line tables against NumPy: distinct k-mers of bins, their counts, and bins that are crowded or too large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.filled_bins import filled_bins, key_table, pairs_of
from hypothesis import given, settings, strategies as st

from oclgenomics.kmers.device.line_tables import LineTables, slots_for
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.plan.bins import PrefixSpan, chunk_keys, stage_keys
from oclgenomics.runtime import DeviceArray, Engine

ALL = {"least": 1, "most": MAX_COUNTER, "cap": MAX_COUNTER}
ONE_WORD, HOLE_OF_8, TWO_WORDS = 50, 56, 98  # bits of keys
Bin = Sequence[int]


def expected(
    bins: Sequence[Bin], rest: int, *, least: int, most: int, cap: int, first: int = 0
) -> list[tuple[int, int]]:
    """What tables have to find: whole k-mers, ascending, and counts."""
    found = []
    for number, keys in enumerate(bins, first):
        distinct, counts = np.unique(np.array(keys, np.uint64 if rest <= 64 else object), return_counts=True)
        kept = (counts >= least) & (counts <= most)
        found += zip(
            (number << rest) + distinct[kept].astype(object), np.minimum(counts[kept], cap).tolist(), strict=True
        )
    return [(int(kmer), int(count)) for kmer, count in found]


def check(engine: Engine, bins: Sequence[Bin], rest: int, *, lines: int = 512, walkers: int = 2, **limits: int) -> None:
    """Count bins whole, and compare."""
    wanted = {**ALL, **limits}
    filled = filled_bins(engine, [key_table(keys, rest) for keys in bins], rest, walkers=walkers)
    lined = LineTables(engine, rest, lines).count(filled, 0, len(bins), **wanted)
    assert not lined.overfull.size
    assert pairs_of(engine, lined.slots) == expected(bins, rest, **wanted)


def numbers(rng: np.random.Generator, rest: int, count: int) -> list[int]:
    """Keys of `rest` bits."""
    return [int.from_bytes(rng.bytes(64), "little") >> (512 - rest) for _ in range(count)]


def repeated(rng: np.random.Generator, rest: int, distinct: int, count: int) -> list[int]:
    """Keys of which about so many differ, with the first and the last one there is."""
    some = np.array([*numbers(rng, rest, distinct), 0, (1 << rest) - 1], object)
    return list(some[rng.integers(0, len(some), count)])


# Every way in which keys and slots lie: some words, with and without one for the count alone, holes of 8 to 32 bits.
@pytest.mark.parametrize("rest", [1, 4, 30, 32, 33, 50, 56, 57, 64, 88, 98, 120, 121, 184, 511])
def test_bins_of_all_sizes(engine: Engine, rest: int) -> None:
    rng = np.random.default_rng(rest)
    each, chunk = stage_keys(rest), chunk_keys(rest)
    sizes = (0, 1, each - 1, each, chunk, chunk + 1, 3000)
    check(engine, [repeated(rng, rest, 1 + size // 3, size) for size in sizes], rest, walkers=3)


@pytest.mark.parametrize("rest", [30, HOLE_OF_8, TWO_WORDS])
@settings(max_examples=15)
@given(data=st.data())
def test_any_bins(engine: Engine, rest: int, data: st.DataObject) -> None:
    near = st.builds(
        lambda stages, keys: max(0, stages * stage_keys(rest) + keys), st.integers(0, 140), st.integers(-1, 1)
    )
    sizes = data.draw(st.lists(near, max_size=5))
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    bins = [repeated(rng, rest, data.draw(st.integers(1, 1 + size)), size) for size in sizes]
    limits = {
        "least": data.draw(st.integers(1, 3)),
        "most": data.draw(st.integers(2, 300)),
        "cap": data.draw(st.integers(1, 300)),
    }
    check(engine, bins, rest, walkers=data.draw(st.integers(1, 4)), **limits)


@pytest.mark.parametrize("rest", [HOLE_OF_8, 120])
@pytest.mark.parametrize(
    "limits", [{}, {"least": 255}, {"most": 254}, {"cap": 254}, {"cap": 255}, {"least": 300, "cap": 7}]
)
def test_counts_that_outgrow_a_hole_of_8_bits(engine: Engine, rest: int, limits: dict[str, int]) -> None:
    rng = np.random.default_rng(1)
    times = [253, 254, 255, 256, 507, 508, 509, 510, 762, 763, 764, 65535, 1, 2]
    bins = []
    for _ in range(2):
        keys = [*numbers(rng, rest, len(times) - 2), 0, (1 << rest) - 1]
        rng.shuffle(times)
        bins.append(list(rng.permutation(np.repeat(np.array(keys, object), times))))
    check(engine, bins, rest, **limits)


def test_a_large_hole_takes_large_counts(engine: Engine) -> None:
    check(engine, [[5] * 20000 + [6] * 16383 + [7] * 16382], ONE_WORD)


@pytest.mark.parametrize("rest", [TWO_WORDS, 200])
def test_keys_that_begin_alike_by_twos_and_threes(engine: Engine, rest: int) -> None:
    """Too few to crowd, and in one line: their first words do not tell them apart."""
    rng = np.random.default_rng(6)
    heads = [number >> 60 << 60 for number in numbers(rng, rest, 800)]
    keys = [head | tail for head in heads for tail in numbers(rng, 60, 1 + head % 7 % 3 + int(rng.integers(3)))]
    check(engine, [list(rng.permutation(np.array(keys, object)))], rest)


@pytest.mark.parametrize("rest", [ONE_WORD, HOLE_OF_8, TWO_WORDS, 200])
def test_crowded_bins(engine: Engine, rest: int) -> None:
    """Keys that begin alike, in their first 32 bits or all but the last 12, and others in between."""
    rng = np.random.default_rng(2)
    alike = numbers(rng, rest, 1)[0] >> 12 << 12
    tails = [alike | int(tail) for tail in rng.integers(0, 1 << 12, 6000)]
    heads = [alike | number for number in numbers(rng, rest - 32, 3000)]
    check(
        engine,
        [tails, [*heads, *numbers(rng, rest, 500), *tails[:10] * 300], numbers(rng, rest, 4000)],
        rest,
        lines=1024,
    )


@pytest.mark.parametrize("rest", [30, ONE_WORD, TWO_WORDS])
def test_as_many_keys_as_a_table_takes(engine: Engine, rest: int) -> None:
    """Nearly all slots are in use, and keys go over many lines."""
    rng = np.random.default_rng(3)
    check(engine, [numbers(rng, rest, 64 * 8 * 9 // 10), numbers(rng, rest, 3)], rest, lines=64)


def test_bins_that_no_table_takes_are_reported(engine: Engine) -> None:
    rest, rng = ONE_WORD, np.random.default_rng(4)
    bins = [numbers(rng, rest, size) for size in (20, 5000, 30, 0, 400, 10)]
    bins[4] = [5] * 400
    filled = filled_bins(engine, [key_table(keys, rest) for keys in bins], rest)
    tables = LineTables(engine, rest, 32)
    lined = tables.count(filled, 0, 6, **ALL)
    assert lined.overfull.tolist() == [1]
    assert lined.slots.sizes[1] == 0
    bins[1] = []
    assert pairs_of(engine, lined.slots) == expected(bins, rest, **ALL)
    again = tables.count(filled, 1, 2, **ALL)
    assert (again.overfull.tolist(), again.slots.size) == ([1], 0)


@pytest.mark.parametrize(("first", "end"), [(0, 0), (0, 1), (1, 4), (3, 7), (2, 7)])
def test_parts_of_the_bins(engine: Engine, first: int, end: int) -> None:
    rest, rng = TWO_WORDS, np.random.default_rng(5)
    bins = [repeated(rng, rest, 40, size) for size in (300, 0, 17, 1000, 1, 64, 200)]
    span = PrefixSpan(5 << 20, 20, len(bins))
    filled = filled_bins(engine, [key_table(keys, rest) for keys in bins], rest, span=span)
    lined = LineTables(engine, rest, 64).count(filled, first, end, **ALL)
    assert pairs_of(engine, lined.slots) == expected(bins[first:end], rest, first=5 + first, **ALL)


@pytest.mark.parametrize("items", [1, 2])
@pytest.mark.parametrize("rest", [30, HOLE_OF_8, TWO_WORDS])
def test_bins_that_find_no_room(engine: Engine, rest: int, items: int) -> None:
    """Counting ends before them and goes on there, with nothing left of them in the tables; some counts are large."""
    rng = np.random.default_rng(10)
    bins = [[*numbers(rng, rest, size), *[9] * 600] for size in (200, 150, 0, 500, 90, 520, 30, 30, 500)]
    filled = filled_bins(engine, [key_table(keys, rest) for keys in bins], rest)
    tables = LineTables(engine, rest, 256, items=items)
    words = engine.empty((tables.layout.words, int(slots_for(filled.sizes, 256).max())), np.uint64)
    first, found, parts = 0, [], 0
    while first < len(bins):
        lined = tables.count(filled, first, len(bins), words=words, **ALL)
        if lined.end == first:  # the others were sooner
            lined = tables.count(filled, first, first + 1, words=words, **ALL)
        assert len(lined.slots.sizes) == lined.end - first > 0
        found += pairs_of(engine, lined.slots)
        assert (lined.taken > words.shape[1]) == (lined.end < len(bins)) or lined.end == first + 1
        first, parts = lined.end, parts + 1
    assert found == expected(bins, rest, **ALL)
    assert parts > 1


@pytest.mark.parametrize("rest", [30, HOLE_OF_8, TWO_WORDS])
def test_memory_may_hold_anything(engine: Engine, monkeypatch: pytest.MonkeyPatch, rest: int) -> None:
    empty, rng = Engine.empty, np.random.default_rng(11)

    def spoilt(self: Engine, shape: Any, dtype: Any) -> DeviceArray:
        array = empty(self, shape, dtype)
        self.fill(array, np.frombuffer(b"\xa5" * array.dtype.itemsize, array.dtype)[0])
        return array

    monkeypatch.setattr(Engine, "empty", spoilt)
    bins = [[*numbers(rng, rest, size), *[9] * 600] for size in (20, 500, 3, 1000)]
    filled = filled_bins(engine, [key_table(keys, rest) for keys in bins], rest)
    tables = LineTables(engine, rest, 256)
    for first, end in ((0, 1), (0, 4), (2, 4)):  # larger tables than before, and smaller ones
        slots = tables.count(filled, first, end, **ALL).slots
        assert pairs_of(engine, slots) == expected(bins[first:end], rest, first=first, **ALL)


def alternating(rng: np.random.Generator, rest: int, count: int) -> list[int]:
    """Keys without equal bases that follow each other, the first and the last one there is among them."""
    bases = -(-rest // 2)
    steps = rng.integers(1, 4, (count, bases))
    steps[0] = [1 if place % 2 else 3 for place in range(bases)]  # 3 0 1 0 1 ..., of which some bits may be cut off
    keys = []
    for row in np.cumsum(steps, axis=1) % 4:
        keys.append(int("".join(map(str, row)), 4))
    keys += [int(("01" * bases)[:bases], 4), int(("32" * bases)[:bases], 4)]
    return [key & ((1 << rest) - 1) for key in keys]


@pytest.mark.parametrize("rest", [1, 2, 3, 15, 16, 17, 30, 31, 33, 50, 51, HOLE_OF_8, 57, TWO_WORDS, 99, 184])
def test_keys_of_compressed_sequences(engine: Engine, rest: int) -> None:
    """Lines are shared out in another way, and keys come in order nevertheless."""
    rng = np.random.default_rng(rest)
    bins = []
    for size in (1, 60, 3000):
        some = np.array(alternating(rng, rest, 1 + size // 3), object)
        bins.append(list(some[rng.integers(0, len(some), size)]))
    filled = filled_bins(engine, [key_table(keys, rest) for keys in bins], rest)
    lined = LineTables(engine, rest, 512, compressed=True).count(filled, 0, len(bins), **ALL)
    assert not lined.overfull.size
    assert pairs_of(engine, lined.slots) == expected(bins, rest, **ALL)


def test_no_kmers_at_all(engine: Engine) -> None:
    filled = filled_bins(engine, [key_table([], 30)] * 3, 30)
    assert pairs_of(engine, LineTables(engine, 30, 8).count(filled, 0, 3, **ALL).slots) == []


def test_parts_that_follow_each_other(engine: Engine) -> None:
    """The tables are empty again when the next bins come, whose slots go to another array or to the same one."""
    rest, rng = HOLE_OF_8, np.random.default_rng(6)
    bins = [[*repeated(rng, rest, 50, 500), *[b] * 700] for b in range(8)]
    filled = filled_bins(engine, [key_table(keys, rest) for keys in bins], rest)
    tables = LineTables(engine, rest, 256)
    ring = [engine.empty((1, int(slots_for(np.full(2, 1500), 256).sum())), np.uint64) for _ in range(2)]
    found: list[tuple[int, int]] = []
    for turn in range(4):
        lined = tables.count(filled, 2 * turn, 2 * turn + 2, words=ring[turn % 2], **ALL)
        found += pairs_of(engine, lined.slots)
    assert found == expected(bins, rest, **ALL)


def test_what_does_not_fit_is_refused(engine: Engine) -> None:
    filled = filled_bins(engine, [key_table([1, 2, 3], 50)], 50)
    with pytest.raises(ValueError, match="keys of 50 bits for tables of keys of 51 bits"):
        LineTables(engine, 51, 8).count(filled, 0, 1, **ALL)
    with pytest.raises(ValueError, match="no room for 19 slots of 1 words"):
        LineTables(engine, 50, 8).count(filled, 0, 1, words=engine.empty((1, 18), np.uint64), **ALL)
    with pytest.raises(ValueError, match="have to be at least 1"):
        LineTables(engine, 50, 0)


def test_tables_are_empty_after_crowded_bins(engine: Engine) -> None:
    """One work-item counts a few keys, spread over the table, after bins that it had to sort."""
    rest, rng = ONE_WORD, np.random.default_rng(7)
    bins = [[*range(2000)], numbers(rng, rest, 50), [*range(700, 3000)], numbers(rng, rest, 900), []]
    filled = filled_bins(engine, [key_table(keys, rest) for keys in bins], rest)
    lined = LineTables(engine, rest, 1024, items=1).count(filled, 0, len(bins), **{**ALL, "cap": 1})
    assert pairs_of(engine, lined.slots) == expected(bins, rest, **{**ALL, "cap": 1})


def test_tables_are_empty_after_a_bin_that_none_took(engine: Engine) -> None:
    """The overfull bin is counted in the order of keys, then by a hash; nothing of it may be among the next bin's."""
    rest, rng = ONE_WORD, np.random.default_rng(8)
    bins = [[*numbers(rng, rest, 3000), *[7] * 20000], numbers(rng, rest, 300), [7] * 20000]
    filled = filled_bins(engine, [key_table(keys, rest) for keys in bins], rest)
    lined = LineTables(engine, rest, 64, items=1).count(filled, 0, len(bins), **ALL)
    assert lined.overfull.tolist() == [0]
    assert pairs_of(engine, lined.slots) == expected([[], *bins[1:]], rest, **ALL)


@pytest.mark.parametrize("rest", [30, HOLE_OF_8, TWO_WORDS, 200])
def test_keys_that_come_many_times_on_end(engine: Engine, rest: int) -> None:
    """Runs of a key, with others in between, some of which differ in one word only."""
    rng = np.random.default_rng(9)
    key, *others = numbers(rng, rest, 20)
    others += [key ^ 1, key ^ 1 << rest - 1, key ^ 1 << rest // 2]
    mixed = [key if rng.random() < 0.9 else others[rng.integers(len(others))] for _ in range(6000)]
    check(engine, [mixed, [key] * 2000, [0] * 700, [(1 << rest) - 1] * 700 + [key] * 700], rest)
