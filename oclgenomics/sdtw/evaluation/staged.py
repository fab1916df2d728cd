"""What stages decide of labelled reads, one stage after the other."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.decisions.thresholds import Thresholds
from oclgenomics.sdtw.decisions.words import ACCEPT, REJECT, UNDECIDED
from oclgenomics.sdtw.evaluation.labelled import LabelledScores

__all__ = ["ClassOfReads", "StagedEvaluation", "evaluate_stages"]


@dataclass(frozen=True)
class ClassOfReads:
    """What became of the reads of a class.

    Attributes
    ----------
    reads : int
    reached, rejected, accepted, short : tuple of int
        At each stage: reads that came to it with enough samples, those that it rejected and accepted, and those that
        came to it but were too short. Short reads stay undecided.
    """

    reads: int
    reached: tuple[int, ...]
    rejected: tuple[int, ...]
    accepted: tuple[int, ...]
    short: tuple[int, ...]

    @property
    def kept(self) -> int:
        """Reads that no stage rejects: accepted ones, and those that ended undecided."""
        return self.reads - sum(self.rejected)

    @property
    def kept_share(self) -> float:
        """Of all reads."""
        return self.kept / self.reads

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
    """

    thresholds: Thresholds
    target: ClassOfReads
    other: ClassOfReads

    @property
    def true_positive_rate(self) -> float:
        """Share of the targets that are kept."""
        return self.target.kept_share

    @property
    def false_positive_rate(self) -> float:
        """Share of the others that are kept."""
        return self.other.kept_share

    @property
    def samples_until_rejection(self) -> float:
        """Mean of the others that are rejected; NaN where none is."""
        return self.other.mean_prefix_of_rejected(self.thresholds.prefixes)

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
        samples = self.samples_until_rejection
        return {
            "targets": self.target.reads,
            "others": self.other.reads,
            "true_positive_rate": self.true_positive_rate,
            "false_positive_rate": self.false_positive_rate,
            "undecided_targets": sum(self.target.short),
            "undecided_others": sum(self.other.short),
            "samples_until_rejection": None if np.isnan(samples) else samples,
        }


def evaluate_stages(thresholds: Thresholds, labelled: LabelledScores) -> StagedEvaluation:
    """Let thresholds decide of labelled reads.

    Parameters
    ----------
    thresholds : Thresholds
    labelled : LabelledScores
        Of the same kind of alignment, with the prefixes of all stages among its own.

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
    for scores, word in ((labelled.target, "target"), (labelled.other, "non-target")):
        if not len(scores):
            raise UsageError(f"there is no {word} read to evaluate")
        classes.append(_decided(thresholds, scores[:, columns]))
    return StagedEvaluation(thresholds, *classes)


def _decided(thresholds: Thresholds, scores: NDArray[np.float64]) -> ClassOfReads:
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
    return ClassOfReads(len(scores), **{name: tuple(values) for name, values in counts.items()})
