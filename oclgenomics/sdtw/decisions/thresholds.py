"""Thresholds of scores by which reads are rejected or accepted, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw.decisions.basis import Basis
from oclgenomics.sdtw.decisions.scores import SCORES, Score
from oclgenomics.sdtw.decisions.stages import Stage
from oclgenomics.sdtw.decisions.words import ACCEPT, REJECT, UNDECIDED
from oclgenomics.sdtw.options import AlignOptions, check_prefixes
from oclgenomics.sdtw.reference import SATURATED

__all__ = ["Stage", "Thresholds"]


@dataclass(frozen=True)
class Thresholds:
    """Stages, and the alignments whose scores they judge.

    Attributes
    ----------
    stages : tuple of Stage
        Of ascending prefixes, one at least.
    options : AlignOptions
    score : {'cost', 'difference'}
        See `oclgenomics.sdtw.decisions.scores.read_scores`.
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
        self.options.rows(check_prefixes(self.prefixes)[0])
        if self.score not in SCORES:
            raise ParameterError("score", f"choose one of {', '.join(SCORES)}", self.score)
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
            Numbers of `oclgenomics.sdtw.decisions.words`, of the shape of `scores`. At the last stage only reads that
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
            if others[name] != value:
                raise UsageError(
                    f"the thresholds were made with `{name}={value}`, which is not `{name}={others[name]}`; "
                    "use the options of the thresholds, or make new ones with `sdtw calibrate`"
                )
