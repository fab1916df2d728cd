"""Types, shapes and cuts, without a device."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions, Arithmetic
from oclgenomics.sdtw.plan import BEGINS, EXACT_IN_FLOAT, cell_shape, cut_segments, halo, largest_cost, segment_count


@pytest.mark.parametrize(
    ("options", "rows", "score", "saturated"),
    [
        (AlignOptions(), 60_000, "float32", False),
        (AlignOptions(bits=8), 1000, "int32", False),
        (AlignOptions(bonus="dwell"), 1000, "int32", True),
        (AlignOptions(arithmetic="int32"), EXACT_IN_FLOAT // 4096, "float32", False),
        (AlignOptions(arithmetic="int32"), EXACT_IN_FLOAT // 4096 + 1, "int32", False),
        (AlignOptions(arithmetic="float32"), 1000, "float32", False),
        (CRESCENT, 9000, "float32", False),
        (SQUIGGLEFILTER, 9000, "int32", False),
    ],
)
def test_gpus_take_the_fastest_type_that_is_exact(
    options: AlignOptions, rows: int, score: str, saturated: bool
) -> None:
    shape = cell_shape(options, rows, vector_bytes=0)
    assert (shape.score, shape.saturated, shape.lanes) == (score, saturated, 1)
    assert shape.fused == (score == "float32" and not options.is_float)


@pytest.mark.parametrize("vector_bytes", [32, 64])
@pytest.mark.parametrize("arithmetic", ["uint16", "int32", "float32"])
def test_cpus_fill_their_vectors(arithmetic: Arithmetic, vector_bytes: int) -> None:
    shape = cell_shape(AlignOptions(arithmetic=arithmetic), 1000, vector_bytes=vector_bytes)
    assert (shape.score, shape.fused, shape.saturated) == (arithmetic, False, False)
    assert shape.lanes * shape.dtype.itemsize == vector_bytes


def test_costs_and_reach() -> None:
    assert largest_cost(AlignOptions()) == 64**2
    assert largest_cost(AlignOptions(bits=8)) == 256**2 >> 4
    assert largest_cost(CRESCENT) == 256
    assert halo(AlignOptions(), 100) == 100
    assert halo(SQUIGGLEFILTER, 100) > 10 * 100


@given(
    st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=5), min_size=1, max_size=4),
    st.integers(1, 60),
    st.integers(0, 50),
)
def test_segments_cover_each_strip_once(tracks: list[list[int]], count: int, reach: int) -> None:
    """They begin early enough, in their track, and none is of two references."""
    sizes = [size for each in tracks for size in each]
    begins = np.cumsum([0, *sizes])[:-1]
    strips = np.full(sum(sizes), 5, np.uint32)
    strips[begins] |= np.uint32(BEGINS)
    bounds = np.cumsum([0, *map(sum, tracks)])
    segments = cut_segments(strips, bounds, count, reach).astype(int)
    assert [strip for _, first, end in segments for strip in range(first, end)] == list(range(len(strips)))
    assert (segments[:, 2] - segments[:, 1]).max() <= max(1, -(-len(strips) // count))
    for begin, first, end in segments:
        track = begins[begins <= first].max()
        assert begin == max(track, first - reach)
        assert np.searchsorted(bounds, first, "right") == np.searchsorted(bounds, end - 1, "right")


@given(st.integers(1, 5000), st.integers(1, 300_000), st.integers(0, 20_000), st.integers(1, 40_000))
def test_segments_never_cost_more_than_none(items: int, columns: int, reach: int, slots: int) -> None:
    count = segment_count(items, columns, reach, slots)

    def cost(segments: int) -> float:
        return -(-items * segments // slots) * (columns / segments + (reach if segments > 1 else 0))

    assert 1 <= count <= max(1, columns // 256)
    assert cost(count) <= cost(1)


def test_few_reads_use_the_whole_device() -> None:
    assert segment_count(16, 97_000, 700, 2) in (1, 2, 4)
    assert segment_count(1, 97_000, 700, 2) == 2
    assert segment_count(512, 97_000, 700, 132 * 256) > 50
