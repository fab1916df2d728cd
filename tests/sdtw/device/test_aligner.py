"""Alignments on the device against the oracle."""

from __future__ import annotations

import itertools
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from helpers.products import examples, on_one_cpu, only_whole
from helpers.squiggles import random_squiggle
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import DeviceLostError, ParameterError, UsageError
from oclgenomics.runtime import Engine
from oclgenomics.sdtw import plan, reference
from oclgenomics.sdtw.device import aligner as device_aligner, normaliser, strips as strip_aligner
from oclgenomics.sdtw.device.aligner import Aligner, StagedReads, reads_together
from oclgenomics.sdtw.device.normaliser import Normaliser
from oclgenomics.sdtw.device.steps import finished, in_turn
from oclgenomics.sdtw.device.strips import Found, ReferenceStrips, Slots
from oclgenomics.sdtw.options import (
    ARITHMETICS,
    BONUSES,
    COSTS,
    CRESCENT,
    NORMS,
    SQUIGGLEFILTER,
    AlignOptions,
    Arithmetic,
    Bonus,
    Cost,
    Norm,
)
from oclgenomics.sdtw.plan import BEGINS, cell_shape
from oclgenomics.sdtw.reference import SATURATED, align, normalised_levels
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

# A bonus goes with integers only.
SCORES = [
    (bonus, arithmetic) for bonus, arithmetic in itertools.product(BONUSES, ARITHMETICS)
    if bonus == "none" or arithmetic != "float32"
]  # fmt: skip
# Tracks shorter than a strip, of exactly one, one more, and several, in references of their own.
REFERENCES = [random_squiggle([37, 1, 130], 1), random_squiggle([8], 2), random_squiggle([93, 92, 44], 3)]


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips of few columns on GPUs, too: they compile sooner, and tracks have more of them."""
    monkeypatch.setattr(plan, "GPU_STRIP", 12)
    monkeypatch.setattr(plan, "GPU_BONUS_STRIP", 11)
    monkeypatch.setattr(plan, "GPU_SATURATED_STRIP", 11)


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> int:
    """Blocks of fewer samples, a multiple of the rows of a tile."""
    for module in (reference, normaliser, device_aligner):
        monkeypatch.setattr(module, "BLOCK", 100)
    return 100


def make_samples(reads: int, prefix: int, seed: int) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Return samples of reads, and where each begins; they overlap, and one fits a reference well."""
    rng = np.random.default_rng(seed)
    samples = np.cumsum(rng.normal(0, 25, prefix + 3 * reads)) % 400 + rng.normal(300, 20, prefix + 3 * reads)
    samples[:prefix] = np.repeat(REFERENCES[2].levels, 9)[:prefix] * 5 if prefix <= 4000 else samples[:prefix]
    return samples.astype(np.int16), 3 * np.arange(reads, dtype=np.int64)


