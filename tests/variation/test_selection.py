"""Counts of states, and sites that are left out."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.alignments import make_alignment

from oclgenomics.errors import ParameterError
from oclgenomics.variation import BedRegions, selection
from oclgenomics.variation.alignment import Alignment


@pytest.mark.parametrize("at_a_time", [1, 8, 12, 1 << 16])
def test_bits_are_counted_however_many_words_at_a_time(at_a_time: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "COUNTED_ENTRIES", at_a_time)
    plane = np.random.default_rng(1).integers(0, 1 << 32, (7, 4), np.uint32)
    assert selection.count_ones(plane).tolist() == [sum(word.bit_count() for word in site) for site in plane.T.tolist()]
    assert selection.count_ones(plane[:, :0]).tolist() == []
    assert selection.count_ones(plane[:0]).tolist() == [0] * 4


def sites(name: str) -> Alignment:
    alignment = make_alignment(np.uint8([[0, 1], [1, 0], [0, 1]]), np.array([5, 6, 9]))
    alignment.name, alignment.exact = name, np.array([5.5, 6.5, 9.5])
    return alignment


def test_sites_in_regions_are_left_out_with_all_that_is_known_of_them() -> None:
    outside, inside = selection.outside_regions(sites("7"), BedRegions.of([("7", 5, 8), ("8", 0, 100)]))
    assert (outside.positions.tolist(), inside) == ([5, 9], 1)
    assert outside.exact is not None
    assert outside.exact.tolist() == [5.5, 9.5]
    outside.validate()


@pytest.mark.parametrize(("name", "other"), [("chr7", "7"), ("7", "chr7")])
def test_names_of_chromosomes_with_and_without_chr(name: str, other: str) -> None:
    with pytest.raises(ParameterError, match=f"its chromosome {other} is called {name} in the input"):
        selection.outside_regions(sites(name), BedRegions.of([(other, 0, 100)], "x.bed"))
