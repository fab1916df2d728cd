"""Rows of numbers as text, byte for byte what Python's `%` writes, many at a time and in threads.

A number becomes a whole one of as many digits as are asked for, by a power of ten that is exact, so that it is rounded
once. Where that leaves it open which way the last digit is rounded, and for what is very small or large, `%` is asked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.cores import usable_cores
from oclgenomics.io.workers import Workers

ROWS = 1 << 15  # that a thread writes at a time: each of its array operations may have to wait for the others
THREADS = 8
MOST_DIGITS = 10
EXACT_POWER = 22  # the largest power of ten that float64 has exactly
_OPEN = 1e-4  # around a half; far more than the error of a product of `MOST_DIGITS` digits
_LOG = 78_913  # of 2 to the base 10, times 2 ** 18
_WORD = re.compile(r"%%|%(?:\.(\d+))?([a-z])")
_MORE = 7  # characters of a number but its digits: sign, point, exponent

_UP = np.concatenate([np.ones(EXACT_POWER), 10.0 ** np.arange(EXACT_POWER + 1)])
_DOWN = _UP[::-1].copy()
_LOWEST, _HIGHEST = -330, 309
_BORDERS = np.array([*(float(f"1e{power}") for power in range(_LOWEST, _HIGHEST)), np.inf])
_FOUR = np.array([f"{number:04}" for number in range(10_000)], "S4").view(np.uint32)
_ZEROS = np.array([4 - len(f"{number:04}".rstrip("0")) for number in range(10_000)])


class _Column(NamedTuple):
    """Values of a column, the digits that are written, how (g, e or s), and the word of the form."""

    values: NDArray[Any]
    digits: int
    kind: str
    word: str


def rows_text(form: str, columns: Sequence[NDArray[Any]], nan: str = "nan") -> bytes:
    """Return the text of rows of columns.

    Parameters
    ----------
    form : str
        Of a row, as `%` takes it.
    columns : sequence of ndarray, shape (rows,)
        Numbers, or texts.
    nan : str
        What is written for NaN behind a tab.
    """
    words = [word for word in _WORD.finditer(form) if word[0] != "%%"]
    taken = [_column(values, word) for values, word in zip(columns, words, strict=True)]
    every = [one for one in taken if one is not None]
    if "\0" in form or len(every) < len(columns):
        return _one_by_one(form, columns, nan)
    borders = [0, *(place for word in words for place in word.span()), len(form)]
    texts = [form[a:b].replace("%%", "%") for a, b in zip(borders[::2], borders[1::2], strict=True)]
    between = [np.frombuffer(_encoded(text), np.uint8) for text in texts]

    def some(begin: int) -> bytes:
        return _some_rows(between, [one._replace(values=one.values[begin : begin + ROWS]) for one in every], nan)

    with Workers(min(THREADS, usable_cores())) as workers:
        return b"".join(workers.map(some, range(0, len(columns[0]), ROWS)))


def _one_by_one(form: str, columns: Sequence[NDArray[Any]], nan: str) -> bytes:
    """Rows as `%` writes them."""
    parts = []
    for begin in range(0, len(columns[0]), ROWS):
        rows = zip(*(column[begin : begin + ROWS].tolist() for column in columns), strict=True)
        parts.append(_encoded("".join([form % row for row in rows]).replace("\tnan", f"\t{nan}")))
    return b"".join(parts)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _column(values: NDArray[Any], word: re.Match[str]) -> _Column | None:
    """How a column is written; None if only `%` can."""
    digits, kind = word[1], word[2]
    if kind == "s" and digits is None and values.dtype.kind == "U":
        plain = all(text.isascii() and "\0" not in text for text in set(values.tolist()))
        return _Column(values.astype("S"), 0, kind, word[0]) if plain else None
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        return None
    numbers = values.astype(np.float64)
    if (kind, digits) in (("d", None), ("f", "0")):
        numbers = np.rint(numbers) if kind == "f" else np.trunc(numbers) + 0.0  # which has no -0
        small = len(numbers) == 0 or bool(np.abs(numbers).max() < 10**MOST_DIGITS)  # False with NaN
        return _Column(numbers, MOST_DIGITS, "g", word[0]) if small else None
    count = {"g": int(digits or 6), "e": int(digits or 6) + 1}.get(kind, 0)
    return _Column(numbers, count, kind, word[0]) if 1 < count <= MOST_DIGITS else None


def _some_rows(between: Sequence[NDArray[np.uint8]], columns: Sequence[_Column], nan: str) -> bytes:
    """Rows whose characters have fixed places, of which those that stay 0 are left out."""
    count = len(columns[0].values)
    parts = [np.broadcast_to(between[0], (count, len(between[0])))]
    for number, (column, text) in enumerate(zip(columns, between[1:], strict=True)):
        own = nan if between[number].tobytes().endswith(b"\t") else "nan"
        cells = column.values.view(np.uint8).reshape(count, -1) if column.kind == "s" else _numbers(column, own)
        parts += [cells, np.broadcast_to(text, (count, len(text)))]
    return np.concatenate(parts, axis=1).tobytes().translate(None, b"\0")


def _numbers(column: _Column, nan: str) -> NDArray[np.uint8]:
    """Numbers as text, uint8 (rows, characters), with zeros in between."""
    values, digits = column.values, column.digits
    whole, power, known = _whole(values, digits)
    upper = whole // 10_000
    high = upper // 10_000
    four = high, upper - 10_000 * high, whole - 10_000 * upper
    written = np.full(len(values), digits) if column.kind == "e" else np.maximum(digits - _zeros(*four), 0)
    scientific = (power < -4) | (power >= digits) if column.kind == "g" else np.ones(len(values), bool)
    layout = np.where(scientific, digits, power) + 4
    source = np.empty((len(values), digits + 8), np.uint8)
    source[:, :digits] = _FOUR[np.stack(four, axis=1)].view(np.uint8)[:, 12 - digits :]
    source[:, digits:] = np.frombuffer(b".0-e+000", np.uint8)
    source[:, -1] = 0
    source[:, digits + 2] *= np.signbit(values)
    if scientific.any():
        source[:, digits + 4] += 2 * (power < 0).view(np.uint8)  # - is behind + and a comma
        source[:, digits + 5 : digits + 7] = _FOUR[np.abs(power)].view(np.uint8).reshape(-1, 4)[:, 2:]
    layouts = _layouts(digits)
    forms = layouts.view(f"V{layouts.strides[0]}").ravel()
    places = forms[layout * (digits + 1) + written].view(np.int64).reshape(len(values), -1)
    places += (np.arange(len(values)) * source.shape[1])[:, None]
    cells: NDArray[np.uint8] = source.ravel().take(places)
    for row in np.flatnonzero(~known).tolist():
        value = float(values[row])
        own = (nan if value != value else column.word % value).encode()
        cells[row] = 0
        cells[row, : len(own)] = np.frombuffer(own, np.uint8)
    return cells


def _whole(values: NDArray[np.float64], digits: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Numbers as whole ones of some digits, the power of ten of their first digit, and for which that is sure."""
    size = np.abs(values)
    power = ((((size.view(np.int64) >> 52) - 1023) * _LOG) >> 18).clip(_LOWEST, _HIGHEST - 1)
    power += size >= _BORDERS[power + 1 - _LOWEST]
    nothing = size == 0
    power[nothing] = 0
    shift = digits - 1 - power
    known = np.isfinite(values) & (np.abs(shift) <= EXACT_POWER)
    place = shift.clip(-EXACT_POWER, EXACT_POWER) + EXACT_POWER
    scaled = np.where(known, size, 0.0) * _UP[place] / _DOWN[place]
    rounded = np.rint(scaled)
    known &= np.abs(scaled - rounded) < 0.5 - _OPEN
    whole = np.where(known, rounded, 0.0).astype(np.int64)
    over = whole >= 10**digits
    whole[over] = 10 ** (digits - 1)
    return whole, np.where(known, power + over, 0), known


