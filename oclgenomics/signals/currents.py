"""Numbers of any type as samples of 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError

__all__ = ["CURRENT_SCALE", "as_samples"]

CURRENT_SCALE = 1 / 32  # pA; int16 then holds -1,024 to 1,024 pA, and noise of a pore is some pA
_LOWEST, _HIGHEST = np.iinfo(np.int16).min, np.iinfo(np.int16).max


def as_samples(values: NDArray[Any], name: str, source: str) -> tuple[NDArray[np.int16], float]:
    """Return samples and their scale.

    Parameters
    ----------
    values : ndarray, (samples,)
        Integers are samples of the converter; floating-point numbers are currents in pA, and are rounded to 1/32 pA.
    name, source : str
        Of the read and of its file, for messages.

    Returns
    -------
    samples : ndarray, int16
    scale : float
        1 for integers, 1/32 for currents.

    Raises
    ------
    InputError
        Values of another type, that are no numbers, or that 16 bits do not hold.
    """
    kind = values.dtype.kind
    if kind not in "iuf":
        raise InputError(f"read {name!r} is of type {values.dtype}; give integers, or currents in pA", source=source)
    if kind != "f":
        if values.size and values.dtype != np.int16:
            _check_range(int(values.min()), int(values.max()), "samples", name, source)
        return values.astype(np.int16), 1.0
    if not np.isfinite(values).all():
        raise InputError(f"read {name!r} has currents that are no finite numbers", source=source)
    with np.errstate(over="ignore"):
        units = np.rint(values.astype(np.float64) / CURRENT_SCALE)
    if values.size:
        _check_range(units.min(), units.max(), "currents", name, source)
    return units.astype(np.int16), CURRENT_SCALE


def _check_range(lowest: float, highest: float, what: str, name: str, source: str) -> None:
    if lowest < _LOWEST or highest > _HIGHEST:
        scale = CURRENT_SCALE if what == "currents" else 1
        ends = f"{_LOWEST * scale:,g} to {_HIGHEST * scale:,g}"
        raise InputError(f"read {name!r} has {what} beyond {ends}", source=source)
