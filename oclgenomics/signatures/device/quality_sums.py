"""Prefix sums of qualities, which give the sum of any window by a few loads."""

from __future__ import annotations

import numpy as np

from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.signatures.options import BEST_QUALITY

__all__ = ["group_sums", "quality_sums", "sum_type"]

SOURCE = "signatures/quality_sums.cl"
SUM_TYPES = {"uint": np.uint32, "ulong": np.uint64}
GROUP = 32  # bytes; as quality_sums.clh has it


def sum_type(longest: int) -> str:
    """Return the type of prefix sums, in OpenCL C, whose differences are exact for windows of so many letters."""
    return "uint" if longest * BEST_QUALITY < 1 << 32 else "ulong"


def quality_sums(engine: Engine, text: Text, kind: str) -> DeviceArray:
    """Sum up qualities from the begin of a text to each of its bytes, wrapping.

    Only differences within the qualities of one piece mean something.

    Parameters
    ----------
    engine : Engine
    text : Text
    kind : {'uint', 'ulong'}

    Returns
    -------
    DeviceArray, uint32 or uint64 (text.size + 1,)
        Item i is the sum of what lies before byte i.
    """
    sums = engine.empty(text.size + 1, SUM_TYPES[kind])
    widen = engine.kernel(SOURCE, "widen_qualities", SUM=kind)
    engine.launch_items(widen, sums.size, **text.place, size=text.size, out=sums)
    return scan(engine, sums, out=sums)


def group_sums(engine: Engine, text: Text, kind: str) -> DeviceArray:
    """Sum up bytes from the begin of a text to each group of 32 bytes, wrapping.

    `sum_window` of signatures/quality_sums.clh takes the sums of windows from these.

    Parameters
    ----------
    engine : Engine
    text : Text
    kind : {'uint', 'ulong'}

    Returns
    -------
    DeviceArray, uint32 or uint64 (text.size // 32 + 1,)
        Item g is the sum of what lies before group g.
    """
    sums = engine.empty(text.size // GROUP + 1, SUM_TYPES[kind])
    add = engine.kernel(SOURCE, "sum_groups", SUM=kind)
    engine.launch_items(add, sums.size, **text.place, size=text.size, groups=sums.size, out=sums)
    return scan(engine, sums, out=sums)
