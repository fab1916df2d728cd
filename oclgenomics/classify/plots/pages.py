"""The page of a sample for browsers: its taxa from domains to species, and a table of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from oclgenomics.app.figures import BLUE, short_text
from oclgenomics.app.pages import Chart, Page, Table, label
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import UNRANKED, TaxonWords
from oclgenomics.classify.plots.colours import HIGHER, UNCLASSIFIED
from oclgenomics.classify.plots.partition import (
    Segment,
    partition,
    segment_colour,
    segment_name,
    taxon_hues,
)

MAX_NAMED, LEAST_NAMED = 60, 0.0005  # taxa of a rank, and their share of all reads
NARROW_RANKS = 4  # with that of all reads, at a time
BARS = 30  # targets
LONGEST_NAME = 40
ROOT, NONE = "reads", "unclassified"


def sample_page(tally: Tally, *, title: str, more: str = "") -> Page:
    """Return the page of a sample.

    Parameters
    ----------
    tally : Tally
    title : str
        What was classified.
    more : str
        Where all taxa are, if they are too many for the table.
    """
    reads, words = tally.reads, TaxonWords(tally.lineages)
    classified = reads - tally.unclassified
    headline = f"{_percent(classified, reads)} of {reads:,} reads are classified"
    facts = {"Reads": f"{reads:,}", "Classified": f"{classified:,}\n{_percent(classified, reads)}"}
    if not len(tally.lineages.taxonomy):
        chart = [_targets(tally, words)] if classified else []
        return Page(headline, title, [*chart, _target_table(tally, words, more)], facts)
    for rank in ("species", "genus"):
        taxa, found = tally.at_rank(rank)
        share = f"\n{_percent(int(found.sum()), reads)} of reads"
        facts["Species" if rank == "species" else "Genera"] = f"{len(taxa):,}{share}"
        if rank == "species" and len(taxa):
            top = int(np.argmax(found))
            facts["Most reads"] = f"{words.name(int(taxa[top]))}\n{_percent(int(found[top]), reads)} of reads"
    chart = [_taxa(tally, words)] if reads else []
    return Page(headline, title, [*chart, _taxon_table(tally, words, more)], facts)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.1f} %"


def _taxa(tally: Tally, words: TaxonWords) -> Chart:
    """A column for each rank, in which every taxon is next to those that are below it; a click enlarges it."""
    stacks, reads = partition(tally, named=MAX_NAMED, least=LEAST_NAMED), tally.reads
    hues = taxon_hues(stacks)
    nodes: dict[str, tuple[str, str, int, str, str]] = {  # name, parent, reads, colour and rank by id
        ROOT: ("all reads", "", reads, HIGHER, ""),
    }
    for segment in stacks.segments:
        rank = stacks.ranks[segment.column]
        name = label(short_text(segment_name(segment, words, rank), LONGEST_NAME))
        count = round(segment.share * reads)
        nodes[_key(segment.above, segment.taxon)] = (name, _parent(segment), count, segment_colour(segment, hues), rank)
    if tally.unclassified:
        nodes[NONE] = (NONE, ROOT, tally.unclassified, UNCLASSIFIED, "")
    names, parents, counts, colours, ranks = zip(*nodes.values(), strict=True)
    trace: dict[str, Any] = {
        "type": "icicle", "ids": list(nodes), "labels": names, "parents": parents, "values": counts,
        "customdata": ranks, "branchvalues": "total", "sort": False, "tiling": {"orientation": "h", "pad": 1},
        "marker": {"colors": colours}, "texttemplate": "%{label}<br>%{percentRoot:.1%}", "pathbar": {"thickness": 24},
        "hovertemplate": "%{label}<br>%{customdata} %{value:,} reads, %{percentRoot:.2%}<extra></extra>",
        "textfont": {"size": 12},
    }  # fmt: skip
    ranks_shown = ", ".join(stacks.ranks) or "nothing"
    text = f"From left to right: {ranks_shown}. Click a taxon to enlarge it, and the bar on top to go back. "
    text += "Reads that were called at a higher rank only leave white places."
    margin, small = {"l": 0, "r": 0, "t": 36, "b": 8}, {"minsize": 11, "mode": "hide"}
    layout = {"margin": margin, "uniformtext": small, "narrow": {"traces": {"maxdepth": NARROW_RANKS}}}
    return Chart("Taxa", text, [trace], layout, 620)


def _key(above: tuple[int, ...], taxon: int) -> str:
    return ".".join(map(str, (*above, taxon)))


def _parent(segment: Segment) -> str:
    return _key(segment.above[:-1], segment.above[-1]) if segment.above else ROOT


def _taxon_table(tally: Tally, words: TaxonWords, more: str) -> Table:
    clades, own, reads = tally.of_clades(), tally.of_taxa(), max(tally.reads, 1)
    there = np.flatnonzero(clades)
    order = there[np.argsort(-clades[there], kind="stable")]
    rows = [
        (words.name(taxon), _rank(words, taxon), words.taxid(taxon), clade, 100 * clade / reads, direct)
        for taxon, clade, direct in zip(order.tolist(), clades[order].tolist(), own[order].tolist(), strict=True)
    ]
    columns = ["Taxon", "Rank", "Identifier", "Reads", "% of reads", "Called itself"]
    return Table(
        "Table of taxa", columns, rows, "Reads of a taxon and of all below it; those called the taxon itself.", more
    )


def _rank(words: TaxonWords, taxon: int) -> str:
    rank = words.rank(taxon)
    return "no rank" if rank == UNRANKED else rank


def _target_reads(tally: Tally) -> list[tuple[int, int]]:
    """Targets by their numbers, and their reads, the most first."""
    called = np.flatnonzero(tally.counts[:-1])
    order = called[np.argsort(-tally.counts[called], kind="stable")]
    return list(zip(order.tolist(), tally.counts[order].tolist(), strict=True))


def _targets(tally: Tally, words: TaxonWords) -> Chart:
    most = _target_reads(tally)[:BARS][::-1]
    trace = {
        "type": "bar", "orientation": "h", "x": [count for _, count in most], "y": list(range(len(most))),
        "customdata": [label(words.name(target)) for target, _ in most], "marker": {"color": BLUE},
        "hovertemplate": "%{customdata}: %{x:,} reads<extra></extra>",
    }  # fmt: skip
    names = [label(short_text(words.name(target), LONGEST_NAME // 2)) for target, _ in most]
    layout = {
        "yaxis": {"tickmode": "array", "tickvals": list(range(len(most))), "ticktext": names, "ticks": ""},
        "xaxis": {"title": {"text": "Reads"}, "showgrid": True}, "bargap": 0.25,
    }  # fmt: skip
    return Chart(
        "Targets",
        f"Reads that were called each target, of the {BARS} targets with most of them.",
        [trace],
        layout,
        120 + 22 * len(most),
    )


def _target_table(tally: Tally, words: TaxonWords, more: str) -> Table:
    rows = [(words.name(target), count, 100 * count / tally.reads) for target, count in _target_reads(tally)]
    return Table(
        "Table of targets", ["Target", "Reads", "% of reads"], rows, "Reads that were called each target.", more
    )
