"""Cycles of a read on the systolic array, by formula and by events, and what follows for rates.

A pass of n rows over R columns:

    cycle 0           the samples begin to move in, l cycles a PE; the first requests for reference and last row go out
    t(0) >= n l       column 0 enters PE 0, and column j in t(j) = max(t(j-1) + 1, when its data are there)
    t(R-1) + D        the last PE holds the score of the last column; D = P s, and the cycles of each border
    + 1               the running minimum has taken it

so that a pass takes n l + R + D cycles where data are always there (L0): all P PEs are passed, with samples or without.
By events (L1), t(j) comes from the event engine (`hls_model.streams`): the reference and, after the first pass, the
last row are two flows of it. Passes follow one another. The normaliser needs the mean and then the mean deviation of
the samples before it gives the first one out: two runs over the query and its divisions, before the first pass.

`compared` compares the model with SquiggleFilter. SquiggleFilter (Dunn et al., MICRO-54, 2021) is a chip that
was not made: its authors give a clock and an area from synthesis. Their code is
https://github.com/TimD1/SquiggleFilter, here at commit 11ddd72. The model has no board for it (`ASIC`), and says
nothing of whether its clock can be reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hls_model.choices import ASIC
from hls_model.errors import ModelError
from hls_model.extras.sdtw.design import LARGEST_REFERENCE, SystolicArray
from hls_model.paper.published import Compared, Kind
from hls_model.streams import Flow, ReadPath, Supply, slower
from hls_model.text import check_choice

Level = Literal["L0", "L1"]


@dataclass(frozen=True)
class ArrayTiming:
    """A read on an array.

    Attributes
    ----------
    array : SystolicArray
    columns, samples : int
        Of the reference (both strands, where both are searched) and of the query.
    normalise, load, stream, stall, drain : int
        Cycles of the normaliser, of moving samples in, of the columns at one a cycle, of waiting for memory, and from
        the last column's entry to the score; of all passes.
    """

    array: SystolicArray
    columns: int
    samples: int
    normalise: int
    load: int
    stream: int
    stall: int
    drain: int

    @property
    def busy(self) -> int:
        """Cycles of the array."""
        return self.load + self.stream + self.stall + self.drain

    @property
    def period(self) -> int:
        """Cycles from read to read: the normaliser works on the next read while the array is busy."""
        return max(self.busy, self.normalise + self.samples)

    @property
    def latency(self) -> float:
        """Seconds from the query's last sample to the score."""
        return (self.normalise + self.busy) / (self.array.clock_mhz * 1e6)

    @property
    def reads_per_s(self) -> float:
        """Reads per second of all arrays."""
        return self.array.arrays * self.array.clock_mhz * 1e6 / self.period

    @property
    def samples_per_s(self) -> float:
        """Query samples per second of all arrays."""
        return self.samples * self.reads_per_s

    @property
    def cells_per_s(self) -> float:
        """Cells of the matrix per second of all arrays."""
        return self.samples_per_s * self.columns

    @property
    def utilisation(self) -> float:
        """Share of the PEs' cycles that compute a cell."""
        return self.samples * self.columns / (self.array.pes * self.period)


@dataclass(frozen=True)
class Stage:
    """One stage of a filter: the samples of a read up to which it looks, and the share of reads that come to it."""

    samples: int
    share: float


def time_read(array: SystolicArray, columns: int, samples: int, level: Level = "L1", *, before: int = 0) -> ArrayTiming:
    """Time one read.

    Parameters
    ----------
    array : SystolicArray
    columns, samples : int
        Of the reference and of the query.
    level : {'L0', 'L1'}
        By formula, a lower bound where memory is involved; or by events.
    before : int
        Samples whose last row an earlier stage has left; the read goes on from there.

    Raises
    ------
    ModelError
        No columns or samples, or too many, or no such level.
    """
    if not 1 <= columns <= LARGEST_REFERENCE:
        raise ModelError(f"a reference of {columns:,} columns; 1 to {LARGEST_REFERENCE:,} can be timed")
    if not 0 <= before < samples <= LARGEST_REFERENCE:
        raise ModelError(f"a query of {samples:,} samples after {before:,}; 1 to {LARGEST_REFERENCE:,} can be timed")
    check_choice("level", level, ("L0", "L1"))
    rows = array.passes(samples - before)
    alone = {n: _stall(array, columns, n, kept=before > 0, level=level) for n in {rows[0]}}
    later = {n: _stall(array, columns, n, kept=True, level=level) for n in set(rows[1:])}
    stall = alone[rows[0]] + sum(later[n] for n in rows[1:])
    normalise = 2 * samples + array.normaliser_cycles if array.normaliser_cycles else 0
    return ArrayTiming(
        array=array,
        columns=columns,
        samples=samples - before,
        normalise=normalise,
        load=sum(rows) * array.load_stages,
        stream=len(rows) * columns,
        stall=stall,
        drain=len(rows) * array.through,
    )


