"""The signal that is expected of a reference sequence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.array_layout import checksum
from oclgenomics.signals.kmers import Molecule
from oclgenomics.signals.sequencing import Sequencing, sequencing_of

STRANDS = ("+", "-")
CHECKSUM_KEY = b"oclgenomics-sdtw"


@dataclass(frozen=True, eq=False)
class Places:
    """Places on the records of a reference; arrays of one length.

    Attributes
    ----------
    record : ndarray, int32
        Number of the record; -1 for no place.
    strand : ndarray, uint8
        0 for the record as it is, 1 for its reverse complement.
    position : ndarray, int64
        First base of the k-mer on the record as it is, whatever the strand; from 0 on.
    """

    record: NDArray[np.int32]
    strand: NDArray[np.uint8]
    position: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Squiggle:
    """Levels of the k-mers of a reference in the order in which a read brings them, and where each one comes from.

    A *column* is a k-mer. A *track* is a stretch of columns that follow each other in the molecule: a strand of
    a record, or of a part of it between ambiguous bases. No alignment leads from one track to the next.

    Attributes
    ----------
    name : str
    records : tuple of str
        Names of the sequences.
    lengths : ndarray, int64, (records,)
        Bases of each.
    k : int
    model : str
        Name of the model of k-mers.
    molecule : {'dna', 'rna'}
        DNA has both strands and is read from its 5' end, RNA has one and is read from its 3' end.
    levels : ndarray, float64, (columns,)
        In pA.
    tracks : ndarray, int64, (tracks + 1,)
        Track t has the columns `tracks[t]` to `tracks[t + 1]`.
    track_record : ndarray, int32, (tracks,)
    track_strand : ndarray, uint8, (tracks,)
        0 or 1; columns of strand 0 come first.
    track_first : ndarray, int64, (tracks,)
        `Places.position` of the track's first column.
    model_checksum : str
        That of the model's means; empty if not known.
    pore : str
        Family of the pore that the model is for, one of `oclgenomics.signals.chemistry.PORES`; empty if not known.
    rate : float, optional
        Samples per second that the model is for, if known.
    """

    name: str
    records: tuple[str, ...]
    lengths: NDArray[np.int64]
    k: int
    model: str
    molecule: Molecule
    levels: NDArray[np.float64]
    tracks: NDArray[np.int64]
    track_record: NDArray[np.int32]
    track_strand: NDArray[np.uint8]
    track_first: NDArray[np.int64]
    model_checksum: str = ""
    pore: str = ""
    rate: float | None = None

    def __len__(self) -> int:
        return len(self.levels)

    @cached_property
    def checksum(self) -> str:
        """Checksum of all that decides costs and places: sequences, strands and levels, but not the name."""
        head = json.dumps([self.records, self.k, self.molecule], separators=(",", ":")).encode()
        arrays = (self.lengths, self.tracks, self.track_record, self.track_strand, self.track_first, self.levels)
        pieces: list[bytes | memoryview] = [head]
        pieces += [np.ascontiguousarray(one, one.dtype.newbyteorder("<")).view(np.uint8).data for one in arrays]
        return f"{checksum(CHECKSUM_KEY, *pieces):016x}"

    @cached_property
    def column_strand(self) -> NDArray[np.uint8]:
        """Strand of each column."""
        return np.repeat(self.track_strand, np.diff(self.tracks))

    @property
    def track_step(self) -> NDArray[np.int64]:
        """What the position changes by from column to column in each track: 1 or -1."""
        backwards = (self.track_strand == 1) != (self.molecule == "rna")
        return np.where(backwards, -1, 1)

    @property
    def sequencing(self) -> Sequencing | None:
        """How molecules go through the pore that the model is for; None if that is not known."""
        return sequencing_of(self.pore, self.molecule, self.rate)

    def same_levels(self, other: Squiggle) -> bool:
        """Whether the same signal is expected of another one."""
        return np.array_equal(self.levels, other.levels)

    def facts(self) -> dict[str, Any]:
        """What it holds, as plain values; each strand with the mean and the deviation of its levels."""
        strands = [(name, self.levels[self.column_strand == which]) for which, name in enumerate(STRANDS)]
        return {
            "name": self.name,
            "sequences": len(self.records),
            "letters": int(self.lengths.sum()),
            "molecule": self.molecule,
            "model": self.model,
            "model_checksum": self.model_checksum,
            "pore": self.pore or None,
            "rate": self.rate,
            "checksum": self.checksum,
            "k": self.k,
            "columns": len(self),
            "tracks": len(self.track_record),
            "strands": [
                {"strand": name, "columns": len(own), "mean": float(own.mean()), "deviation": float(own.std())}
                for name, own in strands
                if len(own)
            ],
        }

    def places(self, columns: NDArray[np.int64]) -> Places:
        """Return the places of columns; -1 is no column and has no place."""
        track = np.clip(np.searchsorted(self.tracks, columns, "right") - 1, 0, len(self.track_record) - 1)
        position = self.track_first[track] + (columns - self.tracks[track]) * self.track_step[track]
        none = columns < 0
        return Places(
            np.where(none, np.int32(-1), self.track_record[track]),
            np.where(none, np.uint8(0), self.track_strand[track]),
            np.where(none, np.int64(-1), position),
        )


def named_places(
    references: Sequence[Squiggle], which: NDArray[Any], columns: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return where columns of references are, as `reference`, `record`, `strand` and `position`.

    Parameters
    ----------
    references : sequence of Squiggle
    which : ndarray of int
        The reference of each column; -1 for none.
    columns : ndarray, int64
        Of the shape of `which`; -1 for none.

    Returns
    -------
    dict of str to ndarray
        Of this shape. Names are empty, and the position -1, where there is none.
    """
    names = np.array([*(one.name for one in references), ""], object)
    record, strand = (np.full(which.shape, "", object) for _ in range(2))
    position = np.full(which.shape, -1, np.int64)
    for number, one in enumerate(references):
        here = (which == number) & (columns >= 0)
        places = one.places(columns[here])
        record[here] = np.array(one.records, object)[places.record]
        strand[here] = np.array(STRANDS, object)[places.strand]
        position[here] = places.position
    return {"reference": names[which], "record": record, "strand": strand, "position": position}


def record_lengths(
    references: Sequence[Squiggle], which: NDArray[Any], columns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the length of the record of each column, in bases; parameters as for `named_places`, but none is -1."""
    lengths = np.empty(which.shape, np.int64)
    for number, one in enumerate(references):
        here = which == number
        lengths[here] = one.lengths[one.places(columns[here]).record]
    return lengths
