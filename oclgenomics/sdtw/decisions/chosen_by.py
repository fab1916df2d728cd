"""Which reads chose thresholds: a sketch of their names, small and in no order of theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from oclgenomics.errors import ParameterError
from oclgenomics.io.array_layout import checksum

CHOSEN_BY = "chosen_by"
"""Name of the sketch in `Thresholds.made`."""

MAX_HASHES = 4096  # of more reads, shares are estimated
HASH_KEY = b"reads that chose"
DIGITS = 16  # hexadecimal ones of a hash


@dataclass(frozen=True)
class SharedReads:
    """How many of some reads chose thresholds.

    Attributes
    ----------
    shared : int, optional
        None if the sketch says nothing of these reads.
    reads : int
        All of them.
    exact : bool
        Whether `shared` is counted, not estimated.
    """

    shared: int | None
    reads: int
    exact: bool

    def record(self) -> dict[str, Any]:
        """The numbers by the names that reports give them."""
        return {
            "reads_that_chose_thresholds": self.shared, "reads_looked_up": self.reads, "reads_counted": self.exact
        }  # fmt: skip

    def __str__(self) -> str:
        about = "" if self.exact else "about "
        return f"{about}{self.shared or 0:,} of {self.reads:,} of these reads, by their names, chose the thresholds"


@dataclass(frozen=True)
class ChosenBy:
    """The smallest hashes of the names of the reads that chose thresholds.

    Attributes
    ----------
    reads : int
        All that chose, of different names.
    hashes : tuple of int
        Ascending; of all of them, or of `MAX_HASHES`.

    Raises
    ------
    ParameterError
        Hashes are not of so many reads, or not in order.
    """

    reads: int
    hashes: tuple[int, ...]

    def __post_init__(self) -> None:
        ordered = all(a < b for a, b in zip(self.hashes, self.hashes[1:], strict=False))
        if not ordered or not self.hashes or len(self.hashes) != min(self.reads, MAX_HASHES):
            raise ParameterError(CHOSEN_BY, "is no sketch of reads", self.reads)

    @classmethod
    def of(cls, names: Iterable[str]) -> ChosenBy:
        """Sketch reads by their names, each once."""
        hashes = _hashes(names)
        return cls(len(hashes), tuple(hashes[:MAX_HASHES]))

    @classmethod
    def from_made(cls, made: Mapping[str, Any]) -> ChosenBy | None:
        """Return the sketch in what made thresholds; None where there is none.

        Raises
        ------
        ParameterError
            It is no sketch.
        """
        if CHOSEN_BY not in made:
            return None
        try:
            text, reads = str(made[CHOSEN_BY]["hashes"]), made[CHOSEN_BY]["reads"]
            hashes = tuple(int(text[at : at + DIGITS], 16) for at in range(0, len(text), DIGITS))
        except (KeyError, TypeError, ValueError):
            raise ParameterError(CHOSEN_BY, "is no sketch of reads", str(made[CHOSEN_BY])[:20]) from None
        if type(reads) is not int or len(text) % DIGITS:
            raise ParameterError(CHOSEN_BY, "is no sketch of reads", str(reads)[:20])
        return cls(reads, hashes)

    def record(self) -> dict[str, Any]:
        """As `Thresholds.made` holds it."""
        return {"reads": self.reads, "hashes": "".join(f"{one:0{DIGITS}x}" for one in self.hashes)}

    def shared(self, names: Iterable[str]) -> SharedReads:
        """Count the reads of some names that chose, each name once; estimate it from the small hashes of many reads."""
        hashes, own = _hashes(names), set(self.hashes)
        exact = self.reads == len(own)
        known = hashes if exact else [one for one in hashes if one <= self.hashes[-1]]
        if not known:
            return SharedReads(None, len(hashes), exact)
        share = sum(one in own for one in known) / len(known)
        return SharedReads(round(share * len(hashes)), len(hashes), exact)


def _hashes(names: Iterable[str]) -> list[int]:
    """Different ones, ascending."""
    return sorted({checksum(HASH_KEY, name.encode("utf-8", "surrogateescape")) for name in names})
