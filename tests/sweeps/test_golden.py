"""Reports of real runs of RAiSD 2.9, byte for byte; tests/data/README.md has their commands."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device

TESTS = Path(__file__).parents[1]
INPUTS, REPORTS = TESTS / "data" / "sweeps", TESTS / "golden" / "sweeps"
RUNS = {
    "phased": "phased.vcf.gz --all",
    "phased_c3": "phased.vcf.gz --all -w 30 --edge 3",
    "hap": "haploid.vcf.gz --all",
    "miss0": "missing.vcf.gz --all",
    "miss2": "missing.vcf.gz --all --missing mask",
    "miss1": "missing.vcf.gz --all --missing impute --impute-seed 7",
    "miss3": "missing.vcf.gz --all --missing match",
    "m140_1": "missing140.vcf.gz --all --missing impute --impute-seed 3",
    "m140_3": "missing140.vcf.gz --all --missing match -w 30",
    "m140_0": "missing140.vcf.gz --all",
    "m140_2": "missing140.vcf.gz --all --missing mask -w 30",
    "three": f"threechrom.vcf.gz --all --exclude {INPUTS / 'exclude.bed'} --on-exclude zero",
    "three_s": f"threechrom.vcf.gz --all --samples {INPUTS / 'samples.txt'} -w 30",
    "sw40": "sweep40.ms.gz --length 200000",
    "sw40G": "sweep40.ms.gz --length 200000 --all --grid 50",
    "sw40w20c2": "sweep40.ms.gz --length 200000 --all -w 20 --edge 2",
}


@pytest.mark.parametrize("name", RUNS)
def test_reports_are_those_of_raisd(name: str, device: Device, tmp_path: Path) -> None:
    source, *words = RUNS[name].split()
    out = tmp_path / "report"
    line = ["sweeps", "scan", str(INPUTS / source), *words, "--precision", "compat", "--format", "raisd", "-q"]
    assert main([*line, "-d", str(device.index), "-o", str(out)]) == 0
    assert out.read_bytes() == gzip.decompress((REPORTS / f"RAiSD_Report.{name}.gz").read_bytes())


def test_lines_between_alignments_can_be_left_out(device: Device, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    line = ["sweeps", "scan", str(INPUTS / "sweep40.ms.gz"), "--length", "200k", "--precision", "compat", "-q"]
    assert main([*line, "--format", "raisd", "--no-separator", "-d", str(device.index)]) == 0
    rows = gzip.decompress((REPORTS / "RAiSD_Report.sw40.gz").read_bytes()).splitlines(keepends=True)
    assert capsysbinary.readouterr().out == b"".join(row for row in rows if not row.startswith(b"//"))
