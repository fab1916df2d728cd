"""Where a design goes on its device: whole lanes into super logic regions, next to the shell and below the guidelines.

A region offers the placeable share of what the shell leaves of it (`Board.room`). A design goes into the first region
that holds all of it. A larger one is spread: what it has once for each lane stays together, and no lane is cut by a
border between dies. Each other part, such as a memory port, is placed by itself, the largest first, where it costs the
fewest lanes; then lanes fill the regions, the roomiest first. Wires that cross a border are not counted. The search is
greedy: what it places does fit, and it may miss a tight fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from hls_model.boards import KINDS, Amount, Board, Region

UNBOUNDED = 1 << 62  # lanes of no size


@dataclass(frozen=True)
class Occupied:
    """What a design puts into one region.

    Attributes
    ----------
    region : Region
    room, used : Amount
        What a design may use of it, and what this one does.
    lanes : int
        Lanes in it.
    """

    region: Region
    room: Amount
    used: Amount
    lanes: int

    @property
    def share(self) -> float:
        """The greatest share that a kind of what is used has of the room for it."""
        return _greatest_share(self.used, self.room)


@dataclass(frozen=True)
class Placement:
    """A design on the regions of its board.

    Attributes
    ----------
    regions : tuple of Occupied
        In the board's order.
    left_lanes, left_parts : int
        Lanes and other parts for which there is no room.
    short : tuple of str
        Kinds that there are too few of, the scarcest first; empty if everything has its place.
    """

    regions: tuple[Occupied, ...]
    left_lanes: int
    left_parts: int
    short: tuple[str, ...]

    @property
    def room(self) -> Amount:
        """What a design may use of all regions together."""
        return _total([occupied.room for occupied in self.regions])


def place(board: Board, lane: Amount, lanes: int, parts: Sequence[Amount]) -> Placement:
    """Place equal lanes and single parts on a board's regions.

    Parameters
    ----------
    board : Board
    lane : Amount
        What a lane takes with all that belongs to it.
    lanes : int
    parts : sequence of Amount
        What each other part takes.
    """
    rooms = [board.room(region) for region in board.regions]
    used = [Amount() for _ in rooms]
    whole = _total(rooms)
    need = lane.times(lanes) + _total(parts)
    for index, room in enumerate(rooms):
        if need.within(room):
            used[index] = need
            alone = [lanes if place == index else 0 for place in range(len(rooms))]
            return Placement(tuple(map(Occupied, board.regions, rooms, used, alone)), 0, 0, ())
    left_parts = 0
    for part in sorted(parts, key=lambda part: _greatest_share(part, whole), reverse=True):
        where = _best(part, lane, rooms, used)
        if where is None:
            left_parts += 1
        else:
            used[where] += part
    fill = _fill(lane, lanes, rooms, used)
    used = [amount + lane.times(count) for amount, count in zip(used, fill, strict=True)]
    left_lanes = lanes - sum(fill)
    short = _short(need, whole) if left_lanes or left_parts else ()
    occupied = tuple(map(Occupied, board.regions, rooms, used, fill))
    return Placement(occupied, left_lanes, left_parts, short)


def _best(part: Amount, lane: Amount, rooms: list[Amount], used: list[Amount]) -> int | None:
    """The region in which a part takes the place of the fewest lanes; None if it fits nowhere."""
    fitting = [index for index, room in enumerate(rooms) if (used[index] + part).within(room)]

    def cost(index: int) -> tuple[int, float]:
        free = rooms[index] - used[index]
        return _capacity(lane, free) - _capacity(lane, free - part), _greatest_share(used[index] + part, rooms[index])

    return min(fitting, key=cost, default=None)


def _fill(lane: Amount, lanes: int, rooms: list[Amount], used: list[Amount]) -> list[int]:
    """Lanes of each region: the roomiest region is filled first."""
    capacities = [_capacity(lane, room - amount) for room, amount in zip(rooms, used, strict=True)]
    fill = [0] * len(rooms)
    for index in sorted(range(len(rooms)), key=lambda index: -capacities[index]):
        fill[index] = min(capacities[index], lanes - sum(fill))
    return fill


def _capacity(lane: Amount, free: Amount) -> int:
    """How many lanes fit."""
    pairs = zip(vars(free).values(), vars(lane).values(), strict=True)
    return min((there // each for there, each in pairs if each > 0), default=UNBOUNDED)


def _short(need: Amount, room: Amount) -> tuple[str, ...]:
    """The kinds of which all regions together have too few, or the scarcest where only the borders are in the way."""
    shares = _shares(need, room)
    scarce = sorted(KINDS, key=lambda kind: -shares[kind])
    return tuple(kind for kind in scarce if shares[kind] > 1) or (scarce[0],)


def _greatest_share(amount: Amount, whole: Amount) -> float:
    return max(_shares(amount, whole).values())


def _shares(amount: Amount, whole: Amount) -> dict[str, float]:
    """The share of each kind; of a kind that there is none of, none is no share and any is too much."""
    pairs = zip(KINDS, vars(amount).values(), vars(whole).values(), strict=True)
    return {kind: part / there if there else inf if part else 0.0 for kind, part, there in pairs}


def _total(amounts: Sequence[Amount]) -> Amount:
    return sum(amounts, Amount())
