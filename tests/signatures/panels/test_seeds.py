"""Seeds and their table: what is promised of each of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from helpers.signature_samples import random_letters
from hypothesis import given, settings, strategies as st

from oclgenomics.signatures.panels import seeds as seeds_module
from oclgenomics.signatures.panels.panel import Panel, Patterns
from oclgenomics.signatures.panels.seeds import (
    CHECKED,
    MAX_HEAD,
    MIN_HEAD,
    ROW_WORDS,
    STEP,
    TAIL,
    choose_seeds,
    make_table,
)
from oclgenomics.signatures.plan import choose_head


def patterns_of(signatures: list[bytes]) -> Patterns:
    return Panel.from_signatures((f"s{i}", letters) for i, letters in enumerate(signatures)).patterns("+")


def random_patterns(seed: int, lengths: list[int], n_rate: float, letters: str = "ACGT") -> Patterns:
    rng = np.random.default_rng(seed)
    return patterns_of([random_letters(rng, length, n_rate, letters) for length in lengths])


def met(bases: int) -> list[int]:
    return [code for code in range(4) if bases >> code & 1] + [4]


def number_of(codes: tuple[int, ...]) -> int:
    return sum(code * 5**j for j, code in enumerate(codes))


@settings(max_examples=50)
@given(
    lengths=st.lists(st.integers(1, 120), min_size=1, max_size=5),
    n_rate=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    letters=st.sampled_from(["ACGT", "A", "ACGTRYSWKMBDHVN"]),
    mismatches=st.integers(0, 3),
    head=st.integers(2, 4),
    seed=st.integers(0, 1 << 32),
)
def test_the_table_holds_all_that_a_seed_can_meet(
    lengths: list[int], n_rate: float, letters: str, mismatches: int, head: int, seed: int
) -> None:
    patterns = random_patterns(seed, lengths, n_rate, letters)
    table = make_table(patterns, mismatches, head)
    rows: dict[int, set[int]] = {}
    tails: dict[int, int] = {}
    for number, (pattern, offset) in enumerate(zip(table.pattern, table.offset, strict=True)):
        own = patterns.of(int(pattern))[int(offset) :]
        assert len(own) >= head + TAIL
        bits = sum(1 << number_of(codes) for codes in itertools.product(*map(met, own[head : head + TAIL].tolist())))
        for codes in itertools.product(*map(met, own[:head].tolist())):
            rows.setdefault(number_of(codes), set()).add(number)
            tails[number_of(codes)] = tails.get(number_of(codes), 0) | bits
        checked = np.concatenate([own[head : head + CHECKED], np.full(CHECKED, 15, np.uint8)])[:CHECKED]
        assert int(table.barred[number]) == sum((15 ^ int(bases)) << 4 * j for j, bases in enumerate(checked))
    for row in range(5**head):
        listed = table.lists[table.first[row] : table.first[row + 1]].tolist()
        assert listed == sorted(rows.get(row, set()))
        words = table.bits[row * ROW_WORDS : (row + 1) * ROW_WORDS].tolist()
        assert sum(word << 32 * place for place, word in enumerate(words)) == tails.get(row, 0)


@settings(max_examples=50)
@given(
    lengths=st.lists(st.integers(1, 300), min_size=1, max_size=5),
    n_rate=st.sampled_from([0.0, 0.1, 0.5]),
    mismatches=st.integers(0, 7),
    head=st.integers(2, 5),
    seed=st.integers(0, 1 << 32),
)
def test_seeds_have_all_remainders_and_share_no_letter(
    lengths: list[int], n_rate: float, mismatches: int, head: int, seed: int
) -> None:
    seeds = choose_seeds(random_patterns(seed, lengths, n_rate), mismatches, head)
    assert sorted([*seeds.pattern.tolist(), *seeds.unseeded.tolist()]) == list(range(len(lengths)))
    assert (np.diff(seeds.pattern) > 0).all()
    for pattern, offset in zip(seeds.pattern, seeds.offset, strict=True):
        assert offset.shape == (mismatches + 1, STEP)
        for remainder in range(STEP):
            places = np.sort(offset[:, remainder])
            assert (places % STEP == remainder).all()
            assert (np.diff(places) >= head + TAIL).all()
            assert places[0] >= 0
            assert places[-1] + head + TAIL <= lengths[pattern]


@pytest.mark.parametrize("mismatches", [0, 2])
def test_patterns_that_are_long_enough_have_seeds(mismatches: int) -> None:
    least = (mismatches + 1) * (4 + TAIL + STEP - 1)
    patterns = random_patterns(1, [least - 1, least, least + 1, 400], 0.0)
    assert choose_seeds(patterns, mismatches, 4).unseeded.tolist() == [0]


def test_seeds_are_found_between_many_ns() -> None:
    rng = np.random.default_rng(2)
    known = random_letters(rng, 40)
    hidden = b"N" * 3001 + known + b"N" * 1002  # where few starts that are tried would not hit
    seeds = choose_seeds(patterns_of([hidden, b"N" * 4000]), 0, 5)
    assert seeds.unseeded.tolist() == [1]
    assert ((seeds.offset[0] > 2990) & (seeds.offset[0] < 3041)).all()
    assert choose_seeds(patterns_of([hidden]), 1, 5).unseeded.tolist() == []


def test_seeds_avoid_repeats() -> None:
    rng = np.random.default_rng(3)
    varied = random_letters(rng, 60)
    seeds = choose_seeds(patterns_of([b"A" * 60 + varied, b"AC" * 30 + varied]), 0, 5)
    assert (seeds.offset >= 50).all()


def test_seeds_avoid_what_other_patterns_have() -> None:
    rng = np.random.default_rng(4)
    common = random_letters(rng, 40)
    patterns = patterns_of([common + random_letters(rng, 40) for _ in range(30)])
    assert (choose_seeds(patterns, 0, 7).offset >= 30).mean() > 0.9


@pytest.mark.parametrize(
    ("count", "length", "mismatches", "n_rate", "letters", "least", "most"),
    [
        (1, 5000, 0, 0.1, 10**5, 2, 4),
        (1000, 5000, 0, 0.1, 10**8, 6, 8),
        (1000, 5000, 0, 0.1, 10**5, 2, 4),
        (1000, 5000, 0, 0.3, 10**9, 7, 9),
        (1000, 10, 0, 0.0, 10**9, 4, 4),  # 10 letters are 4 + TAIL + STEP - 1
        (10, 24, 2, 0.0, 10**6, 2, 2),
        (1, 1, 0, 0.0, 0, MIN_HEAD, MIN_HEAD),
        (1, 5000, 0, 1.0, 10**12, MIN_HEAD, MAX_HEAD),
    ],
)
def test_length_of_heads(
    count: int, length: int, mismatches: int, n_rate: float, letters: int, least: int, most: int
) -> None:
    lengths = np.full(count, length, np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    sets = np.ones(int(offsets[-1]), np.uint8)
    patterns = Patterns(sets, offsets, np.arange(count, dtype=np.int32), np.zeros(count, np.uint8))
    assert least <= choose_head(patterns, mismatches, n_rate, letters) <= most


def test_a_table_takes_so_many_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds_module, "MAX_SEEDS", 2 * 2 * STEP + 1)
    patterns = random_patterns(5, [100, 5, 100, 100, 100], 0.0)
    assert choose_seeds(patterns, 1, 3).unseeded.tolist() == [1, 3, 4]
