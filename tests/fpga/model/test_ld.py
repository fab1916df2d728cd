"""The LD engine: its counts against plain r2, its cycles against a loop over every cycle, its size and its limits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from hls_model import PRESETS, ModelError, Workload, load
from hls_model.boards import Amount
from hls_model.ld import COUNT_BITS, Engine, LdTiming, count_tile, engine_of, pack_words, r2_of, tile_pairs, time_ld
from hls_model.resources import check_fits, estimate
from hls_model.resources.engines import engine_parts, ld_parts, popcount
from hls_model.workload import blocks_of, reaches
from tests.helpers.ld_array_oracle import cycles_of

SCAN = Workload.uniform(3_000, grid=100, samples=500)


@st.composite
def scans(draw: st.DrawFn) -> Workload:
    """Scans of a few SNPs with windows that may be apart."""
    gaps = draw(st.lists(st.integers(0, 40), min_size=4, max_size=60))
    return Workload.from_positions(
        np.cumsum([1, *gaps]).astype(np.int64),
        grid=draw(st.integers(2, 12)),
        minwin=draw(st.integers(0, 20)),
        maxwin=draw(st.integers(20, 300)),
        samples=10,
    )


def pairs_of(scan: Workload) -> set[tuple[int, int]]:
    """Every pair of SNPs that shares a window, one by one."""
    found = set()
    for position in np.flatnonzero(scan.left * scan.right):
        inside = range(scan.first[position], scan.last[position] + 1)
        found |= {(i, j) for i in inside for j in inside if i < j}
    return found


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 150), st.sampled_from([8, 16, 64]), st.floats(0.0, 1.0))
def test_the_array_counts_what_plain_r2_needs(seed: int, samples: int, word_bits: int, share: float) -> None:
    random = np.random.default_rng(seed)
    states = random.random((9, samples)) < share * random.random((9, 1))
    words = pack_words(states, word_bits)
    assert words.shape == (-(-samples // word_bits), 9, word_bits // 8)
    pairs, (rows, columns) = count_tile(words[:, :5], words[:, 5:])
    whole = states.astype(np.int64)
    assert np.array_equal(pairs, whole[:5] @ whole[5:].T)
    assert rows.tolist() == whole[:5].sum(1).tolist()
    assert columns.tolist() == whole[5:].sum(1).tolist()
    found = r2_of(pairs, rows, columns, samples)
    for i, j in np.ndindex(found.shape):
        p, q, both = whole[i].mean(), whole[5 + j].mean(), (whole[i] * whole[5 + j]).mean()
        spread = p * (1 - p) * q * (1 - q)
        assert found[i, j] == pytest.approx((both - p * q) ** 2 / spread if spread else 0.0, rel=1e-5, abs=1e-9)


engines = st.builds(
    Engine,
    rows=st.integers(1, 4),
    columns=st.integers(1, 4),
    tile=st.integers(1, 9),
    words=st.integers(1, 4),
    word_bytes=st.sampled_from([1, 2, 8]),
    port_bytes=st.sampled_from([4, 8, 16, 64]),
    r2_units=st.integers(1, 5),
    latency=st.integers(1, 20),
    depth=st.integers(1, 20),
)


@settings(max_examples=300)
@given(engines, st.integers(0, 6))
def test_cycles_are_those_of_the_loop(engine: Engine, tiles: int) -> None:
    timing = LdTiming(engine, tiles)
    assert timing.cycles == cycles_of(engine, tiles)
    assert timing.bytes_read == tiles * 2 * engine.tile * engine.words * engine.word_bytes  # both sides
    assert timing.bytes_written == tiles * 4 * engine.tile**2
    assert timing.serial_cycles >= timing.cycles


@given(engines, st.integers(1, 50))
def test_no_engine_beats_its_units_ports_or_pipelines(engine: Engine, tiles: int) -> None:
    timing = LdTiming(engine, tiles)
    assert timing.cycles * engine.rows * engine.columns >= timing.word_pairs
    assert timing.cycles * engine.port_bytes >= max(timing.bytes_read, timing.bytes_written)
    assert timing.cycles * engine.r2_units >= tiles * engine.tile**2


@settings(max_examples=150)
@given(scans(), st.integers(1, 30))
def test_tiles_are_those_that_hold_a_pair(scan: Workload, tile: int) -> None:
    needed = {(i // tile, j // tile) for i, j in pairs_of(scan)}
    furthest = {row: max(column for other, column in needed if other == row) for row, _ in needed}
    assert tile_pairs(scan, tile) == sum(last - row + 1 for row, last in furthest.items())
    assert tile_pairs(scan, tile) - len(needed) <= len(furthest)  # no more than the tile on the diagonal is spared
    assert tile_pairs(scan, tile, all_pairs=True) == (-(-scan.snps // tile)) ** 2


@settings(max_examples=150)
@given(scans(), st.integers(1, 30))
def test_reach_of_every_snp(scan: Workload, size: int) -> None:
    pairs = pairs_of(scan)
    reach = {i: max(j for other, j in pairs if other == i) for i, _ in pairs}
    runs = reaches(scan)
    found = {
        snp: last
        for first, stop, last in zip(runs.first, runs.stop, runs.last, strict=True)
        for snp in range(first, stop)
    }
    assert found == reach
    assert runs.columns == len(reach)
    assert sum(last - snp for snp, last in reach.items()) == len(pairs) == scan.window_pairs
    blocks = blocks_of(runs, size)
    members = {number: [snp for snp in reach if snp // size == number] for number in {snp // size for snp in reach}}
    assert blocks.number.tolist() == sorted(members)
    assert blocks.first.tolist() == [min(members[number]) for number in sorted(members)]
    assert blocks.last.tolist() == [max(reach[snp] for snp in members[number]) for number in sorted(members)]


@pytest.mark.parametrize("units", [16, 64, 256])
def test_more_units_samples_and_words(units: int) -> None:
    design = load("u200").but(ld_units=units)
    cycles = time_ld(SCAN, design).cycles
    assert time_ld(SCAN, design.but(ld_units=2 * units)).cycles <= cycles
    assert time_ld(SCAN, design.but(ld_r2_units=2 * design.ld_r2_units)).cycles <= cycles
    assert time_ld(SCAN, design.but(ld_word_bits=128)).cycles <= cycles
    assert time_ld(dataclasses.replace(SCAN, samples=5_000), design).cycles > cycles
    assert time_ld(SCAN, design, all_pairs=True).cycles > cycles


def test_what_binds_is_named() -> None:
    many = dataclasses.replace(SCAN, samples=50_000)
    assert time_ld(many, load("u200")).bound == "units"
    assert time_ld(SCAN, load("u200")).bound == "r2 pipelines"
    assert time_ld(many, load("zcu102").but(ld_units=1024)).bound == "ports"


def test_units_side_by_side_are_as_square_as_they_can_be() -> None:
    for units, rows in ((1, 1), (7, 1), (64, 8), (96, 8), (512, 16)):
        engine = engine_of(load("u200").but(ld_units=units), 100)
        assert (engine.rows, engine.rows * engine.columns) == (rows, units)


def test_counters_end_somewhere() -> None:
    design = load("u200")
    engine_of(design, (1 << 24) - 1)
    with pytest.raises(ModelError, match=r"16,777,216 haplotypes; .* LD engine count to 16,777,215"):
        engine_of(design, 1 << 24)


@pytest.mark.parametrize("name", PRESETS)
def test_the_engine_counts_towards_what_fits(name: str) -> None:
    design = load(name)
    alone, whole = estimate(design, pipelines_only=True).total, check_fits(design).total
    engine = sum((part.total.lut for part in ld_parts(design)), 0)
    others = sum((part.total.lut for part in engine_parts(design.but(ld="published"))), 0)
    assert whole.lut == alone.lut + engine + others
    assert not ld_parts(design.but(ld="published"))
    with pytest.raises(ModelError, match="LUT"):
        check_fits(design.but(ld_units=16_384))


UNITS = [(True, 114, 156), (False, 93, 113)]  # of 64 bits by Yosys 0.23


@pytest.mark.parametrize(("pairs", "lut", "ff"), UNITS)
def test_a_unit_is_a_little_larger_than_a_synthesis_makes_it(pairs: bool, lut: int, ff: int) -> None:
    """Yosys makes these of such a tree for 64 bits with an accumulator (see hls_model.resources.engines)."""
    unit = popcount(64, pairs=pairs) + Amount(ff=COUNT_BITS, lut=COUNT_BITS)
    assert lut <= unit.lut < 1.35 * lut
    assert ff <= unit.ff < 1.05 * ff


@pytest.mark.parametrize(("tile", "luts"), [(128, 1), (256, 4)])
def test_accumulators_lie_in_luts(tile: int, luts: int) -> None:
    """A LUT holds 64 bits; a unit has an accumulator for each of its pairs, twice, and a port to read them."""
    design = load("u200").but(ld_tile_snps=tile)
    assert engine_of(design, 1).rounds == 64 * luts
    unit = ld_parts(design)[0]
    assert unit.count == 256
    adder = COUNT_BITS
    assert unit.each.lut == popcount(64, pairs=True).lut + adder + 2 * 2 * COUNT_BITS * luts


def test_a_first_level_counts_in_lut6() -> None:
    assert popcount(6, pairs=False).lut == 3
    assert popcount(3, pairs=True).lut == 2
    sizes = [popcount(bits, pairs=True).lut for bits in (8, 16, 32, 64, 128)]
    assert sizes == sorted(sizes)
    assert popcount(64, pairs=False).lut < popcount(64, pairs=True).lut
