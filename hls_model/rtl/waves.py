"""Waveforms of the Verilog itself: a grid position as Verilator dumps it, with a header that says what it is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.functional import Sums
from hls_model.rtl import twin
from hls_model.timing import simulate
from hls_model.timing.vcd import half_period
from hls_model.workload import Workload

__all__ = ["MAX_CYCLES", "write_waves"]

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
