"""What readers give: one read after the other, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.signals.chemistry import PORES

MAX_READ_SAMPLES = 1 << 28  # fifteen hours of 5 kHz
MAX_CHANNEL = (1 << 31) - 1
MAX_DIGITS = 10  # of a channel
MAX_SHOWN = 40  # characters of a text in a message


@dataclass(frozen=True, slots=True)
class RawRead:
    """A read as it is in a file; see `Signals` for what its facts mean.

    Attributes
    ----------
    name : str
    samples : ndarray, int16
        All, or as many from the first one on as the reader was asked for.
    scale, offset, rate : float
    channel : int
    share : float
        How much of the file has been read with it, 0 to 1.
    pore, molecule : str
        As of `oclgenomics.signals.chemistry.Chemistry`.
    """

    name: str
    samples: NDArray[np.int16]
    scale: float = 1.0
    offset: float = 0.0
    rate: float = math.nan
    channel: int = 0
    share: float = 0.0
    pore: str = ""
    molecule: str = ""


def check_read(read: RawRead, source: str) -> RawRead:
    """Return a read whose facts make sense.

    Raises
    ------
    InputError
        It has no name or one that cannot be printed, or a fact that cannot be.
    """
    if not read.name:
        raise InputError("a read without a name", source=source)
    if not read.name.isprintable():  # a tab or a newline in it would spoil tables
        raise InputError(f"a read with the name {read.name!r}, which cannot be printed", source=source)
    if not (math.isfinite(read.scale) and read.scale > 0 and math.isfinite(read.offset)):
        trouble = f"a calibration that cannot be: (sample + {read.offset:g}) * {read.scale:g} pA"
    elif not (math.isnan(read.rate) or 0 < read.rate < math.inf):
        trouble = f"{read.rate:g} samples per second"
    elif not 0 <= read.channel <= MAX_CHANNEL:
        trouble = f"channel {read.channel}"
    elif read.pore not in ("", *PORES):
        trouble = f"the pore {read.pore[:MAX_SHOWN]!r}"
    elif read.molecule not in ("", "dna", "rna"):
        trouble = f"the molecule {read.molecule[:MAX_SHOWN]!r}"
    else:
        return read
    raise InputError(f"read {read.name!r} has {trouble}; the file is damaged", source=source)


def damaged(kind: str, last: str | None, reason: str, source: str) -> InputError:
    """Return the error for a file of a format that a library does not read, after the last read that it gave."""
    trouble = f"damaged, or no {kind}" if last is None else f"damaged after read {last!r}"
    return InputError(f"{trouble} ({reason})", source=source)


def pore_scale(span: float, digitisation: float, name: str, source: str) -> float:
    """Return pA of a step of the converter, from the range in pA that its steps cover, and their number.

    Raises
    ------
    InputError
        There are no steps.
    """
    if digitisation == 0:
        raise InputError(f"read {name!r} has a digitisation of 0; the file is damaged", source=source)
    return span / digitisation


def channel_number(text: str) -> int:
    """Return the number of a channel, which files have as a text; 0 for one that is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < MAX_DIGITS else 0
