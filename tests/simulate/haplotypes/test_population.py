"""The simulators against theory: moments of neutral samples, a sweep against its pair recurrence and a scan."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oclgenomics.errors import MissingDependencyError, UsageError
from oclgenomics.omega import reference
from oclgenomics.simulate import (
    Haplotypes,
    HardSweep,
    Region,
    generators,
    replicate_seeds,
    simulate,
    simulate_independent,
    simulate_with_msprime,
)
from oclgenomics.simulate.haplotypes.coalescent import (
    Ancestry,
    Draws,
    coalesce,
    logistic_path,
    split,
    wright_fisher_path,
)
from oclgenomics.simulate.haplotypes.files import add_missing, add_third_alleles, lose_phase
from oclgenomics.simulate.limits import MAX_REPLICATES, MAX_SAMPLES, MAX_SITES

SIZE = 10_000


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def replicates(
    region: Region, count: int, seed: int, sweep: HardSweep | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(positions, uint8 (haplotypes, sites)) of some replicates."""
    return [whole(simulate(region, generators(child)[0], sweep)) for child in replicate_seeds(seed, count)]


def whole(haplotypes: Haplotypes) -> tuple[np.ndarray, np.ndarray]:
    rows = np.concatenate(list(haplotypes.rows))
    assert rows.shape == (haplotypes.samples, len(haplotypes.positions))
    return haplotypes.positions, rows


def near(values: np.ndarray, expected: float, errors: float = 4.0) -> bool:
    """Whether the mean lies within that many standard errors of what is expected."""
    values = np.asarray(values, np.float64)
    return bool(abs(values.mean() - expected) < errors * values.std(ddof=1) / np.sqrt(len(values)))


def harmonic(samples: int, power: int = 1) -> float:
    return float(sum(1 / i**power for i in range(1, samples)))


def diversity(rows: np.ndarray) -> np.ndarray:
    """Pairwise differences per site: 2 c (n - c) / (n (n - 1))."""
    n, copies = len(rows), rows.sum(axis=0, dtype=np.int64)
    return 2 * copies * (n - copies) / (n * (n - 1))


@pytest.fixture(scope="module")
def neutral() -> list[tuple[np.ndarray, np.ndarray]]:
    region = Region(TestNeutral.SAMPLES, 1_000_000, SIZE, TestNeutral.THETA, TestNeutral.RHO)
    return replicates(region, 250, seed=1)


@pytest.fixture(scope="module")
def trees() -> list[tuple[np.ndarray, np.ndarray]]:
    return replicates(Region(TestTree.SAMPLES, 1000, SIZE, TestTree.THETA, 0.0), 3000, seed=3)


class TestNeutral:
    SAMPLES, THETA, RHO = 20, 40.0, 60.0

    def test_number_of_segregating_sites(self, neutral):
        assert near([rows.shape[1] for _, rows in neutral], self.THETA * harmonic(self.SAMPLES))

    def test_pairwise_diversity_is_theta(self, neutral):
        assert near([diversity(rows).sum() for _, rows in neutral], self.THETA)

    def test_diversity_is_even_along_the_region(self, neutral):
        for fifth in range(5):
            part = [diversity(rows[:, (at * 5).astype(int) == fifth]).sum() for at, rows in neutral]
            assert near(part, self.THETA / 5)

    def test_site_frequency_spectrum_is_theta_over_i(self, neutral):
        spectra = np.array([np.bincount(rows.sum(axis=0), minlength=self.SAMPLES + 1) for _, rows in neutral])
        assert not spectra[:, [0, self.SAMPLES]].any()  # every site varies
        for copies in range(1, self.SAMPLES):
            assert near(spectra[:, copies], self.THETA / copies), copies

    def test_haplotypes_are_exchangeable(self, neutral):
        derived = np.array([rows.sum(axis=1) for _, rows in neutral])
        for haplotype in range(self.SAMPLES):
            assert near(derived[:, haplotype] - derived.mean(axis=1), 0)

    def test_recombination_lowers_the_variance(self, neutral):
        alone = self.THETA * harmonic(self.SAMPLES) + self.THETA**2 * harmonic(self.SAMPLES, 2)
        assert np.var([rows.shape[1] for _, rows in neutral]) < 0.4 * alone

    def test_linkage_disequilibrium_decays_as_expected(self):
        rho = 30.0
        data = replicates(Region(16, 1_000_000, SIZE, 60.0, rho), 150, seed=2)
        edges = np.array([0.0, 0.5, 2.0, 5.0, 12.0, 25.0])  # distance, in units of 4 N r
        sums = np.zeros((len(data), len(edges) - 1, 3))
        for replicate, (at, rows) in enumerate(data):
            squared, spread, distance = unbiased_ld(at * rho, rows)
            bins = np.digitize(distance, edges) - 1
            expected = spread * (10 + distance) / (22 + 13 * distance + distance**2)
            for index, values in enumerate((squared, spread, expected)):
                sums[replicate, :, index] = np.bincount(bins, values, len(edges))[: len(edges) - 1]
        decay = sums[:, :, 0].sum(axis=0) / sums[:, :, 1].sum(axis=0)
        assert (np.diff(decay) < 0).all()
        for index in range(len(edges) - 1):
            assert near(sums[:, index, 0] - sums[:, index, 2], 0), (edges[index], decay[index])


