"""Where a figure comes from: a document with its number and address, or an assumption that says so."""

from __future__ import annotations

from dataclasses import dataclass

from hls_model.errors import ModelError

__all__ = ["ASSUMED", "Source"]

ASSUMED = "assumed"  # the document of a figure that no page gives


@dataclass(frozen=True)
class Source:
    """The source of a figure.

    Attributes
    ----------
    document : str
        Document number or title; `ASSUMED` if there is none.
    url : str
        Its address; empty for an assumption.
    note : str
        What it says, how the figure follows from it, or why it is assumed.

    Raises
    ------
    ModelError
        A document without an address, or an assumption without a reason.
    """

    document: str
    url: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.assumed and not self.note:
            raise ModelError("an assumed figure needs a note that says why")
        if self.assumed == bool(self.url):
            raise ModelError(f"source {self.document!r} needs an address, and an assumption has none")

    @property
    def assumed(self) -> bool:
        """Whether no document gives the figure."""
        return self.document == ASSUMED

    def __str__(self) -> str:
        """Return one line: the document, its address and the note."""
        return " ".join(part for part in (self.document + ":" * bool(self.note), self.note, self.url) if part)


def assumed(note: str) -> Source:
    """Return the source of a figure that is assumed for the reason given."""
    return Source(ASSUMED, note=note)
