"""Line breaks of a text on the host: newlines and carriage returns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NEWLINE, RETURN = ord("\n"), ord("\r")
STEP_BYTES = 1 << 16  # looked through at a time


def is_break(text: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Say of each byte whether it is a line break."""
    breaks: NDArray[np.bool_] = (text == NEWLINE) | (text == RETURN)
    return breaks


def last_place(text: NDArray[np.uint8], *, breaks: bool) -> int:
    """Place of the last byte that is a line break, or is none; -1 if there is no such byte."""
    for end in range(len(text), 0, -STEP_BYTES):
        begin = max(end - STEP_BYTES, 0)
        if breaks:
            # Far sooner than NumPy says it of each byte: all lines of a genome may be one.
            some = text[begin:end].tobytes()
            found = max(some.rfind(b"\n"), some.rfind(b"\r"))
        else:
            found = int(np.flatnonzero(~is_break(text[begin:end])).max(initial=-1))
        if found >= 0:
            return begin + found
    return -1


def first_of_last(text: NDArray[np.uint8], count: int) -> int:
    """Place of the first of the last `count` bytes that are no line breaks; there are so many."""
    end = len(text)
    while count:
        begin = max(end - max(STEP_BYTES, count), 0)
        places = np.flatnonzero(~is_break(text[begin:end]))
        if len(places) >= count:
            return begin + int(places[-count])
        count -= len(places)
        end = begin
    return end
