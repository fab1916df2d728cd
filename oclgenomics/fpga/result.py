"""What scans would take on FPGA designs, what they took on this machine, and what the designs would compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hls_model.choices import Level
from hls_model.config import Config
from hls_model.project import Projection, totals
from hls_model.workload import Workload
from oclgenomics.app.frames import to_frame
from oclgenomics.fpga import plots
from oclgenomics.fpga.comparison import RUN_COLUMNS, AlignmentRun, summary_of
from oclgenomics.fpga.measuring import Measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        return plots.plot_phases(list(self.projections.values()))


@dataclass(frozen=True, eq=False, repr=False)
class ScanRun:
    """Scans as a design computes them.

    Attributes
    ----------
    alignments : tuple of AlignmentRun
    config : Config
        The design.
    matrix : str
        How M was made: 'float32' or 'exact'; see `oclgenomics.fpga.run_scan`.
    """

    alignments: tuple[AlignmentRun, ...]
    config: Config
    matrix: str

    def __repr__(self) -> str:
        found = self.summary()
        text = f"largest error {found['largest_error']:.2g}, {found['other_windows']} other windows"
        return f"<ScanRun of {len(self.alignments):,} scans on {self.config.name}: {text}>"

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each grid position of each alignment, with the names of `RUN_COLUMNS`."""
        return [record for one in self.alignments for record in one.records()]

    def to_frame(self) -> Any:
        """Make a table of `records`; see `oclgenomics.app.frames.to_frame`."""
        records = self.records()
        return to_frame({name: [record[name] for record in records] for name in RUN_COLUMNS})

    def summary(self) -> dict[str, Any]:
        """Return what the comparison of all alignments comes to.

        Returns
        -------
        dict
            'positions' : grid positions with a window.
            'omegas', 'software_omegas' : in all, and of them those of the remainder.
            'median_error', 'largest_error', 'largest_error_at' : of the maxima, without sign; the place is
            (chromosome, replicate, bp), or None.
            'largest_window_error' : of the maxima against omega in float64 of the same window.
            'other_windows', 'ties' : positions with other borders than the scan's, and those of them that lose nothing.
            'greatest_loss', 'greatest_loss_at' : of the places.
            'from_remainder' : positions whose maximum the remainder has.
            'top', 'top_kept' : how many positions with the largest omegas of the scan, and how many of them are among
            as many with the largest of the hardware.
            'same_peak' : whether the position with the largest omega is the same.
        """
        return summary_of(self.alignments)

    def plot(self) -> Figure:
        """Draw the error of the maxima along the positions, and against omega."""
        return plots.plot_run(self.alignments, self.config, self.matrix)
