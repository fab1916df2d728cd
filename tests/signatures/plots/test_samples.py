"""The figure: it can be written in every format, shows what was found, and says what it leaves out."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace

import numpy as np
import pytest
from helpers.signature_parts import Read, scan_parts
from hypothesis import given, strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection

from oclgenomics.app.figures import save_plot
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.plots.choice import MAX_DRAWN, ChosenSamples
from oclgenomics.signatures.plots.samples import _power_text, plot_samples
from oclgenomics.signatures.plots.scene import place
from oclgenomics.signatures.result import Matches, Samples, ScanPart, ScanResult

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
GENE = "GATTACAGATTACAGGCATCGA"
READS = [Read("one", "TTTT" + GENE + "CCCCCCCC", "I" * 34), Read("two", GENE[:11] + "C" * 20, "+" * 31)]
SIGNATURES = [("gene", GENE), ("half", GENE[:11]), ("any", "NNN")]


def many(samples: int, each: int, letters: int = 1_000_000, signatures: int = 200) -> tuple[Panel, ScanPart]:
    """Signatures of 3 to 10 kb that match at random places of large samples."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(3000, 10_000, signatures)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    panel = Panel(tuple(f"virus{i}" for i in range(signatures)), np.ones(int(offsets[-1]), np.uint8), offsets)
    count = samples * each
    sample = np.repeat(np.arange(samples), each)
    signature = np.concatenate([np.sort(rng.choice(signatures, each, each > signatures)) for _ in range(samples)])
    length, quality = lengths[signature], rng.integers(10, 40, count)
    start = (rng.random(count) * (letters - length)).astype(np.int64)
    errors = (length * 10.0 ** (-quality / 10) * 2**32).astype(np.uint64)
    matches = Matches(
        sample, signature.astype(np.int32), rng.integers(0, 2, count).astype(np.uint8), start, start + length,
        np.ones(count, np.int64), np.zeros(count, np.int32), np.ones(count, np.bool_),
        (quality * length).astype(np.uint64), length - length // 5, length // 9, length // 9, errors,
        *np.zeros((2, count), np.int64),
    )  # fmt: skip
    zeros = np.zeros(samples, np.int64)
    rows = Samples(
        np.arange(samples), np.array([f"sample{i}" for i in range(samples)], object),
        np.array(["x.fq"] * samples, object), zeros + letters, zeros, zeros, np.ones(samples, np.bool_),
        np.full(samples, 30 * letters, np.uint64), zeros + each, np.ones(samples, np.bool_), zeros.astype(np.uint8),
    )  # fmt: skip
    return panel, ScanPart(rows, matches)


def chosen_of(reads, signatures=SIGNATURES, options=None, size=2, count=30):
    panel, parts = scan_parts(reads, signatures, options, size)
    chosen = ChosenSamples(panel, count=count)
    for part in parts:
        chosen.add(part)
    return chosen


def texts(figure) -> list[str]:
    return [text.get_text() for text in [*figure.texts, *figure.axes[0].texts]]


def arrows(figure) -> list[PolyCollection]:
    return [one for one in figure.axes[0].collections if isinstance(one, PolyCollection)]


def saved(figure, format="png") -> bytes:
    stream = io.BytesIO()
    save_plot(figure, stream, format)
    return stream.getvalue()


@pytest.mark.parametrize("format", ["png", "svg", "pdf"])
def test_every_format_is_written_and_repeatable(format):
    first, second = (saved(plot_samples(chosen_of(READS), title="a.fq"), format) for _ in range(2))
    assert first.startswith(MAGIC[format])
    assert first == second


def test_what_it_says():
    figure = plot_samples(chosen_of(READS), title="a.fq")
    shown = texts(figure)
    assert "3 signatures found in 2 samples" in shown
    assert "a.fq: 2 samples, 3 signatures" in shown
    assert {
        "one",
        "two",
        "34 bp",
        "31 bp",
        "gene  Q 40.0",
        "half  Q 10.0",
        "any  Q 40.0",
        "hollow: may be chance",
    } <= set(shown)
    assert figure.axes[0].get_xlabel() == "Place in the sample (bp)"


