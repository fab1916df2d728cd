"""Reports of scans, written while the scan goes on: a table, JSON, and RAiSD's own; the first two read back."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.multiqc import Content
from oclgenomics.app.provenance import provenance_lines
from oclgenomics.app.reports import MISSING, AlignmentsJson, Lines, Report, encoded, in_one_line
from oclgenomics.app.tracks import Track, scanned_line, stretch_lines
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.json_text import load_fields
from oclgenomics.io.number_text import rows_text
from oclgenomics.io.text_file import read_text
from oclgenomics.sweeps.options import JUDGED, LOW, STATISTICS
from oclgenomics.sweeps.result import LABELS, NOT_NEGATIVE, SCALES, VALUES, WINDOW_COLUMNS, Scan, Scans
from oclgenomics.sweeps.significance.combined import COMBINED_P
from oclgenomics.sweeps.significance.refinement import COARSE, FINE, columns_in_order
from oclgenomics.sweeps.sites.used import SweepFacts
from oclgenomics.sweeps.statistics.ehh import COMPARING, SCORES, SiteScores

ReportFormat = Literal["tsv", "raisd", "selscan", "json"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
GRID_COLUMN = "grid"  # of refined scans: coarse or fine
WINDOW_ARRAYS = ("positions", "start", "end", "window_sites")
FACTS_MARK = "# data: "  # of the line before an alignment's rows
RAISD_COLUMNS = ("mu_var", "mu_sfs", "mu_ld", "mu")
CRITICAL = 2.0  # of normalised scores, as in selscan
NOT_A_REPORT = "is no report of `sweeps scan` in the tsv or json format"


def scans_content(sample: str, scans: Sequence[Scan]) -> Content:
    """Return the first statistic along chromosomes, or replicates, for MultiQC: the extreme of each stretch if many."""
    name = next((name for name in STATISTICS if any(name in scan.values for scan in scans)), STATISTICS[0])
    nothing, scale = np.zeros(0), SCALES.get(name, 1.0)
    tracks = [Track(scan.name, scan.positions, scale * scan.values.get(name, nothing)) for scan in scans]
    lines, description = stretch_lines(sample, tracks, lowest=name in LOW)
    label = LABELS[name]
    settings: dict[str, Any] = {"xlab": "Position in Mb", "ylab": label}
    if name in NOT_NEGATIVE:
        settings["ymin"] = 0
    return Content(f"sweeps_{name}", f"{label} along chromosomes", description, "linegraph", lines, settings)


class TsvReport(Lines):
    """A table for `pandas.read_csv(path, sep="\\t", comment="#")` or R's `read.delim(path, comment.char="#")`.

    One header line names the columns. Values have seven digits (nine with compat precision, which bring back float32
    exactly), NA where there is none. Lines with '#' before the header say what made the table, and those before the
    rows of an alignment what was scanned of it (`SweepFacts`).

    Parameters
    ----------
    provenance : mapping, optional
        Written as '# name: value' lines.
    """

    def __init__(self, provenance: Mapping[str, Any] | None = None) -> None:
        self.provenance = provenance or {}
        self._begun = False

    def head(self) -> bytes:
        return encoded(provenance_lines(self.provenance))

    def body(self, scan: Scan) -> bytes:
        grid = () if scan.fine is None else (GRID_COLUMN,)
        header = "" if self._begun else "\t".join((*WINDOW_COLUMNS, *grid, *scan.values)) + "\n"
        self._begun = True
        digits = 9 if scan.parameters.get("precision") == "compat" else 7
        label = f"{in_one_line(scan.name)}\t{scan.replicate}".replace("%", "%%")
        form = f"{label}\t%.10g\t%.10g\t%.10g\t%d" + "\t%s" * len(grid) + f"\t%.{digits}g" * len(scan.values) + "\n"
        window, values = (scan.positions, scan.start, scan.end, scan.window_sites), list(scan.values.values())
        columns: tuple[NDArray[Any], ...] = (*window, *values)
        if scan.fine is not None:
            fine, both = columns_in_order(scan)
            values = [both[name] for name in scan.values]
            columns = (*(both[name] for name in WINDOW_ARRAYS), np.where(fine, FINE, COARSE), *values)
        known = {name: value for name, value in asdict(scan.facts).items() if value not in ("", None)}
        plain = {name: str(value).lower() if isinstance(value, bool) else value for name, value in known.items()}
        words = " ".join(f"{name}={value}" for name, value in plain.items())
        facts = f"{FACTS_MARK}{words} chromosome={in_one_line(scan.name)}\n"
        return encoded(header + facts) + rows_text(form, columns, nan=MISSING)

    def tail(self) -> bytes:
        return b"" if self._begun else encoded("\t".join((*WINDOW_COLUMNS, *VALUES)) + "\n")


class RaisdReport(Lines):
    """The report that RAiSD 2.9 writes, byte for byte in compat precision.

    Parameters
    ----------
    all_columns : bool
        Write the window's first and last site and the factors of mu, too, as its `-R` does.
    separator : bool
        Write "//" and the name before the rows of each alignment; False is its `-t`.
    """

    def __init__(self, *, all_columns: bool = False, separator: bool = True) -> None:
        self.all_columns, self.separator = all_columns, separator

    def body(self, scan: Scan) -> bytes:
        name = str(scan.replicate - 1) if scan.relative else scan.name
        title = f"// {name}\n" if self.separator else ""
        known = ~np.isnan(scan.values["mu"])
        start, end = (np.zeros(len(known)) if scan.gridded else border for border in (scan.start, scan.end))
        columns = [scan.positions, scan.values["mu"]]
        if self.all_columns:
            columns = [scan.positions, start, end, *(scan.values[name] for name in RAISD_COLUMNS)]
        form = "%.0f\t" + "%.0f\t%.0f\t%.3e\t%.3e\t%.3e\t" * self.all_columns + "%.3e\n"
        return encoded(title) + rows_text(form, [column[known] for column in columns])


class SelscanReport(Lines):
    """The scores of sites as selscan 3 writes them, of nSL or iHS.

    Parameters
    ----------
    statistic : str
    all_columns : bool
        Write normalised scores, and whether they are 2 or more away from 0, too, as its `norm` does.
    """

    def __init__(self, statistic: str, *, all_columns: bool = False) -> None:
        self.statistic, self.all_columns = statistic, all_columns

    def head(self) -> bytes:
        columns = f"chr\tid\tpos\tfreq\tihh1\tihh0\t{self.statistic}"
        return encoded(columns + f"\tnorm_{self.statistic}\tcrit" * self.all_columns + "\n")

    def body(self, scan: Scan) -> bytes:
        scores: SiteScores = scan.details[self.statistic]
        name = in_one_line(scan.name).replace("%", "%%")
        form = f"{name}\t.\t%.10g\t%g\t%g\t%g\t%g" + "\t%g\t%d" * self.all_columns + "\n"
        columns: list[NDArray[Any]] = [scores.positions, scores.frequency, scores.first, scores.second, scores.score]
        if self.all_columns:
            far = np.abs(scores.normalised) >= CRITICAL
            columns += [scores.normalised, far]
        return rows_text(form, columns, nan=MISSING)


def scan_record(scan: Scan) -> dict[str, Any]:
    """Return a scan as plain values: None where there is none, nothing that differs from run to run."""
    extremes = {}
    for name in scan.values:
        best = scan.best(name) if name != COMBINED_P else None  # it says of the score what that does
        if best is not None:
            extremes[name] = {"value": float(scan.values[name][best]), "position": float(scan.positions[best])}
    return {
        "chromosome": scan.name,
        "replicate": scan.replicate,
        **asdict(scan.facts),
        "discarded": dict(scan.discarded),
        **unscored_record(scan),
        "extremes": extremes,
        **_columns(scan),
        **({} if scan.fine is None else {FINE: _columns(scan.fine)}),
    }


def _columns(scan: Scan) -> dict[str, Any]:
    return {
        **{name: getattr(scan, name).tolist() for name in WINDOW_ARRAYS},
        **{name: [None if one != one else one for one in values.tolist()] for name, values in scan.values.items()},
    }


def unscored_record(scan: Scan) -> dict[str, Any]:
    """Return why sites have no nSL and iHS, if these were asked for."""
    found = {name: dict(scan.details[name].unscored) for name in (*SCORES, *COMPARING) if name in scan.details}
    return {"unscored": found} if found else {}


def make_report(
    format: ReportFormat = "tsv",
    *,
    provenance: Mapping[str, Any] | None = None,
    all_columns: bool = False,
    separator: bool = True,
    statistic: str = "nsl",
) -> Report[Scan]:
    """Return the report of a format.

    Parameters
    ----------
    format : str
        'tsv', 'raisd', 'selscan' or 'json'.
    provenance : mapping, optional
        What made the results; left out of 'raisd' and 'selscan', which have no place for it.
    all_columns, separator : bool
        See `RaisdReport` and `SelscanReport`; without effect on the other formats.
    statistic : str
        The one that 'selscan' writes, 'nsl' or 'ihs'.

    Raises
    ------
    UsageError
        For an unknown format.
    """
    if format == "raisd":
        return RaisdReport(all_columns=all_columns, separator=separator)
    if format == "selscan":
        return SelscanReport(statistic, all_columns=all_columns)
    if format == "tsv":
        return TsvReport(provenance)
    if format == "json":
        return AlignmentsJson(scan_record, provenance)
    raise ParameterError("format", f"choose one of {', '.join(FORMATS)}", format)


def summary_line(scan: Scan) -> str:
    """Return one line for a person: sites, what was left out and why, and where each statistic is most like a sweep."""
    line = scanned_line(scan)
    found = []
    for name in (name for name in JUDGED if name in scan.values):
        best = scan.best(name)
        if best is not None:
            which = "lowest" if name in LOW else "highest"
            found.append(f"{which} {name} {scan.values[name][best]:.4g} at {scan.positions[best]:,.0f} bp")
    line = f"{line}; {', '.join(found)}" if found else f"{line}; no window has enough sites"
    return line if scan.fine is None else f"{line}; {len(scan.fine.positions):,} fine rows"


# Reading back


def read_report(path: str | os.PathLike[str]) -> Scans:
    """Read a report of `sweeps scan`; of what was left out nothing is known.

    Parameters
    ----------
    path : str or path-like
        File in the tsv or json format, or "-" for standard input; uncompressed or compressed.

    Raises
    ------
    InputError
        The file cannot be read or is something else; the message names the line.
    """
    text, name = read_text(path)
    return Scans(_from_json(text, name) if text.lstrip().startswith("{") else _from_tsv(text, name))


def _from_json(text: str, source: str) -> list[Scan]:
    record = load_fields(text, source, "; write the file again").values
    try:
        parameters = dict(record["provenance"]["parameters"])
        return [_read_alignment(one, parameters) for one in record["alignments"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(NOT_A_REPORT, source=source) from None


def _read_alignment(one: Mapping[str, Any], parameters: Mapping[str, Any]) -> Scan:
    """An alignment of a JSON report.

    Raises
    ------
    KeyError, TypeError, ValueError
        It is none.
    """
    facts = SweepFacts(**{field.name: one[field.name] for field in fields(SweepFacts) if field.name in one})
    name, replicate = str(one["chromosome"]), int(one["replicate"])
    scan = _scan(name, replicate, _read_columns(one), facts, parameters)
    if FINE not in one:
        return scan
    return replace(scan, fine=_scan(name, replicate, _read_columns(one[FINE]), facts, parameters))


def _read_columns(one: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of rows of a JSON report; errors as of `_read_alignment`."""
    names = (*WINDOW_ARRAYS, *(name for name in VALUES if name in one))
    return {name: np.array([np.nan if value is None else value for value in one[name]], np.float64) for name in names}


