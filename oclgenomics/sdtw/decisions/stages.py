"""Stages: how many samples of a read are judged, and by which thresholds."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.options import check_prefixes

__all__ = ["Stage", "parse_stages"]

NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
STAGE = re.compile(rf"\s*([0-9]{{1,9}})\s*:\s*(?:({NUMBER})\s*\.\.\s*)?({NUMBER})\s*")


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
    check_prefixes([stage.prefix for stage in stages])
    return tuple(stages)
