"""Sections from slots: the same bytes as NumPy's of the same k-mers, however slots lie and come."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.products import examples
from helpers.slots import slots_of
from hypothesis import HealthCheck, given, settings, strategies as st

from oclgenomics.io.atomic_file import Appending, whole_file
from oclgenomics.kmers.database.codec import encode_sections
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.device.encode_cpu import CpuDeviceEncoder
from oclgenomics.kmers.device.encode_kernels import Span
from oclgenomics.kmers.device.slots import SlotBins, Slots, runs_of
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import memory as section_plan
from oclgenomics.kmers.plan.bins import SlotLayout
from oclgenomics.kmers.plan.memory import TALLIED
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Device, Engine
from oclgenomics.runtime.program import Kernel

FIXTURE = settings(max_examples=examples(90), suppress_health_check=[HealthCheck.function_scoped_fixture])
# K-mers and the bits that their bins keep, at least and at most; as many words of slots and of k-mers in a line.
SHAPES = (
    *((1, 1, 2), (2, 1, 4), (15, 1, 30), (16, 1, 32), (21, 3, 42), (28, 20, 56), (31, 32, 56)),
    *((29, 57, 58), (31, 57, 62), (32, 57, 64)),
    *((33, 2, 56), (47, 30, 56)),
    *((33, 57, 66), (47, 57, 94), (55, 57, 110), (60, 64, 120), (64, 113, 120)),
    *((90, 121, 180), (96, 169, 184), (101, 185, 198), (128, 225, 248)),
    *((256, 449, 504),),
)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two sections, one of which is gathered."""
    monkeypatch.setattr(section_plan, "SECTIONS_EACH", 0)
    monkeypatch.setattr(section_plan, "MIN_ENCODED", 2)
    monkeypatch.setattr(section_plan, "MAX_HELD", 1)


def numbers_to_keys(numbers: list[int], k: int) -> np.ndarray:
    """Numbers as keys: uint64 (words, n)."""
    return np.array([[n >> 64 * w & (1 << 64) - 1 for n in numbers] for w in range(key_words(k))], np.uint64)


