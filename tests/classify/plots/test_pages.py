"""The page of a sample: every read is in the figure and in the table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from helpers.random_calls import random_lineages, random_reads
from hypothesis import given, strategies as st

from oclgenomics.app.pages import Table
from oclgenomics.classify.formats import Tally
from oclgenomics.classify.formats.words import TaxonWords
from oclgenomics.classify.plots.pages import sample_page


def tally_of(seed: int, reads: int, taxa: int) -> Tally:
    lineages = random_lineages(seed, taxa)
    tally = Tally(lineages)
    tally.add(random_reads(lineages, seed, reads))
    return tally


@given(st.integers(0, 1 << 32), st.integers(0, 300), st.integers(1, 80))
def test_parts_of_taxa_are_no_more_than_the_whole(seed: int, reads: int, taxa: int) -> None:
    """Or Plotly draws nothing."""
    tally = tally_of(seed, reads, taxa)
    page = sample_page(tally, title="x")
    if not tally.reads:
        assert all(isinstance(part, Table) for part in page.parts)
        return
    (trace,) = page.parts[0].traces
    sizes, parents = dict(zip(trace["ids"], trace["values"], strict=True)), trace["parents"]
    assert len(sizes) == len(trace["ids"])
    assert sizes["reads"] == tally.reads
    assert sizes.get("unclassified", 0) == tally.unclassified
    below = Counter[str]()
    for name, parent in zip(trace["ids"], parents, strict=True):
        below[parent] += sizes[name]
    assert all(below[name] <= size for name, size in sizes.items())
    assert below[""] == tally.reads


@given(st.integers(0, 1 << 32), st.integers(1, 300), st.integers(1, 80))
def test_the_table_has_all_clades(seed: int, reads: int, taxa: int) -> None:
    tally = tally_of(seed, reads, taxa)
    words, table = TaxonWords(tally.lineages), sample_page(tally, title="x", more="in x.kreport").parts[-1]
    clades, own = tally.of_clades(), tally.of_taxa()
    expected = [
        (words.name(taxon), words.taxid(taxon), int(clades[taxon]), int(own[taxon]))
        for taxon in range(len(clades)) if clades[taxon]
    ]  # fmt: skip
    assert sorted((row[0], row[2], row[3], row[5]) for row in table.rows) == sorted(expected)
    assert [row[3] for row in table.rows] == sorted((row[3] for row in table.rows), reverse=True)
    for row in table.rows:
        assert row[4] == 100 * row[3] / tally.reads
    assert table.more == "in x.kreport"


def test_a_page_is_the_same_each_time(tmp_path: Path) -> None:
    first, second = (sample_page(tally_of(1, 100, 40), title="x").text({}) for _ in range(2))
    assert first == second
