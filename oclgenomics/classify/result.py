"""What a query finds: reads, their candidates and the taxa they are called."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import Candidates
from oclgenomics.classify.located_hits import LocatedHits
from oclgenomics.sequence.name_list import NameList


@dataclass(frozen=True)
class Reads:
    """Reads, or pairs of mates, in the order of the input.

    Attributes
    ----------
    number : int
        Of the first one, through all inputs, from 0 on.
    names : NameList
        The first word of each header; of a pair, that of the first mate.
    letters : ndarray, uint32 (reads,)
        Of the read, or of the first mate.
    mate_letters : ndarray, uint32 (reads,), or None
        Of the second mate; None for single reads.
    source : str
        The file, that of the first mates for pairs.
    """

    number: int
    names: NameList
    letters: NDArray[np.uint32]
    mate_letters: NDArray[np.uint32] | None
    source: str

    def __len__(self) -> int:
        return len(self.letters)


@dataclass(frozen=True)
class Calls:
    """The taxa that reads are called.

    Attributes
    ----------
    taxon : ndarray, int32 (reads,)
        A number in `Lineages`: of a taxon, or, behind all taxa, of a target; `NO_TAXON` for unclassified reads.
    hitmin : ndarray, uint32 (reads,)
        Hits that the read needed.
    """

    taxon: NDArray[np.int32]
    hitmin: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.taxon)


@dataclass(frozen=True)
class ClassifiedReads:
    """A part of a query's result: arrays of one length.

    Attributes
    ----------
    reads : Reads
    candidates : Candidates
    calls : Calls
    located : LocatedHits, optional
        All windows that the reads hit, for queries that ask for them.
    """

    reads: Reads
    candidates: Candidates
    calls: Calls
    located: LocatedHits | None = None

    def __len__(self) -> int:
        return len(self.reads)
