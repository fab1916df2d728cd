"""Scores, and the thresholds of them by which reads are rejected or accepted, stage by stage."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, UsageError, check_choice
from oclgenomics.sdtw.decisions.basis import Basis, ReadKind, Trim, reference_names, settled_trim, trim_for
from oclgenomics.sdtw.options import MAX_PREFIX, AlignOptions, check_prefixes
from oclgenomics.sdtw.reference import SATURATED
from oclgenomics.sdtw.squiggles.opened import options_for
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import TrimOptions

UNDECIDED, ACCEPT, REJECT = 0, 1, 2
WORDS = ("undecided", "accept", "reject")
Score = Literal["cost", "difference"]
SCORES: tuple[Score, ...] = get_args(Score)
NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
STAGE = re.compile(rf"\s*([0-9]{{1,9}})\s*:\s*(?:({NUMBER})\s*\.\.\s*)?({NUMBER})\s*")


def words_of(decisions: NDArray[Any]) -> NDArray[np.object_]:
    """Return the words of decisions.

    Parameters
    ----------
    decisions : ndarray, uint8
        Of any shape.
    """
    words: NDArray[np.object_] = np.array(WORDS, object)[decisions]
    return words


def read_scores(
    cost: NDArray[np.float64], score: Score, options: AlignOptions, targets: int = 1
) -> NDArray[np.float64]:
    """Return the scores of reads: one number each that says how much it looks like the target, the lower the more.

    Parameters
    ----------
    cost : ndarray, float64, (..., references)
        The targets' first, then those of decoys; NaN where a read is too short.
    score : {'cost', 'difference'}
        The best target's cost, or that cost less the least of the decoys'.
    options : AlignOptions
        Of the alignments: with uint16, a cost of 65,535 is saturated.
    targets : int
        References of targets.

    Returns
    -------
    ndarray, float64, (...)
        NaN where a read is too short, and infinite where the target's cost is saturated: that read is less like the
        target than any other.

    Raises
    ------
    ParameterError
        A difference without decoys.
    """
    check_choice("score", score, SCORES)
    if score == "difference" and cost.shape[-1] <= targets:
        raise ParameterError("score", "needs a decoy to compare the target with", score)
    best = cost[..., :targets].min(axis=-1)
    result: NDArray[np.float64] = best - cost[..., targets:].min(axis=-1) if score == "difference" else best.copy()
    if options.arithmetic == "uint16":
        result[best >= SATURATED] = np.inf
    return result


@dataclass(frozen=True)
class Stage:
    """What is decided when a read has so many samples.

    Attributes
    ----------
    prefix : int
        Samples.
    reject_above : float
        A read with a higher score is rejected.
    accept_below : float, optional
        A read with a lower score is accepted at once. At the last stage all that are not rejected are accepted.

    Raises
    ------
    ParameterError
        A threshold is no finite number, or `accept_below` is above `reject_above`.
    """

    prefix: int
    reject_above: float
    accept_below: float | None = None

    def __post_init__(self) -> None:
        lower = self.reject_above if self.accept_below is None else self.accept_below
        if not (math.isfinite(self.reject_above) and math.isfinite(lower)):
            raise ParameterError("stages", "a threshold is a finite number", str(self))
        if lower > self.reject_above:
            raise ParameterError("stages", "scores to accept lie below those to reject", str(self))

    def __str__(self) -> str:
        lower = "" if self.accept_below is None else f"{self.accept_below:.12g}.."
        return f"{self.prefix}:{lower}{self.reject_above:.12g}"


def parse_stages(text: str) -> tuple[Stage, ...]:
    """Read stages as they are typed.

    Parameters
    ----------
    text : str
        `PREFIX:REJECT` or `PREFIX:ACCEPT..REJECT` for each, with commas between them: "1000:5500,2000:4000..11000"
        rejects reads above 5,500 after 1,000 samples, and after 2,000 those above 11,000. Thresholds may be negative.

    Raises
    ------
    ParameterError
        The text is something else, or a stage cannot be; see `Stage`.
    """
    stages = []
    for part in text.split(","):
        found = STAGE.fullmatch(part)
        if found is None:
            raise ParameterError("stages", "write PREFIX:REJECT or PREFIX:ACCEPT..REJECT for each", part[:40])
        lower = None if found[2] is None else float(found[2])
        stages.append(Stage(int(found[1]), float(found[3]), lower))
    try:
        check_prefixes([stage.prefix for stage in stages])
    except ParameterError:
        wrong = f"their prefixes ascend and have 1 to {MAX_PREFIX:,} samples"
        raise ParameterError("stages", wrong, text[:40]) from None
    return tuple(stages)


@dataclass(frozen=True)
class Thresholds:
    """Stages, and the alignments whose scores they judge.

    Attributes
    ----------
    stages : tuple of Stage
        Of ascending prefixes, one at least.
    options : AlignOptions
    score : {'cost', 'difference'}
        See `read_scores`.
    references : tuple of str
        Names of the target and the decoys; empty where they are not known. Several targets, of which the best counts,
        are one of all their names, with commas between them.
    made : mapping of str to object
        How the thresholds were found, as plain values; see `oclgenomics.app.provenance`.
    basis : Basis, optional
        What the reads and the references were by which they were found; None for thresholds that somebody typed, which
        are good for whatever they are used for.

    Raises
    ------
    ParameterError
        Prefixes do not ascend or are shorter than a row, scores never reach a threshold because they saturate below
        it, or the references are not those of the basis.
    """

    stages: tuple[Stage, ...]
    options: AlignOptions
    score: Score = "cost"
    references: tuple[str, ...] = ()
    made: Mapping[str, Any] = field(default_factory=dict)
    basis: Basis | None = None

    def __post_init__(self) -> None:
        self.options.check_prefixes(self.prefixes)
        check_choice("score", self.score, SCORES)
        if self.score == "difference" and len(self.references) == 1:
            raise ParameterError("score", "needs a decoy to compare the target with", self.score)
        highest = max(self.stages, key=lambda stage: stage.reject_above)
        if self.options.arithmetic == "uint16" and highest.reject_above >= SATURATED:
            why = f"costs end at {SATURATED:,}; give a lower threshold, or use `arithmetic=int32`"
            raise ParameterError("stages", why, str(highest))
        if self.basis is not None and self.basis.names != self.references:
            raise ParameterError("references", "are not those of the basis", ", ".join(self.references))

    @property
    def prefixes(self) -> tuple[int, ...]:
        """Samples that a read needs for each stage."""
        return tuple(stage.prefix for stage in self.stages)

    @property
    def reads(self) -> ReadKind | None:
        """What the reads said of themselves by which they were found, if that is known."""
        return None if self.basis is None else self.basis.reads

    def scores(self, cost: NDArray[np.float64], targets: int) -> NDArray[np.float64]:
        """Return the scores that are judged; see `read_scores`."""
        return read_scores(cost, self.score, self.options, targets)

    def decide(self, stage: int, scores: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Decide of reads that have come to a stage.

        Parameters
        ----------
        stage : int
            From 0 on.
        scores : ndarray, float64
            Of any shape; NaN where a read is too short.

        Returns
        -------
        ndarray, uint8
            Numbers of `WORDS`, of the shape of `scores`. At the last stage only reads that
            are too short stay undecided.
        """
        judged = self.stages[stage]
        last = stage == len(self.stages) - 1
        rest = np.uint8(ACCEPT if last else UNDECIDED)
        decisions = np.where(scores > judged.reject_above, np.uint8(REJECT), rest)
        if judged.accept_below is not None:
            decisions[scores < judged.accept_below] = ACCEPT
        decisions[np.isnan(scores)] = UNDECIDED
        return decisions

    def for_references(self, references: Sequence[Squiggle]) -> Thresholds:
        """Return the same thresholds for alignments with references, whose pore decides what was left open."""
        return replace(self, options=options_for(self.options, references))

    def check(self, options: AlignOptions, references: Sequence[str], basis: Basis | None = None) -> None:
        """Refuse alignments whose scores mean something else.

        Parameters
        ----------
        options : AlignOptions
        references : sequence of str
            Names of the target and the decoys.
        basis : Basis, optional
            Of the alignments.

        Raises
        ------
        UsageError
            Other options than those of the thresholds, other references, or another basis.
        """
        self.check_options(options)
        if self.references and tuple(references) != self.references:
            raise UsageError(
                f"the thresholds were made with the references {', '.join(self.references)}, not "
                f"{', '.join(references)}; use these, in this order, or make new thresholds with `sdtw calibrate`"
            )
        if self.basis is not None and basis is not None:
            self.basis.check(basis)
        if self.score == "difference" and len(references) < 2:
            raise ParameterError("score", "needs a decoy to compare the target with", self.score)

    def check_options(self, options: AlignOptions) -> None:
        """Refuse other options of alignments than those of the thresholds.

        Raises
        ------
        UsageError
        """
        own, others = asdict(self.options.resolved()), asdict(options.resolved())
        for name, value in own.items():
            if name == "step" and options.step is None and options.norm == "prefix":
                continue  # that of the pore, which is one for all that is compared
            if others[name] != value:
                raise UsageError(
                    f"the thresholds were made with `{name}={value}`, which is not `{name}={others[name]}`; "
                    "use the options of the thresholds, or make new ones with `sdtw calibrate`"
                )


def checked_trim(
    thresholds: Thresholds,
    targets: Sequence[Squiggle],
    decoys: Sequence[Squiggle],
    trim: Trim,
    default: TrimOptions | None = TrimOptions(),
) -> TrimOptions | None:
    """Refuse thresholds that are for something else, and return how reads are to be trimmed.

    Parameters
    ----------
    thresholds : Thresholds
    targets, decoys : sequence of Squiggle
    trim : TrimOptions, None or 'thresholds'
    default : TrimOptions, optional
        For thresholds that do not say. The usual trimming, of both, is that of the references' pore.

    Raises
    ------
    UsageError
        See `Thresholds.check` and `settled_trim`.
    """
    names = reference_names(*([one.name for one in some] for some in (targets, decoys)))
    references = (*targets, *decoys)
    settled = settled_trim(trim_for(trim, references), thresholds.basis, trim_for(default, references))
    basis = None if thresholds.basis is None else Basis.of(targets, decoys, settled)
    thresholds.check(thresholds.options, names, basis)
    return settled
