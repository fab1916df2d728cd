"""Waveforms that GTKWave and Surfer open: of a recording of the model, and of the Verilog itself as Verilator dumps it.

The clock rises where a cycle begins; signals have the value of a cycle from there until the next rise.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.extras.recording import STATES, Recording
from hls_model.functional import Sums
from hls_model.rtl import twin
from hls_model.timing import simulate
from hls_model.workload import Workload

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


MAX_CYCLES = 100_000  # of some 100 bytes for each lane
TOP = "omega_top"


def write_waves(sums: Sums, config: Config, stream: IO[str], folder: Path | None = None) -> None:
    """Run a position through the Verilog and write its waveforms to a text stream.

    Parameters
    ----------
    sums : Sums
        Operands; the position needs a beat at least.
    config : Config
        The design.
    stream : text stream
        Takes the value change dump.
    folder : path, optional
        Where the Verilog is built and kept; a temporary folder if missing.

    Raises
    ------
    ModelError
        More than `MAX_CYCLES` cycles, Verilator is missing, or a build or the run fails.
    """
    cycles = simulate(Workload.single(sums.left, sums.right), config).cycles
    if cycles > MAX_CYCLES:
        raise ModelError(f"waveforms of {cycles:,} cycles are too long, {MAX_CYCLES:,} at most; take fewer --left")
    half, unit = half_period(config.clock_mhz)
    with tempfile.TemporaryDirectory() as temporary:
        bench = twin.build(twin.Circuit.of(config), folder or Path(temporary), waves=True)
        dump = Path(temporary) / "dump.vcd"
        twin.run(bench, [(sums, config)], waves=(dump, half))
        with dump.open(encoding="ascii") as lines:
            comment = f"Verilog, {config.lanes} lanes at {config.clock_mhz:g} MHz; scope {TOP} is {TOP}.v"
            stream.writelines(_rewritten(lines, comment, unit))


def _rewritten(lines: Iterator[str], comment: str, unit: str) -> Iterator[str]:
    """Put a header of this dump's own before the top module's scope, and mark the first values."""
    yield f"$comment {comment} $end\n$timescale 1 {unit} $end\n"
    depth = 0  # of scopes; the outermost one, Verilator's, only repeats the ports
    for line in lines:
        words = line.split()
        if words[:1] == ["$enddefinitions"]:
            yield "$enddefinitions $end\n"
            break
        if words[:1] == ["$upscope"]:
            depth -= 1
        if words[:1] in (["$scope"], ["$var"], ["$upscope"]) and depth > (words[0] == "$var"):
            yield " ".join(words) + "\n"
        if words[:1] == ["$scope"]:
            depth += 1
    started = False
    for line in lines:
        if line.startswith("#") and not started:
            started = True
            yield f"{line}$dumpvars\n"
            yield from _first_values(lines)
        elif line.strip():
            yield line


def _first_values(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("#"):
            yield f"$end\n{line}"
            return
        yield line
