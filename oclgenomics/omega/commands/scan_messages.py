"""What `oclgenomics omega scan` tells on the way: progress, a line for each alignment, totals and warnings."""

from __future__ import annotations

import argparse

from oclgenomics.app.commands import say
from oclgenomics.app.inputs import say_haploid, say_unphased
from oclgenomics.app.progress import Progress
from oclgenomics.omega.formats.scans import summary_line
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import Scan
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import BedRegions

__all__ = ["SHOWN_ALIGNMENTS", "ScanMessages"]

SHOWN_ALIGNMENTS = 20  # told of on standard error without -v


class ScanMessages:
    """Tells how a scan goes and what it finds; `omega.scan` calls `alignment` and `result`.

    Parameters
    ----------
    args : Namespace
    options : ScanOptions

    Attributes
    ----------
    progress : Progress
        Of reading until an alignment is there, then of its scan.
    replicates : bool
        Whether the alignments are simulated data: one region many times.
    """

    def __init__(self, args: argparse.Namespace, options: ScanOptions) -> None:
        self._args, self._options = args, options
        self.progress = Progress(enabled=not args.quiet)
        self.progress.stage("reading", "MB", 1e6)
        self._batch: list[str] = []  # names of the alignments at work
        self._read = self._scanned = self._positions = self._scores = self._without_omega = 0
        self._seconds = 0.0
        self._names: set[str] = set()
        self.replicates = False

    def alignment(self, alignment: Alignment) -> None:
        """Tell what is odd about an alignment before it is scanned."""
        self.progress.clear()
        self.replicates = alignment.alphabet == "binary"
        self._batch.append(alignment.name)
        self._read += 1
        if self._read <= SHOWN_ALIGNMENTS or self._args.verbose:
            say_unphased(self._args, alignment)
            say_haploid(self._args, alignment)
        names = self._batch[:1] + self._batch[1:][-1:]
        self.progress.stage(f"scanning {' to '.join(names)}", "positions")

    def result(self, scan: Scan) -> None:
        """Tell of a scan and count it."""
        self.progress.clear()
        self._batch = []
        self._scanned += 1
        self._positions += len(scan.positions)
        self._scores += scan.stats.scores
        self._without_omega += scan.best is None
        self._seconds += scan.stats.seconds
        self._names.add(scan.name)
        self._say_scan(scan, level=0 if self._scanned <= SHOWN_ALIGNMENTS else 1)
        self.progress.stage("reading", "MB", 1e6)

    def _say_scan(self, scan: Scan, level: int) -> None:
        warning = "warning: " * (scan.best is None)
        say(self._args, f"{warning}{summary_line(scan)}; {scan.stats.seconds:.2f} s", level)
        if scan.maxwin < self._options.maxwin:
            why = "compat precision allows 10,000 sites in a window"
            say(self._args, f"{scan.name}: --maxwin narrowed to {scan.maxwin:,} bp, as {why}", level)
        work = f"{scan.stats.pairs:,} pairs of sites, {scan.stats.scores:,} omegas"
        say(self._args, f"{scan.name}: {work}", max(level, 1))

    def totals(self) -> None:
        """Tell what all scans together came to."""
        if self._scanned > SHOWN_ALIGNMENTS and not self._args.verbose:
            say(self._args, f"... and {self._scanned - SHOWN_ALIGNMENTS:,} more alignments (-v shows them)")
        if self._without_omega:
            say(
                self._args,
                f"warning: {self._without_omega:,} of {self._scanned:,} alignments have no omega at all: fewer than 4 "
                "sites are left, or no window holds enough of them",
            )
        rate = self._scores / self._seconds / 1e6 if self._seconds else 0.0
        say(
            self._args,
            f"{self._scanned:,} alignment{'s' * (self._scanned != 1)}, {self._positions:,} positions, "
            f"{self._scores:,} omegas in {self._seconds:.2f} s ({rate:,.1f} million/s)",
        )

    def excluded(self, exclude: BedRegions | None) -> None:
        """Warn where --exclude names no chromosome of the input."""
        if exclude is None or self._names & set(exclude.names):
            return
        theirs = ", ".join(exclude.names[:3]) or "none"
        ours = ", ".join(sorted(self._names)[:3])
        missed = f"no chromosome of the input ({ours}) is named there ({theirs})"
        say(self._args, f"warning: --exclude {self._args.exclude}: {missed}")
