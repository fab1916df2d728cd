"""The C++ kernel: what g++ makes of it against the functional model, and the projects for vendors' tools."""

from __future__ import annotations

import configparser
import dataclasses
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers.fpga_command import fpga

from hls_model import ModelError, load
from hls_model.boards import BOARDS
from hls_model.config import Config
from hls_model.errors import ModelOutputError
from hls_model.extras.hls.design import LS_BLOCK, extent, latency_cycles, port_interval
from hls_model.extras.hls.source import (
    FLAGS,
    PARTS,
    SOURCES,
    Computed,
    build,
    check,
    compute,
    project_files,
    write_project,
)
from hls_model.functional import Best, Sums
from hls_model.presets import change, parse_settings
from hls_model.rtl import golden
from hls_model.rtl.stimulus import KINDS, operands

ROOT = Path(__file__).parents[5]
CASES = golden.read_cases()
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
QUICK = (  # settings of a row for each way through the source
    "unroll=1 memory.port_bits=32 memory.ports=1",
    "unroll=4 memory.port_bits=32 memory.ports=1 remainder=masked overlap_outer=true",  # beats of several port beats
    "unroll=4 memory.port_bits=256 memory.ports=2 rs_buffer_words=36",  # port beats of several beats, tiles
    "unroll=8 memory.port_bits=128 memory.ports=2 remainder=masked overlap_outer=true",
    "unroll=4 memory.port_bits=128 memory.ports=1 rs_prefetch=none remainder=masked overlap_outer=true",
    "unroll=4 memory.port_bits=128 memory.ports=1 rs_prefetch=per_outer rs_buffer_words=40 remainder=masked",
    "unroll=8 physical_lanes=4 memory.port_bits=128 memory.ports=1 lane_map=blocked remainder=masked",
    "unroll=16 physical_lanes=4 memory.port_bits=128 memory.ports=1 rs_buffer_words=20",
)


def design(settings: str) -> Config:
    return change(load("u200"), parse_settings(settings.split()))


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the kernels of this module's tests are built, once."""
    return tmp_path_factory.mktemp("hls")


def small_positions(rng: random.Random) -> list[Sums]:
    """Sixty small positions, and some with no column, or with more than one block of left sums holds."""
    lefts = [*(rng.randrange(1, 14) for _ in range(60)), 0, LS_BLOCK, LS_BLOCK + 1, 2 * LS_BLOCK + 5]
    rights = [rng.randrange(0, 130 if left < 14 else 40) for left in lefts]
    pairs = zip(lefts, rights, strict=True)
    return [operands(*pair, rng.randrange(1000), rng.choice([*KINDS])) for pair in pairs]


def differing(found: Sequence[Computed], made: Sequence[Sums], config: Config) -> list[tuple[int, int]]:
    pairs = zip(found, made, strict=True)
    return [(sums.left, sums.right) for computed, sums in pairs if not computed.agrees(sums, config)]


@needs_compiler
@pytest.mark.parametrize("settings", QUICK)
def test_the_kernel_computes_what_the_model_does(builds: Path, settings: str) -> None:
    """Winners and lanes' maxima bit for bit, a call for each position and one for all; built without a warning."""
    config, rng = design(settings), random.Random(settings)
    made = small_positions(rng)
    bench = build(config, builds)
    assert not differing(compute(bench, config, made), made, config)
    assert not differing(compute(bench, config, made, together=True), made, config)


@needs_compiler
def test_the_golden_rows_of_a_design(builds: Path) -> None:
    """The Verilog's winners; rows that differ in timing alone share a build."""
    rows = [case for case in CASES if case.settings.startswith("unroll=32") and case.touches_hardware]
    plain = [case for case in rows if case.config.remainder == "software" and case.config.memory.ports == 2]
    assert len(plain) > 3
    for case in plain:
        (found,) = compute(build(case.config, builds), case.config, [case.sums])
        assert (found.best.bits, found.best.column, found.best.right) == (
            case.best.bits, case.best.column, case.best.right,
        )  # fmt: skip
    compiled = {(case.config.rs_buffer_words, case.config.memory.burst_length) for case in plain}
    assert len([*builds.glob("hls-32-*")]) == len(compiled)


@needs_compiler
@pytest.mark.whole
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.left}x{case.right}-{case.seed}")
def test_every_golden_row(builds: Path, case: golden.Case) -> None:
    assert check(case, builds)


