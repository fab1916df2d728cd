"""The page of a scan: matches are drawn where they are and do not overlap, and the tables hold them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from helpers.signature_parts import Read, scan_parts
from hypothesis import given, settings, strategies as st

from oclgenomics.app.pages import Page
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.plots import pages
from oclgenomics.signatures.plots.choice import ChosenSamples
from oclgenomics.signatures.plots.pages import UNLIKE, scan_page

GENE = "GATTACAGATTACAGGCATCGA"
READS = [Read("one", "TTTT" + GENE + "CCCCCCCC", "I" * 34), Read("two", GENE[:11] + "C" * 20, "+" * 31)]
SIGNATURES = [("gene", GENE), ("half", GENE[:11]), ("any", "NNN")]


def page_of(reads: list[Read], report: str = "all", count: int = 30) -> tuple[Page, ChosenSamples]:
    panel, parts = scan_parts(reads, SIGNATURES, ScanOptions(report=report))  # type: ignore[arg-type]
    chosen = ChosenSamples(panel, count=count)
    for part in parts:
        chosen.add(part)
    return scan_page(chosen, title="x.fq", more="in x.tsv"), chosen


def bars_of(page: Page) -> list[tuple[float, float, float, list[object]]]:
    """Start, end and height of each match that is drawn, and what is said of it."""
    return [
        bar for trace in page.parts[0].traces if trace["type"] == "bar"
        for bar in zip(trace["base"], trace["base"] + trace["x"], trace["y"], trace["customdata"], strict=True)
    ]  # fmt: skip


@settings(max_examples=25)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=6))
def test_matches_are_where_they_are(paddings: list[int]) -> None:
    reads = [Read(f"r{n}", "C" * padding + GENE + "C" * padding) for n, padding in enumerate(paddings)]
    page, chosen = page_of(reads)
    own = max(len(read.letters) for read in reads) > UNLIKE * min(len(read.letters) for read in reads)
    drawn = bars_of(page)
    expected = []
    for lane in chosen.lanes:
        factor = 100 / lane.letters if own else 1.0
        for signature, start, end in zip(lane.matches.signature, lane.matches.start, lane.matches.end, strict=True):
            expected.append((start * factor, end * factor, chosen.panel.names[signature], lane.name))
    shown = [(start, end, about[0], str(about[8]).split(",")[0]) for start, end, _, about in drawn]
    assert sorted(shown) == sorted(expected)
    for (start, end, height, _), (other, before, row, _) in itertools.combinations(drawn, 2):
        assert height != row or end <= other or before <= start


def test_tables_hold_all_matches() -> None:
    page, chosen = page_of(READS)
    _, matches, signatures = page.parts
    assert len(matches.rows) == chosen.totals.rows == matches.total
    gene = next(row for row in matches.rows if row[1] == "gene")
    assert gene[:7] == ("one", "gene", "+", 4, 26, 0, 40.0)
    assert [row[7] for row in matches.rows] == sorted((row[7] for row in matches.rows), reverse=True)
    assert matches.more == "in x.tsv"
    assert dict(signatures.rows)["gene"] == 1
    assert sum(hits for _, hits in signatures.rows) == chosen.totals.hits
    assert page.title == "3 signatures found in 2 samples"


def test_samples_that_are_left_out_are_counted() -> None:
    page, _ = page_of(READS, count=1)
    assert "Shown are the 1 samples with the surest matches of 2." in page.parts[0].description
    assert "Shown are" not in page_of(READS)[0].parts[0].description


def test_of_many_matches_the_surest_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    everything, chosen = page_of(READS)
    monkeypatch.setattr(pages, "DRAWN", 6)
    some = bars_of(page_of(READS)[0])
    assert len(some) == 6 < len(bars_of(everything)) == chosen.totals.rows
    assert {"gene", "half"} <= {str(about[0]) for *_, about in some}


def test_nothing_found() -> None:
    page, _ = page_of([Read("none", "CC")])
    assert page.title == "0 signatures found in 0 samples"
    assert not page.parts
    assert page.notes
    assert np.array_equal(page.facts["Matches"], "0")
