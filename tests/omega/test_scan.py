"""The Python interface from an input to scans."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oclgenomics import omega
from oclgenomics.errors import InputError, UsageError
from oclgenomics.omega import ScanOptions, plot_scans, scan, scan_record
from oclgenomics.variation import ReadOptions, read_alignments

EDGE = Path(__file__).parents[1] / "data" / "omega" / "edge"
OPTIONS = ScanOptions(grid=50, minwin=100, maxwin=50_000)


def test_scans_a_file(engine):
    first, second = scan(EDGE / "twochrom.vcf", OPTIONS, engine=engine)
    assert (first.name, second.name) == ("chrA", "chrB")
    assert second.omega[second.best] == pytest.approx(30.241493, rel=1e-4)
    assert (second.left[second.best], second.right[second.best]) == (205469, 213869)
    assert scan_record(second)["maximum"]["position"] == second.positions[second.best]


def test_scans_alignments_from_elsewhere(engine):
    alignments = list(read_alignments(EDGE / "plain.ms", ReadOptions(length=1_000_000)))
    (given,) = scan(alignments, OPTIONS, engine=engine)
    (read,) = scan(EDGE / "plain.ms", OPTIONS, length=1_000_000, engine=engine)
    assert np.array_equal(given.omega, read.omega)


def test_counts_the_sites_of_each_window(engine):
    (alignment,) = read_alignments(EDGE / "plain.ms", ReadOptions(length=1_000_000))
    (result,) = scan([alignment], OPTIONS, engine=engine)
    for index in range(OPTIONS.grid):
        inside = (alignment.positions >= result.left[index]) & (alignment.positions <= result.right[index])
        assert result.window_sites[index] == (inside.sum() if result.valid[index] else -1)


def test_says_what_was_left_out(engine):
    options = ScanOptions(grid=10, minwin=100, maxwin=50_000, maf=0.2)
    (result,) = scan(EDGE / "filters.vcf", options, engine=engine)
    assert result.discarded["maf"] > 0
    assert result.sites + result.discarded["maf"] <= 294
    assert set(result.discarded) > {"maf"}


def test_tells_its_progress(engine):
    seen: list[tuple[int, int]] = []
    options = ScanOptions(grid=50, minwin=100, maxwin=50_000, chunk_positions=10)
    (result,) = scan(
        EDGE / "plain.ms", options, length=1e6, engine=engine, progress=lambda done, total: seen.append((done, total))
    )
    assert seen
    assert seen[-1][0] <= seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert result.possible


def test_opens_a_device_by_itself():
    (result,) = scan(EDGE / "few.ms", OPTIONS, length=1_000_000, device="cpu")
    assert not result.possible
    assert result.best is None
    assert plot_scans([result]).axes


def test_errors_come_from_the_scan(engine):
    with pytest.raises(InputError, match="missing"):
        next(scan("missing.vcf", OPTIONS, engine=engine))
    with pytest.raises(UsageError, match="unphased"):
        next(scan(EDGE / "unphased.vcf", ScanOptions(grid=5, minwin=1, maxwin=50_000, ld="D"), engine=engine))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": 1}, "--grid 1"), ({"minwin": -1}, "--minwin -1"), ({"maxwin": 0, "minwin": 0}, "--maxwin 0"),
        ({"minwin": 9, "maxwin": 8}, "smaller than --minwin"), ({"minsnps": 0}, "--minsnps 0"),
        ({"border": -2}, "--border -2"), ({"ld": "r2"}, "--ld r2"), ({"precision": "x"}, "--precision x"),
        ({"kernel": "3"}, "--kernel 3"), ({"maf": 0.51}, "--maf 0.51"), ({"maf": float("nan")}, "--maf nan"),
        ({"binary": True}, "--binary draws"), ({"impute": frozenset("N")}, "--impute draws"),
        ({"impute": frozenset("Q"), "seed": 1}, "--impute Q"), ({"seed": 0}, "--seed 0"),
        ({"seed": 2**32}, "--seed 4294967296"), ({"chunk_positions": 0}, "chunk_positions 0"),
    ],
)  # fmt: skip
def test_options_out_of_range(change, message):
    with pytest.raises(UsageError, match=message) as caught:
        ScanOptions(**({"grid": 5, "minwin": 10, "maxwin": 100} | change))
    assert "\n" not in str(caught.value)


def test_importing_it_is_cheap():
    code = "import sys, oclgenomics.omega; print([m for m in ('pyopencl', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_all_is_there():
    assert all(hasattr(omega, name) for name in omega.__all__)
