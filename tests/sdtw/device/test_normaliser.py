"""Levels of reads on the device against the oracle."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from helpers.products import examples, on_one_cpu
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.runtime import Engine
from oclgenomics.sdtw.device.normaliser import Normaliser, quotients
from oclgenomics.sdtw.options import ARITHMETICS, BONUSES, COSTS, MAX_PREFIX, NORMS, AlignOptions
from oclgenomics.sdtw.reference import BLOCK, normalised_samples

LOWEST, HIGHEST = -(1 << 15), (1 << 15) - 1
ROWS = (5, 6, 31, 32, 33, 99, 100, 101, 499, 500, 501, 999, 1000, 1001, 1500, 1777)
READS = (0, 1, 2, 31, 32, 33, 65)
KINDS = ("signal", "wide", "constant", "lowest", "highest", "extremes", "two values", "outlier", "ramp")


def valid_options() -> list[AlignOptions]:
    """All options there are."""
    found = []
    for choice in itertools.product(NORMS, COSTS, BONUSES, ARITHMETICS, (None, 5, 6, 7, 8), (None, 1, 5)):
        try:
            found.append(AlignOptions(*choice))
        except ParameterError:
            continue
    return found


def scores(options: AlignOptions) -> list[str]:
    """Types that levels may have."""
    return ["float32"] if options.is_float else ["uint16", "int32", "float32"]


def what_counts(options: AlignOptions, score: str) -> tuple[Any, ...]:
    """What levels depend on."""
    largest = options.norm == "blocks" and options.cost
    return options.norm, options.is_float, options.level_bits, options.row_samples, largest, score


CHOICES = [(options, score) for options in valid_options() for score in scores(options)]
DIFFERENT = list({what_counts(*choice): choice for choice in CHOICES}.values())


def signal(rng: np.random.Generator, kind: str, size: int) -> NDArray[np.int16]:
    """Samples of a read."""
    steps = np.cumsum(rng.normal(0, 40, size)) % 300 + 400 + rng.normal(0, 8, size)
    made = {
        "signal": steps,
        "wide": rng.integers(LOWEST, HIGHEST, size, endpoint=True),
        "constant": np.full(size, rng.integers(-700, 700)),
        "lowest": np.full(size, LOWEST),
        "highest": np.full(size, HIGHEST),
        "extremes": rng.choice([LOWEST, HIGHEST], size),
        "two values": 500 + (rng.random(size) < 0.1),
        "outlier": np.where(np.arange(size) == rng.integers(size), rng.choice([LOWEST, HIGHEST]), -3),
        "ramp": np.linspace(-900, HIGHEST, size),
    }
    return made[kind].astype(np.int16)


def check(
    engine: Engine, reads: list[NDArray[np.int16]], rows: int, spare: int, options: AlignOptions, score: str
) -> None:
    """Compare the levels of the reads with the oracle's, bit for bit; the reads lie apart, and not in their order."""
    gap = np.array([LOWEST, HIGHEST, 7], np.int16)
    samples = np.concatenate([gap, *(part for read in reversed(reads) for part in (read, gap))])
    first = (3 + (rows + 3) * np.arange(len(reads), dtype=np.int64))[::-1]
    lanes = max(1, len(reads) + spare)
    group = 16 if engine.tuning.cpu or spare % 2 else lanes  # GPUs take any
    lanes = -(-lanes // group) * group
    expected = np.zeros((lanes, options.rows(rows)), score)
    for number, read in enumerate(reads):
        expected[number] = normalised_samples(read, options)
    expected = expected.reshape(lanes // group, group, -1).transpose(0, 2, 1)
    normaliser = Normaliser(engine, options, np.dtype(score))
    for skipped in {0, BLOCK} if len(expected[0]) > BLOCK else {0}:
        found = normaliser.levels(samples, first, rows, lanes, group=group, skipped=skipped)
        wanted = np.ascontiguousarray(expected[:, skipped:])
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_array_equal(engine.download(found).view(np.uint8), wanted.view(np.uint8))


ANY_READS = given(
    st.sampled_from(CHOICES), st.sampled_from(ROWS), st.lists(st.sampled_from(KINDS), max_size=40),
    st.integers(0, 40), st.integers(0, 1 << 32),
)  # fmt: skip


def any_reads(
    shaped: Engine, choice: tuple[AlignOptions, str], rows: int, kinds: list[str], spare: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    check(shaped, [signal(rng, kind, rows) for kind in kinds], rows, spare, *choice)


test_any_reads = pytest.mark.one_cpu(settings(max_examples=examples(80))(ANY_READS(any_reads)))
test_some_reads = pytest.mark.other_cpus(settings(max_examples=20)(ANY_READS(any_reads)))


@pytest.mark.parametrize("choice", DIFFERENT, ids=str)
def test_all_options(shaped: Engine, choice: tuple[AlignOptions, str]) -> None:
    rng = np.random.default_rng(1)
    check(shaped, [signal(rng, kind, 1234) for kind in KINDS], 1234, 5, *choice)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("reads", READS)
@pytest.mark.each_value
def test_sizes_around_every_border(shaped: Engine, reads: int, rows: int) -> None:
    rng = np.random.default_rng(rows)
    for norm, spare in itertools.product(NORMS, (0, 1, 31)):
        options = AlignOptions(norm=norm)
        check(shaped, [signal(rng, "signal", rows) for _ in range(reads)], rows, spare, options, "uint16")


@pytest.mark.parametrize("kind", ["wide", "extremes", *on_one_cpu("lowest", "ramp")])
@pytest.mark.parametrize("options", [AlignOptions(norm=n, arithmetic=a) for n in NORMS for a in ("int32", "float32")])
def test_longest_prefixes(shaped: Engine, kind: str, options: AlignOptions) -> None:
    """Sums are largest, and quotients of all kinds occur."""
    rng = np.random.default_rng(2)
    check(shaped, [signal(rng, kind, MAX_PREFIX)], MAX_PREFIX, 0, options, "float32")


def test_groups_of_few_work_items(limited: Engine) -> None:
    rng = np.random.default_rng(3)
    for norm in NORMS:
        reads = [signal(rng, "signal", 1100) for _ in range(35)]
        check(limited, reads, 1100, 2, AlignOptions(norm=norm), "uint16")


def test_prefixes_may_overlap(shaped: Engine) -> None:
    samples, options = signal(np.random.default_rng(4), "signal", 900), AlignOptions()
    first = np.array([200, 0, 199, 200])
    normaliser = Normaliser(shaped, options, np.dtype(np.uint16))
    found = shaped.download(normaliser.levels(samples, first, 700, 4, group=4))
    for number, begin in enumerate(first.tolist()):
        np.testing.assert_array_equal(found[0, :, number], normalised_samples(samples[begin : begin + 700], options))


@given(st.integers(1, MAX_PREFIX), st.integers(0, 1 << 32))
def test_quotients_are_rounded_once(rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 1 << 62, 200) >> rng.integers(0, 40, 200)
    found = quotients(numbers, rows**2)
    assert found.tolist() == [number / rows**2 for number in numbers.tolist()]


@pytest.mark.parametrize(
    ("first", "rows", "lanes", "why"),
    [
        ([0], 0, 1, "at least"),
        ([0], MAX_PREFIX + 1, 1, "do not suit"),
        ([0, 0], 10, 1, "do not suit"),
        ([0, 11], 10, 2, "not all reads have 10 samples among 20"),
        ([-1, 0], 10, 2, "not all reads have 10 samples among 20"),
        ([0], 21, 1, "not all reads"),
    ],
)
def test_reads_that_are_not_there(engine: Engine, first: list[int], rows: int, lanes: int, why: str) -> None:
    normaliser = Normaliser(engine, AlignOptions(), np.dtype(np.int32))
    with pytest.raises((ValueError, ParameterError), match=why):
        normaliser.levels(np.zeros(20, np.int16), np.array(first, np.int64), rows, lanes, group=1)


def test_lanes_are_whole_groups(engine: Engine) -> None:
    normaliser = Normaliser(engine, AlignOptions(), np.dtype(np.int32))
    with pytest.raises(ValueError, match="in 9 lanes do not suit"):
        normaliser.levels(np.zeros(20, np.int16), np.zeros(8, np.int64), 20, 9, group=8)


def test_types_that_do_not_suit(engine: Engine) -> None:
    with pytest.raises(ValueError, match="do not suit"):
        Normaliser(engine, AlignOptions(), np.dtype(np.int32)).levels(np.zeros(9), np.zeros(1, np.int64), 9, 1, group=1)
    with pytest.raises(ValueError, match="not to be had"):
        Normaliser(engine, AlignOptions(), np.dtype(np.int64))
    with pytest.raises(ValueError, match="not to be had"):
        Normaliser(engine, AlignOptions(arithmetic="float32"), np.dtype(np.int32))


def test_no_lanes(engine: Engine) -> None:
    none = np.empty(0, np.int64)
    levels = Normaliser(engine, AlignOptions(), np.dtype(np.int32)).levels(np.empty(0, np.int16), none, 5, 0, group=1)
    assert levels.shape == (0, 1, 1)
