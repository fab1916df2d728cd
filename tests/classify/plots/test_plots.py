"""Figures: they can be written in every format, show every read once, and name what is large."""

from __future__ import annotations

import functools
import io
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.classified import DATA, Layout, golden_lineages, golden_lines, parsed
from helpers.random_calls import random_lineages, random_reads
from hypothesis import given, strategies as st

from oclgenomics.app.figures import save_plot
from oclgenomics.classify.formats import Tally
from oclgenomics.classify.plots import plot_accuracy, plot_sample, plot_samples
from oclgenomics.classify.plots.colours import HUES, ink_on, tone
from oclgenomics.classify.plots.partition import MAX_NAMED, OTHERS, partition
from oclgenomics.classify.plots.samples import rank_shares
from oclgenomics.classify.taxonomy.evaluation import Estimate, Evaluation, RankMeasures
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.cli.main import main
from oclgenomics.errors import UsageError

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@functools.cache
def viral() -> Tally:
    lineages = golden_lineages("viral")
    tally = Tally(lineages)
    tally.add(parsed(golden_lines("viral/se150.default.txt.gz"), lineages, Layout()))
    return tally


def random_tally(seed: int, reads: int, taxa: int = 60) -> Tally:
    lineages = random_lineages(seed, taxa)
    tally = Tally(lineages)
    tally.add(random_reads(lineages, seed, reads))
    return tally


def texts(figure: Any) -> set[str]:
    return {artist.get_text() for artist in figure.findobj(lambda artist: hasattr(artist, "get_text"))}


@pytest.mark.parametrize("format", MAGIC)
def test_every_format(format: str) -> None:
    tally = viral()
    for figure in (plot_sample(tally, title="a $title$"), plot_samples([("one", tally), ("two", tally)])):
        stream = io.BytesIO()
        save_plot(figure, stream, format)
        assert stream.getvalue().startswith(MAGIC[format])


def test_equal_figures_give_equal_bytes() -> None:
    written = []
    for _ in range(2):
        stream = io.BytesIO()
        save_plot(plot_sample(viral()), stream, "svg")
        written.append(stream.getvalue())
    assert written[0] == written[1]


def test_what_a_sample_shows() -> None:
    shown = texts(plot_sample(viral(), title="se150"))
    assert {"unclassified", "Viruses", "Filoviridae", "dengue virus", "10.3 %", "(no phylum)"} <= shown
    assert {"domain", "phylum", "order", "family", "genus", "species"} <= shown
    assert not {"kingdom", "class"} & shown  # no read has one
    assert "73.2 % of 20,000 reads are classified" in shown


def test_what_samples_show() -> None:
    tally = viral()
    names, shares = rank_shares([tally, tally], "species")
    assert names[:2] == ["dengue virus", "Human alphaherpesvirus 3"]
    assert names[-3:] == ["other", "higher rank", "unclassified"]
    np.testing.assert_allclose(shares[0], 2060 / 20000)
    np.testing.assert_allclose(shares[-1], 5352 / 20000)
    assert {"dengue virus  10.3 %", "mean of the samples"} <= texts(
        plot_samples([("a", tally), ("b", tally)], "species")
    )


@given(st.integers(0, 1 << 32), st.integers(0, 300))
def test_stacks_hold_each_read_once(seed: int, reads: int) -> None:
    tally = random_tally(seed, reads)
    stacks = partition(tally)
    assert stacks.classified == pytest.approx(1 - tally.unclassified / reads if reads else 0)
    by_path = {(*one.above, one.taxon): one for one in stacks.segments if one.taxon != OTHERS}
    for column, rank in enumerate(stacks.ranks):
        ordered = sorted([one for one in stacks.segments if one.column == column], key=lambda one: one.begin)
        for one, following in pairwise(ordered):
            assert one.begin + one.share <= following.begin + 1e-9
        assert sum(one.share for one in ordered) <= stacks.classified + 1e-9
        taxa, counts = tally.at_rank(rank)
        named = {one.taxon: one.share for one in ordered if one.taxon >= 0}
        assert len(named) <= MAX_NAMED + len({one.above for one in ordered})  # one more of each taxon above
        for taxon, count in zip(taxa.tolist(), counts.tolist(), strict=True):
            assert taxon not in named or sum(one.share for one in ordered if one.taxon == taxon) == pytest.approx(
                count / reads
            )
    for one in stacks.segments:
        if one.above and OTHERS not in one.above:
            parent = by_path[one.above]
            assert parent.begin <= one.begin + 1e-9
            assert one.begin + one.share <= parent.begin + parent.share + 1e-9


