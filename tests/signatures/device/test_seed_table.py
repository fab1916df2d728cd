"""Tables of seeds made on the device: the bytes of those made on the host."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.products import examples
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.signatures import Panel, ScanOptions
from oclgenomics.signatures.device import seed_table
from oclgenomics.signatures.device.index import IndexMatcher
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.seed_table import DeviceTable, table_on_device
from oclgenomics.signatures.panels.seeds import MAX_HEAD, MIN_HEAD, STEP, TAIL, SeedTable, choose_seeds, make_table

ALL_LETTERS = "ACGTRYSWKMBDHVN"


def uploaded(engine: Engine, signatures: list[bytes], mismatches: int = 0) -> DevicePatterns:
    panel = Panel.from_signatures((f"s{i}", letters) for i, letters in enumerate(signatures))
    return DevicePatterns.upload(engine, panel.patterns("+"), ScanOptions(max_mismatches=mismatches))


def same_tables(engine: Engine, found: DeviceTable, table: SeedTable) -> None:
    for name in ("head", "mismatches"):
        assert getattr(found, name) == getattr(table, name)
    for name in ("pattern", "offset", "unseeded"):
        own, wanted = getattr(found, name), getattr(table, name)
        assert own.dtype == wanted.dtype
        assert np.array_equal(own, wanted), name
    assert found.listed == len(table.lists)
    for name in ("bits", "first", "lists", "barred"):
        own, wanted = engine.download(found.arrays[name]), getattr(table, name)
        assert own.dtype == wanted.dtype
        assert np.array_equal(own, wanted), name
    assert np.array_equal(engine.download(found.arrays["seeds"]), np.stack([table.pattern, table.offset], axis=1))


@settings(max_examples=examples(100))
@given(
    lengths=st.lists(st.integers(1, 130), min_size=1, max_size=5),
    n_rate=st.sampled_from([0.0, 0.1, 0.3]),
    letters=st.sampled_from(["ACGT", "A", ALL_LETTERS]),
    mismatches=st.integers(0, 3),
    head=st.integers(MIN_HEAD, 5),
    seed=st.integers(0, 1 << 32),
)
def test_tables_are_those_of_the_host(
    engine: Engine, lengths: list[int], n_rate: float, letters: str, mismatches: int, head: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    patterns = uploaded(engine, [random_letters(rng, length, n_rate, letters) for length in lengths], mismatches)
    seeds = choose_seeds(patterns.patterns, mismatches, head)
    if len(seeds.pattern):
        found = table_on_device(engine, patterns, mismatches, seeds)
        same_tables(engine, found, make_table(patterns.patterns, mismatches, head))


@pytest.mark.parametrize("count", [1, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025])
def test_numbers_of_seeds_around_the_borders_of_groups(engine: Engine, count: int) -> None:
    rng = np.random.default_rng(count)
    patterns = uploaded(engine, [random_letters(rng, 40, 0.05, ALL_LETTERS) for _ in range(count)])
    seeds = choose_seeds(patterns.patterns, 0, 4)
    same_tables(engine, table_on_device(engine, patterns, 0, seeds), make_table(patterns.patterns, 0, 4))


@pytest.mark.parametrize("head", range(MIN_HEAD, MAX_HEAD + 1))
def test_lengths_of_heads(engine: Engine, head: int) -> None:
    rng = np.random.default_rng(head)
    signatures = [random_letters(rng, size, 0.1) for size in (head + TAIL + STEP - 1, head + TAIL + STEP, 70, 300)]
    patterns = uploaded(engine, [*signatures, b"A" * 50, b"NNN", b"N" * 60])
    seeds = choose_seeds(patterns.patterns, 0, head)
    same_tables(engine, table_on_device(engine, patterns, 0, seeds), make_table(patterns.patterns, 0, head))


def test_the_device_or_the_host_makes_the_same(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    patterns = uploaded(engine, [random_letters(rng, 300, 0.1) for _ in range(20)])
    table = make_table(patterns.patterns, 0, 4)
    made: list[str] = []
    for name in ("make_table", "table_on_device"):
        function = getattr(seed_table, name)
        monkeypatch.setattr(seed_table, name, lambda *args, n=name, f=function: (made.append(n), f(*args))[1])
    for least in (1, 1 << 30):
        monkeypatch.setattr(seed_table, "DEVICE_LISTED", least)
        same_tables(engine, DeviceTable.of_patterns(engine, patterns, 0, 4), table)
    assert made == ["table_on_device", "make_table"]


def test_the_host_makes_what_the_device_has_no_room_for(shaped: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    patterns = uploaded(shaped, [random_letters(rng, 300, 0.1) for _ in range(20)])
    monkeypatch.setattr(seed_table, "DEVICE_LISTED", 1)
    monkeypatch.setattr(seed_table, "table_on_device", lambda *_: pytest.fail("there is no room"))
    for name in ("LISTED_BYTES", "MAX_HEAD_COST"):
        with monkeypatch.context() as patched:
            patched.setattr(seed_table, name, 1 << 40)
            same_tables(shaped, DeviceTable.of_patterns(shaped, patterns, 0, 4), make_table(patterns.patterns, 0, 4))


@pytest.mark.parametrize("signatures", [[b"NN"], [b"N" * 100], [b"A"]])
def test_panels_without_seeds(engine: Engine, signatures: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seed_table, "DEVICE_LISTED", 0)
    patterns = uploaded(engine, signatures)
    table = DeviceTable.of_patterns(engine, patterns, 0, 3)
    assert (table.listed, table.arrays, table.unseeded.tolist()) == (0, {}, [0])
    samples = sample_letters(engine, [SampleRecord(b"ACGT" * 50)])
    assert not len(IndexMatcher(engine, patterns, table).pairs(samples))
