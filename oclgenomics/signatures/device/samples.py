"""Samples as the kernels compare them: bases as sets of nucleotides, tiles of them, and sums of qualities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.parse import NO_QUALITY
from oclgenomics.sequence.pieces import LetterBlock, Pieces
from oclgenomics.signatures.options import BEST_QUALITY
from oclgenomics.signatures.panels.seeds import STEP

TILE = 4096  # bases that are encoded, or looked up, together
ENCODE_LANES = 128
BEHIND = 64  # codes behind a text, as encode.cl has it
NOTHING = 0xFFFFFFFF
PARTS = 16  # of a tile with too many candidates
QUALITY_SUMS = "signatures/quality_sums.cl"
SUM_TYPES = {"uint": np.uint32, "ulong": np.uint64}
GROUP = 32  # bytes; as quality_sums.clh has it


@dataclass(frozen=True)
class SampleLetters:
    """The letters of a block's pieces, checked, on the device.

    Attributes
    ----------
    block : LetterBlock
    codes : DeviceArray, uint8 (block.text.size + BEHIND,)
        For each place of the text that holds a letter: in the low four bits its set of nucleotides, in the high four
        its code in the five letters of the index (A 0, C 1, G 2, T 3, all others 4). Of no meaning at other places.
    records : ndarray, uint32 (pieces, 4)
        Letters, size, owned and qualities as `Pieces` has them. Qualities repeat letters where samples have none.
    pieces : DeviceArray
        The records.
    has_qualities : bool
    ns : ndarray, int64 (pieces,)
        Letters N of what each piece owns.
    ambiguous : ndarray, int64 (pieces,)
        Letters of what each piece owns that are no single nucleotide, N among them.
    quality_sum : ndarray, uint64 (pieces,)
        Of what each piece owns; 0 without qualities.
    least_quality : ndarray, uint8 (pieces,)
        The lowest quality of what each piece owns; 255 where there is none.
    tiles : Tiles
        All pieces, in tiles of `TILE` bases at most.
    """

    block: LetterBlock
    codes: DeviceArray
    records: NDArray[np.uint32]
    pieces: DeviceArray
    has_qualities: bool
    ns: NDArray[np.int64]
    ambiguous: NDArray[np.int64]
    quality_sum: NDArray[np.uint64]
    least_quality: NDArray[np.uint8]
    tiles: Tiles

    @property
    def arguments(self) -> dict[str, Any]:
        """Return what kernels take of the bases, and of the text that holds them."""
        return {"codes": self.codes, "pieces": self.pieces, **self.block.text.place}

    @cached_property
    def owned_letters(self) -> NDArray[np.int64]:
        """Letters that each piece owns."""
        return self.block.pieces.owned.astype(np.int64)

    def rate(self, times: int = 1) -> tuple[float, int]:
        """Return the share of bases that are no single nucleotide, and how many bases so many such blocks have."""
        letters = int(self.owned_letters.sum())
        return float(self.ambiguous.sum()) / max(letters, 1), letters * times


class Encoder:
    """Checks the letters and qualities of blocks, and turns letters into codes.

    The codes of all blocks are in one array, so what `encode` returns is valid until it is called again.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._codes: DeviceArray | None = None

    def encode(self, block: LetterBlock) -> SampleLetters:
        """Encode a block.

        Raises
        ------
        InputError
            A base that is no IUPAC code, or a quality outside 0 to 93, with its record and byte.
        """
        engine, pieces = self._engine, block.pieces
        scored = pieces.qualities is not None
        if pieces.table is None:
            records = piece_records(pieces)
            on_device = engine.upload(records if len(records) else np.zeros((1, 4), np.uint32))  # no buffer is empty
        else:
            records, on_device = pieces.table[0], pieces.table[1].device
        size = block.text.size + BEHIND
        if self._codes is None or self._codes.size < size:
            self._codes = engine.empty(size, np.uint8)
        codes = DeviceArray(self._codes.memory, (size,), self._codes.dtype)
        tiles = Tiles.of(pieces, TILE)
        counts = self._launch(block, codes, on_device, tiles, scored=scored)
        return SampleLetters(block, codes, records, on_device, scored, *_by_piece(tiles, len(pieces), counts), tiles)

    def _launch(
        self, block: LetterBlock, codes: DeviceArray, pieces: DeviceArray, tiles: Tiles, *, scored: bool
    ) -> NDArray[np.uint32]:
        """Encode tiles and return the counts of each, uint32 (tiles, 4)."""
        if not len(tiles):
            return np.empty((0, 4), np.uint32)
        engine, cpu = self._engine, self._engine.tuning.cpu
        counts = engine.empty(4 * len(tiles) + 2, np.uint32)
        engine.fill(counts, NOTHING)
        lanes = 1 if cpu else engine.group_size(ENCODE_LANES)
        kernel = engine.kernel("signatures/encode.cl", "encode_letters", CPU=cpu, LANES=lanes, QUALITIES=scored)
        engine.launch(
            kernel, (len(tiles) * lanes,), (lanes,), **block.text.place, pieces=pieces, count=len(block.pieces),
            tiles=tiles.upload(engine), tile_count=len(tiles), text_size=block.text.size, codes=codes, counts=counts,
        )  # fmt: skip
        found = engine.download(counts)
        _refuse_defects(block, found[-2:])
        return found[:-2].reshape(-1, 4)


