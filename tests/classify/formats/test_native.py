"""MetaCache's text against what MetaCache printed."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from helpers.classified import Layout, golden_lineages, golden_lines, parsed

from oclgenomics.classify.formats import NativeOptions, make_report
from oclgenomics.classify.options import METACACHE, METACACHE_SKETCH, QueryOptions
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages

lineages_of = cache(golden_lineages)
EVERY = NativeOptions(queryids=True, tophits=True, allhits=True, locations=True)
SPECIES = QueryOptions(lowest="species")
CASES = {
    "edge/edge.query.default.txt": (
        Layout(name=1, top_hits=2, locations=3),
        METACACHE,
        NativeOptions(queryids=True, locations=True),
    ),
    "edge/edge.query.species.txt": (Layout(name=1, all_hits=2, top_hits=3, locations=4), SPECIES, EVERY),
    "edge/edge.k12s8w64st40.query.txt": (Layout(top_hits=1), SPECIES, NativeOptions(tophits=True)),
    "viral/se150.default.txt.gz": (Layout(), METACACHE, NativeOptions()),
    "viral/se150.species.tophits.txt.gz": (
        Layout(name=1, top_hits=2),
        SPECIES,
        NativeOptions(tophits=True, queryids=True, taxids=True),
    ),
    "viral/se150.locations2000.txt.gz": (
        Layout(all_hits=1, top_hits=2, locations=3),
        METACACHE,
        NativeOptions(tophits=True, allhits=True, locations=True),
    ),
    "edge/edge.query.hm1.mc6.hd50.txt": (
        Layout(top_hits=1),
        QueryOptions(hitmin=1, maxcand=6, hitdiff=0.5, lowest="sequence"),
        NativeOptions(tophits=True, taxids=True, lineage=True),
    ),
    "viral/se150.hitmin2.lineage.txt.gz": (
        Layout(taxid=2),
        SPECIES,
        NativeOptions(taxids_only=True, separate_cols=True, lineage=True),
    ),
    "viral/pe125.pairfiles.ins600.txt.gz": (
        Layout(top_hits=1),
        SPECIES,
        NativeOptions(tophits=True, taxids=True),
    ),
}

SWITCHES = {
    "-taxids": "taxids", "-taxids-only": "taxids_only", "-omit-ranks": "omit_ranks", "-lineage": "lineage",
    "-separate-cols": "separate_cols", "-queryids": "queryids", "-mapped-only": "mapped_only", "-no-map": "no_map",
    "-tophits": "tophits", "-allhits": "allhits", "-locations": "locations",
}  # fmt: skip


def layouts() -> dict[str, list[str]]:
    """Lines that MetaCache printed by the options that it got."""
    sections: dict[str, list[str]] = {}
    for line in golden_lines("edge/edge.few.layouts.txt"):
        if line.startswith("==="):
            lines = sections.setdefault(line[3:].strip(), [])
        else:
            lines.append(line)
    return sections


LAYOUTS = {words: lines for words, lines in layouts().items() if "per-ref" not in words and "abund" not in words}


def options_of(words: str) -> tuple[QueryOptions, NativeOptions]:
    """What the options of MetaCache's command line are here."""
    ranks, given = {"lowest": "sequence", "highest": "domain"}, dict[str, Any](summary="-no-summary" not in words)
    values = iter(words.split())
    for word in values:
        if word in SWITCHES:
            given[SWITCHES[word]] = True
        elif word in ("-lowest", "-highest"):
            ranks[word[1:]] = next(values)
        elif word in ("-separator", "-comment"):
            given[word[1:]] = next(values).replace("%%", "%% ")
    return QueryOptions(hitmin=2, **ranks), NativeOptions(**given)


def written(lineages: Lineages, part: ClassifiedReads, query: QueryOptions, options: NativeOptions) -> str:
    report = make_report("native", lineages, query, METACACHE_SKETCH, native=options)
    return (report.head() + bytes(report.body(part)) + report.tail()).decode()


def without_source(text: str, lines: list[str], source: str) -> str:
    """The text without the line that names its input, where the golden file has none."""
    line = f"# {source}\n"
    return text if line in lines else text.replace(line, "")


@pytest.mark.parametrize("name", CASES)
def test_every_golden_file(name: str) -> None:
    layout, query, options = CASES[name]
    lineages, lines = lineages_of(name.split("/")[0]), golden_lines(name)
    source = "edge_reads.fa" if name.startswith("edge") else "reads.fq"
    part = parsed(lines, lineages, layout, source=source, pairs="pairfiles" in name)
    text = without_source(written(lineages, part, query, options), lines, source)
    assert text.splitlines(keepends=True) == lines


@pytest.mark.parametrize("words", LAYOUTS)
def test_every_layout(words: str) -> None:
    lineages = lineages_of("edge")
    query, options = options_of(words)
    every = Layout(name=1, all_hits=2, top_hits=3, locations=4)
    part = parsed(LAYOUTS["-queryids -tophits -locations -allhits"], lineages, every, source="few.fa")
    if query.lowest == "subspecies":
        part = parsed(LAYOUTS["-no-summary -lowest subspecies -highest family"], lineages, Layout(), source="few.fa")
    if query.lowest == "genus":
        part = parsed(LAYOUTS[words], lineages, Layout(top_hits=1, locations=2), source="few.fa")
    assert written(lineages, part, query, options).splitlines(keepends=True) == LAYOUTS[words]
