"""An index of seeds: one look at a table for each few bases of samples tells where patterns may match."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import BufferNeed, DeviceArray, Engine
from oclgenomics.signatures.device.pairs import FoundPairs, PairTally
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import TILE, SampleLetters, Tiles
from oclgenomics.signatures.device.seed_table import DeviceTable
from oclgenomics.signatures.panels.seeds import TAIL, SeedTable

MAX_ROOM = 1 << 20  # seeds at a time
FOUND_COLUMNS = 3  # a piece, a seed and a start
FACTS = 6  # of a candidate: these, mismatches, and the lower and the upper half of a sum
SEED_BYTES, CANDIDATE_BYTES = 4 * FOUND_COLUMNS, 4 * (FOUND_COLUMNS + FACTS)
ROOM_SHARE = 8  # of the memory that is left
FIND_LANES, VERIFY_LANES = 256, 64
REFUSED = 0xFFFFFFFF


class TileSearch(ABC):
    """Looks tiles through, and holds as many finds at a time as there is room for.

    Parameters
    ----------
    engine : Engine
    item : str
        What is found.
    size : int
        Bytes of one.
    least : int
        Finds that the smallest tile can have.
    room : int or None
        Finds that are held at a time; as suits the device if None.
    """

    def __init__(self, engine: Engine, item: str, size: int, least: int, room: int | None) -> None:
        self._engine, self._item, self._size, self._least, self._wanted = engine, item, size, least, room

    def rounds(self, samples: SampleLetters, tiles: Tiles) -> Iterator[tuple[int, Tiles]]:
        """Look tiles through; yield how many finds `download` returns each time, and in which tiles they are."""
        if not len(tiles):
            return
        counts = self._engine.empty(1 + len(tiles), np.uint32)
        self._engine.fill(counts, 0)
        self._search(samples, tiles, room=self.room, found=self.found, counts=counts)
        by_tile = self._engine.download(counts)[1:]
        count = int(by_tile.sum(dtype=np.int64))  # which the kernel's own count may be too small for
        if count <= self.room:
            yield count, tiles
            return
        for part in tiles.split(by_tile, self.room):
            yield from self.rounds(samples, part)

    @abstractmethod
    def _search(self, samples: SampleLetters, tiles: Tiles, **finds: Any) -> None:
        """Enqueue the search."""

    def download(self, count: int) -> list[NDArray[np.uint32]]:
        """Return the columns of the finds of a round."""
        return [self._engine.download(self.found, count, column * self.room) for column in range(FOUND_COLUMNS)]

    @cached_property
    def room(self) -> int:
        """How many finds are held at a time."""
        if self._wanted is not None:
            return max(self._wanted, self._least)
        need = BufferNeed(f"{self._item}s", per_item=ROOM_SHARE * self._size)
        fit = self._engine.items_that_fit([need], minimum=self._least, item=self._item)
        return min(fit, max(MAX_ROOM, self._least))

    @cached_property
    def found(self) -> DeviceArray:
        """The finds of a round."""
        return self._engine.empty((FOUND_COLUMNS, self.room), np.uint32)


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


class SeedFinder(TileSearch):
    """Looks samples up in a table of seeds, tile by tile and as many seeds at a time as there is room for.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    table : DeviceTable
        Of these patterns, with at least one seed.
    edits : bool
        Find seeds wherever they are. Without, those at which the whole pattern may match: `found_start` is then where
        the pattern starts.
    room : int, optional
        Seeds that are held at a time; as suits the device if not given.

    Attributes
    ----------
    table : DeviceTable
    found : DeviceArray, uint32 (3, room)
        Pieces, seeds and starts of a round.
    """

    def __init__(
        self, engine: Engine, patterns: DevicePatterns, table: DeviceTable, *, edits: bool, room: int | None = None
    ) -> None:
        super().__init__(engine, "seed", SEED_BYTES if edits else CANDIDATE_BYTES, len(table.pattern), room)
        self._patterns = patterns
        self._defines = {"HEAD": table.head, "EDITS": edits, "MISMATCHES": 0 if edits else table.mismatches}
        self.table = table

    def find(self, samples: SampleLetters) -> Iterator[SeedPlaces]:
        """Find the seeds of a block, from left to right."""
        for count, tiles in self.rounds(samples, samples.tiles):
            piece, seed, at = self.download(count)
            last_piece, _, until = tiles.records[-1].tolist()
            yield SeedPlaces(piece, seed, at, last_piece, until)

    def _search(self, samples: SampleLetters, tiles: Tiles, **finds: Any) -> None:
        patterns = self._patterns.on_device
        self.launch("find_candidates", samples, tiles, **self.table.arrays, patterns=patterns, **finds)

    def launch(self, name: str, samples: SampleLetters, tiles: Tiles, **arguments: Any) -> None:
        """Enqueue a kernel that looks tiles up."""
        cpu = self._engine.tuning.cpu
        lanes = 1 if cpu else self._engine.group_size(FIND_LANES)
        self._engine.launch(
            self._engine.kernel("signatures/look_up_seeds.cl", name, TILE=TILE, CPU=cpu, LANES=lanes, **self._defines),
            (len(tiles) * lanes,), (lanes,), codes=samples.codes, pieces=samples.pieces,
            tiles=tiles.upload(self._engine), **arguments,
        )  # fmt: skip


class IndexMatcher:
    """Finds the pairs of the patterns that have seeds.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    table : SeedTable or DeviceTable
        Of these patterns, and as many mismatches.
    room : int, optional
        Candidates that are held at a time; as suits the device if not given.

    Attributes
    ----------
    unseeded : ndarray, int32
        Patterns that it does not look for.
    """

    def __init__(
        self, engine: Engine, patterns: DevicePatterns, table: SeedTable | DeviceTable, *, room: int | None = None
    ) -> None:
        if table.mismatches != patterns.max_mismatches:
            raise ValueError(f"a table for {table.mismatches} mismatches finds not all with {patterns.max_mismatches}")
        self.unseeded = table.unseeded
        table = table if isinstance(table, DeviceTable) else DeviceTable.upload(engine, table)
        self._engine, self._patterns, self._table = engine, patterns, table
        self._finder = SeedFinder(engine, patterns, table, edits=False, room=room) if table.listed else None

    def pairs(self, samples: SampleLetters, pieces: NDArray[np.bool_] | None = None) -> FoundPairs:
        """Find all pairs of a block, or of some of its pieces.

        Parameters
        ----------
        samples : SampleLetters
        pieces : ndarray, bool (pieces,), optional
        """
        tally = PairTally(len(self._patterns.patterns))
        if self._finder is not None:
            tiles = samples.tiles if pieces is None else Tiles.of(samples.block.pieces, TILE, pieces)
            for count, _ in self._finder.rounds(samples, tiles):
                if count:
                    self._verify(self._finder, samples, count, tally)
        return tally.pairs()

    def candidates(self, samples: SampleLetters) -> NDArray[np.int64]:
        """Estimate how many seeds will have to be compared with each piece, from some of its look-ups.

        Returns
        -------
        ndarray, int64 (pieces,)
        """
        pieces, tiles = len(samples.block.pieces), samples.tiles
        if self._finder is None or not len(tiles):
            return np.zeros(pieces, np.int64)
        counts = self._engine.empty(len(tiles), np.uint32)
        table = {name: self._table.arrays[name] for name in ("bits", "first")}
        self._finder.launch("count_listed", samples, tiles, counts=counts, **table)
        return tiles.by_piece(self._engine.download(counts).astype(np.int64), pieces)

    @cached_property
    def _verified(self) -> DeviceArray:
        assert self._finder is not None
        return self._engine.empty((self._finder.room, FACTS), np.uint32)

    def _verify(self, finder: SeedFinder, samples: SampleLetters, count: int, tally: PairTally) -> None:
        """Compare whole patterns at the candidates that were found; give matches to the tally."""
        engine, patterns = self._engine, self._patterns
        cpu = engine.tuning.cpu
        lanes = 1 if cpu else engine.group_size(VERIFY_LANES)
        kernel = engine.kernel(
            "signatures/verify_candidates.cl", "verify_candidates", CPU=cpu, LANES=lanes,
            QUALITIES=samples.has_qualities, FILTERED=patterns.filtered, MISMATCHES=self._table.mismatches,
        )  # fmt: skip
        engine.launch(
            kernel, (count * lanes,), (lanes,), **samples.arguments, **patterns.arguments,
            seeds=self._table.arrays["seeds"], seed_size=self._table.head + TAIL, found=finder.found, room=finder.room,
            facts=self._verified,
        )  # fmt: skip
        facts = engine.download(self._verified, FACTS * count).reshape(-1, FACTS)
        piece, seed, start, mismatches, low, high = facts[facts[:, 3] != REFUSED].T
        sums = high.astype(np.uint64) << np.uint64(32) | low
        tally.add(piece, self._table.pattern[seed], start, mismatches, sums)
