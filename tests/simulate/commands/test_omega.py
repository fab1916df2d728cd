"""`oclgenomics simulate omega`: what it writes, that a seed decides it, and what it refuses."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pytest

from oclgenomics.cli.main import main
from oclgenomics.variation import ReadOptions, read_alignments

SMALL = ["--samples", "12", "--replicates", "3", "--length", "50000", "--theta", "30", "--rho", "20"]


def simulate(*words: object) -> int:
    return main(["simulate", "omega", *map(str, words)])


def unpacked(alignment) -> np.ndarray:
    """uint8 (sites, haplotypes) of an alignment's bits."""
    bits = np.unpackbits(np.ascontiguousarray(alignment.bits.T).view(np.uint8), axis=1, bitorder="little")
    return bits[:, : alignment.haplotypes]


@pytest.mark.parametrize("model", ["neutral", "sweep"])
def test_same_seed_same_bytes(tmp_path, model):
    paths = [tmp_path / name for name in ("a.ms", "b.ms", "c.ms", "d.ms.gz", "e.ms.gz")]
    for path, seed in zip(paths, (5, 5, 6, 5, 5), strict=True):
        assert simulate("--seed", seed, "-o", path, "--model", model, *SMALL) == 0
    a, b, c, d, e = (path.read_bytes() for path in paths)
    assert a == b != c
    assert d == e
    assert gzip.decompress(d) == a
    assert sorted(os.listdir(tmp_path)) == sorted(path.name for path in paths)  # nothing half written left


def test_thousands_are_written_as_elsewhere(tmp_path):
    paths = [tmp_path / "a.ms", tmp_path / "b.ms"]
    for path, size, length in zip(paths, ("20k", "2e4"), ("50k", 50_000), strict=True):
        assert simulate("--seed", 5, "-o", path, "--samples", 8, "--population-size", size, "--length", length) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        ["--model", "sweep", "--sweep-position", "20000", "--theta", "30"],
        ["--model", "neutral", "--sites", "40", "--missing", "0.1"],
        ["--model", "independent", "--sites", "40"],
    ],
)
def test_header_tells_how_it_was_made(tmp_path, options):
    path = tmp_path / "a.ms"
    options = [*options, "--samples", "12", "--replicates", "3", "--length", "50000"]
    assert simulate("--seed", 5, "-o", path, *options) == 0
    command, seed = path.read_text().splitlines()[:2]
    words = command.split()
    assert words[1:3] == ["12", "3"]
    for option, value in zip(options[::2], options[1::2], strict=True):
        assert words[words.index(option) + 1] == value
    assert seed == "5"
    # what the header says, typed again, gives the same file
    again = tmp_path / "b.ms"
    assert main([*words[3:], "-o", str(again)]) == 0
    assert again.read_bytes() == path.read_bytes()


def test_later_replicates_do_not_change_earlier_ones(tmp_path):
    for count in (1, 3):
        assert simulate("--seed", 5, "-o", tmp_path / f"{count}.ms", *SMALL[:2], "--replicates", count) == 0
    one, three = ((tmp_path / f"{count}.ms").read_text().split("//") for count in (1, 3))
    assert one[1].rstrip() == three[1].rstrip()


def test_ms_and_vcf_hold_the_same_haplotypes(tmp_path):
    for name in ("a.ms", "a.vcf", "a.vcf.gz"):
        assert simulate("--seed", 8, "-o", tmp_path / name, *SMALL) == 0
    assert gzip.decompress((tmp_path / "a.vcf.gz").read_bytes()) == (tmp_path / "a.vcf").read_bytes()
    from_ms = list(read_alignments(tmp_path / "a.ms", ReadOptions(length=50_000)))
    from_vcf = list(read_alignments(tmp_path / "a.vcf.gz"))
    assert [a.name for a in from_vcf] == ["1", "2", "3"]
    for ms, vcf in zip(from_ms, from_vcf, strict=True):
        assert vcf.haplotypes == ms.haplotypes == 12
        assert (np.diff(vcf.positions) > 0).all()
        assert abs(vcf.positions - ms.positions).max() <= 2
        np.testing.assert_array_equal(unpacked(vcf), unpacked(ms))


@pytest.mark.parametrize(("sites", "samples"), [(4836, 50), (20_534, 50), (14_943, 100)])
def test_independent_sites(tmp_path, sites, samples):
    path = tmp_path / "a.ms.gz"
    options = ["--model", "independent", "--replicates", 1, "--sites", sites, "--samples", samples]
    assert simulate("--seed", 1, "-o", path, *options) == 0
    (alignment,) = read_alignments(path, ReadOptions(length=5_000_000))
    assert (alignment.sites, alignment.haplotypes) == (sites, samples)
    derived = unpacked(alignment).sum(axis=1)
    assert derived.min() >= 1
    assert derived.max() < samples


