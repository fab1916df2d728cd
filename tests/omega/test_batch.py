"""Alignments scanned together give what each gives alone, and batches hold no more than they should."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment, make_multiallelic, random_positions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oclgenomics.errors import InputError, UsageError
from oclgenomics.omega import batch as batch_module
from oclgenomics.omega import scan
from oclgenomics.omega.batch import batches
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import Scan
from oclgenomics.runtime import Engine
from oclgenomics.variation.alignment import Alignment

KINDS = ("complete", "complete", "masked", "unphased", "multiallelic")


def alignment_of(kind: str, sites: int, haplotypes: int, seed: int) -> Alignment:
    rng = np.random.default_rng(seed)
    states, positions = correlated_states(rng, sites, haplotypes), random_positions(rng, sites)
    if kind == "multiallelic":
        return make_multiallelic(states * rng.integers(1, 4, states.shape), positions)
    seen = rng.random(states.shape) < 0.9 if kind == "masked" else None
    return make_alignment(states, positions, seen, unphased=kind == "unphased")


def assert_equal(found: Scan, other: Scan) -> None:
    for name in ("positions", "omega", "left", "right", "valid"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))
    for name in ("name", "sites", "haplotypes", "possible", "maxwin"):
        assert getattr(found, name) == getattr(other, name)
    for name in ("scores", "pairs"):
        assert getattr(found.stats, name) == getattr(other.stats, name)


members = st.tuples(
    st.sampled_from(KINDS),
    st.one_of(st.integers(1, 12), st.sampled_from([63, 64, 65, 128, 130, 200])),
    st.sampled_from([20, 20, 34]),
    st.integers(0, 1000),
)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chosen=st.lists(members, min_size=1, max_size=8),
    maxwin=st.sampled_from([5_000, 100_000]),
    kernel=st.sampled_from(["auto", "1", "2", "tiles"]),
    block_rows=st.sampled_from([None, 64]),
    chunk=st.sampled_from([None, 7]),
)
def test_a_batch_is_its_alignments_one_by_one(
    engine: Engine,
    chosen: list[tuple[str, int, int, int]],
    maxwin: int,
    kernel: str,
    block_rows: int | None,
    chunk: int | None,
) -> None:
    alignments = [alignment_of(*member) for member in chosen]
    options = ScanOptions(grid=12, minwin=100, maxwin=maxwin, minsnps=2, kernel=kernel, chunk_positions=chunk)
    together = OmegaScanner(engine, block_rows=block_rows).scan_batch(alignments, options)
    assert len(together) == len(alignments)
    for alignment, found in zip(alignments, together, strict=True):
        assert_equal(found, OmegaScanner(engine).scan(alignment, options))


@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=st.lists(members.filter(lambda member: member[0] != "unphased"), min_size=2, max_size=5))
def test_a_batch_in_compat_precision(engine: Engine, chosen: list[tuple[str, int, int, int]]) -> None:
    alignments = [alignment_of(*member) for member in chosen]
    options = ScanOptions(grid=9, minwin=100, maxwin=30_000, minsnps=2, precision="compat")
    together = OmegaScanner(engine).scan_batch(alignments, options)
    for alignment, found in zip(alignments, together, strict=True):
        assert_equal(found, OmegaScanner(engine).scan(alignment, options))


def test_one_alignment_with_sums_too_large_leaves_the_others_alone(engine: Engine) -> None:
    """Complete LD between many haplotypes outgrows the format; independent sites beside it do not."""
    haplotypes, sites = 100_000, 520
    rng = np.random.default_rng(3)
    pattern = (rng.random(haplotypes) < 0.4).astype(np.uint8)
    full = make_alignment(np.repeat(pattern[None], sites, axis=0), np.arange(sites) * 10 + 1)
    other = make_alignment((rng.random((sites, haplotypes)) < 0.3).astype(np.uint8), np.arange(sites) * 10 + 1)
    options = ScanOptions(grid=5, minwin=10, maxwin=10_000)
    together = OmegaScanner(engine).scan_batch([other, full, other], options)
    for alignment, found in zip([other, full, other], together, strict=True):
        assert_equal(found, OmegaScanner(engine).scan(alignment, options))


def test_progress_of_a_batch_is_told_in_order(engine: Engine) -> None:
    alignments = [alignment_of(kind, 100, 20, 1) for kind in ("complete", "masked", "complete", "multiallelic")]
    told: list[tuple[int, int]] = []
    options = ScanOptions(grid=10, minwin=100, maxwin=30_000)
    OmegaScanner(engine, block_rows=64).scan_batch(alignments, options, lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert {total for _, total in told} == {40}
    assert told[-1][0] > 30  # positions of all four


def test_what_one_alignment_does_not_allow_is_refused(engine: Engine) -> None:
    alignments = [alignment_of("complete", 20, 20, 1), alignment_of("unphased", 20, 20, 2)]
    with pytest.raises(UsageError, match="needs haplotypes"):
        OmegaScanner(engine).scan_batch(alignments, ScanOptions(grid=5, minwin=1, maxwin=10_000, ld="D"))


def test_batches_keep_the_order_and_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_module, "BATCH_SITES", 100)
    monkeypatch.setattr(batch_module, "BATCH_ALIGNMENTS", 4)
    sizes = [1, 2, 3, 4, 5, 60, 40, 101, 1, 99, 300, 300, 7]
    alignments = [alignment_of("complete", size, 20, 1) for size in sizes]
    found = [[one.sites for one in batch] for batch in batches(alignments)]
    assert found == [[1, 2, 3, 4], [5, 60], [40], [101], [1, 99], [300], [300], [7]]


def test_large_alignments_are_not_held_while_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_module, "BATCH_SITES", 10)
    earlier: list[weakref.ref[Alignment]] = []

    def read() -> Iterator[Alignment]:
        for _ in range(4):
            gc.collect()
            assert all(one() is None for one in earlier)
            alignment = alignment_of("complete", 20, 20, 1)
            earlier.append(weakref.ref(alignment))
            yield alignment
            del alignment

    for batch in batches(read()):
        assert len(batch) == 1
        del batch
    assert len(earlier) == 4


@pytest.mark.parametrize("hook", [None, lambda alignment: None])
def test_a_scan_does_not_hold_large_alignments_either(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, hook: Callable[[Alignment], None] | None
) -> None:
    monkeypatch.setattr(batch_module, "BATCH_SITES", 10)
    earlier: list[weakref.ref[Alignment]] = []

    def read() -> Iterator[Alignment]:
        for _ in range(4):
            gc.collect()
            assert all(one() is None for one in earlier)
            alignment = alignment_of("complete", 20, 20, 1)
            earlier.append(weakref.ref(alignment))
            yield alignment
            del alignment

    scans = scan(read(), ScanOptions(grid=5, minwin=100, maxwin=30_000), engine=engine, on_alignment=hook)
    assert [one.sites for one in scans] == [20] * 4
    assert len(earlier) == 4


def test_what_was_read_before_an_error_is_scanned(engine: Engine) -> None:
    def read() -> Iterator[Alignment]:
        yield alignment_of("complete", 30, 20, 1)
        yield alignment_of("complete", 40, 20, 2)
        raise InputError("damaged")

    scans = scan(read(), ScanOptions(grid=5, minwin=100, maxwin=30_000), engine=engine)
    assert [next(scans).sites, next(scans).sites] == [30, 40]
    with pytest.raises(InputError, match="damaged"):
        next(scans)