def test_one_taxon_is_no_rest() -> None:
    """Of the last taxa of a taxon above, one alone has its own name."""
    stacks = partition(viral(), named=3, least=0.0)
    others = [one for one in stacks.segments if one.taxon == OTHERS and OTHERS not in one.above]
    assert others
    whole = partition(viral(), named=1000, least=0.0)
    for one in others:
        apart = [each for each in whole.segments if each.above == one.above and each.taxon >= 0]
        named = [each for each in stacks.segments if each.above == one.above and each.taxon >= 0]
        assert len(apart) - len(named) > 1


@given(st.integers(0, 1 << 32), st.integers(0, 100), st.sampled_from(["species", "genus", "domain", "sequence"]))
def test_shares_of_samples_sum_to_one(seed: int, reads: int, rank: str) -> None:
    tallies = [random_tally(seed, reads), random_tally(seed + 1, 7)]
    names, shares = rank_shares(tallies, rank)
    assert shares.shape == (len(names), 2)
    np.testing.assert_allclose(shares.sum(axis=0), [reads > 0, 1])


def test_odd_samples() -> None:
    for figure in (plot_sample(random_tally(1, 0)), plot_samples([("none", random_tally(1, 0))])):
        save_plot(figure, io.BytesIO(), "png")
    many = [(f"a rather long name {number}", random_tally(2, 50, 200)) for number in range(30)]
    save_plot(plot_samples(many, "species", title="x" * 200), io.BytesIO(), "svg")


def test_names_that_no_figure_can_hold() -> None:
    tally = viral()
    taxonomy = tally.lineages.taxonomy
    odd = replace(taxonomy, names=tuple(f"$\x00{name}\udc80\n" for name in taxonomy.names))
    renamed = Tally(Lineages.of(odd, tally.lineages.targets))
    renamed.counts, renamed.sequences = tally.counts, tally.sequences
    for figure in (plot_sample(renamed), plot_samples([("\x00", renamed)])):
        save_plot(figure, io.BytesIO(), "png")


def test_a_rank_that_is_none() -> None:
    with pytest.raises(UsageError, match="choose one of"):
        plot_samples([("one", viral())], "tribes")


def measured(precision: float, sensitivity: float, *, interval: float | None = 0.01) -> Evaluation:
    def estimate(value: float) -> Estimate:
        return Estimate(value) if interval is None else Estimate(value, value - interval, min(value + interval, 1))

    f1 = 2 * precision * sensitivity / max(precision + sensitivity, 1e-9)
    shares = (estimate(precision), estimate(sensitivity), estimate(f1))
    return Evaluation(2000, 1900, 0, 10, 0, tuple(RankMeasures(rank, {}, *shares) for rank in ("species", "genus")))


@pytest.mark.parametrize("interval", [None, 0.01])
def test_evaluations(interval: float | None) -> None:
    results = [(f"tool {number}", measured(1 - number / 12, 0.9, interval=interval)) for number in range(12)]
    figure = plot_accuracy(results, title="$reads")
    save_plot(figure, io.BytesIO(), "png")
    assert {"tool 0: F1 0.947 at the rank of species, the best of 12", "tool 11", "species", "genus"} <= texts(figure)
    assert any("bootstrap" in text for text in texts(figure)) == (interval is not None)


def test_the_figure_of_the_command(tmp_path: Path) -> None:
    viral = DATA / "viral"
    result, truth = f"{viral}/se150.species.tophits.txt.gz", f"{viral}/reads/se150.truth.tsv"
    words = ["classify", "evaluate", result, "--truth", truth, "--taxonomy", f"{viral}/tax", "-o", f"{tmp_path}/table"]
    assert main([*words, "--plot", f"{tmp_path}/figure.svg"]) == 0
    assert "se150.truth.tsv: 20,000 reads" in (tmp_path / "figure.svg").read_text()
    (tmp_path / "table").unlink()
    assert main([*words, "--plot", f"{tmp_path}/figure.gif"]) == 2
    assert not (tmp_path / "table").exists()


def test_evaluations_at_the_ends() -> None:
    for several in ([(0, 0)], [(1, 1)], [(1, 0), (0, 1)]):
        save_plot(plot_accuracy([(f"{shares}", measured(*shares)) for shares in several]), io.BytesIO(), "svg")


def test_colours() -> None:
    assert tone(HUES[0], 0) == HUES[0]
    assert len({tone(HUES[0], number) for number in range(7)}) == 7
    assert (ink_on("#000000"), ink_on("#FFFFFF")) == ("white", "#1A1A1A")