def unbiased_ld(at: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unbiased estimates of D^2 and p (1 - p) q (1 - q), and the distance, for every pair of sites.

    Products of haplotype frequencies become products of counts without replacement over n (n - 1) (n - 2) (n - 3);
    the ratio of their expectations is sigma_d^2 = (10 + rho) / (22 + 13 rho + rho^2) (Ohta and Kimura 1971, Genetics
    68:571).
    """
    n, x = len(rows), rows.astype(np.int64)
    i, j = np.triu_indices(x.shape[1], 1)
    both = (x.T @ x)[i, j]
    one, two = x.sum(axis=0)[i] - both, x.sum(axis=0)[j] - both
    counts = {"11": both, "10": one, "01": two, "00": n - both - one - two}

    def drawn(*kinds: str) -> np.ndarray:
        out = np.ones(len(i), np.float64)
        for kind in set(kinds):
            for taken in range(kinds.count(kind)):
                out = out * (counts[kind] - taken)
        return out / (n * (n - 1) * (n - 2) * (n - 3))

    squared = drawn("11", "11", "00", "00") + drawn("10", "10", "01", "01") - 2 * drawn("11", "10", "01", "00")
    p_part = itertools.product(("11", "10"), ("01", "00"))
    q_part = list(itertools.product(("11", "01"), ("10", "00")))
    spread = sum(drawn(*p, *q) for p in p_part for q in q_part)
    return squared, np.asarray(spread), at[j] - at[i]


class TestTree:
    """Without recombination: one tree, whose moments are known exactly."""

    SAMPLES, THETA = 10, 8.0

    def test_mean_and_variance_of_segregating_sites(self, trees):
        sites = np.array([rows.shape[1] for _, rows in trees])
        mean = self.THETA * harmonic(self.SAMPLES)
        assert near(sites, mean)
        assert near((sites - mean) ** 2, mean + self.THETA**2 * harmonic(self.SAMPLES, 2))

    def test_variance_of_pairwise_diversity(self, trees):
        n, theta = self.SAMPLES, self.THETA
        expected = theta * (n + 1) / (3 * (n - 1)) + theta**2 * 2 * (n**2 + n + 3) / (9 * n * (n - 1))
        pairs = np.array([diversity(rows).sum() for _, rows in trees])
        assert near((pairs - theta) ** 2, expected)

    def test_all_four_gametes_are_never_seen(self, trees):
        for _, rows in trees[:100]:
            x = rows.astype(int)
            both = x.T @ x
            one = x.sum(axis=0)
            neither = len(x) - one[:, None] - one[None, :] + both
            assert not ((both > 0) & (both < one[:, None]) & (both < one[None, :]) & (neither > 0)).any()

    def test_time_to_the_common_ancestor(self):
        times = []
        for seed in range(2000):
            ancestry = Ancestry(5)
            coalesce(ancestry, Draws(rng(seed)), 0.0)
            times.append(ancestry.time)
        assert near(np.array(times), 2 * (1 - 1 / 5))


def test_fixed_number_of_sites():
    for sites in (0, 1, 4836):
        at, rows = replicates(Region(50, 2_230_000, SIZE, 0.0, 30.0, sites), 1, seed=4)[0]
        assert rows.shape == (50, sites)
        assert (np.diff(at) >= 0).all()
        assert ((at >= 0) & (at < 1)).all()


def test_split_keeps_all_material():
    stretches = [(0.1, 0.2, 0.0, 1), (0.4, 0.6, 0.5, 3)]
    assert split(stretches, 0.15) == ([(0.1, 0.15, 0.0, 1)], [(0.15, 0.2, 0.0, 1), (0.4, 0.6, 0.5, 3)])
    assert split(stretches, 0.3) == (stretches[:1], stretches[1:])
    assert split(stretches, 0.7) == (stretches, [])


def expected_pair_time(path: np.ndarray, between: np.ndarray, fixation: float) -> np.ndarray:
    """Expected coalescence time of a pair (2N generations) at neutral sites `between` Morgans from the selected one.

    Straight from the definition: the chance that both, one or neither of the lineages sit on the beneficial
    background, step by step.
    """
    steps = 4
    step = 1 / steps
    both = np.full(len(between), np.exp(-fixation))
    one, neither = np.zeros((2, len(between)))
    time = np.full(len(between), 1 - np.exp(-fixation))
    for x in np.repeat(path[::-1], steps):
        time += (both + one + neither) / (2 * SIZE) * step
        leave, join = between * (1 - x) * step, between * x * step
        met, met_outside = min(1, step / (2 * SIZE * x)), min(1, step / (2 * SIZE * (1 - x)))
        both, one, neither = (
            both * (1 - 2 * leave - met) + one * join,
            one * (1 - leave - join) + both * 2 * leave + neither * 2 * join,
            neither * (1 - 2 * join - met_outside) + one * leave,
        )
    return time + one + neither


class TestSweep:
    def test_logistic_path(self):
        path = logistic_path(SIZE, 0.02)
        assert path[0] == pytest.approx(1 / (2 * SIZE))
        assert path[-1] == pytest.approx(1 - 1 / (2 * SIZE))
        np.testing.assert_allclose(np.diff(path), 0.02 * path[:-1] * (1 - path[:-1]), rtol=0.02)
        assert len(path) == pytest.approx(2 * np.log(2 * SIZE) / 0.02, rel=0.01)

    def test_wright_fisher_path(self):
        paths = [wright_fisher_path(SIZE, 0.05, rng(seed)) for seed in range(60)]
        assert all(path[0] == 1 / (2 * SIZE) and path.min() > 0 and path.max() < 1 for path in paths)
        # given fixation the start is faster: about 2 (ln(2 alpha) + 0.577) / s generations, alpha = 2Ns
        expected = 2 * (np.log(2 * 2 * SIZE * 0.05) + 0.5772) / 0.05
        assert np.mean([len(path) for path in paths]) == pytest.approx(expected, rel=0.05)

    def test_pair_diversity_around_the_site(self):
        sweep = HardSweep(400_000, 0.05, fixation_age=1000, trajectory="deterministic")
        theta, rho, windows = 300.0, 200.0, 5
        data = replicates(Region(2, 1_000_000, SIZE, theta, rho), 500, seed=5, sweep=sweep)
        path = logistic_path(SIZE, 0.05)
        for window in range(windows):
            seen = [np.count_nonzero((at * windows).astype(int) == window) for at, _ in data]
            points = (np.arange(window * 20, window * 20 + 20) + 0.5) / (20 * windows)
            times = expected_pair_time(path, abs(points - 0.4) * rho / (4 * SIZE), 0.05)
            assert near(seen, theta / windows * times.mean()), window

    def test_star_tree_at_the_site(self):
        """Everything at the site itself descends from one chromosome as old as the sweep: hardly a site segregates."""
        data = replicates(Region(30, 1000, SIZE, 20.0, 0.0), 20, seed=6, sweep=HardSweep(500, 0.1))
        assert np.mean([rows.shape[1] for _, rows in data]) < 0.2 * 20 * harmonic(30)

    def test_scan_finds_the_site(self):
        region = Region(40, 1_000_000, SIZE, 250.0, 400.0)
        neutral = [best_omega(*data)[0] for data in replicates(region, 6, seed=7)]
        swept = [best_omega(*data) for data in replicates(region, 6, seed=7, sweep=HardSweep(600_000, 0.05))]
        assert np.median([omega for omega, _ in swept]) > max(neutral)
        assert np.median([abs(at - 600_000) for _, at in swept]) < 60_000

    def test_linkage_is_high_within_the_sides_and_low_across(self):
        def contrast(at: np.ndarray, rows: np.ndarray) -> float:
            common = (rows.sum(axis=0) > 1) & (abs(at - 0.6) < 0.15)
            values = reference.pair_values(rows[:, common].T)
            left = at[common] < 0.6
            same = np.equal.outer(left, left) & ~np.eye(len(left), dtype=bool)
            return float(values[same].mean() / values[np.not_equal.outer(left, left)].mean())

        region = Region(40, 1_000_000, SIZE, 250.0, 400.0)
        neutral = [contrast(*data) for data in replicates(region, 6, seed=8)]
        swept = [contrast(*data) for data in replicates(region, 6, seed=8, sweep=HardSweep(600_000, 0.03))]
        assert np.median(swept) > 2 * np.median(neutral)


def best_omega(at: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    values = reference.pair_values(rows.T)
    scores = reference.scan(values, (at * 1_000_000).astype(np.int64), grid=40, minwin=1000, maxwin=80_000)
    return max((score[1], score[0]) for score in scores)


class TestIndependent:
    def test_copies_follow_one_over_i(self):
        samples, sites = 30, 40_000
        _, rows = whole(simulate_independent(sites, samples, rng()))
        spectrum = np.bincount(rows.sum(axis=0), minlength=samples + 1)
        expected = sites / np.arange(1, samples) / harmonic(samples)
        assert spectrum[0] == spectrum[samples] == 0
        assert (abs(spectrum[1:samples] - expected) < 4.5 * np.sqrt(expected)).all()

    def test_haplotypes_carry_alike(self):
        _, rows = whole(simulate_independent(20_000, 25, rng()))
        share = rows.mean(axis=1)
        assert abs(share - share.mean()).max() < 4.5 * np.sqrt(share.mean() / 20_000)

    def test_linkage_is_at_noise_level(self):
        _, rows = whole(simulate_independent(400, 40, rng()))
        values = reference.pair_values(rows.T)[np.triu_indices(400, 1)]
        assert values.mean() == pytest.approx(40 / 39, rel=0.03)

    @pytest.mark.parametrize(("sites", "samples"), [(4836, 50), (20_534, 50), (3006, 700), (0, 5), (7, 2)])
    def test_sizes(self, sites, samples):
        at, rows = whole(simulate_independent(sites, samples, rng()))
        assert rows.shape == (samples, sites)
        assert (np.diff(at) > 0).all()

    def test_rows_come_in_blocks(self):
        blocks = [block.shape for block in simulate_independent(15_000, 1000, rng()).rows]
        assert len(blocks) > 3
        assert sum(rows for rows, _ in blocks) == 1000


class TestSeeds:
    REGION = Region(12, 100_000, SIZE, 20.0, 20.0)

    def test_same_seed_same_data(self):
        for sweep in (None, HardSweep(30_000, 0.05)):
            first, second = (replicates(self.REGION, 3, seed=9, sweep=sweep) for _ in range(2))
            for (at, rows), (other_at, other_rows) in zip(first, second, strict=True):
                np.testing.assert_array_equal(at, other_at)
                np.testing.assert_array_equal(rows, other_rows)

    def test_replicates_differ_and_do_not_depend_on_their_number(self):
        few, many = replicates(self.REGION, 2, seed=9), replicates(self.REGION, 5, seed=9)
        np.testing.assert_array_equal(few[1][0], many[1][0])
        assert len({tuple(at) for at, _ in many}) == 5


class TestDamage:
    STATES = rng().integers(0, 2, (400, 60)).astype(np.uint8)

    def test_nothing_asked_nothing_changed(self):
        assert add_missing(self.STATES, 0, rng(), missing=9) is self.STATES
        assert add_third_alleles(self.STATES, 0, rng()) is self.STATES
        assert lose_phase(self.STATES, 0, rng())[0] is self.STATES

    @pytest.mark.parametrize("ploidy", [1, 2])
    def test_missing_calls(self, ploidy):
        out = add_missing(self.STATES, 0.1, rng(), missing=9, ploidy=ploidy)
        lost = out == 9
        assert lost.mean() == pytest.approx(0.1, abs=0.01)
        np.testing.assert_array_equal(out[~lost], self.STATES[~lost])
        if ploidy == 2:
            np.testing.assert_array_equal(lost[:, ::2], lost[:, 1::2])
        assert (add_missing(self.STATES, 1, rng(), missing=9, ploidy=ploidy) == 9).all()

    def test_third_alleles(self):
        out = add_third_alleles(self.STATES, 0.3, rng())
        third = (out == 2).any(axis=1)
        assert third.mean() == pytest.approx(0.3, abs=0.1)
        assert (out[third] == 1).any(axis=1).all()
        np.testing.assert_array_equal(out > 0, self.STATES > 0)
        single = np.eye(8, dtype=np.uint8)
        np.testing.assert_array_equal(add_third_alleles(single, 1, rng()), single)

    def test_lost_phase(self):
        out, lost = lose_phase(self.STATES, 0.4, rng())
        assert lost.mean() == pytest.approx(0.4, abs=0.02)
        pairs, before = out.reshape(400, 30, 2), self.STATES.reshape(400, 30, 2)
        np.testing.assert_array_equal(pairs.sum(axis=2), before.sum(axis=2))
        np.testing.assert_array_equal(pairs[~lost], before[~lost])
        assert (pairs[lost][:, 0] <= pairs[lost][:, 1]).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Region(1, 10, 10, 1, 1), "samples must be between 2 and 1,000,000, not 1"),
        (lambda: Region(MAX_SAMPLES + 1, 10, 10, 1, 1), "samples must be between 2 and 1,000,000, not 1,000,001"),
        (lambda: simulate(Region(MAX_SAMPLES, 10, 10, 1, 1), rng()), "samples must be between 2 and 100,000, not 1"),
        (lambda: Region(5, 10, 10, 1, 1, MAX_SITES + 1), "sites must be between 0 and 100,000,000"),
        (lambda: Region(5, 10, 10, 1e12, 1), "theta must be between 0 and .*, not 1e[+]12"),
        (lambda: Region(5, 10, 10, 1, 1e12), "rho must be between 0 and 1,000,000,000, not 1e[+]12"),
        (lambda: Region(5, 10**16, 10, 1, 1), "length must be between 1 and"),
        (lambda: Region(5, 10, 1e300, 1, 1), "population_size must be between 1 and"),
        (lambda: simulate(Region(5, 10, 1e12, 1, 1), rng(), HardSweep(1, 1e-9)), "generations, .* raise selection"),
        (lambda: simulate_independent(MAX_SITES + 1, 5, rng()), "sites must be between 0 and 100,000,000"),
        (lambda: simulate_independent(5, MAX_SAMPLES + 1, rng()), "samples must be between 2 and 1,000,000"),
        (lambda: replicate_seeds(1, MAX_REPLICATES + 1), "replicates must be between 1 and 1,000,000"),
        (lambda: Region(5, 0, 10, 1, 1), "length"),
        (lambda: Region(5, 10, 0, 1, 1), "population"),
        (lambda: Region(5, 10, 10, float("nan"), 1), "theta"),
        (lambda: Region(5, 10, 10, 1, -1), "rho"),
        (lambda: Region(5, 10, 10, 1, 1, -1), "sites"),
        (lambda: HardSweep(5, 0), "selection"),
        (lambda: HardSweep(5, 0.1, -1), "fixation"),
        (lambda: HardSweep(5, 0.1, float("inf")), "fixation"),
        (lambda: HardSweep(5, 0.1, 0, "straight"), "trajectory"),
        (lambda: simulate(Region(5, 10, 1e4, 1, 1), rng(), HardSweep(10, 0.1)), "inside"),
        (lambda: simulate(Region(5, 10, 1e4, 1, 1), rng(), HardSweep(1, 1e-5)), "2Ns"),
        (lambda: simulate_independent(5, 1, rng()), "samples must be"),
        (lambda: replicate_seeds(-1, 1), "seed"),
        (lambda: replicate_seeds(1, 0), "replicates"),
    ],
)
def test_values_out_of_range(make, words):
    with pytest.raises(UsageError, match=words):
        make()


def test_msprime_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "msprime", None)
    with pytest.raises(MissingDependencyError, match=r"oclgenomics\[msprime\]"):
        simulate_with_msprime(Region(5, 1000, SIZE, 1.0, 1.0), 1)


def test_msprime_where_it_is_installed():
    pytest.importorskip("msprime")
    region = Region(6, 100_000, SIZE, 30.0, 20.0)
    for sweep in (None, HardSweep(50_000, 0.05)):
        first, second = (whole(simulate_with_msprime(region, 3, sweep)) for _ in range(2))
        np.testing.assert_array_equal(first[1], second[1])
        assert ((first[0] >= 0) & (first[0] < 1)).all()
    for sites in (0, 1, 10, 200):
        at, rows = whole(simulate_with_msprime(Region(6, 100_000, SIZE, 0.0, 20.0, sites), 1))
        assert rows.shape == (6, sites)
        assert (np.diff(at) >= 0).all()
        assert (rows.any(axis=0) & ~rows.all(axis=0)).all()  # every site varies
