"""The golden runs of the Verilog against timing and arithmetic, and the Verilog itself where Verilator is there.

`HLS_MODEL_LIVE_LANES` names the greatest number of lanes whose Verilog is built; 4 by default, and only the circuits of
the commonest latencies. 32 runs the whole table, which takes minutes.
"""

from __future__ import annotations

import configparser
import dataclasses
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers.fpga_command import fpga
from helpers.shared_builds import alone_in, shared_folder

from hls_model import Config, Memory, ModelError, Operators
from hls_model.functional import Best
from hls_model.limits import MIN_LATENCY_NS, check_possible
from hls_model.operators import Latencies
from hls_model.rtl import golden, twin
from hls_model.rtl.stimulus import KINDS, beat_order, operands, stimulus
from hls_model.timing import LEVELS
from hls_model.validate import check, live_runs, same

ROOT = Path(__file__).parents[4]
CASES = golden.read_cases()
LIVE_LANES = int(os.environ.get("HLS_MODEL_LIVE_LANES", "0"))
QUICK = {(1, 1), (4, 4)}  # lanes and words of a port beat that are built by default
HEAD = ",".join(golden.COLUMNS) + "\n"
needs_verilator = pytest.mark.skipif(shutil.which("verilator") is None, reason="verilator is not installed")


def row(case: golden.Case) -> str:
    return f"{case.left}x{case.right}-{case.settings.replace(' ', ',')}"


def live_cases() -> list[golden.Case]:
    default = twin.Circuit.of(golden.Case(1, 1, 1, "plain", "unroll=1", 0, Best()).config).operators
    circuits = [twin.Circuit.of(case.config) for case in CASES]
    if LIVE_LANES:
        return [case for case, circuit in zip(CASES, circuits, strict=True) if circuit.lanes <= LIVE_LANES]
    quick = [(c.lanes, c.port_words) in QUICK and c.operators == default and not c.stream_rs for c in circuits]
    return [case for case, chosen in zip(CASES, quick, strict=True) if chosen]


