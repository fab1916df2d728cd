"""Statistics between two populations: scikit-allel's numbers, the oracle, and what is said of files of samples."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.sweep_sites import SEEDS, few_haplotypes, random_states, states_of
from hypothesis import given, settings, strategies as st

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, UsageError
from oclgenomics.runtime import Engine
from oclgenomics.simulate import NeutralReplicates, Region
from oclgenomics.sweeps import (
    SweepOptions,
    find_peaks,
    find_thresholds,
    make_report,
    read_report,
    read_thresholds,
    reference,
    scan,
    write_report,
)
from oclgenomics.sweeps.device.ehh import HomozygosityScanner
from oclgenomics.sweeps.plots.scans import compared_in
from oclgenomics.sweeps.reference_ehh import Rules, compared_score
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.populations import Populations, read_populations
from oclgenomics.sweeps.sites.used import used_sites
from oclgenomics.sweeps.statistics.ehh import EXCLUDED, compared_sites
from oclgenomics.variation import Alignment, ReadOptions, read_alignments
from oclgenomics.variation.bed import BedRegions
from oclgenomics.variation.selection import take_sites

TESTS = Path(__file__).parents[2]
INPUTS, REPORTS = TESTS / "data" / "sweeps", TESTS / "golden" / "sweeps"
CLEAN, SWEEP = str(INPUTS / "phased_clean.vcf.gz"), str(INPUTS / "sweep40.ms.gz")


def sample_file(folder: Path, first: Any, second: Any) -> str:
    """A file of the samples of populations A and B."""
    path = folder / "populations.txt"
    path.write_text("".join(f"{name}\t{own}\n" for own, names in (("A", first), ("B", second)) for name in names))
    return str(path)


@pytest.fixture
def compared(tmp_path: Path) -> str:
    """s0 to s15 and s20 to s37."""
    return sample_file(tmp_path, [f"s{i}" for i in range(16)], [f"s{i}" for i in range(20, 38)])


@pytest.mark.parametrize("name", ["phased_clean", "missing"])
def test_values_are_those_of_scikit_allel(name: str, compared: str, engine: Engine) -> None:
    rows = [line.split("\t") for line in (REPORTS / "scikit-allel.populations.tsv").read_text().splitlines()[2:]]
    options = SweepOptions(statistics=["fst", "dxy"], populations=compared)
    reading = ReadOptions(records="raisd")  # those of one position, too
    (found,) = scan(INPUTS / f"{name}.vcf.gz", options, reading=reading, engine=engine)
    golden = [[float(word) for word in row[1:]] for row in rows if row[0] == name]
    assert list(found.values) == ["fst", "dxy"]
    assert len(golden) == len(found.positions[::50]) > 9
    for row, (first, last, fst, differences) in enumerate(golden):
        window = 50 * row
        assert (found.start[window], found.end[window]) == (first, last)
        assert found.values["fst"][window] == pytest.approx(fst, rel=1e-9)
        assert found.values["dxy"][window] == pytest.approx(differences / (last - first + 1), rel=1e-9)


def counts_of(alignment: Alignment, columns: list[list[int]], keep: np.ndarray) -> list[Any]:
    """Derived and observed haplotypes of each site kept, in each population."""
    states, seen = states_of(alignment)
    seen = seen.astype(bool)
    if alignment.unphased:
        seen = np.repeat(seen[:, ::2] & seen[:, 1::2], 2, axis=1)
    states = states & seen
    parts = [(states[keep][:, own].sum(axis=1), seen[keep][:, own].sum(axis=1)) for own in columns]
    (d1, t1), (d2, t2) = ((d.tolist(), t.tolist()) for d, t in parts)
    return list(zip(zip(d1, t1, strict=True), zip(d2, t2, strict=True), strict=True))


def varies(alignment: Alignment) -> np.ndarray:
    states, seen = states_of(alignment)
    seen = seen.astype(bool)
    if alignment.unphased:
        seen = np.repeat(seen[:, ::2] & seen[:, 1::2], 2, axis=1)
    derived, observed = (states & seen).sum(axis=1), seen.sum(axis=1)
    return (derived > 0) & (derived < observed)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, sites=st.integers(0, 30), pairs=st.sampled_from([2, 5, 15, 16, 17, 33]), unphased=st.booleans(),
       missing=st.sampled_from([0.0, 0.4]), step=st.none() | st.integers(50, 400))  # fmt: skip
def test_windows_are_those_of_the_oracle(
    engine: Engine, seed: int, sites: int, pairs: int, unphased: bool, missing: float, step: int | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    states, seen = random_states(rng, sites, 2 * pairs, missing)
    alignment = make_alignment(states, np.sort(rng.integers(1, 50 * sites + 2, sites)), seen)
    alignment.ploidy, alignment.unphased = (2, True) if unphased else (1, False)
    samples = pairs if unphased else 2 * pairs
    order = rng.permutation(samples) + 1
    cut = 1 if unphased else 2
    first, second = order[:cut], order[cut : max(samples - 1, 2 * cut)]
    path = sample_file(tmp_path_factory.getbasetemp(), first, second)
    options = SweepOptions(statistics=["fst", "dxy"], populations=path, width=6, step=step, max_missing=1.0)
    (found,) = scan(alignment, options, engine=engine)
    ploidy = alignment.ploidy
    columns = [[ploidy * (int(name) - 1) + i for name in own for i in range(ploidy)] for own in (first, second)]
    keep = varies(alignment)
    counts, at = counts_of(alignment, columns, keep), alignment.positions[keep]
    assert found.facts.populations == f"{len(columns[0])}+{len(columns[1])}"
    for row, (low, high) in enumerate(zip(found.start, found.end, strict=True)):
        inside = (
            counts[row : row + 6] if step is None else [c for c, x in zip(counts, at, strict=True) if low <= x < high]
        )
        expected = reference.between_populations(inside, high - low + (step is None))
        for name, value in expected.items():
            assert found.values[name][row] == pytest.approx(value, rel=1e-9, abs=1e-11, nan_ok=True), name


def test_fixed_differences_and_equal_populations(engine: Engine, tmp_path: Path) -> None:
    states = np.zeros((12, 8), np.uint8)
    states[:6, 2:4] = 1  # fixed differences of A and B
    states[6:, 4:] = 1  # of neither
    path = sample_file(tmp_path, [1, 2], [3, 4])
    options = SweepOptions(statistics=["fst", "dxy"], populations=path, width=6)
    (found,) = scan(make_alignment(states, np.arange(12) * 10 + 1), options, engine=engine)
    assert found.values["fst"][0] == 1
    assert found.values["dxy"][0] == 6 / 51
    assert np.isnan(found.values["fst"][6])
    assert found.values["dxy"][6] == 0


@pytest.mark.parametrize(("name", "edge"), [("xp_nsl", "drop"), ("xp_ehh", "keep")])
def test_scores_are_those_of_selscan(name: Any, edge: Any, compared: str, engine: Engine) -> None:
    options = SweepOptions(statistics=[name], ehh_edge=edge, populations=compared)
    (every,) = read_alignments(CLEAN, ReadOptions(records="raisd"))
    derived = states_of(every)[0][:, [*range(32), *range(40, 76)]].sum(axis=1)
    data = take_sites(every, derived != 34)  # which selscan takes for sites that do not vary
    (found,) = scan(data, options, engine=engine)
    scores = found.details[name]
    golden = gzip.decompress((REPORTS / f"selscan.{name.replace('_', '')}.out.gz").read_bytes()).decode()
    rows = [line.split("\t") for line in golden.splitlines()[1:]]
    assert scores.positions.tolist() == [float(row[2]) for row in rows]
    for column, values in ((5, scores.first), (7, scores.second), (8, scores.score)):
        assert values == pytest.approx([float(row[column]) for row in rows], rel=6e-6, abs=6e-7)
    z = (scores.score - scores.score.mean()) / scores.score.std(ddof=1)
    assert scores.normalised == pytest.approx(z)
    reverse = SweepOptions(statistics=[name], ehh_edge=edge, populations=compared, between=("B", "A"))
    (other,) = scan(data, reverse, engine=engine)
    assert other.values[name] == pytest.approx(-found.values[name], nan_ok=True)
    window = int(np.flatnonzero(~np.isnan(found.values[name]))[0])
    assert abs(found.values[name][window]) < 5
    middles = (scores.positions[:-24] + scores.positions[24:]) / 2
    means = [z[i : i + 25].mean() for i in range(len(middles))]
    assert found.values[name][window] == pytest.approx(np.interp(found.positions[window], middles, means))


@settings(max_examples=60, deadline=None)
@given(
    seed=SEEDS, sites=st.integers(1, 40), first=st.sampled_from([2, 3, 15, 16, 17, 31, 32, 33]),
    second=st.sampled_from([2, 5, 16, 32]), others=st.sampled_from([0, 3]), score=st.sampled_from(["xp_nsl", "xp_ehh"]),
    edge=st.sampled_from(["drop", "keep"]), gap=st.sampled_from([100_000, 10_000_000]),
    method=st.sampled_from(["sorted", "classes"]), local=st.sampled_from([None, 0]),
    block=st.sampled_from([None, 1, 7]), region=st.none() | st.integers(0, 300_000), reach=st.sampled_from([3, 100]),
)  # fmt: skip
def test_scores_are_those_of_the_oracle(
    engine: Engine, seed: int, sites: int, first: int, second: int, others: int, score: Any, edge: Any, gap: int,
    method: Any, local: int | None, block: int | None, region: int | None, reach: int,
) -> None:  # fmt: skip
    exclude = None
    if region is not None:
        exclude = BedRegions({"1": np.array([region])}, {"1": np.array([region + 100])})
    options = SweepOptions(ehh_max_gap=gap, ehh_edge=edge)
    rng = np.random.default_rng(seed)
    states, _ = few_haplotypes(rng, sites, first + second + others)
    steps = rng.choice([0, 1, 5_000, 19_999, 20_001, 60_000, 250_000], sites, p=[0.1, 0.3, 0.2, 0.1, 0.1, 0.15, 0.05])
    alignment = make_alignment(states, 1 + np.cumsum(steps))
    order = rng.permutation(first + second + others)
    members = {str(h + 1): int(i >= first) for i, h in enumerate(order[: first + second])}
    used = used_sites(alignment, options, exclude, None, Populations(("A", "B"), members))
    cores = compared_sites(used, options, Mask.of(exclude, used.name, options))
    alleles = np.unpackbits(cores.rows.view(np.uint8), axis=1, bitorder="little")[:, : first + second]
    own = [sorted(h for h in range(len(order)) if members.get(str(h + 1)) == number) for number in (0, 1)]
    assert {tuple(row) for row in alleles} <= {tuple(row) for row in states[:, own[0] + own[1]]}
    assert (cores.first, cores.haplotypes) == (first, first + second)
    derived = states[:, own[0] + own[1]].sum(axis=1)
    varying = alignment.positions[(derived > 0) & (derived < first + second)]
    if region is not None:
        varying = varying[(varying <= region) | (varying > region + 100)]
    assert np.array_equal(cores.positions, varying)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oclgenomics.sweeps.statistics.ehh.REACH_SITES", reach)
        patch.setattr("oclgenomics.sweeps.reference_ehh.REACH_SITES", reach)
        scanner = HomozygosityScanner(engine, block_cores=block, method=method, local_memory=local)
        (found,) = scanner.scores([cores], score, options)
        rules = Rules(score, max_gap=gap, keep_edge=edge == "keep")
        parted = np.flatnonzero(cores.barriers == EXCLUDED).tolist()
        every = [
            compared_score(alleles.tolist(), cores.positions.tolist(), core, first, rules, parted)
            for core in range(cores.sites)
        ]
    scored = [one for one in every if not isinstance(one, str)]
    assert found.positions.tolist() == [at for at, one in zip(cores.positions, every, strict=True) if one in scored]
    for ours, values in zip((found.first, found.second, found.score), np.array(scored).reshape(-1, 3).T, strict=True):
        assert ours == pytest.approx(values, rel=3e-6, abs=3e-6)
    assert dict(found.unscored) == dict(Counter(one for one in every if isinstance(one, str)))


def test_sites_that_a_population_lacks_and_haplotypes_that_are_never_there(engine: Engine) -> None:
    rng = np.random.default_rng(4)
    states, _ = random_states(rng, 40, 40)
    members = {str(h + 1): int(h >= 20) for h in range(4, 40)}
    options = SweepOptions(max_missing=1.0)
    none = Mask.of(None, "1", options)
    seen = np.ones_like(states, bool)
    seen[:, 10] = False
    seen[3, 30] = False  # of the second population
    seen[4, 0] = False  # of neither
    states = states * seen
    states[7:9] = [[0] * 4 + [1] * 36, [1] * 4 + [0] * 36]  # these vary only among others
    states[7:9, 10] = 0
    used = used_sites(
        make_alignment(states, np.arange(1, 41), seen), options, None, None, Populations(("A", "B"), members)
    )
    cores = compared_sites(used, options, none)
    assert (cores.first, cores.haplotypes, cores.missing) == (15, 35, 1)
    assert 5.0 in cores.positions
    assert not {8.0, 9.0} & set(cores.positions.tolist())
    assert 4.0 not in cores.positions
    lone = Populations(("A", "B"), {"11": 0, "12": 0, "13": 1, "14": 1})
    used = used_sites(make_alignment(states, np.arange(1, 41), seen), options, None, None, lone)
    assert compared_sites(used, options, none).sites == 0


def test_genotypes_are_refused_where_haplotypes_are_followed(compared: str, engine: Engine) -> None:
    options = SweepOptions(statistics=["xp_ehh"], populations=compared)
    with pytest.raises(UsageError, match="1: XP-nSL and XP-EHH need phased haplotypes; use phase='missing'"):
        scan(INPUTS / "unphased.vcf.gz", options, engine=engine)


@pytest.mark.parametrize(
    ("text", "between", "message"),
    [
        ("s1 A\ns2\n", None, "line 2: give two columns, a sample and its population"),
        ("s1\tA\tEUR\n", None, "line 1: give two columns"),
        ("s1\t\n", None, "line 1: give two columns"),
        ("s1 A\n\ns1 B\n", None, "line 3: sample 's1' has a line already"),
        ("s1 A\ns2 A\n", None, "has 1 populations (A); name two of them with between"),
        ("\n", None, "has 0 populations (none)"),
        ("s1 A\ns2 B\ns3 C\n", None, "has 3 populations (A, B, C); name two of them with between"),
        ("s1 A\ns2 B\n", ("A", "C"), "has no population 'C'; it has A, B"),
    ],
)
def test_what_files_are_refused(text: str, between: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(InputError) as caught:
        read_populations(tmp_path / "x.txt", between)
    assert message in str(caught.value)
    assert "x.txt" in str(caught.value)


def test_two_of_several_populations_in_order(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("a name\tX\ns2\tY\n\ns3\tZ\n")
    found = read_populations(tmp_path / "x.txt", ("Z", "X"))
    assert (found.names, dict(found.members)) == (("Z", "X"), {"a name": 1, "s3": 0})


def test_a_population_has_two_haplotypes() -> None:
    (one,) = read_alignments(CLEAN, ReadOptions())
    masks = Populations(("A", "B"), {"s0": 0, "s39": 1}).masks(one)
    assert masks.tolist() == [[3, 0, 0], [0, 0, 3 << 14]]
    with pytest.raises(InputError, match="1 has fewer than two haplotypes of population B; its samples are s0, s1"):
        Populations(("A", "B"), {"s0": 0, "t": 1}).masks(one)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistics": ["fst"]}, "fst compares two populations; name their samples with populations"),
        (
            {"populations": "x"},
            "populations has no effect on mu,pi,theta,tajima_d,fay_wu_h; add some of fst, dxy, xp_nsl, xp_ehh",
        ),
        ({"between": ("A", "B")}, "between has no effect without populations"),
        ({"between": ("A", "A")}, "between='A,A': give two populations"),
        ({"between": "AB"}, "give two populations"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        SweepOptions(**options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (f"scan {CLEAN} --stat fst", 2, "fst compares two populations; name their samples with --populations"),
        (f"scan {CLEAN} --stat fst --populations none.txt", 3, "none.txt: no such file"),
        (f"scan {CLEAN} --stat dxy --populations FILE --between A,C", 3, "has no population 'C'; it has A, B"),
        (f"scan {CLEAN} --stat dxy --populations FILE --between A", 2, "--between A: give two populations"),
        (f"scan {CLEAN} --stat dxy --populations FILE -o FILE", 2, "populations.txt"),
        (f"scan {SWEEP} --length 200k --stat dxy --populations FILE", 3, "its samples are 1, 2, 3, 4, 5, ..."),
        ("threshold --stat pi,fst --populations FILE --samples 4 --theta 5", 2, "fst needs replicates of two"),
        (f"threshold {SWEEP} --stat dxy --length 200k", 2, "name their samples with --populations"),
        ("threshold --stat dxy --samples 4 --theta 5", 2, "as the input, and their samples with --populations"),
    ],
)  # fmt: skip
def test_what_is_refused(
    words: str, status: int, message: str, compared: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweeps", *words.replace("FILE", compared).split()]) == status
    err = capsys.readouterr().err
    assert message in err.splitlines()[-1]


def test_simulated_replicates_are_of_one_population(compared: str) -> None:
    neutral = NeutralReplicates(Region(80, 10_000, 10_000, theta=5, rho=5), 1, 9)
    with pytest.raises(UsageError, match="xp_nsl needs replicates of two populations, which are not simulated here"):
        find_thresholds(neutral, SweepOptions(statistics=["mu", "xp_nsl"], populations=compared))


def test_thresholds_of_replicates_with_two_populations(engine: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    path = sample_file(tmp_path, range(1, 9), range(9, 15))
    how: dict[str, Any] = {"statistics": ["fst", "pi"], "populations": path, "width": 20}
    replicates = [
        make_alignment(random_states(rng, 60, 16)[0], np.arange(60) * 100 + 1) for _ in range(4)
    ]  # fmt: skip
    null = find_thresholds(replicates, SweepOptions(**how), fpr=[0.4], engine=engine)
    data = scan(replicates[0], SweepOptions(**how), engine=engine)
    assert len(find_peaks(data, "fst", threshold=null)) in (0, 1)
    other = sample_file(tmp_path, range(1, 8), range(8, 15))
    unlike = scan(replicates[0], SweepOptions(**{**how, "populations": other}), engine=engine)
    with pytest.raises(UsageError, match=r"replicates have 8\+6 haplotypes of two populations.* has 7\+7"):
        find_peaks(unlike, "fst", threshold=null)


def test_thresholds_of_the_other_direction(engine: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    path = sample_file(tmp_path, range(1, 9), range(9, 17))
    options = SweepOptions(statistics=["fst", "xp_nsl"], populations=path, width=20, ehh_edge="keep", step=1000)
    replicates = [make_alignment(few_haplotypes(rng, 80, 16)[0], np.arange(80) * 100 + 1) for _ in range(5)]
    null = find_thresholds(replicates, options, fpr=[0.4], engine=engine)
    for between in (None, ("A", "B")):  # None is the order of the file
        find_peaks(scan(replicates[0], replace(options, between=between), engine=engine), "xp_nsl", threshold=null)
    back = replace(options, between=("B", "A"))
    with pytest.raises(UsageError, match=r"replicates compare A,B, and the scan \(1\) compares B,A, whose values have"):
        find_peaks(scan(replicates[0], back, engine=engine), "xp_nsl", threshold=null)
    with pytest.raises(UsageError, match="its replicates compare A,B, and 1 compares B,A, whose values have"):
        scan(replicates[0], back, engine=engine, backgrounds=null)
    alike = find_thresholds(replicates, replace(options, statistics=["fst"]), fpr=[0.4], engine=engine)
    find_peaks(scan(replicates[0], replace(back, statistics=["fst"]), engine=engine), "fst", threshold=alike)


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_reports_and_thresholds_of_the_command(form: str, compared: str, tmp_path: Path, device: Any) -> None:
    place, number = tmp_path / f"x.{form}", str(device.index)
    names = ["fst", "dxy", "xp_nsl", "xp_ehh"]
    line = ["sweeps", "scan", CLEAN, "--stat", ",".join(names), "--populations", compared, "--step", "50k", "-q"]
    line += ["-d", number, "--ehh-edge", "keep", "--html", str(tmp_path / "x.html")]
    assert main([*line, "--format", form, "-o", str(place)]) == 0
    (found,) = read_report(place)
    assert (found.facts.populations, found.facts.between) == ("32+36", "A,B")
    assert list(found.values) == names
    assert all(title in (tmp_path / "x.html").read_text() for title in ("Fst", "dxy", "XP-nSL", "XP-EHH"))
    unscored = ["xp_nsl", "xp_ehh"] if form == "json" else []
    assert list(json.loads(place.read_text())["alignments"][0]["unscored"] if unscored else []) == unscored
    null = tmp_path / "null.json"
    line = ["sweeps", "threshold", CLEAN, "--scan", str(place), "--populations", compared, "--fpr", "0.5", "-q"]
    assert main([*line, "--json", "-o", str(null), "-d", number]) == 0
    assert (read_thresholds(null).data.populations, read_thresholds(null).data.between) == ("32+36", "A,B")


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_names_of_populations_come_back(form: str, tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "populations.txt"
    path.write_text("".join(f"{i}\tNorth West\n{i + 4}\tÖst=1\n" for i in range(1, 5)))
    alignment = make_alignment(random_states(np.random.default_rng(3), 40, 8)[0], np.arange(1, 41))
    scans = scan(alignment, SweepOptions(statistics=["fst"], populations=str(path), width=8), engine=engine)
    with open(tmp_path / f"x.{form}", "wb") as stream:
        write_report(scans, stream, make_report(form, provenance={"parameters": scans[0].parameters}))
    assert read_report(tmp_path / f"x.{form}")[0].facts == scans[0].facts
    assert scans[0].facts.between == "North West,Öst=1"
    assert compared_in("fst", scans) == ["North West and Öst=1"]
    assert compared_in("xp_ehh", scans) == ["North West over Öst=1"]
    assert not compared_in("pi", scans)


def test_haploid_samples_have_one_haplotype(engine: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    calls = np.stack([few_haplotypes(rng, 130, 12)[0], few_haplotypes(rng, 130, 12)[0]], axis=2).astype(np.int8)
    males = [1, 4, 5, 9]
    calls[10:, males, 1] = -2  # the first sites are diploid, but not accessible
    alone = np.delete(calls[10:].reshape(120, 24), [2 * male + 1 for male in males], axis=1)
    names = [f"s{number}" for number in range(12)]
    of_haplotypes = [name for number, name in enumerate(names) for _ in range(1 if number in males else 2)]
    bed, positions = tmp_path / "accessible.bed", np.arange(1, 131) * 10
    bed.write_text("1\t105\t5000\n")
    options = SweepOptions(
        statistics=[*("mu", "pi", "tajima_d", "h12", "nsl", "fst", "dxy", "xp_nsl")], width=8, ehh_edge="keep",
        haplotype_window=10, populations=sample_file(tmp_path, names[:6], names[6:]), accessible=str(bed),
    )  # fmt: skip
    (found,) = scan(Alignment.from_genotypes(positions, calls, samples=names), options, engine=engine)
    ordered = sample_file(tmp_path, [f"a{i}" for i in range(9)], [f"b{i}" for i in range(11)])
    renamed = [f"a{i}" for i in range(9)] + [f"b{i}" for i in range(11)]
    assert [name in names[:6] for name in of_haplotypes] == [name.startswith("a") for name in renamed]
    plain = Alignment.from_haplotypes(positions[10:], alone, samples=renamed)
    (expected,) = scan(plain, replace(options, populations=ordered), engine=engine)
    assert found.facts == replace(expected.facts, accessible=1.0)
    assert (found.haplotypes, found.facts.populations) == (20, "9+11")
    for name, values in expected.values.items():
        np.testing.assert_allclose(found.values[name], values, rtol=1e-12, err_msg=name)


def test_samples_that_are_not_in_the_input_are_reported(engine: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    one = make_alignment(random_states(rng, 40, 8)[0], np.arange(1, 41))
    other = replace(one, name="2", replicate=2)
    path = sample_file(tmp_path, [1, 2, 3, "x", "y"], [4, 5, 6])
    scans = scan([one, other], SweepOptions(statistics=["fst"], populations=path, width=8), engine=engine)
    assert scans[0].remarks == (f"warning: {path}: 2 of 5 samples of population A are not in the input",)
    assert not scans[1].remarks
    whole = Populations(("A", "B"), {"1": 0, "2": 0, "x": 1})
    assert (
        whole.absent(["2"]) == "1 of 2 samples of population A and 1 of 1 samples of population B are not in the input"
    )
    assert not whole.absent(["x", "2", "1", "7"])
