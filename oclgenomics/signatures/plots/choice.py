"""Chooses the samples that a figure shows, part by part, so that memory does not grow with the input."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.matches.certainty import MAY_BE_CHANCE, certainty, log10_chance, log10_chance_of_edits
from oclgenomics.signatures.matches.totals import ScanTotals
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import Matches, ScanPart, ScanResult

MAX_LANES = 30
MAX_DRAWN = 500  # matches of a lane


@dataclass(frozen=True)
class Lane:
    """A sample as the figure shows it.

    Attributes
    ----------
    number : int
        `Samples.number`.
    name : str
    letters : int
    signatures : int
        Those that match, counted on each strand.
    rows : int
        Its matches.
    strength : float
        The sum of the certainties of all of them, by which samples are chosen.
    matches : Matches
        The surest of them, `MAX_DRAWN` at most, from left to right.
    lengths : ndarray, int64
        Letters of each signature of the panel.
    edits : bool
        Whether mismatches are edits.
    """

    number: int
    name: str
    letters: int
    signatures: int
    rows: int
    strength: float
    matches: Matches
    lengths: NDArray[np.int64]
    edits: bool

    @property
    def chance(self) -> NDArray[np.float64]:
        """log10 of what chance is expected to give, for each match; see `oclgenomics.signatures.matches.certainty`."""
        matches = self.matches
        letters = self.letters + 2 * matches.outside
        expected = log10_chance_of_edits if self.edits else log10_chance
        return expected(letters, self.lengths[matches.signature], matches.informative, matches.mismatches)

    @property
    def may_be_chance(self) -> NDArray[np.bool_]:
        """Whether chance may give each match."""
        return self.chance > MAY_BE_CHANCE

    def joined(self, later: Lane) -> Lane:
        """Join what the next part tells of the sample."""
        rows, strength = self.rows + later.rows, self.strength + later.strength
        matches = _surest(Matches.joined([self.matches, later.matches]))
        return replace(later, rows=rows, strength=strength, matches=matches)


class ChosenSamples:
    """The samples with the most and surest matches.

    Parameters
    ----------
    panel : Panel
    options : ScanOptions
        Those of the scan.
    count : int
        Samples to choose at most.

    Attributes
    ----------
    panel : Panel
    totals : ScanTotals
        Of all samples.
    """

    def __init__(self, panel: Panel, options: ScanOptions = ScanOptions(), count: int = MAX_LANES) -> None:
        self.panel, self.totals = panel, ScanTotals(panel)
        self._edits = options.max_edits > 0
        self._count = count
        self._lanes: dict[int, Lane] = {}

    @classmethod
    def of(cls, result: ScanResult, count: int = MAX_LANES) -> ChosenSamples:
        """Choose from a whole result."""
        chosen = cls(result.panel, result.options, count)
        chosen.add(ScanPart(result.samples, result.matches))
        return chosen

    @property
    def lanes(self) -> list[Lane]:
        """The chosen samples, in the order of the input."""
        return [self._lanes[number] for number in sorted(self._lanes)]

    def add(self, part: ScanPart) -> None:
        """See a part of a scan."""
        self.totals.add(part)
        for lane in self._candidates(part):
            known = self._lanes.get(lane.number)
            self._lanes[lane.number] = lane if known is None else known.joined(lane)
        goes_on = set(part.samples.number[~part.samples.ends].tolist())
        ranked = sorted(self._lanes.values(), key=lambda lane: (-lane.strength, -lane.rows, lane.number))
        whole = [lane for lane in ranked if lane.number not in goes_on][: self._count]
        unfinished = [lane for lane in ranked if lane.number in goes_on]
        self._lanes = {lane.number: lane for lane in [*whole, *unfinished]}

    def _candidates(self, part: ScanPart) -> list[Lane]:
        """The samples of a part that may be among the chosen; those that began before or go on are among them."""
        samples, matches = part.samples, part.matches
        if not len(samples):
            return []
        row = matches.sample - samples.number[0]
        counts = np.bincount(row, minlength=len(samples))
        strength = np.bincount(row, weights=certainty(matches), minlength=len(samples))
        order = np.lexsort((-counts, -strength))
        wanted = set(order[: self._count].tolist()) | {0, len(samples) - 1}
        found = []
        for at in sorted(wanted):
            number = int(samples.number[at])
            if counts[at] or number in self._lanes:
                first, after = np.searchsorted(row, [at, at + 1])
                mine = _surest(matches.take(slice(first, after)))
                found.append(
                    Lane(
                        number, str(samples.name[at]), int(samples.letters[at]), int(samples.pairs[at]),
                        int(counts[at]), float(strength[at]), mine, self.panel.lengths, self._edits,
                    )
                )  # fmt: skip
        return found


def _surest(matches: Matches) -> Matches:
    """The surest matches, from left to right."""
    surest = np.argsort(-certainty(matches), kind="stable")[:MAX_DRAWN]
    some = matches.take(np.sort(surest))
    return some.take(np.lexsort((some.end, some.start)))