def piece_records(pieces: Pieces) -> NDArray[np.uint32]:
    """Return what kernels know of pieces, as `SampleLetters.records`."""
    qualities = pieces.letters if pieces.qualities is None else pieces.qualities
    return np.stack([pieces.letters, pieces.size, pieces.owned, qualities], axis=1)


def _refuse_defects(block: LetterBlock, defects: NDArray[np.uint32]) -> None:
    """Refuse the block if it has a base or a quality that is none, the earlier one."""
    letter, quality = (int(place) for place in defects)
    place = min(letter, quality)
    if place == NOTHING:
        return
    byte = bytes(block.host[place : place + 1]).decode("latin-1")
    if place == letter:
        raise block.error_at(place, f"{byte!r} is no nucleotide; write bases as IUPAC codes or U")
    raise block.error_at(place, f"{byte!r} is no quality; those are the characters ! to ~ (Phred + 33)")


def _by_piece(
    tiles: Tiles, pieces: int, counts: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8]]:
    """Numbers of Ns and ambiguous letters, the sum of qualities and the lowest, of each piece."""
    ns, ambiguous = (tiles.by_piece(counts[:, column].astype(np.int64), pieces) for column in range(2))
    quality_sum = tiles.by_piece(counts[:, 2].astype(np.uint64), pieces)
    least = tiles.by_piece(counts[:, 3].astype(np.uint8), pieces, np.minimum, nothing=NO_QUALITY)
    return ns, ambiguous, quality_sum, least


