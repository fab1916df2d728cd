"""Classified reads out of what MetaCache printed, to write them again."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from oclgenomics.classify.options import NO_RANK, RANK_SLOTS, RANKS
from oclgenomics.classify.result import ClassifiedReads, Hits, Reads
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Calls, Candidates
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.sequence.name_list import NameList

__all__ = ["DATA", "Layout", "golden_lineages", "golden_lines", "parsed", "with_names"]

DATA = Path(__file__).parents[1] / "data" / "classify"
_TARGET = re.compile(r"Target (\S+)\):\n    source:     (.*) / (\d+)\n    length:     (\d+) windows\n(?:    .*\n)*")
STRIDE, WINDOW = 112, 127


def golden_lines(name: str) -> list[str]:
    """Return the lines of a golden file without those that tell times."""
    path = DATA / name
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [line for line in text.splitlines(keepends=True) if not line.startswith(("# time", "# speed"))]


def golden_lineages(name: str) -> Lineages:
    """Return the lineages of the data set 'edge' or 'viral'."""
    folder = DATA / name / ("tax" if name == "viral" else "")
    nodes = [re.split(r"\t\|\t?", line)[:3] for line in (folder / "nodes.dmp").read_text().splitlines()]
    names = {int(row[0]): row[1] for row in _rows(folder / "names.dmp") if row[3] == "scientific name"}
    nodes.sort(key=lambda row: int(row[0]))
    taxids = [int(row[0]) for row in nodes]
    number = {taxid: place for place, taxid in enumerate(taxids)}
    none = np.zeros(0, np.int64)
    ranks = [
        RANKS.index("root") if taxid == 1 else RANK_SLOTS.get(row[2], NO_RANK)
        for taxid, row in zip(taxids, nodes, strict=True)
    ]
    taxonomy = Taxonomy(
        np.array(taxids, np.int64),
        np.array([number[int(row[1])] for row in nodes], np.int32),
        np.array(ranks, np.int8),
        tuple(names[taxid] for taxid in taxids),
        none,
        none,
    )
    return Lineages.of(taxonomy, _targets(name, number))


def _rows(path: Path) -> list[list[str]]:
    return [re.split(r"\t\|\t?", line) for line in path.read_text().splitlines()]


def _targets(name: str, number: dict[int, int]) -> Targets:
    path = DATA / name / ("targets.txt" if name == "viral" else "edge.targets.txt")
    found = list(_TARGET.finditer(path.read_text()))
    names, windows = [one[1] for one in found], [int(one[4]) for one in found]
    species = [int(re.search(r"species: +\((\d+)\)", one[0])[1]) for one in found]  # type: ignore[index]
    sources = tuple(dict.fromkeys(one[2] for one in found))
    return Targets(
        tuple(names),
        sources,
        np.array([sources.index(one[2]) for one in found], np.int32),
        np.array([int(one[3]) for one in found], np.int64),
        np.array([number[taxid] for taxid in species], np.int32),
        np.array(windows, np.int64) * STRIDE,
        np.array(windows, np.int64),
    )


def with_names(lineages: Lineages) -> dict[str, int]:
    """Return the numbers of taxa and targets by the texts that MetaCache prints: `rank:name`."""
    taxonomy = lineages.taxonomy
    texts = {f"{RANKS[taxonomy.ranks[i]]}:{taxonomy.names[i]}": i for i in range(len(taxonomy))}
    return texts | {f"sequence:{name}": len(taxonomy) + i for i, name in enumerate(lineages.targets.names)}


@dataclass(frozen=True)
class Layout:
    """The columns of a golden file by their places; `taxid` counts if the call has a column of its own for that."""

    name: int = 0
    call: int = -1
    taxid: int | None = None
    all_hits: int | None = None
    top_hits: int | None = None
    locations: int | None = None


def parsed(
    lines: list[str], lineages: Lineages, layout: Layout, *, source: str = "reads.fq", pairs: bool = False
) -> ClassifiedReads:
    """Return the reads that a golden file has lines for."""
    rows = [line.removesuffix("\n").split("\t|\t") for line in lines if not line.startswith("#")]
    calls = _calls(rows, lineages, layout)
    letters = np.full(len(rows), 100, np.uint32)
    names = NameList.of([row[layout.name] for row in rows])
    reads = Reads(0, names, letters, letters if pairs else None, source)
    located = None if layout.all_hits is None else _located([row[layout.all_hits] for row in rows], lineages)
    hits = [""] * len(rows) if layout.top_hits is None else [row[layout.top_hits] for row in rows]
    places = [""] * len(rows) if layout.locations is None else [row[layout.locations] for row in rows]
    needed = np.full(len(rows), 2, np.uint32)
    return ClassifiedReads(reads, _candidates(hits, places, lineages), Calls(calls, needed), located)


def _calls(rows: list[list[str]], lineages: Lineages, layout: Layout) -> np.ndarray:  # type: ignore[type-arg]
    if layout.taxid is not None:
        return lineages.taxonomy.find(np.array([int(row[layout.taxid]) for row in rows]))
    numbers = with_names(lineages)
    shown = [re.match(r"--|\w+:[^(,]+", row[layout.call])[0] for row in rows]  # type: ignore[index]
    return np.array([numbers.get(call, NO_TAXON) for call in shown], np.int32)


def _target_of(label: str, lineages: Lineages) -> int:
    if label in lineages.targets.names:
        return lineages.targets.names.index(label)
    taxon = int(lineages.taxonomy.find(np.array([int(label)]))[0])
    return int(np.flatnonzero((lineages.at_rank[len(lineages.taxonomy) :] == taxon).any(axis=1))[0])


def _candidates(hits: list[str], places: list[str], lineages: Lineages) -> Candidates:
    found = [[item.rsplit(":", 1) for item in text.split(",") if item] for text in hits]
    most = max([len(row) for row in found] + [2])
    targets = np.full((len(hits), most), NO_TARGET, np.uint32)
    counts, first, last = (np.zeros((len(hits), most), np.uint32) for _ in range(3))
    for read, row in enumerate(found):
        ranges = re.findall(r"\[(\d+),(\d+)\]", places[read]) or [(0, WINDOW)] * len(row)
        for place, (label, count) in enumerate(row):
            targets[read, place], counts[read, place] = _target_of(label, lineages), int(count)
            first[read, place] = int(ranges[place][0]) // STRIDE
            last[read, place] = (int(ranges[place][1]) - WINDOW) // STRIDE
    return Candidates(targets, counts, first, last, counts.sum(axis=1, dtype=np.uint32))


def _located(texts: list[str], lineages: Lineages) -> Hits:
    rows = [[re.match(r"(.*?)(?:/(\d+))?:(\d+)$", item) for item in text.split(",") if item] for text in texts]
    names = dict(zip(lineages.taxonomy.names, lineages.taxonomy.taxids.tolist(), strict=True))
    flat = [
        (_target_of(str(names.get(one[1], one[1])), lineages), int(one[2] or 0), int(one[3]))
        for row in rows
        for one in row
        if one
    ]
    starts = np.cumsum([0] + [len(row) for row in rows])
    targets, windows, hits = (np.array(column, np.uint32) for column in zip(*flat, strict=True))
    return Hits(starts, targets, windows, hits)
