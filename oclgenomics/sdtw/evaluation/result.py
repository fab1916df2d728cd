"""What an evaluation gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.sdtw.evaluation.intervals import Interval
from oclgenomics.sdtw.evaluation.labelled import LabelledScores
from oclgenomics.sdtw.evaluation.sweep import Sweep

__all__ = ["Difference", "Estimate", "Evaluation", "PrefixEvaluation"]


class Estimate(NamedTuple):
    """A value, and the interval of 95 %; NaN where there is none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class PrefixEvaluation:
    """How well scores of prefixes of one length tell targets from others.

    Attributes
    ----------
    prefix : int
        Samples.
    sweep : Sweep
        Of the scores of reads that are long enough.
    short_targets, short_others : int
        Reads that are not.
    f : Estimate
        The highest F of all thresholds, and between what F of this threshold is for other reads.
    threshold : float
        Of the highest F.
    recall, fpr, precision, accuracy : float
        At this threshold, with the weights of F: shares of the targets and of the others that are called, of the called
        that are targets, and of all that are called right.
    held_out : Estimate
        Mean F of reads by thresholds that were chosen on others; its interval is of the bootstrap, and there is none
        for fewer than 20 reads of a class.
    f_rounds, held_out_rounds : ndarray, float64, (rounds,)
        Of the bootstrap; evaluations of the same reads with the same seed have drawn the same reads in each.
    intervals : mapping of str to Interval
        Of `recall`, `fpr`, `precision`, `accuracy`, `auc`, `tpr_at_fpr_1` and `tpr_at_fpr_5`.
    """

    prefix: int
    sweep: Sweep
    short_targets: int
    short_others: int
    f: Estimate
    threshold: float
    recall: float
    fpr: float
    precision: float
    accuracy: float
    held_out: Estimate
    f_rounds: NDArray[np.float64]
    held_out_rounds: NDArray[np.float64]
    intervals: Mapping[str, Interval]

    def record(self) -> dict[str, Any]:
        """All numbers by name; None for what is not known."""
        ends = {name: {f"{name}_low": low, f"{name}_high": high} for name, (low, high) in self.intervals.items()}
        record = {
            "prefix": self.prefix,
            "targets": len(self.sweep.target),
            "others": len(self.sweep.other),
            "short_targets": self.short_targets,
            "short_others": self.short_others,
            **{f"f{end}": value for end, value in zip(("", "_low", "_high"), self.f, strict=True)},
            "threshold": self.threshold,
            "recall": self.recall,
            **ends["recall"],
            "fpr": self.fpr,
            **ends["fpr"],
            "precision": self.precision,
            **ends["precision"],
            "accuracy": self.accuracy,
            **ends["accuracy"],
            **{f"held_out_f{end}": value for end, value in zip(("", "_low", "_high"), self.held_out, strict=True)},
            "auc": self.sweep.auc,
            **ends["auc"],
            "tpr_at_fpr_1": self.sweep.tpr_at(0.01),
            **ends["tpr_at_fpr_1"],
            "tpr_at_fpr_5": self.sweep.tpr_at(0.05),
            **ends["tpr_at_fpr_5"],
        }
        return {name: None if value != value else value for name, value in record.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """How well one kind of alignment tells targets from others, at each prefix.

    Attributes
    ----------
    labelled : LabelledScores
    prefixes : tuple of PrefixEvaluation
    balanced : bool
        Whether both classes weigh the same.
    rounds, splits, seed : int
        Of the bootstrap and of held-out F.
    """

    labelled: LabelledScores
    prefixes: tuple[PrefixEvaluation, ...]
    balanced: bool
    rounds: int
    splits: int
    seed: int

    def __repr__(self) -> str:
        scores = ", ".join(f"{one.prefix}: {one.f.value:.3f}" for one in self.prefixes)
        return f"Evaluation({self.labelled.name!r}, F {{{scores}}})"

    def records(self) -> list[dict[str, Any]]:
        """One record for each prefix."""
        return [{"variant": self.labelled.name, **one.record()} for one in self.prefixes]

    def to_frame(self) -> Any:
        """Make a table of the records; see `oclgenomics.app.frames.to_frame`."""
        records = self.records()
        return to_frame({name: [record[name] for record in records] for name in records[0]})


@dataclass(frozen=True)
class Difference:
    """How much higher F of one kind of alignment is than that of another one, of the same reads.

    Attributes
    ----------
    name, baseline : str
        Of the kinds.
    prefix : int
        Samples.
    f, held_out : Estimate
        Of the first kind less that of the baseline; the interval is of differences within rounds.
    """

    name: str
    baseline: str
    prefix: int
    f: Estimate
    held_out: Estimate

    def record(self) -> dict[str, Any]:
        """All numbers by name; None for what is not known."""
        ends = ("", "_low", "_high")
        record = {
            "variant": self.name,
            "baseline": self.baseline,
            "prefix": self.prefix,
            **{f"f{end}": value for end, value in zip(ends, self.f, strict=True)},
            **{f"held_out_f{end}": value for end, value in zip(ends, self.held_out, strict=True)},
        }
        return {name: None if value != value else value for name, value in record.items()}