def test_the_table_covers_what_it_should() -> None:
    configs = [case.config for case in CASES]
    assert len(CASES) >= 40
    assert {1, 4, 8, 32} <= {config.unroll for config in configs}
    assert len({config.latency for config in configs}) >= 4
    assert len({config.latencies for config in configs}) >= 3
    assert max(config.beats_per_issue for config in configs) > 1
    assert max(config.issues_per_beat for config in configs) > 1
    assert {config.rs_prefetch for config in configs} == {"per_position", "per_outer", "none"}
    assert {case.kind for case in CASES} == set(KINDS)
    for of in (
        lambda config: config.ii > 1,
        lambda config: config.overlap_outer,
        lambda config: config.remainder == "masked",
        lambda config: config.lane_map == "blocked",
        lambda config: config.memory.burst_gap > 0,
        lambda config: config.memory.random_gap_percent > 0,
        lambda config: config.memory.random_stall_percent > 0,
        lambda config: config.pace > 1,
        lambda config: config.lanes < config.unroll,
    ):
        assert {of(config) for config in configs} == {False, True}
    assert any(case.right < case.config.unroll for case in CASES)
    assert any(0 < case.right // case.config.lanes < case.config.depth for case in CASES)
    assert any(case.right // case.config.lanes > case.config.depth for case in CASES)


def test_every_row_is_a_design_that_axi_allows() -> None:
    """Their memory may be quicker than any DRAM, which is no matter of AXI."""
    for case in CASES:
        memory = dataclasses.replace(case.config.memory, latency_ns=max(case.config.memory.latency_ns, MIN_LATENCY_NS))
        check_possible(case.config.but(memory=memory))


@pytest.mark.parametrize("case", CASES, ids=row)
def test_model_is_the_verilog(case: golden.Case) -> None:
    checked = check(case)
    for level in LEVELS:
        assert checked.timings[level].cycles == case.cycles
    assert same(checked.computed, case.best)


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the Verilog of this module's tests is built, once."""
    folder = shared_folder(tmp_path_factory, "verilog")
    if shutil.which("verilator") is not None:
        with alone_in(folder):
            for circuit in {twin.Circuit.of(case.config) for case in live_cases()}:
                twin.build(circuit, folder, waves=circuit.lanes == 1)  # which those of waveforms need as well
    return folder


@needs_verilator
def test_verilog_is_the_table(builds: Path) -> None:
    cases = live_cases()
    assert cases
    for case, run in zip(cases, live_runs(cases, builds), strict=True):
        checked = check(case, run)
        assert checked.live_agrees, row(case)
        assert checked.omega_agrees, row(case)  # of every lane


def random_case(rng: random.Random) -> golden.Case:
    """Any design of 4 lanes and port beats of 4 words, on a small position."""
    latency = rng.choice([1, 2, 5, 20, 64, 200])
    prefetch = rng.choice(["per_position", "per_position", "per_outer"])
    values = {
        "unroll": rng.choice([4, 8]),
        "physical_lanes": 4,
        "memory.port_bits": 128,
        "memory.ports": 1,
        "memory.latency_ns": 4.0 * latency,
        "memory.burst_length": rng.choice([1, 2, 4, 8, 16, 64, 256]),
        "memory.burst_gap": rng.choice([0, 0, 1, min(9, latency)]),
        "memory.outstanding": rng.choice([1, 2, 3, 8, 40]),
        "memory.fifo_beats": rng.choice([2, 3, 17, 256]),
        "memory.efficiency": rng.choice([1.0, 0.09, 0.07, 0.03]),
        "memory.random_gap_percent": rng.choice([0.0, 5.0, 37.5, 100.0]),
        "memory.random_gap_seed": rng.randrange(1000),
        "memory.random_stall_percent": rng.choice([0.0, 10.0, 60.0, 100.0]),
        "ii": rng.choice([1, 1, 2, 3, 16]),
        "fsm_cycles": rng.choice([1, 2, 7]),
        "rs_buffer_words": rng.choice([4, 20, 44, 800]),
        "rs_prefetch": prefetch,
        "remainder": rng.choice(["software", "masked"]),
        "lane_map": rng.choice(["interleaved", "blocked"]),
        "overlap_outer": str(prefetch == "per_position" and rng.random() < 0.5).lower(),
    }
    settings = " ".join(f"{name}={value}" for name, value in values.items())
    return golden.Case(
        rng.randrange(1, 12), rng.randrange(8, 160), rng.randrange(1000), rng.choice([*KINDS]), settings, 0, Best()
    )


@needs_verilator
@pytest.mark.parametrize(
    ("lanes", "port_words", "stream_rs", "latencies"),
    [
        (4, 4, False, (5, 5, 10, 4, 2, 1, 2)),
        (1, 1, False, (4, 4, 8, 3, 2, 1, 1)),
        (1, 16, True, (1, 1, 1, 1, 1, 1, 1)),  # a port beat feeds several beats
        (6, 16, False, (11, 11, 28, 6, 4, 2, 2)),  # and a part of it is unused
        (8, 3, True, (7, 7, 12, 5, 3, 2, 3)),  # a beat takes several port beats
    ],
)
def test_verilog_has_no_warnings(
    tmp_path: Path, lanes: int, port_words: int, stream_rs: bool, latencies: tuple[int, ...]
) -> None:
    circuit = twin.Circuit(lanes, port_words, stream_rs, Latencies(*latencies))
    (tmp_path / "design.vh").write_text(circuit.header)
    command = ["verilator", "--lint-only", "-Wall", f"-I{tmp_path}", "--top-module", "omega_top"]
    command += map(str, sorted(twin.FOLDER.glob("*.v")))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_verilator
def test_any_design_is_the_verilog(builds: Path) -> None:
    rng = random.Random(20210517)
    cases = [random_case(rng) for _ in range(80)]
    for case, run in zip(cases, live_runs(cases, builds), strict=True):
        checked = check(case.with_result(run), run)
        assert checked.agrees, f"{row(case)}: {run.cycles} cycles"


FAULTS = (  # in the requests of omega_top.v, each for designs with so many cycles of the state machine
    (2, "assign ar_valid = requesting &&", "assign ar_valid = requesting && !(fsm_cycles == 2 && held) &&"),
    (3, "assign ar_addr = (", "assign ar_addr = {31'd0, fsm_cycles == 3 && held} + ("),
    (4, "ts_next + {16'd0, burst_length};", "ts_next + {16'd0, fsm_cycles == 4 ? ar_len : burst_length};"),
    (5, "ts_next <= ts_address;", "ts_next <= ts_address + {19'd0, fsm_cycles == 5, 12'd0};"),
)  # fmt: skip


@pytest.fixture(scope="module")
def faulty(builds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bench of one lane, with all faults."""
    folder = tmp_path_factory.mktemp("faulty")
    for file in twin.FOLDER.glob("*.*"):
        shutil.copy(file, folder)
    text = (folder / "omega_top.v").read_text()
    text = text.replace(
        "assign ar_addr = reads_rs ? rs_next : ts_next;", "assign ar_addr = (reads_rs ? rs_next : ts_next);"
    )
    for _, right, wrong in FAULTS:
        assert text.count(right) == 1
        text = text.replace(right, wrong)
    held = "reg held; always @(posedge clk) held <= ar_valid && !ar_ready;\n"
    text = text.replace("  assign ar_valid =", f"  {held}  assign ar_valid =")
    (folder / "omega_top.v").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twin, "FOLDER", folder)
        with alone_in(builds):
            return twin.build(twin.Circuit(1, 1, False, Config().latencies), builds)


@needs_verilator
@pytest.mark.parametrize(
    ("fsm_cycles", "message"),
    [
        (2, "is dropped before it is accepted"),
        (3, "changes before it is accepted"),
        (4, "crosses a multiple of 4,096 bytes"),
        (5, "lies outside of memory"),
        (6, "has not 1 to 256 beats"),
    ],
)
def test_bench_tells_what_axi_forbids(faulty: Path, fsm_cycles: int, message: str) -> None:
    memory = Memory(port_bits=32, ports=1, latency_ns=40.0, burst_length=256, random_stall_percent=80.0)
    good = Config(unroll=1, memory=memory)
    twin.run(faulty, [(operands(6, 700, 1), good)])
    bad = good.but(fsm_cycles=fsm_cycles)
    if fsm_cycles == 6:
        bad = bad.but(memory=dataclasses.replace(memory, burst_length=257))
    with pytest.raises(ModelError, match=message):
        twin.run(faulty, [(operands(6, 700, 1), bad)])


@needs_verilator
def test_beats_enter_the_lanes_when_defined(builds: Path) -> None:
    case = next(case for case in CASES if case.settings == "unroll=1 memory.port_bits=32 memory.ports=1")
    (run,) = twin.run(twin.build(twin.Circuit.of(case.config), builds), [(case.sums, case.config)], trace=True)
    M, D, Z = case.config.latency, case.config.depth, case.config.fsm_cycles
    column = np.arange(case.right) + M + 1
    starts = M + case.right + 1 + np.arange(case.left) * (M + case.right + D + Z)
    assert list(run.issues) == (starts[:, None] + column).ravel().tolist()


@pytest.mark.parametrize("lane_map", ["interleaved", "blocked"])
@pytest.mark.parametrize(("unroll", "right"), [(1, 5), (4, 3), (4, 12), (4, 13), (5, 29)])
def test_every_iteration_has_a_beat_and_only_the_last_is_masked(lane_map: str, unroll: int, right: int) -> None:
    config = CASES[0].config.but(unroll=unroll, lane_map=lane_map, remainder="masked")
    order = beat_order(right, config)
    assert sorted(order[order >= 0]) == list(range(right))
    assert (order[:-1] >= 0).all()
    assert (np.diff((order[-1] < 0).astype(int)) >= 0).all()  # the first lanes take part


def test_registers_have_limits() -> None:
    config = CASES[0].config
    for change in (
        {"ii": 60_001, "operators": Operators(fdiv=70_000)},
        {"memory": config.memory.__class__(port_bits=32, ports=1, fifo_beats=257)},
        {"rs_buffer_words": 1025},
    ):
        with pytest.raises(ModelError, match="the Verilog takes"):
            stimulus(operands(2, 1100, 1), config.but(**change))


def test_a_failed_build_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ModelError, match="verilator is not installed"):
        twin.build(twin.Circuit.of(CASES[0].config), tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: "false")
    with pytest.raises(ModelError, match="the Verilog could not be built: exit status 1"):
        twin.build(twin.Circuit.of(CASES[0].config), tmp_path)


def test_command_says_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    golden.write_cases(CASES[:3], table)
    assert golden.read_cases(table) == CASES[:3]
    assert fpga(["validate", "--table", str(table)]) == 0
    summary = "3 recorded runs of the Verilog compared with the model, 0 differ; --live runs the Verilog again\n"
    assert summary in capsys.readouterr().out
    wrong = golden.Case(*[*vars(CASES[0]).values()][:5], CASES[0].cycles + 1, CASES[1].best)
    golden.write_cases([wrong, CASES[1]], table)
    assert fpga(["validate", "--table", str(table), "--json"]) == 1
    shown = capsys.readouterr()
    assert "2 recorded runs of the Verilog compared with the model, 1 differ" in shown.err
    record = json.loads(shown.out)
    assert record["live"] is False
    assert not record["agree"]
    assert not record["cases"][0]["omega_agrees"]
    assert not record["cases"][0]["levels"]["L1"]["agrees"]
    assert record["cases"][1]["levels"]["L2"]["agrees"]


@needs_verilator
def test_command_says_that_it_ran_the_verilog(builds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    golden.write_cases(CASES[:2], table)
    assert fpga(["validate", "--live", "--table", str(table), "--build-folder", str(builds)]) == 0
    summary = "2 live runs of the Verilog compared with the model and with the recorded ones, 0 differ\n"
    assert summary in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "left\nx\n", HEAD, HEAD + "1,2\n", HEAD + "1,2,1,plain,unroll,3,0,1,1\n"])
def test_a_damaged_table_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    table = tmp_path / "table.csv"
    table.write_text(text)
    assert fpga(["validate", "--table", str(table)]) == (0 if text == HEAD else 3)
    assert (": " + str(table) in capsys.readouterr().err) == (text != HEAD)


def test_build_folder_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    words = ["--live", "--lanes", "1", "--build-folder", str(tmp_path / "file")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutil, "which", lambda name: "verilator")
        assert fpga(["validate", *words]) == 5
    assert "cannot be written" in capsys.readouterr().err


def test_update_takes_the_whole_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["validate", "--update", "--lanes", "1"]) == 2
    assert "leave --lanes out" in capsys.readouterr().err


def test_missing_verilator_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert fpga(["validate", "--live", "--lanes", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_verilog_is_shipped() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert setup["options"]["packages"] == "find_namespace:"
    assert "hls_model*" in setup["options.packages.find"]["include"].split()
    patterns = setup["options.package_data"]["*"].replace(",", " ").split()
    files = [path for path in (ROOT / "hls_model" / "rtl").iterdir() if path.is_file() and path.suffix != ".py"]
    assert {path.suffix for path in files} == {".v", ".vh", ".cpp", ".csv"}
    assert all(f"*{path.suffix}" in patterns for path in files)
