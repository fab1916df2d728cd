"""Sketches on the device: which windows a text has, their features, and sketches brought together by reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.plan import by_length, count_windows
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.pieces import Pieces

SOURCE = "classify/sketch_windows.cl"
CPU_ROUNDS = 16  # vectors of windows that a work-item takes, so that it seldom looks for a piece
MIN_ROOM = 1 << 12  # windows


@dataclass(frozen=True)
class WindowCut:
    """Windows that start in what pieces own; arrays with an item a piece.

    Window i of piece p has the letters letters[p] + i * winstride .. of the text, `winlen` of them or as many as there
    are up to the piece's end.

    Attributes
    ----------
    letters : ndarray, uint32
        Place in the text of the first letter of the piece's first window.
    sizes : ndarray, uint32
        Letters from there to the piece's end; of no meaning where the piece has no window.
    first : ndarray, uint32 (pieces + 1,)
        Windows of the pieces before.
    windows : ndarray, int64
        Number of the piece's first window in its record.
    """

    letters: NDArray[np.uint32]
    sizes: NDArray[np.uint32]
    first: NDArray[np.uint32]
    windows: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.uint32]:
        """Windows of each piece."""
        counts: NDArray[np.uint32] = np.diff(self.first)
        return counts

    @property
    def size(self) -> int:
        """Windows of all pieces."""
        return int(self.first[-1])


def cut_windows(pieces: Pieces, options: SketchOptions) -> WindowCut:
    """Say which windows start in what each piece owns.

    Those of a record start at multiples of the stride. A piece that does not end its record has all letters of windows
    that start in what it owns; the last one knows the length of the record, and so its last window.

    Parameters
    ----------
    pieces : Pieces
        With an overlap of `winlen` - 1 letters.
    options : SketchOptions
    """
    stride = options.winstride
    # of records that are one piece, as most are
    counts = by_length(lambda sizes: count_windows(sizes, options).astype(np.uint32), pieces.size)
    letters, sizes, windows = pieces.letters, pieces.size, np.broadcast_to(np.int64(0), len(pieces))
    if pieces.start.any() or not pieces.ends.all():
        parts = np.flatnonzero((pieces.start > 0) | ~pieces.ends)
        begin, ends = pieces.start[parts], pieces.ends[parts]
        first = -(-begin // stride)
        last = np.where(
            ends, count_windows(begin + pieces.size[parts], options), -(-(begin + pieces.owned[parts]) // stride)
        )
        windows = windows.copy()
        windows[parts], counts[parts] = first, last - first
        left_out = np.minimum(first * stride - begin, pieces.size[parts]).astype(np.uint32)
        letters, sizes = letters.copy(), sizes.copy()
        letters[parts] += left_out
        sizes[parts] -= left_out
    return WindowCut(letters, sizes, _before(counts), windows)


def _before(counts: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """How many windows are before those of each piece, and of all; most inputs have as many of each read."""
    before = np.arange(len(counts) + 1, dtype=np.uint32)
    if len(counts) and counts.min() == counts.max():
        before *= counts[0]
    else:
        np.cumsum(counts, out=before[1:])
    return before


@dataclass(frozen=True)
class Sketches:
    """Sketches of windows that follow each other.

    Attributes
    ----------
    features : DeviceArray, uint32 (windows or more, sketchlen)
        Of each window in ascending order, then `hashes.NO_FEATURE`.
    windows : int
    """

    features: DeviceArray
    windows: int

    @property
    def size(self) -> int:
        """Features of a window at most."""
        return self.features.shape[1]


class Sketcher:
    """Sketches the windows of one block after the other.

    Parameters
    ----------
    engine : Engine
    options : SketchOptions
    """

    def __init__(self, engine: Engine, options: SketchOptions) -> None:
        self._engine, self._options = engine, options
        cpu = engine.tuning.cpu
        self._lanes = engine.tuning.vector_bytes // 4 if cpu else 1
        self._rounds = CPU_ROUNDS if cpu else 1
        self._group = 1 if cpu else None  # the tuning's
        self._features: DeviceArray | None = None

    def sketch(self, text: Text, cut: WindowCut) -> Sketches:
        """Sketch windows of a text, in their order.

        The features lie in memory that the next call uses again.

        Parameters
        ----------
        text : Text
        cut : WindowCut
        """
        features = self._room(cut.size)
        if cut.size:
            engine, options = self._engine, self._options
            defines = {"TRIPLETS": options.min_triplets, "LOWER": options.soft_masked, "ROUNDS": self._rounds}
            kernel = engine.kernel(SOURCE, "sketch_windows", KMER=options.kmerlen, LANES=self._lanes, **defines)
            arrays = {name: engine.upload(array) for name, array in _arrays(cut).items()}
            engine.launch_items(
                kernel, -(-cut.size // (self._lanes * self._rounds)), lanes=self._group, **text.place, size=text.size,
                **arrays, pieces=len(cut.letters), windows=cut.size, winlen=options.winlen, stride=options.winstride,
                sketch=options.sketchlen, features=features,
            )  # fmt: skip
        return Sketches(features, cut.size)

    def _room(self, windows: int) -> DeviceArray:
        """Memory for the features of so many windows, of a quarter more where there is too little, so that it stays."""
        if self._features is None or self._features.shape[0] < windows:
            self._features = None  # which gives it back before more is taken
            room = max(MIN_ROOM, windows + windows // 4)
            self._features = self._engine.empty((room, self._options.sketchlen), np.uint32)
        return self._features


def _arrays(cut: WindowCut) -> dict[str, NDArray[np.uint32]]:
    return {"letters": cut.letters, "sizes": cut.sizes, "first": cut.first}


class SketchRows:
    """Sketches of neighbouring windows: rows of an array.

    Attributes
    ----------
    sketches : Sketches
    begin, end : int
    """

    def __init__(self, sketches: Sketches, begin: int, end: int) -> None:
        self.sketches, self.begin, self.end = sketches, begin, end

    def __len__(self) -> int:
        return self.end - self.begin


def joined_rows(engine: Engine, parts: list[SketchRows]) -> Sketches:
    """Copy rows to an array of their own, one part behind the other; there is at least one."""
    size = parts[0].sketches.size
    target = _new_rows(engine, sum(map(len, parts)), size)
    to = 0
    for part in parts:
        _move_rows(engine, "copy_rows", size, part, target, to=to)
        to += len(part)
    return target


def paired_rows(engine: Engine, mates: list[tuple[SketchRows, NDArray[np.int64]]]) -> Sketches:
    """Bring the rows of mates together: those of the first pair's first mate, of its second one, of the next pair ...

    Parameters
    ----------
    engine : Engine
    mates : list of (SketchRows, ndarray int64 (reads,))
        Of the first mates and of the second ones: their rows, and how many each read has.
    """
    counts = np.stack([counts for _, counts in mates], axis=1)
    ends = np.cumsum(counts).reshape(counts.shape)
    size = mates[0][0].sketches.size
    target = _new_rows(engine, sum(len(rows) for rows, _ in mates), size)
    for (rows, count), end in zip(mates, ends.T, strict=True):
        shifts = end - np.cumsum(count)  # how far each read's rows move
        places = (np.repeat(shifts, count) + np.arange(len(rows))).astype(np.uint32)
        if len(places):
            _move_rows(engine, "place_rows", size, rows, target, places=engine.upload(places))
    return target


def _new_rows(engine: Engine, rows: int, size: int) -> Sketches:
    return Sketches(engine.empty((max(rows, 1), size), np.uint32), rows)


def _move_rows(engine: Engine, name: str, size: int, rows: SketchRows, target: Sketches, **arguments: Any) -> None:
    cpu = engine.tuning.cpu
    kernel = engine.kernel("classify/sketch_rows.cl", name, SKETCH=size, CPU=cpu)
    arrays: dict[str, Any] = {"source": rows.sketches.features, "target": target.features}
    items = len(rows) if cpu else len(rows) * size
    engine.launch_items(kernel, items, begin=rows.begin, rows=len(rows), **arrays, **arguments)
