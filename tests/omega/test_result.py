"""What a scan found, as a line, as records and as a table."""

from __future__ import annotations

import sys
import types
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from oclgenomics.omega.result import SCAN_COLUMNS, Scan, ScanStats


def one_scan() -> Scan:
    """Positions without a window, with omega 0, with a window, and with a window that nobody counted."""
    return Scan(
        name="20",
        replicate=2,
        positions=np.array([10.0, 20.5, 31.0, 41.5]),
        omega=np.array([0.0, 0.0, 3.25, 1.5]),
        left=np.array([0, 1, 11, 12]),
        right=np.array([0, 1, 61, 62]),
        valid=np.array([False, True, True, True]),
        sites=40,
        haplotypes=12,
        discarded={"singleton": 3},
        possible=True,
        maxwin=100,
        window_sites=np.array([-1, 4, 17, -1]),
    )


ROWS = [
    ("20", 2, 10.0, None, None, None, None),
    ("20", 2, 20.5, 0.0, None, None, None),
    ("20", 2, 31.0, 3.25, 11, 61, 17),
    ("20", 2, 41.5, 1.5, 12, 62, None),
]


def test_records() -> None:
    records = list(one_scan().records())
    assert records == [dict(zip(SCAN_COLUMNS, row, strict=True)) for row in ROWS]
    assert {type(value) for row in records for value in row.values()} == {str, int, float, type(None)}
    assert [row["window_sites"] for row in replace(one_scan(), window_sites=None).records()] == [None] * 4


def test_table(monkeypatch: pytest.MonkeyPatch) -> None:
    library = types.ModuleType("pandas")
    library.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", library)
    table = one_scan().to_frame()
    assert tuple(table) == SCAN_COLUMNS
    for name, column in zip(SCAN_COLUMNS, zip(*ROWS, strict=True), strict=True):
        given = np.array([np.nan if value is None else value for value in column])
        np.testing.assert_array_equal(np.asarray(table[name]), given)
    assert table["replicate"].dtype == np.int64
    assert all(table[name].dtype == np.float64 for name in SCAN_COLUMNS[2:])


def test_line() -> None:
    scan = one_scan()
    assert repr(scan) == "<Scan of '20': 12 haplotypes, 40 sites, 4 positions, best omega 3.25 at 31 bp>"
    assert repr(replace(scan, valid=np.zeros(4, bool))) == "<Scan of '20': 12 haplotypes, 40 sites, 4 positions>"


def test_nothing_is_set_later() -> None:
    scan = one_scan()
    assert scan.stats == ScanStats(0, 0, 0.0)
    with pytest.raises(FrozenInstanceError):
        scan.stats = ScanStats(1, 1, 1.0)  # type: ignore[misc]
