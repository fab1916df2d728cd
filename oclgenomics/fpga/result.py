"""What scans would take on FPGA designs, and what they took on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hls_model.project import Projection, totals
from hls_model.timing.result import Level
from hls_model.workload import Workload
from oclgenomics.app.frames import to_frame
from oclgenomics.fpga.measuring import Measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ScanProjection"]


@dataclass(frozen=True, eq=False, repr=False)
class ScanProjection:
    """Scans projected onto designs.

    Attributes
    ----------
    projections : mapping of str to tuple of Projection
        Of each scan in turn, by the design's name.
    discarded : tuple of mapping of str to int
        Records and sites left out of each scan, by reason.
    measured : Measured or None
        None where nothing was measured.
    level : str
        Of the timing: 'L1' or 'L2'.
    """

    projections: Mapping[str, tuple[Projection, ...]]
    discarded: tuple[Mapping[str, int], ...]
    measured: Measured | None = None
    level: Level = "L1"

    def __repr__(self) -> str:
        times = ", ".join(f"{name} {self.totals(name)['seconds']:.3g} s" for name in self.projections)
        measured = "" if self.measured is None else f"; measured {self.measured.total:.3g} s"
        return f"<ScanProjection of {len(self.workloads):,} scans: {times}{measured}>"

    @property
    def workloads(self) -> list[Workload]:
        """The scans."""
        return [one.timing.workload for one in next(iter(self.projections.values()))]

    @property
    def uncertain(self) -> bool:
        """Whether the projections have ranges."""
        return next(iter(self.projections.values()))[0].band is not None

    def totals(self, design: str) -> dict[str, float]:
        """Return what the scans come to on a design; see `hls_model.project.totals`."""
        return totals(list(self.projections[design]))

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each design and scan; see `hls_model.project.Projection.record`."""
        return [one.record() for projections in self.projections.values() for one in projections]

    def to_frame(self) -> Any:
        """Make a table of `records`, without what holds several values; see `oclgenomics.app.frames.to_frame`."""
        records = self.records()
        names = [name for name, value in records[0].items() if not isinstance(value, (dict, list))]
        return to_frame({name: [record[name] for record in records] for name in names if "bottleneck" not in name})

    def plot(self) -> Figure:
        """Draw where the time goes on each design, all scans together."""
        from hls_model.plots.phases import plot_phases

        return plot_phases(list(self.projections.values()))
