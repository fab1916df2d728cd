"""Small references of random levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["random_squiggle"]

K = 6


def random_squiggle(sizes: Sequence[int], seed: int = 0, name: str = "reference") -> Squiggle:
    """Return a reference whose records have so many k-mers each, on both strands."""
    rng = np.random.default_rng(seed)
    count = len(sizes)
    return Squiggle(
        name=name,
        records=tuple(f"record{number}" for number in range(count)),
        lengths=np.array(sizes, np.int64) + K - 1,
        k=K,
        model="random",
        molecule="dna",
        levels=rng.normal(90, 12, 2 * sum(sizes)),
        tracks=np.cumsum([0, *sizes, *sizes]).astype(np.int64),
        track_record=np.tile(np.arange(count), 2).astype(np.int32),
        track_strand=np.repeat([0, 1], count).astype(np.uint8),
        track_first=np.concatenate([np.zeros(count), np.array(sizes) - 1]).astype(np.int64),
    )
