"""The C++ kernel, built by g++, against the functional model: winners and lanes' maxima bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Protocol

import numpy as np

from hls_model.config import Config
from hls_model.errors import ModelOutputError
from hls_model.functional import Best, Sums, run
from hls_model.hls.source import FLAGS, find_compiler, kernel_files
from hls_model.hls.stimulus import stimulus
from hls_model.programs import output_of

__all__ = ["Computed", "build", "check", "compute"]

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
        return all((one.bits, one.column, one.right) == (other.bits, other.column, other.right) for one, other in pairs)


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
    key = blake2b(_compiled(files) + " ".join(options).encode(), digest_size=8).hexdigest()
    place = folder / f"hls-{config.lanes}-{key}"
    bench = place / "testbench"
    if not bench.exists():
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                (place / name).write_bytes(content)
        except OSError as error:
            raise ModelOutputError(f"{place}: cannot be written ({error.strerror or error})") from error
        sources = [str(place / name) for name in files if name.endswith(".cpp")]
        output_of([compiler, *options, "-o", str(bench), *sources], "the kernel could not be built")
    return bench


def compute(bench: Path, config: Config, positions: Sequence[Sums], *, together: bool = False) -> list[Computed]:
    """Run positions through a test bench: a call of the kernel for each, or one for all.

    Raises
    ------
    ModelError
        The test bench fails.
    """
    with NamedTemporaryFile(suffix=".bin") as file:  # a folder of benches may serve several runs at a time
        file.write(stimulus(positions, config, expected=False))
        file.flush()
        words = [str(bench), file.name, *(["together"] if together else [])]
        return [_read(line) for line in output_of(words, "the test bench failed").splitlines()]


def _compiled(files: Mapping[str, bytes]) -> bytes:
    """The sources without what only directives use: g++ makes the same of them."""
    lines = b"\0".join(files.values()).decode().splitlines()
    return "\n".join(line for line in lines if not line.startswith(ONLY_DIRECTIVES)).encode()


def _read(line: str) -> Computed:
    record = json.loads(line)
    return Computed(_best(*record["best"]), tuple(_best(*words) for words in record["lanes"]))


def _best(key: int, bits: int, column: int, right: int) -> Best:
    return Best() if key == NOTHING else Best(np.uint32(bits).view(np.float32), column, right)
