"""`oclgenomics omega ld`: from a report to numbers, values and figures; mistakes are one line."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from helpers.linkage import ld_matrix

from oclgenomics.cli.main import main
from oclgenomics.omega.sites.filters import prepare
from oclgenomics.runtime import Engine
from oclgenomics.variation import read_alignments

DATA = Path(__file__).parents[2] / "data" / "omega"
VCF = str(DATA / "chr20_1000G_300samples.vcf.gz")
MS = str(DATA / "e_sweep50.ms.gz")


def run(action: str, *words: object) -> int:
    return main(["omega", action, *map(str, words), "-d", "cpu"])


def table(text: str) -> list[dict[str, str]]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def highest(report: Path) -> dict[str, str]:
    """The row with the largest omega."""
    rows = [row for row in table(report.read_text()) if row["omega"] != "NA"]
    return max(rows, key=lambda row: float(row["omega"]))


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A VCF of 700 records."""
    path = tmp_path_factory.mktemp("ld") / "small.vcf"
    with gzip.open(VCF, "rt") as source:
        lines = source.readlines()
    head = [line for line in lines if line.startswith("#")]
    path.write_text("".join(head + lines[len(head) : len(head) + 700]))
    return path


@pytest.fixture(scope="module")
def reports(small) -> dict[str, Path]:
    """Reports of one scan in both formats."""
    paths = {name: small.parent / f"scan.{name}" for name in ("tsv", "json")}
    for name, path in paths.items():
        options = ("--grid", 60, "--minwin", "1k", "--maxwin", "20k", "--maf", 0.02, "-o", path, "--format", name)
        assert run("scan", small, *options) == 0
    return paths


def error(capsys, *words: object) -> str:
    status = run("ld", *words)
    lines = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert status in (2, 3)
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("name", ["tsv", "json"])
def test_a_peak_is_shown_with_the_options_of_its_report(small, reports, name, tmp_path, capsys):
    files = [tmp_path / "ld.png", tmp_path / "ld.npz", tmp_path / "ld.json"]
    words = ("--plot", files[0], "--values", files[1], "--json", "-o", files[2])
    assert run("ld", small, "--scan", reports[name], *words) == 0
    shown = capsys.readouterr().err
    assert "warning" not in shown  # omega of the window is that of the report
    assert files[0].read_bytes().startswith(b"\x89PNG")
    record = json.loads(files[2].read_text())
    best = highest(reports["tsv"])
    assert record["window"]["omega"] == pytest.approx(float(best["omega"]))
    assert [record["window"]["left"], record["window"]["right"]] == [int(best["left"]), int(best["right"])]
    left, right, across, region = record["parts"]
    assert left["sites"] + right["sites"] == across["sites"] == int(best["window_sites"])
    assert left["mean_r2"] + right["mean_r2"] > 2 * across["mean_r2"]
    with np.load(files[1]) as values:
        assert len(values["positions"]) == region["sites"]
        first, split, last = values["window"].tolist()
        assert values["positions"][[first, last]].tolist() == [left["from"], right["to"]]
        upper = values["r2"][first : split + 1, first : split + 1][np.triu_indices(left["sites"], 1)]
        assert upper.mean() == pytest.approx(left["mean_r2"], rel=1e-5)
        assert (values["r2"] == values["r2"].T).all()


