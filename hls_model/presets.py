"""Designs by name or from a TOML file, and single parameters set by dotted names.

`zcu102` and `u200` are the two systems of Table I of the paper; `u200_resources16` is the reading of Table I in which
16 pipelines serve an unroll of 32. The others ask what a change would bring.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hls_model.boards import Board, own_board
from hls_model.config import LARGEST, Config
from hls_model.errors import ModelError, ModelInputError
from hls_model.files import Named, parse_toml, read_toml
from hls_model.text import shown

_TABLES = read_toml(Path(__file__).with_name("presets.toml"))
PRESETS: Mapping[str, Config] = Named(tuple(_TABLES), lambda name: change(Config(), {"name": name, **_TABLES[name]}))

PUBLISHED = ("zcu102", "u200", "u200_resources16")  # the paper's systems, by either reading of its Table I
STRUCTURE = (
    "board", "unroll", "physical_lanes", "ii", "lane_map", "overlap_outer", "rs_prefetch", "remainder", "kernels",
    "positions_in_flight",
)  # fmt: skip
PORTS = ("ports", "port_bits", "banks")


def is_what_if(config: Config) -> bool:
    """Whether nothing is published of a design: it is none of the paper's, or is asked for a faster clock."""

    def structure(one: Config) -> tuple[object, ...]:
        return (*(getattr(one, name) for name in STRUCTURE), *(getattr(one.memory, name) for name in PORTS))

    known = [one for one in map(PRESETS.__getitem__, PUBLISHED) if structure(one) == structure(config)]
    asked = config.target_mhz or config.clock_mhz
    return config.own_board is not None or not any(asked <= one.clock_mhz for one in known)


def load(name: str | os.PathLike[str]) -> Config:
    """Return a preset, or the design in a TOML file.

    Parameters
    ----------
    name : str or path
        A name in `PRESETS`, or a file: top-level keys are fields of `Config`, the tables `memory` and `operators` hold
        theirs, and `preset` names what the file starts from (`u200` if missing). A table `board` describes a board
        (`hls_model.boards.own_board`).

    Raises
    ------
    ModelError
        No such preset or file, not TOML, an unknown key, or a value outside its range.
    """
    text = os.fspath(name)
    if text in PRESETS:
        return PRESETS[text]
    path = Path(text)
    if path.suffix != ".toml" and not path.is_file():
        raise ModelError(f"{text!r} is no known board or design; choose one of {', '.join(PRESETS)}, or a .toml file")
    table = read_toml(path)
    base = table.pop("preset", "u200")
    if not isinstance(base, str) or base not in PRESETS:
        raise ModelInputError(f"{text}: preset {shown(base)} is not known; choose one of {', '.join(PRESETS)}")
    try:
        design = PRESETS[base]
        if isinstance(table.get("board"), dict):
            design = _on(own_board(table.pop("board"), design.board, path.stem, text), design)
        name = path.stem if path.stem.isprintable() else "design"
        return change(design, {"name": name, **table})
    except ModelError as error:
        raise ModelInputError(f"{text}: {error}") from error


def _on(board: Board, design: Config) -> Config:
    """The design on a board of its own, as far as that has clock, ports and banks for it."""
    old = design.memory
    ports, banks = min(old.ports, board.ports), min(old.banks, board.banks)
    bits = min(old.port_bits, board.port_bits)
    memory = dataclasses.replace(old, ports=ports, banks=banks, port_bits=bits, bank_gbps=board.bank_gbps)
    clock = min(design.clock_mhz, board.max_clock_mhz)
    return design.but(board=board.name, own_board=board, clock_mhz=clock, memory=memory)


def change(config: Config, table: Mapping[str, Any]) -> Config:
    """Return the design with the values of a (nested) mapping, all of them set at once.

    Raises
    ------
    ModelError
        An unknown key, or a value outside its range or of another type.
    """
    changed: Config = _changed(config, table, "")
    return changed


def _changed(part: Any, table: Mapping[str, Any], prefix: str) -> Any:
    known = {entry.name: getattr(part, entry.name) for entry in dataclasses.fields(part) if entry.name != "own_board"}
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if key not in known:
            raise ModelError(f"{name} is no parameter; there are {', '.join(prefix + other for other in known)}")
        old = known[key]
        if dataclasses.is_dataclass(old):
            if not isinstance(value, Mapping):
                inner = dataclasses.fields(old)[0].name
                raise ModelError(f"{name} is a table of parameters; set {name}.{inner} and so on")
            values[key] = _changed(old, value, f"{name}.")
        else:
            values[key] = _as_type_of(old, value, name)
    return dataclasses.replace(part, **values)


def _as_type_of(old: Any, value: Any, name: str) -> Any:
    if isinstance(old, float) and isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return float(value)
    if type(value) is not type(old):
        kind = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[type(old)]
        raise ModelError(f"{name} is {shown(value)}; it has to be {kind}")
    if isinstance(value, str) and not (value.strip() and value.isprintable()):
        raise ModelError(f"{name} is {shown(value)}; it has to be a text of one line, without control characters")
    return value


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Turn settings such as "memory.latency_ns=200" into the nested mapping that `change` takes.

    Raises
    ------
    ModelError
        A setting without "=", or a name given twice.
    """
    table: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise ModelError(f"{setting!r} is no setting; write NAME=VALUE, such as memory.latency_ns=200")
        *tables, key = name.strip().split(".")
        place = table
        for part in tables:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise ModelError(f"{name.strip()} is set twice")
        if key in place:
            raise ModelError(f"{name.strip()} is set twice")
        place[key] = _value(text.strip())
    return table


def _value(text: str) -> Any:
    try:
        return parse_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # a word without quotes


SHOWN = 3  # parameters in a name


def told_apart(configs: Sequence[Config]) -> list[Config]:
    """Return the designs; the names of namesakes say how they differ.

    A design that occurs twice gets a number.
    """
    taken: set[str] = set()
    return [config.but(name=_free(_name(config, configs), taken)) for config in configs]


def _name(config: Config, configs: Sequence[Config]) -> str:
    namesakes = [dict(_parameters(other)) for other in configs if other.name == config.name]
    own = dict(_parameters(config))
    differing = [name for name in own if name != "name" and any(other[name] != own[name] for other in namesakes)]
    words = [f"{name}={_text(own[name])}" for name in differing[:SHOWN]]
    words += ["..."] * (len(differing) > SHOWN)
    return f"{config.name} ({', '.join(words)})" if words else config.name


def _free(name: str, taken: set[str]) -> str:
    names = itertools.chain([name], (f"{name} #{number}" for number in itertools.count(2)))
    found = next(one for one in names if one not in taken)
    taken.add(found)
    return found


def _parameters(part: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """All parameters by their dotted names."""
    for entry in dataclasses.fields(part):
        value = getattr(part, entry.name)
        if entry.name == "own_board":
            continue  # its name is the parameter `board`
        if dataclasses.is_dataclass(value):
            yield from _parameters(value, f"{prefix}{entry.name}.")
        else:
            yield f"{prefix}{entry.name}", value


def _text(value: Any) -> str:
    """A value as --set takes it."""
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
