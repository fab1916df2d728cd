"""Boards that the designs run on: what they hold, their memory, link, power and price, each with its source."""

from __future__ import annotations

from collections.abc import Mapping

from hls_model.boards.alveo import ALVEO
from hls_model.boards.board import KINDS, Amount, Board, Region
from hls_model.boards.source import ASSUMED, Source
from hls_model.boards.zynq import ZCU102
from hls_model.errors import ModelError

__all__ = ["ASSUMED", "BOARDS", "KINDS", "Amount", "Board", "Region", "Source", "find_board"]

BOARDS: Mapping[str, Board] = {board.name: board for board in (ZCU102, *ALVEO)}


def find_board(name: str) -> Board:
    """Return a board by its short name.

    Raises
    ------
    ModelError
        No such board.
    """
    if name not in BOARDS:
        raise ModelError(f"board {name!r} is not known; choose one of {', '.join(BOARDS)}")
    return BOARDS[name]
