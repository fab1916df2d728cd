"""What neutral replicates have to be like: options of `omega threshold`, and what a scan's report says of them."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oclgenomics import omega
from oclgenomics.app.commands import FromReport, say
from oclgenomics.app.files import reads
from oclgenomics.errors import InputError, UsageError
from oclgenomics.omega import significance, sites

if TYPE_CHECKING:
    from oclgenomics.variation import BedRegions


SCAN_OPTIONS = {
    "minsnps": (int, 5), "border": (int, -1), "ld": (str, "RSQUARE"), "maf": (float, 0.0),
    "precision": (str, "accurate"),
}  # fmt: skip
WINDOWS = ("minwin", "maxwin")


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add how replicates are observed, and have the options of the scan come from its report."""
    group = parser.add_argument_group("how the replicates are observed (default: as --scan says)")
    group.add_argument(
        "--genotypes", action="store_true", default=None,
        help="combine pairs of haplotypes to samples without phase, and scan genotypes",
    )  # fmt: skip
    group.add_argument("--missing", type=float, metavar="F", help="share of calls made missing at random")
    regions = group.add_argument(
        "--exclude", metavar="BED", help="leave out the sites within these regions, on the chromosome of --scan"
    )
    reads(regions)
    parser.set_defaults(
        no_singletons=None, impute=None,
        **{name: FromReport(f"as --scan says, else {value}", value) for name, (_, value) in SCAN_OPTIONS.items()},
    )  # fmt: skip


@dataclass(frozen=True)
class NullData:
    """How replicates are observed.

    Attributes
    ----------
    observation : Observation
    exclude : BedRegions, optional
    haplotypes : int, optional
        Of the scan that is judged.
    """

    observation: significance.Observation
    exclude: BedRegions | None
    haplotypes: int | None


def settle_defaults(args: argparse.Namespace, report: omega.OmegaReport | None) -> NullData:
    """Fill in the options that are not given: from the report, if there is one.

    Raises
    ------
    UsageError
        The report does not tell, holds alignments that need thresholds of their own, or contradicts an option.
    InputError
        The excluded regions cannot be read.
    """
    recorded = {} if report is None else report.parameters
    _settle_scan_options(args, recorded, "" if report is None else report.source)
    if report is None:
        _need_windows(args)
        exclude = sites.regions_of(args.exclude)
        seed = args.seed or 1
        chromosome = "" if exclude is None else _only_name(exclude, args.exclude)
        observed = significance.Observation(bool(args.genotypes), args.missing or 0.0, chromosome, seed=seed)
        return NullData(observed, exclude, None)
    track = _one_kind(report)
    taken = _take_data(args, track, recorded)
    exclude = sites.regions_of(args.exclude)
    taken += _take_size(args, track)
    if taken:
        say(args, f"taken from {report.source}: {' '.join(taken)}")
    _need_windows(args)
    chromosome, first, room = "", 1, 0
    if exclude is not None:
        chromosome, whole = track.name, int(_length(track))
        first = max(1, round(float(track.positions[0]) - _length(track) / (_facts(track).sites + 1)))
        room = 0 if args.length is None else max(0, whole - args.length)
    observed = significance.Observation(args.genotypes, args.missing, chromosome, first, room, args.seed or 1)
    return NullData(observed, exclude, _facts(track).haplotypes)


def _settle_scan_options(args: argparse.Namespace, recorded: Any, source: str) -> None:
    """The options of the scan; those that are given and contradict the report are refused when all are compared."""
    try:
        for name, (kind, default) in SCAN_OPTIONS.items():
            if isinstance(getattr(args, name), FromReport):
                known = recorded.get(name)
                setattr(args, name, default if known is None else kind(known))
        for name in WINDOWS:
            if getattr(args, name) is None and recorded.get(name) is not None:
                setattr(args, name, int(recorded[name]))
    except (TypeError, ValueError):
        raise InputError(f"its `{name}` is no value of the option; scan the data again", source=source) from None
    if args.no_singletons is None:
        args.no_singletons = str(recorded.get("no_singletons")) == "True"
    if args.impute is None:
        known = recorded.get("impute") or []
        args.impute = known.split() if isinstance(known, str) else list(known)


def _need_windows(args: argparse.Namespace) -> None:
    for name in ("grid", *WINDOWS):
        if getattr(args, name) is None:
            raise UsageError(f"give --{name}, or --scan REPORT, which tells it")


def _only_name(exclude: BedRegions, path: str) -> str:
    if len(exclude.names) != 1:
        raise UsageError(
            f"--exclude {path}: names {len(exclude.names):,} chromosomes, and nothing says which of them the "
            "replicates simulate; give --scan REPORT"
        )
    return exclude.names[0]


def _one_kind(report: omega.OmegaReport) -> omega.Track:
    """The longest alignment of a report in which all need the same threshold.

    Raises
    ------
    UsageError
        They do not, or the report does not tell.
    """
    tracks = [track for track in report if len(track.positions) > 1]
    if not tracks:
        raise UsageError(f"--scan {report.source}: holds no alignment with any position")
    if any(track.data is None for track in tracks):
        raise UsageError(f"--scan {report.source}: does not tell what data were scanned; scan them again")
    significance.check_alike(tracks, f"--scan {report.source}")
    return max(tracks, key=_length)


def _facts(track: omega.Track) -> Any:
    assert track.data is not None
    return track.data


def _length(track: omega.Track) -> float:
    """Bp of a region whose first and last site these are, on average."""
    found = int(_facts(track).sites)
    return float(track.positions[-1] - track.positions[0]) * (found + 1) / max(found - 1, 1)


def _take_data(args: argparse.Namespace, track: omega.Track, recorded: Any) -> list[str]:
    """How data are observed, from the report; what was taken, as words."""
    facts, taken = _facts(track), []
    if args.genotypes is None:
        args.genotypes = facts.genotypes
        taken += ["--genotypes"] * facts.genotypes
    if args.missing is None:
        args.missing = facts.missing
        taken += [f"--missing {facts.missing:.4g}"] * (facts.missing > 0)
    known = recorded.get("exclude")
    if args.exclude is None and facts.masked and known not in (None, "None"):
        if not os.path.exists(known):
            raise UsageError(f"the scan left out the regions of {known}, which is not there; name it by --exclude")
        args.exclude = known
        taken.append(f"--exclude {known}")
    return taken


def _take_size(args: argparse.Namespace, track: omega.Track) -> list[str]:
    """Grid, length, haplotypes and sites, from the report; what was taken, as words."""
    facts, taken = _facts(track), []
    density = significance.site_density(track)
    whole = args.length is None or args.input is not None
    if args.input is None and args.length is None:
        args.length = round(_length(track))
        taken.append(f"--length {args.length}")
    if args.grid is None:
        stretch = 0.0 if args.length is None else args.length - 2 / density
        args.grid = len(track.positions) if whole else max(2, 1 + round(stretch / significance.grid_spacing(track)))
        taken.append(f"--grid {args.grid}")
    if args.input is not None:
        return taken
    if args.samples is None:
        args.samples = facts.haplotypes
        taken.append(f"--samples {args.samples}")
    if args.sites is None and args.theta is None and args.mutation_rate is None:
        seen = density * args.length - 1
        args.sites = max(0, round(seen / max(1 - facts.masked, 0.01)))
        taken.append(f"--sites {args.sites}")
    return taken
