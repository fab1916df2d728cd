"""Gaps and counts of a database's sections, encoded on the device: the same bytes as `section` makes on the host."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.layout import SECTION_KMERS
from oclgenomics.kmers.section import Parts
from oclgenomics.kmers.simple8b import STRETCH
from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.memory import BufferNeed

__all__ = ["encode_parts_on", "sections_that_fit"]

MOST_SECTIONS, MOST_ON_CPU = 32, 16  # GPUs need many stretches at a time, CPUs what their cache holds
MOST_BYTES = 1 << 26  # of keys and counts; the host holds some batches at a time


def sections_that_fit(engine: Engine, words: int) -> int:
    """Sections to encode at a time.

    Raises
    ------
    AllocationError
        The device's memory does not hold one.
    """
    needs = [
        BufferNeed("keys", per_item=8 * words),
        BufferNeed("counts", per_item=4),
        BufferNeed("places", fixed=4 * 4096, per_item=4),
        BufferNeed("gaps", per_item=-(-64 * words // 7)),
        BufferNeed("count words", fixed=8, per_item=9),  # with the places of stretches
    ]
    most = MOST_ON_CPU if engine.tuning.cpu else MOST_SECTIONS
    most = min(most, MOST_BYTES // (SECTION_KMERS * (8 * words + 4)))
    return min(most, engine.items_that_fit(needs, minimum=SECTION_KMERS, item="k-mer") // SECTION_KMERS)


def encode_parts_on(engine: Engine, keys: NDArray[np.uint64], counts: NDArray[np.uint32]) -> Parts:
    """Encode k-mers as `encode_parts` does.

    Parameters
    ----------
    engine : Engine
    keys : uint64 (words, n)
        Ascending.
    counts : uint32 (n,)
        At least 1.
    """
    gaps, gap_ends = _encode_gaps(engine, engine.upload(keys))
    words, word_ends = _encode_counts(engine, engine.upload(counts))
    gap_data, word_data = gaps.data, words.astype("<u8", copy=False).view(np.uint8).data
    return Parts(
        [gap_data[low:high] for low, high in itertools.pairwise(gap_ends)],
        [word_data[8 * low : 8 * high] for low, high in itertools.pairwise(word_ends)],
    )


def _encode_gaps(engine: Engine, keys: DeviceArray) -> tuple[NDArray[np.uint8], list[int]]:
    """First keys and gaps, and where each section's begin and all of them end."""
    words, size = keys.shape
    sections = -(-size // SECTION_KMERS)
    measure, pick, write = (
        engine.kernel("kmers/vlq.cl", name, WORDS=words, EVERY=SECTION_KMERS)
        for name in ("measure_gaps", "pick_sections", "write_gaps")
    )
    starts, picked = engine.empty(size + 1, np.uint32), engine.empty(sections + 1, np.uint32)
    engine.launch_items(measure, size + 1, keys, np.uint32(size), starts)
    scan(engine, starts, out=starts)
    engine.launch_items(pick, sections + 1, starts, np.uint32(size), np.uint32(sections), picked)
    ends = engine.download(picked).tolist()
    out = engine.empty(ends[-1], np.uint8)
    engine.launch_items(write, size, keys, np.uint32(size), starts, out)
    return engine.download(out), ends


def _encode_counts(engine: Engine, counts: DeviceArray) -> tuple[NDArray[np.uint64], list[int]]:
    """Words of all sections, and where each section's begin and all of them end."""
    stretches = -(-counts.size // STRETCH)
    shape = np.uint32(counts.size), np.uint32(stretches)
    starts = engine.empty(stretches + 1, np.uint32)
    source = "kmers/simple8b.cl"
    measure = engine.kernel(source, "count_words", STRETCH=STRETCH)
    engine.launch_items(measure, stretches + 1, counts, *shape, starts)
    scan(engine, starts, out=starts)
    places = engine.download(starts)
    out = engine.empty(int(places[-1]), np.uint64)
    write = engine.kernel(source, "write_words", STRETCH=STRETCH)
    engine.launch_items(write, stretches, counts, *shape, starts, out)
    return engine.download(out), [*places[: -1 : SECTION_KMERS // STRETCH].tolist(), int(places[-1])]
