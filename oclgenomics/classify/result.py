"""What a query finds: reads, their candidates and the taxa they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.classify.options import NO_RANK, RANKS, SEQUENCE, QueryOptions
from oclgenomics.classify.plan import by_length
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Calls, Candidates
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.sequence.name_list import NameList


@dataclass(frozen=True)
class Hits:
    """The windows that each read hits, in the order of targets and windows.

    Attributes
    ----------
    offsets : ndarray, int64 (reads + 1,)
        Windows that the reads before each one hit, and all.
    targets, windows : ndarray, uint32 (hit windows,)
        Windows are counted from 0 in each target.
    hits : ndarray, uint32 (hit windows,)
        Features of the read that are in the window, each as often as the read has it.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.uint32]
    windows: NDArray[np.uint32]
    hits: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of_locations(cls, located: NDArray[np.uint32], locations: NDArray[np.uint32], targets: Targets) -> Hits:
        """Count the equal ones of sorted locations.

        Parameters
        ----------
        located : ndarray, uint32 (reads,)
            Locations of each read.
        locations : ndarray, uint32
            Those of all reads, as windows through all targets; those of a read ascend.
        targets : Targets
        """
        ends = np.append(np.int64(0), np.cumsum(located, dtype=np.int64))
        differs = np.ones(len(locations) + 1, np.bool_)
        differs[1:-1] = locations[1:] != locations[:-1]
        differs[ends] = True
        begins = np.flatnonzero(differs)
        places = locations[begins[:-1]]
        first = targets.first_window
        hit = np.searchsorted(first, places, "right") - 1
        windows = places - first[hit]
        hits = np.diff(begins).astype(np.uint32)
        return cls(np.searchsorted(begins, ends), hit.astype(np.uint32), windows.astype(np.uint32), hits)

    @classmethod
    def beside(cls, parts: Sequence[Hits]) -> Hits:
        """Put together the hits of the same reads in parts of a database, whose targets follow each other."""
        counts = np.stack([part.offsets[1:] - part.offsets[:-1] for part in parts])
        order = np.argsort(np.concatenate([np.repeat(np.arange(len(row)), row) for row in counts]), kind="stable")
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in ("targets", "windows", "hits"))
        offsets = np.append(np.int64(0), np.cumsum(counts.sum(axis=0)))
        return cls(offsets, *(column[order] for column in columns))

    @classmethod
    def joined(cls, parts: Sequence[Hits]) -> Hits:
        """Join the hits of several batches of reads, in their order."""
        before = np.cumsum([0, *(part.offsets[-1] for part in parts)], dtype=np.int64)
        offsets = [part.offsets[1:] + begin for part, begin in zip(parts, before[:-1], strict=True)]
        columns = ([getattr(part, name) for part in parts] for name in ("targets", "windows", "hits"))
        empty = np.zeros(0, np.uint32)
        return cls(np.concatenate([before[:1], *offsets]), *(np.concatenate([empty, *column]) for column in columns))


