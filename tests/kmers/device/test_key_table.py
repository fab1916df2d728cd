"""Tables of ascending k-mers: what they hold, however the set's keys lie, and which k-mers of it are chosen."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from helpers.kmer_sets import random_set, set_of, write_database
from helpers.products import drawn
from hypothesis import given, settings, strategies as st

from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.database.kmer_set import CountedKmers
from oclgenomics.kmers.device import key_table
from oclgenomics.kmers.device.key_table import ChosenKmers, CountBounds, KeyTable, key_tables
from oclgenomics.kmers.device.look_up import TextKmers, TextMarks
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.plan.memory import (
    SectionPlan,
    finds_sections,
    mark_prefix_bits,
    most_marked,
    prefix_bits,
    table_room,
)
from oclgenomics.runtime import Device, Engine
from oclgenomics.runtime.memory import DeviceLimits
from oclgenomics.sequence.device_text import Text

FEW_KS = (1, 2, 5, 16, 31, 32, 33, 40, 64, 65, 96, 256)  # of 1, 2, 3 and 8 words
KS = drawn(st.sampled_from(FEW_KS), whole=st.sampled_from([*FEW_KS, 97, 128]))
COUNTS = (1, 2, 3, 1000, MAX_COUNTER - 1, MAX_COUNTER)


def numbers_of(k: int, seed: int, kind: str, size: int) -> list[int]:
    """Keys anywhere, all with one prefix or alike but in the middle, at both ends, or one behind the other."""
    rng, largest = np.random.default_rng(seed), 4**k - 1
    anywhere = [int.from_bytes(rng.bytes(64), "little") & largest for _ in range(size)]
    if kind in ("prefix", "middle"):
        head, shift = anywhere[0] if size else 0, k if kind == "middle" else 0
        return sorted({head ^ (one & (1 << min(k, 9)) - 1) << shift for one in anywhere})
    if kind == "ends":
        return sorted({max(0, min(largest, one)) for n in range(size) for one in (n // 2, largest - n // 2)})
    if kind == "neighbours":
        head = min(anywhere[0], largest - size) if size else 0
        return sorted({min(max(0, head) + n, largest) for n in range(size)})
    return sorted({*anywhere, 0, largest} if size else ())


def set_of_numbers(numbers: list[int], k: int, seed: int) -> CountedKmers:
    counts = np.random.default_rng(seed).choice(COUNTS, len(numbers)).astype(np.uint32)
    return CountedKmers(k, False, keys_of_numbers(numbers, k), counts)


def keys_of_numbers(numbers: list[int], k: int) -> np.ndarray:
    words = -(-k // 32)
    rows = [[one >> 64 * word & (1 << 64) - 1 for one in numbers] for word in range(words)]
    return np.array(rows, np.uint64).reshape(words, len(numbers))


def text_on(engine: Engine, kmers: list[str]) -> tuple[Text, np.ndarray, np.ndarray]:
    """Records of a k-mer each: the text, where they begin, and how many windows they have."""
    text = "\n".join([*kmers, ""]).encode() or b"\n"
    letters = np.arange(len(kmers), dtype=np.int64) * (len(text) // max(len(kmers), 1))
    return Text(engine.upload(np.frombuffer(text, np.uint8)), 0, len(text)), letters, np.ones(len(kmers), np.int64)


@given(
    k=KS,
    kind=st.sampled_from(["anywhere", "prefix", "middle", "ends", "neighbours"]),
    size=st.sampled_from([0, 1, 2, 7, 8, 9, 40, 300]),
    seed=st.integers(0, 1 << 32),
    room=st.sampled_from([1 << 20, 300, 64, 7]),
    begin=st.sampled_from([1, 9, 1 << 20]),
    items=st.sampled_from([1, 3, 256]),
    bounds=st.sampled_from([CountBounds(), CountBounds(2, 1000), CountBounds(MAX_COUNTER, MAX_COUNTER)]),
    marked=st.booleans(),
)
@settings(max_examples=80)
def test_tables_hold_what_is_chosen(
    engine: Engine,
    k: int,
    kind: str,
    size: int,
    seed: int,
    room: int,
    begin: int,
    items: int,
    bounds: CountBounds,
    marked: bool,
) -> None:
    numbers = numbers_of(k, seed, kind, size)
    kmers = set_of_numbers(numbers, k, seed)
    near = {one + step for one in numbers for step in (-1, 0, 1)} | {0, 4**k - 1}
    asked = sorted(one for one in near if 0 <= one < 4**k)[:: 1 + seed % 2]
    counts = {
        one: count
        for one, count in zip(numbers, kmers.counts.tolist(), strict=True)
        if bounds.least <= count <= bounds.most
    }
    text = text_on(engine, texts_of(keys_of_numbers(asked, k), k))
    marks = None
    if marked:
        marking = TextMarks(engine, kmers, mark_prefix_bits(engine.limits(), k, 100 if seed % 3 else 1 << 20, 1 << 20))
        marking.mark(*text)
        marks = marking.marks
        assert marks.kmers == len(asked)
    with (
        mock.patch.object(key_table, "marked_room", return_value=(room, min(room, begin))),
        mock.patch.object(key_table, "CPU_ITEMS", items),
    ):
        look_up = TextKmers(engine, kmers, ChosenKmers(bounds, marks), room, with_counts=True)
        found, valid = look_up.counts_along(*text)
        assert valid.all()
        assert found.tolist() == [counts.get(one, 0) for one in asked]
        tables = list(key_tables(engine, kmers, ChosenKmers(bounds, marks), room))
    held = sum(table.size for table in tables)
    assert [table.last for table in tables] == [False] * (len(tables) - 1) + [True]
    assert all(table.size == room for table in tables[:-1])
    assert len(tables) == max(1, -(-held // room))
    if marked:
        assert len(set(asked) & set(counts)) <= held <= len(counts)
    else:
        assert held == len(counts)


def test_marks_leave_out_nearly_all_else(engine: Engine) -> None:
    rng = np.random.default_rng(1)
    numbers = sorted({int(one) for one in rng.integers(0, 1 << 62, 60_000)})
    kmers = set_of_numbers(numbers, 31, 1)
    marking = TextMarks(engine, kmers, mark_prefix_bits(engine.limits(), 31, kmers.distinct, 1 << 20))
    marking.mark(*text_on(engine, texts_of(kmers.keys[:, ::60], 31)))
    (table,) = key_tables(engine, kmers, ChosenKmers(CountBounds(), marking.marks), 1 << 20)
    assert 1000 <= table.size < 2000


def test_databases_of_no_stretch_and_of_several(engine: Engine, tmp_path: Path) -> None:
    """Arrays of decoded sections are used again, also where the last one is shorter."""
    numbers = sorted({int(one) for one in np.random.default_rng(2).integers(0, 1 << 62, 200_000)})
    for name, kmers in (("full", set_of_numbers(numbers, 31, 1)), ("empty", set_of({}, 31))):
        path = write_database(tmp_path / name, kmers)
        with key_table.KmerDatabase.open(path) as database, mock.patch.object(SectionPlan, "decode", return_value=1):
            (table,) = key_tables(engine, database, ChosenKmers(CountBounds()), 1 << 20, with_counts=True)
            assert table.size == kmers.distinct
            keys, counts = engine.download(table.keys["keys"]), engine.download(table.keys["key_counts"])
        np.testing.assert_array_equal(keys[:, : table.size], kmers.keys)
        np.testing.assert_array_equal(counts[: table.size], kmers.counts)


def test_one_table_where_there_is_room(engine: Engine) -> None:
    kmers = random_set(9, 300, most=5)
    assert len(list(key_tables(engine, kmers, ChosenKmers(CountBounds(2, 3)), 10_000))) == 1
    chosen = int(((kmers.counts >= 2) & (kmers.counts <= 3)).sum())
    assert len(list(key_tables(engine, kmers, ChosenKmers(CountBounds(2, 3)), 100))) == -(-chosen // 100)


@pytest.mark.parametrize("with_counts", [False, True])
@pytest.mark.parametrize("k", [9, 40, 256])
def test_a_table_takes_half_of_the_memory(device: Device, k: int, with_counts: bool) -> None:
    memory_bytes = 8 << 20
    with Engine(device, max_memory=memory_bytes) as engine:
        room = table_room(engine.limits(), k, with_counts=with_counts)
        table = KeyTable(engine, k, room, with_counts=with_counts)
        table.finish(last=True)
        prefixes = 4 * (1 << prefix_bits(room, k))  # of a full one
        assert memory_bytes * 0.4 < engine.memory.used + prefixes <= memory_bytes / 2


@pytest.mark.one_cpu  # plans
def test_plans_of_tables() -> None:
    assert [prefix_bits(size, 31) for size in (0, 1, 7, 8, 1 << 20)] == [1, 1, 1, 2, 19]
    assert prefix_bits(1 << 20, 3) == 6
    assert (most_marked(1 << 20), most_marked(1 << 24)) == (0, 1 << 21)
    large = DeviceLimits(1 << 34, 1 << 34)
    assert [mark_prefix_bits(large, 31, kmers, 1 << 40) for kmers in (0, 1 << 24, 1 << 28, 1 << 40)] == [1, 8, 12, 15]
    assert mark_prefix_bits(DeviceLimits(1 << 24, 1 << 24), 31, 1 << 28, 1 << 40) == 7
    assert mark_prefix_bits(large, 3, 1 << 28, 1 << 40) == 6
    assert [mark_prefix_bits(large, 31, 1 << 28, size) for size in (0, 1 << 10, 1 << 11, 1 << 40)] == [1, 6, 7, 12]
    assert [finds_sections(kmers, 10) for kmers in (0, 640, 641)] == [True, True, False]
