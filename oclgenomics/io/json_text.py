"""JSON that every reader takes, and JSON that is read strictly: what is missing or unknown is reported by its place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from oclgenomics.errors import InputError
from oclgenomics.lazy_names import late

hashlib = late("hashlib")

KINDS: dict[type, str] = {
    str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "an object",
}  # fmt: skip


class Fields:
    """An object of a JSON file.

    Parameters
    ----------
    values : mapping
    source : str
        What messages call the file.
    place : str
        Of the object in the file, as in "stages[2]"; empty for the outermost.
    """

    def __init__(self, values: Mapping[str, Any], source: str, place: str = "") -> None:
        self.values, self.source, self.place = values, source, place

    def only(self, names: Sequence[str]) -> None:
        """Refuse other names than these, and the lack of one.

        Raises
        ------
        InputError
        """
        for name in self.values:
            if name not in names:
                self.refuse(name[:40], "is not known here")
        for name in names:
            if name not in self.values:
                self.refuse(name, "is missing")

    def get(self, name: str, kind: type, *, optional: bool = False) -> Any:
        """Return a value of a kind; a whole number is a number, too. `optional` is None where it is null.

        Raises
        ------
        InputError
            It is missing, or of another kind.
        """
        if name not in self.values:
            self.refuse(name, "is missing")
        value = self.values[name]
        if kind is float and type(value) is int and abs(value) < 1 << 53:
            value = float(value)
        if type(value) is not kind and not (optional and value is None):
            self.refuse(name, f"is not {KINDS[kind]}")
        if isinstance(value, float) and not math.isfinite(value):
            self.refuse(name, "is not a finite number")
        return value

    def objects(self, name: str) -> list[Fields]:
        """Return a list of objects.

        Raises
        ------
        InputError
            It is none.
        """
        values: list[Any] = self.get(name, list)
        for number, value in enumerate(values, 1):
            if not isinstance(value, dict):
                self.refuse(f"{name}[{number}]", "is not an object")
        return [Fields(value, self.source, f"{self.place}{name}[{n}].") for n, value in enumerate(values, 1)]

    def inner(self, name: str) -> Fields:
        """Return an object.

        Raises
        ------
        InputError
            It is none.
        """
        return Fields(self.get(name, dict), self.source, f"{self.place}{name}.")

    def refuse(self, name: str, why: str) -> NoReturn:
        """Say what is wrong with a value.

        Raises
        ------
        InputError
        """
        raise InputError(f"{self.place}{name} {why}", source=self.source)


def load_fields(text: str, source: str, remedy: str = "") -> Fields:
    """Parse a JSON object; `remedy` ends the message where the text is broken.

    Raises
    ------
    InputError
        The text is no JSON object, names a value twice, is nested too deeply, or holds a number without bounds.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise InputError(f"broken JSON: {error.msg}{remedy}", source=source, line=error.lineno) from None
    except ValueError as error:  # also whole numbers of thousands of digits
        raise InputError(f"broken JSON: {error}{remedy}", source=source) from None
    except RecursionError:
        raise InputError(f"broken JSON: nested too deeply{remedy}", source=source) from None
    if not isinstance(value, dict):
        raise InputError("is JSON, but no object", source=source)
    return Fields(value, source)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)[:40]!r} is there twice")
    return found


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, without a newline at its end."""
    try:
        return json.dumps(value, allow_nan=False, indent=indent)
    except ValueError:  # there is one somewhere
        return json.dumps(_plain(value), allow_nan=False, indent=indent)


def signed_text(record: Mapping[str, Any]) -> str:
    """Return an object as JSON of many lines, with a 'checksum' that `is_signed` looks at."""
    return json_text({**record, "checksum": _checksum(record)}, indent=1) + "\n"


def is_signed(record: Mapping[str, Any]) -> bool:
    """Return whether an object that was read is as `signed_text` wrote it."""
    return record.get("checksum") == _checksum(record)


def _checksum(record: Mapping[str, Any]) -> str:
    """SHA-256 of everything but the checksum itself."""
    text = json_text({name: value for name, value in record.items() if name != "checksum"})
    return str(hashlib.sha256(text.encode()).hexdigest())


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
