"""What alignments and classifications of signals give, and where their reads lie best."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.sdtw.decisions.basis import UNKNOWN_KIND, KnownTrim, ReadKind
from oclgenomics.sdtw.decisions.thresholds import WORDS, Thresholds, words_of
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.squiggles.squiggle import Squiggle, named_places

MAX_QUALITY = 60
UNKNOWN_QUALITY = 255  # as PAF has it
FULL_GAPS = 10  # in the second-best cost


@dataclass(frozen=True, eq=False, repr=False)
class Alignments:
    """The best alignment of each prefix of each read with each reference.

    Attributes
    ----------
    references : tuple of Squiggle
    prefixes : tuple of int
        Samples.
    names : ndarray, object (str), (reads,)
    samples : ndarray, int64, (reads,)
        That the read has.
    cost : ndarray, float64, (reads, prefixes, references)
        NaN where the read is shorter than the prefix. Integers but for float32; 65,535 is saturated.
    column : ndarray, int64, (reads, prefixes, references)
        Column of the reference at which the alignment ends; -1 where there is none, or the cost is saturated.
    options : AlignOptions
    start : ndarray, int64, (reads, prefixes, references), optional
        Column at which the alignment starts; -1 where `column` is. Only if it was asked for.
    trim : TrimOptions, None or 'unknown'
        What was left out at the beginning of reads; not known of reads that were not read from files.
    reads : ReadKind
        What the reads say of themselves.
    """

    ROWS: ClassVar = ("names", "samples", "cost", "column", "start")  # the arrays, whose first axis is reads

    references: tuple[Squiggle, ...]
    prefixes: tuple[int, ...]
    names: NDArray[np.object_]
    samples: NDArray[np.int64]
    cost: NDArray[np.float64]
    column: NDArray[np.int64]
    options: AlignOptions
    start: NDArray[np.int64] | None = None
    trim: KnownTrim = "unknown"
    reads: ReadKind = UNKNOWN_KIND

    @classmethod
    def none(
        cls,
        references: tuple[Squiggle, ...],
        prefixes: tuple[int, ...],
        names: NDArray[np.object_],
        samples: NDArray[np.int64],
        options: AlignOptions,
    ) -> Alignments:
        """Return reads without a single alignment."""
        shape = (len(names), len(prefixes), len(references))
        cost, column = np.full(shape, np.nan), np.full(shape, -1, np.int64)
        return cls(references, prefixes, names, samples, cost, column, options)

    @classmethod
    def joined(cls, parts: Sequence[Alignments]) -> Alignments:
        """Join parts of one work, at least one, in their order."""
        kind = parts[0].reads
        for part in parts[1:]:
            kind = kind.joined(part.reads)
        return replace(parts[0], **joined_rows(parts), reads=kind)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Alignments(reads={len(self)}, prefixes={self.prefixes}, references={len(self.references)})"

    def columns(self) -> dict[str, NDArray[Any]]:
        """One row for each read, prefix and reference, in this order, as named columns.

        `record`, `strand` and `position` say where the alignment ends, and `start`, if asked for, where it starts; the
        record is empty where there is none.
        """
        reads, prefixes, references = self.cost.shape
        which = np.broadcast_to(np.arange(references), self.cost.shape)
        places = named_places(self.references, which, self.column)
        columns = {
            "read": np.repeat(self.names, prefixes * references),
            "samples": np.repeat(self.samples, prefixes * references),
            "prefix": np.tile(np.repeat(np.array(self.prefixes), references), reads),
            "reference": places["reference"],
            "cost": self.cost,
            **{name: places[name] for name in ("record", "strand", "position")},
        }
        if self.start is not None:
            columns["start"] = named_places(self.references, which, self.start)["position"]
        return {name: column.reshape(-1) for name, column in columns.items()}

    def records(self) -> list[dict[str, Any]]:
        """The rows of `columns`, one record each; None for a cost that is not there."""
        return records_of(self.columns())

    def to_frame(self) -> Any:
        """The rows of `columns` as a table; see `oclgenomics.app.frames.to_frame`."""
        return to_frame(self.columns())


@dataclass(frozen=True, eq=False, repr=False)
class Classified:
    """What is decided of each read, and by what.

    Attributes
    ----------
    references : tuple of Squiggle
        Targets, then decoys.
    targets : int
        How many of them are targets.
    thresholds : Thresholds
    names : ndarray, object (str), (reads,)
    samples : ndarray, int64, (reads,)
        That the read has.
    decision : ndarray, uint8, (reads,)
        Numbers of `oclgenomics.sdtw.decisions.thresholds`.
    prefix : ndarray, int64, (reads,)
        Samples of the last stage that the read came to; 0 where it is too short for the first.
    score : ndarray, float64, (reads,)
        At that stage; NaN where there is none, infinite where the cost of the targets is saturated.
    cost : ndarray, float64, (reads, references)
        At that stage, or NaN.
    column : ndarray, int64, (reads, references)
        Where the alignment ends; -1 where there is none, or the cost is saturated.
    start : ndarray, int64, (reads,), optional
        Column at which the alignment with the best reference starts, -1 where there is none; if it was asked for.
    """

    ROWS: ClassVar = ("names", "samples", "decision", "prefix", "score", "cost", "column", "start")

    references: tuple[Squiggle, ...]
    targets: int
    thresholds: Thresholds
    names: NDArray[np.object_]
    samples: NDArray[np.int64]
    decision: NDArray[np.uint8]
    prefix: NDArray[np.int64]
    score: NDArray[np.float64]
    cost: NDArray[np.float64]
    column: NDArray[np.int64]
    start: NDArray[np.int64] | None = None

    @classmethod
    def none(
        cls,
        references: tuple[Squiggle, ...],
        targets: int,
        thresholds: Thresholds,
        names: NDArray[np.object_],
        samples: NDArray[np.int64],
    ) -> Classified:
        """Return reads of which nothing is decided."""
        reads, shape = len(names), (len(names), len(references))
        return cls(
            references, targets, thresholds, names, samples, decision=np.zeros(reads, np.uint8),
            prefix=np.zeros(reads, np.int64), score=np.full(reads, np.nan), cost=np.full(shape, np.nan),
            column=np.full(shape, -1, np.int64),
        )  # fmt: skip

    @classmethod
    def joined(cls, parts: Sequence[Classified]) -> Classified:
        """Join parts of one work, at least one, in their order."""
        return replace(parts[0], **joined_rows(parts))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        counts = ", ".join(f"{word}={count}" for word, count in self.counts.items())
        return f"Classified(reads={len(self)}, {counts})"

    @property
    def counts(self) -> dict[str, int]:
        """How many reads there are of each decision."""
        return dict(zip(WORDS, np.bincount(self.decision, minlength=len(WORDS)).tolist(), strict=True))

    @cached_property
    def best(self) -> NDArray[np.int64]:
        """Number of the reference of the lowest cost, the first of equals; -1 where there is none."""
        return best_reference(self.cost)

    @property
    def options(self) -> AlignOptions:
        """How signals were compared."""
        return self.thresholds.options

    def columns(self) -> dict[str, NDArray[Any]]:
        """One row for each read, as named columns.

        `reference` is the one of the lowest cost, which may be a decoy; `record`, `strand` and `position` say where on
        it the alignment ends, and `start`, if asked for, where it starts.
        """
        places = named_places(self.references, self.best, of_reference(self.column, self.best))
        columns: dict[str, NDArray[Any]] = {
            "read": self.names,
            "samples": self.samples,
            "decision": words_of(self.decision),
            "prefix": self.prefix,
            "score": self.score,
            "cost": of_reference(self.cost, self.best),
            "mapq": mapping_quality(self.cost),
            **places,
        }
        if self.start is not None:
            columns["start"] = named_places(self.references, self.best, self.start)["position"]
        return columns

    def records(self) -> list[dict[str, Any]]:
        """The rows of `columns`, one record each; None for a score or cost that is not there or has no bounds."""
        return records_of(self.columns())

    def to_frame(self) -> Any:
        """The rows of `columns` as a table; see `oclgenomics.app.frames.to_frame`."""
        return to_frame(self.columns())


def joined_rows(parts: Sequence[Alignments] | Sequence[Classified]) -> dict[str, Any]:
    """Join the arrays of parts by name; without starts unless all have them."""
    arrays = {name: [getattr(part, name) for part in parts] for name in parts[0].ROWS}
    return {name: None if any(one is None for one in some) else np.concatenate(some) for name, some in arrays.items()}


@dataclass(frozen=True, eq=False)
class BestPlaces:
    """Where the reads of a part lie.

    Attributes
    ----------
    prefix : ndarray, int64, (reads,)
        Samples that were aligned; 0 where the read is too short.
    reference : ndarray, int64, (reads,)
        Number of the one of the lowest cost, the first of equals; -1 where there is none.
    start, end : ndarray, int64, (reads,)
        First and last column of the alignment; -1 where there is none, or the cost is saturated.
    cost : ndarray, float64, (reads,)
    quality : ndarray, int64, (reads,)
        See `mapping_quality`.
    decision : ndarray, object (str), (reads,), optional
    """

    prefix: NDArray[np.int64]
    reference: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    cost: NDArray[np.float64]
    quality: NDArray[np.int64]
    decision: NDArray[np.object_] | None

    @classmethod
    def of(cls, part: Alignments | Classified) -> BestPlaces:
        """Return the places of a part; of alignments those of the longest prefix that each read has.

        Raises
        ------
        ValueError
            The part has no starts.
        """
        if part.start is None:
            raise ValueError("places need starts: ask for them with `starts=True`")
        if isinstance(part, Classified):
            cost, column, start, prefix = part.cost, part.column, part.start[:, None], part.prefix
            decision = words_of(part.decision)
        else:
            count = np.count_nonzero(~np.isnan(part.cost[:, :, 0]), axis=1)  # of prefixes that the read has
            reads, last = np.arange(len(part)), np.maximum(count, 1) - 1
            cost, column, start = part.cost[reads, last], part.column[reads, last], part.start[reads, last]
            prefix, decision = np.array([0, *part.prefixes])[count], None
        best = best_reference(cost)
        begin = of_reference(start, best) if start.shape[1] > 1 else start[:, 0]
        end, least = of_reference(column, best), of_reference(cost, best)
        return cls(prefix, best, begin, end, least, mapping_quality(cost), decision)


class Totals:
    """Counts of parts that are added one after the other.

    Attributes
    ----------
    reads : int
    samples : int
        That were aligned; a read's samples count once, however many of its prefixes were.
    cells : int
        Pairs of a row and a column that were compared.
    short : int
        Reads that are too short for the first prefix.
    decided : Counter of (int, str)
        Reads by the samples of the last stage that they came to, 0 for none, and their decision.
    """

    def __init__(self) -> None:
        self.reads = self.samples = self.cells = self.short = 0
        self.decided: Counter[tuple[int, str]] = Counter()

    def add(self, part: Alignments | Classified) -> None:
        """Count a part."""
        if isinstance(part, Classified):
            prefixes = part.thresholds.prefixes
            aligned = [int(np.count_nonzero(part.prefix >= prefix)) for prefix in prefixes]
            pairs = zip(part.prefix.tolist(), part.decision.tolist(), strict=True)
            self.decided.update((prefix, WORDS[decision]) for prefix, decision in pairs)
        else:
            prefixes = part.prefixes
            aligned = np.count_nonzero(~np.isnan(part.cost[:, :, 0]), axis=0).tolist()
        columns = sum(map(len, part.references))
        self.reads += len(part)
        self.short += len(part) - aligned[0]
        self.samples += int((np.diff([0, *prefixes]) * aligned).sum())
        rows = [part.options.rows(prefix) for prefix in prefixes]
        self.cells += columns * sum(row * count for row, count in zip(rows, aligned, strict=True))

    @property
    def decisions(self) -> dict[str, int]:
        """How many reads there are of each decision."""
        counts = dict.fromkeys(WORDS, 0)
        for (_, word), number in self.decided.items():
            counts[word] += number
        return counts


def best_reference(cost: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of the reference of the lowest cost, the first of equals.

    Parameters
    ----------
    cost : ndarray, float64, (reads, references)
        NaN where a read has none.

    Returns
    -------
    ndarray, int64, (reads,)
        -1 for a read without costs.
    """
    none = np.isnan(cost)
    best: NDArray[np.int64] = np.where(none, np.inf, cost).argmin(axis=1)
    return np.where(none.all(axis=1), -1, best)


