"""Which alignments are scanned together, and that none is held longer than it is needed."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment, random_positions

from oclgenomics.errors import InputError
from oclgenomics.omega import ScanOptions, iter_scan
from oclgenomics.runtime import Engine
from oclgenomics.variation import sources
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.sources import batches


def alignment_of(sites: int, seed: int = 1) -> Alignment:
    rng = np.random.default_rng(seed)
    return make_alignment(correlated_states(rng, sites, 20), random_positions(rng, sites))


def held_one_by_one(earlier: list[weakref.ref[Alignment]]) -> Iterator[Alignment]:
    """Four alignments, of which none is held any more when the next one is read; all are noted."""
    for _ in range(4):
        gc.collect()
        assert all(one() is None for one in earlier)
        alignment = alignment_of(20)
        earlier.append(weakref.ref(alignment))
        yield alignment
        del alignment


def test_batches_keep_the_order_and_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BATCH_SITES", 100)
    monkeypatch.setattr(sources, "BATCH_ALIGNMENTS", 4)
    sizes = [1, 2, 3, 4, 5, 60, 40, 101, 1, 99, 300, 300, 7]
    alignments = [alignment_of(size) for size in sizes]
    found = [[one.sites for one in batch] for batch in batches(alignments)]
    assert found == [[1, 2, 3, 4], [5, 60], [40], [101], [1, 99], [300], [300], [7]]


def test_large_alignments_are_not_held_while_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BATCH_SITES", 10)
    earlier: list[weakref.ref[Alignment]] = []
    for batch in batches(held_one_by_one(earlier)):
        assert len(batch) == 1
        del batch
    assert len(earlier) == 4


@pytest.mark.parametrize("hook", [None, lambda alignment: None])
def test_a_scan_does_not_hold_large_alignments_either(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, hook: Callable[[Alignment], None] | None
) -> None:
    monkeypatch.setattr(sources, "BATCH_SITES", 10)
    earlier: list[weakref.ref[Alignment]] = []
    scans = iter_scan(
        held_one_by_one(earlier), ScanOptions(grid=5, minwin=100, maxwin=30_000), engine=engine, on_alignment=hook
    )
    assert [one.sites for one in scans] == [20] * 4
    assert len(earlier) == 4


def test_what_was_read_before_an_error_is_scanned(engine: Engine) -> None:
    def read() -> Iterator[Alignment]:
        yield alignment_of(30)
        yield alignment_of(40, 2)
        raise InputError("damaged")

    scans = iter_scan(read(), ScanOptions(grid=5, minwin=100, maxwin=30_000), engine=engine)
    assert [next(scans).sites, next(scans).sites] == [30, 40]
    with pytest.raises(InputError, match="damaged"):
        next(scans)