def test_arrows_lie_where_matches_do():
    chosen = chosen_of(READS[:1], [("gene", GENE)])
    figure = plot_samples(chosen)
    (collection,) = arrows(figure)
    (path,) = collection.get_paths()
    inch = figure.axes[0].get_xlim()[1] / 34
    assert path.vertices[:, 0].min() == pytest.approx(4 * inch)
    assert path.vertices[:, 0].max() == pytest.approx(26 * inch)
    assert path.vertices[2, 0] == path.vertices[:, 0].max()


def test_arrows_point_along_the_strand():
    figure = plot_samples(chosen_of([Read("r", "CCCCTGTAATCCCC")], [("s", "GATTACA")], ScanOptions(strand="-")))
    (path,) = arrows(figure)[0].get_paths()
    assert path.vertices[2, 0] == path.vertices[:, 0].min()


def test_without_qualities_it_tells_the_informative_share():
    shown = texts(plot_samples(chosen_of([Read("r", "CCCC" + GENE)], [("gene", GENE[:-2] + "NN")])))
    assert "gene  91 %" in shown


def test_doubtful_matches_are_hollow():
    (collection,) = arrows(plot_samples(chosen_of(READS[:1], [("gene", GENE), ("any", "NNN")])))
    white = (collection.get_facecolors() == 1).all(axis=1)
    assert white.tolist() == [True, False]  # from left to right
    assert "hollow: may be chance" not in texts(plot_samples(chosen_of(READS[:1], [("gene", GENE)])))


def test_the_surer_the_darker():
    reads = [Read("x", GENE + "C" * 9 + GENE, "I" * 31 + "#" * 22)]
    (collection,) = arrows(plot_samples(chosen_of(reads, [("gene", GENE)], ScanOptions(report="all"))))
    sure, unsure = collection.get_facecolors()[:, :3].sum(axis=1)
    assert sure < unsure


@pytest.mark.parametrize(("samples", "each"), [(1, 1), (30, 3), (10, 128), (3, 700)])
def test_few_and_many(samples, each):
    panel, part = many(samples, each)
    chosen = ChosenSamples(panel)
    chosen.add(part)
    figure = plot_samples(chosen, title="x")
    assert sum(len(one.get_paths()) for one in arrows(figure)) == samples * min(each, MAX_DRAWN)
    named = [text for text in texts(figure) if text.startswith("virus")]
    assert len(named) == (samples * each if each <= 3 else 0)
    assert figure.get_size_inches()[1] < 18


def test_texts_stay_on_the_figure():
    long = Read("sample_" * 9, GENE * 3, "I" * 66)
    figure = plot_samples(chosen_of([long, READS[1]], [("signature_" * 9, GENE), *SIGNATURES]), title="title_" * 30)
    renderer = FigureCanvasAgg(figure).get_renderer()
    for text in [*figure.texts, *figure.axes[0].texts]:
        box = text.get_window_extent(renderer)
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1 + 1, text.get_text()


def test_samples_that_differ_in_length_have_scales_of_their_own():
    figure = plot_samples(chosen_of([Read("x", GENE), Read("y", GENE + "C" * 500)], [("gene", GENE)]))
    assert figure.axes[0].get_xlabel() == "Place in the sample, each lane on a scale of its own"
    ends = [one.get_paths()[0].vertices[:, 0].max() for one in arrows(figure)]
    assert ends[0] == pytest.approx(figure.axes[0].get_xlim()[1])


@pytest.mark.parametrize(
    ("reads", "message"), [([], "no sample"), ([Read("x", "ACGT")], "no signature matches in 1 sample")]
)
def test_nothing_to_draw_still_gives_a_figure(reads, message):
    figure = plot_samples(chosen_of(reads, [("gene", GENE)]))
    assert f"Nothing to draw: {message}" in texts(figure)
    assert saved(figure).startswith(MAGIC["png"])


@pytest.mark.parametrize(
    ("exponent", "text"), [(2.0, "100"), (-0.1249, "0.75"), (-2.4, "0.00398"), (-2.6, "10⁻³"), (-4810.2, "10⁻⁴⁸¹⁰")]
)
def test_powers(exponent, text):
    assert _power_text(exponent) == text


# Which samples


