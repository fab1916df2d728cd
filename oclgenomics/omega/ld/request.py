"""What a map of linkage disequilibrium shows and reads: a peak or a region, and the sites as the scan filtered them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.raw_file import Progress
from oclgenomics.omega.ld.region import GridPoint, LdRegion, choose_peak, choose_position, plain_region, window_region
from oclgenomics.omega.options import MISSING_NAMES, LdOptions, ScanOptions, missing_states
from oclgenomics.omega.result import OmegaReport
from oclgenomics.omega.sites.filters import filter_alignment
from oclgenomics.variation import Alignment, ReadOptions
from oclgenomics.variation.sources import AlignmentSource, open_alignments, regions_of

RECORDED = (
    "length", "input_format", "phase", "samples", "exclude", "maf", "no_singletons", "binary", "impute", "seed",
)  # fmt: skip
KINDS: dict[str, tuple[type, ...]] = {
    "length": (int,), "seed": (int,), "maf": (int, float), "no_singletons": (bool,), "binary": (bool,),
    "impute": (list,),
}  # fmt: skip
FREE_IF_NONE = ("length", "input_format", "seed")  # one may be given where the report records none
FILES = ("samples", "exclude")  # they may have moved since
WORDS = {"None": None, "True": True, "False": False}
DEFAULTS: dict[str, Any] = {"phase": "auto", "maf": 0.0, "no_singletons": False, "binary": False, "impute": []}


@dataclass(frozen=True)
class MapRequest:
    """What to read and to show.

    Attributes
    ----------
    options : LdOptions
    report : OmegaReport or None
    point : GridPoint or None
        Of the window, if there is one.
    scan : ScanOptions
        Filters of the sites, and measure and precision of the scan.
    values : dict of str to object
        Of `as_scanned`: how the input is read and filtered.
    read : str or None
        The region that the scan read, as `ReadOptions.region`.
    """

    options: LdOptions
    report: OmegaReport | None
    point: GridPoint | None
    scan: ScanOptions
    values: Mapping[str, Any]
    read: str | None = None

    @property
    def chromosome(self) -> str:
        """Name of the chromosome or replicate."""
        if self.point is not None:
            return self.point.track.name
        assert self.options.region is not None
        return self.options.region[0]

    @property
    def replicate(self) -> int | None:
        """Place in the input, where the report has several alignments of the name."""
        if self.report is None or self.point is None:
            return None
        several = sum(track.name == self.chromosome for track in self.report.tracks) > 1
        return self.point.track.replicate if several else None

    @property
    def reading(self) -> ReadOptions:
        """What is read of a file."""
        found = self.values
        return ReadOptions(
            length=found["length"], format=found["input_format"], samples=found["samples"], phase=found["phase"],
            region=self.read,
        )  # fmt: skip


def request_map(options: LdOptions, report: OmegaReport | None, given: Mapping[str, Any]) -> MapRequest:
    """Find the peak and settle how the input is read.

    Parameters
    ----------
    options : LdOptions
    report : OmegaReport, optional
        Of the scan that the options name.
    given : mapping of str to object
        As for `as_scanned`, the filters being in `options`, and "region", as `ReadOptions` has it.
    """
    point = None
    if report is not None:
        point = choose_position(report, *options.at) if options.at else choose_peak(report, options.peak or 1)
    filters = {name: getattr(options, name) for name in ("maf", "no_singletons", "binary", "seed")}
    impute = None if options.impute is None else sorted(options.impute)
    values = as_scanned(report, {**filters, "impute": impute, **given})
    recorded = {} if report is None else report.parameters
    scan = ScanOptions(  # grid and windows do not matter
        ld=recorded.get("ld", "RSQUARE"),
        precision=recorded.get("precision", "accurate"),
        impute=missing_states(values["impute"]),
        **{name: values[name] for name in filters},
    )
    read = given.get("region")
    if report is not None and "region" in recorded:
        read = _agreed("region", read, _value("region", recorded["region"], report.source), report.source)
    return MapRequest(options, report, point, scan, values, read)


def read_region(
    source: AlignmentSource,
    request: MapRequest,
    *,
    threads: int | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    progress: Progress | None = None,
) -> LdRegion:
    """Read an input up to the chromosome asked for, and return the sites to show, filtered as the scan did.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
    request : MapRequest
    threads : int, optional
    on_alignment : callable, optional
        Called with the alignment as it was read.
    progress : callable, optional
        Called with (bytes read, bytes in all if known).

    Raises
    ------
    InputError
        There is no such chromosome, or the report is not of this input.
    """
    alignment = _chosen(source, request, threads, progress)
    if on_alignment is not None:
        on_alignment(alignment)
    filtered = filter_alignment(alignment, request.scan, regions_of(request.values["exclude"])).alignment
    if request.point is None:
        assert request.options.region is not None
        return plain_region(filtered, *request.options.region[1:])
    compat = request.scan.precision == "compat"
    return window_region(filtered, request.point, request.options.margin, compat=compat)


def _chosen(source: AlignmentSource, request: MapRequest, threads: int | None, progress: Progress | None) -> Alignment:
    """The alignment of the chromosome asked for."""
    names: list[str] = []
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "the input"
    alignments = open_alignments(source, request.reading, threads=threads, progress=progress)
    with closing(alignments):
        for alignment in alignments:
            if alignment.name == request.chromosome and request.replicate in (None, alignment.replicate):
                return alignment
            names.append(alignment.name)
    shown = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    raise InputError(f"holds no chromosome or replicate {request.chromosome} (but {shown or 'nothing'})", source=name)


# How the scan read and filtered its input, from its report: a map of the same sites has to do the same.


def as_scanned(report: OmegaReport | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a scan that say which sites it used.

    Parameters
    ----------
    report : OmegaReport, optional
        Of the scan; without one all is as given, or by default.
    given : mapping of str to object
        Those of `RECORDED` that are given again; None is not given. `impute` is a list.

    Returns
    -------
    dict of str to object
        All of `RECORDED`.

    Raises
    ------
    ParameterError
        What is given is not what the report records.
    InputError
        The report records something that is no value of the parameter.
    """
    recorded = {} if report is None else report.parameters
    found = {}
    for name in RECORDED:
        value = given.get(name)
        if report is not None and name in recorded:
            value = _agreed(name, value, _value(name, recorded[name], report.source), report.source)
        found[name] = DEFAULTS.get(name) if value is None else value
    return found