def tiles_of(sizes: NDArray[np.uint32], tile: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Cut pieces into tiles of at most `tile` letters; return the piece and the first letter of each, uint32."""
    if sizes.min(initial=tile) > 0 and sizes.max(initial=0) <= tile:  # a tile each
        return np.arange(len(sizes), dtype=np.uint32), np.zeros(len(sizes), np.uint32)
    numbers = -(-sizes.astype(np.int64) // tile)
    piece = np.repeat(np.arange(len(sizes), dtype=np.uint32), numbers)
    first = np.cumsum(numbers) - numbers
    begin = (np.arange(len(piece)) - np.repeat(first, numbers)) * tile
    return piece, begin.astype(np.uint32)


@dataclass(frozen=True)
class Tiles:
    """Stretches of pieces, in the order of these.

    Attributes
    ----------
    records : ndarray, uint32 (tiles, 3)
        The piece of each, and the begin and the end of its bases in the piece, as records.clh has them.
    """

    records: NDArray[np.uint32]
    _uploaded: list[DeviceArray] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def piece(self) -> NDArray[np.uint32]:
        """The piece of each tile."""
        return self.records[:, 0]

    @classmethod
    def of(cls, pieces: Pieces, letters: int, chosen: NDArray[np.bool_] | None = None) -> Tiles:
        """Cut pieces, or those chosen, into tiles of at most so many letters."""
        size = pieces.size if chosen is None else np.where(chosen, pieces.size, np.uint32(0))
        piece, begin = tiles_of(size, letters)
        return cls(np.column_stack([piece, begin, np.minimum(begin + np.uint32(letters), size[piece])]))

    def upload(self, engine: Engine) -> DeviceArray:
        """Bring them to a device, when they are first asked for."""
        if not self._uploaded:
            self._uploaded.append(engine.upload(self.records))
        return self._uploaded[0]

    def by_piece(self, values: NDArray[Any], pieces: int, join: np.ufunc = np.add, *, nothing: int = 0) -> NDArray[Any]:
        """Join values of all tiles of a block to values of its pieces, those without bases included."""
        if len(self._first) < len(self):
            values = join.reduceat(values, self._first)
        if len(self._first) == pieces:
            return values
        every = np.full(pieces, nothing, values.dtype)
        every[self.piece[self._first]] = values
        return every

    @cached_property
    def _first(self) -> NDArray[np.intp]:
        """The first tile of each piece that has any."""
        return np.flatnonzero(self.records[:, 1] == 0)

    def split(self, counts: NDArray[np.uint32], room: int) -> Iterator[Tiles]:
        """Cut the tiles into parts that have at most `room` candidates; a tile that has more is cut itself.

        Parameters
        ----------
        counts : ndarray, uint32
            Candidates of each tile.
        room : int
        """
        ends = np.cumsum(counts, dtype=np.int64)
        begin = 0
        while begin < len(self):
            before = int(ends[begin - 1]) if begin else 0
            end = int(np.searchsorted(ends, before + room, side="right"))
            yield Tiles(self.records[begin:end]) if end > begin else self._cut(begin)
            begin = max(end, begin + 1)

    def _cut(self, number: int) -> Tiles:
        """Cut one tile into parts, of a look-up at least."""
        piece, begin, end = self.records[number].tolist()
        each = max(STEP, -(-(end - begin) // PARTS))
        begins = np.arange(begin, end, each, dtype=np.uint32)
        ends = np.minimum(begins + np.uint32(each), np.uint32(end))
        return Tiles(np.column_stack([np.full(len(begins), piece, np.uint32), begins, ends]))


def sum_type(longest: int) -> str:
    """Return the type of prefix sums, in OpenCL C, whose differences are exact for windows of so many letters."""
    return "uint" if longest * BEST_QUALITY < 1 << 32 else "ulong"


def quality_sums(engine: Engine, text: Text, kind: str) -> DeviceArray:
    """Sum up qualities from the begin of a text to each of its bytes, wrapping.

    Only differences within the qualities of one piece mean something.

    Parameters
    ----------
    engine : Engine
    text : Text
    kind : {'uint', 'ulong'}

    Returns
    -------
    DeviceArray, uint32 or uint64 (text.size + 1,)
        Item i is the sum of what lies before byte i.
    """
    sums = engine.empty(text.size + 1, SUM_TYPES[kind])
    widen = engine.kernel(QUALITY_SUMS, "widen_qualities", SUM=kind)
    engine.launch_items(widen, sums.size, **text.place, size=text.size, out=sums)
    return scan(engine, sums, out=sums)


def group_sums(engine: Engine, text: Text, kind: str) -> DeviceArray:
    """Sum up bytes from the begin of a text to each group of 32 bytes, wrapping.

    `sum_window` of signatures/quality_sums.clh takes the sums of windows from these.

    Parameters
    ----------
    engine : Engine
    text : Text
    kind : {'uint', 'ulong'}

    Returns
    -------
    DeviceArray, uint32 or uint64 (text.size // 32 + 1,)
        Item g is the sum of what lies before group g.
    """
    sums = engine.empty(text.size // GROUP + 1, SUM_TYPES[kind])
    add = engine.kernel(QUALITY_SUMS, "sum_groups", SUM=kind)
    engine.launch_items(add, sums.size, **text.place, size=text.size, groups=sums.size, out=sums)
    return scan(engine, sums, out=sums)
