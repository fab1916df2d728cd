"""Positions of SNPs from a plain list: one whole number per line, in bp."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from hls_model.errors import ModelInputError
from hls_model.reading import read_text

__all__ = ["read_positions"]

MAX_DIGITS = 16
LARGEST = 1 << 53  # bp that float64 still counts one by one


def read_positions(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Return the positions of a list, int64 (snps,); empty lines and text after a # are ignored.

    Raises
    ------
    ModelInputError
        A file that cannot be read, a line that is not a position, positions that decrease, or fewer than 2.
    """
    name = os.fspath(path)
    lines = read_text(path, "is no text; give a list of positions, one a line").splitlines()
    positions: list[int] = []
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        if not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS or int(text) > LARGEST:
            raise ModelInputError(f"{name}, line {number}: {text[:40]!r} is no position; give a whole number of bp")
        if positions and int(text) < positions[-1]:
            raise ModelInputError(f"{name}, line {number}: {text} comes after {positions[-1]}; sort the positions")
        positions.append(int(text))
    if len(positions) < 2:
        raise ModelInputError(f"{name}: holds {len(positions)} positions; a scan needs 2 or more")
    return np.array(positions, np.int64)
