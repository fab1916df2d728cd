"""What `oclgenomics omega threshold` tells on the way: progress, thresholds, detections, peaks and warnings."""

from __future__ import annotations

import argparse

import numpy as np

from oclgenomics.app.commands import say
from oclgenomics.app.inputs import say_unphased
from oclgenomics.app.progress import Progress
from oclgenomics.omega.commands.options import say_compared
from oclgenomics.omega.significance.neutral import Significance
from oclgenomics.omega.significance.sweeps import Localisation
from oclgenomics.omega.significance.thresholds import FEW_MAXIMA, replicates_for
from oclgenomics.variation.alignment import Alignment

__all__ = ["SignificanceMessages"]

SHOWN_ALIGNMENTS = 20  # of which unphased calls are told without -v
SHOWN_PEAKS = 3


class SignificanceMessages:
    """Tells how the replicates are scanned and what they say.

    Parameters
    ----------
    args : Namespace
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._progress = Progress(enabled=not args.quiet)
        self._total: int | None = None
        self._scanned = 0

    def begin(self, label: str, total: int | None) -> None:
        """Begin with other replicates, so many of them, if that is known."""
        self._progress.stage(label, "replicates")
        self._total, self._scanned = total, 0

    def progress(self, done: int, _total: int | None) -> None:
        """Show how many replicates have come."""
        self._progress.update(done, self._total)

    def alignment(self, alignment: Alignment) -> None:
        """Tell what is odd about a replicate before it is scanned."""
        self._scanned += 1
        made_so = self._args.genotypes or alignment.source == "simulation"
        if alignment.unphased_calls and not made_so and (self._scanned <= SHOWN_ALIGNMENTS or self._args.verbose):
            self._progress.clear()
            say_unphased(self._args, alignment)

    def thresholds(self, found: Significance) -> None:
        """Tell what the neutral replicates came to."""
        self._progress.clear()
        maxima = found.maxima
        say(
            self._args,
            f"{len(maxima):,} neutral replicates, {found.haplotypes:,} haplotypes, {found.mean_sites:,.0f} sites "
            f"on average; largest omega: median {np.median(maxima.omega):,.6g}, highest {maxima.omega.max():,.6g}",
        )
        nothing = int((maxima.omega == 0).sum())
        if nothing:
            say(self._args, f"warning: {nothing:,} replicates have no omega above 0 and count as 0")
        for one in found.thresholds:
            say(
                self._args,
                f"false-positive rate {one.fpr:g}: omega above {one.omega:,.6g} (rank {one.rank:,} of "
                f"{one.replicates:,} maxima; expected rate {one.expected_fpr:.4f}, standard deviation "
                f"{one.fpr_error:.4f})",
            )
            if one.rank < FEW_MAXIMA:
                enough = replicates_for(one.fpr, FEW_MAXIMA)
                few = f"--fpr {one.fpr:g} rests on few maxima; take {enough:,} replicates or more"
                say(self._args, f"warning: {few}")

    def sweeps(self, found: Significance) -> None:
        """Tell how many sweeps are detected, and where."""
        self._progress.clear()
        sweeps, args = found.sweeps, self._args
        assert sweeps is not None
        for one in sweeps.detection:
            close = one.detected_within
            near = "" if close is None else f", {close:,} within {args.within:,} bp of the site"
            detected = f"{one.detected:,} of {one.replicates:,} sweeps detected ({one.rate:.1%}){near}"
            say(args, f"false-positive rate {one.threshold.fpr:g}: {detected}")
        self._say_distance(sweeps.localisation)

    def _say_distance(self, distance: Localisation) -> None:
        if distance.mean is not None and distance.median is not None:
            say(
                self._args,
                f"distance from the site: mean {distance.mean:,.0f} bp, median {distance.median:,.0f} bp, "
                f"95 % within {distance.quantiles[0.95]:,.0f} bp",
            )

    def peaks(self, found: Significance) -> None:
        """Tell the p-values of the highest peaks, and what may make them something else."""
        if found.compared is not None:
            say_compared(self._args, found.compared)
        for peak in (found.peaks or ())[:SHOWN_PEAKS]:
            where = f"{peak.chromosome}: omega {peak.omega:,.6g} at {peak.position:,.0f} bp"
            say(self._args, f"{where}, p = {float(found.p_values(peak.omega)):.3g}")
        if not found.peaks:
            say(self._args, f"{self._args.scan} holds no omega above 0")
