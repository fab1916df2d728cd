"""What a map of linkage disequilibrium shows, in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from oclgenomics.app.frames import to_frame
from oclgenomics.omega.ld.parts import LdPart
from oclgenomics.omega.ld.picture import BinnedLd
from oclgenomics.omega.ld.region import LdRegion

__all__ = ["PART_COLUMNS", "LdMap", "part_records"]

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
