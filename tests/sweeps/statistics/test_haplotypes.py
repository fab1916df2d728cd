"""Statistics of haplotypes along alignments: reports of scikit-allel and lassip, missing data and excluded regions."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.sweep_sites import few_haplotypes, rows_of

from oclgenomics.runtime import Engine
from oclgenomics.sweeps import SweepOptions, reference, scan
from oclgenomics.sweeps.options import HAPLOTYPE_STATISTICS
from oclgenomics.sweeps.plan import ALL
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import used_sites
from oclgenomics.sweeps.statistics.families import Native
from oclgenomics.sweeps.statistics.haplotypes import HaplotypeFamily
from oclgenomics.variation import ReadOptions, read_alignments
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import BedRegions

TESTS = Path(__file__).parents[2]
CLEAN, GOLDEN = TESTS / "data" / "sweeps" / "phased_clean.vcf.gz", TESTS / "golden" / "sweeps"
OPTIONS = SweepOptions(statistics=HAPLOTYPE_STATISTICS, haplotype_window=50)
SMALL = SweepOptions(statistics=HAPLOTYPE_STATISTICS, haplotype_window=6, haplotype_step=4, max_missing=1.0)


def natives(
    alignments: list[Alignment], options: SweepOptions, engine: Engine, exclude: BedRegions | None = None
) -> list[Native]:
    family = HaplotypeFamily(engine)
    used = [used_sites(one, options, exclude, None) for one in alignments]
    measured = family.measure(used, options, [Mask.of(exclude, one.name, options) for one in used], [ALL] * len(used))
    background = family.background(measured, options)
    return [family.native(one, options, background) for one in measured]


def column(name: str, number: int) -> list[float]:
    rows = [line.split() for line in gzip.decompress((GOLDEN / name).read_bytes()).decode().splitlines()]
    return [float(row[number]) for row in rows[1:]]


def test_values_are_those_of_lassip(engine: Engine) -> None:
    (found,) = natives(list(read_alignments(CLEAN, ReadOptions(records="raisd"))), OPTIONS, engine)
    assert (found.at + 0.5).tolist() == column("lassip.p0s.gz", 4)
    for name, report, number in (
        ("h12", "p0s", 7),
        ("h2_h1", "p0s", 8),
        ("lassi", "p0l", 10),
        ("saltilassi", "p0s", 11),
    ):
        expected = column(f"lassip.{report}.gz", number)
        assert found.values[name] == pytest.approx(expected, rel=1e-5, abs=1e-5)  # from spectra of six digits


def test_values_of_genotypes_are_those_of_lassip(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "unphased.vcf"
    path.write_bytes(gzip.decompress(CLEAN.read_bytes()).replace(b"|", b"/"))
    (found,) = natives(list(read_alignments(path, ReadOptions(records="raisd"))), OPTIONS, engine)
    for name, number in (("h123", 7), ("h2_h1", 8)):
        assert found.values[name] == pytest.approx(column("lassip.pu0.gz", number), rel=1e-5)


def test_values_are_those_of_scikit_allel(engine: Engine) -> None:
    (found,) = natives(list(read_alignments(CLEAN, ReadOptions(records="raisd"))), OPTIONS, engine)
    rows = [line.split("\t") for line in (GOLDEN / "scikit-allel.haplotypes.tsv").read_text().splitlines()[2:]]
    for name in ("h1", "h12", "h123", "h2_h1"):
        expected = [float(row[3]) for row in rows if row[0].lower() == f"{name}_50"]
        assert len(expected) == 57
        assert found.values[name] == pytest.approx(expected)


@pytest.mark.parametrize("genotypes", [False, True])
def test_haplotypes_with_missing_states_leave_the_window(engine: Engine, genotypes: bool) -> None:
    states, seen = few_haplotypes(np.random.default_rng(11), 60, 24, 0.06)
    seen[:, 0] = states[:, 0] = True  # no site is monomorphic
    seen[:, 1], states[:, 1] = True, False
    seen[20:24, 2:15] = False
    alignment = make_alignment(states & seen, np.arange(1, 61), seen, unphased=genotypes)
    (found,) = natives([alignment], SMALL, engine)
    rows = rows_of(states & seen, seen, genotypes=genotypes)
    least, known = (12 if genotypes else 24) / 2, []
    for place, start in enumerate(range(0, 55, 4)):
        counts = reference.haplotype_spectrum(rows[start : start + 6])
        known.append(sum(counts) >= least)
        if known[-1]:
            for name, value in reference.homozygosity(counts).items():
                assert found.values[name][place] == pytest.approx(value)
    assert 3 < sum(known) < len(known)
    assert all((~np.isnan(values)).tolist() == known for values in found.values.values())
    what = "genotypes" if genotypes else "haplotypes"
    assert f"% of the {what}" in found.remarks[0]
    assert f"{len(known) - sum(known)} of {len(known)} have no value" in found.remarks[0]


def test_windows_do_not_reach_across_excluded_regions(engine: Engine) -> None:
    states, _ = few_haplotypes(np.random.default_rng(2), 40, 20)
    states[:, 0], states[:, 1] = 0, 1
    alignment = make_alignment(states, np.arange(10, 410, 10))
    regions = {name: np.array([bp]) for name, bp in ((alignment.name, 101),)}
    exclude = BedRegions(regions, {alignment.name: np.array([109])})
    (found,) = natives([alignment], SMALL, engine, exclude)
    parted = [start <= 9 < start + 5 for start in range(0, 35, 4)]
    assert np.isnan(found.values["h12"]).tolist() == parted
    assert not natives([alignment], SMALL, engine)[0].remarks


def test_a_spectrum_is_that_of_all_alignments_of_an_input(engine: Engine) -> None:
    rng = np.random.default_rng(8)
    alignments = [make_alignment(few_haplotypes(rng, 60, 40)[0], np.arange(1, 61)) for _ in range(3)]
    one, *_ = together = scan(alignments, SMALL, engine=engine)
    assert all(each.backgrounds is one.backgrounds for each in together)
    (alone,) = scan(alignments[0], SMALL, engine=engine)
    assert np.array_equal(alone.values["h12"], one.values["h12"], equal_nan=True)
    assert not np.array_equal(alone.values["lassi"], one.values["lassi"], equal_nan=True)
    (again,) = scan(alignments[0], SMALL, backgrounds=one.backgrounds, engine=engine)
    assert np.array_equal(again.values["saltilassi"], one.values["saltilassi"], equal_nan=True)


def test_alignments_of_few_sites_have_no_values(engine: Engine) -> None:
    few = make_alignment(np.eye(3, 8, dtype=np.uint8), np.arange(1, 4))
    (found,) = scan(few, SMALL, engine=engine)
    assert all(found.best(name) is None for name in found.values)
    assert found.backgrounds["haplotypes"]["least_distance"].tolist() == [0.0]
    one = make_alignment(few_haplotypes(np.random.default_rng(4), 7, 40)[0], np.arange(1, 8))
    (found,) = scan(one, replace(SMALL, haplotype_window=7), engine=engine)
    assert found.backgrounds["haplotypes"]["least_distance"].tolist() == [0.0]  # of a single window
