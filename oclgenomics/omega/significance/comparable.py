"""Whether the omegas of a scan can be compared with those of neutral replicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oclgenomics.errors import UsageError
from oclgenomics.omega.reports.reading import OmegaReport, Track
from oclgenomics.omega.significance.neutral import Significance

__all__ = ["check_comparable", "comparison_warnings"]

MUST_AGREE = ("minwin", "maxwin", "minsnps", "border", "ld")  # with any other value omega is another statistic
SHOULD_AGREE = ("maf", "no_singletons", "precision")
LIKE_SPACING = 1.5  # between grids whose maxima can be compared
LIKE_LENGTH = 1.2


def check_comparable(given: Mapping[str, Any], parameters: Mapping[str, Any], what: str, thresholds: str) -> None:
    """Refuse to compare omegas of different windows or LD measures.

    Parameters
    ----------
    given : mapping of str to object
        Options of the scan of the neutral replicates (`Significance.scan`).
    parameters : mapping of str to object
        Those of the scan that is judged; what is not known is not compared.
    what : str
        Name of that scan in the message.
    thresholds : str
        Name of the thresholds there.

    Raises
    ------
    UsageError
        The thresholds belong to a scan with other parameters.
    """
    for name in MUST_AGREE:
        ours, theirs = parameters.get(name), given.get(name)
        if ours is not None and theirs is not None and str(ours) != str(theirs):
            raise UsageError(
                f"{thresholds}: its replicates were scanned with `{name}={theirs}`, and {what} with `{name}={ours}`; "
                "scan both with the same options"
            )


def comparison_warnings(given: Significance, report: OmegaReport) -> list[str]:
    """What makes the omegas of a report differ from those of neutral replicates, or a rate mean something else."""
    said = []
    for name in SHOULD_AGREE:
        ours, theirs = report.parameters.get(name), given.scan.get(name)
        if ours is not None and theirs is not None and str(ours) != str(theirs):
            said.append(f"the replicates were scanned with {name} {theirs}, {report.source} with {ours}")
    longest = max(report.tracks, key=_span, default=None)
    grid = given.scan.get("grid")
    if longest is None or len(longest.positions) < 2 or given.length is None or grid is None:
        return said
    ours, theirs = _span(longest) / (len(longest.positions) - 1), given.length / (int(grid) - 1)
    if ours and not 1 / LIKE_SPACING < ours / theirs < LIKE_SPACING:
        said.append(
            f"grid positions are {ours:,.0f} bp apart in {report.source} and {theirs:,.0f} bp in the replicates; "
            "a denser grid finds larger maxima"
        )
    total = sum(_span(track) for track in report.tracks)
    if total > LIKE_LENGTH * given.length:
        said.append(
            f"rates and p-values are those of a stretch of {given.length:,} bp; {report.source} holds about "
            f"{total / given.length:,.1f} of them"
        )
    return said


def _span(track: Track) -> float:
    return float(track.positions[-1] - track.positions[0]) if len(track.positions) else 0.0
