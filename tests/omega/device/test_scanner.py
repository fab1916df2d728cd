"""The scan on every device against the oracle: sizes around block borders, all kinds of data, every kernel and
chunking."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest
from helpers.alignments import (
    assert_same_scan,
    correlated_states,
    make_alignment,
    make_multiallelic,
    random_positions,
    tied_states,
)
from helpers.products import examples, runs_whole
from hypothesis import HealthCheck, given, settings, strategies as st

from oclgenomics.errors import AllocationError, DeviceError, UsageError
from oclgenomics.omega import reference
from oclgenomics.omega.device import kernels as setup
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.device.sites import planes_of
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan import batch, passes as launches
from oclgenomics.omega.plan.windows import TILE
from oclgenomics.omega.result import Scan
from oclgenomics.runtime import Device, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.runtime.tuning import tuning_for
from oclgenomics.variation.alignment import Alignment

WINDOW: dict[str, Any] = {"grid": 25, "minwin": 200, "maxwin": 30_000}


def assert_equal_scans(scan: Scan, other: Scan) -> None:
    for name in ("positions", "omega", "left", "right", "valid"):
        np.testing.assert_array_equal(getattr(scan, name), getattr(other, name))


@settings(deadline=None, max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sites=st.one_of(
        st.integers(4, 12), st.sampled_from([63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 320])
    ),
    haplotypes=st.one_of(st.integers(2, 8), st.sampled_from([31, 32, 33, 63, 64, 65, 100])),
    grid=st.integers(2, 60),
    minwin=st.integers(0, 2000),
    maxwin=st.integers(2000, 100_000),
    minsnps=st.integers(1, 6),
    border=st.sampled_from([-1, -1, 0, 3, 50]),
    kernel=st.sampled_from(["auto", "1", "2", "tiles"]),
    block_rows=st.sampled_from([None, 64, 128]),
    chunk=st.sampled_from([None, 1, 5]),
    data=st.sampled_from(["complete", "masked", "unphased", "unphased masked"]),
    seed=st.integers(0, 1000),
)
def test_scan_agrees_with_the_oracle(
    shaped: Engine,
    sites: int,
    haplotypes: int,
    grid: int,
    minwin: int,
    maxwin: int,
    minsnps: int,
    border: int,
    kernel: str,
    block_rows: int | None,
    chunk: int | None,
    data: str,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    border = -1 if kernel == "tiles" else border
    unphased = "unphased" in data
    haplotypes += haplotypes % 2 if unphased else 0
    states, positions = correlated_states(rng, sites, haplotypes), random_positions(rng, sites)
    seen = rng.random(states.shape) < 0.9 if "masked" in data else None
    options = ScanOptions(
        grid=grid, minwin=minwin, maxwin=maxwin, minsnps=minsnps, border=border, kernel=kernel, chunk_positions=chunk
    )
    alignment = make_alignment(states, positions, seen, unphased=unphased)
    scan = OmegaScanner(shaped, block_rows=block_rows).scan(alignment, options)
    if unphased:
        both = None if seen is None else seen[:, ::2] & seen[:, 1::2]
        dosages = states[:, ::2] + states[:, 1::2]
        values = reference.pair_values(dosages, both, unphased=True)
    else:
        values = reference.pair_values(states, seen)
    assert_same_scan(scan, values, positions, options)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sites=st.sampled_from([4, 9, 63, 64, 65, 129, 250]),
    haplotypes=st.sampled_from([2, 20, 32, 33, 90]),
    border=st.sampled_from([-1, 4]),
    kernel=st.sampled_from(["auto", "1", "2"]),
    block_rows=st.sampled_from([None, 64]),
    measure=st.sampled_from(["RSQUARE", "D", "ABSD", "DOM", "ABSDOM", "ABSDOM2"]),
    masked=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_compat_scan_is_the_compat_oracle_bit_for_bit(
    shaped: Engine,
    sites: int,
    haplotypes: int,
    border: int,
    kernel: str,
    block_rows: int | None,
    measure: str,
    masked: bool,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    states, positions = correlated_states(rng, sites, haplotypes), random_positions(rng, sites)
    seen = rng.random(states.shape) < 0.9 if masked else None
    options = ScanOptions(**WINDOW, minsnps=2, border=border, kernel=kernel, precision="compat", ld=measure)
    scan = OmegaScanner(shaped, block_rows=block_rows).scan(make_alignment(states, positions, seen), options)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = reference.compat_scan(
            reference.compat_values(states, seen, measure), positions, border=border, minsnps=2, **WINDOW
        )
    np.testing.assert_array_equal(scan.omega, [row[1] for row in rows])
    np.testing.assert_array_equal(scan.valid, [bool(row[4]) for row in rows])
    np.testing.assert_array_equal(scan.left, [row[2] for row in rows])
    np.testing.assert_array_equal(scan.right, [row[3] for row in rows])


@pytest.mark.parametrize("masked", [False, True])
def test_sites_of_three_and_four_states(shaped: Engine, rng: np.random.Generator, masked: bool) -> None:
    sites, haplotypes = 150, 70
    states = correlated_states(rng, sites, haplotypes).astype(int)
    more = rng.random(sites) < 0.2
    states[more] = rng.integers(0, 4, (more.sum(), haplotypes))
    positions = random_positions(rng, sites)
    seen = rng.random(states.shape) < 0.9 if masked else np.ones_like(states, bool)
    options = ScanOptions(**WINDOW)
    alignment = make_multiallelic(states, positions, seen if masked else None)
    values = reference.allele_values(np.where(seen, states, -1))
    for rows in (None, 64):
        scan = OmegaScanner(shaped, block_rows=rows).scan(alignment, options)
        assert_same_scan(scan, values, positions, options)


def test_compat_without_float64_is_refused(
    engine: Engine, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(engine), "traits", dataclasses.replace(engine.traits, fp64=False))
    alignment = make_alignment(correlated_states(rng, 100, 20), random_positions(rng, 100))
    with pytest.raises(DeviceError, match=r"has no float64.*use precision='accurate' or another device"):
        OmegaScanner(engine).scan(alignment, ScanOptions(**WINDOW, precision="compat"))
    assert OmegaScanner(engine).scan(alignment, ScanOptions(**WINDOW)).valid.any()


@functools.cache
def dna_case(masked: bool) -> tuple[Alignment, list[tuple[float, float, int, int, int]]]:
    """Sites of two to four states, and the oracle's scan of them."""
    rng = np.random.default_rng(20210517)
    states = correlated_states(rng, 140, 40).astype(int)
    states[30, :12], states[31] = 2, rng.integers(0, 4, 40)
    more = rng.random(140) < 0.2
    states[more] = np.where(rng.random((more.sum(), 40)) < 0.1, rng.integers(2, 4, (more.sum(), 40)), states[more])
    seen = rng.random(states.shape) < 0.7 if masked else np.ones_like(states, bool)
    positions = random_positions(rng, 140)
    rows = reference.compat_scan(reference.compat_dna_values(np.where(seen, states, -1)), positions, **WINDOW)
    return make_multiallelic(states, positions, seen if masked else None), rows


