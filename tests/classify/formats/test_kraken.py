"""Reports of samples read back, and the figures of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.classified import DATA, Layout, golden_lineages, golden_lines, parsed
from helpers.random_calls import random_lineages, random_reads

from oclgenomics.classify.formats import Tally, read_kreport
from oclgenomics.classify.formats.kraken import kreport
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError

KRAKEN = """ 40.00\t4\t4\t0\t0\tU\t0\tunclassified
 60.00\t6\t0\t90\t80\tR\t1\troot
 60.00\t6\t1\t90\t80\tD\t2\t  Bacteria
 50.00\t5\t0\t90\t80\tG\t561\t    Escherichia
 50.00\t5\t2\t90\t80\tS\t562\t      Escherichia coli
 30.00\t3\t3\t90\t80\tS1\t83333\t        Escherichia coli K-12
"""


def tally_of(lineages: object, *parts: object) -> Tally:
    tally = Tally(lineages)  # type: ignore[arg-type]
    for part in parts:
        tally.add(part)  # type: ignore[arg-type]
    return tally


@pytest.mark.parametrize("seed", range(8))
def test_a_report_read_back_is_the_same(seed: int, tmp_path: Path) -> None:
    lineages = random_lineages(seed)
    tally = tally_of(lineages, random_reads(lineages, seed, 300))
    (tmp_path / "x").write_text(kreport(tally))
    found = read_kreport(tmp_path / "x")
    assert (found.reads, found.unclassified) == (tally.reads, tally.unclassified)
    ranked = [re.sub("\t([A-Z])[0-9]+\t", "\t-\t", line) for line in kreport(tally).splitlines()]
    assert [re.sub("\t([A-Z])[0-9]+\t", "\t-\t", line) for line in kreport(found).splitlines()] == ranked


def test_golden_viruses(tmp_path: Path) -> None:
    lineages = golden_lineages("viral")
    tally = tally_of(lineages, parsed(golden_lines("viral/se150.species.tophits.txt.gz"), lineages, Layout(name=1)))
    (tmp_path / "x").write_text(kreport(tally))
    found = read_kreport(tmp_path / "x")
    assert kreport(found) == kreport(tally)
    for rank in ("species", "genus", "domain"):
        taxids = [one.lineages.taxonomy.taxids[one.at_rank(rank)[0]].tolist() for one in (tally, found)]
        assert taxids[0] == taxids[1]
        assert np.array_equal(tally.at_rank(rank)[1], found.at_rank(rank)[1])


def test_reports_of_kraken(tmp_path: Path) -> None:
    narrow = "".join("\t".join([*row[:3], *row[5:]]) + "\r\n" for row in map(fields, KRAKEN.splitlines()))
    for text in (KRAKEN, narrow):
        (tmp_path / "x").write_text(text)
        found = read_kreport(tmp_path / "x")
        assert (found.reads, found.unclassified) == (10, 4)
        assert found.lineages.taxonomy.taxids.tolist() == [1, 2, 561, 562, 83333]
        assert found.lineages.taxonomy.names[3] == "Escherichia coli"
        assert found.at_rank("species")[1].tolist() == [5]
        assert (found.lineages.at_rank[4] != NO_TAXON).sum() == 4


def fields(line: str) -> list[str]:
    return line.split("\t")


def test_a_sample_of_which_nothing_was_classified(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("100.00\t7\t7\tU\t0\tunclassified\n")
    assert (read_kreport(tmp_path / "x").reads, read_kreport(tmp_path / "x").unclassified) == (7, 7)
    assert main(["classify", "plot", f"{tmp_path}/x", f"{tmp_path}/x", "-o", f"{tmp_path}/x.png"]) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("\t4\t4\t0\t0\tU", "\t4\tU"), "line 1: is no line of a report"),
        (("561\t    E", "561\t     E"), "line 4: is no line of a report"),
        (("561\t    E", "561\t      E"), "line 4: taxid 561 lies more than a level below"),
        (("2\t  Bacteria", "2\tBacteria"), "line 3: taxid 2 is a second root"),
        (("S1\t83333", "\t83333"), "line 6: taxid 83333 has no rank; some builds of Kraken 2"),
        (("S1\t83333", "1\t83333"), "line 6: taxid 83333 has no rank; some builds of Kraken 2"),
        (("S1\t83333", "S1\t562"), "line 6: has taxid 562 a second time"),
        (("S1\t83333", "S1\t2147483648"), "line 6: is no line"),
        (("S1\t83333", "S1\t0"), "line 6: is no line"),
        (("\t3\t3\t90\t80\tS1", "\t3\t2\t90\t80\tS1"), "line 2: taxid 1 has 6 reads in its clade, and what is in"),
        (("\t3\t3\t90\t80\tS1", "\t-3\t3\t90\t80\tS1"), "line 6: is no line"),
        (("R\t1\troot", "U\t0\tunclassified"), "line 2: tells of unclassified reads a second time"),
        ((KRAKEN, "\n"), "holds no taxon"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in KRAKEN
    (tmp_path / "x").write_text(KRAKEN.replace(*change))
    with pytest.raises(InputError, match=message):
        read_kreport(tmp_path / "x")


def test_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.kreport", "b.kreport", "a.other"):
        (tmp_path / name).write_text(KRAKEN.replace("Escherichia coli", f"Escherichia {name}"))
    reports = {name: f"{tmp_path}/{name}" for name in ("a.kreport", "b.kreport", "a.other")}
    for words in (
        ["a.kreport"],
        ["a.kreport", "b.kreport"],
        ["a.kreport", "a.other"],
        ["b.kreport", "--rank", "genus"],
    ):
        given = [reports.get(word, word) for word in words]
        assert main(["classify", "plot", *given, "-o", f"{tmp_path}/x.svg", "--title", "some"]) == 0
        assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")
    capsys.readouterr()
    bad = [(["-o", "x.txt"], 2, "--output x.txt"), (["-o", "x.png", "--rank", "kind"], 2, "--rank kind")]
    for words, status, told in [*bad, ([str(DATA / "edge" / "nodes.dmp"), "-o", "x.png"], 3, "no line of a report")]:
        assert main(["classify", "plot", reports["a.kreport"], *words]) == status
        assert told in capsys.readouterr().err
