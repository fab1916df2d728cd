"""Patterns of windows on the device against the oracle: masks, genotypes, blocks, hashes that collide, and batches."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.sweep_sites import SEEDS, oracle_counts, random_states, rows_of
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.sweeps.device.patterns import ALL_BITS, PatternCounter
from oclgenomics.sweeps.sites.used import SitePlanes, site_planes


def planes_and_rows(
    seed: int, sites: int, haplotypes: int, missing: float, *, genotypes: bool = False
) -> tuple[SitePlanes, list[list[int | None]]]:
    states, seen = random_states(np.random.default_rng(seed), sites, haplotypes, missing)
    planes = site_planes(make_alignment(states, np.arange(1, sites + 1), seen, unphased=genotypes))
    return planes, rows_of(states, seen, genotypes=genotypes)


@settings(max_examples=40, deadline=None)
@given(
    seed=SEEDS, sites=st.integers(1, 90), pairs=st.sampled_from([1, 2, 3, 15, 16, 17, 32, 33]),
    width=st.sampled_from([6, 8, 20, 64, 66, 84]), missing=st.sampled_from([0.0, 0.2]), genotypes=st.booleans(),
    block=st.integers(1, 40), bits=st.sampled_from([0, 1, 7, ALL_BITS]),
)  # fmt: skip
def test_patterns_are_those_of_the_oracle(
    engine: Engine, seed: int, sites: int, pairs: int, width: int, missing: float, genotypes: bool, block: int,
    bits: int,
) -> None:  # fmt: skip
    planes, rows = planes_and_rows(seed, sites, 2 * pairs, missing, genotypes=genotypes)
    counter = PatternCounter(engine, block_sites=width + block, hash_bits=bits)
    (found,) = counter.count([planes], width)
    assert list(zip(found.lone.tolist(), found.pairs.tolist(), strict=True)) == oracle_counts(
        rows, width, genotypes=genotypes
    )


def test_alignments_that_go_together_have_their_own_windows(engine: Engine) -> None:
    shapes = [(30, 10, 0.0), (5, 10, 0.0), (8, 10, 0.0), (40, 10, 0.1), (20, 12, 0.0), (0, 10, 0.0), (33, 10, 0.0)]
    made = [planes_and_rows(seed, *shape) for seed, shape in enumerate(shapes)]
    together = PatternCounter(engine).count([planes for planes, _ in made], 8)
    for found, (_, rows) in zip(together, made, strict=True):
        assert list(zip(found.lone.tolist(), found.pairs.tolist(), strict=True)) == oracle_counts(rows, 8)


def test_one_program_is_enough(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program takes a GPU 10 to 40 ms to load."""
    kernel, seen = engine.kernel, []
    monkeypatch.setattr(engine, "kernel", lambda *a, **defines: (seen.append(defines), kernel(*a, **defines))[1])
    planes, _ = planes_and_rows(1, 80, 10, 0.0)
    PatternCounter(engine).count([planes], 70)
    assert len(seen) == 4
    assert all(one == seen[0] for one in seen)


@pytest.mark.parametrize("most", [8, 9, 15, 100])
def test_blocks_are_cut_by_the_memory_of_the_device(engine: Engine, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    planes, rows = planes_and_rows(3, 40, 70, 0.1)
    monkeypatch.setattr(Engine, "items_that_fit", lambda self, needs, minimum, item: max(most, minimum))
    (found,) = PatternCounter(engine).count([planes], 8)
    assert list(zip(found.lone.tolist(), found.pairs.tolist(), strict=True)) == oracle_counts(rows, 8)


def test_the_widest_windows(engine: Engine) -> None:
    planes, rows = planes_and_rows(5, 2060, 6, 0.0)
    (found,) = PatternCounter(engine).count([planes], 2048)
    assert list(zip(found.lone.tolist(), found.pairs.tolist(), strict=True)) == oracle_counts(rows, 2048)
