"""Scans of inputs of all kinds: results do not depend on the format, on batches, or on what is asked for at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.sweep_sites import states_of, varying

from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine
from oclgenomics.sweeps import Scan, SweepOptions, iter_scan, scan
from oclgenomics.variation import ReadOptions

INPUTS = Path(__file__).parents[1] / "data" / "sweeps"
OPTIONS = SweepOptions(width=8)


def assert_same(found: Scan, expected: Scan) -> None:
    assert found.values.keys() == expected.values.keys()
    for name, values in expected.values.items():
        np.testing.assert_array_equal(found.values[name], values, err_msg=name)
    np.testing.assert_array_equal(found.positions, expected.positions)


@pytest.mark.parametrize("sites", [0, 1, 7, 8])
def test_tiny_alignments(engine: Engine, sites: int) -> None:
    alignment = make_alignment(np.tile(np.uint8([[0, 1, 0]]), (sites, 1)), np.arange(5, 5 + sites))
    (found,) = scan(alignment, OPTIONS, engine=engine)
    assert len(found.positions) == (sites == 8)
    assert (found.best("mu") is None) == (sites < 8)
    for options in (SweepOptions(grid=3), SweepOptions(step=2), SweepOptions(grid=3, precision="compat")):
        (gridded,) = scan(alignment, options, engine=engine)
        assert all(len(values) == len(gridded.positions) for values in gridded.values.values())
        assert np.isnan(gridded.values["mu"]).all()


def test_sites_at_one_position(engine: Engine) -> None:
    states = np.random.default_rng(1).integers(0, 2, (20, 9)).astype(np.uint8)
    (found,) = scan(make_alignment(states, np.full(20, 4)), SweepOptions(width=8, grid=5), engine=engine)
    assert np.isin(found.values["mu"][~np.isnan(found.values["mu"])], 0.0).all()


def test_results_do_not_depend_on_what_is_scanned_together(engine: Engine) -> None:
    made = [varying(np.random.default_rng(seed), 20 + 10 * seed, 12, 0.1 * (seed % 2)) for seed in range(5)]
    together = scan(made, OPTIONS, engine=engine)
    for one, found in zip(made, together, strict=True):
        (alone,) = scan(one, OPTIONS, engine=engine)
        assert_same(found, alone)
    assert len(together.to_frame()) == sum(len(one.positions) for one in together)


def test_statistics_do_not_depend_on_which_are_asked_for(engine: Engine) -> None:
    alignment = varying(np.random.default_rng(2), 60, 12)
    (every,) = scan(alignment, OPTIONS, engine=engine)
    for name in OPTIONS.statistics:
        (one,) = scan(alignment, SweepOptions(width=8, statistics=[name]), engine=engine)
        assert set(one.values) == {key for key in every.values if key == name or key.startswith(f"{name}_")}
        np.testing.assert_array_equal(one.values[name], every.values[name])


def test_formats_of_the_same_data(engine: Engine, tmp_path: Path) -> None:
    alignment = varying(np.random.default_rng(3), 40, 12)
    states, _ = states_of(alignment)
    rows = ["".join(map(str, states[:, h])) for h in range(12)]
    length = 1 << 20  # relative positions are exact
    places = " ".join(f"{bp / length:.20f}" for bp in alignment.positions.tolist())
    (tmp_path / "x.ms").write_text(f"ms 12 1\n\n//\nsegsites: 40\npositions: {places}\n" + "\n".join(rows) + "\n")
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"
    lines = [head + "\t".join(f"s{i}" for i in range(6))]
    for bp, row in zip(alignment.positions.tolist(), states.tolist(), strict=True):
        calls = "\t".join(f"{a}|{b}" for a, b in zip(row[::2], row[1::2], strict=True))
        lines.append(f"1\t{bp}\t.\tA\tG\t.\tPASS\t.\tGT\t{calls}")
    (tmp_path / "x.vcf").write_text("\n".join(lines) + "\n")
    (expected,) = scan(alignment, OPTIONS, engine=engine)
    (from_vcf,) = scan(tmp_path / "x.vcf", OPTIONS, engine=engine)
    (from_ms,) = scan(tmp_path / "x.ms", OPTIONS, engine=engine, reading=ReadOptions(length=length))
    assert_same(from_vcf, expected)
    assert_same(from_ms, expected)


def test_ms_positions_keep_their_fractions(engine: Engine, tmp_path: Path) -> None:
    rows = ["0101010101", "1010001010", "0110110110"]
    places = " ".join(f"{0.05 + 0.09 * i:.4f}" for i in range(10))
    (tmp_path / "x.ms").write_text(f"//\nsegsites: 10\npositions: {places}\n" + "\n".join(rows) + "\n")
    (found,) = scan(tmp_path / "x.ms", OPTIONS, engine=engine, reading=ReadOptions(length=10))
    np.testing.assert_allclose(found.start, [0.5, 1.4, 2.3])


def test_genotypes_of_homozygous_samples_are_their_haplotypes(engine: Engine) -> None:
    states = np.random.default_rng(4).integers(0, 2, (40, 9)).astype(np.uint8)
    at = np.arange(1, 400, 10)
    doubled = make_alignment(np.repeat(states, 2, axis=1), at, unphased=True)
    one, other = scan([make_alignment(states, at), doubled], SweepOptions(width=8, statistics=["mu"]), engine=engine)
    np.testing.assert_array_equal(one.values["mu_ld"], other.values["mu_ld"])
    assert other.facts.genotypes
    assert (one.facts.haplotypes, other.facts.haplotypes) == (9, 18)


def test_unphased_input(engine: Engine) -> None:
    (found,) = scan(INPUTS / "unphased.vcf.gz", engine=engine)
    assert found.facts.genotypes
    assert found.best("mu") is not None


def test_what_was_read_before_an_error_is_scanned(engine: Engine) -> None:
    def read():
        yield varying(np.random.default_rng(5), 30, 8)
        raise InputError("damaged")

    scans = iter_scan(read(), OPTIONS, engine=engine)
    assert next(scans).facts.haplotypes == 8
    with pytest.raises(InputError, match="damaged"):
        next(scans)
