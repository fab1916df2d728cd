"""Taxa that many reads hit in one place, and how they are found out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.classify import Index, QueryOptions, QueryResult, Wanted, build
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.formats.kraken import read_kreport
from oclgenomics.classify.formats.reports import make_summary
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.cli.main import main
from oclgenomics.errors import ParameterError
from oclgenomics.runtime import Device, Engine

NODES = {1: (1, "no rank"), 2: (1, "superkingdom"), 10: (2, "genus"), 11: (2, "genus"), 20: (10, "species"),
         21: (10, "species"), 22: (11, "species")}  # fmt: skip
THERE, STRAY, FALSE = (
    20,
    21,
    22,
)  # a species of the sample, one with a stretch of a plasmid, and the same of no relative


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Genomes of three species, two of which are contaminated, and 200 reads of the other and 300 of the plasmid."""
    folder, rng = tmp_path_factory.mktemp("support"), np.random.default_rng(7)

    def bases(size: int) -> str:
        return "".join(rng.choice(list("ACGT"), size).tolist())

    genomes, plasmids = [bases(12_000) for _ in range(3)], [bases(400), bases(400)]
    genomes[1] += plasmids[0]
    genomes[2] += plasmids[1]
    taxa = zip((THERE, STRAY, FALSE), genomes, strict=True)
    (folder / "ref.fna").write_text("".join(f">t{taxid}|kraken:taxid|{taxid}\n{text}\n" for taxid, text in taxa))
    (folder / "tax").mkdir()
    nodes = "".join(f"{taxid}\t|\t{parent}\t|\t{rank}\t|\n" for taxid, (parent, rank) in NODES.items())
    (folder / "tax" / "nodes.dmp").write_text(nodes)
    names = "".join(f"{taxid}\t|\tt{taxid}\t|\t\t|\tscientific name\t|\n" for taxid in NODES)
    (folder / "tax" / "names.dmp").write_text(names)
    drawn = [genomes[0]] * 200 + [plasmids[0]] * 150 + [plasmids[1]] * 150
    begins = [int(rng.integers(len(text) - 120)) for text in drawn]
    records = [
        f">r{at}\n{text[begin : begin + 120]}\n" for at, (text, begin) in enumerate(zip(drawn, begins, strict=True))
    ]
    (folder / "reads.fa").write_text("".join(records))
    return folder


@pytest.fixture(scope="module")
def database(folder: Path, device: Device) -> Database:
    return build(folder / "ref.fna", taxonomy=folder / "tax", engine=device)


def called(result: QueryResult) -> Counter[int]:
    return Counter(record["taxid"] for record in result.records())


def test_evidence_exposes_a_false_taxon(folder: Path, database: Database, engine: Engine) -> None:
    with Index(database, engine=engine) as index:
        result = index.query(folder / "reads.fa", wanted=Wanted(features=True))
        tally = Tally(index.lineages, features=True, known=index.known_features)
    for part in result.parts:
        tally.add(part)
    assert called(result) == {THERE: 200, STRAY: 150, FALSE: 150}
    rows = [line.split("\t") for line in make_summary("evidence", tally).splitlines()]
    known = {int(row[0]): dict(zip(rows[0], row, strict=True)) for row in rows[1:]}
    for taxid in (STRAY, FALSE):
        assert int(known[taxid]["reads"]) == 150
        assert float(known[taxid]["coverage"]) < 0.06 < 0.4 < float(known[THERE]["coverage"])
        assert float(known[taxid]["evenness"]) < 0.1 < 0.8 < float(known[THERE]["evenness"]) < 1.2
    assert int(known[1]["distinct"]) == sum(int(known[taxid]["distinct"]) for taxid in (THERE, STRAY, FALSE))
    assert int(known[10]["known"]) == sum(int(known[taxid]["known"]) for taxid in (THERE, STRAY))
    plain = Tally(index.lineages)
    for part in result.parts:
        plain.add(part)
    with pytest.raises(ParameterError, match="counts none"):
        make_summary("evidence", plain)
    fields = [line.split("\t") for line in make_summary("kreport", tally).splitlines()]
    shown = {int(row[6]): (int(row[3]), int(row[4])) for row in fields}
    assert shown == {taxid: (int(row["hits"]), int(row["distinct"])) for taxid, row in known.items()}
    assert ["\t".join(row[:3] + row[5:]) for row in fields] == make_summary("kreport", plain).splitlines()
    (folder / "kreport").write_text(make_summary("kreport", tally))
    assert make_summary("kreport", read_kreport(folder / "kreport")) == make_summary("kreport", plain)


@pytest.mark.parametrize(
    "options", [{"min_distinct": 300}, {"min_coverage": 0.1}, {"min_evenness": 0.5}], ids=lambda one: next(iter(one))
)
def test_reads_of_false_taxa_are_called_the_next_one_above(
    folder: Path, database: Database, engine: Engine, options: dict[str, float]
) -> None:
    """A genus with a species that is there, or the domain; or nothing, if that is above the highest rank."""
    with Index(database, engine=engine) as index:
        assert called(index.query(folder / "reads.fa", QueryOptions(**options))) == {THERE: 200, 10: 150, 2: 150}
        genera = QueryOptions(highest="genus", **options)
        assert called(index.query(folder / "reads.fa", genera)) == {THERE: 200, 10: 150, 0: 150}


def test_coverage_of_targets_goes_with_no_evidence(folder: Path, database: Database, engine: Engine) -> None:
    with pytest.raises(ParameterError, match="give either"):
        QueryOptions(cov_percentile=0.5, min_distinct=2)
    with Index(database, engine=engine) as index, pytest.raises(ParameterError, match="give either"):
        index.query(folder / "reads.fa", QueryOptions(cov_percentile=0.5), Wanted(features=True))


def test_columns_need_a_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", "query", f"{folder}/db", f"{folder}/reads.fa", "--minimizer-data"]) == 2
    assert "--minimizer-data needs --kreport FILE" in capsys.readouterr().err


def test_confidence(folder: Path, database: Database, engine: Engine) -> None:
    """Reads of 120 bp could share 22.1 features, and those of the references have a few more."""
    with Index(database, engine=engine) as index:
        plain = index.query(folder / "reads.fa")
        half = index.query(folder / "reads.fa", QueryOptions(confidence=0.5))
        sure = index.query(folder / "reads.fa", QueryOptions(confidence=1))
    assert {record["needed_hits"] for record in half.records()} == {12}
    assert {record["needed_hits"] for record in sure.records()} == {23}
    for record, before in zip(sure.records(), plain.records(), strict=True):
        assert record["taxid"] == (before["taxid"] if before["hits"] >= 23 else 0)
    assert 0 < sure.classified < half.classified <= plain.classified
