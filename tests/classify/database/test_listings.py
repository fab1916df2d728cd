"""What is told of a database: the lists of MetaCache, and facts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.classify_databases import EDGE, VIRAL, edge_database, features_of, random_database, viral_database

from oclgenomics.app.reports import MISSING
from oclgenomics.classify.database import listings
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.file import write_database
from oclgenomics.classify.database.listings import database_facts, spread_of_lists, statistics_lines
from oclgenomics.classify.options import METACACHE_SKETCH, BuildOptions, SketchOptions
from oclgenomics.cli.main import main
from oclgenomics.errors import ParameterError

MAX3 = BuildOptions(METACACHE_SKETCH, max_locations=3, remove_overpopulated=True)


def text_of(lines: Iterator[str]) -> str:
    return "".join(lines)


@pytest.fixture
def edge(tmp_path: Path) -> Path:
    write_database(tmp_path / "edge.ocla", edge_database())
    return tmp_path / "edge.ocla"


@pytest.fixture
def viral(tmp_path: Path) -> Path:
    write_database(tmp_path / "viral.ocla", viral_database())
    return tmp_path / "viral.ocla"


@pytest.mark.parametrize(
    ("name", "golden"),
    [("targets", "edge.targets.txt"), ("lineages", "edge.lineages.tsv"), ("locations", "edge.features.txt")],
)
def test_lists_of_the_edge_cases(edge: Path, capsys: pytest.CaptureFixture[str], name: str, golden: str) -> None:
    assert main(["classify", "info", str(edge), name]) == 0
    assert capsys.readouterr().out == (EDGE / golden).read_text()


@pytest.mark.parametrize(("name", "golden"), [("targets", "targets.txt"), ("lineages", "lineages.tsv")])
def test_lists_of_the_viruses(viral: Path, tmp_path: Path, name: str, golden: str) -> None:
    assert main(["classify", "info", str(viral), name, "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_bytes() == (VIRAL / golden).read_bytes()


def test_locations_of_the_viruses(viral: Path, tmp_path: Path) -> None:
    golden = gzip.decompress((VIRAL / "features.txt.gz").read_bytes()).decode()
    assert text_of(listings.location_lines(viral_database())) == golden
    counts = [f"{line.split(' ')[0]} -> {line.count('(')}\n" for line in golden.splitlines()]
    assert text_of(listings.count_lines(viral_database())) == "".join(counts)


@pytest.mark.parametrize(
    ("options", "golden"),
    [
        (BuildOptions(METACACHE_SKETCH, max_locations=3), "edge.maxloc3.features.txt"),
        (MAX3, "edge.maxloc3.removeoverpop.features.txt"),
        (BuildOptions(SketchOptions(12, 8, 64, 40, 0)), "edge.k12s8w64st40.features.txt"),
    ],
)
def test_locations_with_other_options(options: BuildOptions, golden: str) -> None:
    assert text_of(listings.location_lines(edge_database(options))) == (EDGE / golden).read_text()


def facts_of(text: str) -> dict[str, str]:
    return {line[:18].strip(): line[18:].strip() for line in text.splitlines() if not line.startswith("-")}


def test_statistics_are_those_of_metacache() -> None:
    golden = facts_of((VIRAL / "stat.txt").read_text())
    found = facts_of(text_of(statistics_lines(viral_database())))
    other = {name for name, value in found.items() if golden.get(name) != value}
    assert other == {"oclgenomics", "database version", "target limit", "location limit"}
    assert len(found) == 20


def test_statistics_of_features_without_locations() -> None:
    features = edge_database(MAX3).features
    assert features.numbers[:2] == (59, 137)
    assert features.dead == 137
    assert features.numbers.largest == 2
    assert [f"{one:g}" for one in spread_of_lists(features)] == ["1.40678", "0.49545", "0.369928"]
    edge = edge_database().features
    assert edge.numbers.largest == 12
    assert [f"{one:g}" for one in spread_of_lists(edge)] == ["3.7398", "3.04305", "1.70014"]
    empty = random_database(1, features=0).features
    assert (*empty.numbers[:2], empty.numbers.largest, *spread_of_lists(empty)) == (0, 0, 0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("make", [listings.location_lines, listings.count_lines, listings.target_lines])
@pytest.mark.parametrize("block", [1, 7, 196])
def test_pieces_join(monkeypatch: pytest.MonkeyPatch, make: Callable[[Database], Iterator[str]], block: int) -> None:
    whole = text_of(make(edge_database()))
    monkeypatch.setattr(listings, "BLOCK", block)
    assert text_of(make(edge_database())) == whole


def test_nothing_to_list() -> None:
    empty = random_database(1, targets=0, features=0)
    assert text_of(listings.location_lines(empty)) == text_of(listings.count_lines(empty)) == ""
    assert text_of(listings.lineage_lines(empty)).count("\n") == 1
    assert text_of(listings.rank_lines(empty, "species")).count("\n") == 2
    assert database_facts(empty)["targets"] == 0
    assert "nan" not in text_of(statistics_lines(empty))


def test_targets_without_a_window_take_no_locations() -> None:
    """Target 3 of the edge cases has none, and target 4 begins where it does."""
    database = edge_database()
    assert database.targets.windows[3] == 0
    features = features_of({7: [(2, 0), (4, 0), (16, 0)]}, database.targets.first_window)
    assert text_of(listings.location_lines(replace(database, features=features))) == "7 -> (2,0)(4,0)(16,0)\n"


def test_taxa_of_a_rank() -> None:
    database = edge_database()
    head = "Sequence distribution for rank 'genus':\ntaxid \t taxon_name \t sequences\n"
    assert text_of(listings.rank_lines(database, "genus")) == head + "50 \t T50 \t 9\n51 \t T51 \t 8\n"
    sequences = text_of(listings.rank_lines(database, "sequence")).splitlines()
    assert sequences[2:4] == ["-1 \t EDG_000501.1 \t 1", "-2 \t EDG_000502.1 \t 1"]
    assert len(sequences) == 19
    taxon = database.targets.taxon.copy()
    taxon[:9] = -1
    unranked = replace(database, targets=replace(database.targets, taxon=taxon))
    assert text_of(listings.rank_lines(unranked, "genus")) == head + "51 \t T51 \t 8\n0 \t -- \t 9\n"
    assert database_facts(unranked)["ranked_targets"] == 8
    assert text_of(listings.lineage_lines(unranked)).splitlines()[1] == "EDG_000501.1\t-1" + "\t0" * 19
    with pytest.raises(ParameterError, match="choose one of sequence, form"):
        text_of(listings.rank_lines(database, "strain"))


def test_targets_by_name() -> None:
    database, everything = edge_database(), text_of(listings.target_lines(edge_database()))
    found = text_of(listings.target_lines(database, ["EDG_000503.1", "EDG_000501.1"]))
    assert [line for line in found.splitlines() if line[0] == "T"] == ["Target EDG_000503.1):", "Target EDG_000501.1):"]
    assert all(line in everything.splitlines() for line in found.splitlines())
    with pytest.raises(ParameterError, match="no target of the database has this name"):
        text_of(listings.target_lines(database, ["EDG"]))


def test_facts(edge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", "info", str(edge), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["targets"] == facts["ranked_targets"] == 17
    assert (facts["features"], facts["locations"], facts["largest_feature"]) == (196, 733, 12)
    assert (facts["kmerlen"], facts["winstride"], facts["remove_ambiguous"]) == (16, 112, None)
    assert facts["bytes"] == edge.stat().st_size
    assert main(["classify", "info", str(edge)]) == 0
    shown = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert shown.keys() == facts.keys()
    assert shown["letters"] == str(facts["letters"])
    assert (shown["remove_overpopulated"], shown["remove_ambiguous"]) == ("no", MISSING)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rank"], "name one rank"),
        (["rank", "genus", "family"], "name one rank"),
        (["rank", "strain"], "choose one of sequence"),
        (["stat", "x"], "stat takes no names"),
        (["targets", "--json"], "--json is for facts"),
        (["targets", "x"], "no target of the database has this name"),
        (["everything"], "invalid choice"),
    ],
)
def test_wrong_words(edge: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["classify", "info", str(edge), *words]) == 2
    assert message in capsys.readouterr().err


# Verifying


def test_sound_databases(edge: Path, viral: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_database(viral, viral_database(), manifest=True)
    assert main(["classify", "verify", str(edge), str(viral)]) == 0
    one, other = capsys.readouterr().out.splitlines()
    assert one.startswith(f"{edge}: sound: 17 targets, 21 taxa, 196 features, 733 locations; ")
    assert one.endswith("; checksums, order and bounds hold; no .sha256 next to it")
    assert "97,082 features" in other
    assert "SHA-256 as its .sha256 says, " in other


def test_damaged_databases(edge: Path, viral: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(edge.read_bytes())
    data[-1000] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    (tmp_path / "empty").touch()
    write_database(viral, viral_database(), manifest=True)
    viral.write_bytes(edge.read_bytes())
    words = [str(tmp_path / "damaged"), str(edge), str(tmp_path / "empty"), str(viral)]
    assert main(["classify", "verify", *words]) == 3
    told = capsys.readouterr()
    assert told.out.startswith(f"{edge}: sound: ")
    assert told.out.count("\n") == 1
    lines = told.err.splitlines()
    assert all(line.startswith("oclgenomics: error: ") for line in lines)
    for line, words_in_it in zip(lines, ["is damaged (", "is empty", "is not the file that"], strict=True):
        assert words_in_it in line


def test_counts_are_of_any_type() -> None:
    wide = replace(edge_database(), options=BuildOptions(METACACHE_SKETCH, max_locations=300))
    wide = replace(wide, features=replace(wide.features, counts=wide.features.counts.astype(np.uint16)))
    assert text_of(listings.location_lines(wide)) == (EDGE / "edge.features.txt").read_text()
