"""A small job for the kernels that join lines."""

from __future__ import annotations

import numpy as np

from oclgenomics.runtime import Engine
from oclgenomics.sequence.joined_lines import NO_NUMBER, DeviceJoiner, NameColumn, NumberColumn, TextColumn, TextTable
from oclgenomics.sequence.name_list import NameList

__all__ = ["joined_lines"]


def joined_lines(engine: Engine) -> None:
    """Join a column of each kind, all lines and some."""
    names = NameList.of([f"read_{number}" * (number % 3) for number in range(21)])
    table = TextTable(3, lambda number: f"\ttext number {number}\n")
    numbers = np.array([NO_NUMBER, 0, 7, 10, 123, 1 << 40], np.uint64)
    joiner = DeviceJoiner(engine)
    for which in (None, np.arange(0, 21, 3)):
        lines = 21 if which is None else len(which)
        texts = TextColumn(table, table.places(np.arange(lines) % 4 - 1))
        joiner.join(lines, [NameColumn(names, which), NumberColumn(numbers[np.arange(lines) % 6]), texts])
