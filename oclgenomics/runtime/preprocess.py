"""The C preprocessor, as far as reading the heads of kernels needs it: conditions, macros and comments.

Compilers preprocess the sources themselves; this is for what Python has to know of them (`signature`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from oclgenomics.errors import BuildError

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)[ \t]*(.*)$", re.MULTILINE)
_DEFINE = re.compile(r"^(\w+)(\(([^)]*)\))?[ \t]*(.*)$")
_DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_ARITHMETIC = re.compile(r"(?:[\s\d()<>=!&|^~+*%/-]|and|or|not)*")


@dataclass(frozen=True)
class Macro:
    """One macro; `parameters` is None where it takes no arguments."""

    body: str
    parameters: tuple[str, ...] | None = None


def preprocess(text: str, defines: Mapping[str, str]) -> tuple[str, dict[str, Macro]]:
    """Leave out comments, directives and what conditions leave out.

    Parameters
    ----------
    text : str
        A source whose includes are resolved.
    defines : mapping of str to str
        `-D` parameters.

    Returns
    -------
    text : str
        What remains, its macros not yet expanded.
    macros : dict of str to Macro
        As they are at the end of the source.

    Raises
    ------
    BuildError
        A condition that this module cannot evaluate.
    """
    macros = {name: Macro(value) for name, value in defines.items()}
    kept: list[str] = []
    active: list[tuple[bool, bool]] = []  # of each open condition: this branch is taken; it or one before it was
    plain, place = _plain(text), 0
    for directive in _DIRECTIVE.finditer(plain):
        whole = _is_taken(active)
        if whole:
            kept.append(plain[place : directive.start()])
        place = directive.end()
        if not _is_condition(directive[1], directive[2], active, macros) and whole:
            _define(directive[1], directive[2], macros)
    return "".join([*kept, plain[place:]]), macros


def expand(text: str, macros: Mapping[str, Macro], hidden: frozenset[str] = frozenset()) -> str:
    """Replace macros in a text, those of `hidden` excepted."""
    found: list[str] = []
    place = 0
    for match in _NAME.finditer(text):
        name = match[0]
        macro = macros.get(name)
        if match.start() < place or macro is None or name in hidden:
            continue
        end, arguments = match.end(), None
        if macro.parameters is not None:
            arguments, end = _arguments(text, end)
            if arguments is None:
                continue
        found += [text[place : match.start()], _replaced(macro, arguments or [], macros, hidden | {name})]
        place = end
    return "".join([*found, text[place:]])


def _without_comment(match: re.Match[str]) -> str:
    return match[0] if match[0][0] in "\"'" else " " + "\n" * match[0].count("\n")


@functools.lru_cache(maxsize=64)
def _plain(text: str) -> str:
    """A source without comments, its lines that end with a backslash joined to the next."""
    return _COMMENT.sub(_without_comment, text).replace("\\\n", " ")


def _is_taken(active: list[tuple[bool, bool]]) -> bool:
    """Whether all open conditions are true here: a branch inside one that is not taken is not taken, either."""
    return not active or active[-1][0]


def _is_condition(word: str, rest: str, active: list[tuple[bool, bool]], macros: Mapping[str, Macro]) -> bool:
    """Follow a directive that opens, changes or closes a condition; False if it is another one."""
    if word in ("if", "ifdef", "ifndef"):
        outer = _is_taken(active)
        taken = outer and _holds(word, rest, macros)
        active.append((taken, taken or not outer))
    elif word == "elif":
        _, before = active.pop()
        taken = not before and _holds("if", rest, macros)
        active.append((taken, before or taken))
    elif word == "else":
        _, before = active.pop()
        active.append((not before, True))
    elif word == "endif":
        active.pop()
    else:
        return False
    return True


def _define(word: str, rest: str, macros: dict[str, Macro]) -> None:
    if word == "undef":
        macros.pop(rest.strip(), None)
    match = _DEFINE.match(rest) if word == "define" else None
    if match is not None:
        names = None if match[2] is None else tuple(name.strip() for name in match[3].split(",") if name.strip())
        macros[match[1]] = Macro(match[4].strip(), names)


def _holds(word: str, rest: str, macros: Mapping[str, Macro]) -> bool:
    if word != "if":
        return (rest.split()[0] in macros) == (word == "ifdef")
    condition = _DEFINED.sub(lambda match: str(int((match[1] or match[2]) in macros)), rest)
    condition = _NUMBER.sub(_decimal, expand(condition, macros))
    condition = _NAME.sub("0", condition).replace("&&", " and ").replace("||", " or ")  # what nothing defines is 0
    condition = re.sub(r"!(?!=)", " not ", condition).replace("/", "//")
    if _ARITHMETIC.fullmatch(condition) is None:
        raise BuildError(f"the condition `#if {rest.strip()}` is beyond what is read of kernel sources")
    return bool(eval(condition, {"__builtins__": {}}))  # numbers and operators alone


def _decimal(match: re.Match[str]) -> str:
    """A whole number without its suffix, which Python reads."""
    return str(int(match[1], 16 if match[1][:2] in ("0x", "0X") else 10))


def _arguments(text: str, start: int) -> tuple[list[str] | None, int]:
    """The arguments of a macro's use, and where it ends; None where no parenthesis follows."""
    begin = start + len(text[start:]) - len(text[start:].lstrip())
    if text[begin : begin + 1] != "(":
        return None, start
    depth, pieces, place = 0, [], begin + 1
    for index in range(begin, len(text)):
        character = text[index]
        depth += (character == "(") - (character == ")")
        if depth == 0 or (depth == 1 and character == ","):
            pieces.append(text[place:index].strip())
            place = index + 1
        if depth == 0:
            return pieces, index + 1
    return None, start


def _replaced(macro: Macro, arguments: list[str], macros: Mapping[str, Macro], hidden: frozenset[str]) -> str:
    """A macro's body with its arguments, all expanded; those that are pasted are taken as they are."""
    body = macro.body
    if macro.parameters:
        pasted = "##" in body
        values = arguments if pasted else [expand(argument, macros, hidden) for argument in arguments]
        given = dict(zip(macro.parameters, values, strict=False))
        body = _NAME.sub(lambda match: given.get(match[0], match[0]), body)
        body = re.sub(r"\s*##\s*", "", body)
    return expand(body, macros, hidden)
