"""Places of samples at which seeds of patterns lie, tile by tile and as many at a time as there is room for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import BufferNeed, DeviceArray, Engine
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.device.tiles import Tiles
from oclgenomics.signatures.seed_table import SeedTable

__all__ = ["SeedFinder", "SeedPlaces"]

SOURCE = "signatures/look_up_seeds.cl"
TILE = 4096  # letters
MAX_ROOM = 1 << 20  # seeds at a time
GPU_LANES = 256


@dataclass(frozen=True)
class SeedPlaces:
    """Seeds found in some tiles; arrays of one length, in no order.

    Attributes
    ----------
    piece, seed, at : ndarray, uint32
        The seed begins at this letter of the piece.
    last_piece, until : int
        All later ones are in later pieces, or in this one at letters from `until` on.
    """

    piece: NDArray[np.uint32]
    seed: NDArray[np.uint32]
    at: NDArray[np.uint32]
    last_piece: int
    until: int


class SeedFinder:
    """Looks samples up in a table of seeds.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    table : SeedTable
        Of these patterns, with at least one seed.
    room : int, optional
        Seeds that are held at a time; as suits the device if not given.
    """

    def __init__(self, engine: Engine, patterns: DevicePatterns, table: SeedTable, *, room: int | None = None) -> None:
        self._engine, self._patterns, self._table, self._wanted = engine, patterns, table, room
        self._on_device = {name: engine.upload(getattr(table, name)) for name in ("bits", "first", "lists", "barred")}
        self._on_device |= {f"seed_{name}": engine.upload(getattr(table, name)) for name in ("pattern", "offset")}

    def find(self, samples: SampleLetters) -> Iterator[SeedPlaces]:
        """Find the seeds of a block, from left to right."""
        yield from self._rounds(samples, Tiles.of(samples.block.pieces, TILE))

    def _rounds(self, samples: SampleLetters, tiles: Tiles) -> Iterator[SeedPlaces]:
        if not len(tiles):
            return
        engine, found = self._engine, self._found
        cpu = engine.tuning.cpu
        lanes = 1 if cpu else engine.group_size(GPU_LANES)
        counts = engine.empty(len(tiles), np.uint32)
        engine.fill(found["total"], 0)
        engine.launch(
            engine.kernel(
                SOURCE, "find_candidates", HEAD=self._table.head, TILE=TILE, CPU=cpu, LANES=lanes, EDITS=True
            ),
            (len(tiles) * lanes,),
            (lanes,),
            codes=samples.codes,
            end=samples.codes.size,
            letters=samples.letters,
            size=samples.size,
            owned=samples.owned,
            offsets=self._patterns.offsets,
            mismatches=0,
            room=self._room,
            counts=counts,
            **{f"tile_{field.name}": engine.upload(getattr(tiles, field.name)) for field in fields(tiles)},
            **self._on_device,
            **found,
        )
        by_tile = engine.download(counts)
        count = int(by_tile.sum(dtype=np.int64))  # which `total` may be too small for
        if count <= self._room:
            piece, seed, at = (engine.download(found[f"found_{name}"], count) for name in ("piece", "seed", "start"))
            yield SeedPlaces(piece, seed, at, int(tiles.piece[-1]), int(tiles.end[-1]))
            return
        for part in tiles.split(by_tile, self._room):
            yield from self._rounds(samples, part)

    @cached_property
    def _room(self) -> int:
        """How many seeds are held at a time: at least all that one look-up can find."""
        least = len(self._table.pattern)
        if self._wanted is not None:
            return max(self._wanted, least)
        need = BufferNeed("seeds", per_item=8 * 12)  # leaves most memory to others
        return min(self._engine.items_that_fit([need], minimum=least, item="seed"), max(MAX_ROOM, least))

    @cached_property
    def _found(self) -> dict[str, DeviceArray]:
        names = ("found_piece", "found_seed", "found_start")
        return {name: self._engine.empty(self._room, np.uint32) for name in names} | {
            "total": self._engine.empty(1, np.uint32)
        }
