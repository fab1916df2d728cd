"""The functional path: against a scalar restatement of Fig. 8, the sequential loop, and the float64 omega oracle."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.golden import golden_run
from hypothesis import given, settings, strategies as st

from hls_model import Config, ModelError, functional, load
from hls_model.functional import Best, Sums, merge, omegas, run
from hls_model.rtl.stimulus import KINDS, operands
from oclgenomics.omega import reference
from oclgenomics.omega.sites.filters import prepare
from oclgenomics.variation import ReadOptions, read_alignments

EDGES = (0, 1, 0x7FFFFF, 0x800000, 0x800001, 0x3F800000, 0x3727C5AC, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x4B800000)
words = st.one_of(
    st.integers(0, 2**32 - 1), st.sampled_from(EDGES), st.sampled_from(EDGES).map(lambda bits: bits | 1 << 31)
)
designs = st.builds(
    lambda lanes, times, **rest: load("u200").but(unroll=lanes * times, physical_lanes=lanes, **rest),
    st.sampled_from([1, 2, 3, 4, 8]),
    st.sampled_from([1, 2]),
    lane_map=st.sampled_from(["interleaved", "blocked"]),
    remainder=st.sampled_from(["software", "masked"]),
)


def numbers(bits: list[int]) -> np.ndarray:
    return np.array(bits, np.uint32).view(np.float32)


def scalar_omega(ls: np.float32, rs: np.float32, ts: np.float32, k: int, m: int) -> np.float32:
    """Fig. 8 for one window, an operator at a time."""

    def flush(x: np.float32) -> np.float32:
        return np.float32(np.copysign(np.float32(0), x)) if abs(x) < np.float32(2.0**-126) else np.float32(x)

    with np.errstate(all="ignore"):
        ls, rs, ts = flush(ls), flush(rs), flush(ts)
        numerator = flush(flush(ls + rs) / np.float32(k * (k - 1) // 2 + m * (m - 1) // 2))
        across = flush(flush(ts - ls) - rs)
        denominator = flush(flush(across / np.float32(k * m)) + np.float32(1e-5))
        return flush(numerator / denominator)


def first_greatest(table: np.ndarray, columns: range | None = None) -> Best:
    """The sequential loop: columns outside, right side inside, strictly greater replaces."""
    best = Best()
    for i in range(table.shape[0]):
        for j in range(table.shape[1]) if columns is None else columns:
            if table[i, j] > best.omega or (not best.found and not np.isnan(table[i, j])):
                best = Best(table[i, j], i, j)
    return best


def equal(one: Best, other: Best) -> bool:
    return (one.bits, one.column, one.right) == (other.bits, other.column, other.right)


@given(st.data(), st.integers(1, 4), st.integers(1, 9), st.integers(1, 300), st.integers(1, 300))
def test_operators_of_any_bits(data: st.DataObject, left: int, right: int, k: int, m: int) -> None:
    drawn = data.draw(st.lists(words, min_size=left + right + left * right, max_size=left + right + left * right))
    values = numbers(drawn)
    LS, RS, TS = values[:left], values[left : left + right], values[left + right :].reshape(left, right)
    got = omegas(Sums(LS, RS, TS, k, m))
    with np.errstate(all="ignore"):
        want = [[scalar_omega(LS[i], RS[j], TS[i, j], k + i, m + j) for j in range(right)] for i in range(left)]
    expected = np.array(want, np.float32)
    nan = np.isnan(expected)
    assert (np.isnan(got) == nan).all()
    assert (got.view(np.uint32)[~nan] == expected.view(np.uint32)[~nan]).all()


@pytest.mark.parametrize("scale", [2.0**e for e in range(-126, -20, 7)])
@pytest.mark.parametrize("sign", [1, -1])
def test_flushing_is_skipped_only_where_it_changes_nothing(
    scale: float, sign: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = operands(7, 40, 3)
    small = np.float32(scale * sign)
    sums = Sums(plain.LS * small, plain.RS * abs(small), plain.TS * np.float32(2.0**20), 300, 20_000)
    got = omegas(sums)
    monkeypatch.setattr(functional, "_subnormals_possible", lambda *some: True)
    assert (got.view(np.uint32) == omegas(sums).view(np.uint32)).all()


def test_flushing_is_skipped_for_sums_as_they_are() -> None:
    plain = operands(7, 40, 3)
    assert not functional._subnormals_possible(plain.LS, plain.RS, plain.TS)
    with_zeros = plain.TS.copy()
    with_zeros[2, 3] = 0
    assert not functional._subnormals_possible(plain.LS, -plain.RS, with_zeros)
    with_zeros[2, 3] = np.nan
    assert functional._subnormals_possible(plain.LS, plain.RS, with_zeros)


@settings(max_examples=60)
@given(designs, st.sampled_from(sorted(KINDS)), st.integers(1, 12), st.integers(1, 60), st.integers(0, 99))
def test_winner_is_the_sequential_loops(config: Config, kind: str, left: int, right: int, seed: int) -> None:
    sums = operands(left, right, seed, kind)
    table = omegas(sums)
    result = run(sums, config)
    assert equal(result.best, first_greatest(table))
    lane = functional.lane_of(right, config)
    assert len(result.lanes) == config.lanes
    for number, best in enumerate(result.lanes):
        members = np.flatnonzero(lane == number)
        assert equal(best, first_greatest(table, members.tolist()))
    rest = np.flatnonzero(lane == config.lanes)
    assert equal(result.software, first_greatest(table, rest.tolist()))
    assert rest.size == (right % config.unroll if config.remainder == "software" else 0)
    assert result.software_omegas == left * rest.size
    assert result.hardware_omegas == left * (right - rest.size)
    assert equal(result.hardware, merge(result.lanes))


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    config = load("u200").but(unroll=4)
    for kind in KINDS:
        sums = operands(23, 37, 5, kind)
        whole = run(sums, config)
        monkeypatch.setattr(functional, "BLOCK", 80)
        parts = run(sums, config)
        monkeypatch.undo()
        assert all(map(equal, whole.lanes, parts.lanes))
        assert equal(whole.best, parts.best)


def test_nan_alone_gives_nothing() -> None:
    nan = np.full((3, 5), np.nan, np.float32)
    result = run(Sums(nan[:, 0], nan[0], nan), load("zcu102"))
    assert not result.best.found
    assert np.isnan(result.best.omega)
    assert result.best.bits == 0x7FC00000
    assert not any(lane.found for lane in result.lanes)


def test_minus_infinity_counts_and_nan_does_not() -> None:
    # (-inf + 1) / 1 over (inf - -inf ...): the numerator is -inf and the denominator finite
    sums = Sums(*(np.float32(x) for x in ([-np.inf], [1, np.nan], [[-np.inf, 3]])))  # type: ignore[arg-type]
    table = omegas(sums)
    assert np.isnan(table).all()
    assert not run(sums, load("zcu102").but(remainder="masked")).best.found
    assert Best(np.float32(-np.inf), 0, 0).better_than(Best())
    assert not Best(np.float32(0.0), 0, 1).better_than(Best(np.float32(-0.0), 0, 0))


@pytest.mark.parametrize(("left", "right"), [(0, 0), (0, 9), (9, 0)])
def test_empty_positions(left: int, right: int) -> None:
    zeros = np.zeros((left, right), np.float32)
    sums = Sums(np.zeros(left, np.float32), np.zeros(right, np.float32), zeros)
    result = run(sums, load("u200"))
    assert not result.best.found
    assert (result.hardware_omegas, result.software_omegas) == (0, 0)
    assert omegas(sums).shape == (left, right)


def test_counts_have_a_range() -> None:
    one, square = np.ones(1, np.float32), np.ones((1, 1), np.float32)
    assert omegas(Sums(one, one, square, 65_535, 65_536))[0, 0] > 0
    for k, m in ((65_537, 1), (1, 65_537), (65_536, 65_536), (0, 1)):
        with pytest.raises(ModelError, match=r"SNPs?"):
            Sums(one, one, square, k, m)
    with pytest.raises(ModelError, match="shapes"):
        Sums(one, one, np.ones((2, 1), np.float32))
    with pytest.raises(ModelError, match="float64"):
        Sums(one, one.astype(np.float64), square)


def test_largest_counts_are_exact() -> None:
    k, m = 65_000, 66_000 - 464
    LS, RS, TS = np.float32([3e9]), np.float32([1e9]), np.float32([[7e9]])
    got = omegas(Sums(LS, RS, TS, k, m))[0, 0]
    assert got == scalar_omega(LS[0], RS[0], TS[0, 0], k, m)


def sums_of_window(values: np.ndarray, window: reference.Window) -> Sums:
    """Float32 sums of a search window, rounded from float64, as M holds them."""
    c = window.centre
    lefts = np.arange(window.inner_left, window.first - 1, -1)
    rights = np.arange(window.inner_right, window.last + 1)
    upper = np.triu(values, 1)
    M = np.array([[upper[i : j + 1, i : j + 1].sum() for j in rights] for i in lefts]).reshape(len(lefts), len(rights))
    LS = np.array([upper[i : c + 1, i : c + 1].sum() for i in lefts])
    RS = np.array([upper[c + 1 : j + 1, c + 1 : j + 1].sum() for j in rights])
    counts = int(c - lefts[0] + 1), int(rights[0] - c)
    return Sums(LS.astype(np.float32), RS.astype(np.float32), M.astype(np.float32), *counts)


def error_bound(sums: Sums) -> np.ndarray:
    """Bound of the relative error of each omega against exact sums, float64 (left, right).

    u = 2**-24. LS, RS and TS are rounded once and TS - LS - RS in two steps, so the sum X across is off by at most
    u (2 TS + 2 LS + 2 RS); that cancellation over X, or over X + k m 0.00001, is what counts. The other operators add
    less than 8 u.
    """
    TS, LS, RS = sums.TS.astype(np.float64), sums.LS.astype(np.float64)[:, None], sums.RS.astype(np.float64)
    k = np.arange(sums.first_left, sums.first_left + sums.left)[:, None]
    m = np.arange(sums.first_right, sums.first_right + sums.right)
    across = np.maximum(TS - LS - RS, 0) + k * m * 1e-5
    error = 2.0**-24 * 2 * (TS + LS + RS) / across
    assert (error < 0.25).all()
    return 2 * error + 8 * 2.0**-24


def check_against_oracle(values: np.ndarray, positions: np.ndarray, grid: int, minwin: int, maxwin: int) -> int:
    found = 0
    scanned = reference.scan(values, positions, grid=grid, minwin=minwin, maxwin=maxwin, minsnps=2)
    for at, omega, _, _ in scanned:
        window = reference.window_at(positions, at, minwin, maxwin, 2, compat=False)
        if window is None:
            continue
        sums = sums_of_window(values, window)
        best = run(sums, load("u200").but(unroll=4)).best
        bound = error_bound(sums)
        i, j = window.inner_left - best.column, window.inner_right + best.right
        exact = reference.omega_of_window(values, window.centre, i, j)
        assert abs(best.omega - exact) <= bound[best.column, best.right] * exact
        assert best.omega >= omega * (1 - bound.max())  # no worse than the oracle's window
        assert exact <= omega * (1 + 1e-12)
        found += 1
    return found


@pytest.mark.parametrize("seed", range(4))
def test_best_window_is_the_oracles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    founders = rng.integers(0, 2, (6, 60))
    states = founders[rng.integers(0, 6, 40)].T ^ (rng.random((60, 40)) < 0.1)  # with LD, so with peaks
    positions = np.sort(rng.choice(10_000, 60, replace=False))
    assert check_against_oracle(reference.pair_values(states), positions, 7, 500, 4_000) >= 3


def test_omegaplus_report_is_met() -> None:
    """On the matrix M of OmegaPlus 3.0.3, whose arithmetic differs in one point: it adds the offset in double."""
    golden = golden_run("plain")
    alignment = prepare(next(iter(read_alignments(golden.source, ReadOptions(length=golden.length))))).alignment
    site_words, haplotype = alignment.bits.T, np.arange(alignment.haplotypes)
    states = site_words[:, haplotype // 32] >> (haplotype % 32).astype(np.uint32) & 1
    M = reference.compat_sums(reference.compat_values(states))
    lines = [line.split() for line in golden.report.read_text().splitlines() if line.count("\t") == 4]
    at_all = reference.grid_positions(alignment.positions, golden.options.grid, compat=True)
    assert len(lines) == len(at_all)
    found = 0
    for line, at in zip(lines, at_all, strict=True):
        options = golden.options
        window = reference.window_at(
            alignment.positions, at, options.minwin, options.maxwin, options.minsnps, compat=True
        )
        if window is None:
            continue
        c, rights = window.centre, np.arange(window.inner_right, window.last + 1)
        lefts = np.arange(window.inner_left, window.first - 1, -1)
        sums = Sums(M[c, lefts], M[rights, c + 1], M[rights, lefts[:, None]], int(c - lefts[0] + 1), int(rights[0] - c))
        best = run(sums, load("zcu102")).best
        assert abs(float(best.omega) - float(line[1])) <= 0.5e-6 + 4 * 2.0**-24 * float(best.omega)
        borders = alignment.positions[[lefts[best.column], rights[best.right]]]
        assert borders.tolist() == [int(word) for word in line[2:4]]
        found += 1
    assert found > 10
