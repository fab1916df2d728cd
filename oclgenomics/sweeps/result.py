"""What scans find: statistics along each alignment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.app.tracks import ScanSequence
from oclgenomics.sweeps.options import LOW
from oclgenomics.sweeps.sites.used import SweepFacts

WINDOW_COLUMNS = ("chromosome", "replicate", "position", "start", "end", "sites")
VALUES = (
    "mu", "mu_var", "mu_sfs", "mu_ld", "pi", "theta", "tajima_d", "fay_wu_h",
    "h1", "h12", "h123", "h2_h1", "lassi", "saltilassi",
    "nsl", "ihs",
    "clr", "clr_alpha",
    "fst", "dxy", "xp_nsl", "xp_ehh",
    "combined", "combined_p",
)  # fmt: skip
LABELS = {
    "mu": "μ", "pi": "π per kb", "theta": "Watterson's θ per kb", "tajima_d": "Tajima's D",
    "fay_wu_h": "Fay and Wu's H",
    "h1": "H1", "h12": "H12", "h123": "H123", "h2_h1": "H2/H1", "lassi": "LASSI T", "saltilassi": "saltiLASSI L",
    "nsl": "mean |nSL|", "ihs": "mean |iHS|",
    "clr": "CLR",
    "fst": "Fst", "dxy": "dxy per kb", "xp_nsl": "mean XP-nSL", "xp_ehh": "mean XP-EHH",
    "combined": "Combined score",
}  # fmt: skip
SCALES = {"pi": 1000.0, "theta": 1000.0, "dxy": 1000.0}  # of values per bp, where labels are shown
NOT_NEGATIVE = (
    "mu", "pi", "theta", "combined",
    "h1", "h12", "h123", "h2_h1", "lassi", "saltilassi",
    "nsl", "ihs",
    "clr",
    "dxy",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Scan:
    """Statistics along one alignment (a chromosome or a replicate).

    Attributes
    ----------
    name : str
        Chromosome, or the replicate's number.
    replicate : int
        Place of the alignment in its input, counted from 1.
    positions : ndarray of float64, shape (rows,)
        Bp: the middles of windows, or the positions of a grid.
    start, end : ndarray of float64, shape (rows,)
        First and last site of the window, bp; borders of windows of bp, of which the last one is outside.
    window_sites : ndarray of int64, shape (rows,)
        Sites in that window.
    values : dict of str to ndarray of float64, shape (rows,)
        By the names of `VALUES`, those that were asked for; NaN where there is no value.
    sites, haplotypes : int
        Sites used, and states of a site.
    discarded : mapping of str to int
        Records and sites left out, by reason.
    facts : SweepFacts
    parameters : mapping of str to object
        Options of the scan by name, as plain values.
    gridded : bool
        Positions are those of a grid.
    relative : bool
        The input had positions without bp, as ms has.
    binary : bool
        Its states had no bases, as those of ms and MaCS, whose alignments are replicates.
    backgrounds : mapping of str to mapping
        What the statistics that compare an alignment with its whole input took from that; see `families.Family`.
    remarks : tuple of str
        What a person has to know of the values, each in a line.
    details : mapping of str to object
        What else a statistic has to report: of nSL, iHS, XP-nSL and XP-EHH the scores of sites, `ehh.SiteScores`.
    fine : Scan, optional
        Rows at closer positions around some of the rows, where `SweepOptions.refine` asks for them. They say where a
        sweep is; thresholds, p-values and `best` are of the rows of the grid.
    seconds : float
        Time on the device and in its preparation; of alignments that were scanned together, the share.
    """

    name: str
    replicate: int
    positions: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    window_sites: NDArray[np.int64]
    values: Mapping[str, NDArray[np.float64]]
    sites: int
    haplotypes: int
    discarded: Mapping[str, int]
    facts: SweepFacts
    parameters: Mapping[str, Any] = field(default_factory=dict)
    gridded: bool = False
    relative: bool = False
    binary: bool = False
    backgrounds: Mapping[str, Mapping[str, NDArray[np.float64]]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    fine: Scan | None = None
    seconds: float = 0.0

    def __repr__(self) -> str:
        size = f"{self.haplotypes} haplotypes, {self.sites} sites, {len(self.positions)} rows"
        return f"<Scan of {self.name!r}: {size}, {', '.join(self.values)}>"

    @property
    def by_bp(self) -> bool:
        """Whether rows have windows of bp, and not of sites."""
        return self.gridded or str(self.parameters.get("window")) != "None"

    @classmethod
    def joined(cls, several: Sequence[Scan]) -> Scan:
        """Return the scan of an alignment whose rows several have, in their order."""
        names = ("positions", "start", "end", "window_sites")
        columns: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in several]) for name in names}
        values = {name: np.concatenate([one.values[name] for one in several]) for name in several[0].values}
        return replace(several[0], **columns, values=values, seconds=sum(one.seconds for one in several))

    def best(self, name: str) -> int | None:
        """Return the row that looks most like a sweep by a statistic; None without any value.

        It is the first of equals, and of the combined score the middle of the first ones; see `middle`.
        """
        values = self.values[name]
        known = ~np.isnan(values)
        if not known.any():
            return None
        sign = -1.0 if name in LOW else 1.0
        return self.middle(name, int(np.argmax(np.where(known, sign * values, -np.inf))))

    def middle(self, name: str, row: int) -> int:
        """Return the middle of a plateau of the combined score from its first row; of other statistics the row itself.

        The best value of each statistic counts for the rows around it, so the score has plateaus.
        """
        if name != "combined":
            return row
        values = self.values[name]
        others = np.flatnonzero(values[row:] != values[row])
        return row + (int(others[0]) - 1 if len(others) else len(values) - row - 1) // 2

    def records(self) -> Iterator[dict[str, Any]]:
        """Give a dict for each row, with the names of `WINDOW_COLUMNS` and of the values; None where there is none.

        Yields
        ------
        dict
        """
        columns = self._columns()
        for row in zip(*(column.tolist() for column in columns.values()), strict=True):
            yield dict(zip(columns, (None if one != one else one for one in row), strict=True))

    def to_frame(self) -> Any:
        """Make a table of the rows; see `oclgenomics.app.frames.to_frame`. NaN where there is no value."""
        return to_frame(self._columns())

    def _columns(self) -> dict[str, NDArray[Any]]:
        rows = len(self.positions)
        names = np.full(rows, self.name, object), np.full(rows, self.replicate, np.int64)
        window = self.positions, self.start, self.end, self.window_sites
        return dict(zip(WINDOW_COLUMNS, (*names, *window), strict=True)) | dict(self.values)


@dataclass(frozen=True, eq=False, repr=False)
class Scans(ScanSequence[Scan]):
    """The scans of an input, in its order: a sequence of `Scan`.

    Attributes
    ----------
    scans : sequence of Scan
        One for each chromosome or replicate.
    """

    scans: Sequence[Scan]

    @property
    def _parts(self) -> Sequence[Scan]:
        return self.scans
