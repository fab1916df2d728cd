"""Names for designs that are shown side by side, so that no two of them look the same."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from hls_model.config import Config

__all__ = ["told_apart"]

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
