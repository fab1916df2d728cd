"""One phase of a scan, and how phases add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hls_model.ranges import Range
from hls_model.records import record_of

Where = Literal["host", "link", "card", "elsewhere"]


@dataclass(frozen=True)
class Phase:
    """A part of a scan that takes time in one place.

    Attributes
    ----------
    name : str
        What is done.
    where : {'host', 'link', 'card', 'elsewhere'}
        By what: software, the host link, the card, or another platform.
    seconds : Range
        How long it takes by itself.
    bytes, operations : int
        What is moved (read and written), and what is computed; 0 where the time does not come from them.
    of : str
        What the operations are, such as 'omegas'.
    assumptions : tuple of str
        What the time rests on, a sentence each, with its source; those without one begin with "Assumed:".
    beside : str or None
        Name of the phase during which it runs; None where it begins when the phase before has ended.
    unbuilt : str
        Where the phase rests on hardware that nobody has built, not even in Verilog: which, and what its greatest time
        is then that of. Empty for all others.
    """

    name: str
    where: Where
    seconds: Range
    bytes: int = 0
    operations: int = 0
    of: str = ""
    assumptions: tuple[str, ...] = ()
    beside: str | None = None
    unbuilt: str = ""

    def record(self) -> dict[str, object]:
        """Return the phase for JSON."""
        names = "name where seconds bytes operations of beside unbuilt assumptions"
        return record_of(self, names) | {"unbuilt": self.unbuilt or None}


def total(phases: Sequence[Phase]) -> Range:
    """Return the seconds of all phases, one after the other.

    A phase and those that run during it count as the longest of them, each bound by itself. What would run during a
    phase that is not there counts in full.
    """
    seconds, names = Range.exactly(0.0), {phase.name for phase in phases}
    for phase in phases:
        if phase.beside not in names:
            seconds += beside_longest([phase, *(other for other in phases if other.beside == phase.name)])
    return seconds


def beside_longest(phases: Iterable[Phase]) -> Range:
    """Return the seconds of phases that run at the same time: the greatest of each bound."""
    bounds = [(one.seconds.low, one.seconds.likely, one.seconds.high) for one in phases]
    return Range(*(max(values) for values in zip(*bounds, strict=True)))


def added(scans: Iterable[Sequence[Phase]]) -> tuple[Phase, ...]:
    """Return the phases of scans that one design does in turn, those of one name as one.

    `total` of them is no more than the sum of the scans' totals: what runs during a phase in one scan is taken to run
    during that of any.
    """
    found: dict[str, Phase] = {}
    for phase in (phase for scan in scans for phase in scan):
        if old := found.get(phase.name):
            seconds, moved = old.seconds + phase.seconds, old.bytes + phase.bytes
            phase = replace(old, seconds=seconds, bytes=moved, operations=old.operations + phase.operations)
        found[phase.name] = phase
    return tuple(found.values())
