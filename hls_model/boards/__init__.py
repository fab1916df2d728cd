"""Boards that the designs run on: what they hold, their memory, link, power and price, each with its source."""

from __future__ import annotations

from collections.abc import Mapping

from hls_model.boards.alveo import ALVEO
from hls_model.boards.board import ASSUMED, KINDS, Amount, Board, Region, Source
from hls_model.boards.newer import NEWER
from hls_model.boards.own import own_board_from
from hls_model.boards.zynq import ZCU102
from hls_model.errors import ModelError

__all__ = ["ASSUMED", "BOARDS", "KINDS", "Amount", "Board", "Region", "Source", "find_board", "own_board"]

BOARDS: Mapping[str, Board] = {board.name: board for board in (ZCU102, *ALVEO, *NEWER)}


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


def own_board(table: Mapping[str, object], base: str, name: str, file: str) -> Board:
    """Return the board that a file describes.

    Parameters
    ----------
    table : dict
        Figures by the names of `Board`'s attributes; what is missing is that of the board `base`, or of the one that
        the key `base` names. A range is three numbers or, where it is known exactly, one. `regions` is a list of
        tables with a name, `available` and `shell`, each of them amounts by kind; `sources` has a table with
        `document`, `url` and `note` for a figure.
    base, name, file : str
        The board to start from, the new one's name where the table has none, and the file, for sources and errors.

    Raises
    ------
    ModelError
        An unknown key, a figure of the wrong type or out of its range, or a name that a known board has.
    """
    given = dict(table)
    start = given.pop("base", base)
    if not isinstance(start, str):
        raise ModelError("board.base is no text; it has to be the name of a board")
    board = own_board_from(given, find_board(start), name, file)
    if board.name in BOARDS:
        raise ModelError(f"board.name is {board.name}, which is a known board; take another name")
    return board
