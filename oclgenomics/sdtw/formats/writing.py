"""Writes a report part by part, while the work goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, TypeVar

from oclgenomics.sdtw.classified import Classified
from oclgenomics.sdtw.formats.tables import Report
from oclgenomics.sdtw.result import Alignments

__all__ = ["write_report"]

PartT = TypeVar("PartT", Alignments, Classified)


def write_report(
    parts: Iterable[PartT],
    stream: IO[str],
    report: Report,
    *,
    on_part: Callable[[PartT], None] = lambda _: None,
) -> None:
    """Write the parts of a result as they come; an input that is refused at once leaves nothing behind.

    Parameters
    ----------
    parts : iterable of Alignments or of Classified
        One at least, if only of no reads.
    stream : text stream
    report : Report
    on_part : callable
        Called with each part before it is written.
    """
    begun = False
    for part in parts:
        on_part(part)
        stream.write(report.body(part) if begun else report.head(part) + report.body(part))
        begun = True
