"""Power, energy and cost of a design at work, as ranges.

    power = board at rest + logic + memory, and no more than the board may draw

The board at rest has its platform loaded and its memory refreshed (`Board.idle_watts`; the device's static power is a
part of it). Logic is what the design's own resources switch: a figure for each LUT, flip-flop, block RAM and DSP slice
in proportion to the clock, from the vendor's power report of another HLS design in float32 (`REPORT`). That report
assumes how often signals toggle, so half and twice its figures are the bounds. All parts count while any of them works,
the LD engine's too while the pipelines do, which is more than engines that take turns switch. Memory is the energy of
each bit that is moved (`Board.memory_pj_per_bit`). `Config.power_watts` takes the place of the model where it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from hls_model.boards import KINDS, Amount, Board
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.ranges import Range
from hls_model.records import record_of
from hls_model.resources import estimate

# Dynamic watts and units of each kind in the report that `hls_model.boards.tables.STATIC_SOURCE` names: report_power of
# Vivado 2022.2 for a routed HLS design in float32 on the XCU50 at 300 MHz, confidence Medium. Logic, shift registers,
# carry and the signals between them are put down to the LUTs; registers and the clock that reaches them to the
# flip-flops; 189 tiles of 36 kbit are 378 of 18.
REPORT: Mapping[str, tuple[float, int]] = {
    "bram18k": (0.719, 378),
    "dsp": (0.627, 1_040),
    "ff": (0.092 + 1.342, 226_298),
    "lut": (0.525 + 0.266 + 0.166 + 0.010 + 0.947, 129_927),
}
REPORT_MHZ = 300.0
SPREAD = Range(0.5, 1.0, 2.0)  # of the report's activity; the bounds are assumed
HOURS_A_YEAR = 8_766.0
JOULES_A_KWH = 3.6e6
MILLION = 1e6


@dataclass(frozen=True)
class Power:
    """Watts of a board.

    Attributes
    ----------
    idle : Range
        The board at rest.
    logic, memory : Range
        What the design and its reads add while it works.
    limit : float
        The most that the board may draw.
    """

    idle: Range
    logic: Range
    memory: Range
    limit: float

    @property
    def busy(self) -> Range:
        """The board at work."""
        return (self.idle + self.logic + self.memory).each(lambda watts: min(watts, self.limit))

    def joules(self, seconds: Range, busy_seconds: Range, moved: Range | None = None) -> Range:
        """Return the energy of `seconds`, of which the design works `busy_seconds` and the board rests otherwise.

        The least energy is that of the least times and the least watts, and so on.

        Parameters
        ----------
        seconds, busy_seconds : Range
        moved : Range, optional
            Joules of what memory moves in all, in place of `memory` watts while the design works.

        Raises
        ------
        ModelError
            It works longer than there is time.
        """

        def at(bound: str) -> float:
            time, busy, idle, logic, memory = (
                float(getattr(one, bound)) for one in (seconds, busy_seconds, self.idle, self.logic, self.memory)
            )
            if not 0 <= busy <= time:
                raise ModelError(f"a design cannot work for {busy:g} s of {time:g} s")
            reads = memory * busy if moved is None else float(getattr(moved, bound))
            return idle * (time - busy) + min((idle + logic) * busy + reads, self.limit * busy)

        return Range(at("low"), at("likely"), at("high"))

    def record(self) -> dict[str, object]:
        """Return watts at rest and at work, and what adds to them, for JSON."""
        return record_of(self, "idle logic memory busy")


def power_of(config: Config, read_gbps: float = 0.0) -> Power:
    """Return the power of a design on its board.

    Parameters
    ----------
    config : Config
        Its `power_watts`, if not 0, is the board's power at any time.
    read_gbps : float
        GB/s that it reads from memory.
    """
    resources = estimate(config)
    board = resources.board
    if config.power_watts:
        nothing = Range.exactly(0.0)
        return Power(Range.exactly(config.power_watts), nothing, nothing, config.power_watts)
    return Power(
        idle=board.idle_watts.each(lambda watts: min(watts, board.max_watts)),
        logic=logic_watts(resources.total, config.clock_mhz),
        memory=memory_watts(board, read_gbps),
        limit=board.max_watts,
    )


def logic_watts(amount: Amount, clock_mhz: float) -> Range:
    """Return the dynamic watts of resources at a clock."""
    watts = sum(REPORT[kind][0] / REPORT[kind][1] * getattr(amount, kind) for kind in KINDS)
    return SPREAD.times(watts * clock_mhz / REPORT_MHZ)


def memory_joules(board: Board, moved: int) -> Range:
    """Return the joules of so many bytes read or written."""
    return board.memory_pj_per_bit.times(8e-12 * moved)


def memory_watts(board: Board, read_gbps: float) -> Range:
    """Return the watts of reading so many GB/s: a picojoule a bit is 8 mW at 1 GB/s."""
    return board.memory_pj_per_bit.times(8e-3 * read_gbps)


def price_per_hour(price: float, years: float) -> float:
    """Return the price of an hour of a board that is bought and works around the clock for so many years.

    Raises
    ------
    ModelError
        A price below 0, or no time.
    """
    _checked("price", price)
    if not (isfinite(years) and years > 0):
        raise ModelError(f"years is {years:g}; it has to be a positive number")
    return price / (years * HOURS_A_YEAR)


def cost_per_million(joules: Range, seconds: Range, *, per_kwh: float = 0.0, per_hour: float = 0.0) -> Range:
    """Return the cost of a million scans: the electricity of the board, and its hours.

    Parameters
    ----------
    joules : Range
        Energy of one scan.
    seconds : Range
        Time of one scan.
    per_kwh, per_hour : float
        Price of a kilowatt-hour, and of an hour of the board, in the same currency as the result.

    Raises
    ------
    ModelError
        A price below 0.
    """
    _checked("price per kWh", per_kwh)
    _checked("price per hour", per_hour)
    return joules.times(MILLION * per_kwh / JOULES_A_KWH) + seconds.times(MILLION * per_hour / 3600)


def _checked(name: str, value: float) -> None:
    if not (isfinite(value) and value >= 0):
        raise ModelError(f"the {name} is {value:g}; it has to be 0 or more")
