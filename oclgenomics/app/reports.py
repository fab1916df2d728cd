"""What every report is, and how several are written while the work goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

MISSING = "NA"
"""What stands in a table for a value that is not there; formats that others have defined keep theirs."""

PartT = TypeVar("PartT")
PartT_contra = TypeVar("PartT_contra", contravariant=True)


class ByteSink(Protocol):
    """Something that takes bytes: a binary stream, or a file in the making."""

    def write(self, data: bytes | memoryview, /) -> object: ...

    def flush(self) -> object: ...


class Report(Protocol[PartT_contra]):
    """A report is `head()`, then `body(part)` for each part of a result in order, then `tail()`.

    It is UTF-8 but for names of the input, whose bytes are those of the input. What `body` returns may change with the
    next call of it. A class that is derived from this one has no head and no tail unless it says so.
    """

    def head(self) -> bytes:
        """Return what comes first."""
        return b""

    def body(self, part: PartT_contra, /) -> bytes | memoryview: ...

    def tail(self) -> bytes:
        """Return what comes last."""
        return b""


def write_reports(
    parts: Iterable[PartT],
    reports: Sequence[tuple[ByteSink, Report[PartT]]],
    *,
    on_part: Sequence[Callable[[PartT], object]] = (),
    flush: bool = False,
) -> None:
    """Write reports while parts come; an input that is refused at once leaves nothing behind.

    Parameters
    ----------
    parts : iterable
        In order; each is written before the next one is asked for.
    reports : sequence of (binary stream, Report)
    on_part : sequence of callable
        Called with each part before it is written.
    flush : bool
        Let readers have each part at once.
    """
    begun = False
    for part in parts:
        for see in on_part:
            see(part)
        for stream, report in reports:
            if not begun:
                stream.write(report.head())
            stream.write(report.body(part))
            if flush:
                stream.flush()
        begun = True
    for stream, report in reports:
        if not begun:
            stream.write(report.head())
        stream.write(report.tail())
