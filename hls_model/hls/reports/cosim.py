"""Cosimulation reports: `*_cosim.rpt`, `lat.rpt` and `*.result.transaction.rpt` (or `.xml`, which is the same text).

The first is a table with a row for Verilog and one for VHDL; the second has lines such as $MAX_LATENCY = "130"; the
third a line for each call of the function. Cycles are those from ap_start to ap_done (AMD UG1399, "Analyzing RTL
Simulations").
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from hls_model.errors import ModelInputError
from hls_model.hls.reports.xml_file import LARGEST_REPORT
from hls_model.reading import read_text

__all__ = ["Cosimulation", "read_cosim"]

LANGUAGES = ("Verilog", "VHDL")
LATENCIES = ("MIN_LATENCY", "AVER_LATENCY", "MAX_LATENCY")
MOST_DIGITS = 18
COUNT = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,6}})?")


@dataclass(frozen=True)
class Cosimulation:
    """Cycles of the calls of a cosimulation.

    Attributes
    ----------
    path, language, status : str
        The file; Verilog, VHDL or nothing; `Pass`, `Fail` or nothing where the report has none.
    least, average, most : float or None
        Cycles of a call; None where the report has none.
    calls : tuple of int
        Cycles of each call, where it lists them.
    """

    path: str
    language: str
    status: str
    least: float | None
    average: float | None
    most: float | None
    calls: tuple[int, ...] = ()


def read_cosim(path: str | os.PathLike[str], text: str | None = None) -> list[Cosimulation]:
    """Read a cosimulation report: a result for each language that was simulated.

    Parameters
    ----------
    path : path
        The file.
    text : str, optional
        Its text, where it has been read.

    Raises
    ------
    ModelInputError
        Not such a report, or nothing was simulated.
    """
    name = os.fspath(path)
    if text is None:
        text = read_text(path, "is no text", LARGEST_REPORT)
    lines = text.splitlines()
    found = _table(lines, name) or _variables(lines, name) or _calls(lines, name)
    if not found:
        raise ModelInputError(
            f"{name}: is no report that is known; give *_csynth.xml, *_cosim.rpt, lat.rpt or result.transaction.rpt"
        )
    simulated = [one for one in found if one.status != "NA"]
    if not simulated:
        raise ModelInputError(f"{name}: no language was simulated")
    return simulated


def _table(lines: list[str], name: str) -> list[Cosimulation]:
    found = []
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if "|" not in line or cells[0] not in LANGUAGES:
            continue
        if len(cells) < 5:
            raise ModelInputError(
                f"{name}, line {number}: has {len(cells)} cells; status and three latencies are needed"
            )
        least, average, most = (_cycles(cell, f"{name}, line {number}") for cell in cells[2:5])
        found.append(Cosimulation(name, cells[0], cells[1][:20], least, average, most))
    return found


def _variables(lines: list[str], name: str) -> list[Cosimulation]:
    values: dict[str, float | None] = {}
    for number, line in enumerate(lines, 1):
        match = re.fullmatch(r"\s*\$([A-Z_]{1,40})\s*=\s*\"([^\"]{0,40})\"\s*", line)
        if match and match[1] in LATENCIES:
            values[match[1]] = _cycles(match[2].strip(), f"{name}, line {number}")
    if not values:
        return []
    for needed in LATENCIES:
        if needed not in values:
            raise ModelInputError(f"{name}: has no ${needed}")
    least, average, most = (values[one] for one in LATENCIES)
    return [Cosimulation(name, "", "", least, average, most)]


def _calls(lines: list[str], name: str) -> list[Cosimulation]:
    calls = []
    for number, line in enumerate(lines, 1):
        match = re.match(r"\s*transaction\s+[0-9]{1,18}\s*:?\s+(\S{1,40})", line)
        if match:
            cycles = _cycles(match[1], f"{name}, line {number}")
            if cycles is not None:
                calls.append(int(cycles))
    if not calls:
        return []
    average = sum(calls) / len(calls)
    return [Cosimulation(name, "", "", float(min(calls)), average, float(max(calls)), tuple(calls))]


def _cycles(text: str, place: str) -> float | None:
    if text in {"", "NA", "x", "-", "?"}:
        return None
    if not COUNT.fullmatch(text):
        raise ModelInputError(f"{place}: {text[:40]!r} is no number of cycles")
    return float(text)
