"""How much a read looks like the target: one number of its costs, the lower the more."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.reference import SATURATED

__all__ = ["SCORES", "Score", "read_scores"]

Score = Literal["cost", "difference"]
SCORES: tuple[Score, ...] = get_args(Score)


def read_scores(cost: NDArray[np.float64], score: Score, options: AlignOptions) -> NDArray[np.float64]:
    """Return the scores of reads.

    Parameters
    ----------
    cost : ndarray, float64, (..., references)
        The target's first, then those of decoys; NaN where a read is too short.
    score : {'cost', 'difference'}
        The target's cost, or that cost less the least of the decoys'.
    options : AlignOptions
        Of the alignments: with uint16, a cost of 65,535 is saturated.

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
    if score not in SCORES:
        raise ParameterError("score", f"choose one of {', '.join(SCORES)}", score)
    if score == "difference" and cost.shape[-1] < 2:
        raise ParameterError("score", "needs a decoy to compare the target with", score)
    target = cost[..., 0]
    result = target - cost[..., 1:].min(axis=-1) if score == "difference" else target.copy()
    if options.arithmetic == "uint16":
        result[target >= SATURATED] = np.inf
    return result
