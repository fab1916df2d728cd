"""Boards from tables, those of files in this folder and of designs' own files: every figure is checked.

A board of a design's file has the figures of another one where it gives none; each then says so in its source.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hls_model.boards.board import ASSUMED, KINDS, Amount, Board, Region, Source
from hls_model.errors import ModelError
from hls_model.ranges import Range
from hls_model.text import shown

MOST = 1e9  # of any figure
SHARES = ("efficiency_range", "placeable")
TYPES = {field.name: str(field.type) for field in dataclasses.fields(Board)}
STATIC_WATTS, STATIC_LUTS = 2.28, 871_680  # of a report: the device at a junction of 34 C, and its LUTs
STATIC_SOURCE = Source(
    "rapidstream-org/rapidstream-cookbook, design_1_wrapper_power_routed.rptx",
    "https://github.com/rapidstream-org/rapidstream-cookbook/blob/main/benchmarks/vivado_flow/cnn13x2/archive/"
    "metadata_vivado/design_1_wrapper_power_routed.rptx",
    "2.28 W of a device of 871,680 LUT at 34 C, in proportion to the LUTs; the bounds, for process and temperature, "
    "are assumed",
)


def board_from(table: Mapping[str, object]) -> Board:
    """Return the board of a table that has all its figures and sources.

    Raises
    ------
    ModelError
        As for `own_board_from`.
    """
    figures: dict[str, Any] = {"total_gbps": None, "price_usd": None}
    figures |= {key: _figure(key, value, {}) for key, value in table.items() if key != "sources"}
    figures["available"] = sum((one.available for one in figures["regions"]), Amount())
    return _checked(Board(**figures, sources=_sources(table["sources"], TYPES)))


def own_board_from(table: Mapping[str, object], base: Board, name: str, file: str) -> Board:
    """Return the board `base` with the figures of a table; `name` is its name where the table has none.

    Raises
    ------
    ModelError
        An unknown key, or a figure of the wrong type or out of its range.
    """

    def assumed(note: str) -> Source:
        return Source(ASSUMED, note=note)

    figures = {name: getattr(base, name) for name in TYPES}
    figures |= {"name": name, "title": name}
    sources = {key: assumed(f"as the {base.title}'s, which is {old}") for key, old in base.sources.items()}
    given = {key: value for key, value in table.items() if key != "sources"}
    for key, value in given.items():
        if key not in figures or key == "available":
            known = ", ".join(key for key in ("base", *figures) if key != "available")
            raise ModelError(f"board.{key} is no figure of a board; there are {known}")
        figures[key] = _figure(key, value, figures[key])
        if key in sources:
            sources[key] = assumed(f"given in {file}")
    if given.keys() & {"banks", "bank_gbps"} and "total_gbps" not in given:
        figures["total_gbps"] = None
        sources["total_gbps"] = assumed(f"the peaks of the banks given in {file}")
    if "regions" in given:
        figures["available"] = sum((one.available for one in figures["regions"]), Amount())
        sources["available"] = assumed(f"the sum of the regions given in {file}")
        if "static_watts" not in given:
            watts = round(STATIC_WATTS * max(1, figures["available"].lut) / STATIC_LUTS, 1)
            figures["static_watts"] = Range(0.8, 1.0, 3.0).times(watts)
            sources["static_watts"] = STATIC_SOURCE
    sources |= _sources(table.get("sources", {}), sources)
    return _checked(Board(**figures | {"sources": sources}))


def _checked(board: Board) -> Board:
    """The board, if its figures go together."""
    for kind in KINDS:
        if getattr(board.available, kind) < 1:
            raise ModelError(f"board.regions hold no {kind}; a design needs some of each of {', '.join(KINDS)}")
    if board.port_bits & (board.port_bits - 1) or board.port_bits < 32:
        raise ModelError(f"board.port_bits is {board.port_bits}; it has to be a power of two, 32 or more")
    if board.clock_mhz > board.max_clock_mhz:
        raise ModelError(f"board.clock_mhz is {board.clock_mhz:g}; board.max_clock_mhz is {board.max_clock_mhz:g}")
    if board.idle_watts.high > board.max_watts:
        raise ModelError(f"board.idle_watts is up to {board.idle_watts.high:g}; board.max_watts is {board.max_watts:g}")
    return board


def _figure(key: str, value: object, old: object) -> object:
    """A figure of the type that a board has; `old` is the one in whose place it comes."""
    name, kind = f"board.{key}", TYPES[key]
    if key == "regions":
        return tuple(_region(f"{name}[{index}]", one) for index, one in enumerate(_list(name, value)))
    if key == "placeable":
        return dict(old if isinstance(old, Mapping) else {}) | _named(
            name, value, lambda at, one: _number(at, one, 1.0)
        )
    if kind.startswith("Range"):
        return _range(name, value, 1.0 if key in SHARES else MOST)
    if kind == "str":
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise ModelError(f"{name} is {shown(value)}; it has to be a text")
        return value
    if kind == "int":
        return _whole(name, value, 0 if key == "uram" else 1)
    return _number(name, value, MOST)


def _list(name: str, value: object) -> Sequence[object]:
    if not isinstance(value, list) or not value:
        raise ModelError(f"{name} is {shown(value)}; it has to be a list with one entry or more")
    return value


def _range(name: str, value: object, most: float) -> Range:
    values = _list(name, value) if isinstance(value, list) else [value]
    numbers = [_number(name, one, most) for one in values]
    if len(numbers) == 1:
        return Range.exactly(numbers[0])
    if len(numbers) != 3 or sorted(numbers) != numbers:
        raise ModelError(f"{name} has to be one number, or a list of the least, the likely and the greatest")
    return Range(*numbers)


def _region(name: str, value: object) -> Region:
    if not isinstance(value, dict) or not {"name", "available"} <= set(value) <= {"name", "available", "shell"}:
        raise ModelError(f"{name} has to be a table with name, available and, where there is one, shell")
    if not isinstance(value["name"], str) or not value["name"].isprintable():
        raise ModelError(f"{name}.name is {shown(value['name'])}; it has to be a text")
    available, shell = (
        Amount(**_named(f"{name}.{part}", value.get(part, {}), lambda at, one: _whole(at, one, 0)))
        for part in ("available", "shell")
    )
    return Region(value["name"], available, shell)


def _named(name: str, value: object, read: Callable[[str, object], Any]) -> dict[str, Any]:
    """Figures by kind of resource."""
    if not isinstance(value, dict) or not set(value) <= set(KINDS):
        raise ModelError(f"{name} has to be a table of {', '.join(KINDS)}")
    return {kind: read(f"{name}.{kind}", one) for kind, one in value.items()}


def _sources(table: object, known: Mapping[str, object]) -> dict[str, Source]:
    if not isinstance(table, dict):
        raise ModelError("board.sources has to be a table")
    found = {}
    for key, value in table.items():
        name = f"board.sources.{key}"
        if key not in known:
            raise ModelError(f"{name} is no figure with a source; there are {', '.join(known)}")
        words = set(value) <= {"document", "url", "note"} if isinstance(value, dict) else False
        if not words or not all(isinstance(one, str) and one.isprintable() for one in value.values()):
            raise ModelError(f"{name} has to be a table of texts: document, url and note")
        found[key] = Source(**{"document": "assumed", **value})
    return found


def _whole(name: str, value: object, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        raise ModelError(f"{name} is {shown(value)}; it has to be a whole number, {least} to {MOST:g}")
    return value


def _number(name: str, value: object, most: float) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value <= most:
        raise ModelError(f"{name} is {shown(value)}; it has to be a number above 0, {most:g} at most")
    return float(value)
