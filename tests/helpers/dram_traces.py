"""Traces of READs for one channel: (clock of arrival, which READ's worth of bytes), as recipes."""

from __future__ import annotations

from collections.abc import Iterator

from hls_model.extras.dram import Mapping, Part

__all__ = ["comparable_map", "trace"]


def comparable_map(part: Part) -> Mapping:
    """Return the address map that the golden clocks were taken with."""
    bits = {
        name: (size - 1).bit_length()
        for name, size in (("row", part.rows), ("column", part.columns), ("bank", part.banks), ("group", part.groups))
    }
    fields = ("row", "bank", "column", "group") if part.kind == "HBM2" else ("row", "column", "bank", "group")
    return Mapping(part, tuple((name, bits[name]) for name in fields))


def _numbers() -> Iterator[int]:
    """The upper 31 bits of a 64-bit linear congruential generator (Knuth, MMIX) from 1 on."""
    state = 1
    while True:
        state = (6_364_136_223_846_793_005 * state + 1_442_695_040_888_963_407) % 2**64
        yield state >> 33


def trace(name: str, mapping: Mapping, reads: int) -> list[tuple[int, int]]:
    """Return a trace by its name."""
    part, size, numbers = mapping.part, mapping.accesses, _numbers()
    count = range(reads)
    if name == "sequential":
        return [(0, i) for i in count]
    if name == "slow sequential":
        return [(20 * i, i) for i in count]
    if name.startswith("stride "):
        return [(0, int(name.split()[1]) * i) for i in count]
    if name == "one bank group":
        return [(0, mapping.access(row=i // part.columns, column=i % part.columns)) for i in count]
    if name == "row by row":
        return [(0, mapping.access(row=i % 1000)) for i in count]
    if name == "four banks in turn":
        return [(0, mapping.access(row=i // 4 % 1000, group=i % 2, bank=i // 2 % 2)) for i in count]
    if name == "banks in turn":
        group, bank = part.groups, part.banks
        return [(0, mapping.access(row=i // 16 % 1000, group=i % group, bank=i // group % bank)) for i in count]
    if name == "random":
        return [(0, next(numbers) % size) for _ in count]
    if name == "slow random":
        return [(100 * i, next(numbers) % size) for i in count]
    if name == "random runs of 16":
        starts = [next(numbers) % (size // 16) * 16 for _ in range(-(-reads // 16))]
        return [(0, starts[i // 16] + i % 16) for i in count]
    raise ValueError(name)