def time_stages(
    array: SystolicArray, columns: int, stages: Sequence[Stage], level: Level = "L1"
) -> list[tuple[Stage, ArrayTiming]]:
    """Time each stage of a filter that goes on from the last row of the stage before.

    Raises
    ------
    ModelError
        Samples that do not grow, shares that do or that lie outside 0 to 1, or what `time_read` refuses.
    """
    found, before, share = [], 0, 1.0
    for stage in stages:
        if stage.samples <= before or not 0 <= stage.share <= share:
            raise ModelError(f"stage {stage.samples}:{stage.share:g}: samples have to grow, shares to fall from 1 to 0")
        found.append((stage, time_read(array, columns, stage.samples, level, before=before)))
        before, share = stage.samples, stage.share
    return found


def pass_cycles(array: SystolicArray, columns: int, rows: int, *, kept: bool) -> int:
    """Return the cycles of one pass by events; `kept`: the last row of the pass before comes back."""
    return _last_entry(array, columns, rows, kept=kept) + array.through + 1


def _stall(array: SystolicArray, columns: int, rows: int, *, kept: bool, level: Level) -> int:
    """Cycles that a pass waits for memory beyond its rows and columns."""
    ready = rows * array.load_stages
    if level == "L1":
        return _last_entry(array, columns, rows, kept=kept) - (ready + columns - 1)
    least = 0
    for flow in _flows(array, kept=kept):
        first = flow.supply.latency + 1
        ports = flow.ports(columns)
        last = first + ports - 1 + int(np.sum(flow.supply.late(np.arange(ports))))
        least = max(least, first - ready, last - (ready + columns - 1))
    return least


def _last_entry(array: SystolicArray, columns: int, rows: int, *, kept: bool) -> int:
    """Return the cycle in which the last column enters PE 0."""
    flows, ready = _flows(array, kept=kept), rows * array.load_stages
    if not flows:
        return ready + columns - 1
    return int(ReadPath(flows, columns, 1, ready).column()[-1])


def _flows(array: SystolicArray, *, kept: bool) -> list[Flow]:
    """What streams from memory: the reference, and the last row, which is written as fast as it is read."""
    wanted = [(array.sample_bits, 1)] if array.reference == "memory" else []
    if kept and array.row == "memory":
        wanted.append((array.score_bits, 2))
    flows = []
    for bits, transfers in wanted:
        lost = array.pace(transfers) - 1
        supply = Supply(
            latency=array.latency,
            burst_length=array.burst_length,
            outstanding=array.outstanding,
            fifo_beats=array.fifo_beats,
            late=slower(lost.numerator, lost.denominator),
        )
        flows.append(Flow.of_words(supply, 1, array.width // bits))
    return flows


SQUIGGLEFILTER = SystolicArray(board=ASIC, pes=2_000, clock_mhz=2_500.0, load_stages=2)
COLUMNS, SAMPLES = 97_004, 2_000
SECONDS, CYCLES, READS_PER_S = 40.8e-6, 107_000, 23_364.0  # sdtw_analysis.ipynb; scripts/plots/plot_latencies.py; ibid.
# Their sDTW.sv, PE.sv and last_col.sv in Verilator 5.006: (PEs, columns, cycle in which the last PE takes its sample,
# cycles of the first and the last column in PE 0 and in the last PE). To be compiled, sDTW.sv lost connections to a
# port that PE has not, and the reset of a wire.
RTL_RUNS = ((8, 40, 15, 1, 40, 8, 47), (16, 100, 31, 1, 100, 16, 115), (32, 200, 63, 1, 200, 32, 231))


def compared() -> list[Compared]:
    """Return the model's numbers and theirs: seconds, cycles, reads a second, and cycles of their circuit."""
    timed = time_read(SQUIGGLEFILTER, COLUMNS, SAMPLES)
    hertz = SQUIGGLEFILTER.clock_mhz * 1e6
    why_load = "cycles of loading are read off their RTL; the published number was not used"
    why_normaliser = "that these cycles hold a normaliser of two runs over the samples is inferred from them"
    why_rate = "theirs is their clock over their cycles; the model's normaliser works at the same time as the array"
    rows: list[tuple[str, float, float, Kind, str]] = [
        ("us of a read, without normaliser", timed.busy / hertz * 1e6, SECONDS * 1e6, "predicted", why_load),
        ("cycles of a read", timed.normalise + timed.busy, CYCLES, "calibrated", why_normaliser),
        ("reads/s of a tile", hertz / timed.period, READS_PER_S, "restated", why_rate),
    ]
    for pes, columns, _, first, _, _, last in RTL_RUNS:
        small = time_read(SystolicArray(board=ASIC, pes=pes, load_stages=2), columns, pes)
        name, why = (
            f"cycles of their RTL, {pes} PEs x {columns} columns",
            "simulated; from the first column to the last score",
        )
        rows.append((name, small.stream + small.drain - 1, last - first + 1, "predicted", why))
    return [Compared(*row) for row in rows]
