"""Numbers and distances as figures write them."""

from __future__ import annotations

import numpy as np
import pytest

from oclgenomics.app.figures import distance_text, tick_texts


@pytest.mark.parametrize(
    ("ticks", "words"),
    [([0.25, 0.5, 1.0], ["0.25", "0.50", "1.00"]), ([1000.0, 2500.0], ["1,000", "2,500"]), ([], []),
     ([0.1 + 0.2, -1.0], ["0.3", "-1.0"])],
)  # fmt: skip
def test_ticks_have_equally_many_digits(ticks: list[float], words: list[str]) -> None:
    assert tick_texts(np.array(ticks)) == words


@pytest.mark.parametrize(("bp", "text"), [(7, "7 bp"), (1_240, "1.24 kb"), (500_000, "500 kb"), (2.5e6, "2.5 Mb")])
def test_distances_are_in_the_largest_unit(bp: float, text: str) -> None:
    assert distance_text(bp) == text
