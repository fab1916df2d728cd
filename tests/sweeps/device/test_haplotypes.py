"""Haplotypes of windows on the device against the oracle: masks, genotypes, blocks, lists in global memory, batches."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.sweep_sites import SEEDS, States, few_haplotypes, rows_of
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.sweeps import reference
from oclgenomics.sweeps.device.haplotypes import HaplotypeCounter, HaplotypeCounts
from oclgenomics.sweeps.sites.used import SitePlanes, site_planes

KEPT = 4


def planes_and_rows(
    seed: int, sites: int, haplotypes: int, missing: float, *, genotypes: bool = False
) -> tuple[SitePlanes, States]:
    states, seen = few_haplotypes(np.random.default_rng(seed), sites, haplotypes, missing)
    planes = site_planes(make_alignment(states, np.arange(1, sites + 1), seen, unphased=genotypes))
    return planes, rows_of(states, seen, genotypes=genotypes)


def oracle(rows: States, window: int, step: int) -> list[tuple[list[int], int, int]]:
    found = []
    for start in range(0, len(rows) - window + 1, step):
        counts = reference.haplotype_spectrum(rows[start : start + window])
        top = [*counts[:KEPT], *[0] * (KEPT - len(counts))]
        found.append((top, sum(one * one for one in counts), sum(counts)))
    return found


def plain(found: HaplotypeCounts) -> list[tuple[list[int], int, int]]:
    return list(zip(found.top.T.tolist(), found.squares.tolist(), found.complete.tolist(), strict=True))


@settings(max_examples=30, deadline=None)
@given(
    seed=SEEDS, sites=st.integers(0, 60), pairs=st.sampled_from([1, 2, 16, 17, 33]),
    window=st.sampled_from([1, 2, 7, 20, 60]), step=st.sampled_from([1, 3, 20, 70]),
    missing=st.sampled_from([0.0, 0.02]), genotypes=st.booleans(), block=st.sampled_from([0, 1, 9, 100]),
    local=st.sampled_from([None, 0]),
)  # fmt: skip
def test_counts_are_those_of_the_oracle(
    engine: Engine, seed: int, sites: int, pairs: int, window: int, step: int, missing: float, genotypes: bool,
    block: int, local: int | None,
) -> None:  # fmt: skip
    planes, rows = planes_and_rows(seed, sites, 2 * pairs, missing, genotypes=genotypes)
    counter = HaplotypeCounter(engine, block_sites=window + block, local_memory=local)
    (found,) = counter.count([planes], window, step, KEPT)
    assert plain(found) == oracle(rows, window, step)


def test_alignments_that_go_together_have_their_own_windows(engine: Engine) -> None:
    shapes = [(30, 10, 0.0), (5, 10, 0.0), (8, 10, 0.0), (40, 10, 0.1), (20, 12, 0.0), (0, 10, 0.0), (33, 10, 0.0)]
    made = [planes_and_rows(seed, *shape) for seed, shape in enumerate(shapes)]
    together = HaplotypeCounter(engine).count([planes for planes, _ in made], 8, 3, KEPT)
    for found, (_, rows) in zip(together, made, strict=True):
        assert plain(found) == oracle(rows, 8, 3)


@pytest.mark.parametrize("most", [8, 13, 100])
def test_blocks_and_lists_are_cut_by_memory(engine: Engine, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    planes, rows = planes_and_rows(3, 40, 70, 0.01)
    monkeypatch.setattr(Engine, "items_that_fit", lambda self, needs, minimum, item: max(most, minimum))
    monkeypatch.setattr("oclgenomics.sweeps.device.haplotypes.SPILLED_BYTES", 4_000)
    spans, whole = [], HaplotypeCounter._count_block
    monkeypatch.setattr(
        HaplotypeCounter,
        "_count_block",
        lambda self, part, *other: (spans.append(part.sites), whole(self, part, *other))[1],
    )
    (found,) = HaplotypeCounter(engine, local_memory=0).count([planes], 8, 2, KEPT)
    assert max(spans) <= most
    assert plain(found) == oracle(rows, 8, 2)
