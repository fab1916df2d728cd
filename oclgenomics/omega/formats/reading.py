"""Reading back the tsv and json reports of `omega scan`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text
from oclgenomics.omega.data_facts import DataFacts, read_facts
from oclgenomics.omega.formats.scans import FACTS_MARK
from oclgenomics.omega.result import SCAN_COLUMNS
from oclgenomics.variation.base_pairs import MAX_BP

__all__ = ["OmegaReport", "Track", "load_json", "read_report"]

REPORT_COLUMNS = ("chromosome", "replicate", "position", "omega", "left", "right")
COLUMNS = ("positions", "omega", "left", "right")
WHOLE = ("replicate", "left", "right")
LONGEST_NUMBER = 64  # characters
DIGITS = set("0123456789+-.eE")
NOT_A_REPORT = "is no report of `omega scan` in the tsv or json format"


@dataclass(frozen=True, eq=False, repr=False)
class Track:
    """Omega along one alignment, as a report has it.

    Attributes
    ----------
    name : str
        Chromosome, or the replicate's number.
    replicate : int
    positions, omega : ndarray of float64, shape (grid,)
        Grid positions in bp, and omega; 0 where there is no window.
    left, right : ndarray of int64, shape (grid,)
        The window's borders in bp; 0 where there is none.
    data : DataFacts, optional
        What was scanned. None in reports of versions that did not record it.
    parameters : mapping of str to object
        Those of the report.
    """

    name: str
    replicate: int
    positions: NDArray[np.float64]
    omega: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    data: DataFacts | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        highest = f", highest omega {self.omega.max():.6g}" if len(self.omega) else ""
        return f"<Track of {self.name!r}: {len(self.positions):,} positions{highest}>"


@dataclass(frozen=True, eq=False, repr=False)
class OmegaReport:
    """A whole report.

    Attributes
    ----------
    tracks : sequence of Track
    parameters : mapping of str to object
        Those of the scan that its provenance names; words in a tsv report.
    source : str
    """

    tracks: Sequence[Track]
    parameters: Mapping[str, Any]
    source: str

    def __repr__(self) -> str:
        return f"<OmegaReport {self.source!r}: {len(self.tracks):,} tracks>"

    def records(self) -> Iterator[dict[str, Any]]:
        """Give a dict for each grid position: 'chromosome', 'replicate', 'position', 'omega', 'left' and 'right'.

        `left` and `right` are None where there is no window.
        """
        for track in self.tracks:
            columns = (track.positions, track.omega, track.left, track.right)
            for at, omega, left, right in zip(*(values.tolist() for values in columns), strict=True):
                values = (track.name, track.replicate, at, omega, left or None, right or None)
                yield dict(zip(REPORT_COLUMNS, values, strict=True))

    def to_frame(self) -> Any:
        """Make a table of the grid positions, with the names of `records`; see `oclgenomics.app.frames.to_frame`."""
        records = list(self.records())
        return to_frame({name: [record[name] for record in records] for name in REPORT_COLUMNS})


def read_report(path: str | os.PathLike[str]) -> OmegaReport:
    """Read a report of `omega scan`.

    Parameters
    ----------
    path : str or path-like
        File in the tsv or json format, or "-" for standard input; plain or packed.

    Raises
    ------
    InputError
        The file cannot be read or is something else; the message names the line.
    """
    text, name = read_text(path)
    return _from_json(text, name) if text.lstrip().startswith("{") else _from_tsv(text, name)


def load_json(text: str, source: str) -> dict[str, Any]:
    """Parse a JSON object, or say where it is broken.

    Raises
    ------
    InputError
        The text is no JSON object, is nested too deeply, or holds a number without bounds.
    """

    def refuse(word: str) -> NoReturn:
        raise ValueError(f"{word} is no number")

    try:
        value = json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InputError(f"broken JSON: {error.msg}; write the file again", source=source, line=error.lineno) from None
    except ValueError as error:  # also whole numbers of thousands of digits
        raise InputError(f"broken JSON: {error}; write the file again", source=source) from None
    except RecursionError:
        raise InputError("broken JSON: nested too deeply; write the file again", source=source) from None
    if not isinstance(value, dict):
        raise InputError("is JSON, but no object", source=source)
    return value


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
    return Track(name, replicate, positions, omega, *borders, read_facts(alignment), parameters)


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
            values[3][start:end].astype(np.int64), values[4][start:end].astype(np.int64), facts.get(start), parameters,
        )
        for start, end in zip(starts.tolist(), ends, strict=False)
    ]  # fmt: skip


def _numbers(words: tuple[str, ...], name: str, source: str, lines: list[int]) -> NDArray[np.float64]:
    """A column of numbers, 0 for NA."""
    shown = ["0" if word == "NA" else word for word in words]
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
