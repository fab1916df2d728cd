"""Whether the omegas of a scan can be compared with those of neutral replicates.

Omegas grow with the number of haplotypes, with the density of sites and with that of the grid, shrink where genotypes
take the place of haplotypes, and are different numbers under other windows, filters or measures of LD. A threshold that
was made for other data is refused, so that no decision rests on it. How far continuous facts may differ was simulated:
see `docs/omega.md`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oclgenomics.errors import UsageError
from oclgenomics.omega.options import MISSING_NAMES
from oclgenomics.omega.result import Track
from oclgenomics.omega.significance.facts import Compared, ComparedFact, NullFacts, grid_spacing, shown, site_density
from oclgenomics.omega.significance.thresholds import Significance

MUST_AGREE = ("minwin", "maxwin", "minsnps", "border", "ld", "maf", "no_singletons")  # else omega is another statistic
LIKE_DENSITY = 1.1
LIKE_SPACING = 1.15
LIKE_MISSING = 0.05
LIKE_MASKED = 0.1
LIKE_LENGTH = 1.2
PHASES = {True: "unphased genotypes", False: "phased haplotypes", None: "both phased and unphased data"}


def check_options(given: Mapping[str, Any], parameters: Mapping[str, Any], what: str, thresholds: str) -> None:
    """Refuse to compare omegas of different windows, filters or LD measures.

    Parameters
    ----------
    given : mapping of str to object
        Options of the scan of the neutral replicates (`Significance.scan`).
    parameters : mapping of str to object
        Those of the scan that is judged, as values or as words.
    what : str
        Name of that scan in the message.
    thresholds : str
        Name of the thresholds there.

    Raises
    ------
    UsageError
        The thresholds belong to a scan with other parameters, or one of the two does not tell its own.
    """
    for name in MUST_AGREE:
        for values, whose in ((parameters, what), (given, thresholds)):
            if values.get(name) is None:
                raise UsageError(f"{whose} does not tell with which `{name}` was scanned; make it again")
        ours, theirs = parameters[name], given[name]
        if _value(ours) != _value(theirs):
            raise UsageError(
                f"{thresholds}: its replicates were scanned with `{name}={theirs}`, and {what} with `{name}={ours}`; "
                "scan both with the same options"
            )


def compare(given: Significance, tracks: Sequence[Track], what: str = "the scan", thresholds: str = "") -> Compared:
    """Compare the scans of an input with neutral replicates.

    Parameters
    ----------
    given : Significance
    tracks : sequence of Track
        Those without any position are passed over.
    what : str
        Name of the scans in messages.
    thresholds : str
        Name of the thresholds there; their file if not given.

    Raises
    ------
    UsageError
        Thresholds of these replicates do not hold for this scan.
    """
    thresholds = thresholds or given.source or "the thresholds"
    for track in tracks:
        check_options(given.scan, track.parameters, what, thresholds)
    scanned = [track for track in tracks if len(track.positions) > 1]
    null = given.data
    if null is None:
        raise UsageError(f"{thresholds} does not tell what data its replicates were; make it again")
    if any(track.data is None for track in scanned):
        raise UsageError(f"{what} does not tell what data were scanned; scan them again")
    for track in scanned:
        _check_data(null, track, what, thresholds)
        _check_draws(given.scan, null, track, what, thresholds)
    facts = tuple(_compared_facts(given, null, scanned)) if scanned else ()
    return Compared(facts, tuple(_warnings(given, scanned, what)))


def check_alike(tracks: Sequence[Track], what: str) -> None:
    """Refuse scans that need thresholds of their own.

    Raises
    ------
    UsageError
        They differ in haplotypes, phase or the density of sites.
    """
    first = tracks[0]
    for track in tracks:
        assert first.data is not None
        assert track.data is not None
        alike = (first.data.haplotypes, first.data.genotypes) == (track.data.haplotypes, track.data.genotypes)
        if not (alike and _alike(site_density(track), site_density(first), LIKE_DENSITY**2)):
            told = [
                f"{one.name}: {one.data.haplotypes:,} haplotypes, {'un' * one.data.genotypes}phased, "
                f"{1000 * site_density(one):.4g} sites per kb"
                for one in (first, track)
                if one.data is not None
            ]
            raise UsageError(
                f"{what}: holds alignments that need thresholds of their own ({'; '.join(told)}); scan them into one "
                "report each (--reports)"
            )


def check_sweeps(null: NullFacts, sweeps: NullFacts, what: str) -> str | None:
    """Refuse to judge sweeps by thresholds of other data; returns a warning, if there is one.

    Sweeps may have fewer sites than neutral replicates, as they take variants away.

    Parameters
    ----------
    null, sweeps : NullFacts
        Of neutral replicates, and of replicates with a sweep.
    what : str
        Name of the latter in messages.

    Raises
    ------
    UsageError
        They differ in haplotypes, phase, missing states, excluded regions, grid, or have more sites.
    """

    def words(facts: NullFacts) -> list[tuple[str, bool]]:
        """Each fact, and whether it is like that of the neutral replicates."""
        fewest, most, more = facts.fewest_haplotypes, facts.haplotypes, LIKE_DENSITY * null.most_density
        same = (fewest, most) == (null.fewest_haplotypes, null.haplotypes)
        return [
            (f"{shown(_range([fewest, most]))} haplotypes", same),
            (PHASES[facts.genotypes], facts.genotypes == null.genotypes),
            (f"{100 * facts.missing:.1f} % of the states missing", abs(facts.missing - null.missing) <= LIKE_MISSING),
            (f"{100 * facts.masked:.1f} % of the bp excluded", abs(facts.masked - null.masked) <= LIKE_MASKED),
            (f"{1000 * facts.density:.4g} sites per kb", facts.density <= more),
            (f"positions {facts.spacing:,.0f} bp apart", _alike(facts.spacing, null.spacing, LIKE_SPACING)),
        ]

    for (ours, like), (theirs, _) in zip(words(sweeps), words(null), strict=True):
        if not like:
            raise UsageError(
                f"{what}: has {ours}, and the neutral replicates have {theirs}, for which thresholds are others; make "
                "both alike"
            )
    if _alike(sweeps.density, null.density, LIKE_DENSITY):
        return None
    ours, theirs = (f"{1000 * facts.density:.4g}" for facts in (sweeps, null))
    return f"{what} has {ours} sites per kb, and thresholds are those of neutral replicates with {theirs}"


def _check_data(null: NullFacts, track: Track, what: str, thresholds: str) -> None:
    """Refuse an alignment whose data are unlike the replicates."""
    data, density, spacing = track.data, site_density(track), grid_spacing(track)
    assert data is not None
    known = null.least_density <= density <= null.most_density or _alike(density, null.density, LIKE_DENSITY)
    checks = (
        (
            null.fewest_haplotypes == null.haplotypes == data.haplotypes,
            f"{shown(_range([null.fewest_haplotypes, null.haplotypes]))} haplotypes", f"{data.haplotypes:,}", "samples",
        ),
        (null.genotypes is data.genotypes, PHASES[null.genotypes], PHASES[data.genotypes], "genotypes"),
        (
            abs(data.missing - null.missing) <= LIKE_MISSING,
            f"{100 * null.missing:.1f} % of the states missing", f"{100 * data.missing:.1f} %", "missing",
        ),
        (
            abs(data.masked - null.masked) <= LIKE_MASKED,
            f"{100 * null.masked:.1f} % of the bp excluded", f"{100 * data.masked:.1f} %", "exclude",
        ),
        (known, f"{1000 * null.density:.4g} sites per kb", f"{1000 * density:.4g}", "sites"),
        (
            _alike(spacing, null.spacing, LIKE_SPACING),
            f"grid positions {null.spacing:,.0f} bp apart", f"{spacing:,.0f} bp", "grid",
        ),
    )  # fmt: skip
    for alike, theirs, ours, option in checks:
        if not alike:
            raise UsageError(
                f"{thresholds}: its replicates have {theirs}, {what} ({track.name}) has {ours}, for which the "
                f"threshold is another; make one with `omega threshold --scan REPORT`, which takes `{option}` from the "
                "scan"
            )


def _check_draws(given: Mapping[str, Any], null: NullFacts, track: Track, what: str, thresholds: str) -> None:
    """Missing states that were filled in by draws lower LD; those that were left out do not."""
    assert track.data is not None
    if not (null.missing or track.data.missing):
        return
    ours, theirs = (_imputed(values.get("impute")) for values in (track.parameters, given))
    if ours != theirs:
        words = [", ".join(sorted(one)) or "nothing" for one in (theirs, ours)]
        raise UsageError(
            f"{thresholds}: its replicates were scanned with `impute` of {words[0]}, and {what} of {words[1]}; scan "
            "both with the same options"
        )


def _imputed(value: Any) -> frozenset[str]:
    words = value.split() if isinstance(value, str) else value or ()
    return frozenset(str(MISSING_NAMES.get(str(word).upper(), word)) for word in words)


def _compared_facts(given: Significance, null: NullFacts, tracks: Sequence[Track]) -> Iterator[ComparedFact]:
    data = [track.data for track in tracks if track.data is not None]
    yield ComparedFact("haplotypes", data[0].haplotypes, null.haplotypes)
    yield ComparedFact("genotypes", data[0].genotypes, null.genotypes)
    ours = _range([round(1000 * site_density(track), 6) for track in tracks])
    close = f"within a factor of {LIKE_DENSITY:g} of the mean, or in the replicates' range"
    yield ComparedFact("sites per kb", ours, round(1000 * null.density, 6), close)
    ours = _range([round(grid_spacing(track), 3) for track in tracks])
    yield ComparedFact("bp between positions", ours, round(null.spacing, 3), f"within a factor of {LIKE_SPACING:g}")
    for name, limit in (("missing", LIKE_MISSING), ("masked", LIKE_MASKED)):
        ours = _range([getattr(one, name) for one in data])
        yield ComparedFact(name, ours, round(getattr(null, name), 6), f"{limit:g} apart at most")
    for name in MUST_AGREE:
        yield ComparedFact(name, given.scan[name], given.scan[name])


def _warnings(given: Significance, tracks: Sequence[Track], what: str) -> Iterator[str]:
    """What makes omegas differ a little, or a rate mean something else."""
    ours, theirs = {str(track.parameters.get("precision")) for track in tracks}, str(given.scan.get("precision"))
    if tracks and ours != {theirs}:
        yield f"the replicates were scanned with precision {theirs}, {what} with {', '.join(sorted(ours))}"
    if any(track.parameters.get("phase") == "ignore" for track in tracks):
        yield (
            f"{what} took the alleles of unphased calls in the order in which they are (--phase ignore): if that is "
            "no phase, its omegas are lower than those of phased replicates"
        )
    yield from _density_warnings(given.data, tracks, what)
    if given.length is None:
        return
    total = sum(float(track.positions[-1] - track.positions[0]) for track in tracks)
    if total > LIKE_LENGTH * given.length:
        yield (
            f"rates and p-values are those of a stretch of {given.length:,} bp; {what} holds about "
            f"{total / given.length:,.1f} of them"
        )


def _density_warnings(null: NullFacts | None, tracks: Sequence[Track], what: str) -> Iterator[str]:
    """Densities that only some of the replicates have: for these alone the threshold may be another."""
    if null is None or all(_alike(site_density(track), null.density, LIKE_DENSITY) for track in tracks):
        return
    ours, theirs = (
        shown(_range([float(f"{1000 * value:.4g}") for value in values]))
        for values in ([site_density(track) for track in tracks], [null.least_density, null.most_density])
    )
    yield (
        f"{what} has {ours} sites per kb, which is within the range of the replicates ({theirs}), but far from their "
        f"mean ({1000 * null.density:.4g}): rates are those of the whole range, and others for this density alone"
    )


def _alike(ours: float, theirs: float, factor: float) -> bool:
    """Whether one is at most so many times the other; what is not known is not alike."""
    return theirs > 0 and not math.isnan(ours) and 1 / factor <= ours / theirs <= factor


def _range(values: Sequence[Any]) -> Any:
    """The value of all, or the smallest and the largest."""
    return values[0] if min(values) == max(values) else [min(values), max(values)]


def _value(value: Any) -> Any:
    """A number as a number, whether it was read as a word or not; other values as words."""
    try:
        return str(value) if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return str(value)
