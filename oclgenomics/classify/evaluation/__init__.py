"""Where names of `oclgenomics.classify` were before: how well reads were classified."""

from __future__ import annotations

import warnings
from typing import Any

from oclgenomics import classify

NAMES = ("Evaluation", "RankMeasures", "Truth", "evaluate", "read_calls", "read_truth")


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    what = f"{__name__}.{name} is now oclgenomics.classify.{name}; the old place goes with the next version"
    warnings.warn(what, DeprecationWarning, stacklevel=2)
    return getattr(classify, name)
