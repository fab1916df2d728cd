"""Errors that reach the user as one line, each with the exit code of its kind.

Exit codes: 2 usage, 3 bad input, 4 no usable device or not enough memory, 5 output could not be written.
Signals end a command with 128 and their number: 130 interrupted, 143 terminated.
Everything the package raises on purpose derives from `OclGenomicsError`; anything else that escapes is a defect.

A message names parameters in backquotes: "raise `max_memory`", "use `precision=accurate`". `str(error)` shows them as a
caller of the library writes them (max_memory, precision='accurate'), and the command line, which sets `option_of`, as
its options (--max-memory, --precision accurate). Names that are no option of the command stay as they are.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

PARAMETER = re.compile(r"`([a-z][a-z0-9_]*)(?:=([^`\s]+))?`")


class OclGenomicsError(Exception):
    """Base of all errors the package raises; `str(error)` is the whole message, in one line.

    Attributes
    ----------
    option_of : mapping of str to str, or None
        The command line's option for each parameter, where the message is for its user.
    """

    exit_code = 1
    option_of: Mapping[str, str] | None = None

    def __str__(self) -> str:
        return self._shown(super().__str__())

    def _shown(self, text: str) -> str:
        """The text with its parameters as the reader knows them."""
        return PARAMETER.sub(lambda found: self._named(found[1], _value(found[2])), text)

    def _named(self, parameter: str, value: object) -> str:
        """A parameter, and its value if there is one."""
        option = None if self.option_of is None else self.option_of.get(parameter, parameter)
        if value is None:
            return option or parameter
        if option is not None:
            return option if str(value) == "True" else f"{option} {value}"
        return f"{parameter}={repr(value) if isinstance(value, str) else value}"


def _value(text: str | None) -> object:
    """The number or truth value that a text is; else the text."""
    if text is None:
        return None
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"-?[0-9]+\.[0-9]+", text):
        return float(text)
    return {"True": True, "False": False}.get(text, text)


class UsageError(OclGenomicsError):
    """Parameters that contradict each other or lie outside their range."""

    exit_code = 2


class ParameterError(UsageError):
    """A parameter whose value cannot be used.

    Parameters
    ----------
    parameter : str
        Its name in the library; the command line shows the option instead.
    text : str
        What is wrong, to be read after the name: "must be 2 or more".
    value : object, optional
        What was given, shown between the two: "grid=1: at least 2 positions are needed".

    Examples
    --------
    >>> print(ParameterError("grid", "must be 2 or more"))
    grid must be 2 or more
    >>> error = ParameterError("grid", "at least 2 positions are needed", 1)
    >>> print(error)
    grid=1: at least 2 positions are needed
    >>> error.option_of = {"grid": "--grid"}
    >>> print(error)
    --grid 1: at least 2 positions are needed
    """

    def __init__(self, parameter: str, text: str, value: object = None) -> None:
        super().__init__(parameter, text, value)
        self.parameter, self.text, self.value = parameter, text, value

    def __str__(self) -> str:
        lead = self._named(self.parameter, self.value)
        return f"{lead} {self._shown(self.text)}" if self.value is None else f"{lead}: {self._shown(self.text)}"


def check_choice(parameter: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a value that is none of the choices.

    Raises
    ------
    ParameterError
        It is another one.
    """
    choices = list(choices)
    if value not in choices:
        raise ParameterError(parameter, f"choose one of {', '.join(choices)}", value)


def whole_number(parameter: str, value: object) -> int:
    """Return a whole number as Python's, which may have been NumPy's.

    Raises
    ------
    ParameterError
        It is something else.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterError(parameter, "give a whole number, as an integer", value) from None


def check_range(parameter: str, value: float | None, least: float, most: float, text: str) -> None:
    """Refuse a number, if one is given, that is not within bounds.

    Raises
    ------
    ParameterError
        It is below `least` or above `most`; `text` says what the bounds are.
    """
    if value is not None and not least <= value <= most:
        raise ParameterError(parameter, text, value)


def check_values(options: object, names: Collection[str], is_right: Callable[[Any], bool], remedy: str) -> None:
    """Refuse values of some options that are not right; None, for options that are left out, is right.

    Raises
    ------
    ParameterError
    """
    for name in names:
        value = getattr(options, name)
        if value is not None and not is_right(value):
            raise ParameterError(name, remedy, value)


class MissingDependencyError(OclGenomicsError):
    """An optional package is needed; the message names the extra that brings it."""

    exit_code = 2


class InputError(OclGenomicsError):
    """An input that is missing, unreadable or malformed.

    Parameters
    ----------
    message : str
        What is wrong and what to do about it.
    source : str, optional
        Path of the input ("-" for standard input). One that has an attribute `shown` is shown as that says.
    line : int, optional
        Line number, counted from 1.
    record : int, optional
        Record (replicate, sequence, site) number, counted from 1. Of a `FileSlice` that does not begin with its file,
        nobody knows it.
    byte : int, optional
        Offset in the decompressed input, counted from 0.
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        record: int | None = None,
        byte: int | None = None,
    ) -> None:
        if getattr(source, "start", 0):
            record = None
        self.source, self.line, self.record, self.byte = source, line, record, byte
        places = [] if source is None else ["standard input" if source == "-" else getattr(source, "shown", source)]
        places += [
            f"{name} {value}"
            for name, value in (("line", line), ("record", record), ("byte", byte))
            if value is not None
        ]
        super().__init__(f"{', '.join(places)}: {message}" if places else message)


def reason_of(error: BaseException) -> str:
    """Return what an error of a library says, in one line; its kind where it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def library_errors(trouble: str, source: str) -> Iterator[None]:
    """Have whatever a library raises for a damaged file become one line, of the trouble and the library's reason.

    Raises
    ------
    InputError
    """
    try:
        yield
    except OclGenomicsError:
        raise
    except Exception as error:
        raise InputError(f"{trouble} ({reason_of(error)})", source=source) from error


class EmptyInputError(InputError):
    """An input with nothing in it. For reads it is a sample without reads, for all else an error."""


class OutputError(OclGenomicsError):
    """An output that could not be written; no half-written file is left behind.

    What has gone to standard output, a pipe or a device stays there; the message says so.
    """

    exit_code = 5


class DeviceError(OclGenomicsError):
    """Any trouble with an OpenCL device."""

    exit_code = 4


class NoDeviceError(DeviceError):
    """The OpenCL loader finds no usable device at all."""


class UnknownDeviceError(DeviceError):
    """A device was asked for by a name, index or kind that no device answers to."""


class UntrustedDeviceError(DeviceError):
    """The device that was asked for computes wrongly: it fails the self-test."""


class BuildError(DeviceError):
    """A kernel did not compile; the message names the source file and line."""


class AllocationError(DeviceError):
    """Device memory ran out; the message says what was asked, what there is and what to change."""


class DeviceLostError(DeviceError):
    """The device stopped answering in the middle of the work."""


class SchedulerError(DeviceError):
    """The workers of a scheduler cannot be reached, or are gone."""


def readable_bytes(count: int) -> str:
    """Write a number of bytes as people read it."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
