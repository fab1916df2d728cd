"""Letters of a block as codes on the device: checked, counted, and their qualities summed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.letters import LetterBlock, Pieces
from oclgenomics.sequence.parse import NO_QUALITY
from oclgenomics.signatures.device.samples import SampleLetters

__all__ = ["Encoder", "tiles_of"]

CPU_TILE, GPU_TILE = 8192, 4096  # letters
GPU_LANES = 128
NOTHING = 0xFFFFFFFF


class Encoder:
    """Checks the letters and qualities of blocks, and turns letters into codes.

    The codes of all blocks are in one array, so what `encode` returns is valid until it is called again.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cpu = engine.tuning.cpu
        self._codes: DeviceArray | None = None

    def encode(self, block: LetterBlock) -> SampleLetters:
        """Encode a block.

        Raises
        ------
        InputError
            A letter that is none of IUPAC, or a quality outside 0 to 93, with its record and byte.
        """
        engine, pieces = self._engine, block.pieces
        qualities = pieces.letters if pieces.qualities is None else pieces.qualities
        letters, size, owned, beside = (
            engine.upload(_filled(array)) for array in (pieces.letters, pieces.size, pieces.owned, qualities)
        )
        codes = self._room(block.text.size)
        on_device = {"letters": letters, "size": size, "owned": owned, "qualities": beside}
        found = self._launch(block, codes, on_device)
        return SampleLetters(block, codes, letters, size, owned, beside, pieces.qualities is not None, *found)

    def _room(self, size: int) -> DeviceArray:
        """Room for codes."""
        if self._codes is None or self._codes.size < size:
            self._codes = self._engine.empty(max(size, 1), np.uint8)
        return DeviceArray(self._codes.memory, (max(size, 1),), self._codes.dtype)

    def _launch(
        self, block: LetterBlock, codes: DeviceArray, on_device: dict[str, DeviceArray]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8]]:
        """Encode all tiles and return what `_by_piece` does."""
        engine, pieces = self._engine, block.pieces
        tile = CPU_TILE if self._cpu else GPU_TILE
        tile_piece, tile_begin = tiles_of(pieces.size, tile)
        if not len(tile_piece):
            return _by_piece(pieces, tile_piece, np.empty((0, 4), np.uint32))
        counts, defects = engine.empty((len(tile_piece), 4), np.uint32), engine.empty(2, np.uint32)
        engine.fill(defects, NOTHING)
        lanes = 1 if self._cpu else engine.group_size(GPU_LANES)
        defines = {"CPU": self._cpu, "LANES": lanes, "QUALITIES": pieces.qualities is not None}
        engine.launch(
            engine.kernel("signatures/encode.cl", "encode_letters", **defines),
            (len(tile_piece) * lanes,),
            (lanes,),
            **block.text.place,
            **on_device,
            tile_piece=engine.upload(tile_piece),
            tile_begin=engine.upload(tile_begin),
            tile=tile,
            pieces=len(pieces),
            text_size=block.text.size,
            codes=codes,
            counts=counts,
            defects=defects,
        )
        _refuse_defects(block, engine.download(defects))
        return _by_piece(pieces, tile_piece, engine.download(counts))


def tiles_of(sizes: NDArray[np.uint32], tile: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Cut pieces into tiles of at most `tile` letters; return the piece and the first letter of each, uint32."""
    numbers = -(-sizes.astype(np.int64) // tile)
    piece = np.repeat(np.arange(len(sizes), dtype=np.uint32), numbers)
    first = np.cumsum(numbers) - numbers
    begin = (np.arange(len(piece)) - np.repeat(first, numbers)) * tile
    return piece, begin.astype(np.uint32)


def _filled(array: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The array, or a single 0, since devices have no empty buffers."""
    return array if len(array) else np.zeros(1, np.uint32)


def _refuse_defects(block: LetterBlock, defects: NDArray[np.uint32]) -> None:
    """Refuse the block if it has a letter or a quality that is none; the earlier one is told."""
    letter, quality = (int(place) for place in defects)
    place = min(letter, quality)
    if place == NOTHING:
        return
    byte = bytes(block.host[place : place + 1]).decode("latin-1")
    if place == letter:
        raise block.error_at(place, f"{byte!r} stands for no nucleotide; letters of IUPAC do, and U")
    raise block.error_at(place, f"{byte!r} is no quality; those are the characters ! to ~ (Phred + 33)")


def _by_piece(
    pieces: Pieces, tile_piece: NDArray[np.uint32], counts: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8]]:
    """Numbers of Ns and ambiguous letters, the sum of qualities and the lowest, of each piece."""
    sums = np.zeros((len(pieces), 3), np.int64)
    least = np.full(len(pieces), NO_QUALITY, np.uint8)
    if len(tile_piece):
        there = np.flatnonzero(pieces.size)
        first = np.searchsorted(tile_piece, there)
        sums[there] = np.add.reduceat(counts[:, :3].astype(np.int64), first, axis=0)
        least[there] = np.minimum.reduceat(counts[:, 3], first).astype(np.uint8)
    return sums[:, 0], sums[:, 1], sums[:, 2].astype(np.uint64), least
