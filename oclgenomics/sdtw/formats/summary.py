"""How many reads were decided at each stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oclgenomics.app.provenance import provenance_lines
from oclgenomics.sdtw.decisions.words import WORDS
from oclgenomics.sdtw.totals import Totals

__all__ = ["summary_text"]

COLUMNS = ("prefix", "came", "accept", "reject", "undecided")


def summary_text(totals: Totals, prefixes: Sequence[int], provenance: Mapping[str, Any] | None = None) -> str:
    """Return a table with a line for each stage: reads that came to it, decisions of those that stopped there.

    Parameters
    ----------
    totals : Totals
    prefixes : sequence of int
        Samples of the stages; a line for 0, reads that came to none, is before them.
    provenance : mapping, optional
    """
    lines = [provenance_lines(provenance or {}), "\t".join(COLUMNS) + "\n"]
    for prefix in (0, *prefixes):
        came = sum(number for (last, _), number in totals.decided.items() if last >= prefix)
        counts = {word: totals.decided[prefix, word] for word in WORDS}
        lines.append(f"{prefix}\t{came}\t" + "\t".join([str(counts[word]) for word in COLUMNS[2:]]) + "\n")
    return "".join(lines)
