"""A project for vendors' tools: the kernel for a design, its test bench with stimulus, and scripts that run them.

`run_hls.tcl` is for Vivado HLS up to 2020.1 and Vitis HLS up to 2024.2, `hls_config.cfg` for the unified flow (`v++ -c
--mode hls`; AMD UG1399 and UG1702). No vendor's tool has run them: what is checked is that g++ takes the kernel and
that it computes what the model does.
`build` and `compute` are that check: winners and lanes' maxima bit for bit.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hls_model.config import Config
from hls_model.errors import ModelError, ModelOutputError
from hls_model.extras.hls.design import TOP, Extent, check_bus, design_header, extent, stimulus
from hls_model.functional import Best, Sums, run, same
from hls_model.programs import build as build_program, digest, lines_of

FOLDER = Path(__file__).parent
SOURCES = ("omega_kernel.hpp", "omega_kernel.cpp", "testbench.cpp")
STANDARD = "-std=c++11"  # what the oldest of the tools takes
FLAGS = (STANDARD, "-ffp-contract=off")  # no fused float operations on any processor
PARTS: Mapping[str, str] = {
    "zcu102": "xczu9eg-ffvb1156-2-e",
    "u200": "xcu200-fsgd2104-2-e",
    "u250": "xcu250-figd2104-2L-e",
    "u280": "xcu280-fsvh2892-2L-e",
    "u50": "xcu50-fsvh2104-2-e",
    "u55c": "xcu55c-fsvh2892-2L-e",
    "vck190": "xcvc1902-vsva2197-2MP-e-S",
    "v80": "xcv80-lsva4737-2MHP-e-S",
    "f2": "xcvu47p-fsvh2892-2-e",
}


def largest(positions: Sequence[Sums], config: Config) -> Extent:
    """Return the greatest extent of some positions; those that the lanes do not touch have none."""
    found = [Extent(1, 1, 1, 1, 1, 1, 1, 1)]
    for sums in positions:
        if sums.left and sums.right >= (config.unroll if config.remainder == "software" else 1):
            found.append(extent(sums.left, sums.right, config))
    return Extent(*(max(values) for values in zip(*(vars(one).values() for one in found), strict=True)))


def kernel_files(config: Config, positions: Sequence[Sums], *, write_lanes: bool = False) -> dict[str, bytes]:
    """Return the sources for a design by name: what g++ needs.

    Parameters
    ----------
    config : Config
        The design.
    positions : sequence of Sums
        What the test bench will run, for the depths of the ports.
    write_lanes : bool
        Write the maximum of each lane as well; for tests.
    """
    header = design_header(config, largest(positions, config), write_lanes=write_lanes)
    return {"design.hpp": header.encode()} | {name: (FOLDER / name).read_bytes() for name in SOURCES}


def project_files(config: Config, positions: Sequence[Sums]) -> dict[str, bytes]:
    """Return all files of a project by name.

    Raises
    ------
    ModelError
        A board whose part is not known, a port or a burst that no AXI4 bus has, or positions that no lane takes.
    """
    board = config.hardware
    if board.name not in PARTS:
        raise ModelError(f"no part is known for the board {board.name}; choose one of {', '.join(PARTS)}")
    check_bus(config)
    for sums in positions:
        extent(sums.left, sums.right, config)
    return kernel_files(config, positions) | {
        "stimulus.bin": stimulus(positions, config),
        "run_hls.tcl": _tcl(config, PARTS[board.name]).encode(),
        "hls_config.cfg": _unified(config, PARTS[board.name]).encode(),
    }


def write_project(config: Config, positions: Sequence[Sums], folder: str | os.PathLike[str]) -> list[str]:
    """Write a project into a new or empty folder, all of it or nothing; returns the names of its files.

    Raises
    ------
    ModelError
        As `project_files`, or the folder is there and not empty.
    ModelOutputError
        The folder cannot be written.
    """
    target = Path(os.fspath(folder)).absolute()
    files = project_files(config, positions)
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ModelError(f"{folder}: is there already and not an empty folder; name another")
        with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as temporary:
            made = Path(temporary) / "project"
            made.mkdir()
            for name, content in files.items():
                (made / name).write_bytes(content)
            os.replace(made, target)
    except OSError as error:
        reason = error.strerror or error
        raise ModelOutputError(f"{folder}: cannot be written ({reason}); nothing half written is left") from error
    return sorted(files)


def find_compiler() -> str:
    """Return the C++ compiler.

    Raises
    ------
    ModelError
        There is none.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        raise ModelError("g++ is not installed; it builds the kernel for the comparison (Debian: install g++)")
    return compiler


