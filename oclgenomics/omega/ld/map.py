"""A map of linkage disequilibrium: means of r2 within a window's halves and across, and a picture of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.omega.device.ld import LdBlock, ld_blocks
from oclgenomics.omega.ld.region import LdPart, LdRegion, omega_of_parts, window_parts
from oclgenomics.omega.ld.request import MapRequest
from oclgenomics.omega.options import ScanOptions
from oclgenomics.runtime import Engine

MAX_PIXELS = 1_200  # sites along the side of a picture that are shown one by one
PART_COLUMNS = ("chromosome", "part", "from", "to", "sites", "pairs", "mean_r2")
OMEGA_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class LdMap:
    """Linkage disequilibrium between all sites of a region.

    Attributes
    ----------
    region : LdRegion
        The sites, and the window among them.
    parts : tuple of LdPart
        Sums of r2: of the window's halves and across, if there is a window, and of the whole region.
    picture : BinnedLd
        Means of r2, as `plot_ld` draws them.
    omega : float or None
        Omega of the window from the sites shown. None without a window, and where it cannot be compared with the
        scan's: of another measure or in compat precision, or with several sites at a border.
    """

    region: LdRegion
    parts: tuple[LdPart, ...]
    picture: BinnedLd
    omega: float | None = None

    def __repr__(self) -> str:
        means = ", ".join(f"{part.name} {part.mean:.3g}" for part in self.parts if part.defined)
        region = self.region
        where = f"{region.alignment.name}:{region.start}-{region.end}"
        return f"<LdMap of {where}: {region.alignment.sites} sites, mean r2: {means}>"

    @property
    def agrees(self) -> bool:
        """Whether omega is that of the scan, as far as it can be compared."""
        point = self.region.point
        return point is None or self.omega is None or abs(self.omega - point.omega) <= OMEGA_TOLERANCE * point.omega

    def records(self) -> Iterator[dict[str, Any]]:
        """Give a dict for each part, with the names of `PART_COLUMNS`; `mean_r2` is None where no pair has an r2."""
        yield from part_records(self.region, self.parts)

    def to_frame(self) -> Any:
        """Make a table of the parts, with the columns `PART_COLUMNS`; `pairs` have an r2, `mean_r2` is NaN without any.

        Raises
        ------
        MissingDependencyError
            Neither pandas nor polars is installed.
        """
        rows = list(self.records())
        columns = {name: [row[name] for row in rows] for name in PART_COLUMNS}
        columns["mean_r2"] = [part.mean for part in self.parts]
        return to_frame(columns)


def part_records(region: LdRegion, parts: Sequence[LdPart]) -> list[dict[str, Any]]:
    """Return a dict for each part of a region, with the names of `PART_COLUMNS`."""
    at, name = region.positions, " ".join(region.alignment.name.split())
    ends = [(int(at[part.rows[0]]), int(at[part.columns[1]])) for part in parts]
    values = [
        (name, part.name, *end, part.sites, part.defined, part.mean if part.defined else None)
        for part, end in zip(parts, ends, strict=True)
    ]
    return [dict(zip(PART_COLUMNS, row, strict=True)) for row in values]


class BinnedLd:
    """A picture of at most `most` x `most` pixels: the mean of the pairs that share one.

    Parameters
    ----------
    sites : int
    most : int
        Pixels along either side.

    Attributes
    ----------
    starts : ndarray, int64 (bins + 1,)
        First site of each bin, and the number of sites.
    """

    def __init__(self, sites: int, most: int) -> None:
        self.bins = min(sites, most)
        self.starts = np.arange(self.bins + 1) * sites // self.bins
        self._sums = np.zeros((self.bins, self.bins))
        self._undefined = np.zeros((self.bins, self.bins), np.int64)

    def add(self, block: LdBlock) -> None:
        """Take in some rows."""
        first = int(np.searchsorted(self.starts, block.row0, "right")) - 1
        last = int(np.searchsorted(self.starts, block.row0 + len(block.values) - 1, "right"))
        at = np.maximum(self.starts[first:-1] - block.row0, 0)
        rows = at[: last - first]
        columns = np.add.reduceat(block.values, at, axis=1, dtype=np.float64)
        if np.isnan(columns).any():
            missing = np.isnan(block.values)
            counts = np.add.reduceat(missing, at, axis=1, dtype=np.int64)
            self._undefined[first:last, first:] += np.add.reduceat(counts, rows, axis=0)
            columns = np.add.reduceat(np.where(missing, np.float32(0), block.values), at, axis=1, dtype=np.float64)
        self._sums[first:last, first:] += np.add.reduceat(columns, rows, axis=0)

    def means(self) -> NDArray[np.float64]:
        """Mean of the values in each pixel, float64 (bins, bins); NaN below the diagonal and where no pair has one."""
        size = np.diff(self.starts).astype(np.float64)
        pairs = np.triu(size[:, None] * size, 1) + np.diag(size * (size - 1) / 2) - self._undefined
        return np.divide(self._sums, pairs, out=np.full_like(self._sums, np.nan), where=pairs > 0)


def map_region(
    region: LdRegion,
    request: MapRequest,
    engine: Engine,
    *,
    on_block: Callable[[LdBlock], None] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> LdMap:
    """Compute r2 between all sites of a region.

    Parameters
    ----------
    region : LdRegion
        From `read_region`.
    request : MapRequest
    engine : Engine
    on_block : callable, optional
        Called with each block of values, which are seen once.
    progress : callable, optional
        Called with (sites done, sites in all).
    """
    sites = region.alignment.sites
    parts = [*region.parts, LdPart("region", (0, sites - 1), (0, sites - 1))]
    picture = BinnedLd(sites, MAX_PIXELS)
    for block in ld_blocks(region.alignment, engine):
        parts = [part.plus(block) for part in parts]
        picture.add(block)
        if on_block is not None:
            on_block(block)
        if progress is not None:
            progress(block.row0 + len(block.values), sites)
    return LdMap(region, tuple(parts), picture, _omega(region, request.scan, engine))


def _omega(region: LdRegion, scan: ScanOptions, engine: Engine) -> float | None:
    """Omega of the window as it is shown, which tells other samples from those of the scan; see `LdMap.omega`."""
    if region.point is None or scan.precision == "compat" or scan.ld != "RSQUARE":
        return None
    left, right, _ = region.parts
    borders = region.positions[[left.rows[0], right.rows[1]]]
    if (region.positions[:, None] == borders).sum() > len(borders):
        return None  # of several sites at a border, a report does not say which one it is
    parts = window_parts(left.rows[0], left.rows[1], right.rows[1])
    for block in ld_blocks(region.alignment, engine, measure="nr2"):
        first, second, across = (part.plus(block) for part in parts)
        parts = (first, second, across)
    return omega_of_parts(*parts)
