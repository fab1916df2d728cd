"""Matches found by an index of seeds: one look at a table for each few letters of samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.memory import BufferNeed
from oclgenomics.signatures.device.found import FoundPairs
from oclgenomics.signatures.device.pair_tally import PairTally
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.device.tiles import Tiles
from oclgenomics.signatures.seed_table import SeedTable
from oclgenomics.signatures.seeds import STEP, TAIL

__all__ = ["IndexMatcher"]

TILE = 4096  # letters
MAX_ROOM = 1 << 20  # candidates at a time
CANDIDATE_BYTES = 24  # piece, seed, start, mismatches, and a sum of 8
ROOM_SHARE = 8  # of the memory that is left
SAMPLED = 8  # of each tile, one in so many look-ups tells how many candidates there are
FIND_LANES, VERIFY_LANES = 256, 64
REFUSED = 0xFFFFFFFF


class IndexMatcher:
    """A `Matcher` for the patterns that have seeds.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    table : SeedTable
        Of these patterns, and as many mismatches.
    room : int, optional
        Candidates that are held at a time; as suits the device if not given.

    Attributes
    ----------
    unseeded : ndarray, int32
        Patterns that it does not look for.
    """

    def __init__(self, engine: Engine, patterns: DevicePatterns, table: SeedTable, *, room: int | None = None) -> None:
        if table.mismatches != patterns.max_mismatches:
            raise ValueError(f"a table for {table.mismatches} mismatches finds not all with {patterns.max_mismatches}")
        self.unseeded = table.unseeded
        self._engine, self._patterns, self._table = engine, patterns, table
        self._wanted = room
        self._on_device = {
            name: engine.upload(getattr(table, name))
            for name in ("bits", "first", "lists", "barred")
            if len(table.lists)
        }
        if len(table.lists):
            self._on_device |= {f"seed_{name}": engine.upload(getattr(table, name)) for name in ("pattern", "offset")}

    def pairs(self, samples: SampleLetters, pieces: NDArray[np.bool_] | None = None) -> FoundPairs:
        """Find all pairs of a block, or of some of its pieces.

        Parameters
        ----------
        samples : SampleLetters
        pieces : ndarray, bool (pieces,), optional
        """
        tally = PairTally(len(self._patterns.patterns))
        if len(self._table.lists):
            for count in self._rounds(samples, Tiles.of(samples.block.pieces, TILE, pieces)):
                self._verify(samples, count, tally)
        return tally.pairs()

    def candidates(self, samples: SampleLetters) -> NDArray[np.int64]:
        """Estimate how many seeds will have to be compared with each piece, from some of its look-ups.

        Returns
        -------
        ndarray, int64 (pieces,)
        """
        count = len(samples.block.pieces)
        tiles = Tiles.of(samples.block.pieces, TILE)
        if not len(self._table.lists) or not len(tiles):
            return np.zeros(count, np.int64)
        length = (tiles.end - tiles.begin).astype(np.int64)
        looked = np.minimum(length, np.maximum(length // SAMPLED, STEP * SAMPLED))
        some = Tiles(tiles.piece, tiles.begin, tiles.begin + looked.astype(np.uint32))
        counts = self._engine.empty(len(tiles), np.uint32)
        table = {name: self._on_device[name] for name in ("bits", "first", "lists")}
        self._launch("count_listed", samples, some, counts=counts, **table)
        estimates = self._engine.download(counts).astype(np.int64) * length // np.maximum(looked, 1)
        found = np.zeros(count, np.int64)
        np.add.at(found, tiles.piece, estimates)
        return found

    # Rounds of candidates

    def _rounds(self, samples: SampleLetters, tiles: Tiles) -> Iterator[int]:
        """Find the candidates of tiles, as many at a time as there is room for; yield how many there are each time."""
        if not len(tiles):
            return
        counts = self._engine.empty(len(tiles), np.uint32)
        total = self._found["total"]
        self._engine.fill(total, 0)
        room = self._room
        self._launch(
            "find_candidates",
            samples,
            tiles,
            **self._on_device,
            **self._found,
            offsets=self._patterns.offsets,
            mismatches=self._table.mismatches,
            room=room,
            counts=counts,
        )
        by_tile = self._engine.download(counts)
        count = int(by_tile.sum(dtype=np.int64))  # which `total` may be too small for
        if count <= room:
            yield count
            return
        for part in tiles.split(by_tile, room):
            yield from self._rounds(samples, part)

    @cached_property
    def _room(self) -> int:
        """How many candidates are held at a time: at least all that one look-up can give."""
        least = len(self._table.lists)
        if self._wanted is not None:
            return max(self._wanted, len(self._table.pattern))
        need = BufferNeed("candidates", per_item=CANDIDATE_BYTES * ROOM_SHARE)
        fit = self._engine.items_that_fit([need], minimum=len(self._table.pattern), item="candidate")
        return min(fit, max(MAX_ROOM, len(self._table.pattern))) if least else 0

    @cached_property
    def _found(self) -> dict[str, DeviceArray]:
        names = ("found_piece", "found_seed", "found_start")
        found = {name: self._engine.empty(self._room, np.uint32) for name in names}
        return found | {"total": self._engine.empty(1, np.uint32)}

    @cached_property
    def _verified(self) -> tuple[DeviceArray, DeviceArray]:
        return self._engine.empty(self._room, np.uint32), self._engine.empty(self._room, np.uint64)

    def _launch(self, name: str, samples: SampleLetters, tiles: Tiles, **arguments: Any) -> None:
        engine = self._engine
        cpu = engine.tuning.cpu
        lanes = 1 if cpu else engine.group_size(FIND_LANES)
        kernel = engine.kernel(
            "signatures/look_up_seeds.cl", name, HEAD=self._table.head, TILE=TILE, CPU=cpu, LANES=lanes
        )
        arguments |= {f"tile_{field.name}": engine.upload(getattr(tiles, field.name)) for field in fields(tiles)}
        known = {"codes": samples.codes, "end": samples.codes.size, "letters": samples.letters, "size": samples.size}
        known["owned"] = samples.owned
        engine.launch(kernel, (len(tiles) * lanes,), (lanes,), **known, **arguments)

    def _verify(self, samples: SampleLetters, count: int, tally: PairTally) -> None:
        """Compare whole patterns at the candidates that were found; give matches to the tally."""
        if not count:
            return
        engine, patterns, found = self._engine, self._patterns, self._found
        cpu = engine.tuning.cpu
        lanes = 1 if cpu else engine.group_size(VERIFY_LANES)
        defines = {"CPU": cpu, "LANES": lanes, "QUALITIES": samples.has_qualities, "FILTERED": patterns.filtered}
        differ, sums = self._verified
        engine.launch(
            engine.kernel("signatures/verify_candidates.cl", "verify_candidates", **defines),
            (count * lanes,),
            (lanes,),
            **samples.block.text.place,
            codes=samples.codes,
            letters=samples.letters,
            qualities=samples.qualities,
            sets=patterns.sets,
            offsets=patterns.offsets,
            seed_pattern=self._on_device["seed_pattern"],
            seed_offset=self._on_device["seed_offset"],
            found_piece=found["found_piece"],
            found_seed=found["found_seed"],
            found_start=found["found_start"],
            seed_size=self._table.head + TAIL,
            mismatches=self._table.mismatches,
            least_sum=patterns.least_sum,
            least_informative=patterns.least_informative,
            differ=differ,
            sums=sums,
        )
        mismatches = engine.download(differ, count)
        kept = np.flatnonzero(mismatches != REFUSED)
        piece, seed, start = (
            engine.download(found[f"found_{name}"], count)[kept] for name in ("piece", "seed", "start")
        )
        tally.add(piece, self._table.pattern[seed], start, mismatches[kept], engine.download(sums, count)[kept])
