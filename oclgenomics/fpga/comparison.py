"""One alignment: what the hardware's arithmetic finds, what `omega scan` finds, and how they compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.fpga.hardware import PositionRun
from oclgenomics.omega.result import Scan
from oclgenomics.variation.alignment import Alignment

RUN_COLUMNS = (
    "chromosome", "replicate", "position", "hardware_omega", "hardware_left", "hardware_right", "scan_omega",
    "scan_left", "scan_right", "error", "same_window", "window_omega", "loss", "found_by",
)  # fmt: skip
"""Of a table of grid positions: `records` and `to_frame` of a run, and the command's table."""

SAME = 1e-6  # windows whose omegas differ by less are equal to a scan, whose pair values are float32
TOP = 10  # positions of the largest omegas that are looked for in both

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class AlignmentRun:
    """One alignment: the hardware's maxima at its grid positions, and those of the scan.

    Attributes
    ----------
    scan : Scan
        What `omega scan` finds, in accurate precision.
    omega : ndarray of float64, shape (grid,)
        The hardware's maxima (float32 values); 0 where none is above 0. May be infinite.
    left, right : ndarray of int64, shape (grid,)
        Borders of their windows in bp; meaningless where `omega` is 0.
    window_omega : ndarray of float64, shape (grid,)
        Omega of the hardware's window from sums in float64; 0 where there is none.
    software : ndarray of bool, shape (grid,)
        The maximum comes from the remainder, which software computes, and not from a lane.
    hardware_omegas, software_omegas : int
        Omegas of the lanes, and of the remainder.
    discarded : mapping of str to int
        Records and sites left out, by reason.
    """

    scan: Scan
    omega: Floats
    left: Indices
    right: Indices
    window_omega: Floats
    software: Flags
    hardware_omegas: int
    software_omegas: int
    discarded: Mapping[str, int]

    def __repr__(self) -> str:
        return f"<AlignmentRun of {self.scan.name!r}: {len(self.omega)} positions, {self.omegas:,} omegas>"

    @property
    def omegas(self) -> int:
        """Omegas in all."""
        return self.hardware_omegas + self.software_omegas

    @property
    def error(self) -> Floats:
        """The hardware's maximum over the scan's, minus 1; 0 where both are 0, infinite where only the scan's is."""
        return _over(self.omega, self.scan.omega)

    @property
    def loss(self) -> Floats:
        """What the hardware's place costs: 1 minus omega in float64 of its window over the scan's maximum.

        0 where the scan's maximum is 0 and where both have the same window.
        """
        loss = -_over(self.window_omega, self.scan.omega)
        return np.where(self.same_window | (self.scan.omega == 0), 0.0, loss)

    @property
    def same_window(self) -> Flags:
        """Whether both have the same borders in bp, or both none."""
        hardware, scan = self.omega > 0, self.scan.omega > 0
        borders = (self.left == self.scan.left) & (self.right == self.scan.right)
        same: Flags = (hardware & scan & borders) | (~hardware & ~scan)
        return same

    @property
    def ties(self) -> Flags:
        """Whether the windows differ, but not what they are worth: the loss is 1e-6 at most."""
        return ~self.same_window & (self.scan.omega > 0) & (self.loss <= SAME)

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each grid position, with the names of `RUN_COLUMNS`; None where there is no such thing."""
        names = ("omega", "left", "right", "window_omega", "error", "same_window", "loss", "software")
        columns = {name: getattr(self, name).tolist() for name in names}
        rows = []
        for index, scanned in enumerate(self.scan.records()):
            one = {name: values[index] for name, values in columns.items()}
            there, found = scanned["omega"] is not None, one["omega"] > 0
            values = (
                scanned["chromosome"], scanned["replicate"], scanned["position"],
                one["omega"] if there else None, *((one["left"], one["right"]) if found else (None, None)),
                scanned["omega"], scanned["left"], scanned["right"],
                *((one["error"], one["same_window"], one["window_omega"], one["loss"]) if there else [None] * 4),
                ("remainder" if one["software"] else "lanes") if found else None,
            )  # fmt: skip
            rows.append(dict(zip(RUN_COLUMNS, values, strict=True)))
        return rows

    def summary(self) -> dict[str, Any]:
        """Return what the comparison comes to; see `oclgenomics.fpga.ScanRun.summary`."""
        scan = self.scan
        name = {"chromosome": scan.name, "replicate": scan.replicate, "sites": scan.sites}
        return name | {"haplotypes": scan.haplotypes} | summary_of([self])


def alignment_run(
    alignment: Alignment, scan: Scan, found: Mapping[int, PositionRun], discarded: Mapping[str, int]
) -> AlignmentRun:
    """Join the runs of grid positions, by their indices, with the scan."""
    grid = len(scan.positions)
    omega, window_omega = np.zeros(grid), np.zeros(grid)
    left, right = np.zeros(grid, np.int64), np.zeros(grid, np.int64)
    software = np.zeros(grid, np.bool_)
    for index, one in found.items():
        omega[index], window_omega[index], software[index] = one.omega, one.window_omega, one.software
        if one.left >= 0:
            left[index], right[index] = alignment.positions[[one.left, one.right]]
    return AlignmentRun(
        scan, omega, left, right, window_omega, software,
        sum(one.hardware_omegas for one in found.values()), sum(one.software_omegas for one in found.values()),
        discarded,
    )  # fmt: skip


def _over(found: Floats, true: Floats) -> Floats:
    """Relative difference; 0 of two zeros, infinite where only `true` is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(found == true, 0.0, found / true - 1)


def summary_of(runs: Sequence[AlignmentRun]) -> dict[str, Any]:
    """Return what the comparison of some alignments comes to; see `oclgenomics.fpga.ScanRun.summary`."""

    def joined(name: str) -> NDArray[Any]:
        parts = [getattr(one, name)[one.scan.valid] for one in runs]
        return np.concatenate([*parts, np.zeros(0)])

    places = [
        (one.scan.name, one.scan.replicate, float(at)) for one in runs for at in one.scan.positions[one.scan.valid]
    ]
    error, loss, hardware = np.abs(joined("error")), joined("loss"), joined("omega")
    scanned = np.concatenate([*(one.scan.omega[one.scan.valid] for one in runs), np.zeros(0)])
    top = min(TOP, int(np.count_nonzero(scanned)))
    first, second = (np.argsort(-values, kind="stable")[:top] for values in (scanned, hardware))
    return {
        "positions": len(places),
        "omegas": sum(one.omegas for one in runs),
        "software_omegas": sum(one.software_omegas for one in runs),
        "median_error": float(np.median(error)) if len(places) else 0.0,
        "largest_error": float(error.max(initial=0.0)),
        "largest_error_at": places[int(np.argmax(error))] if error.any() else None,
        "largest_window_error": float(np.abs(_over(hardware, joined("window_omega"))).max(initial=0.0)),
        "other_windows": int(np.count_nonzero(joined("same_window") == 0)),
        "ties": int(np.count_nonzero(joined("ties"))),
        "greatest_loss": float(loss.max(initial=0.0)),
        "greatest_loss_at": places[int(np.argmax(loss))] if (loss > 0).any() else None,
        "from_remainder": int(np.count_nonzero(joined("software"))),
        "top": top,
        "top_kept": len(set(first.tolist()) & set(second.tolist())),
        "same_peak": bool(top == 0 or first[0] == second[0]),
    }
