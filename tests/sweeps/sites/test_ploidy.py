"""Haploid and diploid samples in one alignment, and samples that are both, as males are on chromosome X."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.sweep_sites import few_haplotypes, random_states

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device, Engine
from oclgenomics.sweeps import Scan, SweepOptions, reference, scan
from oclgenomics.sweeps.sites.used import used_sites
from oclgenomics.variation import Alignment

SITES, SAMPLES, MALES, WIDTH, BORDER = 200, 12, 5, 8, 80
HAPLOID, MISSING = -2, -1
EVERY = ("mu", "pi", "theta", "tajima_d", "fay_wu_h", "h12", "saltilassi", "nsl", "clr", "fst", "dxy", "xp_nsl")


def calls_of(seed: int, first: int, *, missing: float = 0.0, alike: bool = False) -> np.ndarray:
    """Calls (sites, samples, 2), of which the first samples are haploid from a site on."""
    rng = np.random.default_rng(seed)
    states, _ = (few_haplotypes if alike else random_states)(rng, SITES, 2 * SAMPLES)
    calls = states.reshape(SITES, SAMPLES, 2).astype(np.int64)
    calls[first:, :MALES, 1] = HAPLOID
    lost = (rng.random(calls.shape) < missing) & (calls != HAPLOID)
    calls[lost] = MISSING
    return calls


def alignment_of(calls: np.ndarray, *, phased: bool = True) -> Alignment:
    return Alignment.from_genotypes(100 * np.arange(1, len(calls) + 1), calls, phased=phased)


def panel(path: Path, numbers: dict[str, list[int]]) -> str:
    path.write_text("".join(f"{number}\t{name}\n" for name, own in numbers.items() for number in own))
    return str(path)


def values_of(found: Scan) -> dict[str, np.ndarray]:
    return {"positions": found.positions, **found.values}


def test_haploid_samples_are_one_haplotype_of_every_statistic(engine: Engine, tmp_path: Path) -> None:
    calls = calls_of(1, 0, alike=True)
    there = calls[0].reshape(-1) != HAPLOID
    plain = Alignment.from_haplotypes(100 * np.arange(1, SITES + 1), calls.reshape(SITES, -1)[:, there])
    samples = np.repeat(np.arange(1, SAMPLES + 1), 2)[there]
    files = []
    for name, numbers in (("samples", range(1, SAMPLES + 1)), ("haplotypes", samples)):
        odd = [[i + 1 for i, sample in enumerate(numbers) if sample % 2 == rest] for rest in (1, 0)]
        files.append(panel(tmp_path / name, {"A": odd[0], "B": odd[1]}))
    both = [
        scan(
            one,
            SweepOptions(
                statistics=EVERY, width=WIDTH, haplotype_window=10, haplotype_step=3, ehh_edge="keep", ehh_maf=0,
                populations=path,
            ),
            engine=engine,
        )[0]
        for one, path in ((alignment_of(calls), files[0]), (plain, files[1]))
    ]  # fmt: skip
    ours, theirs = map(values_of, both)
    for name, values in theirs.items():
        np.testing.assert_array_equal(ours[name], values, err_msg=name)
    assert both[0].facts == both[1].facts


@pytest.mark.parametrize("phased", [True, False])
def test_counts_have_one_state_of_each_haploid_call(engine: Engine, tmp_path: Path, phased: bool) -> None:
    calls = calls_of(2, BORDER, missing=0.02)
    if not phased:  # what is half missing is missing
        calls[((calls == MISSING).any(axis=2)) & (calls[:, :, 1] != HAPLOID)] = MISSING
    alignment = alignment_of(calls, phased=phased)
    populations = panel(tmp_path / "panel", {"A": [1, 2, 6, 7, 8], "B": [3, 4, 5, 9, 10]})
    options = SweepOptions(
        statistics=("mu", "pi", "theta", "tajima_d", "fay_wu_h", "fst", "dxy"), width=WIDTH, max_missing=0.15,
        populations=populations,
    )  # fmt: skip
    (found,) = scan(alignment, options, engine=engine)
    derived, observed = ((calls == 1).sum(axis=(1, 2)), (calls >= 0).sum(axis=(1, 2)))
    known = (calls[:, :, 1] == HAPLOID) & (calls[:, :, 0] >= 0)  # a lone missing state says nothing of the ploidy
    there = 2 * SAMPLES - known.sum(axis=1)
    keep = (derived > 0) & (derived < observed) & (there - observed <= 0.15 * there)
    assert {name: found.discarded.get(name, 0) for name in ("monomorphic", "missing")} == {
        "monomorphic": ((derived == 0) | (derived == observed)).sum(),
        "missing": ((derived > 0) & (derived < observed) & (there - observed > 0.15 * there)).sum(),
    }
    assert found.facts.missing == pytest.approx(1 - observed[keep].sum() / there[keep].sum(), abs=1e-8)
    groups = ([0, 1, 5, 6, 7], [2, 3, 4, 8, 9])
    rows = [
        tuple((int((own == 1).sum()), int((own >= 0).sum())) for own in (calls[s][group] for group in groups))
        for s in np.flatnonzero(keep)
    ]
    counts = list(zip(derived[keep].tolist(), observed[keep].tolist(), strict=True))
    for i in range(len(counts) - WIDTH + 1):
        length = float(found.end[i] - found.start[i] + 1)
        inside = counts[i : i + WIDTH]
        expected = reference.diversity(inside, length) | reference.between_populations(rows[i : i + WIDTH], length)
        edges = sum(reference.edges(*one, 1) for one in inside)
        expected["mu_sfs"] = edges * reference.harmonic(2 * SAMPLES) / WIDTH
        for name, value in expected.items():
            assert found.values[name][i] == pytest.approx(value, nan_ok=True), name
    assert len(found.positions) > 100


def test_unphased_genotypes_of_haploid_samples(engine: Engine) -> None:
    calls = calls_of(3, 0)
    used = used_sites(alignment_of(calls, phased=False), SweepOptions(), None, None)
    assert used.facts.haploid == pytest.approx(MALES / (2 * SAMPLES))
    assert (used.facts.haplotypes, used.copies) == (2 * SAMPLES, 2 * SAMPLES - MALES)
    assert used.observed.tolist() == [2 * SAMPLES - MALES] * used.sites
    twice = np.where(calls == HAPLOID, calls[:, :, :1], calls)  # homozygous, where genotypes are compared
    options = SweepOptions(
        statistics=("mu", "h12", "nsl"), width=WIDTH, haplotype_window=10, ehh_maf=0, ehh_edge="keep"
    )
    ours, theirs = (scan(alignment_of(one, phased=False), options, engine=engine)[0] for one in (calls, twice))
    at, other = (np.isin(one.positions, two.positions) for one, two in ((ours, theirs), (theirs, ours)))
    assert at.sum() > 100
    for name in ("mu_ld", "h12", "nsl"):
        np.testing.assert_array_equal(ours.values[name][at], theirs.values[name][other], err_msg=name)


def test_parts_of_a_chromosome_of_another_ploidy(engine: Engine) -> None:
    calls = calls_of(4, BORDER, alike=True)
    options = SweepOptions(statistics=("mu", "pi", "h12"), width=WIDTH, haplotype_window=10, haplotype_step=1)
    (whole,) = scan(alignment_of(calls), options, engine=engine)
    (one, two) = (
        scan(Alignment.from_genotypes(100 * np.arange(a + 1, b + 1), calls[a:b]), options, engine=engine)[0]
        for a, b in ((0, BORDER), (BORDER, SITES))
    )
    assert one.sites + two.sites == whole.sites
    for part in (one, two):
        at = np.isin(whole.positions, part.positions) & np.isin(whole.start, part.start)
        assert at.sum() == len(part.positions)
        for name in ("pi", "mu_ld"):
            np.testing.assert_allclose(whole.values[name][at], part.values[name], err_msg=name)
        inside = slice(WIDTH, -WIDTH)  # windows of 10 sites that do not cross the border
        np.testing.assert_allclose(whole.values["h12"][at][inside], part.values["h12"][inside])
    assert whole.facts.haploid == pytest.approx(MALES * two.sites / (2 * SAMPLES * whole.sites), abs=1e-8)
    assert one.facts.haploid is two.facts.haploid is None
    text = f"warning: {MALES} samples are haploid at some sites and diploid at others"
    assert [remark.startswith(text) for remark in whole.remarks] == [True, False]
    assert not [remark for part in (one, two) for remark in part.remarks]


def test_the_command_says_what_haploid_calls_are(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\n"
    lines = [f"X\t{100 * i}\t.\tA\tC\t.\t.\t.\tGT\t{'1' if i > 9 else '0|1'}\t0|1\t1|{i % 2}\n" for i in range(1, 20)]
    (tmp_path / "x.vcf").write_text(head + "".join(lines))
    command = ["sweeps", "scan", str(tmp_path / "x.vcf"), "-w", "6", "-d", str(device.index)]
    assert main(command) == 0
    said = capsys.readouterr().err
    assert "X: warning: 1 sample is haploid at some sites and diploid at others, as males are on chromosome X" in said
    (tmp_path / "x.vcf").write_text(head + "".join(line.replace("|", "/") for line in lines))
    assert main(command) == 0
    said = capsys.readouterr().err
    assert "haploid calls count as one haplotype, and in patterns as homozygous genotypes" in said
    assert "1 sample is haploid at some" not in said
