"""Sequences that evolve: ancestors, substitutions, insertions and deletions at rates of their places, and repeats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.simulate.draws import RandomBits
from oclgenomics.simulate.sequences import random_codes

CONSERVED = 0
# How fast the places of a class evolve, in sixteenths of the mean; all but the first are equally frequent.
_SPEEDS = np.array([1, 4, 8, 14, 18, 22, 30], np.int64)
_SEGMENT = 1_000  # bases of one speed
_MAX_INDEL = 30
_SIMPLE_UNIT, _SIMPLE_TRACT = (1, 6), (20, 150)


@dataclass(frozen=True)
class Evolving:
    """A sequence, and how fast its places evolve.

    Attributes
    ----------
    codes : ndarray, uint8 (bases,)
        A, T, G, C as 0 to 3.
    speeds : ndarray, uint8 (bases,)
        Classes; `CONSERVED` is the slowest one.
    """

    codes: NDArray[np.uint8]
    speeds: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def copy(self) -> Evolving:
        """Return one that may be written to."""
        return Evolving(self.codes.copy(), self.speeds.copy())


def ancestor(length: int, gc: float, draws: RandomBits) -> Evolving:
    """Draw a sequence without relatives, and the speeds of its segments."""
    codes = random_codes(length, gc, draws)
    segments = 1 + draws.below(len(_SPEEDS) - 1, -(-length // _SEGMENT))
    return Evolving(codes, np.repeat(segments.astype(np.uint8), _SEGMENT)[:length])


def diverged(one: Evolving, divergence: float, indels: float, draws: RandomBits) -> Evolving:
    """Return a descendant.

    Parameters
    ----------
    one : Evolving
    divergence : float
        Substitutions for each base, on average.
    indels : float
        Insertions and deletions for each substitution; half of them are either.
    draws : RandomBits
    """
    per_word = np.minimum(_SPEEDS * round(divergence * (1 << 28)), (1 << 32) - 1).astype(np.uint32)
    changes = np.flatnonzero(draws.uint32(len(one)) < per_word[one.speeds])
    codes = one.codes.copy()
    codes[changes] = (codes[changes] + 1 + draws.below(3, len(changes))) & 3
    places = changes[draws.happens(len(changes), indels)]
    sizes = _indel_sizes(len(places), draws)
    inserts = draws.happens(len(places), 0.5)
    return _shifted(Evolving(codes, one.speeds), places, sizes, inserts, draws)


def _indel_sizes(number: int, draws: RandomBits) -> NDArray[np.int64]:
    """Sizes whose frequency falls with their square: 1 to `_MAX_INDEL`."""
    return np.minimum((1 << 16) // (1 + draws.uint16(number).astype(np.int64)), _MAX_INDEL)


def _shifted(
    one: Evolving, places: NDArray[np.int64], sizes: NDArray[np.int64], inserts: NDArray[np.bool_], draws: RandomBits
) -> Evolving:
    """Put random bases behind some places, and take away those from others on."""
    copies = np.ones(len(one), np.int64)
    for place, size in zip(places[~inserts].tolist(), sizes[~inserts].tolist(), strict=True):
        copies[place : place + size] = 0
    kept = np.flatnonzero(copies)
    copies[places[inserts]] += sizes[inserts]
    source = np.repeat(np.arange(len(one)), copies)
    codes = one.codes[source]
    new = np.ones(len(source), bool)
    firsts = np.cumsum(copies) - copies
    new[firsts[kept]] = False
    codes[new] = draws.uint8(int(new.sum())) & 3
    return Evolving(codes, one.speeds[source])


def plant(one: Evolving, pieces: list[NDArray[np.uint8]], draws: RandomBits, speed: int | None = None) -> None:
    """Write pieces over a sequence, each at a random place, in either direction; later ones over earlier ones."""
    for piece in pieces:
        piece = piece[: len(one)]
        at = int(draws.below(len(one) - len(piece) + 1, 1)[0])
        if draws.happens(1, 0.5)[0]:
            piece = piece[::-1] ^ np.uint8(1)  # A with T and G with C
        one.codes[at : at + len(piece)] = piece
        if speed is not None:
            one.speeds[at : at + len(piece)] = speed


def plant_simple(one: Evolving, share: float, draws: RandomBits) -> None:
    """Write tandem repeats of short units over a share of a sequence."""
    tracts = round(share * len(one) / (sum(_SIMPLE_TRACT) / 2))
    units, lengths = draws.within(*_SIMPLE_UNIT, tracts), draws.within(*_SIMPLE_TRACT, tracts)
    pieces = []
    for unit, length in zip(units.tolist(), lengths.tolist(), strict=True):
        pieces.append(np.resize(draws.uint8(unit) & np.uint8(3), length))
    plant(one, pieces, draws)
