"""Squiggles on disk; docs/sdtw-format.md tells them byte by byte."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.io.array_file import ArrayFile
from oclgenomics.io.array_layout import FileKind
from oclgenomics.io.array_writing import write_arrays
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals.chemistry import PORES
from oclgenomics.signals.kmers import MAX_K, Molecule

KIND = FileKind(
    b"\x89osqu\r\n\x1a", 3, "reference of `oclgenomics sdtw`", "make it again with `oclgenomics sdtw index`",
    older=(2,), blocks_since=3,
)  # fmt: skip

ARRAYS = {
    "lengths": "<i8", "levels": "<f8", "tracks": "<i8", "track_record": "<i4", "track_strand": "|u1",
    "track_first": "<i8",
}  # fmt: skip


class _Facts(NamedTuple):
    name: str
    k: int
    model: str
    molecule: Molecule
    model_checksum: str
    pore: str
    rate: float | None


def write_squiggle(path: str | os.PathLike[str], squiggle: Squiggle) -> None:
    """Write a squiggle to a file, whole or not at all. Equal squiggles give equal bytes.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    """
    names = [name.encode("utf-8", "surrogatepass") for name in squiggle.records]
    arrays: dict[str, NDArray[Any]] = {
        "names": np.frombuffer(b"".join(names), np.uint8),
        "name_offsets": np.cumsum([0, *map(len, names)], dtype=np.int64),
        **{name: getattr(squiggle, name) for name in ARRAYS},
    }
    facts = _Facts(*(getattr(squiggle, name) for name in _Facts._fields))
    write_arrays(path, KIND, __version__, facts._asdict(), arrays)


def read_squiggle(path: str | os.PathLike[str]) -> Squiggle:
    """Read a squiggle from a file of `write_squiggle`.

    Raises
    ------
    InputError
        The file cannot be read, is of another kind or version, cut off or damaged.
    """
    with ArrayFile(path, KIND) as file:
        try:
            given: dict[str, Any] = _facts(file.metadata)._asdict()
            given["records"] = _names(file.array("names", "|u1"), file.array("name_offsets", "<i8"))
            given |= {name: file.array(name, kind) for name, kind in ARRAYS.items()}
            squiggle = Squiggle(**given)
            _check(squiggle)
        except ValueError as error:
            raise file.error(str(error), 0) from error
        return squiggle


def _facts(metadata: Mapping[str, Any]) -> _Facts:
    """The metadata, checked."""
    if sorted(metadata) != sorted(_Facts._fields):
        raise ValueError("the description is not that of a squiggle")
    facts = _Facts(**metadata)
    texts = (facts.name, facts.model, facts.molecule, facts.model_checksum, facts.pore)
    words = all(isinstance(word, str) for word in texts) and facts.pore in ("", *PORES)
    timed = facts.rate is None or (type(facts.rate) is float and 0 < facts.rate < math.inf)
    counted = type(facts.k) is int and 1 <= facts.k <= MAX_K
    if not (words and timed and counted) or facts.molecule not in ("dna", "rna"):
        raise ValueError("the description is not that of a squiggle")
    return facts


def _names(text: NDArray[np.uint8], ends: NDArray[np.int64]) -> tuple[str, ...]:
    if not (len(ends) and ends[0] == 0 and ends[-1] == len(text) and (ends[1:] >= ends[:-1]).all()):
        raise ValueError("the names of the records contradict each other")
    joined = text.tobytes()
    try:
        return tuple(joined[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(ends.tolist()))
    except UnicodeDecodeError as error:
        raise ValueError("a name of a record is no UTF-8") from error


def _check(squiggle: Squiggle) -> None:
    """Refuse arrays that contradict each other, in which something would point out of another.

    Raises
    ------
    ValueError
        What is wrong.
    """
    tracks, records, strands = squiggle.tracks, squiggle.track_record, squiggle.track_strand
    count = len(records)
    if not (count and len(tracks) == count + 1 and len(strands) == len(squiggle.track_first) == count):
        raise ValueError("the tracks contradict each other")
    if tracks[0] != 0 or tracks[-1] != len(squiggle) or (tracks[1:] <= tracks[:-1]).any():
        raise ValueError("the tracks contradict each other")
    if (strands[1:] < strands[:-1]).any() or strands[-1] > (squiggle.molecule == "dna"):
        raise ValueError("a track has a strand that it cannot have")
    if len(squiggle.lengths) != len(squiggle.records) or squiggle.lengths.min(initial=0) < 0:
        raise ValueError("the lengths of the records contradict their names")
    if records.min() < 0 or records.max() >= len(squiggle.records):
        raise ValueError("a track is of a record that is not there")
    room = squiggle.lengths[records] - squiggle.k  # of the last k-mer
    first, sizes = squiggle.track_first, np.diff(tracks)
    if (first < 0).any() or (first > room).any():
        raise ValueError("a track begins outside its record")
    last = first + (sizes - 1) * squiggle.track_step
    if (last < 0).any() or (last > room).any():
        raise ValueError("a track ends outside its record")
    if not np.isfinite(squiggle.levels).all():
        raise ValueError("a level is no finite number")
