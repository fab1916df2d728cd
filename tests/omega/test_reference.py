"""The oracle itself: against OmegaPlus' reports, against direct sums, and on cases small enough to do by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from helpers.alignments import correlated_states, random_positions, tied_states
from helpers.golden import golden_run
from helpers.products import only_whole

from oclgenomics.omega import reference
from oclgenomics.variation import ReadOptions, characters, read_alignments
from oclgenomics.variation.packing import unpack_sites


@pytest.mark.parametrize(
    "name",
    [
        *("plain", "six", "six2", "nd", "ld_D", "ld_ABSD", "ld_DOM", "ld_ABSDOM", "ld_ABSDOM2"),
        *only_whole("e_sweep_b"),  # -b is seen by dna_b, too
    ],
)
def test_compat_oracle_reproduces_omegaplus(name: str) -> None:
    run = golden_run(name)
    text = ""
    options = run.options
    for alignment in read_alignments(run.source, ReadOptions(length=run.length)):
        states = unpack_sites(alignment.bits, alignment.haplotypes)
        varies = (states.sum(1) > 0) & (states.sum(1) < alignment.haplotypes)
        values = reference.compat_values(states[varies], measure=options.ld)
        rows = reference.compat_scan(
            values,
            alignment.positions[varies],
            grid=options.grid,
            minwin=options.minwin,
            maxwin=options.maxwin,
            minsnps=options.minsnps,
            border=options.border,
        )
        text += f"\n//{alignment.replicate}\n"
        for at, omega, left, right, valid in rows:
            shown = f"\t{left if valid else 0}\t{right if valid else 0}\t{valid}" if run.all_columns else ""
            text += f"{at:.4f}\t{omega:f}{shown}\n"
    assert text == run.report.read_text()


@pytest.mark.parametrize("name", ["dna", "dna_b", "dna_n"])
def test_compat_oracle_of_three_states_reproduces_omegaplus(name: str) -> None:
    run = golden_run(name)
    options = run.options
    (alignment,) = read_alignments(run.source)
    text = characters(alignment)
    states = np.full(text.shape, -1)
    for number, letter in enumerate(b"ACGT"):
        states[text == letter] = number
    rows = reference.compat_scan(
        reference.compat_dna_values(states), alignment.positions, grid=options.grid, minwin=options.minwin,
        maxwin=options.maxwin, border=options.border,
    )  # fmt: skip
    report = "".join("{:.4f}\t{:f}\t{}\t{}\t{}\n".format(*row) for row in rows)
    assert f"\n//1\n{report}" == run.report.read_text()


def test_omega_of_a_hand_made_case() -> None:
    """Four sites: a pair in full LD left of 25 bp, another right of it, none across. With n = 4: LS = RS = 4, X = 0."""
    states = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1]])
    values = reference.pair_values(states)
    np.testing.assert_allclose(values[np.triu_indices(4, 1)], [4, 0, 0, 0, 0, 4], atol=1e-12)
    rows = reference.scan(values, np.array([10, 20, 30, 41]), grid=3, minwin=1, maxwin=100, minsnps=2)
    at, omega, left, right = rows[1]
    assert (at, left, right) == (25.5, 10, 41)
    assert omega == pytest.approx((4 + 4) / (1 + 1) / 1e-5)


def test_scan_is_the_maximum_over_direct_sums(rng: np.random.Generator) -> None:
    states = correlated_states(rng, 40, 30)
    positions = random_positions(rng, 40, 1000)
    values = reference.pair_values(states)
    rows = reference.scan(values, positions, grid=7, minwin=50, maxwin=600, minsnps=3)
    for at, omega, _, _ in rows:
        window = reference.window_at(positions, at, 50, 600, 3, compat=False)
        if window is None:
            assert omega == 0
            continue
        best = 0.0
        for i in range(window.first, window.inner_left + 1):
            for j in range(window.inner_right, window.last + 1):
                left, right = range(i, window.centre + 1), range(window.centre + 1, j + 1)
                within = sum(values[a, b] for part in (left, right) for a in part for b in part if a < b)
                cross = sum(values[a, b] for a in left for b in right)
                k, m = len(left), len(right)
                mean = within / (k * (k - 1) / 2 + m * (m - 1) / 2)
                best = max(best, mean / (cross / (k * m) + reference.EPSILON))
        assert omega == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("measure", ["RSQUARE", "D", "ABSD", "DOM"])
def test_of_equal_omegas_the_smallest_window_wins(measure: str) -> None:
    """Against rational numbers, in which omegas are equal or are not."""
    ties = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        states = tied_states(rng, 9, 5 if measure == "RSQUARE" else 3)
        positions = np.sort(rng.choice(1000, 9, replace=False)) + 1
        exact = exact_values(states, measure)
        rsquare = measure == "RSQUARE"
        values = reference.pair_values(states) if rsquare else reference.measure_values(states, measure)
        rows = reference.scan(values, positions, grid=5, minwin=10, maxwin=1000, minsnps=1)
        for at, _, left, right in rows:
            window = reference.window_at(positions, at, 10, 1000, 1, compat=False)
            if window is not None:
                best = best_windows(exact, window)
                ties += len(best) > 1
                assert [(left, right)] == [(positions[i], positions[j]) for i, j in best[:1]] or not best
    assert ties > 2


def exact_values(states: np.ndarray, measure: str) -> dict[tuple[int, int], Fraction]:
    """n r^2 or D of the pairs of varying sites."""
    n = states.shape[1]
    values = {}
    for i in range(len(states)):
        for j in range(i + 1, len(states)):
            a, b, both = int(states[i].sum()), int(states[j].sum()), int((states[i] & states[j]).sum())
            d = Fraction(n * both - a * b, n * n)
            same = (2 * a >= n) == (2 * b >= n)
            rsquare = Fraction(n * (n * both - a * b) ** 2, a * (n - a) * b * (n - b))
            values[i, j] = {"RSQUARE": rsquare, "D": d, "ABSD": abs(d), "DOM": d if same else -d}[measure]
    return values


def best_windows(values: dict[tuple[int, int], Fraction], window: reference.Window) -> list[tuple[int, int]]:
    """Borders of the windows with the largest omega, the smallest left part and then the smallest right part first."""
    c, omegas = window.centre, {}
    for i in range(window.inner_left, window.first - 1, -1):
        for j in range(window.inner_right, window.last + 1):
            k, m = c - i + 1, j - c
            across = sum(value for (a, b), value in values.items() if i <= a <= c < b <= j)
            all_in = sum(value for (a, b), value in values.items() if i <= a and b <= j)
            pairs = k * (k - 1) // 2 + m * (m - 1) // 2
            mean = (all_in - across) / pairs if pairs else Fraction(0)
            omegas[i, j] = mean / (Fraction(across) / (k * m) + Fraction(1, 100_000))
    largest = max(omegas.values())
    return [place for place, omega in omegas.items() if omega == largest > 0]


def test_missing_and_unphased_values_follow_their_definitions(rng: np.random.Generator) -> None:
    states = correlated_states(rng, 12, 40)
    seen = rng.random(states.shape) < 0.8
    masked = reference.pair_values(states, seen)
    dosages = states[:, ::2] + states[:, 1::2]
    unphased = reference.pair_values(dosages, unphased=True)
    for i in range(12):
        for j in range(i):
            both = seen[i] & seen[j]
            r = np.corrcoef(states[i][both], states[j][both])[0, 1]
            assert masked[i, j] == pytest.approx(both.sum() * r * r)
            assert unphased[i, j] == pytest.approx(40 * np.corrcoef(dosages[i], dosages[j])[0, 1] ** 2)


def test_allele_values_of_two_states_are_pair_values(rng: np.random.Generator) -> None:
    states = correlated_states(rng, 15, 50).astype(int)
    off = ~np.eye(15, dtype=bool)
    np.testing.assert_allclose(reference.allele_values(states)[off], reference.pair_values(states)[off], atol=1e-12)
    missing = np.where(rng.random(states.shape) < 0.1, -1, states)
    np.testing.assert_allclose(
        reference.allele_values(missing)[off],
        reference.pair_values(np.maximum(missing, 0), missing >= 0)[off],
        atol=1e-12,
    )
