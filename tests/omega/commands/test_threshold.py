"""`omega threshold` and `omega peaks`, and `omega scan` with their files: results, and one line for a mistake."""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from pathlib import Path

import pytest

from oclgenomics.cli.main import main
from oclgenomics.notices import number_of
from oclgenomics.omega.commands import add_parser

TESTS = Path(__file__).parents[2]
EDGE = TESTS / "data" / "omega" / "edge"
WINDOWS = ["--grid", "20", "--minwin", "2k", "--maxwin", "30k"]
SMALL = [*WINDOWS, "--length", "200k"]
POPULATION = ["--samples", "12", "--sites", "240", "--rho", "80"]
SIMULATED = [*SMALL, *POPULATION, "--seed", "5", "--replicates", "19", "--jobs", "1"]
SWEPT = ["--model", "sweep", "--sweep-position", "80000", "--selection", "0.005"]
CPU = ["-d", "cpu"]


def omega(*words: object) -> int:
    return main(["omega", *map(str, words)])


def simulate(path: Path, *words: object) -> Path:
    common = ["simulate", "omega", *POPULATION, "--length", "200000", "--seed", "5", "-q", "-o", path]
    assert main([*map(str, common), *map(str, words)]) == 0
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Neutral replicates, sweeps, a scan of one and the thresholds for it."""
    folder = tmp_path_factory.mktemp("significance")
    simulate(folder / "neutral.ms.gz", "--replicates", 19)
    simulate(folder / "sweeps.ms", "--replicates", 4, *SWEPT)
    simulate(folder / "one.ms", "--replicates", 1, *SWEPT)
    for name in ("one.tsv", "one.json"):
        words = ["--json"] if name.endswith("json") else []
        assert omega("scan", folder / "one.ms", *SMALL, *words, "-o", folder / name, *CPU, "-q") == 0
    assert omega("threshold", folder / "neutral.ms.gz", *SMALL, "--json", "-o", folder / "t.json", *CPU, "-q") == 0
    return folder


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader([line for line in text.splitlines() if not line.startswith("# ")], delimiter="\t"))


# omega threshold


def test_replicates_from_a_file_and_simulated_are_the_same(folder, tmp_path, capsys):
    out = tmp_path / "t.json"
    assert omega("threshold", *SIMULATED, "--json", "-o", out, *CPU) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "19 neutral replicates, 12 haplotypes" in told.err
    assert "--fpr 0.05 rests on few maxima; take 199 replicates or more" in told.err
    ours, theirs = json.loads(out.read_text()), json.loads((folder / "t.json").read_text())
    for name in ("scan", "maxima", "thresholds", "haplotypes", "mean_sites", "length"):
        if name == "scan":  # the seed belongs to the simulation
            ours[name]["seed"] = None
        assert ours[name] == theirs[name]
    assert len(ours["maxima"]["omega"]) == 19
    assert ours["thresholds"][0]["omega"] == max(ours["maxima"]["omega"])
    assert ours["provenance"]["parameters"]["sites"] == 240
    assert ours["provenance"]["device"]["kind"] == "cpu"


def test_a_table_of_thresholds_peaks_and_replicates(folder, capsys):
    questions = ["--fpr", "0.2,0.05", "--scan", folder / "one.json", "--peaks", "3"]
    assert omega("threshold", folder / "neutral.ms.gz", *SMALL, *questions, *CPU, "-q") == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.startswith("# program: oclgenomics\n")
    table = rows(told.out)
    kinds = [row["record"] for row in table]
    assert kinds == ["threshold"] * 2 + ["peak"] * 3 + ["replicate"] * 19
    lenient, strict, peak = table[:3]
    assert (lenient["fpr"], lenient["rate"], strict["fpr"]) == ("0.2", "0.2", "0.05")
    assert float(lenient["omega"]) < float(strict["omega"])
    maxima = [float(row["omega"]) for row in table if row["record"] == "replicate"]
    above = sum(one >= float(peak["omega"]) for one in maxima)
    assert float(peak["p_value"]) == pytest.approx((1 + above) / 20)
    assert int(peak["left"]) < float(peak["position"]) < int(peak["right"])


def test_both_kinds_of_report_give_the_same_peaks(folder, capsys):
    found = []
    for name in ("one.tsv", "one.json"):
        assert omega("threshold", folder / "neutral.ms.gz", *SMALL, "--scan", folder / name, *CPU, "-q") == 0
        found.append([row for row in rows(capsys.readouterr().out) if row["record"] == "peak"])
    assert found[0] == found[1] != []


def test_sweeps(folder, tmp_path, capsys):
    out = tmp_path / "s.json"
    words = ["--sweeps", folder / "sweeps.ms", "--site", "80k", "--within", "20k"]
    assert omega("threshold", folder / "neutral.ms.gz", *SMALL, *words, "-o", out, "--format", "json", *CPU) == 0
    assert "of 4 sweeps detected" in capsys.readouterr().err
    sweeps = json.loads(out.read_text())["sweeps"]
    (counted,) = sweeps["detection"]
    assert (sweeps["site"], sweeps["replicates"], counted["rate"]) == (80000, 4, counted["detected"] / 4)
    assert counted["detected_within"] <= counted["detected"]
    assert sweeps["distance"]["limit"] == 20000
    assert len(sweeps["distance"]["quantiles"]) == 5
    assert omega("threshold", folder / "neutral.ms.gz", *SMALL, *words, *CPU, "-q") == 0
    table = rows(capsys.readouterr().out)
    assert [row["record"] for row in table[:8]] == ["threshold", "detection", *["distance"] * 6]
    assert [row["record"] for row in table].count("sweep") == 4


def test_profile_and_equal_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["threshold", *SIMULATED, "-o", "t.tsv", *CPU]
    assert omega(*words, "--profile") == 0
    assert "pair_values" in capsys.readouterr().err
    assert omega(*words) == 0
    before = Path("t.tsv").read_bytes()
    assert omega(*words) == 0
    assert Path("t.tsv").read_bytes() == before


# omega peaks


def test_bed_of_a_threshold_file(folder, tmp_path, capsys):
    out = tmp_path / "peaks.bed"
    assert omega("peaks", folder / "one.tsv", "--threshold", folder / "t.json", "--fpr", "0.5", "-o", out) == 0
    said = capsys.readouterr().err
    assert "rests on few" not in said
    lines = [line.split("\t") for line in out.read_text().splitlines() if not line.startswith("#")]
    assert lines
    assert f"{number_of(len(lines), 'region')} of " in said
    for line in lines:
        start, end, thick, thick_end = (int(line[column]) for column in (1, 2, 6, 7))
        assert 0 <= start <= thick < thick_end <= end
        assert 0 < float(line[10]) <= 0.5
    best = max(rows((folder / "one.tsv").read_text()), key=lambda row: float(row["omega"].replace("NA", "0")))
    (first,) = [line for line in lines if line[3] == "peak1"]
    assert (int(first[6]) + 1, int(first[7])) == (int(best["left"]), int(best["right"]))
    assert first[4] == "1000"


def test_rates_that_rest_on_few_maxima(folder, capsys):
    assert omega("peaks", folder / "one.tsv", "--threshold", folder / "t.json", "--fpr", "0.45") == 0
    assert "warning: --fpr 0.45 rests on few maxima; take 22 replicates or more" in capsys.readouterr().err


def test_top_and_quantile_and_standard_input(folder, capsys, monkeypatch):
    assert omega("peaks", folder / "one.json", "--top", "1", "--format", "tsv", "-q") == 0
    (peak,) = rows(capsys.readouterr().out)
    assert (peak["name"], peak["positions"], peak["p_value"]) == ("peak1", "1", "NA")
    with (folder / "one.tsv").open("rb") as stream:
        monkeypatch.setattr("sys.stdin", argparse.Namespace(buffer=stream))
        assert omega("peaks", "-", "--quantile", "0.5", "--merge", "1M", "--json", "-q") == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["peaks"]) == 1
    assert record["peaks"][0]["positions"] > 5


def test_a_report_longer_than_a_replicate_is_said_to_be_so(folder, capsys):
    assert omega("scan", folder / "sweeps.ms", *SMALL, "-o", folder / "four.tsv", *CPU, "-q") == 0
    assert omega("peaks", folder / "four.tsv", "--threshold", folder / "t.json") == 0
    told = capsys.readouterr().err
    assert "warning: rates and p-values are those of a stretch of 200,000 bp" in told


# omega scan with thresholds and excluded regions


@pytest.mark.parametrize("given", ["file", "7.5"])
def test_a_line_in_the_figure(given, folder, tmp_path):
    out = tmp_path / "x.svg"
    threshold = folder / "t.json" if given == "file" else given
    words = ["--plot", out, "--threshold", threshold, "-o", tmp_path / "x.tsv", "-q"]
    assert omega("scan", folder / "one.ms", *SMALL, *words, *CPU) == 0
    assert ("5 % of neutral" if given == "file" else "ω 7.5") in out.read_text()


@pytest.mark.parametrize("packed", [False, True])
def test_excluded_regions(packed, tmp_path, capsys):
    out, bed = tmp_path / "x.json", tmp_path / ("x.bed.gz" if packed else "x.bed")
    text = b"track\nchrA\t0\t20000\nchrB\t205468\t213869\n"
    bed.write_bytes(gzip.compress(text) if packed else text)
    words = ["--grid", "50", "--minwin", "100", "--maxwin", "50k", "--json", "-q", *CPU]
    assert omega("scan", EDGE / "twochrom.vcf", *words, "-o", out) == 0
    before = json.loads(out.read_text())["alignments"]
    assert omega("scan", EDGE / "twochrom.vcf", *words, "-o", out, "--exclude", bed) == 0
    after = json.loads(out.read_text())["alignments"]
    for was, now in zip(before, after, strict=True):
        assert now["discarded"]["excluded"] > 0
        assert now["sites"] + now["discarded"]["excluded"] == was["sites"]
    best = after[1]["maximum"]
    assert not (205469 <= best["left"] <= 213869)
    capsys.readouterr()


def test_names_that_do_not_meet(tmp_path, capsys):
    bed = tmp_path / "x.bed"
    words = ["scan", EDGE / "twochrom.vcf", "--grid", "5", "--minwin", "100", "--maxwin", "50k", "-o", tmp_path / "x"]
    words += ["--exclude", bed, *CPU]
    bed.write_text("chr7\t1\t5\n")
    assert omega(*words) == 0
    assert "no chromosome of the input (chrA, chrB) is named there (chr7)" in capsys.readouterr().err
    bed.write_text("A\t1\t5\n")
    assert omega(*words) == 2
    assert "its chromosome A is called chrA in the input" in capsys.readouterr().err


# Mistakes


def assert_one_line(code: int, words: list[object], message: str, capsys) -> None:
    capsys.readouterr()
    assert omega(*words) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("oclgenomics: error: ")
    assert told.err.count("\n") == 1, told.err
    assert message in told.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (SMALL, "give neutral replicates as INPUT, or --samples"),
        ([*WINDOWS, "--samples", "5", "--seed", "1"], "or --length"),
        ([*SMALL, "--samples", "5"], "or --seed"),
        ([*SIMULATED, "--fpr", "0.01"], "--fpr 0.01: needs at least 99 neutral replicates, better 999; there are 19"),
        ([*SIMULATED, "--fpr", "5%"], "--fpr 5%: give rates such as"),
        ([*SIMULATED, "--fpr", "1"], "between 0 and 1"),
        ([*SIMULATED, "--recombination-rate", "1e-8"], "say the same thing"),
        ([*SIMULATED, "--theta", "80"], "--sites fixes the number of sites"),
        ([*SIMULATED, "--growth-rate", "0.1"], "--growth-rate needs --engine msprime"),
        ([*SIMULATED, "--site", "5"], "belong together"),
        ([*SIMULATED, "--within", "5"], "--within has no effect"),
        ([*SIMULATED, "--sweeps", "x", "--site", "300k"], "lies beyond --length"),
        ([*SMALL, "--samples", 5, "--seed", 1, "--recombination-rate", -1], "--recombination-rate -1: a rate is 0 or "),
        ([*SIMULATED, "--format", "bed"], "--format bed: choose one of tsv, json"),
        ([*SIMULATED, "--json", "--format", "tsv"], "contradict"),
        ([*SIMULATED, "--maf", "0.7"], "--maf 0.7"),
        ([*SIMULATED, "--samples", "1"], "--samples must be between 2 and"),
        ([*SIMULATED, "--jobs", "0"], "--jobs 0"),
        ([*SIMULATED, "--replicates", "0"], "needs at least 19"),
        (["n.ms", *SMALL, "--theta", "5"], "--theta has no effect: the replicates of n.ms are read"),
        (["n.ms", *SMALL, "--replicates", "5"], "--replicates has no effect"),
    ],
)
def test_threshold_usage(words, message, capsys):
    assert_one_line(2, ["threshold", *words, *CPU], message, capsys)


def test_sweeps_that_do_not_suit_are_told_before_the_simulation(folder, tmp_path, capsys):
    much = [*SMALL, "--sites", "240", "--seed", "5", "--replicates", "1000000", "--jobs", "1", "--site", "80k"]
    words = ["threshold", *much, "--samples", "12", "--sweeps", tmp_path / "none.ms", *CPU]
    assert_one_line(3, words, "none.ms: no such file", capsys)
    words = ["threshold", *much, "--samples", "14", "--sweeps", folder / "sweeps.ms", *CPU]
    assert_one_line(2, words, "12 haplotypes, 14 in the neutral data", capsys)


def test_scans_of_other_windows_are_not_compared(folder, capsys):
    other = [*SMALL, "--minwin", "1k"]
    words = ["threshold", folder / "neutral.ms.gz", *other, "--scan", folder / "one.tsv", *CPU]
    assert_one_line(2, words, "scanned with --minwin 1000, and", capsys)
    words = ["scan", folder / "one.ms", *other, "--plot", folder / "x.png", "--threshold", folder / "t.json", *CPU]
    assert_one_line(2, words, "scanned with --minwin 2000, and this scan with --minwin 1000", capsys)


def test_threshold_inputs(folder, tmp_path, capsys):
    assert_one_line(3, ["threshold", tmp_path / "none.ms", *SMALL, *CPU], "no such file", capsys)
    assert_one_line(3, ["threshold", folder / "neutral.ms.gz", *WINDOWS, *CPU], "--length", capsys)
    words = ["threshold", folder / "neutral.ms.gz", *SMALL, "--scan", folder / "one.ms", *CPU]
    assert_one_line(3, words, "no report", capsys)
    assert_one_line(5, ["threshold", *SIMULATED, "-o", tmp_path / "no" / "x", *CPU], "no folder", capsys)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "give one of --threshold, --top and --quantile"),
        (["--top", "3", "--quantile", "0.9"], 2, "--top and --quantile contradict each other"),
        (["--top", "0"], 2, "--top 0"),
        (["--quantile", "2"], 2, "--quantile 2"),
        (["--threshold", "nan"], 2, "--threshold nan"),
        (["--threshold", "3", "--fpr", "0.1"], 2, "--fpr has no effect with --threshold 3"),
        (["--top", "3", "--fpr", "0.1"], 2, "--fpr has no effect without"),
        (["--top", "3", "--format", "gff"], 2, "--format gff"),
        (["--threshold", "FOLDER/t.json", "--fpr", "0.001"], 2, "needs at least 999"),
        (["--threshold", "FOLDER/one.json"], 3, "is no threshold"),
        (["--threshold", "FOLDER/one.tsv"], 3, "is no threshold"),
        (["--threshold", "FOLDER/none"], 3, "no such file"),
        (["--top", "3", "-o", "FOLDER"], 5, "is a folder"),
    ],
)
def test_peaks_mistakes(words, code, message, folder, capsys):
    shown = [word.replace("FOLDER", str(folder)) for word in words]
    assert_one_line(code, ["peaks", folder / "one.tsv", *shown], message, capsys)


def test_scan_mistakes(folder, tmp_path, capsys):
    bed = tmp_path / "bad.bed"
    bed.write_text("1\t5\t9\n1\t9\t5\n")
    words = ["scan", folder / "one.ms", *SMALL, *CPU]
    assert_one_line(3, [*words, "--exclude", bed], "bad.bed, line 2: the region ends at 5", capsys)
    assert_one_line(2, [*words, "--exclude", bed, "-o", bed], "the same file as --exclude", capsys)
    assert_one_line(2, [*words, "--threshold", "5"], "give --plot FILE or --html FILE as well", capsys)


# Help and documentation


@pytest.mark.parametrize("action", ["threshold", "peaks"])
def test_documentation_names_every_option(action, capsys):
    assert main(["omega", action, "--help"]) == 0
    assert "usage: oclgenomics omega" in capsys.readouterr().out
    actions = argparse.ArgumentParser().add_subparsers()
    add_parser(actions)
    parsers = next(one for one in actions.choices["omega"]._actions if one.choices).choices
    options = [word for one in parsers[action]._actions for word in one.option_strings if word.startswith("--")]
    page = (TESTS.parent / "docs" / "omega.md").read_text()
    assert [option for option in options if f"`{option}" not in page and option not in ("--help", "--verbose")] == []
