"""What no board can do is refused, naming the limit; every preset is possible."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from helpers.fpga_command import fpga
from hypothesis import given, strategies as st

from hls_model import PRESETS, ModelError, Workload, change, load, parse_settings, simulate
from hls_model.boards import BOARDS
from hls_model.extras.explore import Space, explore
from hls_model.limits import check_possible
from hls_model.operators import REPORTED, Operators, latencies_at
from hls_model.project import project
from hls_model.report import make_report
from hls_model.resources import check_fits
from hls_model.roofline import roofline
from oclgenomics.fpga import project_workloads, run_scan
from oclgenomics.omega.options import ScanOptions

SCAN = Workload.uniform(1_000, grid=20)
IMPOSSIBLE = [
    ("u200", "clock_mhz=2000", "clock_mhz is 2000; u200 allows 500 MHz at most (scalable kernel clock"),
    ("u200", "memory.banks=5", "memory.banks is 5; u200 has 4"),
    ("zcu102", "memory.ports=8", "memory.ports is 8; zcu102 has 7"),
    ("u280_hbm", "memory.port_bits=512", "memory.port_bits is 512; u280 has 256"),
    ("u200", "memory.bank_gbps=100", "memory.bank_gbps is 100; u200 has 19.2"),
    ("u200", "memory.latency_ns=1e9", "memory.latency_ns is 1e+09; no memory takes more than 10000"),
    ("u200", "memory.port_bits=96", "memory.port_bits is 96; AXI data buses have a power of two"),
    ("u200", "memory.burst_length=24", "memory.burst_length is 24; bursts of 1,536 bytes would cross 4,096-byte"),
    ("u200", "memory.burst_length=512", "memory.burst_length is 512; an AXI burst has 256 beats at most"),
    ("u200", "memory.latency_ns=1", "memory.latency_ns is 1; no DRAM takes less than 10"),
    ("u200", "memory.outstanding=1000", "memory.outstanding is 1000; a port keeps track of 256 at most"),
    ("u200", "host_gbps=100", "host_gbps is 100; u200 has 15.76 GB/s at most (PCIe 3.0 x16)"),
    ("zcu102", "host_gbps=100", "host_gbps is 100; zcu102 has 19.2 GB/s at most (shared memory)"),
    ("u200", "power_watts=300", "power_watts is 300; u200 may draw 225"),
    ("u200", "operators.fdiv=1", "operators.fdiv is 1, 4 ns at 250 MHz; none takes less than 20 ns"),
]


@pytest.mark.parametrize(("board", "setting", "said"), IMPOSSIBLE, ids=[setting for _, setting, _ in IMPOSSIBLE])
def test_what_no_board_can_do_is_refused_by_name(board: str, setting: str, said: str) -> None:
    config = change(load(board), parse_settings([setting]))
    for refuse in (
        check_possible,
        lambda design: project(SCAN, design),
        lambda design: roofline(SCAN, design),
        lambda design: make_report(SCAN, design),
        lambda design: explore(SCAN, design, Space()),
        check_fits,
        lambda design: project_workloads([SCAN], [design]),
        lambda design: run_scan("nothing.ms", ScanOptions(grid=2, minwin=0, maxwin=1), design),
    ):
        with pytest.raises(ModelError) as caught:
            refuse(config)
        assert str(caught.value).startswith(said)
        assert "\n" not in str(caught.value)


ONE = ["--snps", "300", "--grid", "3"]
COMMANDS = {
    "project": ONE, "explore": ONE, "curve": [], "roofline": ONE, "report": ONE, "resources": [], "timing": [],
    "trace": [], "table3": [], "hls": [], "memory": [],
}  # fmt: skip


@pytest.mark.parametrize("as_file", [False, True])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("clock_mhz=2000.0", "u200 allows 500 MHz at most"),
        ("memory.outstanding=1000", "256 at most"),
        ("unroll=1024", "LUT; u200 has 1,182,240, of which the shell leaves"),
        ("memory.efficiency=1e-300", "0.001 is the least"),
        ("memory.bank_gbps=1e-9", "a port beat would take more than 1,000,000 cycles"),
        ("position_overhead_us=1e24", "1e+09 is the most"),
    ],
)
def test_no_command_takes_what_is_impossible(
    command: str, as_file: bool, setting: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [command, *COMMANDS[command], *(["--folder", str(tmp_path / "made")] if command == "hls" else [])]
    (tmp_path / "own.toml").write_text(setting)
    words += ["--board", str(tmp_path / "own.toml")] if as_file else ["--set", setting]
    words += ["--unrolls", "1024"] if command == "explore" and as_file and setting.startswith("unroll") else []
    assert fpga(words) in (2, 3)
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert said in captured.err


def test_what_is_compared_is_possible_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.toml").write_text("memory.banks = 9")
    assert fpga(["project", *ONE, "--compare", str(tmp_path / "own.toml")]) == 2
    assert "memory.banks is 9; u200 has 4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["project", "--grid", "99999999999"], "at most 100000000 positions are possible"),
        (["curve", "--to", "99999999"], "100,000,000 SNPs on one side"),
        (["project", "--snps", "200000", "--grid", "3", "--maxwin", "50000"], "SNPs on one side; the 32-bit counters"),
        (["timing", "--left", "70000"], "70,001 SNPs on one side"),
    ],
)
def test_what_cannot_be_counted_is_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(words) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert said in captured.err


def test_more_cycles_than_are_counted_are_refused() -> None:
    slow = load("u200").but(unroll=1, ii=2_000_000_000, operators=Operators(fdiv=2_000_000_000))
    with pytest.raises(ModelError, match=r"may take 7\.2e\+18 cycles; the model counts 4\.6e\+18"):
        simulate(Workload.single(60_000, 60_000), slow)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_possible(name: str) -> None:
    check_possible(load(name))


def test_at_the_limit_is_possible() -> None:
    board = BOARDS["u200"]
    memory = dataclasses.replace(load("u200").memory, banks=board.banks, ports=board.ports, bank_gbps=board.bank_gbps)
    check_possible(load("u200").but(clock_mhz=board.max_clock_mhz, memory=dataclasses.replace(memory, burst_length=64)))


def test_explore_counts_what_is_no_design() -> None:
    found = explore(SCAN, load("u200"), Space(unroll=(16,), ports=(1, 2, 16)))
    assert (len(found.designs), found.impossible) == (2, 1)


@pytest.mark.parametrize("right", [65_534, 65_535, 65_536])
def test_sides_are_as_long_as_the_counters_go(right: int) -> None:
    """The shortest side has 2 SNPs, so n right-side iterations end at a side of n + 1 SNPs."""
    workload = Workload.single(1, right)
    assert workload.widest_side == right + 1
    if right + 1 <= 65_536:
        assert simulate(workload, load("u200")).cycles > 0
    else:
        with pytest.raises(ModelError, match="65,537 SNPs on one side; the 32-bit counters"):
            simulate(workload, load("u200"))


def test_the_longer_side_of_a_window_counts() -> None:
    positions = np.arange(1, 1_001, dtype=np.int64)
    scan = Workload.from_positions(positions, grid=2, minwin=1, maxwin=400)
    assert scan.widest_side == 0  # both positions lie at an end and have no window
    scan = Workload.from_positions(positions, grid=5, minwin=1, maxwin=300)
    assert scan.widest_side == 301


@given(st.floats(1, 1000), st.integers(0, 30))
def test_operators_are_those_of_the_clock_unless_set(clock: float, fdiv: int) -> None:
    latencies, usual = Operators(fdiv=fdiv).at(clock), latencies_at(clock)
    assert latencies.fdiv == (fdiv or usual.fdiv)
    assert dataclasses.replace(latencies, fdiv=usual.fdiv) == usual


@given(st.floats(1, 1000), st.floats(1, 1000))
def test_a_faster_clock_never_takes_fewer_cycles(one: float, other: float) -> None:
    slow, fast = (latencies_at(clock) for clock in sorted((one, other)))
    assert all(getattr(slow, name) <= getattr(fast, name) for name in vars(REPORTED))
    design = load("u200")
    assert design.but(clock_mhz=min(one, other)).latency <= design.but(clock_mhz=max(one, other)).latency


def test_the_memorys_nanoseconds_are_rounded_up_to_cycles() -> None:
    config = change(load("u200"), parse_settings(["memory.latency_ns=256"]))
    assert [config.but(clock_mhz=clock).latency for clock in (100.0, 250.0, 251.0, 300.0)] == [26, 64, 65, 77]
