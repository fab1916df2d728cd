"""What a design takes of its device: bottom-up from a table of operators, or fitted to Table I of the paper.

Bottom-up counts what high-level synthesis would place: operators (costs that HLS 2019.2 reports for UltraScale+ at 250
MHz, of whose LUTs placement is assumed to leave three quarters), delay lines, memory adapters, FIFOs and the RS buffer
in banks. Paper-calibrated is the straight line through the two designs of Table I: exact for those, and the
only estimate there is for any other unroll. `docs/how/fpga.md` says where Table I contradicts itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from operator import add

from hls_model.boards import KINDS, Amount, Board
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.limits import check_possible
from hls_model.paper.published import TABLE1
from hls_model.resources.engines import engine_parts
from hls_model.resources.parts import Part, bottom_up
from hls_model.resources.placement import Placement, place
from hls_model.text import check_choice

GROUPS = 8  # in which the many instances of a part that is no lane are placed
REPORT_ROWS = ("DSP", "Expression", "FIFO", "Instance", "Memory", "Multiplexer", "Register")


@dataclass(frozen=True)
class Resources:
    """What a design takes.

    Attributes
    ----------
    config, board : Config, Board
        The design and the board that it is for.
    method : str
        One of `METHODS`.
    parts : tuple of Part
        What it consists of.
    """

    config: Config
    board: Board
    method: str
    parts: tuple[Part, ...]

    @property
    def total(self) -> Amount:
        """The whole design."""
        return reduce(add, (part.total for part in self.parts), Amount())

    def by_kind(self, row: str) -> Amount:
        """Return what the parts of one row of a synthesis report (`REPORT_ROWS`) take."""
        return reduce(add, (part.total for part in self.parts if part.kind == row), Amount())

    @property
    def shares(self) -> dict[str, float]:
        """Part of the device by kind, 1.0 being all of it."""
        return self.total.shares(self.board.available)

    @property
    def largest_share(self) -> float:
        """The greatest of `shares`: 1 / it is how many times the design would fit."""
        return max(self.shares.values())

    @cached_property
    def placement(self) -> Placement:
        """Where it goes: what there is once for each lane stays with the lane, and all other parts go by themselves."""
        lanes = self.config.lanes * self.config.kernels
        engines = set(engine_parts(self.config))
        of_lanes = [part for part in self.parts if part.count % lanes == 0 and part not in engines]
        per_lane = [part.each.times(part.count // lanes) for part in of_lanes]
        others = [amount for part in self.parts if part not in of_lanes for amount in _groups(part)]
        return place(self.board, reduce(add, per_lane, Amount()), lanes, others)

    @property
    def short(self) -> list[str]:
        """Kinds for which the board's regions have too little room, the scarcest first."""
        return list(self.placement.short)


def _groups(part: Part) -> list[Amount]:
    """The instances of a part in a few groups, each of which goes into one region."""
    size = -(-part.count // GROUPS)
    return [part.each.times(min(size, part.count - start)) for start in range(0, part.count, size)]


@lru_cache(maxsize=1_000)
def estimate(config: Config, method: str = "bottom-up", *, pipelines_only: bool = False) -> Resources:
    """Estimate what a design takes on its board.

    Parameters
    ----------
    config : Config
    method : {'bottom-up', 'paper-calibrated'}
        The pipelines as the sum of their parts, or as the straight line in the unroll through the two designs of
        Table I.
    pipelines_only : bool
        The omega pipelines alone, as Table I has them; else all that the card holds (`hls_model.resources.engines`).

    Raises
    ------
    ModelError
        No such method or board.
    """
    pipelines = _pipelines(config, method)
    parts = tuple(Part(part.name, part.kind, part.count * config.kernels, part.each) for part in pipelines)
    parts += () if pipelines_only else engine_parts(config)
    return Resources(config, config.hardware, method, parts)


def _pipelines(config: Config, method: str) -> tuple[Part, ...]:
    """The parts of one omega pipeline."""
    check_choice("method", method, METHODS)
    return METHODS[method](config)


def check_fits(config: Config, method: str = "bottom-up") -> Resources:
    """Return what a design takes, if its board has room for it next to the shell and below the placeable share.

    Raises
    ------
    ModelError
        No board can be it (`hls_model.limits`), or it does not fit; names the limit, and the largest unroll that would.
    """
    check_possible(config)
    resources = estimate(config, method)
    if resources.short:
        most = largest_unroll(config, method)
        largest = f"the largest unroll that fits is {most}" if most else "no unroll fits"
        short = shortage(resources.board, resources.total, resources.placement, "lanes")
        raise ModelError(f"unroll {config.unroll} needs {short}; {largest}")
    return resources


def shortage(board: Board, total: Amount, placement: Placement, cells: str) -> str:
    """Say what a design of equal `cells` needs of the scarcest kind, and what its board has, leaves and can place."""
    kind = placement.short[0]
    needed, there, room = (getattr(one, kind) for one in (total, board.available, placement.room))
    left = sum(getattr(region.left, kind) for region in board.regions)
    text = f"{needed:,} {kind.upper()}; {board.name} has {there:,}, of which "
    text += f"the shell leaves {left:,} and " if left < there else ""
    text += f"{room:,} can be placed ({board.placeable[kind]:.0%}".replace("%", " %")
    return text + (f", in whole {cells} for each region)" if len(board.regions) > 1 else ")")


def largest_unroll(config: Config, method: str = "bottom-up") -> int:
    """Return the largest unroll, with a lane for each iteration, that fits the board; 0 if none does."""
    board = config.hardware
    room = sum(map(board.room, board.regions), Amount())
    one, two = (_at_unroll(config, unroll, method).total for unroll in (1, 2))
    slope = max(1, two.lut - one.lut)
    for unroll in range(room.lut // slope + 1, 0, -1):
        tried = _at_unroll(config, unroll, method)
        if tried.total.within(room) and not tried.short:  # what is too much in all needs no placement
            return unroll
    return 0


def _at_unroll(config: Config, unroll: int, method: str) -> Resources:
    """The design at another unroll; its FIFO and buffer hold a beat at least."""
    memory = config.memory
    words = unroll * (2 if config.rs_prefetch == "none" else 1)
    fifo = max(memory.fifo_beats, -(-words // memory.words_per_beat))
    buffer, changed = max(config.rs_buffer_words, unroll), replace(memory, fifo_beats=fifo)
    return estimate(config.but(unroll=unroll, physical_lanes=0, rs_buffer_words=buffer, memory=changed), method)


def _paper_calibrated(config: Config) -> tuple[Part, ...]:
    """The line through Table I, as a part for each lane of the unroll and a rest; rounded once, in the rest."""
    small, large = TABLE1.values()
    fixed, slopes, totals = {}, {}, {}
    for kind in KINDS:
        y0, y1 = getattr(small.used, kind), getattr(large.used, kind)
        slope = (y1 - y0) / (large.unroll - small.unroll)
        totals[kind] = round(y0 + slope * (config.unroll - small.unroll))
        slopes[kind] = int(slope)
        fixed[kind] = totals[kind] - slopes[kind] * config.unroll
    return (Part("lane", "Instance", config.unroll, Amount(**slopes)), Part("all else", "Instance", 1, Amount(**fixed)))


METHODS: Mapping[str, Callable[[Config], tuple[Part, ...]]] = {
    "bottom-up": bottom_up,
    "paper-calibrated": _paper_calibrated,
}
