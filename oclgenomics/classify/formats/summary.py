"""MetaCache's words for how many reads were classified."""

from __future__ import annotations

from oclgenomics.classify.calling.abundances import percent_text
from oclgenomics.classify.formats.tally import Tally

__all__ = ["MAIN_RANKS", "summary_text"]

MAIN_RANKS = (
    "sequence", "subspecies", "species", "genus", "family", "order", "class", "phylum", "kingdom", "domain", "root",
)  # fmt: skip


def summary_text(tally: Tally, comment: str = "# ") -> str:
    """Say how many reads were classified at each rank or below; shares are of reads, or of pairs.

    Parameters
    ----------
    tally : Tally
    comment : str
        Starts each line.
    """
    lines = [f"queries: {tally.sequences}"]
    reads, unclassified = tally.reads, tally.unclassified
    if reads and unclassified == reads:
        lines.append("None of the input sequences could be classified.")
    elif unclassified:
        lines.append(f"unclassified: {percent_text(unclassified / reads)}% ({unclassified})")
    if unclassified < reads:
        lines.append("classified:")
        for rank in MAIN_RANKS:
            if count := tally.at_or_below(rank):
                lines.append(f"  {rank:<11}{percent_text(count / reads)}% ({count})")
    return "".join([f"{comment}{line}\n" for line in lines])
