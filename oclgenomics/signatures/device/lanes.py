"""Windows of patterns found with edits: another stretch of the letters in each lane of a vector, or in each work-item.

All letters of a block are laid end to end and dealt out to streams (signatures/find_ends.cl), so that lanes are full
whatever the lengths of samples are. A first kernel marks where windows may end; a second one looks at the marked ends
piece by piece. From what it finds follow the stretches of diagonals in which the whole pattern may start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import BufferNeed, DeviceArray, Engine, chunks
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.panels.panel import Patterns
from oclgenomics.signatures.panels.windows import HEIGHT, Windows

SOURCE = "signatures/find_ends.cl"
GPU_LANES = 32
TOGETHER, FEW = 4, 2  # windows of a work-item, and where there are no more than a few
CPU_ITEMS, GPU_ITEMS = 32, 1 << 14  # blocks of streams, and streams, that a text is cut into at least
LEAST_SHARE, MOST_SHARE = 256, 2048  # letters of a stream
MAX_ROOM = 1 << 20  # marks at a time
STRETCH, BEHIND = 4096, 16  # letters of a work-item, and behind those that are laid out, as find_ends.cl has them
MARK_BYTES = 8 + 16 + 4
ROOM_SHARE = 8  # of the memory that is left
NUCLEOTIDES = 4


@dataclass(frozen=True)
class FoundStretches:
    """Stretches of 2 E + 1 diagonals in which patterns may match; arrays of one length, in no order.

    Attributes
    ----------
    piece, pattern : ndarray, int64
    stretch : ndarray, int64
    last_piece : int
        No match that lies in none of the stretches so far ends in an earlier piece,
    until : ndarray, int64 (patterns,)
        or in this one before these ends.
    """

    piece: NDArray[np.int64]
    pattern: NDArray[np.int64]
    stretch: NDArray[np.int64]
    last_piece: int
    until: NDArray[np.int64]


@dataclass(frozen=True)
class Streams:
    """How the letters of a block are dealt out.

    Attributes
    ----------
    firsts : ndarray, int64 (pieces + 1,)
        Letters of all pieces before each.
    share : int
        Letters that a stream owns.
    blocks : int
        Of streams.
    """

    firsts: NDArray[np.int64]
    share: int
    blocks: int

    @property
    def total(self) -> int:
        """Letters of all pieces."""
        return int(self.firsts[-1])


class LaneFinder:
    """Looks for windows in blocks.

    Parameters
    ----------
    engine : Engine
    patterns : Patterns
    windows : Windows
        At least one.
    max_edits : int
        Of whole patterns.
    each : int
        Of so many ends one is looked at; odd, at most 31.
    room : int, optional
        Marks that are held at a time; as suits the device if not given.
    share : int, optional
        Letters of a stream, a multiple of `each`; as suits the device and the block if not given.
    at_once : int, optional
        Letters that are laid out at a time, in one block of streams at least; as suits the device if not given.
    """

    def __init__(
        self,
        engine: Engine,
        patterns: Patterns,
        windows: Windows,
        max_edits: int,
        each: int,
        *,
        room: int | None = None,
        share: int | None = None,
        at_once: int | None = None,
    ) -> None:
        self._engine, self._windows, self._max_edits, self._each = engine, windows, max_edits, each
        self._wanted, self._share, self._laid = room, share, at_once
        self._arrays: list[Any] = [None, None]
        self._cpu = engine.tuning.cpu
        self._lanes = engine.tuning.vector_bytes // 4 if self._cpu else GPU_LANES
        reach = int((windows.height + windows.edits).max())
        self._skipped = -(-reach // each) * each  # letters that a stream reads before one of its ends is looked at
        self._together = FEW if len(windows) <= FEW else TOGETHER
        self._defines = {"LANES": self._lanes, "EACH": each, "TOGETHER": self._together, "CPU": self._cpu}
        self._records = engine.upload(_window_records(patterns, windows))
        # Letters of each pattern behind its last window, less those that may be deleted.
        self._margin = np.zeros(len(patterns), np.int64)
        self._margin[windows.pattern] = patterns.lengths[windows.pattern] - windows.behind - max_edits

    def find(self, samples: SampleLetters) -> Iterator[FoundStretches]:
        """Find the stretches of a block, from left to right."""
        dealt = self._dealt(samples)
        size = dealt.share + self._skipped
        for first, stop in chunks(dealt.blocks, max(1, self._at_once // (size * self._lanes))):
            laid = self._lay(samples, dealt, first, stop - first)
            yield from self._rounds(samples, dealt, laid, (first, 0, stop - first), (0, len(self._windows)))

    def _dealt(self, samples: SampleLetters) -> Streams:
        """Cut the letters of a block into streams."""
        firsts = np.concatenate([[0], np.cumsum(samples.block.pieces.size, dtype=np.int64)])
        share = self._share
        if share is None:
            streams = CPU_ITEMS * self._lanes if self._cpu else GPU_ITEMS
            share = min(max(int(firsts[-1]) // streams, LEAST_SHARE), MOST_SHARE) // self._each * self._each
        return Streams(firsts, share, -(-int(firsts[-1]) // (share * self._lanes)))

    def _lay(self, samples: SampleLetters, dealt: Streams, first: int, blocks: int) -> DeviceArray:
        """Lay out so many blocks of streams."""
        engine, streams, size = self._engine, blocks * self._lanes, dealt.share + self._skipped
        before, length = self._skipped + self._each // 2, self._lanes * dealt.share + self._skipped + BEHIND
        places = self._places(samples, dealt, np.arange(first, first + blocks), before, length)
        cut = np.flatnonzero(places < 0)
        out, joined = self._kept(1, streams * size), None
        alone = 1 if self._cpu else None
        if len(cut):
            joined, items = self._kept(0, len(cut) * length), len(cut) * -(-length // STRETCH)
            places[cut] = ~(np.arange(len(cut)) * length)
            engine.launch_items(
                engine.kernel(SOURCE, "join_letters", **self._defines), items, lanes=alone,
                codes=samples.codes, pieces=samples.pieces, firsts=engine.upload(dealt.firsts.astype(np.uint32)),
                count=len(dealt.firsts) - 1, total=dealt.total, before=before,
                blocks=engine.upload((first + cut).astype(np.uint32)), items=items, step=self._lanes * dealt.share,
                size=length, joined=joined,
            )  # fmt: skip
        engine.launch_items(
            engine.kernel(SOURCE, "lay_streams", **self._defines), blocks if self._cpu else streams,
            lanes=alone, codes=samples.codes, joined=joined, places=engine.upload(places), share=dealt.share, size=size,
            streams=streams, out=out,
        )  # fmt: skip
        return out

    def _places(
        self, samples: SampleLetters, dealt: Streams, block: NDArray[np.int64], before: int, length: int
    ) -> NDArray[np.int64]:
        """Where the bases of blocks begin among the codes, -1 for those that lie in more than one piece."""
        begin = block * (self._lanes * dealt.share) - before
        piece = np.searchsorted(dealt.firsts[1:], begin, side="right")
        piece = np.minimum(piece, len(dealt.firsts) - 2)
        whole = (begin >= dealt.firsts[piece]) & (begin + length <= dealt.firsts[piece + 1])
        place = samples.block.pieces.letters[piece].astype(np.int64) + begin - dealt.firsts[piece]
        return np.where(whole, place, -1)

    def _kept(self, number: int, size: int) -> DeviceArray:
        """An array of so many bytes, of which the memory serves all blocks."""
        if self._arrays[number] is None or self._arrays[number].size < size:
            self._arrays[number] = None  # before there is another one
            self._arrays[number] = self._engine.empty(size, np.uint8)
        return DeviceArray(self._arrays[number].memory, (size,), self._arrays[number].dtype)

    def _rounds(
        self,
        samples: SampleLetters,
        dealt: Streams,
        laid: DeviceArray,
        blocks: tuple[int, int, int],
        windows: tuple[int, int],
    ) -> Iterator[FoundStretches]:
        """Look for some windows in some blocks, those laid first, those left out of them and those to look at."""
        first, skip, count = blocks
        begin, number = windows
        engine = self._engine
        counts = engine.empty(1 + count, np.uint32)
        engine.fill(counts, 0)
        items, lanes = (count, 1) if self._cpu else (count * self._lanes, self._lanes)
        engine.launch(
            engine.kernel(SOURCE, "mark_ends", **self._defines), (items, -(-number // self._together)), (lanes, 1),
            streams=laid, windows=self._records, first=first, skip=skip, blocks=count, begin=begin, count=number,
            share=dealt.share, size=dealt.share + self._skipped, total=dealt.total, room=self._room,
            found=self._found, counts=counts,
        )  # fmt: skip
        by_block = engine.download(counts)[1:].astype(np.int64)
        total = int(by_block.sum())
        if total <= self._room:
            last = begin + number == len(self._windows)
            known = (first + skip + count if last else first + skip) * self._lanes * dealt.share
            yield self._stretches(samples, dealt, total, known)
        elif count > 1:
            ends = np.cumsum(by_block)
            at = 0
            while at < count:
                fit = int(np.searchsorted(ends, ends[at] - by_block[at] + self._room, side="right"))
                stop = max(fit, at + 1)
                yield from self._rounds(samples, dealt, laid, (first, skip + at, stop - at), windows)
                at = stop
        else:
            half = -(-number // (2 * self._together)) * self._together
            yield from self._rounds(samples, dealt, laid, blocks, (begin, half))
            yield from self._rounds(samples, dealt, laid, blocks, (begin + half, number - half))

    def _stretches(self, samples: SampleLetters, dealt: Streams, count: int, known: int) -> FoundStretches:
        """The stretches of the marks of a round; all windows that end before letter `known` are found by then."""
        known = min(known, dealt.total)
        ended = known == dealt.total
        last_piece = len(dealt.firsts) - 1 if ended else int(np.searchsorted(dealt.firsts, known, side="right")) - 1
        until = self._margin + (known - int(dealt.firsts[last_piece]))
        window, piece, begin, mask = self._checked(samples, dealt, count)
        windows, edits = self._windows, self._max_edits
        diagonal = begin + 1 - windows.behind[window]  # of the window's end, if that is the first end
        high = diagonal + np.frexp(mask)[1] - 1 + edits
        low = diagonal + np.frexp(mask & -mask)[1] - 1 - edits
        inside = high >= 0
        width = 2 * edits + 1
        first, last = np.maximum(low[inside], 0) // width, high[inside] // width
        sizes = last - first + 1
        which = np.flatnonzero(inside).repeat(sizes)
        stretch = np.arange(len(which)) - (np.cumsum(sizes) - sizes).repeat(sizes) + first.repeat(sizes)
        return FoundStretches(piece[which], windows.pattern[window[which]], stretch, last_piece, until)

    def _checked(self, samples: SampleLetters, dealt: Streams, count: int) -> tuple[NDArray[np.int64], ...]:
        """The marks that hold ends: windows, pieces, the first ends that were looked at, and bits of those found."""
        engine, room = self._engine, self._room
        window, first = (engine.download(self._found, count, column * room) for column in range(2))
        records = _by_piece(dealt.firsts, window, first.astype(np.int64), self._each)
        masks = engine.empty(max(len(records), 1), np.uint32)
        engine.launch_items(
            engine.kernel(SOURCE, "check_ends", **self._defines), len(records), codes=samples.codes,
            pieces=samples.pieces, windows=self._records, stretches=engine.upload(records) if len(records) else None,
            count=len(records), masks=masks,
        )  # fmt: skip
        mask = engine.download(masks, len(records))
        kept = np.flatnonzero(mask)
        columns = records[kept, :3].astype(np.int64).T
        return columns[0], columns[1], columns[2], mask[kept].astype(np.int64)

    @cached_property
    def _room(self) -> int:
        """How many marks are held at a time: those of TOGETHER windows in a block of streams at least."""
        least = (self._share or MOST_SHARE) // self._each * self._lanes * TOGETHER
        need = BufferNeed("marks", per_item=ROOM_SHARE * MARK_BYTES)
        fit = min(MAX_ROOM, self._engine.items_that_fit([need], item="mark")) if self._wanted is None else self._wanted
        return max(fit, least)

    @cached_property
    def _at_once(self) -> int:
        """How many letters are laid out at a time, in half of the memory that is left before the first of them."""
        if self._laid is not None:
            return self._laid
        return self._engine.items_that_fit([BufferNeed("letters", per_item=4)], item="base")

    @cached_property
    def _found(self) -> DeviceArray:
        return self._engine.empty((2, self._room), np.uint32)


def _window_records(patterns: Patterns, windows: Windows) -> NDArray[np.uint32]:
    """What kernels know of windows, as find_ends.cl has it."""
    below = (1 << (HEIGHT - windows.height)) - 1
    met = np.zeros((len(windows), NUCLEOTIDES), np.int64)
    first = patterns.offsets[windows.pattern] + windows.begin
    for row in range(int(windows.height.max())):
        inside = row < windows.height
        sets = patterns.sets[np.minimum(first + row, len(patterns.sets) - 1)].astype(np.int64)
        bit = np.where(inside, np.int64(1) << (HEIGHT - windows.height + row) % HEIGHT, 0)
        met |= (sets[:, None] >> np.arange(NUCLEOTIDES) & 1) * bit[:, None]
    columns = [*(met | below[:, None]).T, below, windows.height, windows.behind, windows.edits]
    return np.column_stack(columns).astype(np.uint32)


def _by_piece(
    firsts: NDArray[np.int64], window: NDArray[np.uint32], first: NDArray[np.int64], each: int
) -> NDArray[np.uint32]:
    """The window of each mark, each piece that its ends lie in, and which ends of the piece they are."""
    behind = np.minimum(first + each, firsts[-1])
    low, high = (np.searchsorted(firsts, at, side="right") - 1 for at in (first, behind - 1))
    piece = low
    if (high > low).any():
        pieces = high - low + 1
        rows = np.arange(len(first)).repeat(pieces)
        piece = low[rows] + np.arange(len(rows)) - (np.cumsum(pieces) - pieces).repeat(pieces)
        rows, piece = (of[firsts[piece] < firsts[piece + 1]] for of in (rows, piece))
        window, first, behind = window[rows], first[rows], behind[rows]
    begin = np.maximum(first, firsts[piece]) - firsts[piece]
    end = np.minimum(behind, firsts[piece + 1]) - firsts[piece]
    return np.column_stack([window, piece, begin, end]).astype(np.uint32)