def _agreed(name: str, given: Any, known: Any, report: str) -> Any:
    """The value of a parameter that a report records; the same, if it is given again."""
    if given is None or (known is None and name in FREE_IF_NONE):
        return known if given is None else given
    if name in FILES and known is not None:
        return given
    same = _states(given) == _states(known) if name == "impute" else given == known
    if not same:
        theirs = f"without `{name}`" if not known else f"with `{name}={_text(known)}`"
        raise ParameterError(name, f"the scan of {report} was made {theirs}; leave the option out", _text(given))
    return given


def _states(words: list[str]) -> set[str]:
    return {MISSING_NAMES.get(word.upper(), word) for word in words}


def _text(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value


def _value(name: str, recorded: Any, report: str) -> Any:
    """A recorded parameter as an option has it; a tsv report holds words.

    Raises
    ------
    InputError
        The report has something else there.
    """
    value, kinds = recorded, KINDS.get(name, (str,))
    if isinstance(value, str) and name == "impute":
        value = value.split()
    elif isinstance(value, str) and value in WORDS:
        value = WORDS[value]
    elif isinstance(value, str) and kinds != (str,):
        value = _number(value)
    listed = value if isinstance(value, list) else []
    if value is not None and (type(value) not in kinds or not all(isinstance(word, str) for word in listed)):
        raise InputError(f"{str(recorded)[:40]!r} is no {name} of a scan", source=report)
    return value


def _number(text: str) -> float | str:
    """A number, whole if it is written so; the text itself if it is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
