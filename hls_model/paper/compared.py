"""A number of the model beside one that the paper prints, and what their agreement is worth.

- predicted: the model's output; no parameter was chosen with the published number in view. Only these are evidence.
- calibrated: a parameter was chosen so that the model gives the published number, or one of a group that holds it.
- restated: arithmetic on published numbers, or on a data set that was chosen to match them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["KINDS", "Compared", "Kind", "evidence", "evidence_text"]

Kind = Literal["predicted", "calibrated", "restated"]
KINDS: tuple[Kind, ...] = ("predicted", "calibrated", "restated")


@dataclass(frozen=True)
class Compared:
    """One number of the model and the published one.

    Attributes
    ----------
    name : str
        What is compared.
    value, published : float
        The model's number and the paper's, in the same unit.
    kind : {'predicted', 'calibrated', 'restated'}
        What their agreement is worth.
    why : str
        Which number was used, or that none was.
    """

    name: str
    value: float
    published: float
    kind: Kind
    why: str

    @property
    def deviation(self) -> float:
        """The model's number over the published one, less 1."""
        return self.value / self.published - 1

    def text(self, digits: int = 0) -> str:
        """Return the model's number, its deviation and the first letter of its kind."""
        return f"{self.value:,.{digits}f} ({100 * self.deviation:+.1f} %) {self.kind[0]}"

    def record(self) -> dict[str, object]:
        """Return the comparison for JSON."""
        return {**vars(self), "deviation": self.deviation}


def evidence(rows: Iterable[Compared]) -> list[Compared]:
    """Return the rows that count as evidence: those that are predicted."""
    return [row for row in rows if row.kind == "predicted"]


def evidence_text(rows: Iterable[Compared], others: str = "the paper's") -> str:
    """Return how many numbers there are of each kind, and how those deviate that are evidence."""
    every = list(rows)
    found = evidence(every)
    counts = ", ".join(f"{sum(row.kind == kind for row in every)} {kind}" for kind in KINDS)
    text = f"{len(every)} numbers beside {others}: {counts} (p, c, r)"
    if not found:
        return f"{text}; none is evidence"
    off = [100 * row.deviation for row in found]
    only = "only the predicted are evidence"
    return f"{text}; {only}, and deviate by {min(off):+.1f} to {max(off):+.1f} %"
