"""The page of a matrix for browsers: how many k-mers samples have and share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oclgenomics.app.figures import BLUE, short_text
from oclgenomics.app.pages import Chart, Page, Table, colour_bar, label, shading
from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.sets.rows import RowBlock

COMPARED = 200  # samples that are compared with each other
LISTED, LISTED_SAMPLES = 500, 12  # k-mers of the table, and samples that have columns in it
NAMED = 5  # samples, below the headline
LABELLED = 40  # samples, along an axis
BATCH = 1 << 16  # rows that are compared at a time
LONGEST_NAME = 24


class MatrixTotals:
    """What the rows of a matrix come to, block by block.

    Parameters
    ----------
    samples : int

    Attributes
    ----------
    kmers : int
        Rows.
    distinct, total : ndarray, int64 (samples,)
        K-mers of each sample, and the sum of its counts.
    shared : ndarray, int64 (compared, compared)
        K-mers that two samples have, of the first `COMPARED` ones.
    spread : ndarray, int64 (samples + 1,)
        K-mers that so many samples have.
    """

    def __init__(self, samples: int) -> None:
        self.kmers = 0
        self.distinct, self.total = np.zeros(samples, np.int64), np.zeros(samples, np.int64)
        self._compared = min(samples, COMPARED)
        self.shared = np.zeros((self._compared, self._compared), np.int64)
        self.spread = np.zeros(samples + 1, np.int64)
        self._keys, self._counts = np.empty((0, 0), np.uint64), np.empty((0, samples), np.uint32)

    def add(self, block: RowBlock) -> None:
        """Count the rows of a block."""
        there = block.counts > 0
        self.kmers += len(block)
        self.distinct += there.sum(axis=0)
        self.total += block.counts.sum(axis=0, dtype=np.int64)
        self.spread += np.bincount(there.sum(axis=1), minlength=len(self.spread))
        for begin in range(0, len(block), BATCH):  # so few that float32 counts them exactly
            some = there[begin : begin + BATCH, : self._compared].astype(np.float32)
            self.shared += (some.T @ some).astype(np.int64)
        self._keep_most(block)

    def _keep_most(self, block: RowBlock) -> None:
        """Keep the k-mers with the highest counts, ties in their order."""
        known = self._counts if len(self._counts) else block.counts[:0]
        counts = np.concatenate([known, block.counts])
        keys = np.concatenate([self._keys, block.keys], axis=1) if len(self._counts) else block.keys
        most = np.sort(np.argsort(-counts.sum(axis=1, dtype=np.int64), kind="stable")[:LISTED])
        self._keys, self._counts = keys[:, most], counts[most]

    def most(self, k: int) -> list[tuple[str, list[int]]]:
        """Return the k-mers with the highest counts of all samples together, and their counts, the highest first."""
        order = np.argsort(-self._counts.sum(axis=1, dtype=np.int64), kind="stable")
        texts = texts_of(self._keys[:, order], k) if len(order) else []
        return list(zip(texts, self._counts[order].tolist(), strict=True))


def matrix_page(totals: MatrixTotals, names: Sequence[str], *, k: int, more: str = "") -> Page:
    """Return the page of a matrix.

    Parameters
    ----------
    totals : MatrixTotals
    names : sequence of str
        Of the samples.
    k : int
    more : str
        Where the matrix is.
    """
    facts = {"Samples": f"{len(names):,}", "K-mers": f"{totals.kmers:,}", "k": f"{k}"}
    everywhere, once = int(totals.spread[-1]), int(totals.spread[1])
    facts["In all samples"] = f"{everywhere:,}\n{100 * everywhere / max(totals.kmers, 1):.1f} % of the k-mers"
    facts["In one sample"] = f"{once:,}\n{100 * once / max(totals.kmers, 1):.1f} % of the k-mers"
    parts: list[Chart | Table] = [_samples(totals, names)]
    if totals.kmers:
        parts = [_similarity(totals, names), _spread(totals), *parts, _kmers(totals, names, k, more)]
    title = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
    return Page(f"{totals.kmers:,} {k}-mers in {len(names):,} samples", title, parts, facts)


def _similarity(totals: MatrixTotals, names: Sequence[str]) -> Chart:
    """Shares of the k-mers of two samples that both have (Jaccard's index)."""
    some = len(totals.shared)
    distinct = totals.distinct[:some]
    either = distinct[:, None] + distinct[None] - totals.shared
    index = np.divide(totals.shared, either, out=np.full(either.shape, np.nan), where=either > 0)
    shown = [label(short_text(name, LONGEST_NAME)) for name in names[:some]]
    places = list(range(some))
    step, height = -(-some // LABELLED), min(720, 300 + 44 * some)
    axis = {
        "tickmode": "array", "tickvals": places[::step], "ticktext": shown[::step], "showgrid": False, "ticks": "",
        "constrain": "domain",
    }  # fmt: skip
    about = [[[first, second, both] for second, both in zip(shown, row, strict=True)]
             for first, row in zip(shown, totals.shared.tolist(), strict=True)]  # fmt: skip
    trace: dict[str, Any] = {
        "type": "heatmap", "x": places, "y": places, "z": index.astype(np.float32), "zmin": 0, "zmax": 1,
        "colorscale": shading(), "customdata": about, "xgap": 1 if some <= 60 else 0, "ygap": 1 if some <= 60 else 0,
        "hovertemplate": "%{customdata[0]} and %{customdata[1]}<br>share %{customdata[2]:,} k-mers, index %{z:.4f}"
        "<extra></extra>", "colorbar": colour_bar("Jaccard"),
    }  # fmt: skip
    layout = {
        "xaxis": axis, "yaxis": {**axis, "autorange": "reversed", "scaleanchor": "x"},
        "widest": height + 60, "narrow": {"height": min(height, 420)},
    }  # fmt: skip
    text = "Of the k-mers that either of two samples has, the share that both have (Jaccard's index)."
    if some < len(names):
        text += f" The first {some:,} of {len(names):,} samples are shown."
    return Chart("Similarity of samples", text, [trace], layout, height)


def _spread(totals: MatrixTotals) -> Chart:
    few = len(totals.spread) <= LABELLED
    there = np.arange(1, len(totals.spread)) if few else np.flatnonzero(totals.spread)
    trace = {
        "type": "bar", "x": there, "y": totals.spread[there], "marker": {"color": BLUE, "line": {"width": 0}},
        "hovertemplate": "%{y:,} k-mers in %{x:,} samples<extra></extra>",
    }  # fmt: skip
    axis: dict[str, Any] = {"title": {"text": "Samples that have a k-mer"}, "dtick": 1 if few else None}
    layout = {"xaxis": axis, "yaxis": {"title": {"text": "K-mers"}}, "bargap": 0.2}
    return Chart("Spread of k-mers", "How many k-mers are in how many samples.", [trace], layout, 340)


def _samples(totals: MatrixTotals, names: Sequence[str]) -> Table:
    rows = [
        (name, distinct, total, total / distinct if distinct else None)
        for name, distinct, total in zip(names, totals.distinct.tolist(), totals.total.tolist(), strict=True)
    ]
    columns = ["Sample", "K-mers", "Sum of counts", "Mean count"]
    return Table("Samples", columns, rows, "K-mers of the matrix that each sample has, and their counts.")


def _kmers(totals: MatrixTotals, names: Sequence[str], k: int, more: str) -> Table:
    rows = [(kmer, sum(counts), *counts[:LISTED_SAMPLES]) for kmer, counts in totals.most(k)]
    columns = ["K-mer", "All samples", *names[:LISTED_SAMPLES]]
    note = "The k-mers with the highest counts."
    if len(names) > LISTED_SAMPLES:
        note += f" Counts are of all samples together, and of the first {LISTED_SAMPLES}."
    return Table("K-mers", columns, rows, note, more, totals.kmers)
