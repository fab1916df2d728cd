"""What the hardware's arithmetic finds in a scan of one or several alignments, beside what `omega scan` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hls_model.config import Config
from oclgenomics.app.frames import to_frame
from oclgenomics.fpga.alignment_run import RUN_COLUMNS, AlignmentRun, summary_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ScanRun"]


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
        from oclgenomics.fpga.run_plot import plot_run

        return plot_run(self.alignments, self.config, self.matrix)
