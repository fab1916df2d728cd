"""Reports of scans, written while the scan goes on: OmegaPlus' own, a table, and JSON; the last two read back."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.multiqc import Content
from oclgenomics.app.provenance import provenance_lines
from oclgenomics.app.reports import MISSING, AlignmentsJson, Lines, Report, encoded, in_one_line
from oclgenomics.app.tracks import Track as Values, scanned_line, stretch_lines
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.json_text import load_fields
from oclgenomics.io.text_file import read_text
from oclgenomics.omega.result import SCAN_COLUMNS, DataFacts, OmegaReport, Scan, Track
from oclgenomics.variation.bed import MAX_BP

ReportFormat = Literal["tsv", "omegaplus", "json"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
FACTS_MARK = "# data: "  # of the line before an alignment's rows
COLUMNS = ("positions", "omega", "left", "right")
WHOLE = ("replicate", "left", "right")
LONGEST_NUMBER = 64  # characters
DIGITS = set("0123456789+-.eE")
NOT_A_REPORT = "is no report of `omega scan` in the tsv or json format"


def scans_content(sample: str, scans: Sequence[Scan]) -> Content:
    """Return omega along chromosomes, or replicates, end to end for MultiQC: the highest of each stretch if many."""
    shown = [Values(scan.name, scan.positions, np.where(scan.valid, scan.omega, np.nan)) for scan in scans]
    lines, description = stretch_lines(sample, shown)
    settings = {"xlab": "Position in Mb", "ylab": "Omega", "ymin": 0}
    return Content("omega", "Omega along chromosomes", description, "linegraph", lines, settings)


class OmegaPlusReport(Lines):
    """The report OmegaPlus 3.0.3 writes, byte for byte.

    Parameters
    ----------
    all_columns : bool
        Write the window's borders and 1 (0 where no window holds enough sites) after position and omega, as its `-all`
        does; where `-b` permits no window, the borders are the first site.
    separator : bool
        Write "//" and the alignment's number before its rows; False is its `-noSeparator`.
    """

    def __init__(self, *, all_columns: bool = False, separator: bool = True) -> None:
        self.all_columns = all_columns
        self.separator = separator

    def body(self, scan: Scan) -> bytes:
        if scan.of_records and not scan.possible:  # it writes titles of chromosomes with the first row
            return b""
        title = f"\n//{scan.replicate}\n" if self.separator else "\n"
        valid = scan.valid if scan.enough_sites is None else scan.enough_sites
        columns = [scan.positions.tolist(), np.where(valid, scan.omega, 0.0).tolist()]
        if not self.all_columns:
            rows = (f"{at:.4f}\t{omega:f}\n" for at, omega in zip(*columns, strict=True))
            return (title + "".join(rows)).encode()
        for border in (scan.left, scan.right, np.ones(len(valid), np.int64)):
            columns.append(np.where(valid, border, 0).tolist())
        rows = ("{:.4f}\t{:f}\t{}\t{}\t{}\n".format(*row) for row in zip(*columns, strict=True))
        return (title + "".join(rows)).encode()


class TsvReport(Lines):
    """A table for `pandas.read_csv(path, sep="\\t", comment="#")` or R's `read.delim(path, comment.char="#")`.

    One header line names the columns, and every row holds all of them; a position without a window (none holds enough
    sites, or `--border` permits none) has NA for omega and the window, and one at which every omega is 0 has NA for the
    window. Omega has the digits that hold (`Scan.digits`). `window_sites` counts the sites from the left to the right
    border. Lines with '#' before the header say what made the table, and those before the rows of an alignment what was
    scanned of it (`DataFacts`).

    Parameters
    ----------
    provenance : mapping, optional
        Written as '# name: value' lines.
    """

    def __init__(self, provenance: Mapping[str, Any] | None = None) -> None:
        self.provenance = provenance or {}

    def head(self) -> bytes:
        return encoded(provenance_lines(self.provenance) + "\t".join(SCAN_COLUMNS) + "\n")

    def body(self, scan: Scan) -> bytes:
        label = f"{in_one_line(scan.name)}\t{scan.replicate}"
        columns = [scan.positions, scan.omega, scan.left, scan.right, scan.counted_sites, scan.valid]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        window, none = f"{MISSING}\t{MISSING}\t{MISSING}\n", f"{MISSING}\t{MISSING}\t{MISSING}\t{MISSING}\n"
        lines = [
            f"{label}\t{at:.2f}\t{omega:.{scan.digits}g}\t{left}\t{right}\t{sites if sites >= 0 else MISSING}\n"
            if valid and omega > 0
            else f"{label}\t{at:.2f}\t0\t{window}"
            if valid
            else f"{label}\t{at:.2f}\t{none}"
            for at, omega, left, right, sites, valid in rows
        ]
        return encoded(_facts_line(scan) + "".join(lines))


def scan_record(scan: Scan) -> dict[str, Any]:
    """A scan as plain values: positions in bp, None where there is no window, nothing that differs from run to run."""
    sites, found, best = scan.counted_sites, scan.found, scan.best

    def shown(values: NDArray[Any], known: NDArray[np.bool_]) -> list[Any]:
        return [value if there else None for value, there in zip(values.tolist(), known.tolist(), strict=True)]

    omega = np.array([float(f"{value:.{scan.digits}g}") for value in scan.omega.tolist()])
    maximum = None
    if best is not None and found[best]:
        maximum = {
            "omega": float(omega[best]) if np.isfinite(omega[best]) else None,
            "position": float(scan.positions[best]),
            "left": int(scan.left[best]),
            "right": int(scan.right[best]),
            "window_sites": int(sites[best]) if sites[best] >= 0 else None,
        }
    return {
        "chromosome": scan.name,
        "replicate": scan.replicate,
        "haplotypes": scan.haplotypes,
        "sites": scan.sites,
        **({} if scan.data is None else scan.data.record()),
        "discarded": dict(scan.discarded),
        "possible": scan.possible,
        "maxwin": scan.maxwin,
        "maximum": maximum,
        "positions": scan.positions.tolist(),
        "omega": shown(omega, scan.valid & np.isfinite(scan.omega)),
        "left": shown(scan.left, found),
        "right": shown(scan.right, found),
        "window_sites": shown(sites, found & (sites >= 0)),
    }


def make_report(
    format: ReportFormat = "tsv",
    *,
    provenance: Mapping[str, Any] | None = None,
    all_columns: bool = False,
    separator: bool = True,
) -> Report[Scan]:
    """Return the report of a format.

    Parameters
    ----------
    format : str
        'tsv', 'omegaplus' or 'json'.
    provenance : mapping, optional
        What made the results; left out of 'omegaplus', which has no place for it.
    all_columns, separator : bool
        See `OmegaPlusReport`; without effect on the other formats, which always hold all columns.

    Raises
    ------
    UsageError
        For an unknown format.
    """
    if format == "omegaplus":
        return OmegaPlusReport(all_columns=all_columns, separator=separator)
    if format == "tsv":
        return TsvReport(provenance)
    if format == "json":
        return AlignmentsJson(scan_record, provenance)
    raise ParameterError("format", f"choose one of {', '.join(FORMATS)}", format)


def summary_line(scan: Scan) -> str:
    """One line for a person: sites, what was left out and why, the largest omega, where, and its window."""
    line = scanned_line(scan)
    best = scan.best
    if not scan.possible:
        return f"{line}; not possible, at least 4 sites are needed"
    if best is None and scan.enough_sites is not None and scan.enough_sites.any():
        return f"{line}; --border permits no window at any position (a larger one, or -1 for all)"
    if best is None:
        return f"{line}; no window holds enough sites at any position (larger --maxwin, smaller --minsnps)"
    if not scan.omega[best] > 0:
        return f"{line}; omega is 0 at every position"
    window = f"{scan.left[best]:,}-{scan.right[best]:,}"
    return f"{line}; largest omega {scan.omega[best]:,.6g} at {scan.positions[best]:,.0f} bp, window {window}"


def _facts_line(scan: Scan) -> str:
    """What was scanned, as a line that readers of tables pass over; it holds no tab, as all rows do."""
    if scan.data is None:
        return ""
    words = " ".join(f"{name}={str(value).lower()}" for name, value in scan.data.record().items())
    return f"{FACTS_MARK}{words} chromosome={in_one_line(scan.name)}\n"


# Reading back


def read_report(path: str | os.PathLike[str]) -> OmegaReport:
    """Read a report of `omega scan`.

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
    return _from_json(text, name) if text.lstrip().startswith("{") else _from_tsv(text, name)