@pytest.mark.parametrize("masked", [False, True])
def test_compat_dna_mode(shaped: Engine, masked: bool) -> None:
    alignment, rows = dna_case(masked)
    scan = OmegaScanner(shaped).scan(alignment, ScanOptions(**WINDOW, precision="compat"))
    np.testing.assert_array_equal(scan.omega, [row[1] for row in rows])
    np.testing.assert_array_equal(scan.left, [row[2] for row in rows])
    np.testing.assert_array_equal(scan.right, [row[3] for row in rows])


@pytest.mark.parametrize("measure", ["ABSD", "ABSDOM"])
def test_other_measures(shaped: Engine, rng: np.random.Generator, measure: str) -> None:
    states, positions = correlated_states(rng, 200, 60), random_positions(rng, 200)
    options = ScanOptions(**WINDOW, ld=measure)
    scan = OmegaScanner(shaped).scan(make_alignment(states, positions), options)
    assert_same_scan(scan, reference.measure_values(states, measure), positions, options)


@pytest.mark.parametrize("measure", ["D", "DOM"])
def test_signed_measures_score_the_reported_window_exactly(
    shaped: Engine, rng: np.random.Generator, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signed sums pass through zero, where omega has a pole: rounded values are compared by the reported window."""
    states, positions = correlated_states(rng, 60, 40), np.arange(60) * 1000 + 1
    values = reference.measure_values(states, measure)
    options = ScanOptions(**WINDOW, ld=measure)
    scan = OmegaScanner(shaped).scan(make_alignment(states, positions), options)
    assert_same_scan(scan, values, positions, options)
    monkeypatch.setattr(setup, "whole_unit", lambda *_, **__: 0)
    scan = OmegaScanner(shaped).scan(make_alignment(states, positions), options)
    for at, omega, left, right in zip(scan.positions, scan.omega, scan.left, scan.right, strict=True):
        if omega == 0:
            continue
        c, i, j = (int(np.searchsorted(positions, x, side="right")) - 1 for x in (at, left, right))
        k, m = c - i + 1, j - c
        within = np.triu(values[i : c + 1, i : c + 1], 1).sum() + np.triu(values[c + 1 : j + 1, c + 1 : j + 1], 1).sum()
        cross = values[i : c + 1, c + 1 : j + 1].sum() / (k * m)
        pairs = k * (k - 1) / 2 + m * (m - 1) / 2
        # 2^-31 a value, against the pole's denominator
        assert omega == pytest.approx(within / pairs / (cross + 1e-5), rel=1e-4 + 1e-8 / abs(cross + 1e-5))


def test_results_do_not_depend_on_blocks_chunks_or_memory(shaped: Engine, rng: np.random.Generator) -> None:
    states, positions = correlated_states(rng, 900, 40), random_positions(rng, 900)
    alignment, options = make_alignment(states, positions), ScanOptions(grid=80, minwin=500, maxwin=20_000)
    whole = OmegaScanner(shaped).scan(alignment, options)
    for rows, chunk in [(64, None), (128, 3), (None, 1), (4096, 40)]:
        cut = OmegaScanner(shaped, block_rows=rows).scan(alignment, dataclasses.replace(options, chunk_positions=chunk))
        assert_equal_scans(cut, whole)
    tight = Engine(shaped.device, max_memory=8 << 20)
    assert_equal_scans(OmegaScanner(tight).scan(alignment, options), whole)
    assert tight.memory.peak <= 8 << 20


@pytest.mark.each_value
@pytest.mark.parametrize("kernel", ["1", "2", "tiles"])
@pytest.mark.parametrize(("maxwin", "largest"), [(20_000, 500_000), (2000, 1 << 20)])
def test_a_device_that_gives_little_to_one_buffer(
    shaped: Engine, rng: np.random.Generator, kernel: str, maxwin: int, largest: int
) -> None:
    """No buffer that is asked for is larger (`runtime.buffers.allocate` refuses it), and the bytes are the same."""
    states, positions = correlated_states(rng, 900, 40), random_positions(rng, 900)
    alignment = make_alignment(states, positions)
    options = ScanOptions(grid=600 if maxwin > 2000 else 2000, minwin=100, maxwin=maxwin, kernel=kernel)
    whole = OmegaScanner(shaped).scan(alignment, options)
    with Engine(dataclasses.replace(shaped.device, max_allocation=largest), tuning=shaped.tuning) as narrow:
        assert_equal_scans(OmegaScanner(narrow).scan(alignment, options), whole)


def test_a_window_larger_than_one_buffer_is_refused(engine: Engine, rng: np.random.Generator) -> None:
    alignment = make_alignment(correlated_states(rng, 400, 40), random_positions(rng, 400))
    narrow = Engine(dataclasses.replace(engine.device, max_allocation=100_000))
    with pytest.raises(AllocationError, match="in one buffer, but the device gives 100000"):
        OmegaScanner(narrow).scan(alignment, ScanOptions(**WINDOW))


@pytest.mark.parametrize("precision", ["accurate", "compat"])
def test_streamed_sites_of_many_states(shaped: Engine, rng: np.random.Generator, precision: str) -> None:
    """A few sites of three states among those that are uploaded block by block."""
    states, positions = correlated_states(rng, 1200, 3000), random_positions(rng, 1200)
    some = rng.choice(1200, 30, replace=False)
    states[some] += (rng.random((30, 3000)) < 0.2).astype(np.uint8)
    alignment = make_multiallelic(states, positions)
    assert len(alignment.multi_site) == 90
    options = ScanOptions(grid=60, minwin=500, maxwin=5_000, precision=precision)
    whole = OmegaScanner(shaped).scan(alignment, options)
    limit = (3 if precision == "accurate" else 6) << 19  # OmegaPlus' DNA mode has two rows for every site
    tight = Engine(shaped.device, max_memory=limit)
    assert planes_of(alignment, dna=precision == "compat").nbytes > tight.budget // 2
    assert_equal_scans(OmegaScanner(tight).scan(alignment, options), whole)
    assert tight.memory.peak <= limit


@pytest.mark.parametrize("masked", [False, True])
def test_sites_larger_than_the_memory_are_streamed(shaped: Engine, rng: np.random.Generator, masked: bool) -> None:
    states, positions = correlated_states(rng, 1500, 6000), random_positions(rng, 1500)
    seen = rng.random(states.shape) < 0.99 if masked else None
    alignment, options = make_alignment(states, positions, seen), ScanOptions(grid=100, minwin=500, maxwin=5_000)
    whole = OmegaScanner(shaped).scan(alignment, options)
    tight = Engine(shaped.device, max_memory=2 << 20)
    assert alignment.packed_bytes > tight.budget // 2
    assert_equal_scans(OmegaScanner(tight).scan(alignment, options), whole)
    assert tight.memory.peak <= 2 << 20


def test_memory_that_cannot_do_is_refused(shaped: Engine, rng: np.random.Generator) -> None:
    alignment = make_alignment(correlated_states(rng, 400, 40), random_positions(rng, 400))
    with pytest.raises(AllocationError, match="raise max_memory"):
        OmegaScanner(Engine(shaped.device, max_memory=1 << 17)).scan(alignment, ScanOptions(**WINDOW))


@pytest.mark.each_value
@pytest.mark.parametrize("data", ["complete", "masked", "unphased", "multiallelic", "uncorrelated"])
@pytest.mark.parametrize("block_rows", [None, 64])
def test_all_kernels_give_the_same_bits(
    shaped: Engine, rng: np.random.Generator, data: str, block_rows: int | None
) -> None:
    states, positions = correlated_states(rng, 600, 50), random_positions(rng, 600)
    if data == "uncorrelated":
        states = (rng.random(states.shape) < 0.3).astype(np.uint8)
    seen = rng.random(states.shape) < 0.9 if data == "masked" else None
    if data == "multiallelic":
        four = np.where(rng.random(states.shape) < 0.02, 2, states).astype(int)
        alignment = make_multiallelic(four, positions)
    else:
        alignment = make_alignment(states, positions, seen, unphased=data == "unphased")
    auto, *forced = (
        OmegaScanner(shaped, block_rows=block_rows).scan(
            alignment, ScanOptions(grid=60, minwin=0, maxwin=40_000, kernel=kernel)
        )
        for kernel in ("auto", "dynamic", "1", "2", "tiles")
    )
    for scan in forced:
        assert_equal_scans(scan, auto)


SMALL: dict[str, Any] = {"grid": 7, "minwin": 10, "maxwin": 1000, "minsnps": 1}
LARGE: dict[str, Any] = {"grid": 9, "minwin": 100, "maxwin": 40_000, "minsnps": 2}


@functools.cache
def tied_cases(measure: str, *, large: bool) -> list[tuple[Alignment, list[tuple[float, float, int, int]]]]:
    """Alignments many of whose windows have one omega, and the oracle's scans of them."""
    shape, window, seeds = ((150, 4), LARGE, 3) if large else ((12, 8), SMALL, 25)
    cases = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        rsquare = measure == "RSQUARE"
        haplotypes = shape[1] - (not rsquare)  # whose square is no power of 2
        states = tied_states(rng, shape[0] if large else int(rng.integers(6, shape[0] + 1)), haplotypes)
        positions = np.sort(rng.choice(window["maxwin"], len(states), replace=False)) + 1
        values = reference.pair_values(states) if rsquare else reference.measure_values(states, measure)
        cases.append((make_alignment(states, positions), reference.scan(values, positions, **window)))
    return cases


@pytest.mark.parametrize(
    ("kernel", "measure"),
    [
        *((kernel, "RSQUARE") for kernel in ("1", "2", "tiles")),
        *(("1", "D"), ("2", "D"), ("1", "ABSD"), ("2", "ABSDOM"), ("2", "DOM")),
    ],
)
def test_of_equal_omegas_the_smallest_window_wins(shaped: Engine, kernel: str, measure: str) -> None:
    """Small alignments one by one and together, and larger ones whose equal windows lie in several blocks."""
    for window, rows in ((SMALL, None), (LARGE, 64)):
        options = ScanOptions(**window, kernel=kernel, ld=measure)
        scanner = OmegaScanner(shaped, block_rows=rows)
        cases = tied_cases(measure, large=window is LARGE)
        together = scanner.scan_batch([alignment for alignment, _ in cases], options)
        for scan, (alignment, expected) in zip(together, cases, strict=True):
            assert scan.left.tolist() == [row[2] for row in expected]
            assert scan.right.tolist() == [row[3] for row in expected]
            assert_equal_scans(scanner.scan(alignment, options), scan)


@pytest.mark.each_value
@pytest.mark.parametrize("popcount", [False, True])
@pytest.mark.parametrize("data", ["complete", "masked", "unphased"])
def test_rare_alleles_of_thousands_of_haplotypes(
    device: Device, rng: np.random.Generator, popcount: bool, data: str
) -> None:
    """Sites from a single carrier to half of all, so that most of their words are 0; counted in both ways of CPUs."""
    sites, haplotypes = 200, 4_260  # more words than a stretch, and no multiple of anything
    share = np.exp(rng.uniform(np.log(1 / haplotypes), np.log(0.5), sites))
    states = (rng.random((sites, haplotypes)) < share[:, None]).astype(np.uint8)
    states[:, -1] |= rng.random(sites) < 0.3
    states[np.arange(sites), rng.integers(0, haplotypes, sites)] ^= 1
    states[states.sum(1) == 0, 7] = 1
    seen = rng.random(states.shape) < 0.9 if data == "masked" else None
    positions = random_positions(rng, sites)
    tuning = dataclasses.replace(tuning_for(device), vector_popcount=popcount)
    with Engine(device, tuning=tuning) as engine:
        alignment = make_alignment(states, positions, seen, unphased=data == "unphased")
        scan = OmegaScanner(engine).scan(alignment, ScanOptions(**WINDOW))
    if data == "unphased":
        values = reference.pair_values(states[:, ::2] + states[:, 1::2], unphased=True)
    else:
        values = reference.pair_values(states, seen)
    assert_same_scan(scan, values, positions, ScanOptions(**WINDOW))


@pytest.mark.parametrize("kernel", ["1", "2"])
def test_windows_whose_denominator_is_zero_have_no_omega(shaped: Engine, kernel: str) -> None:
    """D is -10 / 1000^2 for each pair across the middle, and 0.00001 is added."""
    states = np.zeros((16, 1000), np.uint8)
    states[:8, :2] = states[8:, 10:15] = 1
    positions = np.arange(16) * 100 + 1
    options = ScanOptions(grid=3, minwin=0, maxwin=2000, minsnps=2, ld="D", kernel=kernel)
    scan = OmegaScanner(shaped).scan(make_alignment(states, positions), options)
    assert scan.omega[1] == 0
    assert scan.valid[1]
    values = reference.measure_values(states, "D")
    assert reference.scan(values, positions, grid=3, minwin=0, maxwin=2000, minsnps=2)[1][1] == 0


KINDS = ["complete", "masked", "unphased", "multiallelic", "compat", "compat dna"]


def alignment_of(rng: np.random.Generator, kind: str) -> Alignment:
    """400 sites of 50 haplotypes."""
    states, positions = correlated_states(rng, 400, 50), random_positions(rng, 400)
    if kind in ("multiallelic", "compat dna"):
        return make_multiallelic(np.where(rng.random(states.shape) < 0.02, 2, states).astype(int), positions)
    seen = rng.random(states.shape) < 0.9 if kind == "masked" else None
    return make_alignment(states, positions, seen, unphased=kind == "unphased")


def scans_of(engine: Engine, alignment: Alignment, kind: str) -> list[Scan]:
    """Scans by each kernel that serves."""
    compat = kind.startswith("compat")
    precision = "compat" if compat else "accurate"
    options = ScanOptions(grid=60, minwin=100, maxwin=20_000, precision=precision)
    return [
        OmegaScanner(engine, block_rows=192).scan(alignment, dataclasses.replace(options, kernel=kernel))
        for kernel in (("1", "2") if compat else ("1", "2", "tiles"))
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_short_launches_change_nothing(
    shaped: Engine, rng: np.random.Generator, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shaped.tuning.cpu:
        pytest.skip("launches on CPUs are not bounded")
    alignment = alignment_of(rng, kind)
    whole, launch, launched = scans_of(shaped, alignment, kind), shaped.launch, []
    monkeypatch.setattr(launches, "LAUNCH_NS", 1.0)

    def spy(kernel: Kernel, size: tuple[int, ...], local: tuple[int, ...], **arguments: Any) -> None:
        launched.append((kernel.name, [a // b for a, b in zip(size, local, strict=True)]))
        launch(kernel, size, local, **arguments)

    monkeypatch.setattr(shaped, "launch", spy)
    for cut, scan in zip(scans_of(shaped, alignment, kind), whole, strict=True):
        assert_equal_scans(cut, scan)
    groups = {name: [size for other, size in launched if other == name] for name, _ in launched}
    assert {size[2] for name in ("scan_one", "scan_two") for size in groups[name]} == {1}
    assert {size[0] for size in groups.get("best_tiles", [[1]])} == {1}
    assert {size[1] for size in groups.get("allele_values", [[1, 1]])} == {1}
    assert ("pair_values" in groups) != (kind == "compat dna")
    assert {size[1] for size in groups.get("pair_values", [[1, 1]])} == {1}


@pytest.mark.each_value
@pytest.mark.parametrize("most", [16, 32, 128])
@pytest.mark.parametrize("kind", ["masked", "compat dna"])
def test_small_work_groups_change_nothing(
    shaped: Engine, rng: np.random.Generator, kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    alignment = alignment_of(rng, kind)
    small = Engine(dataclasses.replace(shaped.device, max_work_group=most), tuning=shaped.tuning)
    launch = small.launch

    def spy(kernel: Kernel, size: tuple[int, ...], local: tuple[int, ...], **arguments: Any) -> None:
        assert np.prod(local) <= most, kernel.name
        launch(kernel, size, local, **arguments)

    monkeypatch.setattr(small, "launch", spy)
    for scan, whole in zip(scans_of(small, alignment, kind), scans_of(shaped, alignment, kind), strict=True):
        assert_equal_scans(scan, whole)


def test_kernels_that_need_many_registers_get_small_work_groups(
    shaped: Engine, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    alignment, build, launch, launched = alignment_of(rng, "complete"), shaped.kernel, shaped.launch, []
    whole = scans_of(shaped, alignment, "complete")

    def built(source: str, name: str, **defines: Any) -> Kernel:
        return dataclasses.replace(build(source, name, **defines), max_items=32)

    def spy(kernel: Kernel, size: tuple[int, ...], local: tuple[int, ...], **arguments: Any) -> None:
        launched.append(int(np.prod(local)))
        launch(kernel, size, local, **arguments)

    monkeypatch.setattr(shaped, "kernel", built)
    monkeypatch.setattr(shaped, "launch", spy)
    for scan, other in zip(scans_of(shaped, alignment, "complete"), whole, strict=True):
        assert_equal_scans(scan, other)
    assert max(launched) == 32


def test_too_small_work_groups_are_refused(
    shaped: Engine, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shaped.tuning.cpu:
        pytest.skip("CPUs do with groups of one")
    alignment = alignment_of(rng, "complete")
    small = Engine(dataclasses.replace(shaped.device, max_work_group=8), tuning=shaped.tuning)
    with pytest.raises(DeviceError, match="8 work-items a group"):
        OmegaScanner(small).scan(alignment, ScanOptions(**WINDOW))
    build = shaped.kernel
    monkeypatch.setattr(shaped, "kernel", lambda *at, **d: dataclasses.replace(build(*at, **d), max_items=8))
    with pytest.raises(DeviceError, match="8 work-items a group of pair_values, too few"):
        OmegaScanner(shaped).scan(alignment, ScanOptions(**WINDOW))


def test_tiles_whose_bounds_say_nothing_are_evaluated_exactly(shaped: Engine) -> None:
    """No LD at all across the middle: cross sums of 0 beside large ones, where float32 differences keep no digit."""
    rng = np.random.default_rng(11)
    left, right = rng.random(64) < 0.5, np.arange(64) % 2 == 0
    left[:32] = left[32:]  # balanced against the other half of every pair
    states = np.vstack([np.repeat(left[None], 200, 0), np.repeat(right[None], 200, 0)]).astype(np.uint8)
    alignment = make_alignment(states, np.arange(400) * 10 + 1)
    two, tiles = (
        OmegaScanner(shaped).scan(alignment, ScanOptions(grid=21, minwin=100, maxwin=3000, kernel=kernel))
        for kernel in ("2", "tiles")
    )
    assert_equal_scans(tiles, two)


@settings(deadline=None, max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sites=st.integers(200, 900),
    haplotypes=st.sampled_from([6, 50, 300]),
    minwin=st.sampled_from([0, 300, 3000]),
    maxwin=st.integers(5000, 60_000),
    dense=st.sampled_from([1.0, 0.2]),
    block_rows=st.sampled_from([None, 64, 192]),
    data=st.sampled_from(["correlated", "uncorrelated", "tied", "rare", "swept"]),
    seed=st.integers(0, 1000),
)
def test_tiles_find_the_best_wherever_it_is(
    shaped: Engine, sites: int, haplotypes: int, minwin: int, maxwin: int, dense: float, block_rows: int | None,
    data: str, seed: int,
) -> None:  # fmt: skip
    """Windows of many tiles, of even and uneven sides, most of which cannot hold the best."""
    rng = np.random.default_rng(seed)
    if data == "tied":
        states = tied_states(rng, sites, haplotypes)
    elif data in ("correlated", "swept"):
        states = correlated_states(rng, sites, haplotypes)
    else:
        states = (rng.random((sites, haplotypes)) < (0.3 if data == "uncorrelated" else 0.02)).astype(np.uint8)
        states[np.arange(sites), rng.integers(0, haplotypes, sites)] ^= 1
    if data == "swept":  # disequilibrium high on either side of a site, and none across
        middle = int(rng.integers(sites // 4, 3 * sites // 4))
        for side in (slice(middle - 40, middle), slice(middle, middle + 40)):
            states[side] = (rng.random(haplotypes) < 0.4) ^ (rng.random((40, haplotypes)) < 0.03)
    states[~(states.any(1) & ~states.all(1)), 0] ^= 1
    gaps = np.where(np.arange(sites) < sites * dense, 1, 5)  # more sites on one side of a position than on the other
    positions = random_positions(rng, sites)[0] + np.cumsum(gaps) * 60
    two, tiles = (
        OmegaScanner(shaped, block_rows=block_rows).scan(
            make_alignment(states, positions), ScanOptions(grid=40, minwin=minwin, maxwin=maxwin, kernel=kernel)
        )
        for kernel in ("2", "tiles")
    )
    assert_equal_scans(tiles, two)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_may_be_the_outermost_pair_of_a_square_alone(shaped: Engine, seed: int) -> None:
    """Linked sites close to a position, some that are not, and in the first square of the next tile more linked ones.

    All of these are needed for more than the tile before has: the square's innermost pair promises less.
    """
    rng = np.random.default_rng(seed)
    haplotypes, stretch, tiles_passed = 200, 256, 6  # sites, of which tiles are a part
    states = (rng.random((stretch * (tiles_passed + 1), haplotypes)) < 0.5).astype(np.uint8)
    for border in range(stretch, len(states), stretch):
        linked = rng.permutation(np.repeat([0, 1], haplotypes // 2)).astype(np.uint8)
        states[border - 22 : border - 15] = linked ^ (rng.random((7, haplotypes)) < 0.34)  # alike, left of the position
        states[border - 15 : border - 8] = linked
        states[border : border + 8] = linked
    positions = 100 + 100 * np.arange(len(states))
    two, tiles = (
        OmegaScanner(shaped).scan(
            make_alignment(states, positions), ScanOptions(grid=len(states), minwin=200, maxwin=3000, kernel=kernel)
        )
        for kernel in ("2", "tiles")
    )
    assert_equal_scans(tiles, two)
    outermost = 100 + 100 * (stretch * np.arange(1, tiles_passed + 1) + 7)
    assert np.isin(outermost, two.right).all()


def test_tiles_need_a_reciprocal_of_eleven_bits_only(
    shaped: Engine, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A native_recip that is off by 2^-11 up or down, as a bit of its argument says."""
    if shaped.tuning.cpu:
        pytest.skip("the kernel for CPUs divides")
    build = shaped.kernel
    recip = {"native_recip(x)": "(((as_uint(x)>>7&1)?0.99951171875f:1.00048828125f)/(x))", "REFINE": 1}
    monkeypatch.setattr(shaped, "kernel", lambda source, name, **defines: build(source, name, **{**defines, **recip}))
    states, positions = correlated_states(rng, 700, 50), random_positions(rng, 700)
    uncorrelated = (rng.random(states.shape) < 0.3).astype(np.uint8)
    for data in (states, uncorrelated):
        two, tiles = (
            OmegaScanner(shaped).scan(
                make_alignment(data, positions), ScanOptions(grid=300, minwin=0, maxwin=40_000, kernel=kernel)
            )
            for kernel in ("2", "tiles")
        )
        assert_equal_scans(tiles, two)


@pytest.mark.parametrize("data", ["singletons", "uncorrelated", "correlated"])
def test_bounds_of_tiles_hold_their_best(
    shaped: Engine, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, data: str
) -> None:
    """With singletons, values are as small as what keeps omega finite."""
    if shaped.tuning.cpu:
        pytest.skip("the kernel for CPUs bounds only what can be a window's best")
    sites, haplotypes = 330, 300
    if data == "singletons":
        states = (rng.permutation(sites)[:, None] % haplotypes == np.arange(haplotypes)).astype(np.uint8)
    elif data == "correlated":
        states = correlated_states(rng, sites, haplotypes)
    else:
        states = (rng.random((sites, haplotypes)) < 0.3).astype(np.uint8)
    seen: dict[str, Any] = {}
    launch = setup.launch_known

    def watched(engine: Engine, kernel: Kernel, size: Any, local: Any, known: dict[str, Any]) -> None:
        launch(engine, kernel, size, local, known)
        if kernel.name == "scan_tiles":
            arrays = {name: engine.download(known[name]) for name in ("peaks", "sums", "left", "windows")}
            seen.update(known["tiles"] | arrays)

    monkeypatch.setattr(setup, "launch_known", watched)
    options = ScanOptions(grid=7, minwin=100, maxwin=3_000, kernel="tiles")
    OmegaScanner(shaped).scan(make_alignment(states, np.arange(sites) * 10 + 1), options)
    sums, left = seen["sums"][seen["col0"] :].astype(np.float64), seen["left"].astype(np.float64)
    assert seen["row0"] == seen["col0"] == 0
    widths: list[float] = []
    for number, (c, first, inner_left, inner_right, last, slot, *_) in enumerate(seen["windows"].tolist()):
        i, j = np.arange(first, inner_left + 1), np.arange(inner_right, last + 1)[:, None]
        k, m = c + 1 - i, j - c
        right = np.where(j > c + 1, sums[j * seen["stride"] + c + 1], 0.0)
        within = left[slot * seen["left_stride"] + i - first] + right
        cross = sums[j * seen["stride"] + i] - within + seen["epsilon"] * k * m
        with np.errstate(divide="ignore", invalid="ignore"):
            omega = within * k * m / (0.5 * (k * (k - 1) + m * (m - 1)) * cross)
        for tile in np.unique(j // TILE):
            for column in np.unique(i // TILE):
                best = np.nanmax(omega[(j // TILE == tile)[:, 0]][:, i // TILE == column])
                place = (number * seen["tiles_j"] + tile - inner_right // TILE) * seen["tiles_i"]
                low, high = seen["peaks"].reshape(-1, 2)[place + column - first // TILE]
                assert low <= best <= high
                widths.append((high - low) / max(best, 1e-30))
    assert np.median(widths) < 0.01


def test_tiles_leave_out_borders_beyond_the_window(shaped: Engine) -> None:
    """The best left border begins a tile; two worse ones lie in the tile before, and better ones beyond the window."""
    rng = np.random.default_rng(13)
    pattern = np.arange(64) % 2 == 0
    left = np.zeros((251, 64), bool)
    for site in left:  # as many carriers with the pattern as without: no disequilibrium across
        for half in (pattern, ~pattern):
            site[rng.choice(np.flatnonzero(half), 8, replace=False)] = True
    for site in (126, 127, *range(241, 251)):
        left[site] = pattern ^ (rng.random(64) < 0.15)
    states = np.vstack([left, np.repeat(pattern[None], 1250, 0)]).astype(np.uint8)
    positions = np.concatenate([np.arange(251) * 10 + 1, np.arange(1, 1251) * 2 + 2501])
    two, tiles = (
        OmegaScanner(shaped).scan(
            make_alignment(states, positions), ScanOptions(grid=3, minwin=100, maxwin=1245, kernel=kernel)
        )
        for kernel in ("2", "tiles")
    )
    assert two.left[1] == positions[128]
    assert_equal_scans(tiles, two)


def test_values_are_rounded_not_cut(shaped: Engine, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few fraction bits, cut values would make the small ones across a window too small, and omega too large."""
    monkeypatch.setattr(batch, "fraction_bits", lambda *_: 4)
    states, positions = correlated_states(rng, 300, 40), random_positions(rng, 300)
    options = ScanOptions(**WINDOW)
    scan = OmegaScanner(shaped).scan(make_alignment(states, positions), options)
    rows = reference.scan(reference.pair_values(states), positions, **WINDOW)
    ratio = scan.omega[scan.omega > 0] / np.array([row[1] for row in rows])[scan.omega > 0]
    assert abs(ratio.mean() - 1) < 3e-3


@functools.cache
def singleton_rich_data() -> tuple[Alignment, np.ndarray]:
    """22,554 haplotypes, nearly all sites singletons or doubletons, and the values of their pairs."""
    rng = np.random.default_rng(7)
    sites, haplotypes = 400, 22_554
    states = np.zeros((sites, haplotypes), np.uint8)
    for site in range(sites):
        states[site, rng.choice(haplotypes, rng.choice([1, 1, 1, 2, 40]), replace=False)] = 1
    return make_alignment(states, np.arange(sites) * 50 + 1), reference.pair_values(states)


def test_singleton_rich_data_keeps_its_digits(shaped: Engine) -> None:
    """float32 sums lose every digit here."""
    alignment, values = singleton_rich_data()
    options = ScanOptions(grid=11, minwin=100, maxwin=9000)
    for kernel in ("2", "tiles"):
        scan = OmegaScanner(shaped).scan(alignment, dataclasses.replace(options, kernel=kernel))
        assert_same_scan(scan, values, alignment.positions, options)


def test_sums_that_outgrow_their_format_are_taken_again(shaped: Engine) -> None:
    """Complete LD between 100,000 haplotypes: n r^2 = 100,000 for every pair (and 64-bit covariances)."""
    haplotypes, sites = 100_000, 520
    rng = np.random.default_rng(3)
    pattern = rng.random(haplotypes) < 0.4
    states = np.repeat(pattern[None].astype(np.uint8), sites, axis=0)
    states[sites // 2 :] ^= rng.random(haplotypes) < 0.45
    positions = np.arange(sites) * 10 + 1
    options = ScanOptions(grid=5, minwin=10, maxwin=10_000)
    scan = OmegaScanner(shaped).scan(make_alignment(states, positions), options)
    unique = reference.pair_values(states[[0, -1]])
    half = sites // 2
    values = np.full((sites, sites), unique[0, 1])
    values[:half, :half], values[half:, half:] = unique[0, 0], unique[1, 1]
    assert_same_scan(scan, values, positions, options)


@functools.cache
def windows_of_many_sites(side: int) -> tuple[Alignment, ScanOptions, float]:
    """One grid position with so many sites on either side, and its omega by float64 sums by additions only."""
    rng = np.random.default_rng(5)
    sites, haplotypes = 2 * side + 1, 24
    counts = rng.choice(
        np.arange(1, haplotypes), sites, p=1 / np.arange(1, haplotypes) / (1 / np.arange(1, haplotypes)).sum()
    )
    states = (np.argsort(rng.random((sites, haplotypes)), axis=1) < counts[:, None]).astype(np.uint8)
    positions = np.arange(1, sites + 1)
    options = ScanOptions(grid=3, minwin=2 * side // 5, maxwin=side)
    window = reference.window_at(positions, positions[side], options.minwin, options.maxwin, 5, compat=False)
    assert window is not None
    c, first, last = window.centre, window.first, window.last
    z = states - states.mean(1, keepdims=True)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    left, right = z[first : c + 1], z[c + 1 : last + 1]
    ls = np.cumsum([0.0] + [haplotypes * ((left[-s:] @ left[-s - 1]) ** 2).sum() for s in range(1, len(left))])
    rs = np.cumsum([0.0] + [haplotypes * ((right[:s] @ right[s]) ** 2).sum() for s in range(1, len(right))])
    m, below, best = np.arange(1, len(right) + 1)[None], np.zeros(len(right)), 0.0
    for start in range(0, len(left), 64):  # strips of left borders that fit into the cache
        k = np.arange(start + 1, min(start + 64, len(left)) + 1)[:, None]
        cross = haplotypes * (left[::-1][k[:, 0] - 1] @ right.T) ** 2
        cross[0] += below
        np.cumsum(cross, axis=0, out=cross)
        below = cross[-1].copy()
        np.cumsum(cross, axis=1, out=cross)
        pairs = np.maximum(k * (k - 1) / 2 + m * (m - 1) / 2, 1)
        omega = (ls[k - 1] + rs[None]) / pairs / (cross / (k * m) + 1e-5)
        wide = k[:, 0] > c - window.inner_left
        best = max(best, omega[wide, window.inner_right - c - 1 :].max(initial=0))
    return make_alignment(states, positions), options, best


def test_windows_of_thousands_of_sites(shaped: Engine) -> None:
    """Of 10,000, or on a CPU of more than have 2^24 windows."""
    side = 10_000 if shaped.device.kind != "cpu" or (shaped.tuning.cpu and runs_whole()) else 4_200
    alignment, options, best = windows_of_many_sites(side)
    scan = OmegaScanner(shaped).scan(alignment, options)
    assert scan.positions[1] == side + 1
    assert scan.omega[1] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("sites", [0, 1, 3])
def test_fewer_than_four_sites_are_not_possible(shaped: Engine, rng: np.random.Generator, sites: int) -> None:
    alignment = make_alignment(correlated_states(rng, 5, 10)[:sites], np.arange(sites) + 1)
    scan = OmegaScanner(shaped).scan(alignment, ScanOptions(**WINDOW))
    assert not scan.possible
    assert scan.omega.size == 0


def test_one_sample_and_a_grid_larger_than_the_region(shaped: Engine) -> None:
    alignment = make_alignment(np.ones((6, 1), np.uint8), np.array([1, 2, 3, 4, 5, 6]))
    scan = OmegaScanner(shaped).scan(alignment, ScanOptions(grid=500, minwin=1, maxwin=10, minsnps=2))
    assert scan.valid.any()
    assert not scan.omega.any()
    assert set(scan.left[scan.valid]) == {1}


def test_progress_is_told_in_order(shaped: Engine, rng: np.random.Generator) -> None:
    alignment = make_alignment(correlated_states(rng, 300, 20), random_positions(rng, 300))
    told: list[tuple[int, int]] = []
    options = ScanOptions(**WINDOW, chunk_positions=6)
    OmegaScanner(shaped, block_rows=64).scan(
        alignment, options, progress=lambda done, total: told.append((done, total))
    )
    assert told == sorted(told)
    assert {total for _, total in told} == {WINDOW["grid"]}


@pytest.mark.parametrize(
    ("changes", "unphased", "message"),
    [
        ({"ld": "D"}, True, "needs haplotypes"),
        ({"precision": "compat"}, True, "needs phased haplotypes"),
        ({"ld": "ABSDOM2"}, False, "0 for every pair"),
        ({"kernel": "tiles", "border": 3}, False, "kernel='tiles' needs"),
        ({"kernel": "tiles", "precision": "compat"}, False, "kernel='tiles' needs"),
    ],
)
def test_what_is_not_defined_is_refused(
    shaped: Engine, rng: np.random.Generator, changes: dict[str, Any], unphased: bool, message: str
) -> None:
    alignment = make_alignment(correlated_states(rng, 20, 20), random_positions(rng, 20), unphased=unphased)
    with pytest.raises(UsageError, match=message):
        OmegaScanner(shaped).scan(alignment, ScanOptions(**WINDOW, **changes))
