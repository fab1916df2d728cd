"""The quality of assemblies against the oracle and Merqury's formulas, however sequences come in parts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import inf, log10

import numpy as np
import pytest
from helpers.kmer_sets import set_of
from hypothesis import given, strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text

from oclgenomics.kmers import reference
from oclgenomics.kmers.analysis.found import RecordCounts
from oclgenomics.kmers.analysis.quality import Depths, SequenceTally, marked_parts, tally_copies
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.formats.quality import DepthLines, TrackLines
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plots.copies import plot_copies
from oclgenomics.kmers.result import MOST_COPIES, AssemblyQuality, CopySpectrum, error_rate, quality_value
from oclgenomics.kmers.sets import algebra

LETTERS = st.text("ACN", max_size=30)
TEXTS = st.lists(LETTERS, max_size=4)


def fasta(letters: list[str], name: str = "s") -> bytes:
    return "".join(f">{name}{number} x\n{each}\n" for number, each in enumerate(letters)).encode()


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=2), st.integers(1, 5), st.integers(1, 6))
def test_copies_against_the_oracle(reads: list[str], assemblies: list[list[str]], k: int, most: int) -> None:
    counts = reference.count([fasta(reads)], CountOptions(k))
    texts = [fasta(each, f"a{number}_") for number, each in enumerate(assemblies)]
    sets = [set_of(reference.count([text], CountOptions(k)), k) for text in texts]
    only: list[list[KmerBlock]] = [[] for _ in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algebra, "MAX_KMERS", most)
        found = tally_copies(set_of(counts, k), sets, [blocks.append for blocks in only])
    views = [*texts, *([b"".join(texts)] if len(texts) > 1 else [])]
    assert len(found) == len(views)
    for tally, text in zip(found, views, strict=True):
        expected = reference.assess(text, counts, k)
        assert tally.kmers == sum(kmers for _, _, kmers in expected.sequences)
        assert tally.only == len(expected.places)
        assert tally.only_distinct == expected.distinct_only
        spectrum = tally.spectrum()
        assert Counter({(copies, count): n for copies, count, n in spectrum.rows()}) == expected.copies
        for least in (1, 2, 5):
            solid = {copies: n for copies, n in expected.copies.items() if copies[1] >= least}
            assert spectrum.solid(least) == (
                sum(solid.values()),
                sum(n for (copies, _), n in solid.items() if copies),
            )
    for blocks, kmers in zip(only, sets, strict=True):
        texts_only = {record["kmer"]: record["count"] for record in kmers.records() if record["kmer"] not in counts}
        assert sum(map(len, blocks)) == len(texts_only)
        assert sum(int(block.counts.sum()) for block in blocks) == sum(texts_only.values())


def test_many_copies_count_as_more_than_four() -> None:
    reads, assembly = set_of({"AAAAC": 7, "ACGTA": 7}, 5), set_of({"AAAAC": 4, "ACGTA": 900}, 5)
    (tally,) = tally_copies(reads, [assembly], [print])
    assert list(tally.spectrum().rows()) == [(4, 7, 1), (MOST_COPIES, 7, 1)]


def test_formulas() -> None:
    assert error_rate(0, 0, 21) is None
    assert quality_value(None) is None
    assert (str(error_rate(0, 10, 21)), quality_value(0.0)) == ("0.0", inf)
    assert (error_rate(10, 10, 21), quality_value(1.0)) == (1, 0)
    error = error_rate(367, 184_920, 21)
    assert error == pytest.approx(1 - (1 - 367 / 184_920) ** (1 / 21), rel=1e-10)
    assert quality_value(error) == pytest.approx(-10 * log10(error), rel=1e-12)
    tiny = error_rate(1, 10**15, 21)  # 1 - (1 - x) would have one digit left
    assert tiny == pytest.approx(1e-15 / 21, rel=1e-9)


def test_completeness_of_no_solid_kmers() -> None:
    none = CopySpectrum(np.array([1, 2]), np.array([[3, 4], [5, 6], *[[0, 0]] * 4]))
    assert none.solid(3) == (0, 0)
    assert none.solid(2) == (10, 6)


def quality_of(spectrum: CopySpectrum, only: int) -> AssemblyQuality:
    return AssemblyQuality("asm", 21, 1000, only, only, 2, spectrum)


def texts_of_figure(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(Text))


def test_what_a_figure_says() -> None:
    """Layers that are empty have no label, and bars that are cut say how high they are."""
    counts = np.arange(1, 80)
    kmers = np.zeros((6, len(counts)), np.int64)
    kmers[0] = 1_000_000 // 8 ** counts.clip(max=6)
    kmers[1] = (5000 * np.exp(-((counts - 30) ** 2) / 70)).astype(np.int64)
    figure = plot_copies(quality_of(CopySpectrum(counts, kmers), 40))
    shown = texts_of_figure(figure)
    assert "completeness" in shown
    assert "asm, 40 of 1,000 21-mers in no read" in shown
    assert "not at all" in shown
    assert "once" in shown
    assert "twice" not in shown
    assert "errors of reads\nup to 125,000 here" in shown
    (axes,) = figure.axes
    assert axes.get_ylim()[1] == pytest.approx(1.15 * 5000, rel=0.01)


def test_figures_of_little() -> None:
    nothing = CopySpectrum(np.empty(0, np.int64), np.empty((6, 0), np.int64))
    assert "the reads have no k-mer" in texts_of_figure(plot_copies(quality_of(nothing, 0)))
    few = CopySpectrum(np.array([1, 500]), np.array([[3, 0], [0, 2], *[[0, 0]] * 4]))
    shown = texts_of_figure(plot_copies(quality_of(few, 1000), title="x.fa"))
    assert "QV 0.0" in shown
    assert "x.fa, 1,000 of 1,000" in shown
    assert "up to 1,000" in shown


def parts_of(marks: list[list[int]], cuts: list[int]) -> list[RecordCounts]:
    """Sequences of windows, with 2 for marked k-mers and -1 for none, cut at some windows of all."""
    names = [f"s{number}" for number in range(len(marks))]
    pieces = []  # (name, windows, begins, ends)
    at = 0
    for name, windows in zip(names, marks, strict=True):
        inner = sorted({cut - at for cut in cuts if 0 < cut - at < len(windows)})
        bounds = [0, *inner, len(windows)]
        for begin, end in pairwise(bounds):
            pieces.append((name, windows[begin:end], begin == 0, end == len(windows)))
        at += len(windows)
    parts: list[RecordCounts] = []
    group: list[tuple[str, list[int], bool, bool]] = []
    for piece in pieces:
        group.append(piece)
        if not piece[3] or len(group) == 2:
            parts.append(joined(group))
            group = []
    return [*parts, *([joined(group)] if group else [])]


def joined(group: list[tuple[str, list[int], bool, bool]]) -> RecordCounts:
    values = np.array([value for _, windows, _, _ in group for value in windows], np.int64)
    starts = np.cumsum([0, *(len(windows) for _, windows, _, _ in group)])
    counts = np.maximum(values, 0).astype(np.uint32)
    return RecordCounts([name for name, *_ in group], starts, counts, values >= 0, group[0][2], group[-1][3])


MARKS = st.lists(st.lists(st.sampled_from([0, 2, -1]), max_size=12), max_size=5)


@given(MARKS, st.lists(st.integers(0, 40), max_size=6), st.integers(1, 5), st.integers(1, 4))
def test_tracks_and_sequences_however_they_are_cut(
    marks: list[list[int]], cuts: list[int], k: int, stretch: int
) -> None:
    parts = list(marked_parts(k, parts_of(marks, cuts)))
    tally, depths, bed = SequenceTally(), Depths(k, stretch), TrackLines()
    found: list[tuple[str, int, int]] = []
    heads, lines = [], b""
    for part in parts:
        tally.add(part)
        lines += bed.body(part)
        for some in depths.of(part):
            heads += [some.name] if some.begins else []
            found += [(some.name, int(p), int(d)) for p, d in zip(some.position, some.depth, strict=True)]
    expected = [
        (f"s{number}", base, sum(windows[p] > 0 for p in range(max(0, base - k + 1), min(base + 1, len(windows)))))
        for number, windows in enumerate(marks)
        for base in range(len(windows) + k - 1)
    ]
    assert found == [each for each in expected if each[2]]
    assert heads == [f"s{number}" for number in range(len(marks))]
    places = [(number, p) for number, windows in enumerate(marks) for p in range(len(windows)) if windows[p] > 0]
    assert lines.decode() == "".join(f"s{number}\t{p}\t{p + k}\n" for number, p in places)
    qualities = tally.qualities(k)
    assert list(qualities.names) == heads
    assert qualities.kmers.tolist() == [sum(value >= 0 for value in windows) for windows in marks]
    assert qualities.assembly_only.tolist() == [sum(value > 0 for value in windows) for windows in marks]


def test_wiggle_of_a_few_sequences() -> None:
    lines = DepthLines(3)
    (part,) = marked_parts(3, parts_of([[2, 2, 0, 0, 2], [0], []], [])[:1])
    assert lines.body(part).decode() == (
        "variableStep chrom=s0\n1\t1\n2\t2\n3\t2\n4\t1\n5\t1\n6\t1\n7\t1\nvariableStep chrom=s1\n"
    )