def check(
    found: Found,
    samples: NDArray[np.int16],
    first: NDArray[np.int64],
    prefix: int,
    references: list[Squiggle],
    options: AlignOptions,
) -> None:
    """Compare what was found with the oracle's: all of the first, the middle and the last read."""
    assert found.cost.shape == found.column.shape == (len(first), len(references))
    for read in sorted({0, len(first) // 2, len(first) - 1} & set(range(len(first)))):
        own = samples[first[read] : first[read] + prefix]
        for number, one in enumerate(references):
            assert (found.cost[read, number], found.column[read, number]) == expected(own, one, options), (read, number)


_EXPECTED: dict[tuple[object, ...], tuple[float, int]] = {}


def expected(samples: NDArray[np.int16], one: Squiggle, options: AlignOptions) -> tuple[float, int]:
    """Return the oracle's alignment of a prefix; it is asked once for all engines, segments and slots."""
    arrays = (samples, one.levels, one.column_strand, one.tracks)
    key = (*(array.tobytes() for array in arrays), options, reference.BLOCK)
    if key not in _EXPECTED:
        levels = normalised_levels(one.levels, one.column_strand, options)
        _EXPECTED[key] = align(samples, levels, one.tracks, options)
    return _EXPECTED[key]


def check_sizes(engine: Engine, options: AlignOptions) -> None:
    """Compare alignments of one short read, and of more reads than a vector or half of a group takes."""
    for reads, prefix in ((1, 5), (33, 130)):
        samples, first = make_samples(reads, prefix, reads)
        found = Aligner(engine, REFERENCES, options).align(samples, first, prefix)
        check(found, samples, first, prefix, REFERENCES, options)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(("bonus", "arithmetic"), SCORES)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("norm", ["prefix", *only_whole("blocks")])  # which all go on below
def test_all_recurrences(shaped: Engine, norm: Norm, cost: Cost, bonus: Bonus, arithmetic: Arithmetic) -> None:
    check_sizes(shaped, AlignOptions(norm, cost, bonus, arithmetic))


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(("bits", "step"), [(8, None), (5, 4), *only_whole((7, 1))])
@pytest.mark.parametrize("arithmetic", ["uint16", "int32"])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.pairwise
def test_levels_of_all_widths(shaped: Engine, cost: Cost, arithmetic: Arithmetic, bits: int, step: int | None) -> None:
    check_sizes(shaped, AlignOptions(cost=cost, arithmetic=arithmetic, bits=bits, step=step))


@settings(max_examples=examples(20))
@given(
    st.sampled_from([AlignOptions(), AlignOptions(arithmetic="float32"), AlignOptions(bonus="dwell")]),
    st.lists(st.lists(st.integers(1, 230), min_size=1, max_size=3), min_size=1, max_size=3),
    st.integers(0, 70), st.integers(3, 420), st.integers(0, 1 << 16),
)  # fmt: skip
def test_any_references_and_reads(
    shaped: Engine, options: AlignOptions, sizes: list[list[int]], reads: int, prefix: int, seed: int
) -> None:
    references = [random_squiggle(each, seed + number) for number, each in enumerate(sizes)]
    samples, first = make_samples(reads, prefix, seed)
    found = Aligner(shaped, references, options).align(samples, first, prefix)
    check(found, samples, first, prefix, references, options)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("segments", [1, *only_whole(2), 7, 1000])
@pytest.mark.parametrize("bonus", BONUSES)
def test_segments_are_independent(shaped: Engine, bonus: Bonus, segments: int) -> None:
    """However a reference is cut, each column has the score that it has in one piece."""
    options = AlignOptions(bonus=bonus, step=1)
    samples, first = make_samples(3, 20, 5)
    made = random_squiggle([900, 130], 7)  # of which a column depends on 220 at most, on so many where levels repeat
    whole = [replace(made, levels=np.repeat(made.levels, 12)[: len(made)])]
    with mock.patch.object(strip_aligner, "segment_count", return_value=segments):
        found = Aligner(shaped, whole, options).align(samples, first, 20)
    check(found, samples, first, 20, whole, options)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("segments", [1, 7])
def test_of_equal_costs_the_first_column_is_told(shaped: Engine, segments: int) -> None:
    """Within a strip, from strip to strip, and from segment to segment."""
    flat = replace(random_squiggle([700]), levels=np.full(1400, 90.0))
    samples, first = make_samples(3, 60, 8)
    with mock.patch.object(strip_aligner, "segment_count", return_value=segments):
        found = Aligner(shaped, [flat]).align(samples, first, 60)
    check(found, samples, first, 60, [flat], AlignOptions())
    assert found.column.max() < 2  # the first one of a track has a cost in the first row, too


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("segments", [*on_one_cpu(1), 5])
@pytest.mark.parametrize(("bonus", "arithmetic"), SCORES)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.pairwise
def test_reads_that_go_on(
    shaped: Engine, cost: Cost, bonus: Bonus, arithmetic: Arithmetic, segments: int, short_blocks: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A prefix that is aligned in parts costs and ends as the whole; slots are used in any order, and again."""
    options = AlignOptions("blocks", cost, bonus, arithmetic)
    block = short_blocks
    monkeypatch.setattr(strip_aligner, "segment_count", lambda *_: segments)
    references = [random_squiggle([37, 1], 1), random_squiggle([93], 3)]
    aligner = Aligner(shaped, references, options)
    samples, first = make_samples(37, 3 * block, 2)
    slots, numbers = aligner.slots(60), np.random.default_rng(3).permutation(60)[:37]
    for _ in range(2):
        slots.rows[numbers] = 0
        for prefix in (block, 2 * block, 2 * block + 77):
            found = finished(aligner.extend(samples, first, prefix, slots, numbers))
            whole = aligner.align(samples, first, prefix)
            np.testing.assert_array_equal(found.cost, whole.cost)
            np.testing.assert_array_equal(found.column, whole.column)
    check(found, samples, first, 2 * block + 77, references, options)


def test_what_cannot_go_on(engine: Engine) -> None:
    samples, first = make_samples(2, 1100, 1)
    blocks = Aligner(engine, REFERENCES, AlignOptions(norm="blocks"))
    slots, numbers = blocks.slots(4), np.array([0, 3])
    finished(blocks.extend(samples, first[:1], 500, slots, numbers[:1]))
    with pytest.raises(ValueError, match="gone equally far"):
        finished(blocks.extend(samples, first, 1000, slots, numbers))
    with pytest.raises(ValueError, match="less far"):
        finished(blocks.extend(samples, first[:1], 500, slots, numbers[:1]))
    with pytest.raises(ValueError, match="normalised anew"):
        finished(Aligner(engine, REFERENCES).extend(samples, first, 500, slots, numbers))


def test_reads_come_in_launches(shaped: Engine) -> None:
    """Many reads go through the device some at a time, with the same result."""
    samples, first = make_samples(300, 90, 6)
    aligner = Aligner(shaped, REFERENCES)
    at_once = aligner.align(samples, first, 90)
    with mock.patch.object(strip_aligner.StripAligner, "reads_at_a_time", return_value=64):
        in_parts = aligner.align(samples, first, 90)
    np.testing.assert_array_equal(at_once.cost, in_parts.cost)
    np.testing.assert_array_equal(at_once.column, in_parts.column)


def test_scores_saturate(shaped: Engine) -> None:
    """Where 16 bits end the cost is the largest one, and there is no place. GPUs count so many rows in integers."""
    far = replace(random_squiggle([30]), levels=np.resize([90.0] * 9 + [85.0], 60))  # samples are not near either
    samples = np.tile(np.array([-30_000] * 50 + [30_000] * 50, np.int16), 50)
    first = np.zeros(1, np.int64)
    wide = AlignOptions(arithmetic="int32", step=1)
    narrow = AlignOptions(step=1)
    exact = Aligner(shaped, [far], wide).align(samples, first, 5_000)
    found = Aligner(shaped, [far], narrow).align(samples, first, 5_000)
    assert exact.cost[0, 0] > SATURATED
    assert (found.cost[0, 0], found.column[0, 0]) == (SATURATED, -1)
    check(exact, samples, first, 5_000, [far], wide)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("bonus", BONUSES)
def test_saturated_scores_are_cut_in_every_cell(shaped: Engine, bonus: Bonus) -> None:
    """A bonus makes them less again."""
    flat = replace(random_squiggle([40]), levels=np.full(80, 90.0))
    options = AlignOptions(bonus=bonus, step=1)
    samples = np.concatenate([np.tile([-30_000, 30_000], 750), np.zeros(300)]).astype(np.int16)
    first = np.zeros(1, np.int64)
    saturated = []
    for prefix in (1000, 1500, 1540, 1800):
        found = Aligner(shaped, [flat], options).align(samples, first, prefix)
        check(found, samples, first, prefix, [flat], options)
        saturated.append(found.cost[0, 0] >= SATURATED)
    assert saturated[:2] == [False, True]


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("bonus", BONUSES)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.pairwise
def test_scores_at_the_end_of_their_range(shaped: Engine, norm: Norm, cost: Cost, bonus: Bonus) -> None:
    """A bonus is not subtracted from a score that is saturated, and levels that are furthest apart cost the most."""
    options = AlignOptions(norm, cost, bonus, step=1)
    reference = replace(random_squiggle([40], 6), levels=np.resize([90.0] * 19 + [9e5], 80))
    rows = 2100 if cost == "absolute" else 1050  # about 32, and 64 for each
    rows = 2 * rows if options.level_bits == 7 else rows
    samples = np.resize(np.array([-900, 900], np.int16), 3 * rows)
    samples[50::400] = -30_000
    seen = set()
    first = np.zeros(1, np.int64)
    for prefix in (rows * 3 // 4, rows, rows + rows // 12, 3 * rows - 10):
        found = Aligner(shaped, [reference], options).align(samples, first, prefix)
        check(found, samples, first, prefix, [reference], options)
        seen |= set((found.cost[:, 0] >= SATURATED).tolist())
        np.testing.assert_array_equal(found.column < 0, found.cost >= SATURATED)
    assert seen == {True, False}


def test_a_constant_signal_is_like_no_reference(shaped: Engine) -> None:
    """It has no standard scores, and must not be taken for a k-mer of the mean's level."""
    reference = random_squiggle([300], 12)
    flat, own = np.full(2000, 480, np.int16), (np.repeat(reference.levels[:223], 9)[:2000] * 5).astype(np.int16)
    found = Aligner(shaped, [reference]).align(np.concatenate([flat, own]), np.array([0, 2000]), 2000)
    assert found.cost[0, 0] > 10 * found.cost[1, 0] > 0


def test_no_reads_and_no_references(engine: Engine) -> None:
    found = Aligner(engine, REFERENCES).align(np.empty(0, np.int16), np.empty(0, np.int64), 500)
    assert found.cost.shape == found.column.shape == (0, 3)
    with pytest.raises(UsageError, match="no reference"):
        Aligner(engine, [])
    with pytest.raises(ParameterError, match="at least the 3 samples"):
        Aligner(engine, REFERENCES).align(np.zeros(9, np.int16), np.zeros(1, np.int64), 2)


@pytest.mark.usefixtures("narrow", "short_blocks")
@pytest.mark.parametrize("options", [AlignOptions(), CRESCENT, SQUIGGLEFILTER], ids=str)
def test_stages_give_what_each_prefix_gives(shaped: Engine, options: AlignOptions) -> None:
    """Of fewer and fewer reads, and with a prefix that ends within a block."""
    aligner = Aligner(shaped, REFERENCES, options)
    samples, first = make_samples(20, 400, 9)
    staged, places = StagedReads(aligner, 25), np.random.default_rng(1).permutation(25)[:20]
    reads = np.arange(20)
    for prefix in (100, 155, 200, 400):
        found = finished(staged.align(samples, first[reads], prefix, places[reads], reads))
        whole = aligner.align(samples, first[reads], prefix)
        np.testing.assert_array_equal(found.cost, whole.cost)
        np.testing.assert_array_equal(found.column, whole.column)
        reads = reads[::2]


def test_places_get_new_reads(engine: Engine) -> None:
    """Reads that are new, that go on from different prefixes, and that come again, side by side."""
    aligner = Aligner(engine, REFERENCES, CRESCENT)
    samples, first = make_samples(6, 2000, 10)
    staged, places = StagedReads(aligner, 6), np.arange(6)
    finished(staged.align(samples, first[:2], 500, places[:2], np.array([7, 8])))
    finished(staged.align(samples, first[2:4], 1000, places[2:4], np.array([9, 10])))
    finished(staged.align(samples, first[4:], 1500, places[4:], np.array([11, 12])))
    reads = np.array([7, 99, 9, 10, 11, 98])
    found = finished(staged.align(samples, first, 1500, places, reads))
    np.testing.assert_array_equal(found.cost, aligner.align(samples, first, 1500).cost)
    again = finished(staged.align(samples, first, 1500, places, reads))
    np.testing.assert_array_equal(again.cost, found.cost)


def test_launches_that_fail_leave_scores_where_they_were(engine: Engine) -> None:
    aligner = Aligner(engine, REFERENCES, CRESCENT)
    samples, first = make_samples(3, 1500, 11)
    slots, numbers = aligner.slots(3), np.arange(3)
    finished(aligner.extend(samples, first, 500, slots, numbers))
    with mock.patch.object(Engine, "launch", side_effect=DeviceLostError("gone")), pytest.raises(DeviceLostError):
        finished(aligner.extend(samples, first, 1000, slots, numbers))
    found = finished(aligner.extend(samples, first, 1000, slots, numbers))
    np.testing.assert_array_equal(found.cost, aligner.align(samples, first, 1000).cost)


def test_slots_leave_room(engine: Engine) -> None:
    with Engine(engine.device, max_memory=64 << 20) as small:
        aligner = Aligner(small, REFERENCES, CRESCENT)
        count = aligner.slots_that_fit()
        assert reads_together(aligner, 10) == 10
        assert reads_together(aligner, 10**9) == count
        assert reads_together(Aligner(small, REFERENCES), 10**9) == 10**9
        samples, first = make_samples(3, 1000, 1)
        slots = aligner.slots(count)
        finished(aligner.extend(samples, first, 500, slots, np.array([0, 1, count - 1])))
        found = finished(aligner.extend(samples, first, 1000, slots, np.array([0, 1, count - 1])))
        np.testing.assert_array_equal(found.cost, aligner.align(samples, first, 1000).cost)


def test_launches_in_turn_share_memory(shaped: Engine) -> None:
    """Works whose launches mix find what each finds by itself, in the memory of one launch and the results of two."""
    calls = [make_samples(reads, 700, seed) for seed, reads in enumerate((5, 130, 2, 64, 90))]
    prefixes = (300, 700, 500, 100, 650)
    aligner = Aligner(shaped, REFERENCES)
    alone = [aligner.align(*call, prefix) for call, prefix in zip(calls, prefixes, strict=True)]
    with Engine(shaped.device, max_memory=1 << 20, tuning=shaped.tuning) as small:
        aligner = Aligner(small, REFERENCES)
        sizes, size = [], strip_aligner.StripAligner.reads_at_a_time

        def noted(self: strip_aligner.StripAligner, rows: int) -> int:
            sizes.append((rows, size(self, rows)))
            return sizes[-1][1]

        with mock.patch.object(strip_aligner.StripAligner, "reads_at_a_time", noted):
            for _ in range(2):
                works = [aligner.steps(*call, prefix) for call, prefix in zip(calls, prefixes, strict=True)]
                for found, wanted in zip(in_turn(works, strip_aligner.TOGETHER), alone, strict=True):
                    np.testing.assert_array_equal(found.cost, wanted.cost)
                    np.testing.assert_array_equal(found.column, wanted.column)
    assert len(set(sizes)) == len({rows for rows, _ in sizes})  # launches do not shrink


def test_only_new_samples_cost_work(engine: Engine) -> None:
    """With blocks, a longer prefix brings only the rows to the device that have not been aligned."""
    aligner = Aligner(engine, REFERENCES, CRESCENT)
    samples, first = make_samples(3, 1500, 1)
    slots, numbers = aligner.slots(3), np.arange(3)
    finished(aligner.extend(samples, first, 1000, slots, numbers))
    with mock.patch.object(Normaliser, "levels", autospec=True, side_effect=Normaliser.levels) as levels:
        finished(aligner.extend(samples, first, 1500, slots, numbers))
    assert levels.call_args.kwargs["skipped"] == 1000


def test_slots_take_what_is_planned(engine: Engine) -> None:
    for options in (CRESCENT, SQUIGGLEFILTER):
        shape = cell_shape(options, 1000, vector_bytes=0)
        strips, bonus = ReferenceStrips(engine, REFERENCES, options, shape), options.bonus != "none"
        slots = Slots(engine, strips, shape, bonus, 3)
        assert slots.kept.nbytes == 3 * Slots.bytes_of(strips, shape, bonus)


def test_places_are_columns_of_their_references(engine: Engine) -> None:
    shape = cell_shape(AlignOptions(), 1000, vector_bytes=32)
    strips = ReferenceStrips(engine, REFERENCES, AlignOptions(), shape)
    levels = engine.download(strips.levels)
    for number, one in enumerate(REFERENCES):
        own = np.arange(strips.bounds[number], strips.bounds[number + 1])
        places = np.concatenate([shape.strip * strip + np.arange(strips.facts[strip] & (BEGINS - 1)) for strip in own])
        assert strips.columns_at(places.astype(np.int32)).tolist() == list(range(len(one)))
        expected = normalised_levels(one.levels, one.column_strand, AlignOptions())
        np.testing.assert_array_equal(levels[places], expected)
    assert strips.columns_at(np.array([-1, 0], np.int32)).tolist() == [-1, 0]
