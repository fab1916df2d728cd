"""Patterns of sites in windows, counted on the device: hashes, links between equal ones, sums of windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.memory import BufferNeed
from oclgenomics.sweeps.plan import blocks_of, flag_words
from oclgenomics.sweeps.sites.used import SitePlanes, joined
from oclgenomics.variation.packing import full_words

ALL_BITS = 0xFFFFFFFFFFFFFFFF
SOURCE = "sweeps/patterns.cl"


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """How the halves of each window share patterns; `oclgenomics.sweeps.reference.pattern_counts` defines both numbers.

    Attributes
    ----------
    lone, pairs : ndarray of uint32, shape (windows,)
        Of the windows of neighbouring sites that begin with each site; none if there are fewer sites than a window has.
    """

    lone: NDArray[np.uint32]
    pairs: NDArray[np.uint32]


class PatternCounter:
    """Counts patterns in windows on one device.

    Parameters
    ----------
    engine : Engine
    block_sites : int, optional
        Sites of a block instead of those that fit in memory. Results never depend on it.
    hash_bits : int
        Bits of hashes that are used. Results never depend on them.
    """

    def __init__(self, engine: Engine, *, block_sites: int | None = None, hash_bits: int = ALL_BITS) -> None:
        self._engine, self._block_sites, self._hash_bits = engine, block_sites, hash_bits

    def count(self, alignments: Sequence[SitePlanes], width: int) -> list[PatternCounts]:
        """Count the patterns in all windows of some alignments.

        Parameters
        ----------
        alignments : sequence of SitePlanes
            Those that are alike go through the device as one.
        width : int
            Sites of a window, even.

        Raises
        ------
        DeviceError
            Not enough device memory, or a device lost on the way.
        """
        groups: dict[tuple[int, bool, bool], list[int]] = {}
        for number, one in enumerate(alignments):
            groups.setdefault((one.haplotypes, one.valid is not None, one.genotypes), []).append(number)
        found = [PatternCounts(np.zeros(0, np.uint32), np.zeros(0, np.uint32))] * len(alignments)
        for members in groups.values():
            long = [number for number in members if alignments[number].sites >= width]
            if not long:
                continue
            whole = self._count_one(joined([alignments[number] for number in long]), width)
            start = 0
            for number in long:
                sites = alignments[number].sites
                own = slice(start, start + sites - width + 1)
                found[number] = PatternCounts(whole.lone[own], whole.pairs[own])
                start += sites
        return found

    def _count_one(self, planes: SitePlanes, width: int) -> PatternCounts:
        lone, pairs = (np.empty(planes.sites - width + 1, np.uint32) for _ in range(2))
        for begin, end in blocks_of(planes.sites, width, self._fitting(planes, width)):
            windows = slice(begin, end - width + 1)
            lone[windows], pairs[windows] = self._count_block(planes.between(begin, end), width)
        return PatternCounts(lone, pairs)

    def _fitting(self, planes: SitePlanes, width: int) -> int:
        """Sites of a block."""
        if self._block_sites is not None:
            return max(self._block_sites, width)
        each = 4 * planes.words
        needs = [BufferNeed("states", per_item=each), BufferNeed("hashes and links", per_item=25)]
        if planes.valid is not None:
            needs.append(BufferNeed("observed states", per_item=each))
        return self._engine.items_that_fit(needs, minimum=width, item="site")

    def _count_block(self, planes: SitePlanes, width: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        engine, sites, half = self._engine, planes.sites, width // 2
        defines = {
            "MASKED": int(planes.valid is not None), "GENOTYPES": int(planes.genotypes), "FLAGS": flag_words(width),
        }  # fmt: skip
        with engine.profile.mark("upload sites"):
            bits = engine.upload(planes.bits)
            valid = None if planes.valid is None else engine.upload(planes.valid)
        known: dict[str, Any] = {
            "bits": bits, "valid": valid, "words": planes.words, "stride": sites,
            "last": int(full_words(planes.haplotypes)[-1]), "hashes": engine.empty(sites, np.uint64),
            "flipped": engine.empty(sites, np.uint8),
        }  # fmt: skip
        back, ahead = engine.empty(sites, np.uint32), engine.empty(sites, np.uint32)
        engine.fill(ahead, 0)
        windows = sites - width + 1
        lone, pairs = engine.empty(windows, np.uint32), engine.empty(windows, np.uint32)
        engine.launch_items(engine.kernel(SOURCE, "hash_patterns", **defines), sites, **known, kept=self._hash_bits)
        engine.launch_items(engine.kernel(SOURCE, "link_equal", **defines), sites, **known, reach=width - 1, back=back)
        engine.launch_items(engine.kernel(SOURCE, "link_ahead", **defines), sites, sites=sites, back=back, ahead=ahead)
        counter = engine.kernel(SOURCE, "count_patterns", **defines)
        engine.launch_items(
            counter, windows, windows=windows, half_sites=half, back=back, ahead=ahead, lone=lone, pairs=pairs
        )
        found = engine.download(lone), engine.download(pairs)
        held = (bits, valid, known["hashes"], known["flipped"], back, ahead, lone, pairs)
        for array in held:
            if isinstance(array, DeviceArray):
                array.release()
        return found
