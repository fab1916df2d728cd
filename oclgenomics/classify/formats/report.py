"""What every report of classified reads is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from oclgenomics.classify.result import ClassifiedReads

__all__ = ["ByteSink", "Report", "write_reports"]


class ByteSink(Protocol):
    """Something that takes bytes: a binary stream, or a file in the making."""

    def write(self, data: bytes | memoryview, /) -> object: ...


class Report(Protocol):
    """A report is `head()`, then `body(part)` for each part of a query in order, then `tail()`.

    It is UTF-8 but for the names of reads, whose bytes are those of the input. What `body` returns may change with the
    next call of it.
    """

    def head(self) -> bytes: ...

    def body(self, part: ClassifiedReads) -> bytes | memoryview: ...

    def tail(self) -> bytes: ...


def write_reports(
    parts: Iterable[ClassifiedReads],
    reports: Sequence[tuple[ByteSink, Report]],
    *,
    on_part: Sequence[Callable[[ClassifiedReads], None]] = (),
) -> None:
    """Write reports while a query goes on; an input that is refused at once leaves nothing behind.

    Parameters
    ----------
    parts : iterable of ClassifiedReads
        In order; each is written before the next one is asked for.
    reports : sequence of (binary stream, Report)
    on_part : sequence of callable
        Called with each part before it is written: `Tally.add`, `TargetHits.add`.
    """
    begun = False
    for part in parts:
        for see in on_part:
            see(part)
        for stream, report in reports:
            if not begun:
                stream.write(report.head())
            stream.write(report.body(part))
        begun = True
    for stream, report in reports:
        if not begun:
            stream.write(report.head())
        stream.write(report.tail())
