"""What of a scan was compared with neutral replicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Compared", "ComparedFact", "shown"]

NOT_COMPARED = "history of the population, its recombination rate, and how sites, missing calls and gaps are spread"


@dataclass(frozen=True)
class ComparedFact:
    """One fact of a scan and of neutral replicates that agrees.

    Attributes
    ----------
    name : str
    scan, replicates : object
        Plain values; of several alignments that differ, a list of the smallest and the largest.
    tolerance : str
        How far they may differ; "equal" if not at all.
    """

    name: str
    scan: Any
    replicates: Any
    tolerance: str = "equal"

    def record(self) -> dict[str, Any]:
        """Return the fact as plain values."""
        return {"fact": self.name, "scan": self.scan, "replicates": self.replicates, "tolerance": self.tolerance}

    def __str__(self) -> str:
        ours, theirs = shown(self.scan), shown(self.replicates)
        return f"{self.name} {ours}" if self.tolerance == "equal" else f"{self.name} {ours} (replicates {theirs})"


@dataclass(frozen=True)
class Compared:
    """What of a scan was compared with neutral replicates; all of it agrees.

    Attributes
    ----------
    facts : tuple of ComparedFact
    warnings : tuple of str
        What makes rates and p-values mean something else than they seem to.
    """

    facts: tuple[ComparedFact, ...]
    warnings: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "facts": [fact.record() for fact in self.facts], "not_compared": NOT_COMPARED,
            "warnings": list(self.warnings),
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.facts))}; not compared: {NOT_COMPARED}"


def shown(value: Any) -> str:
    """A value, or a range of two, as words."""
    if isinstance(value, list):
        return " to ".join(map(shown, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.5g}" if isinstance(value, float) else f"{value:,}"
