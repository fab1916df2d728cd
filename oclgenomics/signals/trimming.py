"""Where the signal of the molecule begins: trimming of the stall and the adapter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError

EVENT = 3  # samples whose currents are averaged
RUN = 2  # events in a row that begin or end a stall
LEVEL = 3.0  # standard deviations above the mean of the read
MAX_STALL = 10_000  # samples, 2.5 s at 4 kHz; real stalls end sooner, and later peaks of current are something else


@dataclass(frozen=True)
class TrimOptions:
    """What is left out at the beginning of a read.

    Attributes
    ----------
    stall : bool
        Look for the stall, the high current of a molecule that waits in the pore, and leave out all up to its end. The
        search is the one that SquiggleFilter publishes; see `stall_end`.
    extra : int
        Samples left out after the stall, or from the beginning of a read on that has none: about the adapter.
    max_trim : int or None
        High currents that end after so many samples are no stall; None for no limit, as published.
    keep : bool
        Keep reads without a stall, but for the `extra` samples. Else nothing is left of them, as published.

    Raises
    ------
    ParameterError
        A negative number.

    Examples
    --------
    >>> TrimOptions(max_trim=None, keep=False)  # as published
    TrimOptions(stall=True, extra=1000, max_trim=None, keep=False)
    >>> TrimOptions(stall=False, extra=1500)  # always the same number of samples
    TrimOptions(stall=False, extra=1500, max_trim=10000, keep=True)
    """

    stall: bool = True
    extra: int = 1000
    max_trim: int | None = MAX_STALL
    keep: bool = True

    def __post_init__(self) -> None:
        for name, value in (("extra", self.extra), ("max_trim", self.max_trim)):
            if value is not None and value < 0:
                raise ParameterError(name, "is a number of samples, 0 or more", value)


def stall_end(samples: NDArray[np.int16], most: int | None = None) -> int | None:
    """Find where the stall of a read ends.

    Samples are standardised by the mean and the standard deviation of all that are given, and averaged three by three
    (the last one or two by themselves). A stall begins with two averages in a row above 3, and ends with two in a row
    below 3 after them.

    Parameters
    ----------
    samples : ndarray, int16
        A whole read, or the beginning of one that still goes on; then a longer beginning may give another answer.
    most : int, optional
        A stall that ends after so many samples is none.

    Returns
    -------
    int or None
        Samples up to the end of the stall; None if there is none, or none that ends. It may be up to two more than
        there are samples, if it ends with the last one.
    """
    if not len(samples):
        return None
    apart = samples - samples.mean()
    deviation = np.sqrt((apart * apart).mean())
    if deviation == 0:
        return None
    if most is not None:
        apart = apart[: most // EVENT * EVENT]
    if not len(apart) or apart.max() / deviation <= LEVEL:
        return None
    level = apart / deviation
    whole = len(level) // EVENT * EVENT
    events = level[:whole:EVENT] + level[1:whole:EVENT]  # faster than means of rows
    events += level[2:whole:EVENT]
    events /= EVENT
    if whole < len(level):
        events = np.append(events, level[whole:].mean())
    begin = _run_end(events > LEVEL)
    if begin is None:
        return None
    end = _run_end(events[begin:] < LEVEL)
    return None if end is None else EVENT * (begin + end)


def _run_end(truths: NDArray[np.bool_]) -> int | None:
    """The place after the first two that are true in a row."""
    pairs = truths[:-1] & truths[1:]
    first = int(pairs.argmax()) if len(pairs) else 0
    return first + RUN if len(pairs) and pairs[first] else None


def trim_start(samples: NDArray[np.int16], options: TrimOptions | None) -> int:
    """Return how many samples at the beginning of a read are left out.

    Parameters
    ----------
    samples : ndarray, int16
        A whole read, or the beginning of one; see `stall_end`.
    options : TrimOptions or None
        None leaves nothing out.

    Returns
    -------
    int
        From 0 to the number of samples.
    """
    if options is None:
        return 0
    end = stall_end(samples, options.max_trim) if options.stall else 0
    if end is None:
        end = 0 if options.keep else len(samples)
    return min(end + options.extra, len(samples))
