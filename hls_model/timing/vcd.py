"""A recording as a value change dump (IEEE 1364), which GTKWave and Surfer open.

The clock rises where a cycle begins; signals have the value of a cycle from there until the next rise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import IO

import numpy as np
from numpy.typing import NDArray

from hls_model.timing.recording import STATES, Recording

__all__ = ["half_period", "write_vcd"]

UNITS = ("ns", "ps", "fs")
CLOCK = "A"  # the first of the identifiers, which are single characters
BLOCK = 10_000  # cycles that are turned into text at a time


def half_period(clock_mhz: float) -> tuple[int, str]:
    """Return half a clock period as a whole number and its unit: the longest unit that holds it, 1 fs at worst."""
    nanoseconds = 500 / Fraction(clock_mhz)
    for power, unit in enumerate(UNITS):
        if (nanoseconds * 1000**power).denominator == 1:
            return int(nanoseconds * 1000**power), unit
    return max(1, round(nanoseconds * 1000**2)), "fs"


def write_vcd(recording: Recording, stream: IO[str]) -> None:
    """Write a recording to a text stream."""
    half, unit = half_period(recording.config.clock_mhz)
    wires = [_Wire.of(name, number, values) for number, (name, values) in enumerate(recording.signals.items())]
    stream.writelines(f"{line}\n" for line in _header(recording, unit, wires))
    for start in range(0, recording.cycles + 1, BLOCK):
        changes = [""] * min(BLOCK, recording.cycles + 1 - start)
        for wire in wires:
            wire.add_changes(changes, start)
        for cycle, changed in enumerate(changes, start):
            if cycle:
                stream.write(f"#{2 * half * cycle}\n1{CLOCK}\n{changed}")
            else:
                stream.write(f"#0\n$dumpvars\n1{CLOCK}\n{changed}$end\n")
            stream.write(f"#{2 * half * cycle + half}\n0{CLOCK}\n")
    stream.write(f"#{2 * half * (recording.cycles + 1)}\n")


@dataclass(frozen=True)
class _Wire:
    scope: str
    name: str
    code: str
    width: int
    values: NDArray[np.int32]

    @classmethod
    def of(cls, dotted: str, number: int, values: NDArray[np.int32]) -> _Wire:
        scope, name = dotted.split(".")
        greatest = len(STATES) - 1 if dotted == "control.state" else int(values.max())
        return cls(scope, name, chr(ord(CLOCK) + 1 + number), max(1, greatest.bit_length()), values)

    def add_changes(self, changes: list[str], start: int) -> None:
        """Add to the text of each cycle from `start` on what this wire changes to; cycle 0 states every value."""
        values = self.values[start : start + len(changes)]
        before = self.values[start - 1 : start - 1 + len(changes)] if start else np.append(~values[:1], values[:-1])
        cycles = np.flatnonzero(values != before)
        for cycle, value in zip(cycles.tolist(), values[cycles].tolist(), strict=True):
            changes[cycle] += f"{value}{self.code}\n" if self.width == 1 else f"b{value:b} {self.code}\n"


def _header(recording: Recording, unit: str, wires: Sequence[_Wire]) -> Iterator[str]:
    config = recording.config
    states = ", ".join(f"{number} {state}" for number, state in enumerate(STATES))
    yield f"$comment {_one_word(config.name)}: {config.lanes} lanes at {config.clock_mhz:g} MHz $end"
    yield f"$comment control.state: {states} $end"
    yield f"$timescale 1 {unit} $end"
    yield "$scope module pipeline $end"
    yield f"$var wire 1 {CLOCK} clock $end"
    for scope, inside in groupby(wires, lambda wire: wire.scope):
        yield f"$scope module {scope} $end"
        for wire in inside:
            bits = f" [{wire.width - 1}:0]" if wire.width > 1 else ""
            yield f"$var wire {wire.width} {wire.code} {wire.name}{bits} $end"
        yield "$upscope $end"
    yield "$upscope $end"
    yield "$enddefinitions $end"


def _one_word(name: str) -> str:
    return "_".join(name.replace("$", "_").split())  # "$end" in a name would end the comment
