"""Lineages, calls and abundances of MetaCache 2.6.0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.golden_taxa import (
    EDGE,
    VIRAL,
    call_text,
    candidates_and_calls,
    edge_lineages,
    rows,
    viral_lineages,
)

from oclgenomics.classify.options import METACACHE, RANKS, QueryOptions, metacache_hitmin
from oclgenomics.classify.taxonomy.abundances import (
    Abundances,
    abundances,
    count_calls,
    estimated_abundances,
    percent_text,
    reads_text,
)
from oclgenomics.classify.taxonomy.calls import Caller, Calls, Candidates, well_covered, without_targets
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON


@pytest.fixture(scope="module")
def edge() -> Lineages:
    return edge_lineages()


@pytest.fixture(scope="module")
def viral() -> Lineages:
    return viral_lineages()


def lineage_rows(lineages: Lineages) -> list[list[str]]:
    """The lineages of targets as MetaCache lists them: without the root, 0 where nothing is."""
    taxa = len(lineages.taxonomy)
    found = []
    for target, name in enumerate(lineages.targets.names):
        row = lineages.at_rank[taxa + target, 1:-1].tolist()
        taxids = [0 if taxon == NO_TAXON else int(lineages.taxonomy.taxids[taxon]) for taxon in row]
        found.append([name, str(-1 - target), *map(str, taxids)])
    return found


@pytest.mark.parametrize("name", ["edge", "viral"])
def test_lineages(name: str, edge: Lineages, viral: Lineages) -> None:
    path = EDGE / "edge.lineages.tsv" if name == "edge" else VIRAL / "lineages.tsv"
    heading, *lines = [line.split("\t") for line in path.read_text().splitlines()]
    assert heading == ["name", *RANKS[:-1]]
    assert lineage_rows(edge if name == "edge" else viral) == lines


@pytest.mark.parametrize("name", ["edge", "viral"])
def test_targets(name: str, edge: Lineages, viral: Lineages) -> None:
    path = EDGE / "edge.targets.txt" if name == "edge" else VIRAL / "targets.txt"
    targets = (edge if name == "edge" else viral).targets
    listed = [line.strip() for line in path.read_text().splitlines()]
    assert [line[7:-2] for line in listed if line.startswith("Target ")] == list(targets.names)
    sources = [line.split(maxsplit=1)[1] for line in listed if line.startswith("source:")]
    files = [Path(targets.sources[at]).name for at in targets.source]
    assert [source.rsplit("/", 2)[-1] for source in sources] == [f" {record}" for record in targets.record]
    assert all(file in source for file, source in zip(files, sources, strict=True))
    windows = [int(line.split()[1]) for line in listed if line.startswith("length:")]
    assert windows == targets.windows.tolist()


def called(candidates: Candidates, lineages: Lineages, options: QueryOptions) -> Calls:
    hitmin = np.full(len(candidates), options.hitmin, np.uint32)
    return Caller(lineages, options).call(candidates, hitmin)


@pytest.mark.parametrize(
    ("name", "options", "taxids"),
    [
        ("edge.query.species.txt", QueryOptions(hitmin=5, lowest="species"), False),
        ("edge.query.default.txt", METACACHE, False),
        ("edge.query.hm1.mc6.hd50.txt", QueryOptions(hitmin=1, maxcand=6, hitdiff=0.5, lowest="sequence"), True),
        ("edge.k12s8w64st40.query.txt", QueryOptions(hitmin=metacache_hitmin(8), lowest="species"), False),
    ],
)
def test_edge_calls(name: str, options: QueryOptions, taxids: bool, edge: Lineages) -> None:
    candidates, texts = candidates_and_calls(EDGE / name, edge, options.maxcand)
    calls = called(candidates, edge, options)
    found = [call_text(taxon, edge, taxids=taxids) for taxon in calls.taxon.tolist()]
    assert found == [text.partition(",")[0] for text in texts]
    assert len(found) == 15


@pytest.mark.parametrize(
    ("name", "lowest", "taxids", "reads"),
    [
        ("se150.species.tophits.txt.gz", "species", True, 20_000),
        ("se150.locations2000.txt.gz", "sequence", False, 2_000),
        ("pe125.pairfiles.ins600.txt.gz", "species", True, 10_000),
    ],
)
def test_viral_calls(name: str, lowest: str, taxids: bool, reads: int, viral: Lineages) -> None:
    candidates, texts = candidates_and_calls(VIRAL / name, viral)
    calls = called(candidates, viral, QueryOptions(hitmin=5, lowest=lowest))
    assert [call_text(taxon, viral, taxids=taxids) for taxon in calls.taxon.tolist()] == texts
    assert len(texts) == reads


def test_viral_calls_by_default(viral: Lineages) -> None:
    candidates, _ = candidates_and_calls(VIRAL / "se150.locations2000.txt.gz", viral)
    calls = called(candidates, viral, METACACHE)
    texts = [row[-1] for row in rows(VIRAL / "se150.default.txt.gz")][:2_000]
    assert [call_text(taxon, viral) for taxon in calls.taxon.tolist()] == texts


def test_viral_calls_of_two_hits(viral: Lineages) -> None:
    candidates, _ = candidates_and_calls(VIRAL / "se150.species.tophits.txt.gz", viral)
    calls = called(candidates, viral, QueryOptions(hitmin=2, lowest="species"))
    expected = []
    for row in rows(VIRAL / "se150.hitmin2.lineage.txt.gz"):
        named = {rank: int(taxid) for rank, taxid in zip(row[1::2], row[2::2], strict=True) if taxid not in "0--"}
        expected.append(next(iter(named.values()), 0))  # the lowest rank that is named
    found = [0 if taxon == NO_TAXON else int(viral.taxonomy.taxids[taxon]) for taxon in calls.taxon.tolist()]
    assert found == expected


def table_rows(table: Abundances, lineages: Lineages) -> list[str]:
    """Abundances as MetaCache prints them."""
    found = []
    for taxon, reads, share in zip(table.taxon.tolist(), table.reads.tolist(), table.share.tolist(), strict=True):
        of_targets = taxon - len(lineages.taxonomy)
        taxid = lineages.taxonomy.taxids[taxon if of_targets < 0 else lineages.targets.taxon[of_targets]]
        cells = [call_text(taxon, lineages), str(taxid), reads_text(reads), percent_text(share) + "%"]
        found.append("\t|\t".join(cells))
    left = percent_text(table.unclassified / table.total)
    return [*found, "\t|\t".join(["unclassified", "--", "0", str(table.unclassified), left + "%"])]


def test_abundances(viral: Lineages) -> None:
    candidates, _ = candidates_and_calls(VIRAL / "se150.species.tophits.txt.gz", viral)
    counts = count_calls(called(candidates, viral, QueryOptions(hitmin=5, lowest="species")), viral)
    lines = (VIRAL / "se150.abundances.txt").read_text().splitlines()
    second = lines.index("# estimated abundance (number of queries) per genus")
    assert table_rows(abundances(counts, viral), viral) == lines[2:second]
    assert table_rows(estimated_abundances(counts, viral, "genus"), viral) == lines[second + 2 :]


@pytest.mark.parametrize("rank", ["species", "family", "domain"])
def test_abundances_of_targets(rank: str, viral: Lineages) -> None:
    candidates, _ = candidates_and_calls(VIRAL / "se150.locations2000.txt.gz", viral)
    counts = count_calls(called(candidates, viral, METACACHE), viral)
    lines = (VIRAL / f"se150.abundances2000.{rank}.txt").read_text().splitlines()
    expected = [line for line in lines if not line.startswith("#")]
    found = table_rows(abundances(counts, viral), viral) + table_rows(estimated_abundances(counts, viral, rank), viral)
    assert found == expected


@pytest.mark.parametrize("percent", [20, 50])
def test_coverage(percent: int, viral: Lineages) -> None:
    candidates, _ = candidates_and_calls(VIRAL / "se150.locations2000.txt.gz", viral)
    hitmin = np.full(len(candidates), 5, np.uint32)
    kept = well_covered(candidates, hitmin, viral.targets, percent / 100)
    calls = called(without_targets(candidates, kept), viral, METACACHE)
    expected = [row[-1] for row in rows(VIRAL / f"se150.coverage2000.{percent}.txt.gz")]
    assert [call_text(taxon, viral) for taxon in calls.taxon.tolist()] == expected
    assert expected != [row[-1] for row in rows(VIRAL / "se150.default.txt.gz")][:2_000]
