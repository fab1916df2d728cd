"""Values in windows against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.sweep_sites import SEEDS, oracle_counts, rows_of, spectrum, states_of, varying
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.sweeps import SweepOptions, reference, scan
from oclgenomics.variation import BedRegions
from oclgenomics.variation.alignment import Alignment

WIDTH = 8


def kept_sites(
    alignment: Alignment, *, genotypes: bool
) -> tuple[list[list[int | None]], list[tuple[int, int]], list[int]]:
    """Rows, counts and positions of the sites that vary."""
    states, seen = states_of(alignment)
    if genotypes:
        both = np.repeat(seen[:, ::2] & seen[:, 1::2], 2, axis=1)
        states, seen = states * both, both
    counts = spectrum(states, seen)
    keep = [s for s, (d, t) in enumerate(counts) if 0 < d < t]
    rows = rows_of(states[keep], seen[keep], genotypes=genotypes)
    return rows, [counts[s] for s in keep], alignment.positions[keep].tolist()


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, sites=st.integers(0, 40), pairs=st.integers(2, 20), missing=st.sampled_from([0.0, 0.15]),
       genotypes=st.booleans(), edge=st.integers(1, 3))  # fmt: skip
def test_windows_of_sites(
    engine: Engine, seed: int, sites: int, pairs: int, missing: float, genotypes: bool, edge: int
) -> None:
    alignment = varying(np.random.default_rng(seed), sites, 2 * pairs, missing)
    alignment.ploidy, alignment.unphased = (2, True) if genotypes else (1, False)
    (found,) = scan(alignment, SweepOptions(width=WIDTH, edge=edge, max_missing=1.0), engine=engine)
    rows, counts, at = kept_sites(alignment, genotypes=genotypes)
    patterns = oracle_counts(rows, WIDTH, genotypes=genotypes)
    assert found.sites == len(rows)
    assert len(found.positions) == len(patterns)
    for i, pair in enumerate(patterns):
        inside = slice(i, i + WIDTH)
        first, last = at[i], at[i + WIDTH - 1]
        edges = sum(reference.edges(*one, edge) for one in counts[inside])
        total = max(at[-1] - at[0], 1e-300)
        mu = reference.mu(last - first, total, len(at), WIDTH, edges, 2 * pairs, pair)
        expected = dict(zip(("mu_var", "mu_sfs", "mu_ld", "mu"), mu, strict=True))
        expected |= reference.diversity(counts[inside], last - first + 1)
        for name, value in expected.items():
            assert found.values[name][i] == pytest.approx(value, rel=1e-9, abs=1e-11, nan_ok=True), name
        assert (found.positions[i], found.start[i], found.end[i]) == ((first + last) / 2, first, last)
        assert found.window_sites[i] == WIDTH


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, sites=st.integers(1, 40), size=st.integers(20, 900), step=st.integers(30, 400))
def test_windows_of_bp(engine: Engine, seed: int, sites: int, size: int, step: int) -> None:
    alignment = varying(np.random.default_rng(seed), sites, 10)
    options = SweepOptions(statistics=["pi", "theta", "tajima_d", "fay_wu_h"], window=2 * size, step=step)
    (found,) = scan(alignment, options, engine=engine)
    _, counts, at = kept_sites(alignment, genotypes=False)
    for i, place in enumerate(found.positions.tolist()):
        low, high = max(place - size, at[0]), min(place + size, at[-1] + 1)
        inside = [one for one, bp in zip(counts, at, strict=True) if low <= bp < high]
        assert found.window_sites[i] == len(inside)
        for name, value in reference.diversity(inside, high - low).items():
            assert found.values[name][i] == pytest.approx(value, rel=1e-9, abs=1e-11, nan_ok=True), name


@pytest.mark.parametrize("haplotypes", [5, 34, 47])
def test_compat_values_are_raisds_in_every_bit(engine: Engine, haplotypes: int) -> None:
    alignment = varying(np.random.default_rng(haplotypes), 400, haplotypes)
    (found,) = scan(alignment, SweepOptions(width=WIDTH, precision="compat", edge=haplotypes // 4), engine=engine)
    rows, counts, at = kept_sites(alignment, genotypes=False)
    for i, pair in enumerate(oracle_counts(rows, WIDTH)):
        edges = sum(reference.edges(*one, haplotypes // 4) for one in counts[i : i + WIDTH])
        last = float(alignment.positions[-1])
        expected = reference.raisd_mu(at[i + WIDTH - 1] - at[i], last, len(at), WIDTH, edges, haplotypes, pair)
        assert [found.values[name][i] for name in ("mu_var", "mu_sfs", "mu_ld", "mu")] == [float(x) for x in expected]


def test_mu_does_not_depend_on_polarity_and_h_does(engine: Engine) -> None:
    alignment = varying(np.random.default_rng(7), 40, 12)
    states, _ = states_of(alignment)
    flipped = Alignment.from_haplotypes(alignment.positions, 1 - states)
    one, other = scan([alignment, flipped], SweepOptions(width=WIDTH), engine=engine)
    for name in ("mu", "pi", "theta", "tajima_d"):
        np.testing.assert_allclose(one.values[name], other.values[name], err_msg=name)
    assert not np.allclose(one.values["fay_wu_h"], other.values["fay_wu_h"])


def test_a_grid_has_the_highest_mu_around_each_position(engine: Engine) -> None:
    alignment = varying(np.random.default_rng(8), 120, 12)
    (every,) = scan(alignment, SweepOptions(width=WIDTH, statistics=["mu"]), engine=engine)
    (found,) = scan(alignment, SweepOptions(width=WIDTH, grid=9), engine=engine)
    step = found.positions[1] - found.positions[0]
    for i, place in enumerate(found.positions):
        near = np.abs(every.positions - place) < step / 2
        best = int(np.argmax(np.where(near, every.values["mu"], -1)))
        assert near.any()
        assert [found.values[name][i] for name in every.values] == [one[best] for one in every.values.values()]
    (fine,) = scan(alignment, SweepOptions(width=WIDTH, grid=4001, statistics=["mu"]), engine=engine)
    known = ~np.isnan(fine.values["mu"])
    assert known.any()
    assert not known.all()  # none beyond the first and the last window
    between = np.interp(fine.positions, every.positions, every.values["mu"])
    assert np.median(np.abs(fine.values["mu"] - between)[known]) < 1e-9
    for grid in range(300, 320):  # also where the first window alone lies in the bin of a position before it
        (some,) = scan(alignment, SweepOptions(width=WIDTH, grid=grid, statistics=["mu"]), engine=engine)
        row = int(np.argmin(np.abs(some.positions - every.positions[0])))
        half = (some.positions[1] - some.positions[0]) / 2
        assert some.values["mu"][row] == every.values["mu"][np.abs(every.positions - some.positions[row]) < half].max()


def test_excluded_regions(engine: Engine) -> None:
    alignment = varying(np.random.default_rng(9), 150, 12)
    gap = BedRegions.of([("1", 3000, 3600)])
    scans = {}
    for kind in ("split", "drop", "zero"):
        (scans[kind],) = scan(alignment, SweepOptions(width=WIDTH, on_exclude=kind), exclude=gap, engine=engine)
    (whole,) = scan(alignment, SweepOptions(width=WIDTH), engine=engine)
    split, drop, zero = (scans[kind] for kind in ("split", "drop", "zero"))
    across = (split.start < 3000) & (split.end > 3600)
    assert across.sum() == WIDTH - 1
    np.testing.assert_array_equal(np.isnan(split.values["mu"]), across)
    np.testing.assert_array_equal(np.isnan(split.values["pi"]), across)
    assert split.discarded["excluded"] == drop.discarded["excluded"] > 0
    assert not np.isnan(drop.values["mu"]).any()
    _, counts, at = kept_sites(alignment, genotypes=False)
    outside = [one for one, bp in zip(counts, at, strict=True) if not 3000 < bp <= 3600]
    for i in np.flatnonzero(across).tolist():
        bp = drop.end[i] - drop.start[i] + 1 - 600
        assert drop.values["pi"][i] == pytest.approx(reference.diversity(outside[i : i + WIDTH], bp)["pi"])
        span = (bp - 1) / (at[-1] - at[0] - 600)
        assert drop.values["mu_var"][i] == pytest.approx(span / WIDTH * len(outside))
    reaches = (zero.end > 3000) & (zero.start <= 3600)
    np.testing.assert_array_equal(zero.values["mu"] == 0, reaches | (whole.values["mu"] == 0))
    np.testing.assert_array_equal(zero.values["mu_var"], whole.values["mu_var"])
