"""The map of linkage disequilibrium: every format and size, whole diamonds, and what the figure says."""

from __future__ import annotations

import functools
import io

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.products import only_whole

from oclgenomics.app import figures
from oclgenomics.app.figures import save_plot
from oclgenomics.omega.device.ld import LdBlock
from oclgenomics.omega.ld.map import BinnedLd
from oclgenomics.omega.ld.region import GridPoint, LdPart, LdRegion, window_region
from oclgenomics.omega.plots.ld import _corners, _raster, plot_ld
from oclgenomics.omega.result import Track

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def make_region(sites=12, window=True) -> LdRegion:
    at = 1_000_000 + 1_000 * np.arange(sites)
    alignment = make_alignment(np.eye(sites, 8, dtype=np.uint8), at)
    if not window:
        return LdRegion(alignment, int(at[0]), int(at[-1]))
    grid = np.linspace(at[0], at[-1], 9)
    omega, left, right = np.full(9, 2.0), np.full(9, at[1]), np.full(9, at[-2])
    omega[4] = 30.0
    return window_region(alignment, GridPoint("r.tsv", Track("20", 1, grid, omega, left, right), 4))


def draw(region: LdRegion, value: float = 0.5, most: int = 100):
    sites = region.alignment.sites
    parts = list(region.parts) or [LdPart("region", (0, sites - 1), (0, sites - 1))]
    picture = BinnedLd(sites, most)
    block = LdBlock(0, np.triu(np.full((sites, sites), value, np.float32), 1))
    parts = [part.plus(block) for part in parts]
    picture.add(block)
    return plot_ld(region, picture, parts, title="a.vcf", label="chromosome 20")


def texts(figure) -> str:
    from matplotlib.text import Text

    return "\n".join(text.get_text() for text in figure.findobj(Text))


@pytest.fixture(autouse=True)
def coarse(monkeypatch) -> None:
    """Pictures have fewer pixels, as these take most of the time."""
    monkeypatch.setattr(figures, "DPI", 50)


def save(figure, format="png") -> bytes:
    stream = io.BytesIO()
    save_plot(figure, stream, format)
    return stream.getvalue()


@functools.cache
def drawn_twice(window: bool):
    return [draw(make_region(window=window)) for _ in range(2)]


@pytest.mark.each_value
@pytest.mark.parametrize("format", ["png", "svg", "pdf"])
@pytest.mark.parametrize("window", [False, True])
def test_every_format_is_written_and_repeatable(format, window):
    first, second = (save(figure, format) for figure in drawn_twice(window))
    assert first.startswith(MAGIC[format])
    assert first == second


@pytest.mark.parametrize("sites", [4, 101, 1500, *only_whole(5, 100)])
def test_every_number_of_sites_is_drawn(sites):
    assert save(draw(make_region(sites))).startswith(MAGIC["png"])


def test_the_figure_says_what_it_shows():
    shown = texts(draw(make_region()))
    assert "ω 30 at 1.005 Mb, chromosome 20" in shown or "ω 30 at 1.006 Mb, chromosome 20" in shown
    assert "a.vcf, window 1.0010\N{EN DASH}1.0100 Mb (9 kb, 5 + 5 sites), 12 sites shown" in shown
    for label in ("LS 0.50", "RS 0.50", "X 0.50"):
        assert label in shown
    assert "Position (Mb)" in shown
    assert "r² of two sites" in shown
    assert "means over" not in shown


def test_averages_and_small_means_are_told():
    shown = texts(draw(make_region(250), value=0.0004))
    assert "means over up to 3 by 3 sites" in shown
    assert "r², square-root scale" in shown
    assert "X < 0.001" in shown


def test_a_plain_region_has_no_window():
    shown = texts(draw(make_region(window=False)))
    assert "Linkage disequilibrium, 1.000\N{EN DASH}1.011 Mb, chromosome 20" in shown
    assert "all pairs" in shown
    assert "LS" not in shown


@pytest.mark.parametrize("bins", [2, 3, 7])
def test_a_pair_is_a_whole_diamond_at_its_place(bins):
    from matplotlib.colors import ListedColormap

    levels = np.linspace(0, 1, bins * bins).reshape(bins, bins)
    colours = ListedColormap([(level, 0, 0) for level in levels.ravel()])
    means = np.where(np.triu(np.ones((bins, bins)), 1) > 0, levels, np.nan)
    image = _raster(means, colours)
    height, width = image.shape[:2]
    assert width == 2 * height
    scale = width / bins
    for i in range(bins):
        for j in range(i + 1, bins):
            corners = np.array(_corners(LdPart("across", (i, i), (j, j))))
            x, y = corners.mean(axis=0) * scale
            np.testing.assert_allclose(image[int(y), int(x), :2], [levels[i, j], 0], atol=1 / bins**2)
            drawn = np.isclose(image[..., 0], image[int(y), int(x), 0]) & (image[..., 3] == 1)
            rows, columns = np.nonzero(drawn)
            for pixels, side in ((columns, corners[:, 0]), (rows, corners[:, 1])):
                ends = np.array([side.min(), side.max()]) * scale
                np.testing.assert_allclose([pixels.min(), pixels.max() + 1], ends, atol=1)
    assert not image[0, 0, 3]
