"""Texts by number, each made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sequence.name_list import NameList

__all__ = ["NO_TEXT", "TextTable", "one_field"]

NO_TEXT = -1  # the number that stands for none: no taxon, no target

_IN_A_FIELD = dict.fromkeys((*range(32), 127, 0x85, 0x2028, 0x2029), "_")


def one_field(text: str) -> str:
    """Return a name that stays in its column: control characters, such as tabs and newlines, become underscores."""
    return text.translate(_IN_A_FIELD)


class TextTable:
    """Texts by number. A database may have millions of targets of which a sample shows a few.

    Parameters
    ----------
    count : int
        Numbers go from 0 to `count` - 1; `NO_TEXT` is one more.
    text_of : callable
        Gives the text of a number, `NO_TEXT` among them. Only asked once for each.
    """

    def __init__(self, count: int, text_of: Callable[[int], str]) -> None:
        self._text_of = text_of
        self._places = np.full(count + 1, -1, np.int32)  # the last one is that of NO_TEXT
        self._texts: list[bytes] = []
        self._list = NameList.of([])

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def texts(self) -> NameList:
        """The texts made so far, in the order in which they were asked for."""
        if len(self._list) < len(self._texts):
            starts = np.cumsum([0, *map(len, self._texts)], dtype=np.int64)
            self._list = NameList(np.frombuffer(b"".join(self._texts), np.uint8), starts)
        return self._list

    @property
    def bytes(self) -> list[bytes]:
        """The same, each encoded by itself."""
        return self._texts

    def places(self, numbers: NDArray[np.signedinteger[Any]]) -> NDArray[np.int32]:
        """Return where in `texts` those of numbers are, int32 of the numbers' shape."""
        places: NDArray[np.int32] = self._places[numbers]
        missing = places < 0
        if missing.any():
            asked = np.zeros(len(self._places), np.bool_)
            asked[numbers[missing]] = True
            for place in np.flatnonzero(asked).tolist():
                self._places[place] = len(self._texts)
                number = place if place < len(asked) - 1 else NO_TEXT
                self._texts.append(self._text_of(number).encode("utf-8", "replace"))
            places = self._places[numbers]
        return places
