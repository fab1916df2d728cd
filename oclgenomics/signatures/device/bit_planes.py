"""Letters of pieces as bit planes, one for each set of nucleotides that patterns ask for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.signatures.device.samples import SampleLetters

__all__ = ["BitPlanes", "make_planes"]

SOURCE = "signatures/make_planes.cl"
CPU_BLOCK, GPU_BLOCK = 16, 1  # words that pieces start at multiples of; as planes.clh has them
PADDING = 64  # words of 0 behind the last piece, which windows reach into


@dataclass(frozen=True)
class BitPlanes:
    """Planes of some pieces; kernels_cl/signatures/planes.clh has the layout.

    Attributes
    ----------
    planes : DeviceArray, uint32 (planes, stride)
    stride : int
        Words of a plane.
    places : DeviceArray, uint32 (pieces,)
        The first word of each piece.
    single : int
        The plane of single nucleotides, if it is there.
    ranks : DeviceArray, uint32 (stride,), or None
        Single nucleotides before each word.
    """

    planes: DeviceArray
    stride: int
    places: DeviceArray
    single: int
    ranks: DeviceArray | None


def make_planes(
    engine: Engine,
    samples: SampleLetters,
    pieces: NDArray[np.uint32],
    numbers: DeviceArray,
    sets: NDArray[np.uint8],
    *,
    singles: bool,
) -> BitPlanes:
    """Make the planes of some pieces.

    Parameters
    ----------
    engine : Engine
    samples : SampleLetters
    pieces : ndarray, uint32
        Their numbers, at least one.
    numbers : DeviceArray, uint32
        The same on the device.
    sets : ndarray, uint8
        The set of each plane.
    singles : bool
        Make a plane of single nucleotides, too, and its ranks.
    """
    block = CPU_BLOCK if engine.tuning.cpu else GPU_BLOCK
    words = -(-samples.block.pieces.size[pieces].astype(np.int64) // (32 * block)) * block
    places = np.cumsum(words) - words
    stride = int(words.sum()) + PADDING
    kinds = np.append(sets, np.uint8(0)) if singles else sets
    planes = engine.empty((len(kinds), stride), np.uint32)
    ranks = engine.empty(stride, np.uint32) if singles else None
    made = BitPlanes(planes, stride, engine.upload(places.astype(np.uint32)), len(sets), ranks)
    engine.launch_items(
        engine.kernel(SOURCE, "make_planes", CPU=engine.tuning.cpu, FILTERED=singles),
        stride // block,
        codes=samples.codes,
        text_size=samples.block.text.size,
        letters=samples.letters,
        size=samples.size,
        pieces=numbers,
        places=made.places,
        rows=len(pieces),
        sets=engine.upload(kinds),
        count=len(kinds),
        stride=stride,
        planes=planes,
        ranks=ranks,
    )
    if ranks is not None:
        scan(engine, ranks, out=ranks)
    return made
