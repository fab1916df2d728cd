"""What all reports of a scan are, and how their lines are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.provenance import provenance_lines
from oclgenomics.app.reports import MISSING, encoded
from oclgenomics.io.text_file import rows_of
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import ScanPart


class ScanReport(ABC):
    """An `oclgenomics.app.reports.Report` of the parts of a scan.

    Parameters
    ----------
    panel : Panel
    provenance : mapping, optional
        What made the results.
    """

    HEADER: tuple[str, ...] = ()

    def __init__(self, panel: Panel, provenance: Mapping[str, Any] | None = None) -> None:
        self._panel, self._provenance = panel, provenance or {}

    def head(self) -> bytes:
        header = "\t".join(self.HEADER) + "\n" if self.HEADER else ""
        return encoded(provenance_lines(self._provenance) + header)

    def body(self, part: ScanPart) -> bytes:
        return encoded(self._lines(part))

    def tail(self) -> bytes:
        return b""

    @abstractmethod
    def _lines(self, part: ScanPart) -> str: ...


def rows(columns: Mapping[str, Any], names: Sequence[str], form: str | None = None) -> str:
    """Write the rows of some columns, lists or arrays; see `oclgenomics.io.text_file.rows_of`."""
    lists = (columns[name] for name in names)
    return rows_of([column if isinstance(column, list) else column.tolist() for column in lists], form)


def texts(values: NDArray[Any], form: str, known: NDArray[np.bool_] | None = None, missing: str = MISSING) -> list[str]:
    """Write each value as `form`, or `missing` where it is not known: a list comprehension, and no call for a field."""
    if known is None or known.all():
        return [form % value for value in values.tolist()]
    if not known.any():
        return [missing] * len(values)
    return [form % value if there else missing for value, there in zip(values.tolist(), known.tolist(), strict=True)]


def words(*conditions: tuple[NDArray[np.bool_], str]) -> list[str]:
    """Write for each row the words whose conditions hold, with commas between them; there is at least one condition."""
    lists = [[word if true else "" for true in holds.tolist()] for holds, word in conditions]
    return [",".join([word for word in row if word]) or MISSING for row in zip(*lists, strict=True)]
