"""nSL and iHS of sites on the device against the oracle, by both kernels: gaps, edges, genotypes, blocks, batches."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.sweep_sites import SEEDS, random_states
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import UsageError
from oclgenomics.runtime import Engine
from oclgenomics.sweeps import SweepOptions
from oclgenomics.sweeps.device import ehh as device
from oclgenomics.sweeps.device.ehh import HomozygosityScanner, Method
from oclgenomics.sweeps.reference_ehh import Rules, core_score
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import used_sites
from oclgenomics.sweeps.statistics.ehh import CoreSites, Score, SiteScores, core_sites, weight_bits
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import BedRegions

METHODS: tuple[Method, ...] = ("sorted", "classes")


def varied(seed: int, sites: int, haplotypes: int, *, missing: float = 0.0, unphased: bool = False) -> Alignment:
    """An alignment of sites that repeat each other, some of them at one position and some behind long gaps."""
    rng = np.random.default_rng(seed)
    states, seen = random_states(rng, sites, haplotypes, missing)
    steps = rng.choice([0, 1, 5_000, 19_999, 20_001, 60_000, 250_000], sites, p=[0.1, 0.3, 0.2, 0.1, 0.1, 0.15, 0.05])
    return make_alignment(states, 1 + np.cumsum(steps), seen, unphased=unphased)


def cores_of(alignment: Alignment, options: SweepOptions, exclude: BedRegions | None = None) -> CoreSites:
    used = used_sites(alignment, options, exclude, None)
    return core_sites(used, options, Mask.of(exclude, used.name, options))


def alleles_of(sites: CoreSites) -> list[list[int]]:
    bits = np.unpackbits(sites.rows.view(np.uint8), axis=1, bitorder="little")[:, : sites.haplotypes]
    return (bits[:, ::2] + bits[:, 1::2] if sites.genotypes else bits).astype(int).tolist()


def expected(
    sites: CoreSites, score: Score, options: SweepOptions, parted: list[int]
) -> tuple[list[tuple[float, ...]], Counter[str]]:
    """Position and scores of each scored site, and how many have none for each reason."""
    edge = options.ehh_edge == "keep"
    rules = Rules(score, unphased=sites.genotypes, max_gap=options.ehh_max_gap, keep_edge=edge)
    rows, reasons, states = [], Counter[str](), alleles_of(sites)
    for core in range(sites.sites):
        found = core_score(states, sites.positions.tolist(), core, rules, parted)
        if isinstance(found, str):
            reasons[found] += 1
        else:
            rows.append((float(sites.positions[core]), *found))
    return rows, reasons


def check(found: SiteScores, rows: list[tuple[float, ...]], reasons: Counter[str]) -> None:
    assert found.positions.tolist() == [row[0] for row in rows]
    columns = np.array(rows).reshape(-1, 4).T
    for values, ours in zip(columns[1:3], (found.first, found.second), strict=True):
        assert ours == pytest.approx(values, rel=3e-6, abs=3e-6)
    equal = np.abs(columns[1] - columns[2]) < 1e-5  # of genotypes the larger one has the sign, but neither is larger
    scores = (np.where(equal, np.abs(each), each) for each in (found.score, columns[3]))
    assert next(scores) == pytest.approx(next(scores), rel=3e-6, abs=3e-6)
    assert dict(found.unscored) == dict(reasons)


@settings(max_examples=60, deadline=None)
@given(
    seed=SEEDS, sites=st.integers(1, 40), pairs=st.sampled_from([1, 2, 3, 8, 15, 16, 17, 20]),
    genotypes=st.booleans(), score=st.sampled_from(["nsl", "ihs"]), edge=st.sampled_from(["drop", "keep"]),
    gap=st.sampled_from([100_000, 10_000_000]), method=st.sampled_from(METHODS), local=st.sampled_from([None, 0]),
    block=st.sampled_from([None, 1, 7]), region=st.none() | st.integers(0, 300_000), reach=st.sampled_from([3, 100]),
)  # fmt: skip
def test_scores_are_those_of_the_oracle(
    engine: Engine, seed: int, sites: int, pairs: int, genotypes: bool, score: Score, edge: str, gap: int,
    method: Method, local: int | None, block: int | None, region: int | None, reach: int,
) -> None:  # fmt: skip
    exclude = None
    if region is not None:
        exclude = BedRegions({"1": np.array([region])}, {"1": np.array([region + 100])})
    options = SweepOptions(ehh_max_gap=gap, ehh_edge=edge, ehh_maf=0.05)
    cores = cores_of(varied(seed, sites, 2 * pairs, unphased=genotypes), options, exclude)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oclgenomics.sweeps.statistics.ehh.REACH_SITES", reach)
        patch.setattr("oclgenomics.sweeps.reference_ehh.REACH_SITES", reach)
        scanner = HomozygosityScanner(engine, block_cores=block, method=method, local_memory=local)
        (found,) = scanner.scores([cores], score, options)
        rows, reasons = expected(cores, score, options, np.flatnonzero(cores.barriers == 3).tolist())
    check(found, rows, reasons)


@pytest.mark.parametrize("method", METHODS)
def test_alignments_that_go_together_have_their_own_scores(engine: Engine, method: Method) -> None:
    shapes = [(30, 10), (5, 10), (40, 12), (0, 10), (33, 10)]
    options = SweepOptions(ehh_edge="keep")
    cores = [cores_of(varied(seed, *shape), options) for seed, shape in enumerate(shapes)]
    for found, one in zip(HomozygosityScanner(engine, method=method).scores(cores, "nsl", options), cores, strict=True):
        check(found, *expected(one, "nsl", options, []))


@pytest.mark.parametrize("method", METHODS)
def test_work_items_share_no_sites_of_a_long_alignment(
    engine: Engine, method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "LEAST_BLOCK", 8)
    monkeypatch.setattr(device, "BLOCK_SHARE", 0)
    monkeypatch.setattr(device, "GROUPS", 64)
    options = SweepOptions(ehh_edge="keep", ehh_max_gap=10**9)
    cores = cores_of(varied(7, 150, 12), options)
    (found,) = HomozygosityScanner(engine, method=method, local_memory=0).scores([cores], "nsl", options)
    check(found, *expected(cores, "nsl", options, []))


def test_blocks_are_cut_by_the_memory_of_the_device(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    options = SweepOptions(ehh_edge="keep")
    cores = cores_of(varied(3, 60, 20), options)
    monkeypatch.setattr(Engine, "items_that_fit", lambda self, needs, item: 11)
    (found,) = HomozygosityScanner(engine).scores([cores], "ihs", options)
    check(found, *expected(cores, "ihs", options, []))


def test_sites_with_missing_states_are_left_out_and_haplotypes_that_are_never_there(engine: Engine) -> None:
    rng = np.random.default_rng(4)
    states, _ = random_states(rng, 40, 40)
    at, options = np.arange(1, 41), SweepOptions(ehh_edge="keep", max_missing=1.0)
    seen = np.ones_like(states, bool)
    seen[:, [3, 38]] = False
    whole = cores_of(make_alignment(np.delete(states, [3, 38], axis=1), at), options)
    holed = cores_of(make_alignment(states, at, seen), options)
    assert (holed.missing, holed.haplotypes) == (0, 38)
    assert np.array_equal(holed.rows, whole.rows)
    seen[[5, 6], 0] = False
    holed = cores_of(make_alignment(states, at, seen), options)
    assert holed.missing == 2
    (found,) = HomozygosityScanner(engine).scores([holed], "nsl", options)
    assert found.unscored["missing states"] == 2
    assert not {6.0, 7.0} & set(found.positions.tolist())


def test_weights_leave_room_for_sums_of_the_most_haplotypes() -> None:
    for score in ("nsl", "ihs"):
        for count in (2, 2_000, 65_535):
            bits = weight_bits(count, score)  # type: ignore[arg-type]
            span = 101 if score == "nsl" else 1_020_000
            assert bits >= 8
            assert 2 * count * (count - 1) * span * 2**bits < 2**64
    assert math.log2(20_000 * 2.0 ** weight_bits(2, "ihs")) < 32


def test_more_haplotypes_than_numbers_are_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "MOST_HAPLOTYPES", 9)
    options = SweepOptions()
    with pytest.raises(UsageError, match="nsl takes at most 9 haplotypes, and there are 10"):
        HomozygosityScanner(engine).scores([cores_of(varied(1, 9, 10), options)], "nsl", options)


@given(borders=st.lists(st.integers(0, 30), max_size=8), most=st.integers(1, 9))
def test_blocks_of_ranges_have_each_core_once(borders: list[int], most: int) -> None:
    ends = sorted(borders)
    ranges = list(zip(ends[::2], ends[1::2], strict=False))
    found = list(device._blocks(ranges, most))
    wanted = [one for begin, end in ranges for one in range(begin, end)]
    assert [one for begin, end in found for one in range(begin, end)] == wanted
    assert all(0 < end - begin <= most for begin, end in found)
    stretches = 1 + sum(b - a > 1 for a, b in itertools.pairwise(wanted))
    assert not wanted or len(found) < stretches + len(wanted) / most  # ranges that follow each other are one