def _zeros(high: NDArray[np.int64], middle: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[np.int64]:
    """Zeros at the end of numbers of four, four and four digits."""
    zeros: NDArray[np.int64] = _ZEROS[low]
    ends = np.flatnonzero(low == 0)
    if len(ends):
        zeros[ends] += _ZEROS[middle[ends]] + (middle[ends] == 0) * _ZEROS[high[ends]]
    return zeros


@functools.cache
def _layouts(digits: int) -> NDArray[np.int64]:
    """Which character of those that `_numbers` has comes where, int64 (layouts, characters).

    Layouts are those of the powers of ten from -4 on, then that with an exponent; of each for 0 and more digits that
    are written, to which those before the point always belong.
    """
    point, zero, sign, nothing = digits, digits + 1, digits + 2, digits + 7
    found = []
    for power in range(-4, digits + 1):
        exponent = range(digits + 3, digits + 7) if power == digits else ()
        before = 1 if exponent else max(power + 1, 0)
        for written in range(digits + 1):
            own = [digit if digit < max(written, before) else nothing for digit in range(digits)]
            dot = point if written > before else nothing
            form = [sign, *(own[:before] or [zero]), dot, *[zero] * (-1 - power), *own[before:], *exponent]
            found.append(form + [nothing] * (digits + _MORE - len(form)))
    return np.array(found)
