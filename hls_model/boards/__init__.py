"""Boards that the designs run on: what they hold, their memory, link, power and price, each with its source.

Each stands in a file here by its short name. Public pages give the memories of most of the newer ones (Alveo U50, U55C
and V80, VCK190, Agilex 7, AWS F2). What their devices hold stands in product tables that were not at hand, and no page
with a measured kernel was found for any of them, so much is assumed there, as each source says. Operators are counted
as on UltraScale+ everywhere: Versal and Agilex have DSP blocks with float32 adders, which would take less.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hls_model.boards.board import ASSUMED, KINDS, Amount, Board, Region, Source
from hls_model.boards.tables import board_from, own_board_from
from hls_model.errors import ModelError
from hls_model.files import Named, read_toml

__all__ = ["ASSUMED", "BOARDS", "KINDS", "Amount", "Board", "Region", "Source", "find_board", "own_board"]

NAMES = ("zcu102", "u200", "u250", "u280", "u50", "u55c", "vck190", "v80", "agilex7", "f2")
BOARDS: Mapping[str, Board] = Named(NAMES, lambda name: board_from(read_toml(Path(__file__).with_name(f"{name}.toml"))))


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
