"""The golden table: what the Verilog did with a set of designs and positions, kept to check the model without tools."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hls_model.config import Config, Memory
from hls_model.errors import ModelInputError
from hls_model.files import open_output
from hls_model.functional import Best, Sums
from hls_model.presets import change, parse_settings
from hls_model.rtl.stimulus import operands
from hls_model.rtl.twin import Run
from hls_model.workload import Workload

TABLE = Path(__file__).with_name("golden.csv")
BASE = Config(memory=Memory(latency_ns=256.0, efficiency=1.0))  # what a row's settings change
COLUMNS = ("left", "right", "seed", "operands", "settings", "cycles", "omega_bits", "column", "iteration")


@dataclass(frozen=True)
class Case:
    """A row of the table.

    Attributes
    ----------
    left, right : int
        Trip counts of the position.
    seed, kind : int, str
        What `operands` makes of them.
    settings : str
        Parameters that differ from `BASE`, NAME=VALUE with blanks between.
    cycles : int
        Cycles of the Verilog.
    best : Best
        Winner of the Verilog's merge; none where the hardware is not touched.
    """

    left: int
    right: int
    seed: int
    kind: str
    settings: str
    cycles: int
    best: Best

    def __post_init__(self) -> None:
        _ = self.config  # so that a wrong setting is reported where the table is read

    @cached_property
    def config(self) -> Config:
        """The design."""
        return change(BASE, parse_settings(self.settings.split()))

    @property
    def sums(self) -> Sums:
        """The operands."""
        return operands(self.left, self.right, self.seed, self.kind)

    @property
    def workload(self) -> Workload:
        """The position for `simulate`."""
        return Workload.single(self.left, self.right)

    @property
    def touches_hardware(self) -> bool:
        """Whether there is a beat for the lanes."""
        return self.left > 0 and self.right >= (self.config.unroll if self.config.remainder == "software" else 1)

    def with_result(self, run: Run) -> Case:
        """Return the row with what the Verilog did now."""
        return Case(self.left, self.right, self.seed, self.kind, self.settings, run.cycles, run.best)


def read_cases(path: Path = TABLE) -> list[Case]:
    """Read the table.

    Raises
    ------
    ModelInputError
        A file that cannot be read or is not such a table.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            rows = csv.DictReader(stream)
            if tuple(rows.fieldnames or ()) != COLUMNS:
                raise ModelInputError(f"{path}: is no table of runs; its columns have to be {', '.join(COLUMNS)}")
            return [_case(row) for row in rows]
    except OSError as error:
        raise ModelInputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (TypeError, ValueError, csv.Error) as error:
        if isinstance(error, ModelInputError):
            raise
        raise ModelInputError(f"{path}: a line of the table of runs is damaged: {error}") from error


def _case(row: dict[str, str]) -> Case:
    best = Best()
    if int(row["column"]) >= 0:
        best = Best.of_bits(int(row["omega_bits"], 16), int(row["column"]), int(row["iteration"]))
    left, right, seed, cycles = (int(row[name]) for name in ("left", "right", "seed", "cycles"))
    return Case(left, right, seed, row["operands"], row["settings"], cycles, best)


def write_cases(cases: Sequence[Case], path: Path = TABLE) -> None:
    """Write the table.

    Raises
    ------
    ModelOutputError
        The file cannot be written.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for case in cases:
        best = case.best
        given = (case.left, case.right, case.seed, case.kind, case.settings)
        writer.writerow((*given, case.cycles, f"{best.bits:08x}", best.column, best.right))
    with open_output(str(path)) as stream:
        stream.write(text.getvalue())