def _scan(name: str, replicate: int, columns: dict[str, Any], facts: SweepFacts, parameters: Mapping[str, Any]) -> Scan:
    """A scan of columns of one length.

    Raises
    ------
    ValueError
        Columns of several lengths, or rows of no place.
    """
    at, start, end, sites = (columns.pop(one) for one in WINDOW_ARRAYS)
    every = (at, start, end, sites, *columns.values())
    if len({one.shape for one in every}) != 1 or at.ndim != 1 or not all(np.isfinite(one).all() for one in every[:4]):
        raise ValueError
    return Scan(
        name, replicate, at, start, end, sites.astype(np.int64), columns, facts.sites, facts.haplotypes, {}, facts,
        _resolved(parameters), gridded=any(str(parameters.get(one)) != "None" for one in ("grid", "step")),
    )  # fmt: skip


def _resolved(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a command with what `missing` means where it was not given."""
    known = dict(parameters)
    if str(known.get("missing")) == "None":
        known["missing"] = "drop" if known.get("precision") == "compat" else "mask"
    return known


def _from_tsv(text: str, source: str) -> list[Scan]:
    parameters: dict[str, str] = {}
    facts: SweepFacts | None = None
    header: list[str] = []
    others: list[str] = []
    refined = False
    parts: list[tuple[tuple[str, str], SweepFacts, list[list[str]], int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("# parameters: "):
            parameters = dict(re.findall(r"(?<=\s)(\w+)=(.*?)(?=\s\w+=|$)", line))
        elif line.startswith(FACTS_MARK) and "\t" not in line:
            facts = _read_facts(line, source, number)
        elif line.startswith("#") or not line:
            continue
        elif not header:
            header = line.split("\t")
            window, others = header[: len(WINDOW_COLUMNS)], header[len(WINDOW_COLUMNS) :]
            refined = GRID_COLUMN in others[:1]
            others = others[refined:]
            if tuple(window) != WINDOW_COLUMNS or set(others) - set(VALUES):
                raise InputError(NOT_A_REPORT, source=source, line=number)
        else:
            row = line.split("\t")
            if facts is None or len(row) != len(header):
                raise InputError(f"{len(row)} columns instead of {len(header)}", source=source, line=number)
            if not parts or parts[-1][0] != (row[0], row[1]):
                parts.append(((row[0], row[1]), facts, [], number))
            parts[-1][2].append(row[2:])
    if not header:
        raise InputError(NOT_A_REPORT, source=source)
    names, found = [*WINDOW_ARRAYS, *others], []
    for (name, replicate), own, rows, number in parts:
        try:
            both = [
                _scan(name, int(replicate), dict(zip(names, table.T, strict=True)), own, parameters)
                for table in _tables(rows, refined=refined)
            ]
        except ValueError:
            wrong = f"a row of {name} from here on has a word that is no number"
            raise InputError(wrong, source=source, line=number) from None
        found.append(replace(both[0], fine=both[1]) if refined else both[0])
    return found


def _tables(rows: list[list[str]], *, refined: bool) -> list[NDArray[np.float64]]:
    """The numbers of the rows of a scan: of all, or of refined scans of coarse ones and of fine ones.

    Raises
    ------
    ValueError
        A word is none, or a row is neither.
    """
    kinds = np.array([row.pop(len(WINDOW_ARRAYS)) if refined else COARSE for row in rows])
    if not np.isin(kinds, (COARSE, FINE)).all():
        raise ValueError
    table = np.array([["nan" if word == MISSING else word for word in row] for row in rows], np.float64)
    return [table[kinds == kind] for kind in (COARSE, FINE)[: 1 + refined]]


def _read_facts(line: str, source: str, number: int) -> SweepFacts:
    plain, _, between = line.partition(" chromosome=")[0].partition(" between=")
    words = dict(re.findall(r"(\w+)=(\S*)", plain))
    try:
        haplotypes, sites = int(words["haplotypes"]), int(words["sites"])
        genotypes = {"true": True, "false": False}[words["genotypes"]]
        shares = float(words["missing"]), float(words["masked"])
        later: dict[str, Any] = {
            name: float(words[name]) for name in ("accessible", "unpolarised", "haploid") if name in words
        }
        later |= {name: words[name] for name in ("populations", "mask", "masks", "spectrum") if name in words}
        return SweepFacts(haplotypes, sites, genotypes, *shares, **later, between=between)
    except (KeyError, ValueError):
        wrong = "the line of what was scanned is broken; scan the data again"
        raise InputError(wrong, source=source, line=number) from None
