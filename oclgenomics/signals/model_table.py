"""Models of k-mers as text: tables of Oxford Nanopore and of tools that write the like."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text
from oclgenomics.signals.chemistry import PORES, pore_named
from oclgenomics.signals.kmers import MAX_K, NO_DIGIT, KmerModel, digits_of, kmer_at, kmer_numbers

KMERS = ("kmer",)
MEANS = ("level_mean", "current.mean", "mean", "current", "level")
DEVIATIONS = ("level_stdv", "current.stdv", "stdv", "sd")
COMMENT = re.compile(r"#\s*(pore|rate|kit|model_name)\s*[:\t ]\s*(\S+)", re.IGNORECASE)
RATES = (1.0, 1e6)  # samples per second, from and to
MAX_NUMBER = 32  # characters of one
MAX_SHOWN = 20  # characters of a word in a message


class _Columns(NamedTuple):
    """Where things are in a line; -1 for a column that is not there."""

    kmer: int
    mean: int
    deviation: int
    fields: int


class _Rows(NamedTuple):
    lines: list[int]
    kmers: list[str]
    means: list[float]
    deviations: list[float]


def read_table(path: str, name: str) -> KmerModel:
    """Read a table of k-mers, one a line in any order; see `read_model`.

    Parameters
    ----------
    path : str
    name : str
        Of the model.
    """
    text, source = read_text(path)
    rows = _rows(_lines(text), source)
    k = len(rows.kmers[0])
    numbers = place_kmers(rows.kmers, k, source, rows.lines)
    mean, deviation = np.empty(4**k), np.empty(4**k)
    mean[numbers], deviation[numbers] = rows.means, rows.deviations
    pore, rate = _meant_for(text, source)
    return KmerModel(name, k, mean, deviation, pore, rate)


def place_kmers(kmers: Sequence[str], k: int, source: str, lines: Sequence[int] | None = None) -> NDArray[np.int32]:
    """Return the number of each k-mer, having checked that each of the 4**k is there once.

    Parameters
    ----------
    kmers : sequence of str
    k : int
    source : str
        For messages.
    lines : sequence of int, optional
        On which each k-mer is.

    Raises
    ------
    InputError
        One is missing, repeated, has another length or a base other than A, C, G, T and U.
    """

    def trouble(text: str, row: int) -> InputError:
        where = None if lines is None else lines[row]
        return InputError(text, source=source, line=where, record=row + 1 if lines is None else None)

    if not 1 <= k <= MAX_K:
        raise trouble(f"k-mers have {k} bases; 1 to {MAX_K} are read", 0)
    for row, kmer in enumerate(kmers):
        if len(kmer) != k:
            raise trouble(f"{_shown(kmer)} has {len(kmer)} bases, and the k-mers before it {k}", row)
    digits = digits_of("".join(kmers).encode("ascii", "replace"))
    foreign = np.flatnonzero(digits == NO_DIGIT)
    if len(foreign):
        row = int(foreign[0]) // k
        raise trouble(f"{_shown(kmers[row])} is no k-mer of A, C, G and T", row)
    numbers = kmer_numbers(digits, k)[::k]
    seen, first = np.unique(numbers, return_index=True)
    if len(seen) < len(numbers):
        row = int(np.setdiff1d(np.arange(len(numbers)), first)[0])
        raise trouble(f"k-mer {_shown(kmers[row])} is there a second time", row)
    if len(seen) < 4**k:
        absent = np.flatnonzero(np.bincount(numbers, minlength=4**k) == 0)
        raise InputError(
            f"k-mer {kmer_at(int(absent[0]), k)} is missing, {len(absent):,} of {4**k:,} in all", source=source
        )
    return numbers


def _meant_for(text: str, source: str) -> tuple[str, float | None]:
    """The pore and the rate that comments name."""
    pore, rate = "", None
    for number, line in enumerate(text.splitlines(), 1):
        found = COMMENT.fullmatch(line.strip())
        if found is None:
            continue
        name, value = found[1].lower(), found[2]
        if name == "rate":
            rate = _number(value, source, number, low=RATES[0])
            if rate > RATES[1]:
                raise InputError(f"{_shown(value)} is no rate of samples per second", source=source, line=number)
        elif name == "pore" and not pore_named(value):
            raise InputError(f"{_shown(value)} is no pore; known are {', '.join(PORES)}", source=source, line=number)
        else:
            pore = pore_named(value) or pore
    return pore, rate


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of each line that is neither empty nor a comment."""
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        fields = line.split()
        if fields and not fields[0].startswith("#"):
            yield number, fields


def _rows(lines: Iterator[tuple[int, list[str]]], source: str) -> _Rows:
    """What the lines hold."""
    columns, rows = None, _Rows([], [], [], [])
    for line, fields in lines:
        if columns is None:
            columns, is_head = _columns(fields, source, line)
            if is_head:
                continue
        if len(fields) != columns.fields:
            trouble = f"has {len(fields)} fields, and the lines before it {columns.fields}"
            raise InputError(trouble, source=source, line=line)
        if len(rows.kmers) == 4**MAX_K:
            raise InputError(f"has more than {4**MAX_K:,} k-mers", source=source, line=line)
        rows.lines.append(line)
        rows.kmers.append(fields[columns.kmer])
        rows.means.append(_number(fields[columns.mean], source, line))
        rows.deviations.append(
            math.nan if columns.deviation < 0 else _number(fields[columns.deviation], source, line, low=0.0)
        )
    if not rows.kmers:
        raise InputError("has no k-mers", source=source)
    return rows


def _columns(fields: list[str], source: str, line: int) -> tuple[_Columns, bool]:
    """Where things are, by the first line, and whether this is a head with names."""
    names = [field.lower() for field in fields]
    if any(name in names for name in KMERS):
        kmer, mean, deviation = (_place(names, known, source, line) for known in (KMERS, MEANS, DEVIATIONS))
        if mean < 0:
            raise InputError(f"names no column of means ({', '.join(MEANS)})", source=source, line=line)
        return _Columns(kmer, mean, deviation, len(fields)), True
    if len(fields) < 2:
        raise InputError("is no table of k-mers: a line has a k-mer and its mean", source=source, line=line)
    return _Columns(0, 1, 2 if len(fields) > 2 else -1, len(fields)), False


def _place(names: list[str], known: tuple[str, ...], source: str, line: int) -> int:
    """The column with the first of the known names that is there; -1 where none is."""
    for name in known:
        if names.count(name) > 1:
            raise InputError(f"names the column {name!r} twice", source=source, line=line)
        if name in names:
            return names.index(name)
    return -1


def _number(text: str, source: str, line: int, low: float = -math.inf) -> float:
    try:
        value = float(text) if len(text) <= MAX_NUMBER and text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < low:
        wanted = "a number" if low < 0 else f"a number from {low:g} on"
        raise InputError(f"{_shown(text)} is not {wanted}", source=source, line=line)
    return value


def _shown(text: str) -> str:
    return repr(text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "...")
