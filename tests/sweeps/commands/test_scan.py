"""`oclgenomics sweeps scan`: reports, messages and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device, Engine
from oclgenomics.sweeps import SweepOptions, scan

INPUTS = Path(__file__).parents[2] / "data" / "sweeps"
PHASED, THREE, SWEEP = (str(INPUTS / name) for name in ("phased.vcf.gz", "threechrom.vcf.gz", "sweep40.ms.gz"))


def test_table_and_json_have_the_values_of_the_scan(engine: Engine, device: Device, tmp_path: Path) -> None:
    expected = scan(THREE, SweepOptions(width=20, window=20_000), engine=engine)
    words = ["sweeps", "scan", THREE, "-w", "20", "--window", "20k", "-d", str(device.index), "-q"]
    assert main([*words, "-o", str(tmp_path / "x.tsv")]) == 0
    assert main([*words, "--json", "-o", str(tmp_path / "x.json")]) == 0
    lines = [line.split("\t") for line in (tmp_path / "x.tsv").read_text().splitlines() if not line.startswith("#")]
    records = list(expected.records())
    assert lines[0] == list(records[0])
    for row, record in zip(lines[1:], records, strict=True):
        assert row[0] == record["chromosome"]
        numbers = [np.nan if word == "NA" else float(word) for word in row[1:]]
        wanted = [np.nan if value is None else value for value in list(record.values())[1:]]
        np.testing.assert_allclose(numbers, wanted, rtol=1e-6)
    record = json.loads((tmp_path / "x.json").read_text())
    assert record["provenance"]["parameters"]["width"] == 20
    for one, found in zip(record["alignments"], expected, strict=True):
        best = found.best("mu")
        assert one["mu"] == [None if np.isnan(value) else value for value in found.values["mu"]]
        assert one["extremes"]["mu"] == {"value": found.values["mu"][best], "position": found.positions[best]}
        assert one["haplotypes"] == 64
    facts = [line for line in (tmp_path / "x.tsv").read_text().splitlines() if line.startswith("# data: ")]
    assert facts[1] == "# data: haplotypes=64 sites=292 genotypes=false missing=0.0 masked=0.0 chromosome=chr2"


def test_na_where_there_is_no_value(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweeps", "scan", SWEEP, "--length", "200k", "--grid", "60", "--window", "1k", "-d", str(device.index)]
    assert main(words) == 0
    out, err = capsys.readouterr()
    rows = [line.split("\t") for line in out.splitlines() if not line.startswith("#")]
    assert {len(row) for row in rows} == {14}
    assert ["NA", "NA"] in [row[6:8] for row in rows]
    assert "nan" not in out
    assert "1: 40 haplotypes, 108 sites; highest mu" in err
    assert "3 alignments, 180 rows in" in err


def test_maf_is_warned_of_and_nothing_found_is(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweeps", "scan", PHASED, "--maf", "0.5", "-d", str(device.index)]) == 0
    out, err = capsys.readouterr()
    assert "warning: 1: 80 haplotypes" in err
    assert "warning: --maf takes away the rare alleles" in err
    assert "1 of 1 alignments have no value at all" in err
    assert out.splitlines()[-1].startswith("# data: ")


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        (f"{PHASED} --stat mu,omega", 2, "--statistics omega: choose one of mu, pi, theta, tajima_d, fay_wu_h"),
        (f"{PHASED} -w 7", 2, "--width 7: the sites of a window are an even number"),
        (f"{PHASED} --all", 2, "--all has no effect without --format raisd"),
        (f"{PHASED} --no-separator", 2, "--no-separator has no effect without --format raisd"),
        (f"{PHASED} --format raisd --stat pi", 2, "--format raisd holds mu alone"),
        (f"{PHASED} --grid 5 --step 10", 2, "contradict each other"),
        (f"{PHASED} --html x.txt", 2, "has to end in .html"),
        (f"{PHASED} --html x.html -o x.html", 2, "the same file as -o x.html"),
        (f"{PHASED} --multiqc x.json", 2, "has to end in _mqc.json"),
        (f"{PHASED} --plot x.gif", 2, "has to end in .png, .svg or .pdf"),
        (f"{PHASED} --genes {INPUTS / 'exclude.bed'}", 2, "it names genes in the figure; give --plot FILE as well"),
        (f"{PHASED} --plot x.png --genes {INPUTS / 'samples.txt'}", 3, "samples.txt"),
        (f"{PHASED} --stat clr --clr-spectrum {INPUTS / 'samples.txt'}", 3, "samples.txt, line 1: is not a number"),
        ("none.vcf --stat clr --clr-spectrum none.txt", 3, "none.txt: no such file"),
        ("none.vcf --stat clr --recombination-map none.txt", 3, "none.txt: no such file"),
        (f"{PHASED} --stat clr --recombination-map {INPUTS / 'exclude.bed'}", 3, "is no point of a recombination map"),
        (f"{PHASED} -L 5", 2, "-L: use --length"),
        (f"{SWEEP} --length 200k --samples {INPUTS / 'samples.txt'}", 2, "does not name its samples"),
        (f"{SWEEP}", 3, "give the length of the region in bp"),
        (f"{INPUTS / 'unphased.vcf.gz'} --precision compat", 2, "needs phased haplotypes"),
        (f"{PHASED} -o {PHASED}", 2, "phased.vcf.gz"),
        (f"{THREE} --exclude {INPUTS / 'samples.txt'}", 3, "samples.txt"),
    ],
)
def test_what_is_refused(
    line: str, status: int, message: str, device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path(PHASED).read_bytes()
    assert main(["sweeps", "scan", *line.split(), "-d", str(device.index)]) == status
    out, err = capsys.readouterr()
    assert message in err
    assert not out
    assert Path(PHASED).read_bytes() == before


def test_clr_and_the_genes_at_its_peaks(device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    genes, table, figure = (tmp_path / name for name in ("genes.bed", "x.tsv", "x.svg"))
    genes.write_text("chr1\t0\t900000\tWHOLE\n")
    own = ["-d", str(device.index), "-o", str(table), "--plot", str(figure), "--genes", str(genes)]
    assert main(["sweeps", "scan", THREE, "--stat", "clr", "--step", "5k", "--clr-folded", *own]) == 0
    assert "highest clr" in capsys.readouterr().err
    lines = [line.split("\t") for line in table.read_text().splitlines() if not line.startswith("#")]
    assert lines[0][-2:] == ["clr", "clr_alpha"]
    assert all(float(line[-2]) >= 0 and float(line[-1]) > 0 for line in lines[1:])
    assert "clr_folded=True" in table.read_text()
    assert b"<svg" in figure.read_bytes()
    words = ["sweeps", "peaks", str(table), "--stat", "clr", "--quantile", "0.6", "--genes", str(genes), "--json"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    peaks = json.loads(out)["peaks"]
    named = {(peak["chromosome"], peak["genes"], peak["nearest_gene"], peak["gene_distance"]) for peak in peaks}
    assert ("chr1", "WHOLE", "WHOLE", 0) in named
    assert f"warning: --genes {genes} has no gene on chr2" in err
