"""How well scores tell target reads from others, prefix by prefix, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import frame_of
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw.decisions import resampling
from oclgenomics.sdtw.decisions.intervals import Interval, PrefixBounds, bounded, known
from oclgenomics.sdtw.decisions.labelled import LabelledScores, Sweep

DEFAULT_ROUNDS, DEFAULT_SPLITS = 1_000, 100
MAX_ROUNDS = 1_000_000
TAILS = (2.5, 97.5)  # percentiles
MIN_DRAWN = 20  # reads of a class, of fewer of which the bootstrap says too little
Reads = tuple[NDArray[np.int64], NDArray[np.int64]]  # of each piece, target and other, the number of its read


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
        record: dict[str, Any] = {
            "prefix": self.prefix,
            "targets": len(self.sweep.target),
            "others": len(self.sweep.other),
            "short_targets": self.short_targets,
            "short_others": self.short_others,
            **bounded("f", *self.f),
            "threshold": self.threshold,
        }
        for name in ("recall", "fpr", "precision", "accuracy"):
            record |= bounded(name, getattr(self, name), *self.intervals[name])
        record |= bounded("held_out_f", *self.held_out)
        ranks = {
            "auc": self.sweep.auc,
            "tpr_at_fpr_1": self.sweep.tpr_at(0.01),
            "tpr_at_fpr_5": self.sweep.tpr_at(0.05),
        }
        for name, value in ranks.items():
            record |= bounded(name, value, *self.intervals[name])
        return known(record)


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
        return frame_of(self.records())


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
        record = {"variant": self.name, "baseline": self.baseline, "prefix": self.prefix}
        return known({**record, **bounded("f", *self.f), **bounded("held_out_f", *self.held_out)})


def evaluate(
    labelled: LabelledScores,
    *,
    balanced: bool = True,
    rounds: int = DEFAULT_ROUNDS,
    splits: int = DEFAULT_SPLITS,
    seed: int = 1,
) -> Evaluation:
    """Evaluate the scores of labelled reads.

    Reads that are too short for a prefix are left out there, and counted. Held-out F is the mean of random halvings: F
    of each half by the best threshold of the other. Its interval, and those of differences, are of the bootstrap: both
    classes are drawn again by themselves, and 95 % of the rounds lie within. Pieces of one read, which have its name,
    are drawn and halved together. All other intervals are of what the threshold does with other reads; they hold for
    any number of reads, and with that of the reads, not of their pieces; see `oclgenomics.sdtw.decisions.intervals`.

    Parameters
    ----------
    labelled : LabelledScores
    balanced : bool
        Whether both classes weigh the same, however many reads they have.
    rounds : int
        Of the bootstrap; with 0, held-out F and differences have no intervals.
    splits : int
        Halvings; with 0 there is no held-out F.
    seed : int
        Of both, 0 or more.

    Raises
    ------
    ParameterError
        Rounds, splits or the seed are out of range, or no read of a class is as long as a prefix.
    UsageError
        The costs of all targets are saturated.
    """
    for name, value in (("bootstrap", rounds), ("splits", splits)):
        if not 0 <= value <= MAX_ROUNDS:
            raise ParameterError(name, f"give 0 to {MAX_ROUNDS:,}", value)
    if seed < 0:
        raise ParameterError("seed", "give 0 or more", seed)
    prefixes = tuple(
        _of_prefix(labelled, number, balanced=balanced, rounds=rounds, splits=splits, seed=seed)
        for number in range(len(labelled.prefixes))
    )
    return Evaluation(labelled, prefixes, balanced, rounds, splits, seed)


def differences(evaluation: Evaluation, baseline: Evaluation) -> list[Difference]:
    """Compare two evaluations of the same reads, one difference for each prefix.

    Raises
    ------
    UsageError
        They are of other reads or prefixes, or were made with other rounds, splits, weights or seeds.
    """
    pairs = [(one.labelled.target_names, one.labelled.other_names) for one in (evaluation, baseline)]
    same_reads = all(np.array_equal(a, b) for a, b in zip(*pairs, strict=True))
    if not same_reads or _settings(evaluation) != _settings(baseline):
        raise UsageError("differences are of evaluations of the same reads, with the same prefixes, rounds and seed")
    return [
        Difference(
            evaluation.labelled.name,
            baseline.labelled.name,
            one.prefix,
            _estimate(one.f.value - other.f.value, one.f_rounds - other.f_rounds),
            _estimate(one.held_out.value - other.held_out.value, one.held_out_rounds - other.held_out_rounds),
        )
        for one, other in zip(evaluation.prefixes, baseline.prefixes, strict=True)
    ]


def _settings(evaluation: Evaluation) -> tuple[object, ...]:
    """What decides which reads a round draws, and how F is computed."""
    reads = [(one.prefix, len(one.sweep.target), len(one.sweep.other)) for one in evaluation.prefixes]
    return reads, evaluation.balanced, evaluation.rounds, evaluation.splits, evaluation.seed


def _of_prefix(
    labelled: LabelledScores, number: int, *, balanced: bool, rounds: int, splits: int, seed: int
) -> PrefixEvaluation:
    prefix = labelled.prefixes[number]
    target, other = labelled.target[:, number], labelled.other[:, number]
    sweep = Sweep.of_prefix(prefix, target, other, balanced=balanced)
    reads = _reads(labelled.target_names[~np.isnan(target)]), _reads(labelled.other_names[~np.isnan(other)])
    f_rounds, held_out_rounds = _bootstrap(sweep, reads, rounds, np.random.default_rng((seed, prefix, 0)))
    held_out = _held_out(sweep, reads, splits, np.random.default_rng((seed, prefix, 1)))
    if min(_counts(reads)) < MIN_DRAWN:
        f_rounds, held_out_rounds = (np.full(rounds, np.nan) for _ in range(2))
    bounds = PrefixBounds(sweep, *_counts(reads))
    held = _estimate(held_out, held_out_rounds)
    if held.low == held.high:  # of classes that lie apart, rounds know nothing of other reads
        held = Estimate(held_out, min(held_out, bounds.f[0]), max(held_out, bounds.f[1]))
    recall, fpr = sweep.rates(sweep.best)
    weight = 1.0 if balanced else len(sweep.other) / len(sweep.target)  # of the others, if targets have 1
    return PrefixEvaluation(
        prefix, sweep, short_targets=int(np.isnan(target).sum()), short_others=int(np.isnan(other).sum()),
        f=Estimate(float(sweep.f.max()), *bounds.f), threshold=sweep.best, recall=recall, fpr=fpr,
        precision=recall / (recall + weight * fpr), accuracy=(recall + weight * (1 - fpr)) / (1 + weight),
        held_out=held, f_rounds=f_rounds, held_out_rounds=held_out_rounds, intervals=bounds.intervals(),
    )  # fmt: skip


def _reads(names: NDArray[np.object_]) -> NDArray[np.int64]:
    """Number the reads in the order of their first pieces."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names.tolist()], np.int64)


