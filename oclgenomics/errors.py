"""Errors that reach the user as one line, each with the exit code of its kind.

Exit codes: 2 usage, 3 bad input, 4 no usable device or not enough memory, 5 output could not be written.
Signals end a command with 128 and their number: 130 interrupted, 143 terminated.
Everything the package raises on purpose derives from `OclGenomicsError`; anything else that escapes is a defect.
"""

from __future__ import annotations

__all__ = [
    "AllocationError",
    "BuildError",
    "DeviceError",
    "DeviceLostError",
    "InputError",
    "MissingDependencyError",
    "NoDeviceError",
    "OclGenomicsError",
    "OutputError",
    "UnknownDeviceError",
    "UntrustedDeviceError",
    "UsageError",
]


class OclGenomicsError(Exception):
    """Base of all errors the package raises; `str(error)` is the whole message, in one line."""

    exit_code = 1


class UsageError(OclGenomicsError):
    """Options that contradict each other or lie outside their range."""

    exit_code = 2


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
        Path of the input ("-" for standard input).
    line : int, optional
        Line number, counted from 1.
    record : int, optional
        Record (replicate, sequence, site) number, counted from 1.
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
        self.source, self.line, self.record, self.byte = source, line, record, byte
        places = [] if source is None else ["standard input" if source == "-" else source]
        places += [
            f"{name} {value}"
            for name, value in (("line", line), ("record", record), ("byte", byte))
            if value is not None
        ]
        super().__init__(f"{', '.join(places)}: {message}" if places else message)


class OutputError(OclGenomicsError):
    """An output that could not be written; nothing half written is left behind."""

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
