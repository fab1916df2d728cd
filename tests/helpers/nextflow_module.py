"""What a module of Nextflow says, without Nextflow: the small part of Groovy that our modules are written in.

Anything else is an error, so that no test takes a script for what Nextflow would not run.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Module", "commands", "read_module"]

BLOCKS = ("input", "output", "when", "script", "stub")
NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
STRING = r"""("(?:[^"\\]|\\.)*"|'[^'$\\]*')"""


@dataclass(frozen=True)
class Module:
    """A process.

    Attributes
    ----------
    name : str
    directives : dict of str to str
        As written: `container`, `conda`, `label`, `tag`.
    inputs : list of list of (str, str)
        The elements of each channel: `val` or `path`, and its name.
    outputs : dict of str to list of (str, str)
        The elements of each channel that is emitted: `val` or `path`, and its name or glob.
    when, script, stub : str
        As written.
    """

    name: str
    directives: dict[str, str]
    inputs: list[list[tuple[str, str]]]
    outputs: dict[str, list[tuple[str, str]]]
    when: str
    script: str
    stub: str


def read_module(text: str) -> Module:
    """Take a module apart.

    Raises
    ------
    ValueError
        It holds what is not known here.
    """
    whole = re.fullmatch(r"process (\w+) \{\n(.*)\}\n", text, re.DOTALL)
    if whole is None:
        raise ValueError("no process, or more than one")
    head, *rest = re.split(rf"^    ({'|'.join(BLOCKS)}):\n", whole[2], flags=re.MULTILINE)
    if tuple(rest[::2]) != BLOCKS:
        raise ValueError(f"blocks {rest[::2]}")
    blocks = dict(zip(BLOCKS, map(textwrap.dedent, rest[1::2]), strict=True))
    directives = dict(line.split(maxsplit=1) for line in head.splitlines() if line.strip())
    outputs = {}
    for line in _lines(blocks["output"]):
        elements, emitted, name = re.split(r"\s*,\s*(emit): ", line)
        if emitted != "emit" or name in outputs:
            raise ValueError(line)
        outputs[name] = _elements(elements)
    return Module(
        whole[1], directives, [_elements(line) for line in _lines(blocks["input"])], outputs,
        blocks["when"].strip(), blocks["script"], blocks["stub"],
    )  # fmt: skip


def commands(block: str, known: Mapping[str, Any]) -> str:
    """Return the commands of a script or stub with the values of variables.

    Parameters
    ----------
    block : str
        `def` lines, then text in three quotes.
    known : mapping
        Values by name; those of `task.ext` by mappings in mappings.

    Raises
    ------
    ValueError
        It holds what is not known here, a variable among it.
    """
    parts = re.fullmatch(r'(.*?)^"""\n(.*)^"""\s*', block, re.DOTALL | re.MULTILINE)
    if parts is None:
        raise ValueError("no text in three quotes at the end")
    names = dict(known)
    for line in _lines(parts[1]):
        said = re.fullmatch(r"def (\w+) = (.*)", line)
        if said is None:
            raise ValueError(line)
        names[said[1]] = _value(said[2], names)
    return textwrap.dedent(_filled(parts[2], names))


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _elements(text: str) -> list[tuple[str, str]]:
    """The elements of `tuple val(a), path("b")`, or of `val a`."""
    element = r"""(val|path)[( ](?:(\w+)|"([^"]+)")\)?"""
    parts = text.removeprefix("tuple ").split(", ") if text.startswith("tuple ") else [text]
    found = [re.fullmatch(element, part.strip()) for part in parts]
    if None in found:
        raise ValueError(text)
    return [(one[1], one[2] or one[3]) for one in found if one]


def _value(expression: str, names: Mapping[str, Any]) -> str:
    """The value of a string, of `name ?: string` or of `name ? string : string`."""
    if re.fullmatch(STRING, expression):
        return expression[1:-1] if expression[0] == "'" else _filled(expression[1:-1], names)
    if choice := re.fullmatch(rf"({NAME}) \? {STRING} : {STRING}", expression):
        return _value(choice[2] if _looked_up(choice[1], names) else choice[3], names)
    if choice := re.fullmatch(rf"({NAME}) \?: {STRING}", expression):
        return str(_looked_up(choice[1], names) or _value(choice[2], names))
    raise ValueError(expression)


def _looked_up(name: str, names: Mapping[str, Any]) -> Any:
    """The value of `a.b.c`; what a map of `ext` or `meta` lacks is null, as in Groovy."""
    first, *others = name.split(".")
    if first not in names:
        raise ValueError(f"unknown variable {name}")
    value = names[first]
    for part in others:
        value = value.get(part) if first == "meta" or (others[0] == "ext" and part != "ext") else value[part]
    return value


def _filled(text: str, names: Mapping[str, Any]) -> str:
    """A string with the values of its variables, and without the backslashes of escapes."""

    def replaced(found: re.Match[str]) -> str:
        if found[1]:
            return found[1]
        if found[2] is None:
            raise ValueError(f"unknown: {text[found.start() : found.start() + 20]!r}")
        value = _looked_up(found[2], names)
        if value is None or isinstance(value, bool):
            raise ValueError(f"{found[2]} is {value}")
        return " ".join(map(str, value)) if isinstance(value, list) else str(value)

    return re.sub(rf"\\([\\$])|\$\{{({NAME})\}}|\$|\\", replaced, text)
