"""The trace command: what it prints, writes and draws is what was recorded."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from helpers.fpga_command import fpga
from helpers.pipeline_oracle import designs
from helpers.vcd_reader import read_vcd
from hypothesis import given, settings, strategies as st

from hls_model import Config, Workload, load, simulate
from hls_model.extras.trace import SHADES, shares_of, trace
from hls_model.extras.waves import write_vcd
from oclgenomics.cli.main import main as oclgenomics

PNG = b"\x89PNG"


@settings(max_examples=60, deadline=None)
@given(designs(), st.integers(1, 5), st.integers(1, 150))
def test_a_trace_agrees_with_the_simulation(config: Config, left: int, right: int) -> None:
    config = config.but(remainder="masked")
    traced, timed = trace(config, left, right), simulate(Workload.single(left, right), config)
    assert traced.recording.phases == {name: int(timed.phases[name][0]) for name in traced.recording.phases}
    assert traced.recording.cycles == timed.cycles
    assert traced.rate == pytest.approx(timed.hardware_rate)
    columns = traced.columns()
    assert len(columns) == sum(traced.recording.columns)
    assert all(column.request < column.first <= column.last < column.stop for column in columns)
    assert columns[-1].stop == timed.cycles - config.lanes
    assert all(before.last < after.first for before, after in itertools.pairwise(columns))
    assert all(stage.busy.min() >= 0 for stage in traced.stages())
    assert all(stage.busy.max() <= 1 for stage in traced.stages() if stage.name != "issue")


def test_shares_keep_the_mean_and_no_stretch_is_empty() -> None:
    busy = np.repeat([0.0, 1.0, 0.5], [3, 4, 3])
    assert shares_of(busy, 10).tolist() == busy.tolist()
    assert shares_of(busy, 2).tolist() == [0.4, 0.7]
    assert np.isfinite(shares_of(busy, 7)).all()


def test_the_table_and_the_strip(capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["trace", "--left", "2", "--right", "640", "--set", "memory.latency_ns=256"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "u200, 32 lanes at 250 MHz: a position of 2 x 640 scores"
    assert lines[2].split() == ["prefetch", "85", "cycles", "23.5", "%"]
    assert lines[8].split()[:3] == ["total", "361", "cycles"]
    strip = {line.split("|")[0].strip(): line.split("|")[1] for line in lines if "|" in line}
    assert list(strip) == ["requests", "bus", "FIFO", "RS buffer", "issue", "lanes", "merge"]
    assert {len(row) for row in strip.values()} == {72}
    assert set("".join(strip.values())) <= set(SHADES)
    assert strip["merge"] == " " * 65 + ":" + SHADES[-1] * 6


def test_a_very_short_position_has_a_short_strip(capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["trace", "--left", "1", "--right", "1", "--unroll", "1", "--set", "memory.latency_ns=10"]) == 0
    assert "| a lane a cycle" in capsys.readouterr().out


def test_json_waveforms_and_picture_of_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    vcd, png = tmp_path / "a.vcd", tmp_path / "a.png"
    words = [
        "trace",
        "--board",
        "zcu102",
        "--left",
        "3",
        "--right",
        "90",
        "--vcd",
        str(vcd),
        "--plot",
        str(png),
        "--json",
    ]
    assert fpga(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["cycles"] == sum(record["phases_cycles"].values())
    assert record["software_omegas"] == 3 * 2
    assert len(record["columns"]) == 3
    assert 0 < record["busy"]["bus"] < 1
    assert read_vcd(vcd.read_text()).end == (record["cycles"] + 1) * 10
    assert png.read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    "words",
    [
        ["--left", "40"],
        ["--left", "3", "--right", "9000", "--set", "rs_buffer_words=1024"],
        ["--set", "rs_prefetch=none", "--left", "2"],
        ["--board", "u200_overlap", "--set", "ii=3", "--left", "5"],
    ],
)
def test_pictures_of_many_columns_tiles_and_streams(words: list[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    for file in (first, second):
        assert fpga(["trace", *words, "--plot", str(file), "-o", str(tmp_path / "text")]) == 0
    assert first.read_bytes() == second.read_bytes()
    assert "How busy each stage is" in first.read_text()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--left", "0"], 2, "nothing runs in hardware: the position has no column or no full beat; take more --right"),
        (["--right", "31"], 2, "nothing runs in hardware"),
        (["--left", "-1"], 2, "argument --left: '-1' is below 0; give 0 or more"),
        (["--left", "100000000"], 2, "is too long, 2,000,000 at most; take fewer --left"),
        (["--plot", "a.txt"], 2, "--plot a.txt: the name has to end in .png, .svg or .pdf"),
        (["--vcd", "-"], 2, "-o - and --vcd - both go to standard output; name a file for one of them"),
        (["--vcd", "none/a.vcd"], 5, "--vcd none/a.vcd: there is no folder none; make it first"),
    ],
)
def test_errors_are_one_line(
    words: list[str],
    status: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert oclgenomics(["fpga", "trace", *words]) == status
    caught = capsys.readouterr()
    assert message in caught.err
    assert caught.err.count("\n") == 1
    assert not caught.out
    assert not list(tmp_path.iterdir())


def test_waveforms_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["trace", "--left", "1", "--right", "64", "--vcd", "-", "-o", "/dev/null"]) == 0
    expected = io.StringIO()
    write_vcd(trace(load("u200"), 1, 64).recording, expected)
    assert capsys.readouterr().out == expected.getvalue()
