"""Lineages, candidates and calls of MetaCache's golden outputs."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from oclgenomics.classify.options import METACACHE_SKETCH, RANKS, SEQUENCE
from oclgenomics.classify.plan import count_windows
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates
from oclgenomics.classify.taxonomy.identifiers import header_taxids, sequence_ids, told_apart
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.tree import NO_TAXON

DATA = Path(__file__).parents[1] / "data" / "classify"
EDGE, VIRAL = DATA / "edge", DATA / "viral"


def edge_lineages() -> Lineages:
    return _lineages([EDGE / "edge_ref.fna"], EDGE)


def viral_lineages() -> Lineages:
    return _lineages(sorted((VIRAL / "ref").iterdir()), VIRAL / "tax")


def _lineages(files: list[Path], tax: Path) -> Lineages:
    headers, letters, source, record = [], [], [], []
    for at, file in enumerate(files):
        for number, text in enumerate(file.read_text().split(">")[1:]):
            header, _, sequence = text.partition("\n")
            headers.append(header)
            letters.append(len(sequence.replace("\n", "")))
            source.append(at)
            record.append(number)
    taxonomy = read_taxonomy(tax)
    lengths = np.array(letters, np.int64)
    targets = Targets(
        tuple(told_apart(sequence_ids(headers, [str(files[at]) for at in source], "smart"))),
        tuple(str(file) for file in files),
        np.array(source, np.int32),
        np.array(record, np.int64),
        taxonomy.find(header_taxids(headers)),
        lengths,
        count_windows(lengths, METACACHE_SKETCH),
    )
    return Lineages.of(taxonomy, targets)


def rows(path: Path) -> Iterator[list[str]]:
    """Columns of the lines of reads."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return (line.split("\t|\t") for line in text.splitlines() if not line.startswith("#"))


def header(path: Path) -> list[str]:
    """Names of the columns."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return text.partition("\n")[0].removeprefix("# TABLE_LAYOUT: ").split("\t|\t")


def candidates_and_calls(path: Path, lineages: Lineages, maxcand: int = 2) -> tuple[Candidates, list[str]]:
    """Candidates of the column of top hits (any target of a taxon stands for it), and the text of each call.

    Windows are those of the column of locations, 0 without one.
    """
    place = header(path).index("top_hits")
    located = "candidate_locations" in header(path)
    taxonomy = lineages.taxonomy
    target = {name: at for at, name in enumerate(lineages.targets.names)}
    for at, row_of in reversed(list(enumerate(lineages.at_rank[len(taxonomy) :, SEQUENCE + 1 :].tolist()))):
        for taxon in set(row_of) - {NO_TAXON}:
            target[str(taxonomy.taxids[taxon])] = target[taxonomy.names[taxon]] = at
    called, table = [], []
    for row in rows(path):
        called.append(row[-1])
        hits = [hit.rsplit(":", 1) for hit in row[place].split(",") if hit]
        spans = row[place + 1].split() if located else ["[0,127]"] * len(hits)
        ranges = [[int(end) for end in span.strip("[]").split(",")] for span in spans]
        found = [
            (target[name], int(count), begin // 112, (end - 127) // 112)
            for (name, count), (begin, end) in zip(hits, ranges, strict=True)
        ]
        table.append(found + [(NO_TARGET, 0, 0, 0)] * (maxcand - len(found)))
    columns = np.array(table, np.uint32).reshape(len(table), maxcand, 4)
    return Candidates(*np.moveaxis(columns, 2, 0), np.zeros(len(table), np.uint32)), called


def call_text(taxon: int, lineages: Lineages, *, taxids: bool = False) -> str:
    """A call as MetaCache prints it."""
    if taxon == NO_TAXON:
        return "--"
    taxonomy = lineages.taxonomy
    if taxon >= len(taxonomy):
        name, rank, taxid = lineages.targets.names[taxon - len(taxonomy)], SEQUENCE, len(taxonomy) - taxon - 1
    else:
        name, rank, taxid = taxonomy.names[taxon], int(taxonomy.ranks[taxon]), int(taxonomy.taxids[taxon])
    return f"{RANKS[rank]}:{name}" + (f"({taxid})" if taxids else "")