def test_a_region_gives_all_pairs(small, tmp_path, capsys):
    (read,) = read_alignments(small)
    alignment = prepare(read).alignment  # without the sites at which nobody of these varies
    at = alignment.positions
    values, figure = tmp_path / "pairs.tsv", tmp_path / "pairs.svg"
    assert run("ld", small, "--region", f"20:{at[10]:,}-{at[90]}", "--values", values, "--plot", figure) == 0
    assert "chromosome 20" in figure.read_text()
    (region,) = table(capsys.readouterr().out)
    assert (region["part"], region["sites"], region["pairs"]) == ("region", "81", str(81 * 80 // 2))
    rows = table(values.read_text())
    with Engine("cpu") as engine:
        matrix = ld_matrix(alignment, 10, 90, engine=engine)
    expected = matrix[np.triu_indices(81, 1)]
    np.testing.assert_allclose([float(row["r2"]) for row in rows], expected, rtol=1e-5, atol=1e-9)
    first, second = np.triu_indices(81, 1)
    assert [int(row["position_a"]) for row in rows] == at[10 + first].tolist()
    assert [int(row["position_b"]) for row in rows] == at[10 + second].tolist()


def test_a_replicate_is_found_by_its_number(tmp_path, capsys):
    report = tmp_path / "scan.tsv"
    assert run("scan", MS, "--length", "1M", "--grid", 50, "--minwin", 100, "--maxwin", "50k", "-o", report) == 0
    assert run("ld", MS, "--scan", report, "--at", "7:0.5M", "--margin", 0, "--plot", tmp_path / "ld.svg") == 0
    assert {row["chromosome"] for row in table(capsys.readouterr().out)} == {"7"}
    assert "replicate 7" in (tmp_path / "ld.svg").read_text()


def test_options_of_the_report_may_be_given_again_but_not_changed(small, reports, tmp_path, capsys):
    assert run("ld", small, "--scan", reports["tsv"], "--maf", 0.02, "--phase", "auto") == 0
    capsys.readouterr()
    for words, message in (
        (("--maf", 0.1), "--maf 0.1: the scan of {} was made with --maf 0.02; leave the option out"),
        (("--no-singletons",), "--no-singletons: the scan of {} was made without --no-singletons"),
        (("--impute", "N", "--seed", 1), "--impute N: the scan of {} was made without --impute"),
        (("--exclude", "x.bed"), "--exclude x.bed: the scan of {} was made without --exclude"),
    ):
        for report in reports.values():
            assert message.format(report) in error(capsys, small, "--scan", report, *words)


def test_recorded_options_with_several_words_are_read(tmp_path, small, capsys):
    names = tmp_path / "some samples.txt"
    (alignment,) = read_alignments(small)
    names.write_text("\n".join(alignment.samples[:100]))
    report = tmp_path / "scan.tsv"
    draws = ("--impute", "N", "--impute", "GAP", "--seed", 5, "--samples", names)
    assert run("scan", small, "--grid", 20, "--minwin", "1k", "--maxwin", "20k", *draws, "-o", report) == 0
    assert run("ld", small, "--scan", report, "--impute", "gap", "--impute", "n") == 0
    assert "warning" not in capsys.readouterr().err


def test_mistakes_are_one_line(small, reports, tmp_path, capsys):
    tsv = reports["tsv"]
    for words, message in (
        ((), "give --scan REPORT or --region"),
        (("--scan", tsv, "--region", "20:1-2"), "give --scan REPORT or --region"),
        (("--region", "20:1-2", "--peak", 2), "--peak has no effect with --region"),
        (("--scan", tsv, "--peak", 1, "--at", "20:1M"), "--peak and --at contradict each other"),
        (("--scan", tsv, "--peak", 500), "--peak 500: "),
        (("--scan", tsv, "--at", "1M"), "--at 1M: write CHR:POS, such as 20:1M"),
        (("--scan", tsv, "--at", "20:x"), "--at 20:x: 'x' is no position"),
        (("--scan", tsv, "--at", "21:1M"), "holds no chromosome 21 (but 20)"),
        (("--region", "20"), "--region 20: write CHR:FROM-TO"),
        (("--region", "20:9-5"), "its end comes before its start"),
        (("--region", "20:1-5"), "0 sites left between 1 and 5 bp of 20"),
        (("--region", "21:1-5"), "holds no chromosome or replicate 21 (but 20)"),
        (("--region", "20:1-5", "--plot", "a.jpg"), "has to end in .png, .svg or .pdf"),
        (("--region", "20:1-5", "--values", "a.txt"), "--values a.txt: the name has to end in .tsv or .npz"),
        (("--region", "20:1-5", "--format", "bed"), "--format bed: choose one of tsv, json"),
        (("--scan", tsv, "--values", tsv), "the same file as --scan"),
        (("--scan", small), "is no report of `omega scan`"),
    ):
        assert message in error(capsys, small, *words)
    assert "holds no chromosome or replicate 20" in error(capsys, MS, "--scan", tsv, "--length", "1M")


def test_reports_of_other_data_are_refused_or_told(small, reports, tmp_path, capsys):
    lines = small.read_text().splitlines(keepends=True)
    fewer = tmp_path / "fewer.vcf"
    fewer.write_text("".join(lines[:-50]))
    assert "is no report of this input" in error(capsys, fewer, "--scan", reports["json"])
    other = tmp_path / "scan.tsv"
    text = reports["tsv"].read_text()
    best = highest(reports["tsv"])
    other.write_text(text.replace(f"\t{best['omega']}\t", "\t99999\t"))
    assert run("ld", small, "--scan", other) == 0
    assert "warning: omega of this window is" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.png"))


def test_an_undefined_r2_is_not_available_and_in_no_mean(tmp_path, capsys):
    """Site 2 varies in the last haplotype alone, which is missing at site 1."""
    path, out, archive = tmp_path / "a.vcf", tmp_path / "a.tsv", tmp_path / "a.npz"
    calls = [["0", "1", "0", "."], ["0", "0", "0", "1"], ["0", "1", "1", "0"]]
    columns = "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT a b c d"
    head = "##fileformat=VCFv4.2\n" + "\t".join(columns.split())
    rows = ["\t".join([f"1\t{10 * n + 10}\t.\tA\tG\t.\tPASS\t.\tGT", *row]) for n, row in enumerate(calls)]
    path.write_text("\n".join([head, *rows, ""]))
    assert run("ld", path, "--region", "1:1-100", "--values", out) == 0
    told = capsys.readouterr()
    assert [row["r2"] for row in table(out.read_text())] == ["NA", "0.25", "0.333333"]
    (part,) = table(told.out)
    assert (part["pairs"], float(part["mean_r2"])) == ("2", pytest.approx((1 / 4 + 1 / 3) / 2))
    assert "1 of 3 pairs have no r2" in told.err
    assert run("ld", path, "--region", "1:1-100", "--values", archive, "--plot", tmp_path / "a.png") == 0
    with np.load(archive) as values:
        assert np.isnan(values["r2"]).tolist() == [[False, True, False], [True, False, False], [False] * 3]
