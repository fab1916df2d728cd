"""Barcodes by signal, against alignments cell by cell."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.products import examples
from helpers.sdtw_oracle import many_records
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.live.barcodes import TOGETHER, UNCLASSIFIED, Barcodes
from oclgenomics.signals.trimming import stall_end

BASES, PER_BASE = 68, 9  # of a sequence; samples
RNG = np.random.default_rng(5)
CONSTRUCTS = np.tile(RNG.uniform(70, 110, BASES - 5), (5, 1))
CONSTRUCTS[:, 20:50] = RNG.uniform(70, 110, (5, 30))  # the barcodes; adapter and flanks are the same
BARCODES = many_records("barcodes", CONSTRUCTS)


def signal(
    levels: NDArray[np.float64], per_base: int = PER_BASE, noise: float = 3.0, seed: int = 0
) -> NDArray[np.int16]:
    """A molecule that begins with these levels and goes on with others."""
    rng = np.random.default_rng(seed)
    whole = np.repeat(np.append(levels, rng.uniform(70, 110, 600)), per_base)
    return np.rint(5 * (whole + rng.normal(0, noise, len(whole)))).astype(np.int16)


def least_cost(window: NDArray[np.float32], levels: NDArray[np.float32]) -> float:
    """Of the best alignment, which stays or moves by one column at each row."""
    score = (levels - window[0]) ** 2
    for x in window[1:]:
        score = np.array([min(score[j], score[max(j - 1, 0)]) for j in range(len(levels))]) + (levels - x) ** 2
    return float(score.min())


@pytest.mark.parametrize(("per_base", "stall"), list(product((8, 9, 11), (0, 200))))
def test_barcodes_are_named(per_base: int, stall: int) -> None:
    """Of fast and slow reads, in the order in which they come, behind a stall."""
    barcodes = Barcodes(BARCODES)
    which = [number % 5 for number in range(TOGETHER + 7)]
    reads = [signal(CONSTRUCTS[one], per_base, seed=seed) for seed, one in enumerate(which)]
    if stall:
        high = np.full(stall, 1500, np.int16)
        reads = [np.concatenate([high, read]) for read in reads]
        assert stall_end(reads[0]) is not None
    assert barcodes.of(reads) == [f"barcodes_{number}" for number in which]


def test_what_is_in_doubt_is_unclassified() -> None:
    barcodes, rng = Barcodes(BARCODES), np.random.default_rng(1)
    good = signal(CONSTRUCTS[2])
    strange = np.full(900, np.nan, np.float32)
    reads: list[NDArray[Any]] = [good, good[:100], np.zeros(900, np.int16), strange, np.empty(0, np.int16)]
    assert barcodes.of(reads) == ["barcodes_2", *[UNCLASSIFIED] * 4]
    noise = [rng.uniform(70, 110, 900) for _ in range(20)]
    assert Barcodes(BARCODES, margin=0.3).of([good, *noise]) == ["barcodes_2", *[UNCLASSIFIED] * 20]
    assert barcodes.of([]) == []


@settings(max_examples=examples(25))
@given(st.integers(0, 10**6), st.integers(1, 2 * TOGETHER + 1))
def test_costs_are_those_of_alignments(seed: int, count: int) -> None:
    barcodes = Barcodes(BARCODES, margin=0.0)
    reads = [signal(CONSTRUCTS[(seed + n) % 5], noise=15.0, seed=seed + n)[n:] for n in range(count)]
    found = barcodes.of(reads)
    for number in {0, count - 1}:
        window = barcodes._window(reads[number])
        assert window is not None
        costs = [least_cost(window, levels) for levels in barcodes._levels]
        assert found[number] == f"barcodes_{int(np.argmin(costs))}"
        assert barcodes._costs(window[None])[0] == pytest.approx(costs, rel=1e-4)


def test_a_unit_or_an_offset_of_a_read_makes_no_difference() -> None:
    barcodes = Barcodes(BARCODES)
    read = signal(CONSTRUCTS[4])
    assert barcodes.of([read, read * 0.17 - 40.0, (read + 1000).astype(np.int16)]) == ["barcodes_4"] * 3


@pytest.mark.parametrize(
    "reference",
    [
        many_records("one", CONSTRUCTS[:1]),
        replace(BARCODES, lengths=np.array([68, 68, 69, 68, 68])),
        replace(BARCODES, track_strand=np.zeros(len(BARCODES.track_strand), np.uint8)),
    ],
)
def test_references_that_are_no_barcodes(reference: object) -> None:
    with pytest.raises(UsageError, match="all of one length and without ambiguous bases"):
        Barcodes(reference)  # type: ignore[arg-type]
