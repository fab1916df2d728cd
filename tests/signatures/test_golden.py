"""Scans of the golden sets: every match at its place by every method, and the lines of the course to the byte."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest
from helpers.signature_golden import GOLDEN_SETS, GoldenSet

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device, Engine
from oclgenomics.signatures import ScanOptions, read_panel, scan
from oclgenomics.signatures.options import EDITS_ONLY, METHODS

by_set = pytest.mark.parametrize("golden", GOLDEN_SETS, ids=lambda golden: golden.name)


@pytest.mark.each_value
@by_set
@pytest.mark.parametrize("method", [method for method in METHODS if method not in EDITS_ONLY])
def test_every_match_is_found(shaped: Engine, golden: GoldenSet, method: Any) -> None:
    found = scan(golden.samples, read_panel(golden.signatures), ScanOptions("all", method=method), engine=shaped)
    rows = sorted(found.records(), key=lambda row: (row["sample"], row["signature"]))
    places = [
        (*pair, [row["start"] for row in same])
        for pair, same in groupby(rows, key=lambda row: (row["sample"], row["signature"]))
    ]
    expected = [(pair.sample, pair.signature, pair.starts, pair.matches) for pair in golden.pairs]
    assert [(sample, signature, starts[:50], len(starts)) for sample, signature, starts in places] == expected


@pytest.mark.each_value
@by_set
@pytest.mark.parametrize("method", [method for method in METHODS if method not in EDITS_ONLY])
@pytest.mark.parametrize("report", ["best", "first"])
def test_one_match_of_each_pair(shaped: Engine, golden: GoldenSet, method: Any, report: Any) -> None:
    found = scan(golden.samples, read_panel(golden.signatures), ScanOptions(report, method=method), engine=shaped)
    rows = sorted(found.records(), key=lambda row: (row["sample"], row["signature"]))
    assert [(row["sample"], row["signature"], row["start"], row["hits"], row["hash"]) for row in rows] == [
        (pair.sample, pair.signature, pair.best if report == "best" else pair.first, pair.matches, pair.hash)
        for pair in golden.pairs
    ]
    if report == "best":
        assert [f"{row['score']:.3f}" for row in rows] == [pair.score for pair in golden.pairs]


@by_set
def test_lines_of_the_course(device: Device, golden: GoldenSet, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(golden.samples), str(golden.signatures), "--format", "course", "-d", str(device.index), "-q"]
    assert main(["signatures", "scan", *words]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == golden.lines
