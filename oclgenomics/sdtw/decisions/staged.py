"""What stages decide of labelled reads, one stage after the other."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.decisions.intervals import MISS, Interval, bounded, known, local_miss, share_interval
from oclgenomics.sdtw.decisions.labelled import LabelledScores
from oclgenomics.sdtw.decisions.thresholds import ACCEPT, REJECT, UNDECIDED, Thresholds


@dataclass(frozen=True)
class ClassOfReads:
    """What became of the reads of a class.

    Attributes
    ----------
    reads : int
    reached, rejected, accepted, short : tuple of int
        At each stage: reads that came to it with enough samples, those that it rejected and accepted, and those that
        came to it but were too short. Short reads stay undecided.
    molecules : int, optional
        How many of them are of molecules of their own, where some are pieces of one; all, if not given. So many count
        in intervals.
    """

    reads: int
    reached: tuple[int, ...]
    rejected: tuple[int, ...]
    accepted: tuple[int, ...]
    short: tuple[int, ...]
    molecules: int | None = None

    def interval(self, count: int, miss: float) -> Interval:
        """Return between what the share lies of reads of which so many were counted."""
        return _scaled(count, self.reads, self.molecules, miss)

    @property
    def kept(self) -> int:
        """Reads that no stage rejects: accepted ones, and those that ended undecided."""
        return self.reads - sum(self.rejected)

    def mean_prefix_of_rejected(self, prefixes: tuple[int, ...]) -> float:
        """Return the mean number of samples after which reads are rejected; NaN where none is."""
        if not sum(self.rejected):
            return np.nan
        return float(np.dot(self.rejected, prefixes) / sum(self.rejected))


@dataclass(frozen=True)
class StagedEvaluation:
    """What thresholds do with targets and others.

    Attributes
    ----------
    thresholds : Thresholds
    target, other : ClassOfReads
    chosen : bool
        Whether the thresholds are the best of all for these very reads, which intervals then make up for.
    """

    thresholds: Thresholds
    target: ClassOfReads
    other: ClassOfReads
    chosen: bool = False

    def miss(self, found: ClassOfReads) -> float:
        """Return how often an interval of a class may miss, so that the truth lies within in 95 % of cases."""
        return local_miss(found.molecules or found.reads) if self.chosen else MISS

    @property
    def kept(self) -> tuple[Interval, Interval]:
        """Between what the shares of targets and of others lie that are kept."""
        target, other = (found.interval(found.kept, self.miss(found)) for found in (self.target, self.other))
        return target, other

    @property
    def tells_apart(self) -> bool:
        """Whether the reads show that targets are kept more often than others."""
        target, other = self.kept
        return target.low > other.high

    @property
    def true_positive_rate(self) -> float:
        """Share of the targets that are kept."""
        return self.target.kept / self.target.reads

    @property
    def false_positive_rate(self) -> float:
        """Share of the others that are kept."""
        return self.other.kept / self.other.reads

    @property
    def samples_until_rejection(self) -> float:
        """Mean of the others that are rejected; NaN where none is."""
        return self.other.mean_prefix_of_rejected(self.thresholds.prefixes)

    @property
    def rejection_interval(self) -> Interval | None:
        """Between what the mean samples until rejection lie; None where none is rejected."""
        count, miss = sum(self.other.rejected), self.miss(self.other)
        if not count:
            return None
        steps = np.diff(self.thresholds.prefixes)
        molecules = self.other.molecules and max(1, round(self.other.molecules * count / self.other.reads))
        by = [_scaled(int(one), count, molecules, miss) for one in np.cumsum(self.other.rejected)[:-1]]
        last = self.thresholds.prefixes[-1]
        low, high = (float(last - np.dot([one[end] for one in by], steps)) for end in (1, 0))
        return Interval(low, high)

    def records(self) -> list[dict[str, Any]]:
        """One record for each stage, with the numbers of reads of both classes."""
        rows = []
        for number, stage in enumerate(self.thresholds.stages):
            row: dict[str, Any] = asdict(stage)
            for name, found in (("targets", self.target), ("others", self.other)):
                for what in ("reached", "rejected", "accepted", "short"):
                    row[f"{what}_{name}"] = getattr(found, what)[number]
            rows.append(row)
        return rows

    def summary(self) -> dict[str, Any]:
        """The rates of all stages together; None for what is not known."""
        (target, other), ends = self.kept, self.rejection_interval or (np.nan, np.nan)
        return known(
            {
                "targets": self.target.reads,
                "others": self.other.reads,
                **bounded("true_positive_rate", self.true_positive_rate, *target),
                **bounded("false_positive_rate", self.false_positive_rate, *other),
                "undecided_targets": sum(self.target.short),
                "undecided_others": sum(self.other.short),
                **bounded("samples_until_rejection", self.samples_until_rejection, *ends),
            }
        )


def evaluate_stages(thresholds: Thresholds, labelled: LabelledScores, *, chosen: bool = False) -> StagedEvaluation:
    """Let thresholds decide of labelled reads.

    Parameters
    ----------
    thresholds : Thresholds
    labelled : LabelledScores
        Of the same kind of alignment, with the prefixes of all stages among its own.
    chosen : bool
        Whether the thresholds were chosen as the best ones for these very reads. Those that were typed or chosen by
        other reads were not, nor a single one that keeps or rejects a share that was asked for.

    Raises
    ------
    UsageError
        The scores are of another kind, or lack a prefix; or a class has no reads.
    """
    thresholds.check(labelled.options, labelled.references, labelled.basis)
    missing = sorted(set(thresholds.prefixes) - set(labelled.prefixes))
    if missing or thresholds.score != labelled.score:
        lack = f"a prefix of {missing[0]:,} samples" if missing else f"the score {thresholds.score}"
        raise UsageError(f"the thresholds need {lack}, which the reads were not aligned for")
    columns = [labelled.prefixes.index(prefix) for prefix in thresholds.prefixes]
    classes = []
    for scores, names, word in (
        (labelled.target, labelled.target_names, "target"), (labelled.other, labelled.other_names, "non-target"),
    ):  # fmt: skip
        if not len(scores):
            raise UsageError(f"there is no {word} read to evaluate")
        classes.append(_decided(thresholds, scores[:, columns], len(set(names.tolist()))))
    return StagedEvaluation(thresholds, classes[0], classes[1], chosen)


def _scaled(count: int, reads: int, molecules: int | None, miss: float) -> Interval:
    known = reads if molecules is None else molecules
    return share_interval(round(count * known / reads), known, miss)


def _decided(thresholds: Thresholds, scores: NDArray[np.float64], molecules: int) -> ClassOfReads:
    """What becomes of reads, from their scores (reads, stages)."""
    waiting = np.ones(len(scores), np.bool_)
    counts: dict[str, list[int]] = {name: [] for name in ("reached", "rejected", "accepted", "short")}
    for number in range(len(thresholds.stages)):
        own = scores[:, number]
        decisions = np.where(waiting, thresholds.decide(number, own), UNDECIDED)
        short = waiting & np.isnan(own)
        for name, which in (
            ("reached", waiting & ~short), ("rejected", decisions == REJECT), ("accepted", decisions == ACCEPT),
            ("short", short),
        ):  # fmt: skip
            counts[name].append(int(which.sum()))
        waiting &= (decisions == UNDECIDED) & ~short
    found = {name: tuple(values) for name, values in counts.items()}
    return ClassOfReads(len(scores), **found, molecules=molecules)
