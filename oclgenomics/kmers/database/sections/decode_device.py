"""Sections of k-mers decoded on the device, a work-item each; what it finds damaged, the host has to explain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.layout import SECTION_KMERS, section_bytes
from oclgenomics.kmers.database.sections.encode_kernels import SIP_KEY
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine, SharedArray

__all__ = ["decode_on", "room_for", "words_of"]

LANES = 1  # sections have little to do with each other: a group each spreads them over the device


def room_for(engine: Engine, tables: Sequence[NDArray[np.void]]) -> SharedArray:
    """Room for the bytes of the sections of any one of some tables, as words."""
    return engine.shared(max(map(words_of, tables)), np.uint64)


def words_of(table: NDArray[np.void]) -> int:
    """Words that the sections of a table take to decode: those of their bytes, and what is read behind them."""
    return int(section_bytes(table).sum()) // 8 + 2


def decode_on(
    engine: Engine, table: NDArray[np.void], greatest: NDArray[np.uint64], data: SharedArray
) -> tuple[Runs, NDArray[np.uint32]]:
    """Decode sections that follow each other in the file.

    Parameters
    ----------
    engine : Engine
    table : ndarray of `section_table` (sections,)
    greatest : ndarray, uint64 (words, sections)
        The greatest key that each section may hold; see `key_order.greatest_keys`.
    data : SharedArray, uint64
        Of `room_for`; the host's side holds their bytes, one section after the other.

    Returns
    -------
    runs : Runs
        Keys uint64 (words, n) and counts uint32 (n,) on the device.
    status : uint32 (sections,)
        Not 0 where a section is damaged, and its k-mers undefined.
    """
    words, sections, size = table.dtype["first"].shape[0], len(table), int(table["kmers"].sum())
    facts = np.empty((4, sections), np.uint64)
    facts[0] = table["offset"] - table["offset"][0]
    facts[1], facts[2], facts[3] = table["gap_bytes"], table["count_words"], table["checksum"]
    facts[1] += np.uint64(8 * words)
    keys, counts = engine.empty((words, size), np.uint64), engine.empty(size, np.uint32)
    status = engine.empty(sections, np.uint32)
    defines = {"WORDS": words, "EVERY": SECTION_KMERS, "CPU": engine.tuning.cpu}
    kernel = engine.kernel("kmers/decode_sections.cl", "decode_sections", **defines)
    data.send(0, words_of(table), wait=True)
    engine.launch_items(
        kernel,
        sections,
        lanes=LANES,
        data=data.device,
        table=engine.upload(facts),
        limits=engine.upload(np.concatenate([table["first"].T.astype(np.uint64), greatest])),
        size=size,
        sections=sections,
        **SIP_KEY,
        keys=keys,
        counts=counts,
        status=status,
    )
    return Runs(keys, counts, size), engine.download(status)
