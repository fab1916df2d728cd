"""Slots made by NumPy of keys and counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.plan.bins import SlotLayout
from oclgenomics.runtime import Engine

__all__ = ["slot_words", "slots_of"]

SPARE = 3  # slots between bins, at most, which hold anything


def slots_of(
    engine: Engine,
    keys: NDArray[np.uint64],
    counts: NDArray[np.uint32],
    rest: int,
    rng: np.random.Generator | None = None,
) -> Slots:
    """K-mers in bins by all but their lowest bits.

    Parameters
    ----------
    engine : Engine
    keys : uint64 (words, n)
        Ascending.
    counts : uint32 (n,)
    rest : int
        Bits of a key behind the prefix of its bin.
    rng : Generator, optional
        Draws where bins lie, what is between them, and empty bins among them; else they follow each other.
    """
    layout = SlotLayout(rest)
    heads = heads_of(keys, rest)
    firsts = np.flatnonzero(np.concatenate([np.ones(min(1, len(counts)), bool), heads[1:] != heads[:-1]]))
    sizes = np.diff(firsts, append=len(counts))
    bins = heads[firsts]
    if rng is not None:
        at = np.sort(rng.integers(0, len(bins) + 1, rng.integers(0, 4)))
        bins, sizes = np.insert(bins, at, rng.integers(0, 9, len(at), np.uint64)), np.insert(sizes, at, 0)
    order = np.arange(len(bins)) if rng is None else rng.permutation(len(bins))
    between = np.zeros(len(bins), np.int64) if rng is None else rng.integers(0, SPARE + 1, len(bins))
    begins = np.zeros(len(bins), np.int64)
    begins[order] = np.cumsum(sizes[order] + between[order]) - sizes[order]
    room = max(1, int((sizes + between).sum()))
    words = np.zeros((layout.words, room), np.uint64)
    if rng is not None:
        words[:] = rng.integers(0, 1 << 64, words.shape, np.uint64)
    places = np.repeat(begins, sizes) + np.arange(len(counts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    words[:, places] = slot_words(keys, np.minimum(counts, layout.many).astype(np.uint64), layout)
    large = np.flatnonzero(counts >= layout.many)
    large = large[np.argsort(places[large])]
    return Slots(
        layout,
        engine.upload(words),
        bins,
        begins.astype(np.uint32),
        sizes.astype(np.uint32),
        places[large].astype(np.uint32),
        counts[large],
    )


def heads_of(keys: NDArray[np.uint64], rest: int) -> NDArray[np.uint64]:
    """What is above the lowest bits of keys, which has to fit into a word."""
    return shifted([*keys, *[np.zeros_like(keys[0])] * 2], -rest)[0]


def slot_words(keys: NDArray[np.uint64], counts: NDArray[np.uint64], layout: SlotLayout) -> NDArray[np.uint64]:
    """Slots of keys and counts that fit: uint64 (layout.words, n)."""
    bits = [*keys, *[np.zeros_like(keys[0])] * layout.words][: layout.words]
    for word, here in enumerate(bits):
        left = min(max(layout.rest - 64 * word, 0), 64)
        bits[word] = here & np.uint64((1 << left) - 1)
    bits = shifted(bits, 64 * layout.words - layout.count_bits - layout.rest)
    bits[-1] = bits[-1] << np.uint64(layout.count_bits) | counts
    return np.stack(bits[::-1])


def shifted(words: list[NDArray[np.uint64]], up: int) -> list[NDArray[np.uint64]]:
    """Numbers of some words, the least significant first, times 2 ^ up."""
    moved, shift = divmod(up, 64)
    nothing = np.zeros_like(words[0])

    def word(place: int) -> NDArray[np.uint64]:
        return words[place] if 0 <= place < len(words) else nothing

    low, high = np.uint64(shift), np.uint64(64 - shift)
    return [word(w - moved) << low | (word(w - moved - 1) >> high if shift else nothing) for w in range(len(words))]