def many_kmers(size: int, k: int = 31, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Random k-mers over all of 4^k, which has to be much more, and counts as those of reads."""
    rng = np.random.default_rng(seed)
    bits = min(2 * k, 64)
    mean = (1 << bits) // size
    keys = rng.integers(0, 1 << 64, (key_words(k), size), np.uint64)
    top = np.cumsum(rng.integers(1, mean, size, np.uint64))
    spare = 2 * k - 64 * (key_words(k) - 1)
    keys[-1] = top >> np.uint64(bits - min(bits, spare))
    if len(keys) > 1 and spare < 64:
        keys[-2] = top << np.uint64(spare)
    counts = np.where(rng.random(size) < 0.7, 1, 1 + rng.poisson(9, size))
    counts[rng.random(size) < 0.001] = 1 + rng.integers(0, 1 << rng.integers(1, 32))
    return keys, counts.astype(np.uint32)


def write_block(path: Path, k: int, keys: np.ndarray, counts: np.ndarray) -> bytes:
    with DatabaseWriter(path, CountOptions(k), threads=1) as writer:
        writer.append(KmerBlock(keys, counts))
    return path.read_bytes()


def write_slots(path: Path, engine: Engine, k: int, parts: Iterable[Slots | Runs]) -> bytes:
    with DatabaseWriter(path, CountOptions(k), engine=engine, threads=2) as writer:
        writer.append_all(parts)
    return path.read_bytes()


def cut(engine: Engine, keys: np.ndarray, counts: np.ndarray, cuts: list[int], rests: list[int], seed: int) -> list:
    """Parts that end at `cuts`, whose bins keep `rests` bits in turn; 0 stands for runs."""
    parts: list[Slots | Runs] = []
    rng = np.random.default_rng(seed)
    for (begin, end), rest in zip(itertools.pairwise([0, *cuts, len(counts)]), itertools.cycle(rests)):
        own, of_own = np.ascontiguousarray(keys[:, begin:end]), counts[begin:end]
        if rest:
            parts.append(slots_of(engine, own, of_own, rest, rng))
        else:
            parts.append(Runs(engine.upload(own), engine.upload(of_own), end - begin))
    return parts


def check_encoder(engine: Engine, path: Path, k: int, keys: np.ndarray, counts: np.ndarray, slots: Slots) -> None:
    """A section of slots alone, which writers make of less than a section only behind others."""
    if not engine.tuning.cpu or not slots.size:
        return
    with ThreadPoolExecutor(1) as pool, whole_file(path) as file:
        encoder = CpuDeviceEncoder(engine, k, Appending(file, pool), section_plan.SectionPlan(engine.limits(), k))
        none = Span(engine.empty((key_words(k), 1), np.uint64), engine.empty(1, np.uint32), 0, 0)
        assert len([*encoder.encode_slots(none, SlotBins(engine, slots), 0, slots.size), *encoder.drain()]) == 1
        encoder.close()
    assert path.read_bytes() == encode_sections(keys, counts)[0]


@FIXTURE
@given(shape=st.sampled_from(SHAPES), data=st.data(), seed=st.integers(0, 1 << 32))
def test_gaps_and_counts_of_any_width(
    tmp_path_factory: pytest.TempPathFactory,
    shaped: Engine,
    shape: tuple[int, int, int],
    data: st.DataObject,
    seed: int,
) -> None:
    (k, low, high), rng = shape, np.random.default_rng(seed)
    widths = data.draw(st.lists(st.integers(0, 2 * k - 1), min_size=1, max_size=60))
    gaps = [1 + int.from_bytes(rng.bytes(64), "little") % (1 << width) for width in widths]
    keys = numbers_to_keys([number for number in itertools.accumulate(gaps) if number < 1 << 2 * k], k)
    size = keys.shape[1]
    rests = data.draw(st.lists(st.integers(low, high), min_size=1, max_size=3))
    counts = 1 + (rng.integers(0, 1 << 32, size, np.uint64) >> rng.integers(0, 32, size, np.uint64)).astype(np.uint32)
    many = SlotLayout(rests[0]).many
    near = np.array([many - 1, many, min(many + 1, (1 << 32) - 1), (1 << 32) - 1, TALLIED - 1, TALLIED], np.uint32)
    counts = np.maximum(np.where(rng.random(size) < 0.3, rng.choice(near, size), counts), 1).astype(np.uint32)
    cuts = sorted(data.draw(st.lists(st.integers(0, size), max_size=3)))
    path = tmp_path_factory.mktemp("slots") / "set"
    parts = cut(shaped, keys, counts, cuts, rests, seed)
    for part, (begin, end) in zip(parts, itertools.pairwise([0, *cuts, size]), strict=True):
        found = runs_of(shaped, part, k)
        assert found.size == end - begin
        if found.size:
            np.testing.assert_array_equal(shaped.download(found.keys), keys[:, begin:end])
            np.testing.assert_array_equal(shaped.download(found.counts), counts[begin:end])
    assert write_slots(path, shaped, k, parts) == write_block(path, k, keys, counts)
    check_encoder(shaped, path, k, keys, counts, slots_of(shaped, keys, counts, rests[0], rng))


@pytest.mark.parametrize(("k", "rest"), [(55, 110), (64, 120), (96, 184), (101, 190), (128, 248)])
def test_gaps_of_ones(tmp_path: Path, engine: Engine, k: int, rest: int) -> None:
    """All within a bin: words of neighbours are equal, and what is borrowed goes through them."""
    gaps = [1 << 40, *((1 << width) - low for width in range(2, rest - 6, 3) for low in (0, 1, 2))]
    keys = numbers_to_keys([*itertools.accumulate(gaps)], k)
    counts = np.arange(1, len(gaps) + 1, dtype=np.uint32)
    check_encoder(engine, tmp_path / "set", k, keys, counts, slots_of(engine, keys, counts, rest))


@pytest.mark.parametrize(("k", "rest"), [(31, 50), (55, 92)])
@pytest.mark.parametrize(
    "size", [1, SECTION_KMERS - 1, SECTION_KMERS, SECTION_KMERS + 1, 4 * SECTION_KMERS + 1, 5 * SECTION_KMERS - 1]
)
@pytest.mark.usefixtures("small_blocks")
def test_sizes_around_borders(tmp_path: Path, engine: Engine, size: int, k: int, rest: int) -> None:
    keys, counts = many_kmers(size, k)
    whole = write_block(tmp_path / "set", k, keys, counts)
    middle = min(size, SECTION_KMERS + 7)
    for cuts in ([], [middle]):
        assert write_slots(tmp_path / "set", engine, k, cut(engine, keys, counts, cuts, [rest], 1)) == whole


def test_last_section_needs_no_other_kernel(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes keys would have to be compiled for each width of k."""
    if not engine.tuning.cpu:
        pytest.skip("of CPUs")
    asked: list[str] = []
    kernel = engine.kernel

    def asking(source: str, *args: Any, **defines: Any) -> Kernel:
        asked.append(source)
        return kernel(source, *args, **defines)

    monkeypatch.setattr(engine, "kernel", asking)
    keys, counts = many_kmers(SECTION_KMERS + 7)
    write_slots(tmp_path / "set", engine, 31, cut(engine, keys, counts, [], [50], 1))
    assert "kmers/encode_slots.cl" in asked
    assert "kmers/encode_cpu_device.cl" not in asked


@pytest.mark.usefixtures("small_blocks")
def test_parts_cut_anywhere(tmp_path: Path, shaped: Engine) -> None:
    """Slots of several layouts, and runs among them."""
    size = 5 * SECTION_KMERS + 321
    keys, counts = many_kmers(size)
    whole = write_block(tmp_path / "set", 31, keys, counts)
    for cuts, rests in (
        ([SECTION_KMERS], [50, 42]),
        ([0, 0, 1, 2, 2, 2 * SECTION_KMERS + 2, 4 * SECTION_KMERS], [40, 50, 0, 62]),
        ([*range(0, size, 9973)], [50, 0, 46]),
        ([2 * SECTION_KMERS - 1, 2 * SECTION_KMERS, 2 * SECTION_KMERS + 1], [0, 50]),
        ([size - 1, size, size], [56, 57, 50]),
    ):
        assert write_slots(tmp_path / "set", shaped, 31, cut(shaped, keys, counts, cuts, rests, size)) == whole


@pytest.mark.parametrize("few", [0, 1, 5, SECTION_KMERS - 77])
@pytest.mark.parametrize("more", [0, 77])
@pytest.mark.usefixtures("small_blocks")
def test_slots_behind_runs_of_a_section_and_more(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch, more: int, few: int
) -> None:
    monkeypatch.setattr(section_plan, "MAX_HELD", 2)
    keys, counts = many_kmers(4 * SECTION_KMERS)
    runs = SECTION_KMERS + more
    parts = cut(engine, keys, counts, [runs, runs + few], [0, 50, 42], 1)
    whole = write_block(tmp_path / "set", 31, keys, counts)
    assert write_slots(tmp_path / "set", engine, 31, parts) == whole


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.usefixtures("small_blocks")
def test_slots_are_overwritten_as_soon_as_they_were_taken(
    tmp_path_factory: pytest.TempPathFactory, engine: Engine, data: st.DataObject
) -> None:
    """Kernels may write them, even while their sections are encoded: tables do with the next part."""
    size = 5 * SECTION_KMERS + 321
    keys, counts = many_kmers(size)
    near = st.builds(lambda sections, more: sections * SECTION_KMERS + more, st.integers(0, 5), st.integers(-2, 300))
    cuts = sorted(min(max(place, 0), size) for place in data.draw(st.lists(near, max_size=6)))

    def lent() -> Iterator[Slots | Runs]:
        for part in cut(engine, keys, counts, cuts, [50, 42, 0], 4):
            yield part
            if isinstance(part, Slots):
                engine.fill(part.words, np.uint64(0x5555555555555555))

    path = tmp_path_factory.mktemp("slots") / "set"
    assert write_slots(path, engine, 31, lent()) == write_block(path, 31, keys, counts)


def test_many_blocks(tmp_path: Path, engine: Engine) -> None:
    keys, counts = many_kmers(47 * SECTION_KMERS + 5, 21)
    parts = cut(engine, keys, counts, [23 * SECTION_KMERS + 1], [30], 3)
    assert write_slots(tmp_path / "set", engine, 21, parts) == write_block(tmp_path / "set", 21, keys, counts)


@pytest.mark.parametrize("counts", [1, 2, 240, TALLIED, "falling", "wide"])
def test_counts_of_one_kind(tmp_path: Path, engine: Engine, counts: int | str) -> None:
    """All words of counts are alike, or widths change at every place."""
    keys, _ = many_kmers(SECTION_KMERS + 961)
    places = np.arange(keys.shape[1], dtype=np.uint32)
    kinds = {"falling": 1 + (1 << places % 9) - (places % 2), "wide": 1 << (places % 241 // 8)}
    of_all = (kinds[counts] if isinstance(counts, str) else np.full_like(places, counts)).astype(np.uint32)
    parts = [slots_of(engine, keys, of_all, 50)]
    assert write_slots(tmp_path / "set", engine, 31, parts) == write_block(tmp_path / "set", 31, keys, of_all)


def test_without_room_on_the_device(tmp_path: Path, device: Device) -> None:
    """NumPy encodes where the device's memory is small."""
    keys, counts = many_kmers(SECTION_KMERS + 99)
    whole = write_block(tmp_path / "set", 31, keys, counts)
    for memory in (4 << 20, 40 << 20):
        with Engine(device, max_memory=memory) as engine:
            parts = cut(engine, keys, counts, [SECTION_KMERS // 2], [50], 1)
            assert write_slots(tmp_path / "set", engine, 31, parts) == whole
            del parts
            assert engine.memory.used == 0


def test_memory_is_small(tmp_path: Path, device: Device) -> None:
    """On CPUs, what is there beside slots, whose rooms are not touched as a whole, either."""
    if device.kind != "cpu" or device.compute_units > 4:
        pytest.skip("of CPUs with few cores")
    for k in (21, 31, 64):
        with Engine(device) as engine:
            with DatabaseWriter(tmp_path / "set", CountOptions(k), engine=engine):
                pass
            assert engine.memory.peak < 52 << 20


@pytest.mark.parametrize(
    ("place", "words"),
    [
        *((place, 1) for place in (1, 777, SECTION_KMERS - 1, SECTION_KMERS, 2 * SECTION_KMERS)),
        *((1234, 2), (SECTION_KMERS, 2), (99, 3), (99, 4)),
    ],
)
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.usefixtures("small_blocks")
def test_disorder_anywhere(tmp_path: Path, engine: Engine, place: int, words: int, equal: bool) -> None:
    k, rest = {1: (31, 50), 2: (55, 92), 3: (90, 150), 4: (101, 190)}[words]
    keys, counts = many_kmers(2 * SECTION_KMERS + 9, k)
    if equal:
        keys[:, place] = keys[:, place - 1]
    else:
        keys[:, [place - 1, place]] = keys[:, [place, place - 1]]
    for cuts in ([], [place - 1], [place], [place + 1]):  # what comes before is held if it is less than a section
        with pytest.raises(ValueError, match="ascending"):
            write_slots(tmp_path / "set", engine, k, cut(engine, keys, counts, cuts, [rest], 1))
        assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("small_blocks")
def test_disorder_between_parts(tmp_path: Path, engine: Engine) -> None:
    keys, counts = many_kmers(SECTION_KMERS)
    for before, after in ((keys, keys), (keys[:, 5:], keys[:, :5]), (keys[:, :5], keys[:, 4:])):
        parts = [slots_of(engine, part, counts[: part.shape[1]], 50) for part in (before, after)]
        with pytest.raises(ValueError, match="ascending"):
            write_slots(tmp_path / "set", engine, 31, parts)


@pytest.mark.parametrize("place", [0, 5, SECTION_KMERS - 1, SECTION_KMERS])
def test_counts_of_0(tmp_path: Path, engine: Engine, place: int) -> None:
    keys, counts = many_kmers(SECTION_KMERS + 10)
    counts[place] = 0
    with pytest.raises(ValueError, match="count is 0"):
        write_slots(tmp_path / "set", engine, 31, [slots_of(engine, keys, counts, 50)])


def test_what_does_not_suit(tmp_path: Path, engine: Engine) -> None:
    keys, counts = many_kmers(9, 21)
    slots = slots_of(engine, keys, counts, 40)
    with pytest.raises(ValueError, match="more than 20 bases"):
        write_slots(tmp_path / "set", engine, 20, [slots])
    with pytest.raises(ValueError, match="keep 40 bits of k-mers of 19 bases"):
        write_slots(tmp_path / "set", engine, 19, [slots])
    wrong = Slots(slots.layout, engine.upload(np.zeros(9, np.uint64)), *[slots.heads] * 3, *[slots.large_counts] * 2)
    short = Slots(slots.layout, slots.words, slots.heads[1:], slots.begins, slots.sizes, *[slots.large_counts] * 2)
    for one in (wrong, short):
        with pytest.raises(ValueError, match="do not suit"):
            write_slots(tmp_path / "set", engine, 21, [one])
    with DatabaseWriter(tmp_path / "set", CountOptions(21)) as writer, pytest.raises(ValueError, match="not slots"):
        writer.append_slots(slots)