def load_json(text: str, source: str) -> Mapping[str, Any]:
    """Parse a JSON object, or say where it is broken.

    Raises
    ------
    InputError
    """
    return load_fields(text, source, "; write the file again").values


def _from_json(text: str, source: str) -> OmegaReport:
    record = load_json(text, source)
    try:
        parameters = dict(record.get("provenance", {}).get("parameters", {}))
        tracks = [_track(alignment, parameters) for alignment in record["alignments"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(NOT_A_REPORT, source=source) from None
    return OmegaReport(tracks, parameters, source)


def _track(alignment: dict[str, Any], parameters: Mapping[str, Any]) -> Track:
    """An alignment of a JSON report.

    Raises
    ------
    KeyError, TypeError, ValueError
        It is none.
    """

    def numbers(name: str) -> NDArray[np.float64]:
        values = np.array([0 if value is None else value for value in alignment[name]])
        if values.ndim != 1 or (len(values) and values.dtype.kind not in "iuf"):
            raise ValueError
        return _checked(values.astype(np.float64), name)

    columns = [numbers(name) for name in COLUMNS]
    if len({len(values) for values in columns}) > 1:
        raise ValueError
    positions, omega, left, right = columns
    replicate = int(_checked(np.array([float(alignment["replicate"])]), "replicate")[0])
    name = str(alignment["chromosome"])
    borders = left.astype(np.int64), right.astype(np.int64)
    return Track(name, replicate, positions, omega, *borders, data=read_facts(alignment), parameters=parameters)


def read_facts(values: Mapping[str, Any]) -> DataFacts | None:
    """Read the facts that a report holds, as words or as plain values; None where it does not hold all of them.

    Raises
    ------
    KeyError, ValueError, TypeError
        They are none.
    """
    if not all(field.name in values for field in fields(DataFacts)):
        return None
    haplotypes, sites = (int(str(values[name])) for name in ("haplotypes", "sites"))
    missing, masked = (float(values[name]) for name in ("missing", "masked"))
    genotypes = {"true": True, "false": False}[str(values["genotypes"]).lower()]
    if min(haplotypes, sites) < 0 or not (0 <= missing <= 1 and 0 <= masked <= 1):
        raise ValueError
    return DataFacts(haplotypes, sites, genotypes, missing, masked)


def _checked(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """The same numbers.

    Raises
    ------
    ValueError
        One is not finite, or is no whole number where there are bp, sites or replicates, or is beyond every chromosome.
    """
    bad = ~np.isfinite(values)
    if name != "omega":
        bad |= np.abs(values) > MAX_BP
    if name in WHOLE:
        bad |= values != np.trunc(values)
    if bad.any():
        raise ValueError
    return values


def _from_tsv(text: str, source: str) -> OmegaReport:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    lines = [line.removesuffix("\r") for line in lines] if "\r" in text else lines
    header = next((number for number, line in enumerate(lines) if line and not line.startswith("#")), len(lines))
    if header == len(lines) or tuple(lines[header].split("\t")) != SCAN_COLUMNS:
        raise InputError(NOT_A_REPORT, source=source)
    said = next((line for line in lines[:header] if line.startswith("# parameters:")), "")
    facts, numbered = _apart(lines, header + 1, source)
    rows = [line.split("\t") for _, line in numbered]
    for (number, _), row in zip(numbered, rows, strict=True):
        if len(row) != len(SCAN_COLUMNS):
            raise InputError(f"{len(row)} columns instead of {len(SCAN_COLUMNS)}", source=source, line=number)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCAN_COLUMNS)
    parameters = dict(re.findall(r"(?<=\s)(\w+)=(.*?)(?=\s\w+=|$)", said))
    numbers = [number for number, _ in numbered]
    return OmegaReport(_tracks(columns, source, numbers, facts, parameters), parameters, source)


def _apart(lines: list[str], first: int, source: str) -> tuple[dict[int, DataFacts | None], list[tuple[int, str]]]:
    """Facts by the number of the row that they stand before, and rows with the numbers of their lines."""
    facts: dict[int, DataFacts | None] = {}
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(lines[first:], start=first + 1):
        if not line.startswith(FACTS_MARK) or "\t" in line:
            rows.append((number, line))
            continue
        try:
            facts[len(rows)] = read_facts(dict(re.findall(r"(\w+)=(\S*)", line.partition(" chromosome=")[0])))
        except (KeyError, ValueError):
            wrong = "the line of what was scanned is broken; scan the data again"
            raise InputError(wrong, source=source, line=number) from None
    return facts, rows


def _tracks(
    columns: list[Any], source: str, lines: list[int], facts: Mapping[int, DataFacts | None],
    parameters: Mapping[str, Any],
) -> list[Track]:  # fmt: skip
    """Rows that name the same alignment are one track; `lines` are their numbers in the file."""
    names = np.array(columns[0], object)
    names_of = ("replicate", *COLUMNS)
    values = [_numbers(column, name, source, lines) for name, column in zip(names_of, columns[1:6], strict=True)]
    replicates = values[0].astype(np.int64)
    changes = (names[1:] != names[:-1]) | (replicates[1:] != replicates[:-1])
    starts = np.flatnonzero(np.concatenate([[True], changes])) if len(names) else np.zeros(0, np.int64)
    ends = [*starts[1:].tolist(), len(names)]
    return [
        Track(
            str(names[start]), int(replicates[start]), values[1][start:end], values[2][start:end],
            values[3][start:end].astype(np.int64), values[4][start:end].astype(np.int64), data=facts.get(start),
            parameters=parameters,
        )
        for start, end in zip(starts.tolist(), ends, strict=False)
    ]  # fmt: skip


def _numbers(words: tuple[str, ...], name: str, source: str, lines: list[int]) -> NDArray[np.float64]:
    """A column of numbers, 0 for NA."""
    shown = ["0" if word == MISSING else word for word in words]
    try:
        return _checked(_parsed(shown), name)
    except ValueError:
        number = next(index for index, word in enumerate(shown) if not _is_number(word, name))
    raise InputError(f"{words[number][:LONGEST_NUMBER]!r} is no number", source=source, line=lines[number])


def _parsed(words: Sequence[str]) -> NDArray[np.float64]:
    """Numbers as reports write them.

    Raises
    ------
    ValueError
        A word is none.
    """
    if max(map(len, words), default=0) > LONGEST_NUMBER or not set("".join(words)) <= DIGITS:
        raise ValueError
    return np.array(words, np.float64)


def _is_number(word: str, name: str) -> bool:
    try:
        _checked(_parsed([word]), name)
    except ValueError:
        return False
    return True
