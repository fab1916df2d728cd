"""Which sites of an alignment are used, and what of a chromosome does not count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.alignments import make_alignment, make_multiallelic
from helpers.sweep_sites import PAIRS, regions
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import UsageError
from oclgenomics.sweeps.options import SweepOptions
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import used_sites
from oclgenomics.variation import ReadOptions, read_alignments

STATES = np.array([[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 0]], np.uint8)
ALL = np.ones((5, 4), bool)
COMPAT = SweepOptions(precision="compat")


def seen(*missing: tuple[int, int]) -> np.ndarray:
    observed = ALL.copy()
    for site, haplotype in missing:
        observed[site, haplotype] = False
    return observed


def test_sites_that_do_not_vary_or_are_rare_are_left_out() -> None:
    alignment = make_alignment(STATES, np.arange(10, 15))
    used = used_sites(alignment, SweepOptions(maf=0.3), None, None)
    assert used.positions.tolist() == [13.0]
    assert used.discarded == {"monomorphic": 2, "maf": 2}
    assert (used.derived.tolist(), used.observed.tolist()) == ([2], [4])


def test_missing_states() -> None:
    alignment = make_alignment(STATES, np.arange(10, 15), seen((2, 1), (3, 0), (4, 3)))
    half = used_sites(alignment, SweepOptions(max_missing=0.25), None, None)
    assert half.discarded == {"monomorphic": 4}  # site 2 without its only derived state, site 4 without the other one
    assert half.facts.missing == 0.25
    strict = used_sites(alignment, SweepOptions(max_missing=0.2), None, None)
    assert strict.discarded == {"monomorphic": 4, "missing": 1}
    dropped = used_sites(alignment, SweepOptions(missing="drop"), None, None)
    assert dropped.discarded == {"missing": 3, "monomorphic": 2}
    assert used_sites(alignment, COMPAT, None, None).discarded == dropped.discarded


def test_masks_are_dropped_where_the_sites_left_are_complete() -> None:
    used = used_sites(make_alignment(STATES, np.arange(10, 15), seen((0, 0))), SweepOptions(), None, None)
    assert used.planes.valid is None


def test_sites_of_several_alleles_are_left_out() -> None:
    alignment = make_multiallelic(np.array([[0, 1, 2, 0], [0, 1, 1, 0]]), np.array([5, 9]))
    used = used_sites(alignment, SweepOptions(), None, None)
    assert used.positions.tolist() == [9.0]
    assert used.discarded == {"several alternative alleles": 1}


def test_half_missing_genotypes_are_missing_and_compat_refuses_unphased_ones() -> None:
    alignment = make_alignment(STATES, np.arange(10, 15), seen((3, 0)), unphased=True)
    used = used_sites(alignment, SweepOptions(max_missing=0.5), None, None)
    assert used.planes.genotypes
    assert used.positions.tolist() == [12.0, 13.0, 14.0]
    assert used.observed.tolist() == [4, 2, 4]
    with pytest.raises(UsageError, match="compat' needs phased haplotypes"):
        used_sites(alignment, COMPAT, None, None)


def test_the_records_of_raisd_and_the_region_that_it_takes(tmp_path: Path) -> None:
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
    lines = (("3", "A", "G", "PASS"), ("5", "C", "T", "q10"), ("7", "C", "T,G", "PASS"), ("90", "C", "CT", "PASS"))
    rows = [f"1\t{pos}\t.\t{ref}\t{alt}\t.\t{mark}\tAF=1\tGT\t0|1\t1|0\n" for pos, ref, alt, mark in lines]
    (tmp_path / "x.vcf").write_text(head + "".join(rows))
    (one,) = read_alignments(tmp_path / "x.vcf", ReadOptions(records="raisd"))
    assert one.skipped == {"not a SNP": 1, "several alternative alleles": 1}
    used = used_sites(one, COMPAT, None, None)
    assert (used.positions.tolist(), used.length, used.total) == ([3.0, 5.0], 90.0, 2)
    (usual,) = read_alignments(tmp_path / "x.vcf")
    assert (usual.positions.tolist(), usual.last_record) == ([], 0)


def test_excluded_regions_take_sites_and_bp() -> None:
    alignment = make_alignment(STATES[[2, 3, 4, 2, 3]], np.array([10, 20, 30, 40, 50]))
    exclude = regions((15, 20), (44, 49))
    used = used_sites(alignment, SweepOptions(on_exclude="drop"), exclude, None)
    assert used.positions.tolist() == [10.0, 30.0, 40.0, 50.0]
    assert used.length == 40.0 - 10
    assert used.facts.masked == pytest.approx(10 / 41)
    kept = used_sites(alignment, SweepOptions(on_exclude="zero"), exclude, None)
    assert (kept.sites, kept.length) == (5, 40.0)


@settings(max_examples=60, deadline=None)
@given(pairs=PAIRS, first=st.integers(1, 70), size=st.integers(0, 30))
def test_bp_of_regions_are_counted_one_by_one(pairs: list[tuple[int, int]], first: int, size: int) -> None:
    found = regions(*((start, start + length) for start, length in pairs))
    mask, last = Mask.of(found, "1", SweepOptions()), first + size
    covered = {bp for start, length in pairs for bp in range(start + 1, start + length + 1)}
    ends = np.array([float(first)]), np.array([float(last)])
    assert mask.between(*ends)[0] == len(set(range(first + 1, last + 1)) - covered)
    assert mask.touched(*ends)[0] == bool(covered & set(range(first, last + 1)))
