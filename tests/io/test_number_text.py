"""Rows of numbers are written as `%` writes them, byte by byte, whatever the numbers and however many threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.io import number_text
from oclgenomics.io.number_text import MOST_DIGITS, ROWS, rows_text

POWERS = 10.0 ** np.arange(-40, 40)
HARD = np.concatenate([
    [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1.7e308, -2.2250738585072014e-308],
    POWERS, -POWERS, np.nextafter(POWERS, 0), np.nextafter(POWERS, np.inf),
    *(digits * POWERS for digits in (9.5, 9.9999995, 9.999999, 9.9999994999999, 1.0000005, 2.5, 1 / 3)),
    np.arange(-20, 20) + 0.5, 1234567.5 + np.arange(4), 123456789.5 + np.arange(4),
])  # fmt: skip


def expected(form: str, columns: list[np.ndarray], nan: str = "nan") -> bytes:
    text = "".join(form % row for row in zip(*(column.tolist() for column in columns), strict=True))
    return text.replace("\tnan", f"\t{nan}").encode()


def check(form: str, *columns: np.ndarray, nan: str = "nan") -> None:
    assert rows_text(form, columns, nan).split(b"\n") == expected(form, list(columns), nan).split(b"\n")


@pytest.mark.parametrize("kind", ["g", "e"])
@pytest.mark.parametrize("digits", range(1, MOST_DIGITS + 3))
def test_digits_and_powers_of_ten(digits: int, kind: str) -> None:
    rng = np.random.default_rng(digits)
    values = np.concatenate([HARD, rng.normal(size=500), 10 ** rng.uniform(-30, 30, 500), np.round(rng.random(500), 3)])
    check(f"a\t%.{digits}{kind}\n", values, nan="NA")


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(st.floats() | st.floats(-1e6, 1e6, width=32) | st.integers(-(10**7), 10**7), max_size=30),
    digits=st.integers(2, MOST_DIGITS), kind=st.sampled_from("ge"),
)  # fmt: skip
def test_any_numbers(values: list[float], digits: int, kind: str) -> None:
    check(f"%.{digits}{kind}\t%.{digits}{kind}\n", np.array(values, float), np.array(values[::-1], float), nan="NA")


@pytest.mark.parametrize("count", [0, 1, ROWS - 1, ROWS, 2 * ROWS + 3])
def test_rows_of_all_columns_in_threads(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(number_text, "usable_cores", lambda: 3)
    rng = np.random.default_rng(count)
    places, kinds = np.cumsum(rng.integers(1, 9, count)), np.where(rng.random(count) < 0.5, "fine", "coarse")
    shares = np.where(rng.random(count) < 0.1, np.nan, rng.random(count))
    columns = places, places / 2, kinds, places % 3 == 0, shares, shares.astype(np.float32), places * 0.25 - 9
    check("50%%\t%d\t%.10g\t%s\t%d\t%g\t%.3e;%.0f\n", *columns, nan="NA")


@pytest.mark.parametrize(
    ("form", "column"),
    [
        ("%d\n", np.array([10**10, -5, 7])), ("%.0f\n", np.array([1e300, 0.5, -0.4])), ("%d\n", np.array([2.7, -0.5])),
        ("%.0f\n", np.array([0.5, 1.5, -0.4, 9999999999.4])), ("a\0b\t%d\n", np.arange(3)),
        ("\u00e9%%\t%d\n", np.arange(3)),
        ("%s\n", np.array(["\u00e9", "b"])), ("%s\n", np.array([1.5, 2.0])), ("%x\n", np.array([17, 255])),
        ("%g\n", np.array([1e-5, 123456.5, np.nan])), ("%.7g\n", np.array([1 << 60, 3], np.uint64)),
    ],
)  # fmt: skip
def test_what_only_python_writes(form: str, column: np.ndarray) -> None:
    check(form, column, nan="NA")
