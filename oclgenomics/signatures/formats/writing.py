"""Writes several reports of a scan at once, while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import IO

from oclgenomics.signatures.formats.matches import Report
from oclgenomics.signatures.result import ScanPart

__all__ = ["write_reports"]


def write_reports(
    parts: Iterable[ScanPart],
    reports: Sequence[tuple[IO[str], Report]],
    *,
    on_part: Sequence[Callable[[ScanPart], None]] = (),
    flush: bool = False,
) -> None:
    """Write the parts of a scan as they come; an input that is refused at once leaves nothing behind.

    Parameters
    ----------
    parts : iterable of ScanPart
    reports : sequence of (text stream, Report)
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
            stream.write(report.body(part) if begun else report.head() + report.body(part))
            if flush:
                stream.flush()
        begun = True
    if not begun:
        for stream, report in reports:
            stream.write(report.head())