@dataclass(frozen=True)
class SharedFeatures:
    """The features that each read shares with its best candidate, in the range of windows that was hit.

    Attributes
    ----------
    offsets : ndarray, int64 (reads + 1,)
        Features of the reads before each one, and of all.
    features : ndarray, uint32 (features,)
        Hashes of k-mers, as in `database.features`.
    """

    offsets: NDArray[np.int64]
    features: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """Features of each read, int64 (reads,)."""
        return np.diff(self.offsets)

    @classmethod
    def none(cls, reads: int = 0) -> SharedFeatures:
        """Return no features of some reads."""
        return cls(np.zeros(reads + 1, np.int64), np.zeros(0, np.uint32))

    @classmethod
    def joined(cls, parts: Sequence[SharedFeatures]) -> SharedFeatures:
        """Join those of several batches of reads, one at least, in their order."""
        counts = np.concatenate([part.counts for part in parts])
        return cls(_offsets(counts), np.concatenate([part.features for part in parts]))

    def only(self, reads: NDArray[np.bool_]) -> SharedFeatures:
        """Return the same, but no features of the reads where `reads` is False."""
        counts = self.counts
        return SharedFeatures(_offsets(np.where(reads, counts, 0)), self.features[np.repeat(reads, counts)])

    def added(self, other: SharedFeatures) -> SharedFeatures:
        """Return the features of both; no read has some in each."""
        mine, others = self.counts, other.counts
        owner = np.concatenate([np.repeat(np.arange(len(self)), mine), np.repeat(np.arange(len(self)), others)])
        order = np.argsort(owner, kind="stable")
        return SharedFeatures(_offsets(mine + others), np.concatenate([self.features, other.features])[order])


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.append(np.int64(0), np.cumsum(counts, dtype=np.int64))


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
        The file; both, with a plus between them, of mates in two files.
    """

    number: int
    names: NameList
    letters: NDArray[np.uint32]
    mate_letters: NDArray[np.uint32] | None
    source: str

    def __len__(self) -> int:
        return len(self.letters)

    @property
    def all_letters(self) -> NDArray[np.integer[Any]]:
        """Bases of each read, or of both mates together, (reads,)."""
        return self.letters if self.mate_letters is None else self.letters.astype(np.int64) + self.mate_letters

    def kmers(self, kmerlen: int) -> NDArray[np.int64]:
        """Return the k-mers of each read, or of both mates together, int64 (reads,)."""
        mates = [self.letters] if self.mate_letters is None else [self.letters, self.mate_letters]
        counts = [by_length(lambda sizes: np.maximum(sizes - (kmerlen - 1), 0), letters) for letters in mates]
        return counts[0] if len(counts) == 1 else counts[0] + counts[1]


@dataclass(frozen=True)
class WrittenLines:
    """Lines of reads, written where the reads were classified.

    Attributes
    ----------
    form : str
        What lines they are; see `formats.words.LineReport`.
    text : ndarray, uint8
    """

    form: str
    text: NDArray[np.uint8]


@dataclass(frozen=True)
class ClassifiedReads:
    """A part of a query's result: arrays of one length.

    Attributes
    ----------
    reads : Reads
    candidates : Candidates
    calls : Calls
    located : Hits, optional
        All windows that the reads hit, for queries that ask for them.
    texts : tuple of NameList
        The records as they stand in the input, of pairs those of the first and of the second mates, for queries that
        ask for them.
    written : WrittenLines, optional
        Lines of these reads, from a worker. If nothing else is to be written, there are no names, candidates and hits.
    shared : SharedFeatures, optional
        Those of classified reads, for queries that ask for evidence.
    """

    reads: Reads
    candidates: Candidates
    calls: Calls
    located: Hits | None = None
    texts: tuple[NameList, ...] = ()
    written: WrittenLines | None = None
    shared: SharedFeatures | None = None

    def __len__(self) -> int:
        return len(self.reads)


@dataclass(frozen=True, repr=False)
class QueryResult:
    """All that a query found.

    Attributes
    ----------
    lineages : Lineages
        Of the database's taxa and targets.
    parts : tuple of ClassifiedReads
        In the order of the input.
    options : QueryOptions
    """

    lineages: Lineages
    parts: tuple[ClassifiedReads, ...]
    options: QueryOptions

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __repr__(self) -> str:
        return f"QueryResult(reads={len(self)}, classified={self.classified}, targets={len(self.lineages.targets)})"

    @property
    def classified(self) -> int:
        """Reads, or pairs, that have a taxon."""
        return sum(int(np.count_nonzero(part.calls.taxon != NO_TAXON)) for part in self.parts)

    def columns(self) -> dict[str, Any]:
        """The reads as named columns, NumPy arrays of one length; see `read_columns`."""
        columns = [read_columns(self.lineages, part) for part in self.parts]
        columns = columns or [read_columns(self.lineages, _no_reads(self.options.maxcand))]
        return {name: np.concatenate([column[name] for column in columns]) for name in columns[0]}

    def records(self) -> list[dict[str, Any]]:
        """The reads, one record each."""
        columns = {name: column.tolist() for name, column in self.columns().items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_frame(self) -> Any:
        """The reads as a table; see `oclgenomics.app.frames.to_frame`."""
        return to_frame(self.columns())


def read_columns(lineages: Lineages, part: ClassifiedReads) -> dict[str, NDArray[Any]]:
    """Return reads as named columns.

    `taxid`, `rank` and `taxon` are the call: 0 and "" for reads that are not classified; of a call at the rank sequence
    `taxon` is the target's name and `taxid` that of its taxon, 0 if it has none. `target` is the best candidate, which
    may have fewer hits than the read needs, `hits` and `needed_hits` say so.
    """
    reads, calls, best = part.reads, part.calls.taxon, part.candidates
    taxonomy, targets = lineages.taxonomy, lineages.targets
    names = np.array([*taxonomy.names, *targets.names, ""], object)
    taxids = np.append(taxonomy.taxids, 0)
    mates = np.zeros(len(part), np.int64) if reads.mate_letters is None else reads.mate_letters.astype(np.int64)
    known = np.where(best.targets[:, 0] == NO_TARGET, len(targets), best.targets[:, 0])
    return {
        "read": np.array(list(reads.names), object),
        "source": np.full(len(part), reads.source, object),
        "letters": reads.letters.astype(np.int64),
        "mate_letters": mates,
        "taxid": np.append(np.append(taxids[:-1], taxids[targets.taxon]), 0)[calls],
        "rank": _rank_names(lineages)[calls],
        "taxon": names[calls],
        "target": np.array([*targets.names, ""], object)[known],
        "hits": best.hits[:, 0].astype(np.int64),
        "needed_hits": part.calls.hitmin.astype(np.int64),
    }


def _rank_names(lineages: Lineages) -> NDArray[np.object_]:
    """The rank of each taxon and target, and "" for none behind them."""
    ranks = [RANKS[rank] if rank != NO_RANK else "no rank" for rank in lineages.taxonomy.ranks.tolist()]
    return np.array([*ranks, *[RANKS[SEQUENCE]] * len(lineages.targets), ""], object)


def _no_reads(maxcand: int) -> ClassifiedReads:
    none = np.zeros(0, np.uint32)
    reads = Reads(0, NameList.of(()), none, None, "")
    return ClassifiedReads(reads, Candidates.none(maxcand), Calls(none.astype(np.int32), none))
