"""The totals of scans by every accounting, and beside those of the paper where it has the same data set."""

from __future__ import annotations

from collections.abc import Sequence

from hls_model.paper.table3 import published_seconds
from hls_model.project import ACCOUNTINGS, Accounting, Projection, total_ranges
from hls_model.text import range_text, seconds_text

__all__ = ["TITLES", "other_accounting", "other_total", "total_headers", "totals_note"]

TITLES: dict[Accounting, str] = {"design": "as designed", "paper": "as the paper counts"}


def other_accounting(accounting: Accounting) -> Accounting:
    """Return the accounting that a projection does not count by."""
    return "design" if accounting == "paper" else "paper"


def total_headers(accounting: Accounting) -> tuple[str, str]:
    """Return the heads of the columns of totals: that of the accounting, and that of the other one."""
    return "total", TITLES[other_accounting(accounting)]


def other_total(scans: Sequence[Projection]) -> str:
    """Return the total of the scans of one design, as text, by the accounting that they are not counted by."""
    seconds = total_ranges(list(scans)).get(f"seconds_{other_accounting(scans[0].accounting)}")
    return "does not fit" if seconds is None else range_text(seconds)


def totals_note(designs: Sequence[Sequence[Projection]]) -> str:
    """Return what the two totals count, and where the paper has the same scan how its own total lies to them.

    Parameters
    ----------
    designs : sequence of sequences of Projection
        Of each design, the scans that it does.
    """
    accounting = designs[0][0].accounting
    other = other_accounting(accounting)
    lines = [
        f"{TITLES[accounting]} (total): {ACCOUNTINGS[accounting]}",
        f"{TITLES[other]} (--accounting {other} shows its phases): {ACCOUNTINGS[other]}",
    ]
    return "\n".join([*lines, *(_beside_the_paper(one) for scans in designs for one in scans if _published(one))])


def _published(one: Projection) -> float | None:
    given = one.timing.config if one.given is None else one.given
    return published_seconds(one.timing.workload, given)


def _beside_the_paper(one: Projection) -> str:
    """Where the paper's total lies in the ranges; said for its own design and data sets alone."""
    published = _published(one)
    assert published is not None
    parts = [
        f"{'within' if seconds.holds(published) else 'outside'} {range_text(seconds)} {TITLES[name]}"
        for name, seconds in one.totals.items()
    ]
    return (
        f"{one.timing.config.name}: the rates of Table III of the paper make {seconds_text(published)} of this data "
        f"set, {' and '.join(parts)}"
    )
