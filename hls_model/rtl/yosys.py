"""Synthesis of parts of the Verilog by Yosys, counted as a Xilinx report counts.

A row of `synthesis.csv` says what was synthesised: a module, its parameters, and modules that were left out as black
boxes. `rerun` does it again.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cache
from pathlib import Path

from hls_model.boards import Amount
from hls_model.errors import ModelError, ModelInputError
from hls_model.output import open_output
from hls_model.programs import output_of

__all__ = ["FIGURES", "SYNTHESIS", "Synthesis", "read_figures", "rerun", "version", "write_figures"]

FOLDER = Path(__file__).parent
FIGURES = FOLDER / "synthesis.csv"
SYNTHESIS = "synth_xilinx -family xcup -flatten -noiopad -noclkbuf"
MEMORY_LUTS = {"RAM64M8": 8, "RAM32M16": 8, "RAM64M": 4, "RAM32M": 4, "RAM64X1D": 2, "RAM32X1D": 2, "RAM128X1D": 4}
MEMORY_LUTS |= {"RAM256X1D": 8, "RAM64X1S": 1, "RAM32X1S": 1, "RAM512X1S": 8}  # UltraScale libraries guide, UG974
SHIFT_CELLS = ("SRL16E", "SRLC32E", "SRLC16E")
LOGIC_CELLS = tuple(f"LUT{inputs}" for inputs in range(1, 7))
FF_CELLS = ("FDRE", "FDSE", "FDCE", "FDPE")
BLOCKS = {"RAMB18E2": 1, "RAMB36E2": 2}
WITHOUT_LUT = {"MUXF7", "MUXF8", "MUXF9", "CARRY4", "CARRY8", "DSP48E2"}  # other cells of a slice or beside it


@dataclass(frozen=True)
class Synthesis:
    """What Yosys makes of a module.

    Attributes
    ----------
    top, parameters : str
        The module, and its parameters, NAME=VALUE with blanks between.
    without : str
        Module that is left out as a black box; empty if none is.
    logic, small, inverters, shift, memory : int
        LUTs of logic, and those of them with three inputs at most; inverters, each of which is counted as a LUT; LUTs
        of shift registers and of memories.
    ff, dsp, bram18k : int
        Flip-flops, DSP48E2, block RAMs of 18 kbit.
    """

    top: str
    parameters: str
    without: str
    logic: int
    small: int
    inverters: int
    shift: int
    memory: int
    ff: int
    dsp: int
    bram18k: int

    @property
    def amount(self) -> Amount:
        """The same as the resources of a device."""
        lut = self.logic + self.inverters + self.shift + self.memory
        return Amount(bram18k=self.bram18k, dsp=self.dsp, ff=self.ff, lut=lut)

    @property
    def values(self) -> dict[str, int]:
        """The parameters by name."""
        return {name: int(value) for name, _, value in (each.partition("=") for each in self.parameters.split())}


FAILED = "the synthesis failed"
NAMES = tuple(entry.name for entry in fields(Synthesis))


@cache
def read_figures(path: Path = FIGURES) -> tuple[str, tuple[Synthesis, ...]]:
    """Return the version of Yosys with the date, and the figures.

    Raises
    ------
    ModelInputError
        A file that cannot be read or is not such a table.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            made = stream.readline().removeprefix("#").strip()
            rows = csv.reader(stream)
            if tuple(next(rows, ())) != NAMES:
                raise ModelInputError(f"{path}: is no table of synthesis; its columns have to be {', '.join(NAMES)}")
            return made, tuple(_figure(row) for row in rows)
    except OSError as error:
        raise ModelInputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (TypeError, ValueError, csv.Error) as error:
        if isinstance(error, ModelInputError):
            raise
        raise ModelInputError(f"{path}: a line of the table of synthesis is damaged: {error}") from error


def _figure(row: list[str]) -> Synthesis:
    top, parameters, without, *counts = row
    return Synthesis(top, parameters, without, *map(int, counts))


def write_figures(made: str, figures: Sequence[Synthesis], path: Path = FIGURES) -> None:
    """Write the table.

    Raises
    ------
    ModelOutputError
        The file cannot be written.
    """
    text = io.StringIO()
    text.write(f"# {made}\n")
    csv.writer(text, lineterminator="\n").writerows([NAMES, *map(astuple, figures)])
    with open_output(str(path)) as stream:
        stream.write(text.getvalue())


def version() -> str:
    """Return the version of the Yosys that is installed.

    Raises
    ------
    ModelError
        There is none.
    """
    return output_of([_yosys(), "-V"], FAILED).strip()


def rerun(one: Synthesis, circuit: Sequence[Path] = ()) -> Synthesis:
    """Synthesise again what a row says, of the Verilog of the lane or, if given, of that of another circuit.

    Raises
    ------
    ModelError
        Yosys is missing or fails, or gives cells that are not known here.
    """
    sources = [path for path in circuit or sorted(FOLDER.glob("*.v")) if path.stem != one.without]
    script = [f"read_verilog -I{FOLDER} {' '.join(map(str, sources))}"]
    if one.without:
        script.append(f"read_verilog -lib {FOLDER / one.without}.v")
    script += [f"chparam -set {name} {value} {one.top}" for name, value in one.values.items()]
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "cells.json"
        script += [f"{SYNTHESIS} -top {one.top}", f"tee -q -o {result} stat -json"]
        output_of([_yosys(), "-q", "-p", "; ".join(script)], FAILED)
        cells = json.loads(result.read_text())["design"]["num_cells_by_type"]
    return _counted(one, {name: count for name, count in cells.items() if name != one.without})


def _counted(one: Synthesis, cells: Mapping[str, int]) -> Synthesis:
    known = {*LOGIC_CELLS, *FF_CELLS, *SHIFT_CELLS, *MEMORY_LUTS, *BLOCKS, *WITHOUT_LUT, "INV"}
    if unknown := sorted(set(cells) - known):
        raise ModelError(f"Yosys made cells of {one.top} that are not counted here: {', '.join(unknown)}")
    return replace(
        one,
        logic=sum(cells.get(name, 0) for name in LOGIC_CELLS),
        small=sum(cells.get(name, 0) for name in LOGIC_CELLS[:3]),
        inverters=cells.get("INV", 0),
        shift=sum(cells.get(name, 0) for name in SHIFT_CELLS),
        memory=sum(luts * cells.get(name, 0) for name, luts in MEMORY_LUTS.items()),
        ff=sum(cells.get(name, 0) for name in FF_CELLS),
        dsp=cells.get("DSP48E2", 0),
        bram18k=sum(blocks * cells.get(name, 0) for name, blocks in BLOCKS.items()),
    )


def _yosys() -> str:
    found = shutil.which("yosys")
    if found is None:
        raise ModelError("yosys is not installed; it synthesises the Verilog (Debian: install yosys)")
    return found
