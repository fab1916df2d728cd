"""Waveforms of the Verilog: what they hold is what the model's hold, cycle by cycle."""

from __future__ import annotations

import dataclasses
import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers.fpga_command import fpga
from helpers.shared_builds import alone_in, shared_folder
from helpers.vcd_reader import Dump, Wire, read_vcd

from hls_model import Config, Memory, ModelError
from hls_model.extras.trace import trace
from hls_model.extras.waves import half_period, write_vcd, write_waves
from hls_model.rtl import twin
from hls_model.rtl.stimulus import operands

needs_verilator = pytest.mark.skipif(shutil.which("verilator") is None, reason="verilator is not installed")
MEMORY = Memory(latency_ns=40.0, port_bits=32, ports=1, burst_length=4, outstanding=2, fifo_beats=3, efficiency=1.0)
PLAIN = Config(unroll=1, memory=MEMORY)
STALLED = PLAIN.but(
    overlap_outer=True, ii=2, memory=dataclasses.replace(MEMORY, random_stall_percent=60.0, random_gap_percent=30.0)
)
TILED = PLAIN.but(rs_buffer_words=7, fsm_cycles=3, clock_mhz=250.0, lane_map="blocked")
SIGNALS = {  # of the model, and of the Verilog
    "request.valid": ("ar_valid",),
    "request.accepted": ("ar_valid", "ar_ready"),
    "bus.valid": ("r_valid",),
    "bus.taken": ("r_valid", "r_ready"),
    "fifo.count": ("fifo_count",),
    "lanes.issue": ("issue",),
    "buffer.write": ("write_rs",),
    "control.done": ("done",),
}


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the Verilog of one lane is built, once."""
    folder = shared_folder(tmp_path_factory, "verilog")
    if shutil.which("verilator") is not None:
        with alone_in(folder):
            twin.build(twin.Circuit.of(PLAIN), folder, waves=True)
    return folder


def of_verilog(config: Config, left: int, right: int, builds: Path) -> Dump:
    stream = io.StringIO()
    write_waves(operands(left, right, 1), config, stream, builds)
    return read_vcd(stream.getvalue(), verilator=True)


def of_model(config: Config, left: int, right: int) -> Dump:
    stream = io.StringIO()
    write_vcd(trace(config, left, right).recording, stream)
    return read_vcd(stream.getvalue())


def by_cycle(wire: Wire, cycles: int, period: int) -> np.ndarray:
    """The value in each cycle, between two rises of the clock; int64 (cycles,)."""
    last = np.searchsorted(wire.times, np.arange(cycles) * period, side="right") - 1
    return np.array(wire.values)[last]


@needs_verilator
@pytest.mark.parametrize("config", [PLAIN, STALLED, TILED], ids=["plain", "stalled", "tiled"])
def test_waveforms_of_verilog_and_model_agree(config: Config, builds: Path) -> None:
    verilog, model = of_verilog(config, 4, 23, builds), of_model(config, 4, 23)
    half, _ = half_period(config.clock_mhz)
    cycles = trace(config, 4, 23).recording.cycles + 1
    assert verilog.timescale == model.timescale
    assert verilog.wires["omega_top.clk"].times == model.wires["pipeline.clock"].times
    for name, of in SIGNALS.items():
        expected = by_cycle(model.wires[f"pipeline.{name}"], cycles, 2 * half)
        found = np.prod([by_cycle(verilog.wires[f"omega_top.{each}"], cycles, 2 * half) for each in of], axis=0)
        assert expected.any(), name
        assert found.tolist() == expected.tolist(), name


@needs_verilator
def test_operands_and_lanes_are_in_the_waveforms(builds: Path) -> None:
    sums = operands(4, 23, 1)
    wires = of_verilog(PLAIN, 4, 23, builds).wires
    taken = set(wires["omega_top.r_data"].values)
    assert set(sums.RS.view(np.uint32).tolist()) <= taken
    assert set(sums.TS.view(np.uint32).ravel().tolist()) <= taken
    assert set(sums.LS.view(np.uint32).tolist()) <= set(wires["omega_top.ls_data"].values)
    assert any(name.startswith("omega_top.lanes[0].pipeline.") for name in wires)


@needs_verilator
def test_command_writes_the_same_waveforms_again(
    builds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["trace", "--unroll", "1", "--set", "memory.port_bits=32", "--set", "memory.ports=1", "--left", "2"]
    words += ["--right", "9", "--build-folder", str(builds)]
    files = [tmp_path / name for name in ("1.vcd", "2.vcd", "3.vcd")]
    for file, seed in zip(files, ("5", "5", "6"), strict=True):
        assert fpga([*words, "--rtl", str(file), "--seed", seed]) == 0
    assert "a position of 2 x 9 scores" in capsys.readouterr().out
    one, same, other = (file.read_text() for file in files)
    assert one == same != other


def test_without_verilator_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert fpga(["trace", "--rtl", str(tmp_path / "a.vcd")]) == 2
    caught = capsys.readouterr()
    assert "verilator is not installed" in caught.err
    assert caught.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_dumped_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match=r"waveforms of [\d,]+ cycles are too long, 100,000 at most"):
        write_waves(operands(200, 2000, 1), PLAIN, io.StringIO())
    assert fpga(["trace", "--rtl", str(tmp_path / "a.vcd"), "--seed", str(2**32)]) == 2
    assert "--seed is 4294967296; it has to be 0 to 4294967295" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
