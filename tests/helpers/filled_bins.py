"""Bins of given keys, laid out as walkers fill them, and slots as lists of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.bin_fill import ChunkLists, FilledBins
from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.plan.bins import (
    CHUNK_BYTES,
    CHUNK_LINES,
    PrefixSpan,
    key_bytes,
    stage_bytes,
    stage_keys,
    stage_lines,
)
from oclgenomics.runtime import Engine

__all__ = ["filled_bins", "key_table", "pairs_of"]

SPOILT = 0xA5  # bytes that nobody may look at


def key_table(numbers: Sequence[int], rest: int) -> NDArray[np.uint64]:
    """Return numbers of `rest` bits as words, the least significant first: uint64 (n, words)."""
    words = -(-rest // 64)
    whole = b"".join(number.to_bytes(8 * words, "little") for number in numbers)
    return np.frombuffer(whole, "<u8").reshape(len(numbers), words)


def filled_bins(
    engine: Engine,
    keys: Sequence[NDArray[np.uint64]],
    rest: int,
    *,
    walkers: int = 2,
    span: PrefixSpan | None = None,
    seed: int = 1,
) -> FilledBins:
    """Deal the keys of each bin out to walkers, and lay them out in chunks of any order and in stages.

    Parameters
    ----------
    engine : Engine
    keys : sequence of uint64 (n, words)
        Those of each bin, as `key_table` has them.
    rest : int
    walkers : int
    span : PrefixSpan, optional
    seed : int
    """
    rng = np.random.default_rng(seed)
    size, each, bins = key_bytes(rest), stage_keys(rest), len(keys)
    room, together = stage_bytes(rest), stage_lines(rest)
    full = CHUNK_LINES // together  # stages of a chunk
    stages = np.full((walkers, bins, room), SPOILT, np.uint8)
    staged = np.zeros((walkers, bins), np.uint32)
    chunks: list[NDArray[np.uint8]] = []
    lines: list[int] = []
    begins = [0]
    for b, of_bin in enumerate(keys):
        packed = np.ascontiguousarray(of_bin).view(np.uint8)[:, :size]
        cuts = np.sort(rng.integers(0, len(packed) + 1, walkers - 1))
        for walker, own in enumerate(np.split(packed, cuts)):
            whole = len(own) // each
            laid = np.full((whole, room), SPOILT, np.uint8)
            laid[:, : each * size] = own[: whole * each].reshape(whole, each * size)
            for start in range(0, whole, full):
                piece = laid[start : start + full]
                chunk = np.full(CHUNK_BYTES, SPOILT, np.uint8)
                chunk[: piece.size] = piece.ravel()
                chunks.append(chunk)
                lines.append(len(piece) * together)
            left = own[whole * each :]
            stages[walker, b, : left.size] = left.ravel()
            staged[walker, b] = len(left)
        begins.append(len(chunks))
    order = rng.permutation(len(chunks))
    pool = np.full((max(len(chunks), 1), CHUNK_BYTES), SPOILT, np.uint8)
    for number, chunk in zip(order, chunks, strict=True):
        pool[number] = chunk
    lists = ChunkLists(*(np.asarray(some, np.uint32) for some in (begins, order, lines)))
    return FilledBins(
        span or PrefixSpan(0, 20, bins),
        rest,
        np.array([len(of_bin) for of_bin in keys], np.int64),
        engine.upload(pool.ravel()),
        lists,
        engine.upload(lists.packed),
        engine.upload(stages),
        engine.upload(staged),
    )


def pairs_of(engine: Engine, slots: Slots) -> list[tuple[int, int]]:
    """Return the whole k-mers and their counts, as numbers, in the order of the slots."""
    layout, words = slots.layout, engine.download(slots.words)
    hole, width = layout.count_bits, 64 * layout.words
    large = dict(zip(slots.large_slots.tolist(), slots.large_counts.tolist(), strict=True))
    pairs = []
    for head, begin, size in zip(slots.heads.tolist(), slots.begins.tolist(), slots.sizes.tolist(), strict=True):
        for place in range(begin, begin + size):
            whole = 0
            for word in words[:, place].tolist():
                whole = whole << 64 | word
            low = width - 64  # bits below the first word
            count = whole >> low & layout.many
            above, beneath = whole >> low + hole, whole & (1 << low) - 1
            number = above << low | beneath  # without the hole
            spare = width - hole - layout.rest
            assert number & (1 << spare) - 1 == 0, "bits behind the rest"
            assert (count == layout.many) == (place in large)
            pairs.append((head << layout.rest | number >> spare, large.pop(place, count)))
    assert not large, "large counts of slots that are not there"
    return pairs
