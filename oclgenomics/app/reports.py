"""What every report is, and how several are written while the work goes on."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Generic, Protocol, TypeVar

from oclgenomics.app.provenance import provenance_lines
from oclgenomics.io.json_text import json_text
from oclgenomics.lazy_names import late

workers = late("oclgenomics.io.workers")

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

    It is UTF-8 but for names of the input, whose bytes are those of the input. What `body` returns stays as it is until
    the call of it behind the next one. A class that is derived from this one has no head and no tail unless it says so.
    """

    def head(self) -> bytes:
        """Return what comes first."""
        return b""

    def body(self, part: PartT_contra, /) -> bytes | memoryview: ...

    def tail(self) -> bytes:
        """Return what comes last."""
        return b""


class Lines:
    """A report that is the lines of its parts: nothing comes before them, and nothing after them."""

    def head(self) -> bytes:
        """Return nothing."""
        return b""

    def tail(self) -> bytes:
        """Return nothing."""
        return b""


class AlignmentsJson(Generic[PartT]):
    """One JSON object: 'provenance', and 'alignments' with an object for each part.

    Parameters
    ----------
    record : callable
        Returns a part as plain values.
    provenance : mapping, optional
    """

    def __init__(
        self, record: Callable[[PartT], Mapping[str, Any]], provenance: Mapping[str, Any] | None = None
    ) -> None:
        self._record, self._provenance = record, dict(provenance or {})
        self._written = 0

    def head(self) -> bytes:
        """Return the provenance."""
        return f'{{"provenance": {json_text(self._provenance)},\n "alignments": ['.encode()

    def body(self, part: PartT, /) -> bytes:
        """Return the object of a part."""
        self._written += 1
        return (("," if self._written > 1 else "") + "\n  " + json_text(self._record(part))).encode()

    def tail(self) -> bytes:
        """Return what closes the object."""
        return b"\n ]\n}\n"


def encoded(text: str) -> bytes:
    """Return the bytes of a text, in which names may be of any bytes."""
    return text.encode("utf-8", "backslashreplace")


def cell(value: Any) -> str:
    """Return a value as it stands in a table: `MISSING` for None and NaN, 9 digits of other floating-point numbers."""
    if value is None or value != value:
        return MISSING
    return f"{value:.9g}" if isinstance(value, float) else " ".join(str(value).split())


def in_one_line(text: str) -> str:
    """Return a name without what a field of a table cannot hold: tabs and ends of lines become spaces."""
    return text.replace("\t", " ").replace("\n", " ")


def table_text(provenance: Mapping[str, Any], columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a header, below '#' lines that say what made it."""
    return provenance_lines(provenance) + "".join(["\t".join(row) + "\n" for row in (columns, *rows)])


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
        In order. If all streams are files, a thread writes each while the next one is made; else each is written
        before the next one is asked for.
    reports : sequence of (binary stream, Report)
    on_part : sequence of callable
        Called with each part before it is written.
    flush : bool
        Let readers have each part at once.
    """

    def write(texts: Sequence[bytes | memoryview]) -> None:
        for (stream, _), text in zip(reports, texts, strict=True):
            stream.write(text)
            if flush:
                stream.flush()

    made = _texts(parts, [report for _, report in reports], on_part)
    behind = not flush and all(_is_file(stream) for stream, _ in reports)
    with closing(workers.work_behind(write, made, behind=behind)) as written:
        for _ in written:
            pass


def write_report(parts: Iterable[PartT], stream: ByteSink, report: Report[PartT]) -> int:
    """Write parts of a result, such as scans, to a binary stream as they come, and return how many there were."""
    count = 0

    def counted(_: PartT) -> None:
        nonlocal count
        count += 1

    write_reports(parts, [(stream, report)], on_part=[counted])
    return count


def _texts(
    parts: Iterable[PartT], reports: Sequence[Report[PartT]], on_part: Sequence[Callable[[PartT], object]]
) -> Iterator[list[bytes | memoryview]]:
    """The next bytes of all reports: their heads when the first part is there, each part, and what comes last."""
    begun = False
    for part in parts:
        for see in on_part:
            see(part)
        if not begun:
            yield [report.head() for report in reports]
        begun = True
        yield [report.body(part) for report in reports]
    if not begun:
        yield [report.head() for report in reports]
    yield [report.tail() for report in reports]


def _is_file(stream: ByteSink) -> bool:
    """Whether a stream writes to a file, for which nobody waits as for the reader of a pipe."""
    try:
        handle: int = stream.fileno()  # type: ignore[attr-defined]
    except (AttributeError, io.UnsupportedOperation):
        return False
    return stat.S_ISREG(os.fstat(handle).st_mode)
