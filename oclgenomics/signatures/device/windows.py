"""Where patterns without seeds may match: a window of up to 32 letters of each has to match first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import BufferNeed, DeviceArray, Engine
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.device.tiles import Tiles
from oclgenomics.signatures.letters import is_concrete
from oclgenomics.signatures.panel import Patterns

__all__ = ["FoundStretches", "WindowFinder"]

SOURCE = "signatures/find_windows.cl"
WINDOW = 32  # letters, a bit each
TILE = 1024  # letters
MAX_ITEMS = 1 << 22  # of a launch
MAX_ROOM = 1 << 20  # stretches at a time
SMALLEST_TILE_FINDS = 8  # stretches at most, of a pattern


@dataclass(frozen=True)
class FoundStretches:
    """Stretches of 2 E + 1 diagonals in which patterns may match; arrays of one length, in no order.

    Attributes
    ----------
    piece, pattern : ndarray, uint32
    stretch : ndarray, int64
    last_piece : int
        No match that lies in none of the stretches so far ends in an earlier piece,
    until : ndarray, int64 (patterns,)
        or in this one before these ends.
    """

    piece: NDArray[np.uint32]
    pattern: NDArray[np.uint32]
    stretch: NDArray[np.int64]
    last_piece: int
    until: NDArray[np.int64]


class WindowFinder:
    """Looks for the windows of patterns, those with the most single nucleotides.

    Parameters
    ----------
    engine : Engine
    patterns : Patterns
    numbers : ndarray, uint32
        The patterns to find, at least one.
    max_edits : int
    room : int, optional
        Stretches that are held at a time; as suits the device if not given.
    """

    def __init__(
        self,
        engine: Engine,
        patterns: Patterns,
        numbers: NDArray[np.uint32],
        max_edits: int,
        *,
        room: int | None = None,
    ) -> None:
        self._engine, self._numbers, self._max_edits, self._wanted = engine, numbers, max_edits, room
        heights = np.minimum(patterns.lengths[numbers], WINDOW)
        met = np.zeros((16, len(numbers)), np.uint32)
        behind = np.empty(len(numbers), np.uint32)
        for column, number in enumerate(numbers.tolist()):
            sets = patterns.of(number)
            begin = _best_window(sets, int(heights[column]))
            behind[column] = begin + heights[column]
            window = sets[begin : int(behind[column])]
            meets = (window & np.arange(16, dtype=np.uint8)[:, None]) != 0
            met[:, column] = (meets << np.arange(len(window), dtype=np.uint64)).sum(axis=1)
        # Letters of each pattern behind its window, less those that may be deleted.
        self._margin = np.zeros(len(patterns), np.int64)
        self._margin[numbers] = patterns.lengths[numbers] - behind - max_edits
        self._on_device = {
            "met": engine.upload(met),
            "heights": engine.upload(heights.astype(np.uint32)),
            "behind": engine.upload(behind),
        }

    def find(self, samples: SampleLetters) -> Iterator[FoundStretches]:
        """Find the stretches of a block, from left to right."""
        tiles = Tiles.of(samples.block.pieces, TILE)
        most = max(1, MAX_ITEMS // len(self._numbers))
        for begin in range(0, len(tiles), most):
            yield from self._rounds(samples, tiles.part(begin, begin + most))

    def _rounds(self, samples: SampleLetters, tiles: Tiles) -> Iterator[FoundStretches]:
        engine, found, columns = self._engine, self._found, len(self._numbers)
        counts = engine.empty(len(tiles), np.uint32)
        for array in (found["total"], counts):
            engine.fill(array, 0)
        engine.launch_items(
            engine.kernel(SOURCE, "find_windows", EDITS=self._max_edits),
            len(tiles) * columns,
            lanes=None,
            codes=samples.codes,
            letters=samples.letters,
            columns=columns,
            items=len(tiles) * columns,
            room=self._room,
            counts=counts,
            **{f"tile_{field.name}": engine.upload(getattr(tiles, field.name)) for field in fields(tiles)},
            **self._on_device,
            **found,
        )
        by_tile = engine.download(counts)
        count = int(by_tile.sum(dtype=np.int64))
        if count > self._room:
            for part in tiles.split(by_tile, self._room):
                yield from self._rounds(samples, part)
            return
        piece, column, stretch = (
            engine.download(found[f"found_{name}"], count) for name in ("piece", "column", "stretch")
        )
        until = int(tiles.end[-1]) + self._margin
        yield FoundStretches(piece, self._numbers[column], stretch.astype(np.int64), int(tiles.piece[-1]), until)

    @cached_property
    def _room(self) -> int:
        """How many stretches are held at a time: at least all that the smallest tile can have."""
        least = SMALLEST_TILE_FINDS * len(self._numbers)
        if self._wanted is not None:
            return max(self._wanted, least)
        need = BufferNeed("stretches", per_item=8 * 12)  # leaves most memory to others
        return min(self._engine.items_that_fit([need], minimum=least, item="stretch"), max(MAX_ROOM, least))

    @cached_property
    def _found(self) -> dict[str, DeviceArray]:
        names = ("found_piece", "found_column", "found_stretch")
        found = {name: self._engine.empty(self._room, np.uint32) for name in names}
        return found | {"total": self._engine.empty(1, np.uint32)}


def _best_window(sets: NDArray[np.uint8], size: int) -> int:
    """Where the window with the most single nucleotides begins."""
    known = np.concatenate([[0], np.cumsum(is_concrete(sets))])
    return int(np.argmax(known[size:] - known[: len(known) - size]))