@needs_compiler
def test_a_difference_is_found(builds: Path) -> None:
    config = design(QUICK[0])
    sums = operands(3, 9, 1)
    (found,) = compute(build(config, builds), config, [sums])
    assert found.agrees(sums, config)
    other = Best(np.float32(found.best.omega), found.best.column + 1, found.best.right)
    assert not Computed(other, found.lanes).agrees(sums, config)
    assert not Computed(found.best, (other,)).agrees(sums, config)


@needs_compiler
def test_a_project_checks_itself(tmp_path: Path) -> None:
    """The folder as it is written: g++ takes it, and its test bench tells right results from wrong ones."""
    config = design("unroll=4 memory.port_bits=128 memory.ports=1")
    folder = tmp_path / "project"
    made = [operands(5, 43, seed, kind) for seed, kind in enumerate(KINDS)]
    names = write_project(config, made, folder)
    assert names == sorted([*SOURCES, "design.hpp", "stimulus.bin", "run_hls.tcl", "hls_config.cfg"])
    flags = [*FLAGS, "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["g++", *flags, "-o", "bench", "omega_kernel.cpp", "testbench.cpp"], cwd=folder, check=True)

    def bench(*words: str) -> tuple[int, str]:
        done = subprocess.run(["./bench", *words], cwd=folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    right = (folder / "stimulus.bin").read_bytes()
    assert bench() == (0, "testbench: 4 positions, 0 differ\n")
    assert bench("stimulus.bin", "together") == (0, "testbench: 4 positions, 0 differ\n")
    wrong = bytearray(right)
    wrong[-4 * 4 * (config.lanes + 1) + 4] ^= 1  # the last bit of the last winner's omega
    (folder / "wrong").write_bytes(wrong)
    assert bench("wrong") == (1, "testbench: 4 positions, 1 differ\n")
    (folder / "short").write_bytes(right[:-1])
    assert bench("short") == (2, "testbench: short ends within a position\n")
    (folder / "other").write_bytes(right[:4] + b"\x05" + right[5:])
    assert bench("other") == (2, "testbench: other is no stimulus of this design\n")
    assert bench("absent") == (2, "testbench: absent cannot be read\n")


@needs_compiler
def test_directives_hold_the_designs_numbers(tmp_path: Path) -> None:
    """As the preprocessor leaves them, since a directive takes a macro only where it is expanded."""
    config = design("memory.burst_length=64 memory.outstanding=7 ii=3 overlap_outer=true unroll=16 memory.ports=3")
    write_project(config, [operands(600, 70, 1)], tmp_path / "p")
    command = ["g++", "-E", "-DDATA_PACK", "-D__SYNTHESIS__", *FLAGS, "omega_kernel.cpp"]
    text = subprocess.run(command, cwd=tmp_path / "p", capture_output=True, text=True, check=True).stdout
    pragmas = [" ".join(line.split()).replace(" = ", "=") for line in text.splitlines() if "#pragma HLS" in line]
    beats = -(-70 // 16) - 1  # the rest is software's
    depth = (600 + 1) * -(-beats // 3)
    bus = f"latency={latency_cycles(config)} max_read_burst_length=64 num_read_outstanding=7"
    for port in range(3):
        name = f"memory{port}"
        assert f"#pragma HLS interface m_axi port={name} bundle={name} offset=slave depth={depth} {bus}" in pragmas
        assert f"#pragma HLS data_pack variable={name}" in pragmas
    assert f"#pragma HLS interface m_axi port=left_sums bundle=left_sums offset=slave depth=600 {bus}" in pragmas
    assert "#pragma HLS pipeline II=9" in pragmas  # three beats of three cycles in a port beat
    assert f"#pragma HLS loop_tripcount min={LS_BLOCK * 2} max={LS_BLOCK * 2}" in pragmas
    assert not [line for line in pragmas if any(word.isupper() and len(word) > 3 for word in line.split("=")[1:])]


@pytest.mark.parametrize(
    ("settings", "interval"),
    [
        ("", 1),
        ("ii=2", 2),
        ("memory.ports=4", 2),  # two beats in a port beat
        ("memory.ports=4 ii=3", 6),
        ("memory.ports=1", 1),  # half a beat in a port beat
        ("memory.ports=1 ii=2", 1),
        ("memory.ports=1 ii=3", 2),
    ],
)
def test_interval_of_port_beats(settings: str, interval: int) -> None:
    assert port_interval(design(settings)) == interval


def test_how_often_loops_run() -> None:
    config = design("unroll=4 memory.port_bits=128 memory.ports=1 rs_buffer_words=40")
    found = extent(1030, 97, config)
    assert (found.tiles, found.port_beats, found.blocks, found.held) == (3, 10, 3, LS_BLOCK)  # 24 beats: 10, 10 and 4
    assert (found.calls, found.trips, found.memory, found.left_sums) == (LS_BLOCK, 10, 1031 * 24, 1030)
    joined = extent(1030, 97, config.but(overlap_outer=True))
    assert (joined.calls, joined.trips) == (1, LS_BLOCK * 10)
    with pytest.raises(ModelError, match="has no beat of 4"):
        extent(5, 3, config)


@pytest.mark.parametrize("name", PARTS)
def test_scripts_name_part_and_clock(name: str) -> None:
    config = load("u200").but(board=name, name="a\n#include <x>", clock_mhz=300.0)
    files = project_files(config, [operands(4, 64, 1)])
    tcl, unified = (files[script].decode() for script in ("run_hls.tcl", "hls_config.cfg"))
    device = BOARDS[name].device.lower()
    assert PARTS[name].startswith(device)
    assert f"set_part {PARTS[name]}\ncreate_clock -period 3.333 " in tcl
    parsed = configparser.ConfigParser(strict=False)
    parsed.read_string("[top]\n" + unified)
    assert parsed["top"]["part"] == PARTS[name]
    assert parsed["hls"]["clock"] == "3.333ns"
    assert {"syn.top", "syn.file", "tb.file", "flow_target"} <= set(parsed["hls"])
    for script in (tcl, unified):
        assert all(name in script for name in ("omega_kernel.cpp", "testbench.cpp", "stimulus.bin"))
    assert not [line for line in files["design.hpp"].splitlines() if line.startswith(b"#include")]


@pytest.mark.parametrize("bits", [96, 2048])
def test_widths_that_no_bus_has_are_refused(bits: int) -> None:
    config = load("u200")
    config = config.but(memory=dataclasses.replace(config.memory, port_bits=bits))
    with pytest.raises(ModelError, match="a power of two from 32 to 1024"):
        project_files(config, [operands(4, 640, 1)])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "memory.burst_length=300"], "256 beats at most"),
        (["--right", "10"], "has no beat of 32"),
        (["--left", "0"], "has no beat of 32"),
        (["--left", "70000", "--right", "40"], "65536"),
        (["--left", "60k", "--right", "60k"], "16,777,216 at most"),
        (["--positions", "0"], "1 to 1000"),
        (["--seed", "4294967296"], "2**32"),
    ],
)
def test_what_no_tool_takes_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert fpga(["hls", "--folder", str(tmp_path / "p"), *words]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not [*tmp_path.iterdir()]


def test_a_folder_is_complete_or_untouched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    empty, full, file = tmp_path / "empty", tmp_path / "full", tmp_path / "file"
    empty.mkdir()
    full.mkdir()
    (full / "mine").write_text("mine")
    file.write_text("mine")
    assert fpga(["hls", "--folder", str(empty)]) == 0
    assert len([*empty.iterdir()]) == len(SOURCES) + 4
    for place in (empty, full, file):
        assert fpga(["hls", "--folder", str(place)]) == 2
        assert "not an empty folder" in capsys.readouterr().err
    assert (full / "mine").read_text() == file.read_text() == "mine"
    assert fpga(["hls", "--folder", str(tmp_path / "none" / "p")]) == 5
    whole = Path.write_bytes

    def broken(path: Path, data: bytes) -> int:
        if path.name == "stimulus.bin":
            raise OSError(28, "No space left on device")
        return whole(path, data)

    monkeypatch.setattr(Path, "write_bytes", broken)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ModelOutputError, match="No space left"):
        write_project(load("u200"), [operands(4, 64, 1)], tmp_path / "new")
    assert sorted(tmp_path.iterdir()) == before


def test_a_failed_build_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = design(QUICK[0])
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ModelError, match="g\\+\\+ is not installed"):
        build(config, tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: "false")
    with pytest.raises(ModelError, match="the kernel could not be built: exit status 1"):
        build(config, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelOutputError, match="cannot be written"):
        build(config, tmp_path / "file")


def test_sources_are_shipped() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    patterns = setup["options.package_data"]["*"].replace(",", " ").split()
    files = [
        path for path in (ROOT / "hls_model" / "extras" / "hls").iterdir() if path.is_file() and path.suffix != ".py"
    ]
    assert {path.name for path in files} == set(SOURCES)
    assert all(f"*{path.suffix}" in patterns for path in files)