def test_damaged_vcf(tmp_path):
    path = tmp_path / "a.vcf"
    options = ["--missing", 0.1, "--unphased", 0.5, "--multiallelic", 0.2, "--replicates", 1, "--sites", 400]
    assert simulate("--seed", 2, "-o", path, "--samples", 20, *options) == 0
    records = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    calls = [call for record in records for call in record[9:]]
    assert len(records) == 400
    assert np.mean([call == "./." for call in calls]) == pytest.approx(0.1, abs=0.02)
    assert np.mean(["/" in call for call in calls]) == pytest.approx(0.55, abs=0.03)
    third = ["," in record[4] for record in records]
    assert 0.05 < np.mean(third) < 0.3
    for record, three in zip(records, third, strict=True):
        assert len({record[3], *record[4].split(",")}) == 2 + three
        assert any("2" in call for call in record[9:]) == three


def test_missing_in_ms(tmp_path):
    path = tmp_path / "a.ms"
    assert simulate("--seed", 2, "-o", path, "--missing", 0.2, "--replicates", 1, "--sites", 500) == 0
    rows = path.read_text().splitlines()[-50:]
    assert {len(row) for row in rows} == {500}
    assert "".join(rows).count("N") / 25_000 == pytest.approx(0.2, abs=0.02)


def test_standard_output(capfdbinary, tmp_path):
    assert simulate("--seed", 5, "-o", "-", *SMALL) == 0
    written = capfdbinary.readouterr().out
    assert simulate("--seed", 5, "-o", tmp_path / "a.ms", *SMALL) == 0
    assert written == (tmp_path / "a.ms").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sweep-position", 3], "--sweep-position has no effect with --model neutral"),
        (["--model", "sweep", "--sweep-position", 2e6], "must lie inside"),
        (["--model", "sweep", "--selection", 1e-9], "2Ns"),
        (["--model", "independent", "--rho", 3], "--rho has no effect"),
        (["--samples", 1], "--samples must be between 2 and 1,000,000, not 1"),
        (["--samples", "1G"], "--samples must be between 2 and 1,000,000"),
        (["--sites", 10**14], "--sites must be between 0 and 100,000,000"),
        (["--model", "independent", "--sites", 10**14], "--sites must be between 0 and 100,000,000"),
        (["--model", "independent", "--samples", 10**14], "--samples must be between 2 and 1,000,000"),
        (["--length", 10**15], "--length must be between 1 and 999,999,999,999,999, not 1"),
        (["--replicates", 10**14], "--replicates must be between 1 and 1,000,000"),
        (["--samples", 10**30], "argument --samples: '1000000000000000000000000000000' is too large"),
        (["--sites", 10**30], "argument --sites: '1000000000000000000000000000000' is too large"),
        (["--length", 10**400], "argument --length: '1000000000000000000000000000000000000000...' is too large"),
        (["--replicates", 10**30], "argument --replicates: '1000000000000000000000000000000' is too large"),
        (["--samples", 2.5], "argument --samples: '2.5' is not a whole number"),
        (["--mutation-rate", 1], "--mutation-rate 1 with the length and population size given: theta must be between"),
        (["--recombination-rate", -1], "--recombination-rate -1: a rate is 0 or more"),
        (["--mutation-rate", "nan"], "--mutation-rate nan: a rate is 0 or more"),
        (["--recombination-rate", 1], "--recombination-rate 1 with the length and population size given: rho must"),
        (["--population-size", "many"], "argument --population-size: 'many' is not a whole number; write 100000, 100k"),
        (["--population-size", "inf"], "--population-size must be between 1 and"),
        (["--model", "sweep", "--selection", 1e-6, "--population-size", 1e12, "--theta", 1, "--rho", 1], "--selection"),
        (["--theta", 3, "--mutation-rate", 1e-8], "say the same thing"),
        (["--theta", 3, "--sites", 5], "mutation has no effect"),
        (["--unphased", 0.2], "--format vcf"),
        (["--format", "vcf", "--samples", 5], "even --samples"),
        (["--format", "vcf", "--ploidy", 1, "--unphased", 0.1], "haploid"),
        (["--format", "vcf", "--model", "independent", "--sites", 20, "--length", 10], "do not fit"),
        (["--missing", "nan"], "probability"),
        (["--seed", -1], "--seed must be 0 or more, not -1"),
        (["--replicates", 0], "replicates"),
        (["--length", 0], "length"),
        (["--theta", "inf"], "theta"),
    ],
)
def test_refusals(tmp_path, capsys, words, message):
    path = tmp_path / "a.ms"
    assert simulate("--seed", 1, "-o", path, *words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not os.listdir(tmp_path)


def test_output_that_cannot_be_written(tmp_path, capsys):
    assert simulate("--seed", 1, "-o", tmp_path / "none" / "a.ms", *SMALL) == 5
    assert capsys.readouterr().err.count("\n") == 1
    assert simulate("--seed", 1, "-o", tmp_path, *SMALL) == 5