def test_the_surest_samples_are_chosen():
    reads = [Read(f"r{i}", "C" * 9 + GENE[: 11 + 11 * (i % 3 == 0)] + "C" * 9) for i in range(12)]
    chosen = chosen_of(reads, [("gene", GENE), ("half", GENE[:11])], count=4)
    assert [lane.name for lane in chosen.lanes] == ["r0", "r3", "r6", "r9"]
    assert "shown are the 4 samples with the surest matches" in "".join(texts(plot_samples(chosen)))
    assert chosen.totals.matching_samples == 12


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_parts_do_not_matter(size):
    rng = np.random.default_rng(3)
    reads = [Read(f"r{i}", "".join(np.array(list("ACGT"))[rng.integers(0, 4, 40)])) for i in range(50)]
    chosen = chosen_of(reads, [("a", "ACG"), ("b", "GNA"), ("c", "TT")], ScanOptions(report="all"), size, count=5)
    whole = chosen_of(reads, [("a", "ACG"), ("b", "GNA"), ("c", "TT")], ScanOptions(report="all"), 99, count=5)
    assert len(chosen.lanes) == 5
    for one, other in zip(chosen.lanes, whole.lanes, strict=True):
        assert (one.name, one.rows, one.signatures, one.letters) == (
            other.name,
            other.rows,
            other.signatures,
            other.letters,
        )
        assert one.matches.start.tolist() == other.matches.start.tolist()


def test_a_sample_that_goes_on_through_parts_is_one_lane():
    panel, (part,) = scan_parts(READS, [("a", "A")], ScanOptions(report="all"))
    whole = ChosenSamples.of(ScanResult(panel, part.samples, part.matches))
    of_two = part.matches.sample == 1
    last = np.flatnonzero(of_two)[2:]
    open_end = replace(part.samples, ends=np.array([True, False]), letters=np.array([34, 5]))
    parts = [
        ScanPart(open_end, part.matches.take(slice(0, last[0]))),
        ScanPart(part.samples.take(slice(1, 2)), part.matches.take(last)),
    ]
    chosen = ChosenSamples(panel, count=1)
    for one in parts:
        chosen.add(one)
        assert len(chosen.lanes) in (1, 2)
    (lane,) = chosen.lanes
    (same,) = [lane for lane in whole.lanes if lane.name == chosen.lanes[0].name]
    assert lane.rows == same.rows
    assert lane.matches.start.tolist() == same.matches.start.tolist()


# Where things go

SPANS = st.lists(
    st.tuples(st.floats(0, 9), st.floats(0.01, 5), st.one_of(st.just(0.0), st.floats(0.1, 3))), max_size=12
)


@given(SPANS, st.integers(1, 12))
def test_nothing_meets_unless_it_is_crowded(spans, most):
    start, length, width = (
        (np.array(column, np.float64) for column in zip(*spans, strict=True)) if spans else np.zeros((3, 0))
    )
    end = np.minimum(start + length, 10.0)
    placed = place(start, end, width, 10.0, most, 0.1)
    assert placed.rows <= most
    assert placed.crowded or not np.isnan(placed.label[width > 0]).any()
    boxes = []
    for i, (left, right) in enumerate(zip(start, end, strict=True)):
        label = placed.label[i]
        if not np.isnan(label):
            assert label >= 0
            assert label + width[i] <= 10 + 1e-9
            left, right = min(left, label), max(right, label + width[i])
        boxes.append((placed.row[i], left, right))
    if not placed.crowded:
        for row in range(most):
            mine = sorted(box[1:] for box in boxes if box[0] == row)
            assert all(one[1] <= other[0] + 1e-9 for one, other in itertools.pairwise(mine))


def test_a_crowd_lies_in_the_last_row():
    at = np.zeros(5)
    placed = place(at, at + 1, at + 0.5, 10.0, 3)
    assert placed.row.tolist() == [0, 1, 2, 2, 2]
    assert placed.crowded
    assert np.isnan(placed.label).tolist() == [False, False, False, True, True]


def test_chance_counts_edits_where_these_were_looked_for() -> None:
    panel, part = many(2, 5)
    part = replace(part, matches=replace(part.matches, mismatches=np.full(10, 2, np.int32)))
    with_edits = ChosenSamples.of(ScanResult(panel, part.samples, part.matches, ScanOptions(max_edits=2)))
    plain = ChosenSamples.of(ScanResult(panel, part.samples, part.matches, ScanOptions(max_mismatches=2)))
    for one, other in zip(with_edits.lanes, plain.lanes, strict=True):
        assert (one.chance > other.chance).all()