def _bootstrap(
    sweep: Sweep, reads: Reads, rounds: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The highest F and held-out F of each round; NaN where a half is without a class."""
    f, held_out = [np.empty(0)], [np.empty(0)]
    for drawn_reads in resampling.draw(*_counts(reads), rounds, rng):
        drawn = drawn_reads.of_pieces(*reads)
        f.append(resampling.highest_f(sweep, drawn))
        held_out.append(resampling.held_out_f(sweep, drawn))
    return np.concatenate(f), np.concatenate(held_out)


def _held_out(sweep: Sweep, reads: Reads, splits: int, rng: np.random.Generator) -> float:
    """Mean F of reads by thresholds of others; NaN for classes that cannot be halved."""
    if not splits or min(_counts(reads)) < resampling.MIN_HALVED:
        return np.nan
    halvings = resampling.split(*_counts(reads), splits, rng)
    rounds = [resampling.held_out_f(sweep, halves.of_pieces(*reads)) for halves in halvings]
    return float(np.concatenate(rounds).mean())


def _counts(reads: Reads) -> tuple[int, int]:
    """Reads of each class."""
    return int(reads[0].max()) + 1, int(reads[1].max()) + 1


def _estimate(value: float, rounds: NDArray[np.float64]) -> Estimate:
    """A value with the interval of rounds; rounds without a value are left out."""
    known = rounds[~np.isnan(rounds)]
    if np.isnan(value) or not len(known):
        return Estimate(value, np.nan, np.nan)
    low, high = np.percentile(known, TAILS).tolist()
    return Estimate(value, low, high)
