"""The counts of parts for tallies: those that slots and runs were made of."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.slots import slots_of

from oclgenomics.kmers.device import slots as part_counts
from oclgenomics.kmers.device.slots import counts_of_part
from oclgenomics.kmers.plan.bins import SlotLayout
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine


def kmers(size: int, rest: int) -> tuple[np.ndarray, np.ndarray]:
    """Ascending keys in bins of 1, 2, 4, ... of them, and counts on both sides of what slots hold."""
    rng = np.random.default_rng(size)
    many = SlotLayout(rest).many
    near = np.array([1, 2, many - 1, many, min(many + 1, (1 << 32) - 1), (1 << 32) - 1], np.uint32)
    bins = np.repeat(np.arange(20), 1 << np.arange(20))[:size]
    keys = (bins.astype(np.uint64) << np.uint64(rest)) + np.arange(size, dtype=np.uint64)
    return keys[None], np.where(rng.random(size) < 0.5, rng.choice(near, size), 1 + rng.poisson(9, size)).astype(
        np.uint32
    )


def found(engine: Engine, part: object) -> list[int]:
    return sorted(count for counts in counts_of_part(engine, part) for count in counts.tolist())  # type: ignore[arg-type]


@pytest.mark.parametrize("rest", [30, 36, 50, 56])
@pytest.mark.parametrize("piece", [1, 50, 1 << 16])
def test_counts_of_slots(engine: Engine, rest: int, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine.device.kind != "cpu":
        pytest.skip("slots are of CPUs")
    monkeypatch.setattr(part_counts, "PIECE", piece)
    for size in (0, 1, 2, 3, 1000):
        keys, counts = kmers(size, rest)
        slots = slots_of(engine, keys, counts, rest, np.random.default_rng(rest))
        assert found(engine, slots) == sorted(counts.tolist())
        for bins in range(len(slots.sizes)):
            first = slots.first(bins)
            assert found(engine, first) == sorted(counts[: first.size].tolist())


def test_counts_of_runs(engine: Engine) -> None:
    keys, counts = kmers(300, 50)
    assert found(engine, Runs(engine.upload(keys), engine.upload(counts), 200)) == sorted(counts[:200].tolist())
