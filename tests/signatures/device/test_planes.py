"""Bit planes: programs of patterns, planes of pieces, and what is found by them against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.products import examples
from helpers.signature_cases import SPECIAL, Case, cases, check_case
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import ParameterError
from oclgenomics.runtime import Engine
from oclgenomics.signatures.device import planes as programs
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.planes import (
    CPU_BLOCK,
    FIRST_STEPS,
    GPU_BLOCK,
    PADDING,
    PlanesMatcher,
    concrete_bits,
    head_steps,
    make_planes,
    make_programs,
)
from oclgenomics.signatures.panels.letters import ANY, is_concrete, sets_of
from oclgenomics.signatures.panels.panel import Panel, Patterns


def random_patterns(seed: int, lengths: list[int]) -> Patterns:
    rng = np.random.default_rng(seed)
    letters = [
        random_letters(rng, length, rng.choice([0, 0.3, 1]), rng.choice(["ACGT", "ACGTRYB"])) for length in lengths
    ]
    return Panel.from_signatures((f"s{i}", text) for i, text in enumerate(letters)).patterns("+")


@given(st.lists(st.integers(1, 700), min_size=1, max_size=5), st.integers(0, 1 << 32), st.sampled_from([8, 32]))
@settings(max_examples=50)
def test_programs_ask_for_every_letter_but_n(lengths: list[int], seed: int, align: int) -> None:
    patterns = random_patterns(seed, lengths)
    numbers = np.arange(0, len(lengths), 2, dtype=np.uint32)
    made = make_programs(patterns, numbers, align=align)
    begins = made.begins.astype(int)
    for i, number in enumerate(numbers.tolist()):
        letters = patterns.of(number)
        steps = made.steps[begins[i] : begins[i + 1]]
        positions, sets = steps & 0xFFFFFFF, made.sets[steps >> 28]
        assert sorted(positions.tolist()) == np.flatnonzero(letters != ANY).tolist()
        np.testing.assert_array_equal(sets, letters[positions])
        aligned = int(made.turns[i]) - begins[i]
        assert (positions[:aligned] % align == 0).all()
        assert (positions[aligned:] % align != 0).all()
        for part in (sets[:aligned], sets[aligned:]):
            assert (np.diff(programs.SIZES[part].astype(int)) >= 0).all()
        first = made.first_steps[i]
        kept = min(aligned, FIRST_STEPS)
        np.testing.assert_array_equal(first[:kept], steps[:kept])
        assert (made.sets[first[kept:] >> 28] == ANY).all()
        assert (first[kept:] & 0xFFFFFFF == 0).all()
    np.testing.assert_array_equal(made.aligned, made.turns - made.begins[:-1])


def test_patterns_are_taken_in_lots(monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = random_patterns(1, [50, 300, 1, 20, 20, 20])
    numbers = np.arange(6, dtype=np.uint32)
    whole = make_programs(patterns, numbers, align=8)
    monkeypatch.setattr(programs, "LOT", 40)
    lots = make_programs(patterns, numbers, align=8)
    for name in ("sets", "steps", "begins", "turns", "first_steps"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(lots, name))


def test_no_patterns() -> None:
    made = make_programs(random_patterns(1, [5]), np.empty(0, np.uint32), align=8)
    assert made.begins.tolist() == [0]
    assert made.first_steps.shape == (0, FIRST_STEPS)


def test_a_pattern_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MAX_LETTERS", 9)
    patterns = random_patterns(1, [9, 10])
    make_programs(patterns, np.array([0], np.uint32), align=8)
    with pytest.raises(ParameterError, match="a signature of 10 bases is too long for planes; choose brute"):
        make_programs(patterns, np.array([0, 1], np.uint32), align=8)


def test_concrete_bits() -> None:
    patterns = random_patterns(2, [1, 32, 33, 64, 200])
    numbers = np.array([0, 1, 2, 4], np.uint32)
    bits, begins = concrete_bits(patterns, numbers)
    assert begins.tolist() == [0, 1, 2, 4, 11]
    for i, number in enumerate(numbers.tolist()):
        words = bits[int(begins[i]) : int(begins[i + 1])]
        concrete = is_concrete(patterns.of(number))
        unpacked = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
        np.testing.assert_array_equal(unpacked[: len(concrete)], concrete)
        assert not unpacked[len(concrete) :].any()


def test_heads_grow_with_what_survives() -> None:
    assert head_steps(0.0, 0, 100) < head_steps(0.3, 0, 100) < head_steps(0.7, 0, 100)
    assert head_steps(0.0, 0, 100) < head_steps(0.0, 3, 100) <= head_steps(0.0, 7, 100) <= FIRST_STEPS
    assert head_steps(1.0, 7, 3) == 8  # more at once exclude nothing
    assert head_steps(1.0, 7, 1000) == FIRST_STEPS


SIZES = [1, 7, 8, 9, 31, 32, 33, 511, 512, 513, 1024, 1500]


@pytest.mark.parametrize("singles", [False, True])
def test_planes_hold_the_letters_of_pieces(shaped: Engine, singles: bool) -> None:
    rng = np.random.default_rng(1)
    letters = [random_letters(rng, size, 0.1, "ACGTRYKMSWBDHVN") for size in SIZES]
    samples = sample_letters(shaped, [SampleRecord(text) for text in letters])
    chosen = np.array([0, *range(2, len(SIZES))], np.uint32)
    sets = np.array([1, 2, 4, 8, 5, 14, 15], np.uint8)
    made = make_planes(shaped, samples, chosen, sets, singles=singles)
    planes, places = shaped.download(made.planes), made.places
    block = CPU_BLOCK if shaped.tuning.cpu else GPU_BLOCK
    assert (places % block == 0).all()
    expected = np.zeros((len(sets) + singles, made.stride * 32), np.uint8)
    for place, piece in zip(places.tolist(), chosen.tolist(), strict=True):
        codes = sets_of(letters[piece])
        bits = [codes & one != 0 for one in sets] + [is_concrete(codes)] * singles
        expected[:, place * 32 : place * 32 + len(codes)] = bits
    found = np.unpackbits(planes.astype("<u4").view(np.uint8), axis=1, bitorder="little")
    np.testing.assert_array_equal(found, expected)
    assert not planes[:, -PADDING:].any()
    if singles:
        assert made.ranks is not None
        counts = expected[made.single].reshape(-1, 32).sum(axis=1)
        np.testing.assert_array_equal(shaped.download(made.ranks), np.cumsum(counts) - counts)
    else:
        assert made.ranks is None


ANY_CASE = given(cases(), st.sampled_from([20, 1 << 20]), st.sampled_from([50, 1 << 20]))


def any_case(shaped: Engine, case: Case, max_pairs: int, max_starts: int) -> None:
    check_case(case, shaped, PlanesMatcher, max_pairs=max_pairs, max_starts=max_starts)


test_any_case = pytest.mark.one_cpu(settings(max_examples=examples(100))(ANY_CASE(any_case)))
test_some_cases = pytest.mark.other_cpus(settings(max_examples=25)(ANY_CASE(any_case)))


@pytest.mark.parametrize("name", SPECIAL)
def test_special_cases(shaped: Engine, name: str) -> None:
    check_case(SPECIAL[name], shaped, PlanesMatcher)


@given(cases(), st.lists(st.integers(0, 1), min_size=1), st.lists(st.booleans(), min_size=1))
@settings(max_examples=10)
def test_some_patterns_and_some_pieces(engine: Engine, case: Case, which: list[int], wanted: list[bool]) -> None:
    check_case(case, engine, PlanesMatcher, which, wanted)


@pytest.mark.parametrize("most", [1, 2, 7])
def test_rounds_of_any_size(shaped: Engine, most: int) -> None:
    check_case(SPECIAL["repeats"], shaped, PlanesMatcher, max_pairs=most, max_starts=most)


def test_sums_that_need_64_bits(shaped: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oclgenomics.signatures.device.pairs.sum_type", lambda longest: "ulong")
    check_case(SPECIAL["filters refuse N"], shaped, PlanesMatcher)
    check_case(SPECIAL["edges"], shaped, PlanesMatcher)


@pytest.mark.parametrize(("name", "again"), [("repeats", False), ("one letter", True), ("no qualities", False)])
def test_qualities_are_summed_again_for_starts_only_where_a_filter_asks(
    engine: Engine, name: str, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    add = programs.group_sums
    monkeypatch.setattr(programs, "group_sums", lambda *given: asked.append(given) or add(*given))
    case = SPECIAL[name]
    matcher = PlanesMatcher(engine, DevicePatterns.upload(engine, case.panel().patterns("+"), case.options))
    samples = sample_letters(engine, case.samples, overlap=int(case.panel().lengths.max()) - 1)
    found = matcher.pairs(samples)
    before = len(asked)
    assert before == (name != "no qualities")
    assert sum(map(len, matcher.starts(samples, found))) == int(found.hits.sum()) > 0
    assert len(asked) - before == again
