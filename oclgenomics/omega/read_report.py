"""Reading back the tsv and json reports of `omega scan`."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.formats.source import Source
from oclgenomics.omega.report import TSV_COLUMNS

__all__ = ["OmegaReport", "Track", "load_json", "read_report"]

NOT_A_REPORT = "is no report of `omega scan` in the tsv or json format"


@dataclass
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
    """

    name: str
    replicate: int
    positions: NDArray[np.float64]
    omega: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]


@dataclass
class OmegaReport:
    """A whole report.

    Attributes
    ----------
    tracks : list of Track
    parameters : dict of str to object
        Those of the scan that its provenance names; words in a tsv report.
    source : str
    """

    tracks: list[Track]
    parameters: dict[str, Any]
    source: str


def read_report(path: str | os.PathLike[str]) -> OmegaReport:
    """Read a report of `omega scan`.

    Parameters
    ----------
    path : str or path-like
        File in the tsv or json format, or "-" for standard input; plain or gzip.

    Raises
    ------
    InputError
        The file cannot be read or is something else; the message names the line.
    """
    with Source(path) as source:
        text = b"".join(source).decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        return _from_json(text, source.name)
    return _from_tsv(text, source.name)


def load_json(text: str, source: str) -> dict[str, Any]:
    """Parse a JSON object, or say where it is broken.

    Raises
    ------
    InputError
        The text is no JSON object.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"broken JSON: {error.msg}; write the file again", source=source, line=error.lineno) from None
    if not isinstance(value, dict):
        raise InputError("is JSON, but no object", source=source)
    return value


def _from_json(text: str, source: str) -> OmegaReport:
    record = load_json(text, source)
    try:
        tracks = [_track(alignment) for alignment in record["alignments"]]
        parameters = dict(record.get("provenance", {}).get("parameters", {}))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(NOT_A_REPORT, source=source) from None
    return OmegaReport(tracks, parameters, source)


def _track(alignment: dict[str, Any]) -> Track:
    def numbers(name: str, dtype: Any) -> NDArray[Any]:
        return np.array([0 if value is None else value for value in alignment[name]], dtype)

    track = Track(
        str(alignment["chromosome"]), int(alignment["replicate"]), numbers("positions", np.float64),
        numbers("omega", np.float64), numbers("left", np.int64), numbers("right", np.int64),
    )  # fmt: skip
    if len({len(values) for values in (track.positions, track.omega, track.left, track.right)}) > 1:
        raise ValueError
    return track


def _from_tsv(text: str, source: str) -> OmegaReport:
    lines = text.splitlines()
    header = next((number for number, line in enumerate(lines) if line and not line.startswith("#")), len(lines))
    if header == len(lines) or tuple(lines[header].split("\t")) != TSV_COLUMNS:
        raise InputError(NOT_A_REPORT, source=source)
    said = next((line for line in lines[:header] if line.startswith("# parameters:")), "")
    rows = [line.split("\t") for line in lines[header + 1 :]]
    for number, row in enumerate(rows, start=header + 2):
        if len(row) != len(TSV_COLUMNS):
            raise InputError(f"{len(row)} columns instead of {len(TSV_COLUMNS)}", source=source, line=number)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(TSV_COLUMNS)
    parameters = dict(re.findall(r"(?<=\s)(\w+)=(.*?)(?=\s\w+=|$)", said))
    return OmegaReport(_tracks(columns, source, header + 2), parameters, source)


def _tracks(columns: list[Any], source: str, first_line: int) -> list[Track]:
    """Rows that name the same alignment are one track."""
    names = np.array(columns[0], object)
    values = [_numbers(column, source, first_line) for column in columns[1:6]]
    replicates = values[0].astype(np.int64)
    changes = (names[1:] != names[:-1]) | (replicates[1:] != replicates[:-1])
    starts = np.flatnonzero(np.concatenate([[True], changes])) if len(names) else np.zeros(0, np.int64)
    ends = [*starts[1:].tolist(), len(names)]
    return [
        Track(
            str(names[start]), int(replicates[start]), values[1][start:end], values[2][start:end],
            values[3][start:end].astype(np.int64), values[4][start:end].astype(np.int64),
        )
        for start, end in zip(starts.tolist(), ends, strict=False)
    ]  # fmt: skip


def _numbers(words: tuple[str, ...], source: str, first_line: int) -> NDArray[np.float64]:
    """A column of numbers, 0 for NA."""
    shown = ["0" if word == "NA" else word for word in words]
    try:
        return np.array(shown, np.float64)
    except ValueError:
        number = next(index for index, word in enumerate(shown) if not _is_number(word))
        raise InputError(f"{words[number]!r} is no number", source=source, line=first_line + number) from None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
