"""The array as its PEs compute it (`scores`), and its Verilog, built with Verilator and run pass by pass.

`sdtw_array.v` keeps the last row in a block RAM and takes samples and columns from streams, so that memory of any kind
stands before it as the cycles in which columns are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hls_model.errors import ModelError
from hls_model.extras.sdtw.design import SystolicArray
from hls_model.programs import digest, output_of, verilated

FOLDER = Path(__file__).parent
SOURCES = tuple(FOLDER / f"{name}.v" for name in ("sdtw_array", "sdtw_pe", "sdtw_move"))
ROW_BITS = 10  # of the address of a column

Row = NDArray[np.int64]


@dataclass(frozen=True)
class Pass:
    """What the circuit did in one pass.

    Attributes
    ----------
    cycles : int
        From the first sample to the score.
    score : int
        The least of the last row.
    row : ndarray, int64 (columns,)
        The last row.
    """

    cycles: int
    score: int
    row: Row


def build(array: SystolicArray, folder: Path) -> Path:
    """Return the bench of an array, built in `folder` unless it is there.

    Borders between regions are those of PEs that are spread evenly.

    Raises
    ------
    ModelError
        Verilator is missing, or the build fails.
    ModelOutputError
        The folder cannot be written.
    """
    values = {
        "P": array.pes, "W": array.sample_bits, "S": array.score_bits, "STAGES": array.stages,
        "LOAD_STAGES": array.load_stages, "SPAN": _span(array), "CROSSING": array.crossing_cycles, "ROW_BITS": ROW_BITS,
    }  # fmt: skip
    sources = [*SOURCES, FOLDER / "bench.cpp"]
    key = digest(repr(values).encode(), *(path.read_bytes() for path in sources))
    options = [
        "-CFLAGS", f"-DW={array.sample_bits} -DLOAD_STAGES={array.load_stages}",
        "-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0",
        *(f"-G{name}={value}" for name, value in values.items()),
    ]  # fmt: skip
    return verilated("sdtw_array", folder / f"sdtw-{array.pes}-{key}", sources, options, {})


def run(
    bench: Path, array: SystolicArray, query: Row, reference: Row, there: Sequence[Sequence[int]] | None = None
) -> list[Pass]:
    """Run a query.

    Parameters
    ----------
    bench : path
        From `build`, of this array.
    array : SystolicArray
    query, reference : ndarray, int64 (samples,), (columns,)
        Normalised samples and levels; 1,024 columns at most.
    there : sequence of sequences of int, optional
        Of each pass, the cycle from which each column is there; all from cycle 0 if not given.

    Raises
    ------
    ModelError
        More columns than the circuit holds, or the circuit hangs.
    """
    if not 1 <= len(reference) <= 1 << ROW_BITS:
        raise ModelError(f"{len(reference):,} columns; the circuit takes 1 to {1 << ROW_BITS:,}")
    passes, start, lines = array.passes(len(query)), 0, []
    for number, rows in enumerate(passes):
        times = there[number] if there is not None else [0] * len(reference)
        lines.append(f"{int(not number)} {rows} {rows * array.load_stages} {len(reference)}")
        lines.append(" ".join(map(str, query[start : start + rows])))
        lines += [f"{level} {time}" for level, time in zip(reference, times, strict=True)]
        start += rows
    text = output_of([str(bench)], "the bench failed", "\n".join([str(len(passes)), *lines]))
    return [_read(line) for line in text.splitlines()]


def _span(array: SystolicArray) -> int:
    """PEs between borders."""
    return -(-array.pes // (array.crossings + 1))


def _read(line: str) -> Pass:
    cycles, score, *row = map(int, line.split())
    return Pass(cycles, score, np.array(row, np.int64))


def scores(array: SystolicArray, query: Row, reference: Row) -> tuple[int, Row]:
    """Run a query through the array.

    Parameters
    ----------
    array : SystolicArray
        Its PEs decide about the passes; scores saturate at `score_bits`.
    query, reference : ndarray, int64 (samples,), (columns,)
        Normalised samples and levels.

    Returns
    -------
    score : int
        The least score of the last row.
    row : ndarray, int64 (columns,)
        The last row.
    """
    row, first, start = np.zeros(len(reference), np.int64), True, 0
    for rows in array.passes(len(query)):
        row = _one_pass(query[start : start + rows], reference, row, (1 << array.score_bits) - 1, first=first)
        first, start = False, start + rows
    return int(row.min()), row


def _one_pass(samples: Row, reference: Row, above: Row, most: int, *, first: bool) -> Row:
    """Run a pass: in step t, PE i has column t - i; a PE's registers are its score and the one before."""
    pes, columns = len(samples), len(reference)
    score, before = np.full(pes + 1, most, np.int64), np.full(pes + 1, most, np.int64)
    held = np.zeros(pes, np.int64)  # the column's level in each PE
    last = np.zeros(columns, np.int64)
    for step in range(columns + pes - 1):
        held = np.concatenate([reference[step : step + 1], held[:-1]]) if step < columns else np.roll(held, 1)
        before[0] = score[0] if step else before[0]
        score[0] = above[step] if step < columns else most
        cell = np.minimum(np.abs(samples - held) + np.minimum(score[:-1], before[:-1]), most)
        at = step - np.arange(pes)
        if first and step:
            cell[0] = 0  # an alignment starts anywhere, and its first sample is free but in the first column
        active = (at >= 0) & (at < columns)
        before[1:] = np.where(active, score[1:], before[1:])
        score[1:] = np.where(active, cell, score[1:])
        if step >= pes - 1:
            last[step - pes + 1] = score[-1]
    return last
