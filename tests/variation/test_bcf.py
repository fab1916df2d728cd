"""BCF gives what VCF of the same records gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, MissingDependencyError
from oclgenomics.runtime import Device
from oclgenomics.variation import read_alignments

ROWS = 30
HEAD = '##fileformat=VCFv4.2\n##contig=<ID=1>\n##contig=<ID=2>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="G">\n'


def vcf_text() -> str:
    rng = np.random.default_rng(4)
    names = [f"s{number}" for number in range(6)]
    lines = [HEAD + "\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *names])]
    for chromosome in "12":
        for row in range(ROWS):
            calls = ["|".join(map(str, rng.choice(["0", "1", "."], 2, p=[0.5, 0.4, 0.1]))) for _ in names]
            lines.append("\t".join([chromosome, str(10 + 7 * row), ".", "A", "C", ".", "PASS", ".", "GT", *calls]))
    return "\n".join(lines) + "\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The same records as VCF and as BCF."""
    pysam: Any = pytest.importorskip("pysam", reason="BCF is read by pysam")
    (tmp_path / "x.vcf").write_text(vcf_text())
    with (
        pysam.VariantFile(str(tmp_path / "x.vcf")) as source,
        pysam.VariantFile(str(tmp_path / "x.bcf"), "wb", header=source.header) as out,
    ):
        for record in source:
            out.write(record)
    return tmp_path / "x.vcf", tmp_path / "x.bcf"


def test_alignments_are_equal(files: tuple[Path, Path]) -> None:
    text, binary = (list(read_alignments(path)) for path in files)
    assert [one.name for one in text] == [one.name for one in binary]
    for one, other in zip(text, binary, strict=True):
        assert one.sites == other.sites
        np.testing.assert_array_equal(one.positions, other.positions)
        np.testing.assert_array_equal(one.bits, other.bits)
        np.testing.assert_array_equal(one.valid, other.valid)
        assert one.samples == other.samples


def test_scans_are_equal(device: Device, files: tuple[Path, Path], tmp_path: Path) -> None:
    found = []
    windows = ["--grid", "5", "--minwin", "1", "--maxwin", "100"]
    for path in files:
        where = ["-d", str(device.index), "-o", str(tmp_path / "out")]
        assert main(["omega", "scan", str(path), *windows, *where]) == 0
        lines = (tmp_path / "out").read_text().splitlines()
        found.append([line for line in lines if not line.startswith("#")])
    assert found[0] == found[1]
    assert len(found[0]) > 10


def test_damaged_files(files: tuple[Path, Path], tmp_path: Path) -> None:
    data = files[1].read_bytes()
    (tmp_path / "cut").write_bytes(data[:-28])
    with pytest.raises(InputError, match=r"cut: the BCF ends without its end marker"):
        list(read_alignments(tmp_path / "cut"))
    (tmp_path / "cut").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"cut: [^\n]*(damaged or truncated BCF|end marker)[^\n]*$"):
        list(read_alignments(tmp_path / "cut"))


def test_without_pysam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oclgenomics.io.htslib.find_spec", lambda _: None)
    (tmp_path / "x").write_bytes(b"BCF\x02\x02rest")
    with pytest.raises(MissingDependencyError, match=r"x: is BCF, which needs the package pysam: pip install"):
        list(read_alignments(tmp_path / "x"))
