"""Sets added up on a device: what NumPy makes of them, however their sections come and however few fit at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import random_set, write_database
from helpers.products import examples
from hypothesis import HealthCheck, given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.kmers import sets
from oclgenomics.kmers.database.codec import encode_sections
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import CountedKmers, KmerBlock, join
from oclgenomics.kmers.database.section_file import STRETCH_SECTIONS, Sections
from oclgenomics.kmers.device.merging import plan_of, summed_runs
from oclgenomics.kmers.device.parts import downloaded
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.plan import memory
from oclgenomics.kmers.plan.memory import MergePlan, merge_plan
from oclgenomics.runtime import Device, Engine

FIXTURE = settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])


class Cut:
    """A set whose sections have so many k-mers each, some of them at a time."""

    def __init__(self, kmers: CountedKmers, sizes: Sequence[int], name: str = "cut") -> None:
        self.name, self.k, self.distinct, self._kmers = name, kmers.k, kmers.distinct, kmers
        cuts = np.cumsum(sizes).tolist()
        self.sections = []
        for begin, end in zip([0, *cuts], [*cuts, kmers.distinct], strict=True):
            if begin < min(end, kmers.distinct):
                data, coded = encode_sections(kmers.keys[:, begin:end], kmers.counts[begin:end])
                self.sections.append(Sections(coded.table, np.frombuffer(data, np.uint8)))

    def stretches(self) -> Iterator[Sections]:
        for begin in range(0, len(self.sections), STRETCH_SECTIONS):
            some = self.sections[begin : begin + STRETCH_SECTIONS]
            yield Sections(np.concatenate([one.table for one in some]), np.concatenate([one.data for one in some]))


def summed(engine: Engine, plan: MergePlan, several: Sequence[Cut | KmerDatabase]) -> tuple[KmerBlock, int]:
    """All k-mers, and how many runs they came in."""
    blocks = [downloaded(engine, runs) for runs in summed_runs(engine, plan, several)]
    assert all(len(block) for block in blocks)
    return join(key_words(several[0].k), iter(blocks)), len(blocks)


def check(found: KmerBlock, several: Sequence[CountedKmers]) -> None:
    expected = join(key_words(several[0].k), sets.union(several))
    np.testing.assert_array_equal(found.keys, expected.keys)
    np.testing.assert_array_equal(found.counts, expected.counts)


@st.composite
def some_sets(draw: st.DrawFn) -> list[CountedKmers]:
    """Sets of k-mers of 1 to 3 words, some of which are in several; some counts are as large as can be."""
    k = draw(st.sampled_from([4, 31, 32, 33, 65, 96]))
    words, bits = key_words(k), 2 * k
    numbers = st.one_of(
        st.integers(0, (1 << bits) - 1),
        st.integers(0, min(60, (1 << bits) - 1)),
        st.integers(0, 7).map(lambda high: high << (bits - 3)),
    )
    counts = st.one_of(st.integers(1, 9), st.sampled_from([MAX_COUNTER, MAX_COUNTER - 1, 1 << 31]))
    found = []
    for held in draw(st.lists(st.dictionaries(numbers, counts, max_size=40), min_size=1, max_size=7)):
        order = sorted(held)
        keys = np.array([[number >> 64 * word & (1 << 64) - 1 for number in order] for word in range(words)], np.uint64)
        found.append(CountedKmers(k, False, keys, np.array([held[number] for number in order], np.uint32)))
    return found


@FIXTURE
@given(several=some_sets(), sizes=st.lists(st.integers(1, 12), min_size=12, max_size=12), most=st.integers(1, 60),
       room=st.integers(0, 3_000))  # fmt: skip
def test_sums_are_those_of_numpy(
    shaped: Engine, several: list[CountedKmers], sizes: list[int], most: int, room: int
) -> None:
    """Rooms hold a stretch always, as plans see to."""
    cut = [Cut(kmers, sizes[place % 3 :]) for place, kmers in enumerate(several)]
    largest = max((some.data.size for each in cut for some in each.stretches()), default=0)
    found, _ = summed(shaped, MergePlan(most, max(room, largest)), cut)
    check(found, several)


def test_databases_are_sets(shaped: Engine, tmp_path: Path) -> None:
    several = [random_set(31, size, seed) for seed, size in enumerate([3_000, 0, 1, 2_000])]
    paths = [write_database(tmp_path / f"{place}.db", kmers) for place, kmers in enumerate(several)]
    opened = [KmerDatabase.open(path) for path in paths]
    plan = plan_of(shaped, opened)
    assert plan is not None
    found, runs = summed(shaped, plan, opened)
    assert runs == 1
    check(found, several)
    for database in opened:
        database.close()


def test_nothing(shaped: Engine) -> None:
    found, runs = summed(shaped, MergePlan(10, 100), [Cut(random_set(9, 0), [])] * 2)
    assert (len(found), runs) == (0, 0)


def test_progress(shaped: Engine) -> None:
    steps: list[tuple[int, int]] = []
    several = [random_set(20, 400, seed) for seed in (1, 2)]
    cut = [Cut(kmers, [10] * 39) for kmers in several]
    for runs in summed_runs(shaped, MergePlan(80, 4_000), cut, lambda done, total: steps.append((done, total or 0))):
        del runs
    every = sum(kmers.distinct for kmers in several)
    assert {total for _, total in steps} == {every}
    assert [done for done, _ in steps] == sorted({done for done, _ in steps})
    assert steps[-1][0] == every
    assert len(steps) > 5


@pytest.mark.parametrize("place", [0, 3, 4, 17])
def test_damage_is_that_of_the_set(shaped: Engine, place: int) -> None:
    kmers = random_set(31, 400)
    cut = [Cut(kmers, [20] * 19, name) for name in ("first", "second", "third")]
    section = cut[1].sections[place]
    data = section.data.copy()
    data[9] ^= 1
    cut[1].sections[place] = replace(section, data=data)
    with pytest.raises(InputError, match=r"second: its k-mers are malformed"):
        summed(shaped, MergePlan(90, 9_000), cut)


@pytest.mark.parametrize("places", [(3, 4), (7, 5), (0, 11)])
def test_sections_out_of_order(shaped: Engine, places: tuple[int, int]) -> None:
    cut = [Cut(random_set(31, 400, seed), [20] * 19, name) for seed, name in enumerate(["first", "second"])]
    one, other = places
    sections = cut[0].sections
    sections[one], sections[other] = sections[other], sections[one]
    with pytest.raises(InputError, match=r"first: its k-mers are malformed.*ascending order"):
        summed(shaped, MergePlan(90, 9_000), cut)


def test_sets_that_cannot_be_read_end_the_merge(shaped: Engine) -> None:
    class Broken(Cut):
        def stretches(self) -> Iterator[Sections]:
            yield from list(super().stretches())[:2]
            raise InputError("cannot be read", source=self.name)

    kmers = random_set(31, 400)
    with pytest.raises(InputError, match="broken: cannot be read"):
        summed(shaped, MergePlan(90, 9_000), [Cut(kmers, [20] * 19), Broken(kmers, [20] * 19, "broken")])


def test_whoever_takes_no_more_ends_it(device: Device) -> None:
    cut = [Cut(random_set(31, 400, seed), [20] * 19) for seed in (1, 2)]
    with Engine(device) as engine:
        runs = summed_runs(engine, MergePlan(90, 9_000), cut)
        next(runs)
        runs.close()  # type: ignore[attr-defined]
        assert engine.memory.used == 0


@pytest.mark.parametrize("k", [5, 31, 65, 256])
@pytest.mark.parametrize("sizes", [[0], [1], [10**9] * 2, [10**7] * 16, [300, 10**8] * 32])
def test_what_is_planned_fits(device: Device, k: int, sizes: list[int]) -> None:
    """Of all that is in use at the same time, by the shapes of what `summed_runs` makes."""
    with Engine(device) as engine:
        limits = engine.limits()
    words, section = key_words(k), memory.SECTION_KMERS
    seen = 0
    for megabytes in (1, 20, 200, 1_000, 4_000, 16_000, 64_000):
        for cpu in (True, False):
            some = replace(limits, budget=megabytes << 20, cpu=cpu, max_allocation=max(1 << 28, megabytes << 18))
            plan = merge_plan(some, k, 1 << 20, sizes, STRETCH_SECTIONS)
            if plan is None:
                continue
            seen += 1
            left = sum(min(size, STRETCH_SECTIONS * section) for size in sizes)
            most = plan.kmers + left  # of those that come with what is left
            assert plan.room_bytes >= STRETCH_SECTIONS * memory.SectionPlan(some, k).max_bytes
            assert (1 << 20) + 2 * plan.room_bytes + most * (3 * (8 * words + 4) + 12) <= some.budget
            assert 8 * words * most <= some.max_allocation
            assert left <= plan.kmers <= max(left, min(sum(sizes), 1 << 24))
    assert seen


def test_memory_that_is_planned_is_what_is_used(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MERGED_ON_CPU", 1 << 18)
    monkeypatch.setattr(memory, "MERGED_ON_GPU", 1 << 18)
    rng = np.random.default_rng(3)
    several = []
    for _ in range(3):
        keys = np.unique(rng.integers(0, 1 << 62, 300_000, np.uint64))
        several.append(CountedKmers(31, True, keys[None], np.ones(len(keys), np.uint32)))
    cut = [Cut(kmers, [8_000] * 38) for kmers in several]
    with Engine(device) as engine:
        before = engine.memory.used
        plan = merge_plan(engine.limits(), 31, before, [kmers.distinct for kmers in several], 1)
        assert plan is not None
        engine.memory.peak = before
        found, runs = summed(engine, plan, cut)
        assert runs > 3
        left = 3 * STRETCH_SECTIONS * 8_000
        most = 2 * plan.room_bytes + 32 + (plan.kmers + left) * (3 * 12 + 12) + (1 << 20)
        assert engine.memory.peak - before <= most
    check(found, several)
