"""What scans find: omega along each alignment, as it was computed or as a report has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import frame_of, to_frame
from oclgenomics.app.tracks import PartSequence, ScanSequence

SCAN_COLUMNS = ("chromosome", "replicate", "position", "omega", "left", "right", "window_sites")
"""Of a table of grid positions: in tsv reports, `Scan.records` and `Scan.to_frame`."""

ARRAYS = ("positions", "omega", "left", "right", "valid", "window_sites", "enough_sites")  # of a scan that was counted
ACCURATE_DIGITS = 7  # pair values are float32, which leaves omega a relative error of about 1.5e-7
COMPAT_DIGITS = 9  # tell all float32 values apart


@dataclass(frozen=True)
class ScanStats:
    """What a scan took.

    Attributes
    ----------
    scores, pairs : int
        Omegas evaluated, and pairs of sites whose linkage disequilibrium they need.
    seconds : float
        Time on the device and in its preparation; of alignments that were scanned together, the share.
    """

    scores: int = 0
    pairs: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class DataFacts:
    """What was scanned of one alignment: facts on which the size of omegas depends, apart from the options of the scan.

    Attributes
    ----------
    haplotypes : int
        Those that r2 counts: with `genotypes` two of each sample, also of a haploid one.
    sites : int
        Those used.
    genotypes : bool
        r2 was computed from genotypes, because heterozygous calls were not phased.
    missing : float
        Share of the states that were unknown before any were filled in.
    masked : float
        Share of the bp from the first to the last site that lay in excluded regions.
    """

    haplotypes: int
    sites: int
    genotypes: bool
    missing: float
    masked: float

    def record(self) -> dict[str, Any]:
        """Return the facts by name, as plain values."""
        return asdict(self)


@dataclass(frozen=True, eq=False, repr=False)
class Track:
    """Omega along one alignment (a chromosome or a replicate), as a report has it.

    Attributes
    ----------
    name : str
        Chromosome, or the replicate's number.
    replicate : int
        Place of the alignment in its input, counted from 1.
    positions, omega : ndarray of float64, shape (grid,)
        Grid positions in bp, and the largest omega at each; 0 where there is no window.
    left, right : ndarray of int64, shape (grid,)
        Positions in bp of the first and the last site of the window that gives `omega`; 0 where there is none.
    data : DataFacts, optional
        What a threshold has to be made for. None if nobody looked, or a report does not say.
    parameters : mapping of str to object
        Options of the scan by name, as plain values; words from a tsv report.
    """

    name: str
    replicate: int
    positions: NDArray[np.float64]
    omega: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    data: DataFacts | None = field(default=None, kw_only=True)
    parameters: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def __repr__(self) -> str:
        highest = f", highest omega {self.omega.max():.6g}" if len(self.omega) else ""
        return f"<Track of {self.name!r}: {len(self.positions):,} positions{highest}>"


@dataclass(frozen=True, eq=False, repr=False)
class Scan(Track):
    """Omega along one alignment (a chromosome or a replicate).

    Attributes
    ----------
    name, replicate, positions, omega, left, right, data, parameters
        As in `Track`. Omega is 0 where `valid` is False; float32 values in compat precision.
    valid : ndarray of bool, shape (grid,)
        False where no window holds enough sites, or `border` permits none of those that do.
    sites, haplotypes : int
        Sites used, and states per site.
    discarded : mapping of str to int
        Records and sites left out, by reason.
    possible : bool
        False with fewer than 4 sites; all arrays are then empty.
    maxwin : int
        Largest window used, in bp (compat precision shrinks it where OmegaPlus does).
    stats : ScanStats
    window_sites : ndarray of int64, shape (grid,), optional
        Sites from `left` to `right`; -1 where `valid` is False. None if nobody counted.
    enough_sites : ndarray of bool, shape (grid,), optional
        Where a window holds enough sites, permitted or not, which is what OmegaPlus calls valid. None: as `valid`.
    digits : int
        Significant digits of `omega` to show: the seven that hold, or nine in compat precision, which bring OmegaPlus'
        float32 values back exactly.
    unit : float
        What region sums are multiples of; 0 without any.
    of_records : bool
        Whether the alignment is a chromosome of a VCF or the like, and not a replicate or FASTA.
    """

    valid: NDArray[np.bool_]
    sites: int
    haplotypes: int
    discarded: Mapping[str, int]
    possible: bool
    maxwin: int
    stats: ScanStats = ScanStats()
    window_sites: NDArray[np.int64] | None = None
    enough_sites: NDArray[np.bool_] | None = None
    digits: int = ACCURATE_DIGITS
    unit: float = 0.0
    of_records: bool = False

    def __repr__(self) -> str:
        best = self.best
        peak = "" if best is None else f", best omega {self.omega[best]:.6g} at {self.positions[best]:.0f} bp"
        size = f"{self.haplotypes} haplotypes, {self.sites} sites, {len(self.positions)} positions"
        return f"<Scan of {self.name!r}: {size}{peak}>"

    @classmethod
    def joined(cls, scans: Sequence[Scan]) -> Scan:
        """Join scans of ranges of positions of one alignment, in their order."""
        if len(scans) == 1:
            return scans[0]
        arrays: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in scans]) for name in ARRAYS}
        stats = [one.stats for one in scans]
        scores, seconds = sum(one.scores for one in stats), sum(one.seconds for one in stats)
        unit = max(one.unit for one in scans)
        return replace(scans[0], **arrays, stats=ScanStats(scores, stats[0].pairs, seconds), unit=unit)

    @property
    def best(self) -> int | None:
        """Index of the largest omega (the first of equals); None where no position is valid."""
        if not self.possible or not self.valid.any():
            return None
        return int(np.argmax(np.where(self.valid, self.omega, -1.0)))

    def records(self) -> Iterator[dict[str, Any]]:
        """Give a dict for each grid position, with the names of `SCAN_COLUMNS`.

        Yields
        ------
        dict
            Plain values. `omega` is None where no window holds enough sites or `border` permits none; `left`, `right`
            and `window_sites` are None there and where omega is 0, and `window_sites` also where nobody counted.
        """
        found, sites = self.found, self.counted_sites
        columns = (self.positions, self.omega, self.left, self.right, sites, self.valid, found)
        for at, omega, left, right, count, valid, there in zip(*(values.tolist() for values in columns), strict=True):
            window = (left, right, count if count >= 0 else None) if there else (None, None, None)
            values = (self.name, self.replicate, at, omega if valid else None, *window)
            yield dict(zip(SCAN_COLUMNS, values, strict=True))

    def to_frame(self) -> Any:
        """Make a table of the grid positions, with the columns `SCAN_COLUMNS`.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            Numbers are float64 (`replicate` int64), NaN where `records` has None.

        Raises
        ------
        MissingDependencyError
            Neither pandas nor polars is installed.
        """
        return to_frame(self._columns())

    def _columns(self) -> dict[str, NDArray[Any]]:
        """The columns of `to_frame`."""
        found, sites, grid = self.found, self.counted_sites, len(self.positions)
        values = (
            np.full(grid, self.name, object),
            np.full(grid, self.replicate, np.int64),
            self.positions,
            np.where(self.valid, self.omega, np.nan),
            np.where(found, self.left, np.nan),
            np.where(found, self.right, np.nan),
            np.where(found & (sites >= 0), sites, np.nan),
        )
        return dict(zip(SCAN_COLUMNS, values, strict=True))

    @property
    def found(self) -> NDArray[np.bool_]:
        """Where a window gives the omega, bool (grid,)."""
        return self.valid & (self.omega > 0)

    @property
    def counted_sites(self) -> NDArray[np.int64]:
        """Sites in each window, int64 (grid,); -1 where they were not counted."""
        return np.full(len(self.positions), -1, np.int64) if self.window_sites is None else self.window_sites


@dataclass(frozen=True, eq=False, repr=False)
class Scans(ScanSequence[Scan]):
    """The scans of an input, in its order: a sequence of `Scan`.

    Attributes
    ----------
    tracks : sequence of Scan
        One for each chromosome or replicate.
    """

    tracks: Sequence[Scan]

    _columns_of_none = SCAN_COLUMNS

    @property
    def _parts(self) -> Sequence[Scan]:
        return self.tracks


@dataclass(frozen=True, eq=False, repr=False)
class OmegaReport(PartSequence[Track]):
    """A report that was read back: a sequence of `Track`.

    Attributes
    ----------
    tracks : sequence of Track
    parameters : mapping of str to object
        Those of the scan that its provenance names; words in a tsv report.
    source : str
    """

    tracks: Sequence[Track]
    parameters: Mapping[str, Any]
    source: str

    @property
    def _parts(self) -> Sequence[Track]:
        return self.tracks

    def __repr__(self) -> str:
        return f"<OmegaReport {self.source!r}: {len(self.tracks):,} tracks>"

    def records(self) -> Iterator[dict[str, Any]]:
        """Give a dict for each grid position: 'chromosome', 'replicate', 'position', 'omega', 'left' and 'right'.

        `left` and `right` are None where there is no window.
        """
        for track in self.tracks:
            columns = (track.positions, track.omega, track.left, track.right)
            for at, omega, left, right in zip(*(values.tolist() for values in columns), strict=True):
                values = (track.name, track.replicate, at, omega, left or None, right or None)
                yield dict(zip(SCAN_COLUMNS[:-1], values, strict=True))

    def to_frame(self) -> Any:
        """Make a table of the grid positions, with the names of `records`; see `oclgenomics.app.frames.to_frame`."""
        return frame_of(list(self.records()), SCAN_COLUMNS[:-1])
