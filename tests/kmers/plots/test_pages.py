"""Pages of spectra and of matrices: what they draw, and what they leave out."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.spectra import simulated_histogram
from hypothesis import given, strategies as st

from oclgenomics.kmers.analysis.spectrum import read_spectrum
from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.plots import samples as samples_module
from oclgenomics.kmers.plots.pages import DRAWN, EACH, spectrum_page
from oclgenomics.kmers.plots.samples import LISTED, MatrixTotals, matrix_page
from oclgenomics.kmers.result import Histogram
from oclgenomics.kmers.sets.rows import RowBlock


def test_a_spectrum_is_drawn_whole() -> None:
    found = simulated_histogram(20_000, 0.01, 40, 0.005)
    spectrum = read_spectrum(found, 21)
    page = spectrum_page(found, spectrum, k=21, title="x", more="in x.tsv")
    chart, table = page.parts
    bars = [trace for trace in chart.traces if trace["type"] == "bar"]
    assert [trace["marker"]["color"] for trace in bars] == ["#6B6B6B", "#0072B2"]
    drawn = np.concatenate([np.stack([trace["x"], trace["y"]], axis=1) for trace in bars])
    assert drawn.tolist() == [list(row) for row in found.rows()]
    assert bars[0]["x"].max() == spectrum.valley
    lines = {trace["name"].rsplit(" ", 1)[0]: trace for trace in chart.traces if trace["type"] == "scatter"}
    assert lines["coverage"]["x"] == [spectrum.coverage] * 2
    assert lines["heterozygous"]["x"] == [spectrum.half_peak] * 2
    assert [row[:2] for row in table.rows] == found.rows()
    for place in (2, 3):
        assert sum(row[place] for row in table.rows) == pytest.approx(100)
    assert page.facts["Distinct k-mers"] == f"{found.distinct:,}"
    assert page.facts["Coverage"].startswith(f"{spectrum.coverage:.3g}")


@given(st.integers(DRAWN - 2, DRAWN + 2000), st.integers(1, 5))
def test_of_many_counts_some_are_drawn(size: int, step: int) -> None:
    found = Histogram(step * np.arange(1, size + 1), np.ones(size, np.int64))
    chart = spectrum_page(found, read_spectrum(found, 21), k=21, title="x").parts[0]
    (bars,) = chart.traces
    assert len(bars["x"]) <= DRAWN
    assert np.all(np.diff(bars["x"]) > 0)
    assert bars["x"][:EACH].tolist() == found.counts[:EACH].tolist()
    assert bars["x"][-1] == found.largest
    assert (f"Drawn are {len(bars['x']):,} of {size:,} counts" in chart.description) == (size > DRAWN)


def test_nothing_to_draw() -> None:
    nothing = Histogram(np.zeros(0, np.int64), np.zeros(0, np.int64))
    page = spectrum_page(nothing, read_spectrum(nothing, 21), k=21, title="x")
    assert page.title == "No coverage peak"
    assert [list(part.rows) for part in page.parts] == [[]]


@given(st.integers(1, 5), st.lists(st.integers(0, 400), max_size=4), st.integers(0, 1 << 32))
def test_what_a_matrix_comes_to(samples: int, sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    totals = MatrixTotals(samples)
    keys = np.arange(sum(sizes), dtype=np.uint64)[None]
    shape = (sum(sizes), samples)
    counts = (rng.integers(0, 5, shape) * rng.integers(0, 2, shape)).astype(np.uint32)
    begin = 0
    for size in sizes:
        totals.add(RowBlock(keys[:, begin : begin + size], counts[begin : begin + size]))
        begin += size
    there = counts > 0
    assert totals.kmers == len(counts)
    assert totals.distinct.tolist() == [int(np.count_nonzero(column)) for column in counts.T]
    assert totals.total.tolist() == counts.sum(axis=0).tolist()
    for first in range(samples):
        for second in range(samples):
            assert totals.shared[first, second] == np.count_nonzero(there[:, first] & there[:, second])
    for number in range(samples + 1):
        assert totals.spread[number] == np.count_nonzero(there.sum(axis=1) == number)
    order = sorted(range(len(counts)), key=lambda row: (-int(counts[row].sum()), row))[:LISTED]
    assert totals.most(12) == [(texts_of(keys[:, [row]], 12)[0], counts[row].tolist()) for row in order]
    page = matrix_page(totals, [f"s{number}" for number in range(samples)], k=12, more="in m.tsv")
    assert len(page.parts) == (4 if len(counts) else 1)


def test_similarity_is_jaccards(monkeypatch: pytest.MonkeyPatch) -> None:
    block = RowBlock(np.arange(4, dtype=np.uint64)[None], np.array([[1, 2], [3, 0], [1, 0], [0, 9]], np.uint32))
    totals = MatrixTotals(2)
    totals.add(block)
    (trace,) = matrix_page(totals, ["a", "b"], k=5).parts[0].traces
    np.testing.assert_allclose(trace["z"], [[1, 0.25], [0.25, 1]])
    assert trace["customdata"][0][1] == ["a", "b", 1]
    monkeypatch.setattr(samples_module, "COMPARED", 1)
    few = MatrixTotals(2)
    few.add(block)
    chart = matrix_page(few, ["a", "b"], k=5).parts[0]
    assert chart.traces[0]["z"].shape == (1, 1)
    assert "The first 1 of 2 samples are shown." in chart.description
