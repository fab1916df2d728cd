"""Reports: OmegaPlus' bytes from its own numbers, and tables that others can read back."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.app.reports import write_report
from oclgenomics.errors import UsageError
from oclgenomics.omega.formats.scans import make_report, scan_record, summary_line
from oclgenomics.omega.result import Scan, ScanStats

GOLDEN = Path(__file__).parents[2] / "golden" / "omega"
REPORTS = sorted(path.name for path in GOLDEN.glob("OmegaPlus_Report.*"))


def make_scan(name="20", replicate=1, grid=5, **changes) -> Scan:
    """A scan with one position without a window."""
    values = {
        "positions": np.linspace(1000.5, 9000.25, grid),
        "omega": np.linspace(0, 3, grid) ** 2,
        "left": np.arange(grid) * 100,
        "right": np.arange(grid) * 100 + 5000,
        "valid": np.arange(grid) > 0,
        "sites": 40,
        "haplotypes": 20,
        "discarded": {"not a SNP": 3, "monomorphic": 0},
        "possible": True,
        "maxwin": 10_000,
        "stats": ScanStats(scores=12, pairs=30, seconds=0.1),
        "window_sites": np.where(np.arange(grid) > 0, 17, -1),
    }
    return Scan(name=name, replicate=replicate, **(values | changes))


def parse(text: str) -> tuple[list[Scan], bool, bool]:
    """Scans of an OmegaPlus report, whether it has all columns, and whether it has separators."""
    separator = text.startswith("\n//")
    scans, wide = [], False
    for number, block in enumerate(text.split("\n//" if separator else "\n\n")[separator:], start=1):
        lines = block.strip("\n").split("\n")
        replicate = int(lines.pop(0)) if separator else number
        rows = [line.split("\t") for line in lines if line]
        wide |= any(len(row) == 5 for row in rows)
        scans.append(scan_of(rows, replicate))
    return scans, wide, separator


def scan_of(rows: list[list[str]], replicate: int) -> Scan:
    table = np.array([[float(cell) for cell in row] + [0, 0, 1] * (len(row) == 2) for row in rows]).reshape(-1, 5)
    return make_scan(
        str(replicate),
        replicate,
        positions=table[:, 0],
        omega=table[:, 1],
        left=table[:, 2].astype(np.int64),
        right=table[:, 3].astype(np.int64),
        valid=table[:, 4] == 1,
        possible=bool(len(table)),
        window_sites=None,
    )


@pytest.mark.parametrize("name", REPORTS)
def test_golden_reports_come_back_byte_for_byte(name):
    text = (GOLDEN / name).read_text()
    scans, wide, separator = parse(text)
    stream = io.BytesIO()
    write_report(scans, stream, make_report("omegaplus", all_columns=wide, separator=separator))
    assert stream.getvalue().decode() == text


def test_omegaplus_rows_without_a_window_are_zero():
    scan = make_scan(grid=2, omega=np.array([7.0, 2.0]), valid=np.array([False, True]))
    rows = make_report("omegaplus", all_columns=True).body(scan).decode().splitlines()
    assert rows == ["", "//1", "1000.5000\t0.000000\t0\t0\t0", "9000.2500\t2.000000\t100\t5100\t1"]


def test_omegaplus_prints_float32_values_as_c_does():
    omega = np.array([2343.2138671875, 1e-7]).astype(np.float32).astype(np.float64)
    scan = make_scan(grid=2, omega=omega, valid=np.array([True, True]))
    assert [row.split("\t")[1] for row in make_report("omegaplus").body(scan).decode().splitlines()[2:]] == [
        "2343.213867",
        "0.000000",
    ]


def tsv(scans, provenance=None):
    stream = io.BytesIO()
    write_report(scans, stream, make_report("tsv", provenance=provenance))
    lines = stream.getvalue().decode().splitlines()
    head = [line for line in lines if line.startswith("#")]
    return head, list(csv.DictReader([line for line in lines if not line.startswith("#")], delimiter="\t"))


def test_tsv_has_one_header_and_all_columns_in_every_row():
    provenance = {"version": "1.0", "device": {"name": "a\nb"}, "command": ["x", 1]}
    head, rows = tsv([make_scan("2L"), make_scan("2R", 2)], provenance)
    assert head == ["# version: 1.0", "# device: name=a b", "# command: x 1"]
    assert [row["chromosome"] for row in rows] == ["2L"] * 5 + ["2R"] * 5
    assert rows[0] == {
        "chromosome": "2L", "replicate": "1", "position": "1000.50", "omega": "NA", "left": "NA", "right": "NA",
        "window_sites": "NA",
    }  # fmt: skip
    assert rows[9]["omega"] == "9"
    assert rows[9]["right"] == "5400"
    assert rows[9]["window_sites"] == "17"


def test_omega_of_zero_has_no_window():
    scan = make_scan(omega=np.zeros(5))
    _, rows = tsv([scan])
    assert (rows[1]["omega"], rows[1]["left"], rows[1]["window_sites"]) == ("0", "NA", "NA")
    stream = io.BytesIO()
    write_report([scan], stream, make_report("json"))
    (record,) = json.loads(stream.getvalue().decode())["alignments"]
    assert record["omega"] == [None, 0, 0, 0, 0]
    assert record["left"] == record["right"] == record["window_sites"] == [None] * 5
    assert record["maximum"] is None
    assert "omega is 0 at every position" in summary_line(scan)


def test_tsv_keeps_float32_values_exactly():
    omega = np.random.default_rng(1).exponential(10, 50).astype(np.float32)
    scan = make_scan(grid=50, omega=omega.astype(np.float64), valid=np.ones(50, bool), window_sites=None, digits=9)
    _, rows = tsv([scan])
    assert np.array_equal(np.array([row["omega"] for row in rows], np.float32), omega)
    assert np.array_equal(np.array(scan_record(scan)["omega"], np.float32), omega)


def test_digits_that_do_not_hold_are_not_shown():
    scan = make_scan(grid=2, omega=np.array([1.23456789e-3, 123456.789]), valid=np.array([True, True]))
    _, rows = tsv([scan])
    assert [row["omega"] for row in rows] == ["0.001234568", "123456.8"]
    assert scan_record(scan)["omega"] == [0.001234568, 123456.8]
    assert scan_record(scan)["maximum"]["omega"] == 123456.8


def test_omegaplus_shows_windows_that_a_border_forbids():
    changes = {"valid": np.array([False, False]), "left": np.array([7, 0]), "right": np.array([7, 0])}
    scan = make_scan(grid=2, omega=np.zeros(2), enough_sites=np.array([True, False]), **changes)
    rows = make_report("omegaplus", all_columns=True).body(scan).decode().splitlines()
    assert rows[2:] == ["1000.5000\t0.000000\t7\t7\t1", "9000.2500\t0.000000\t0\t0\t0"]
    assert [row["omega"] for row in tsv([scan])[1]] == ["NA", "NA"]
    assert "--border permits no window" in summary_line(scan)


def test_tsv_names_cannot_break_the_table():
    _, rows = tsv([make_scan("a\tb\nc")])
    assert {row["chromosome"] for row in rows} == {"a b c"}


def test_json_is_whole_and_summarises():
    stream = io.BytesIO()
    nothing = np.zeros(0)
    impossible = make_scan(
        "X", 2, positions=nothing, omega=nothing, left=nothing, right=nothing, valid=nothing == 1, possible=False,
        window_sites=None,
    )  # fmt: skip
    assert write_report([make_scan(), impossible], stream, make_report("json", provenance={"version": "1"})) == 2
    record = json.loads(stream.getvalue().decode())
    assert record["provenance"] == {"version": "1"}
    first, second = record["alignments"]
    assert first["maximum"] == {"omega": 9.0, "position": 9000.25, "left": 400, "right": 5400, "window_sites": 17}
    assert first["omega"][0] is None
    assert first["left"][0] is None
    assert len(first["positions"]) == len(first["omega"]) == len(first["window_sites"]) == 5
    assert second["maximum"] is None
    assert second["possible"] is False
    assert second["omega"] == []


def test_json_of_no_alignment_is_whole():
    stream = io.BytesIO()
    write_report([], stream, make_report("json"))
    assert json.loads(stream.getvalue().decode()) == {"provenance": {}, "alignments": []}


def test_json_has_no_infinities():
    scan = make_scan(omega=np.array([0, 1, 2, np.inf, 4.0]))
    stream = io.BytesIO()
    write_report([scan], stream, make_report("json"))
    (record,) = json.loads(stream.getvalue().decode())["alignments"]
    assert record["omega"] == [None, 1.0, 2.0, None, 4.0]
    assert record["maximum"]["omega"] is None
    assert record["maximum"]["position"] == scan.positions[3]


def test_unknown_format():
    with pytest.raises(UsageError, match="choose one of tsv, omegaplus, json"):
        make_report("xml")


def test_summary_line_names_the_maximum_and_what_was_left_out():
    line = summary_line(make_scan())
    assert "40 sites (left out: 3 not a SNP)" in line
    assert "largest omega 9 at 9,000 bp, window 400-5,400" in line
    assert "no window" in summary_line(make_scan(valid=np.zeros(5, bool)))
    assert "not possible" in summary_line(make_scan(possible=False))
