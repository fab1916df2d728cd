"""Files: texts that are read up to a limit, TOML, and outputs that are whole or absent."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import IO, Any, TypeVar

from hls_model.errors import ModelInputError, ModelOutputError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.io.packed_file import open_packed

LARGEST_TEXT = 1 << 30  # bytes; a device such as /dev/zero has no end
LARGEST_TABLE = 1 << 20  # bytes of TOML

ValueT = TypeVar("ValueT")


class Named(Mapping[str, ValueT]):
    """Values by name in a given order, each made when it is first asked for."""

    def __init__(self, names: Sequence[str], make: Callable[[str], ValueT]) -> None:
        self._names, self._make = names, make
        self._made: dict[str, ValueT] = {}

    def __getitem__(self, name: str) -> ValueT:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_text(path: str | os.PathLike[str], trouble: str, largest: int = LARGEST_TEXT) -> str:
    """Return the text of a UTF-8 file.

    Parameters
    ----------
    path : path
    trouble : str
        The message for a file that is not text.
    largest : int
        Size at most, in bytes.

    Raises
    ------
    ModelInputError
        The file cannot be read, is too large, or is not text.
    """
    name = os.fspath(path)
    parts: list[bytes] = []
    size = 0
    try:
        with open(name, "rb") as file:
            while chunk := file.read(1 << 20):
                size += len(chunk)
                if b"\0" in chunk:
                    raise ModelInputError(f"{name}: {trouble}")
                if size > largest:
                    raise ModelInputError(f"{name}: {trouble}; it holds more than {largest:,} bytes")
                parts.append(chunk)
        return b"".join(parts).decode("utf-8")
    except (OSError, ValueError) as error:
        if isinstance(error, ModelInputError):
            raise
        if isinstance(error, UnicodeDecodeError):
            raise ModelInputError(f"{name}: {trouble}") from error
        raise ModelInputError(f"{name}: cannot be read ({getattr(error, 'strerror', None) or error})") from error


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the table of a TOML file.

    Raises
    ------
    ModelInputError
        The file cannot be read, is larger than 1 MiB, or is not TOML.
    """
    try:
        return parse_toml(read_text(path, "is not TOML", LARGEST_TABLE))
    except tomllib.TOMLDecodeError as error:
        raise ModelInputError(f"{os.fspath(path)}: is not TOML: {error}") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text.

    Raises
    ------
    tomllib.TOMLDecodeError
        It is none, has a whole number of thousands of digits, or is nested too deeply.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        raise tomllib.TOMLDecodeError(str(error)) from error
    except RecursionError:
        raise tomllib.TOMLDecodeError("nested too deeply") from None


def open_output(name: str, mode: str = "w") -> AbstractContextManager[IO[Any]]:
    """Open an output that is written completely or not at all.

    Parameters
    ----------
    name : str
        The file; "-" is standard output; devices and pipes are written in place. Text is compressed if its name says
        so; see `oclgenomics.io.packed_file.open_packed`.
    mode : {'w', 'wb'}
        Text (UTF-8) or bytes.

    Raises
    ------
    ModelOutputError
        The file cannot be written; what was there before is still there.
    """
    return (open_whole if "b" in mode else open_packed)(name, mode, ModelOutputError)
