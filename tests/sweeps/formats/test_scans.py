"""Reports are read back as they were written, and what is no report is refused by its line."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError
from oclgenomics.runtime import Device, Engine
from oclgenomics.sweeps import SweepOptions, make_report, read_report, scan, write_report

THREE = Path(__file__).parents[2] / "data" / "sweeps" / "threechrom.vcf.gz"


@pytest.mark.parametrize("kind", ["tsv", "json"])
def test_reports_are_read_back(kind: str, engine: Engine, device: Device, tmp_path: Path) -> None:
    out = tmp_path / "out"
    line = ["sweeps", "scan", str(THREE), "--step", "9k", "--window", "30k", "--format", kind, "-o", str(out), "-q"]
    assert main([*line, "-d", str(device.index)]) == 0
    expected = scan(THREE, SweepOptions(step=9_000, window=30_000), engine=engine)
    found = read_report(out)
    assert len(found) == len(expected) == 3
    for one, other in zip(found, expected, strict=True):
        assert (one.name, one.replicate, one.facts, one.gridded) == (other.name, other.replicate, other.facts, True)
        for name, values in other.values.items():
            np.testing.assert_allclose(one.values[name], values, rtol=1e-6)
        for name in ("positions", "start", "end", "window_sites"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name))
        assert {name: str(one.parameters[name]) for name in ("width", "step", "missing", "maf")} == {
            name: str(other.parameters[name]) for name in ("width", "step", "missing", "maf")
        }
        assert asdict(one.facts)["haplotypes"] == 64


GOOD = """# parameters: width=50 missing=None precision=compat
chromosome\treplicate\tposition\tstart\tend\tsites\tmu
# data: haplotypes=4 sites=60 genotypes=false missing=0.0 masked=0.0 chromosome=1
1\t1\t5\t1\t9\t50\t2.5
1\t1\t6\t2\t10\t50\tNA
"""


def test_a_report_by_hand(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text(GOOD)
    (one,) = read_report(tmp_path / "x.tsv")
    assert one.values["mu"][0] == 2.5
    assert np.isnan(one.values["mu"][1])
    assert one.parameters["missing"] == "drop"  # as compat precision takes it


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("\tmu\n", "\tomega\n"), "is no report of `sweeps scan`"),
        (("chromosome\trep", "chrom\trep"), "is no report of `sweeps scan`"),
        (("\t2.5\n", "\n"), "6 columns instead of 7"),
        (("2.5", "2,5"), "has a word that is no number"),
        (("\t5\t", "\tNA\t"), "has a word that is no number"),
        (("haplotypes=4", "haplotypes=x"), "the line of what was scanned is broken"),
        (("# data", "# dat"), "7 columns instead of 7"),
        ((GOOD, "{}"), "is no report of `sweeps scan`"),
        ((GOOD, '{"provenance": {"parameters": {}}, "alignments": [{"chromosome": "1"}]}'), "is no report"),
        ((GOOD, "# nothing"), "is no report of `sweeps scan`"),
    ],
)
def test_what_is_no_report(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text(GOOD.replace(*change))
    with pytest.raises(InputError, match=message):
        read_report(tmp_path / "x.tsv")


def test_no_alignment_at_all(tmp_path: Path) -> None:
    with (tmp_path / "x.tsv").open("wb") as stream:
        assert write_report([], stream, make_report("tsv")) == 0
    assert len(read_report(tmp_path / "x.tsv")) == 0