def of_reference(values: NDArray[Any], reference: NDArray[np.int64]) -> NDArray[Any]:
    """Take from an array (reads, references) what is of one reference each; for -1, of any."""
    taken: NDArray[Any] = np.take_along_axis(values, np.maximum(reference, 0)[:, None], axis=1)[:, 0]
    return taken


def mapping_quality(cost: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the mapping quality of each read: 60 times its gap in tenths of the second-best cost, 60 at most.

    The gap is what the best reference costs less than the second-best one, so a read whose best reference costs a tenth
    less or better still has 60, and one with two best references 0. Places within one reference are not compared. A
    second-best cost of 0 or below, as a bonus may give, counts as 1.

    Parameters
    ----------
    cost : ndarray, float64, (reads, references)
        NaN where a read has none.

    Returns
    -------
    ndarray, int64, (reads,)
        0 to 60, rounded down; 255 with one reference, and for reads without costs, for which nothing is known.
    """
    if cost.shape[1] < 2:
        return np.full(len(cost), UNKNOWN_QUALITY, np.int64)
    best, second = np.partition(cost, 1, axis=1)[:, :2].T
    known = ~np.isnan(second)
    quality = np.full(len(cost), UNKNOWN_QUALITY, np.int64)
    gap = MAX_QUALITY * FULL_GAPS * (second[known] - best[known])
    quality[known] = np.minimum(gap // np.where(second[known] > 0, second[known], 1), MAX_QUALITY)
    return quality


def records_of(columns: Mapping[str, NDArray[Any]]) -> list[dict[str, Any]]:
    """Return the rows of columns, one record each; None for numbers that are not finite."""
    lists = {name: column.tolist() for name, column in columns.items()}
    for name, column in columns.items():
        if column.dtype.kind == "f":
            lists[name] = [value if math.isfinite(value) else None for value in lists[name]]
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
