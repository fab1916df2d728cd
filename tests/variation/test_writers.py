"""Writers of simulated data: exact text, positions that stay apart, and blocked gzip."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.variation.writers import (
    MISSING,
    distinct_ticks,
    site_blocks,
    write_ms_head,
    write_ms_replicate,
    write_vcf_head,
    write_vcf_sites,
)


def test_ms_text():
    out = io.BytesIO()
    write_ms_head(out, "ms", 3, 2, "-t 5", 17)
    rows = np.array([[0, 1], [1, MISSING], [0, 0]], np.uint8)
    write_ms_replicate(out, np.array([0.25, 0.5]), iter([rows[:2], rows[2:]]), 4)
    write_ms_replicate(out, np.zeros(0), iter([np.zeros((3, 0), np.uint8)]), 4)
    assert out.getvalue() == (
        b"ms 3 2 -t 5\n17\n\n//\nsegsites: 2\npositions: 0.2500 0.5000\n01\n1N\n00\n\n//\nsegsites: 0\n"
    )


def test_vcf_text():
    out = io.BytesIO()
    write_vcf_head(out, "test", [("1", 100)], ["a", "b"])
    states = np.array([[0, 1, 1, 1], [2, 1, MISSING, MISSING]], np.uint8)
    unphased = np.array([[True, False], [False, False]])
    write_vcf_sites(out, "1", np.array([5, 9]), ["ACGT", "TGCA"], states, unphased)
    lines = out.getvalue().decode().splitlines()
    assert lines[0] == "##fileformat=VCFv4.2"
    assert "##contig=<ID=1,length=100>" in lines
    assert lines[-3:] == [
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb",
        "1\t5\t.\tA\tC\t.\tPASS\t.\tGT\t0/1\t1|1",
        "1\t9\t.\tT\tG,C\t.\tPASS\t.\tGT\t2|1\t./.",
    ]


def test_haploid_vcf_text():
    out = io.BytesIO()
    write_vcf_sites(out, "2", np.array([7]), ["GATC"], np.array([[0, 1, MISSING]], np.uint8), None)
    assert out.getvalue() == b"2\t7\t.\tG\tA\t.\tPASS\t.\tGT\t0\t1\t.\n"


@given(st.lists(st.floats(0, 1, exclude_max=True), max_size=40), st.integers(40, 60))
def test_ticks_are_distinct(values, ticks):
    at = distinct_ticks(np.sort(np.array(values, np.float64)), ticks)
    assert (np.diff(at) > 0).all()
    assert ((at >= 0) & (at < ticks)).all()


def test_ticks_that_are_apart_are_rounded_down():
    np.testing.assert_array_equal(distinct_ticks(np.array([0.0, 0.119, 0.99]), 100), [0, 11, 99])
    np.testing.assert_array_equal(distinct_ticks(np.array([0.1, 0.1, 0.1, 0.99, 0.995]), 100), [10, 11, 12, 98, 99])


@pytest.mark.parametrize(("haplotypes", "sites"), [(1, 1), (5, 8), (3, 17), (40_000, 500)])
def test_site_blocks(haplotypes, sites):
    rows = np.random.default_rng(1).integers(0, 2, (haplotypes, sites)).astype(np.uint8)
    blocks = list(site_blocks(iter(np.array_split(rows, 3)) if haplotypes > 2 else iter([rows]), sites))
    np.testing.assert_array_equal(np.concatenate(blocks), rows.T)
    assert (len(blocks) > 1) == (rows.size > 1 << 23)