def _tcl(config: Config, part: str) -> str:
    period = 1e3 / config.clock_mhz
    return f"""# {TOP} for Vivado HLS up to 2020.1 and Vitis HLS up to 2024.2:
#   vivado_hls -f run_hls.tcl        vitis_hls -f run_hls.tcl
# C simulation, synthesis and cosimulation. Reports: project/solution/syn/report and project/solution/sim/report.
set here [file dirname [file normalize [info script]]]
cd $here
set flags "{STANDARD}"
# Vivado HLS needs to be told to make one word of a struct; Vitis HLS does so by itself.
set kernel_flags $flags
if {{[string match *vivado_hls* [info nameofexecutable]]}} {{ append kernel_flags " -DDATA_PACK" }}

open_project -reset project
set_top {TOP}
add_files -cflags $kernel_flags omega_kernel.cpp
add_files -tb -cflags $flags testbench.cpp
add_files -tb stimulus.bin
open_solution -reset solution
set_part {part}
create_clock -period {period:.4g} -name default
csim_design -argv [file join $here stimulus.bin]
csynth_design
cosim_design -rtl verilog -argv [file join $here stimulus.bin]
exit
"""


def _unified(config: Config, part: str) -> str:
    period = 1e3 / config.clock_mhz
    return f"""# {TOP} for the unified flow (2023.2 and later), in this folder:
#   vitis-run --mode hls --csim --config hls_config.cfg --work_dir work
#   v++ -c --mode hls --config hls_config.cfg --work_dir work
#   vitis-run --mode hls --cosim --config hls_config.cfg --work_dir work
part={part}

[hls]
flow_target=vitis
clock={period:.4g}ns
syn.top={TOP}
syn.file=omega_kernel.cpp
syn.cflags={STANDARD}
tb.file=testbench.cpp
tb.file=stimulus.bin
tb.cflags={STANDARD}
"""


WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
ONLY_DIRECTIVES = ("//", "#define LATENCY", "#define BURST_LENGTH", "#define OUTSTANDING", "#define PORT_INTERVAL")
NOTHING = 0  # key of a maximum that holds nothing


class Position(Protocol):
    """A grid position and its design, such as a row of the golden table."""

    @property
    def config(self) -> Config:
        """The design."""

    @property
    def sums(self) -> Sums:
        """The operands."""


@dataclass(frozen=True)
class Computed:
    """What the kernel found at a position.

    Attributes
    ----------
    best : Best
        Winner of the lanes' merge.
    lanes : tuple of Best
        The lanes' maxima.
    """

    best: Best
    lanes: tuple[Best, ...]

    def agrees(self, sums: Sums, config: Config) -> bool:
        """Whether the functional model finds the same, bit for bit."""
        model = run(sums, config)
        pairs = zip((self.best, *self.lanes), (model.hardware, *model.lanes), strict=True)
        return all(same(*pair) for pair in pairs)


def check(case: Position, folder: Path) -> bool:
    """Build the kernel of a case's design in a folder, unless it is there, and compare it with the functional model.

    Raises
    ------
    ModelError
        g++ is missing, or the build or the run fails.
    """
    (computed,) = compute(build(case.config, folder), case.config, [case.sums])
    return computed.agrees(case.sums, case.config)


def build(config: Config, folder: Path, flags: Sequence[str] = ("-O1",)) -> Path:
    """Return the test bench of a design's kernel, built in `folder` unless it is there; warnings are errors.

    Raises
    ------
    ModelError
        g++ is missing, or the build fails.
    ModelOutputError
        The folder cannot be written.
    """
    compiler = find_compiler()
    files = kernel_files(config, [], write_lanes=True)
    options = [*FLAGS, *WARNINGS, *flags]
    place = folder / f"hls-{config.lanes}-{digest(_compiled(files), ' '.join(options).encode())}"
    sources = [str(place / name) for name in files if name.endswith(".cpp")]
    command = [compiler, *options, "-o", str(place / "testbench"), *sources]
    return build_program(place / "testbench", files, command, "the kernel could not be built")


def compute(bench: Path, config: Config, positions: Sequence[Sums], *, together: bool = False) -> list[Computed]:
    """Run positions through a test bench: a call of the kernel for each, or one for all.

    Raises
    ------
    ModelError
        The test bench fails.
    """
    words = ["together"] if together else []
    lines = lines_of(bench, stimulus(positions, config, expected=False), words, "the test bench failed")
    return [_read(line) for line in lines]


def _compiled(files: Mapping[str, bytes]) -> bytes:
    """The sources without what only directives use: g++ makes the same of them."""
    lines = b"\0".join(files.values()).decode().splitlines()
    return "\n".join(line for line in lines if not line.startswith(ONLY_DIRECTIVES)).encode()


def _read(line: str) -> Computed:
    record = json.loads(line)
    return Computed(_best(*record["best"]), tuple(_best(*words) for words in record["lanes"]))


def _best(key: int, bits: int, column: int, right: int) -> Best:
    return Best() if key == NOTHING else Best.of_bits(bits, column, right)
