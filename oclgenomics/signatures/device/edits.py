"""Places at which patterns match with insertions and deletions, in a block.

**Which candidates there are.** A pattern has E + 1 stretches of letters that do not overlap (`seeds.choose_seeds`), and
an alignment with at most E edits leaves one of them whole; there all letters lie on one diagonal, and of the stretch's
seeds the one of the remainder that is looked up lies under the sample. Before and behind that stretch each edit moves
the alignment by one diagonal at most, so it stays within E diagonals of the seed's. Therefore the alignments in the
bands of E diagonals on either side of all seeds that are found give each end with d(e) <= E its least key, and every
number found there is that of an alignment, so that none can be too low.

Diagonals are cut into stretches of 2 E + 1, and each stretch that holds a seed's diagonal becomes one candidate, whose
band has E diagonals more on either side: neighbouring seeds share candidates. Other patterns are candidates where one
of their windows ends with few edits (`lanes`): the whole pattern then starts within E diagonals of that of the window's
end. Patterns that gain by neither are candidates on every stretch on which an alignment can start.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.lazy_names import late
from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.alignments import AT_ONCE, MAX_LETTERS, Aligner, Candidates, EndTally
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters, tiles_of
from oclgenomics.signatures.matches.joining import Places, joined_places
from oclgenomics.signatures.panels.seeds import SeedTable
from oclgenomics.signatures.plan import LanePlan

if TYPE_CHECKING:
    from oclgenomics.signatures.device.index import SeedFinder, SeedPlaces
    from oclgenomics.signatures.device.lanes import LaneFinder
    from oclgenomics.signatures.device.seed_table import DeviceTable

# Most matchers have windows or seeds.
index = late("oclgenomics.signatures.device.index")
lane_finder = late("oclgenomics.signatures.device.lanes")
seed_table = late("oclgenomics.signatures.device.seed_table")

STRETCHES = 4  # more than a piece's letters have, for diagonals that begin before it or end behind it
STRETCH_TILE = 1024  # stretches of diagonals
Lot = tuple[Candidates, int, NDArray[np.int64]]  # and what `EndTally.add` takes: for which ends these are the last


class EditMatcher:
    """Finds places in blocks.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    max_edits : int
        1 to MAX_EDITS.
    table : SeedTable, DeviceTable or None
        Of these patterns and as many mismatches as edits.
    lanes : LanePlan, optional
        Windows of patterns without seeds; those that have neither are aligned everywhere.
    room : int, optional
        Seeds, or marked ends, that are held at a time; as suits the device if not given.
    at_once : int
        Most candidates that are aligned at a time.
    share : int, optional
        See `LaneFinder`.

    Raises
    ------
    ParameterError
        A pattern has more than 2^25 - 1 bases.
    """

    def __init__(
        self,
        engine: Engine,
        patterns: DevicePatterns,
        max_edits: int,
        table: SeedTable | DeviceTable | None,
        lanes: LanePlan | None = None,
        *,
        room: int | None = None,
        at_once: int = AT_ONCE,
        share: int | None = None,
    ) -> None:
        self._lengths = patterns.patterns.lengths
        longest = int(self._lengths.max())
        if longest > MAX_LETTERS:
            raise ParameterError("max_edits", f"a signature of {longest:,} bases is too long for edits", max_edits)
        self._engine, self._patterns, self._max_edits = engine, patterns, max_edits
        self._table: DeviceTable | None = (
            seed_table.DeviceTable.upload(engine, table) if isinstance(table, SeedTable) else table
        )
        self._lanes = lanes if lanes is not None and len(lanes.windows) else None
        self._room, self._at_once, self._share = room, at_once, share
        self._stretch = 2 * max_edits + 1
        everyone = np.arange(len(self._lengths))
        unseeded = everyone if table is None else table.unseeded
        neither = np.ones(len(self._lengths), np.bool_)
        if self._lanes is not None:
            neither[self._lanes.windows.patterns] = False
        self._everywhere_too: NDArray[np.integer[Any]] = unseeded[neither[unseeded]]

    def places(self, samples: SampleLetters) -> Places:
        """Return the places of a block by piece, pattern and end; a piece has those ends that it owns.

        A piece owns the ends whose matches lie in it and begin before the letters that the next piece has first: those
        from a pattern's length and `max_edits` on, or all of the record's first ones, up to those of the next piece.
        """
        aligner = Aligner(self._engine, self._patterns, samples, self._max_edits, self._at_once)
        found = []
        for lots in (self._near_all_seeds(samples), self._near_windows(samples), self._everywhere(samples)):
            tally = EndTally(self._lengths, self._max_edits)
            for candidates, piece, until in lots:
                tally.add(aligner.rows(candidates), piece, until)
            found.append(tally.places())
        return joined_places(Places.joined(found))

    def _near_all_seeds(self, samples: SampleLetters) -> Iterator[Lot]:
        """Candidates of patterns with seeds."""
        if self._finder is None:
            return
        for found in self._finder.find(samples):
            # An alignment that leaves a seed whole ends behind it, however many letters are deleted.
            until = np.full(len(self._lengths), found.until)
            yield self._near_seeds(samples, found), found.last_piece, until

    @cached_property
    def _finder(self) -> SeedFinder | None:
        if self._table is None or not self._table.listed:
            return None
        finder: SeedFinder = index.SeedFinder(self._engine, self._patterns, self._table, edits=True, room=self._room)
        return finder

    def _near_seeds(self, samples: SampleLetters, found: SeedPlaces) -> Candidates:
        """The stretches of diagonals that hold those of seeds."""
        assert self._table is not None
        pattern = self._table.pattern[found.seed]
        diagonal = found.at.astype(np.int64) - self._table.offset[found.seed]
        inside = (diagonal >= -self._max_edits) & (diagonal <= self._last_diagonal(samples, found.piece, pattern))
        stretch = diagonal[inside] // self._stretch
        return self._distinct(samples, found.piece[inside], pattern[inside], stretch)

    def _near_windows(self, samples: SampleLetters) -> Iterator[Lot]:
        """Candidates of patterns with windows."""
        if self._lane_finder is None:
            return
        for found in self._lane_finder.find(samples):
            fits = found.stretch * self._stretch <= self._last_diagonal(samples, found.piece, found.pattern)
            lot = self._distinct(samples, found.piece[fits], found.pattern[fits], found.stretch[fits])
            yield lot, found.last_piece, found.until

    @cached_property
    def _lane_finder(self) -> LaneFinder | None:
        if self._lanes is None:
            return None
        finder: LaneFinder = lane_finder.LaneFinder(
            self._engine, self._patterns.patterns, self._lanes.windows, self._max_edits, self._lanes.each,
            room=self._room, share=self._share,
        )  # fmt: skip
        return finder

    def _distinct(
        self, samples: SampleLetters, piece: NDArray[Any], pattern: NDArray[Any], stretch: NDArray[np.int64]
    ) -> Candidates:
        """Candidates of stretches, each of them once; stretches are at least -1, as diagonals of matches are -E."""
        # All stretches of all pieces have numbers: those of a piece come behind those of the piece before.
        counts = samples.block.pieces.size // np.uint32(self._stretch) + np.uint32(STRETCHES)
        first = np.cumsum(counts, dtype=np.int64) - counts
        numbers = np.sort((first[piece] + stretch + 1) * len(self._lengths) + pattern)
        numbers = numbers[np.flatnonzero(np.diff(numbers, prepend=-1))]
        at, which = np.divmod(numbers, len(self._lengths))
        row = np.searchsorted(first, at, side="right") - 1
        return self._candidates(row, which, at - first[row] - 1)

    def _last_diagonal(self, samples: SampleLetters, piece: NDArray[Any], pattern: NDArray[Any]) -> NDArray[np.int64]:
        """The highest diagonal of a match in a piece."""
        size = samples.block.pieces.size[piece].astype(np.int64)
        last: NDArray[np.int64] = size - self._lengths[pattern] + self._max_edits
        return last

    def _candidates(
        self, piece: NDArray[np.integer], pattern: NDArray[np.integer], stretch: NDArray[np.int64]
    ) -> Candidates:
        low = stretch * self._stretch - self._max_edits
        return Candidates(piece.astype(np.uint32), pattern.astype(np.uint32), low.astype(np.int32))

    def _everywhere(self, samples: SampleLetters) -> Iterator[Lot]:
        """All candidates of patterns with neither seeds nor windows."""
        patterns = self._everywhere_too
        if not len(patterns):
            return
        shortest = int(self._lengths[patterns].min()) - self._max_edits
        starts = np.maximum(samples.block.pieces.size.astype(np.int64) - max(shortest, 1) + 1, 0)
        stretches = -(-starts // self._stretch)
        each = min(STRETCH_TILE, max(1, self._at_once // len(patterns)))
        tile_piece, tile_begin = tiles_of(stretches.astype(np.uint32), each)
        together = max(1, self._at_once // (each * len(patterns)))
        for first in range(0, len(tile_piece), together):
            tiles = slice(first, first + together)
            begin = tile_begin[tiles].astype(np.int64)
            sizes = np.minimum(stretches[tile_piece[tiles]] - begin, each)
            piece = np.repeat(tile_piece[tiles], sizes)
            inside = np.arange(len(piece)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            stretch = np.repeat(begin, sizes) + inside
            low = (int(stretch[-1]) + 1) * self._stretch - self._max_edits
            until = int(piece[-1]), low + self._lengths
            piece, stretch = np.repeat(piece, len(patterns)), np.repeat(stretch, len(patterns))
            pattern = np.resize(patterns, len(piece))
            fits = stretch * self._stretch <= self._last_diagonal(samples, piece, pattern)
            yield self._candidates(piece[fits], pattern[fits], stretch[fits]), *until
