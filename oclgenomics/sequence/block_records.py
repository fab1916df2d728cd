"""The records of a packed block: where their letters start among its symbols, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.name_list import NameList


@dataclass(frozen=True)
class BlockRecords:
    """Records that start in a block. They are numbered through all inputs.

    Symbols starts[r] .. starts[r + 1] - 1 are those of record `first` + r: its letters, then gaps. A record without
    letters has only these. Symbols before starts[0] belong to record `first` - 1, which began in a block before, but
    for the gap that each header of FASTA leaves before its record.

    Attributes
    ----------
    starts : DeviceArray, uint32 (size,) or longer
        Where each record starts among the block's symbols; ascending, no two equal.
    name_starts : DeviceArray, uint32 (size + 1,)
        Name r is names[name_starts[r]] .. names[name_starts[r + 1] - 1].
    names : DeviceArray, uint8
        The first word of each header, without > or @.
    size : int
        Records; 0 where one record takes up the whole block.
    first : int
        Number of the block's first record; the first one of all inputs is 0.
    continued : bool
        The symbols before starts[0] continue a record of FASTA that began in an earlier block: more of its letters, the
        repeated ones, or neither where it ended with that block.
    """

    starts: DeviceArray
    name_starts: DeviceArray
    names: DeviceArray
    size: int
    first: int
    continued: bool


def names_of(engine: Engine, records: BlockRecords) -> list[str]:
    """Bring the names of a block's records to the host; bytes that are not UTF-8 are replaced."""
    bounds = engine.download(records.name_starts).tolist()
    names = engine.download(records.names).tobytes()
    return [names[begin:end].decode("utf-8", "replace") for begin, end in pairwise(bounds)]


def names_at(engine: Engine, text: Text, places: DeviceArray, lengths: DeviceArray, size: int) -> NameList:
    """Bring names from all over a text to the host.

    Parameters
    ----------
    engine : Engine
    text : Text
    places, lengths : DeviceArray, uint32 (size + 1,) or longer
        Where each name is in the text. The last length counts for nothing.
    size : int
        Names.
    """
    name_starts = scan(engine, lengths, size=size + 1)
    starts = engine.download(name_starts, size + 1)
    names = _gathered(engine, text, places, name_starts, size, int(starts[-1]))
    return NameList(engine.download(names), starts.astype(np.int64))


def _gathered(
    engine: Engine, text: Text, places: DeviceArray, name_starts: DeviceArray, size: int, letters: int
) -> DeviceArray:
    """The names, of so many characters in all, one behind the other."""
    names = engine.empty(letters, np.uint8)
    kernel = engine.kernel("sequence/gather_names.cl", "gather_names")
    made: dict[str, Any] = {"name_starts": name_starts, "records": size, "names": names}
    engine.launch_items(kernel, size, **text.place, places=places, **made)
    return names


def records_at(engine: Engine, records: BlockRecords, places: ArrayLike) -> NDArray[np.int64]:
    """Return, for each place among a block's symbols, the number of the record that it belongs to.

    Parameters
    ----------
    engine : Engine
    records : BlockRecords
    places : array_like of int
        In any order.
    """
    starts = engine.download(records.starts, records.size)
    return records.first - 1 + np.searchsorted(starts, places, side="right").astype(np.int64)


class RecordTable:
    """The records that the kernels find while they pack a block, numbered from block to block.

    Attributes
    ----------
    size : int
        Records of the block that was packed last.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._first = self.size = 0

    def reserve(self, most: int) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """Make room for `most` records and return the arrays: starts, places and lengths of names."""
        self._starts, self._places, self._lengths = (self._engine.empty(most + 1, np.uint32) for _ in range(3))
        self._engine.fill(self._lengths, 0)
        return self._starts, self._places, self._lengths

    def gather(self, text: Text, *, continued: bool) -> BlockRecords:
        """Copy the names from the text that was packed; `continued` is that of `BlockRecords`."""
        first = self._first
        name_starts = scan(self._engine, self._lengths, size=self.size + 1)
        letters = int(self._engine.download(name_starts, 1, self.size)[0])
        names = _gathered(self._engine, text, self._places, name_starts, self.size, letters)
        self._first += self.size
        return BlockRecords(self._starts, name_starts, names, self.size, first, continued)
