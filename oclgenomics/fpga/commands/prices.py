"""The prices of electricity and of a board's hour as options, and what scans then cost."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hls_model.boards import BOARDS
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.presets import load
from hls_model.ranges import Range
from hls_model.text import range_text
from oclgenomics.app.files import reads
from oclgenomics.fpga.commands.common import design_files
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from hls_model.project import Projection

power = late("hls_model.extras.power")

EVERY_BOARD = ""
LARGEST = 1e9


def add_price_options(parser: argparse.ArgumentParser) -> None:
    """Add --price-per-hour and --price-per-kwh, which `with_costs` reads."""
    group = parser.add_argument_group("cost of a million scans, where a price is given")
    hours = group.add_argument(
        "--price-per-hour", type=_board_price, action="append", default=[], metavar="[BOARD=]PRICE",
        help="price of an hour of a board (a name, or what --board takes), or of every board that has no price of its "
        "own; may be repeated",
    )  # fmt: skip
    reads(hours, _priced_files)
    group.add_argument(
        "--price-per-kwh", type=_price, metavar="PRICE",
        help="price of a kilowatt-hour that the board draws; that of the host is not counted",
    )  # fmt: skip


def with_costs(
    args: argparse.Namespace, projections: Mapping[str, Sequence[Projection]], text: str, record: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the text and the record with the cost of a million scans added, or as they are where no price is given.

    Parameters
    ----------
    args : argparse.Namespace
        Has the options of `add_price_options`.
    projections : dict of str to sequence of Projection
        The scans of each design; the cost is that of all of them, a million times.
    text, record : str, dict

    Raises
    ------
    ModelError
        No such board, two prices of one, or a price of some boards and none of that of a design.
    """
    hours = check_prices(args, [ones[0].timing.config for ones in projections.values()])
    if args.price_per_kwh is None and not args.price_per_hour:
        return text, dict(record)
    per_kwh = args.price_per_kwh or 0.0
    costs = {name: _cost(ones, per_kwh, hours) for name, ones in projections.items()}
    lines = [f"{name}: {range_text(cost, '')}" for name, cost in costs.items()]
    added = {"per_hour": hours, "per_kwh": per_kwh, "million": {name: cost.record() for name, cost in costs.items()}}
    return text + "\n\ncost of a million scans:\n" + "\n".join(lines), {**record, "cost": added}


def check_prices(args: argparse.Namespace, configs: Iterable[Config]) -> dict[str, float]:
    """Return the prices of an hour by board, before anything is timed.

    Raises
    ------
    ModelError
        As for `with_costs`.
    """
    boards = [config.board for config in configs]
    hours = _hours(args.price_per_hour, boards)
    for board in boards:
        if hours and not hours.keys() & {board, EVERY_BOARD}:
            raise ModelError(
                f"--price-per-hour has no price for {board}; add {board}=PRICE, or a PRICE for every board"
            )
    return hours


def _hours(given: Iterable[str], boards: Collection[str]) -> dict[str, float]:
    """The prices by board, which is named itself, or by what --board takes: a preset or the file of a design.

    Raises
    ------
    ModelError
        No such board or design, or two prices of one board.
    """
    found: dict[str, float] = {}
    for text in given:
        name, _, price = text.rpartition("=")
        board = name if name == EVERY_BOARD or name in {*BOARDS, *boards} else load(name).board
        if found.setdefault(board, _price(price)) != _price(price):
            raise ModelError(f"--price-per-hour has two prices of {board or 'every board'}; give one of them")
    return found


def _cost(projections: Sequence[Projection], per_kwh: float, hours: Mapping[str, float]) -> Range:
    """The cost of a million times all scans of a design."""
    board = projections[0].timing.config.board
    none = Range.exactly(0.0)
    joules, seconds = sum((one.energy for one in projections), none), sum((one.total for one in projections), none)
    per_hour = hours.get(board, hours.get(EVERY_BOARD, 0.0))
    cost: Range = power.cost_per_million(joules, seconds, per_kwh=per_kwh, per_hour=per_hour)
    return cost


def _board_price(text: str) -> str:
    """A board or design and its price, or a price alone; `_hours` reads the text."""
    board, equals, price = text.rpartition("=")
    if equals and not board:
        raise argparse.ArgumentTypeError(f"{text!r} has no board; write BOARD=PRICE, or a PRICE for every board")
    _price(price)
    return text


def _priced_files(args: argparse.Namespace, given: str) -> list[str]:
    """The file of a design whose board has a price."""
    name = given.rpartition("=")[0]
    own = name != EVERY_BOARD and name not in BOARDS and name.endswith(".toml")
    return design_files(args, name) if own else []


def _price(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is no price; it has to be a number from 0 to {LARGEST:g}")
    return value
