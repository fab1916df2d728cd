"""How MetaCache's text shows reads."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NativeOptions"]


@dataclass(frozen=True)
class NativeOptions:
    """The switches of MetaCache's text; the names are its own.

    Attributes
    ----------
    taxids : bool
        Identifiers of taxa beside their names; those of targets are -1 and below.
    taxids_only : bool
        Identifiers instead of names.
    omit_ranks : bool
        No names of ranks.
    separate_cols : bool
        Rank, name and identifier in columns of their own.
    separator : str
        Between columns.
    comment : str
        At the start of lines that are not about a read.
    lineage : bool
        The taxa at all ranks from that of the call up to the highest one.
    queryids : bool
        A number for each read or pair, from 1 on.
    mapped_only : bool
        No lines for unclassified reads.
    no_map : bool
        No lines for reads at all.
    tophits : bool
        The candidates and their hits; implied by `locations`.
    allhits : bool
        All windows that were hit; the parts of the query have to bring them.
    locations : bool
        Where the candidates' targets were hit.
    summary : bool
        How many reads were classified, by ranks, at the end.
    ground_truth : bool
        The true taxon of each read, as far as its header tells; see `header_truth`. The parts of the query have to
        bring texts.
    precision : bool
        How many calls are right, by ranks, at the end; as `ground_truth`.
    """

    taxids: bool = False
    taxids_only: bool = False
    omit_ranks: bool = False
    separate_cols: bool = False
    separator: str = "\t|\t"
    comment: str = "# "
    lineage: bool = False
    queryids: bool = False
    mapped_only: bool = False
    no_map: bool = False
    tophits: bool = False
    allhits: bool = False
    locations: bool = False
    summary: bool = True
    ground_truth: bool = False
    precision: bool = False

    @property
    def shows_candidates(self) -> bool:
        """Whether there is a column of candidates."""
        return self.tophits or self.locations

    @property
    def needs_truth(self) -> bool:
        """Whether anything is said of what reads are in truth."""
        return self.ground_truth or self.precision
