"""Build the Verilog with Verilator and run grid positions through it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hls_model.config import Config
from hls_model.functional import Best, Sums
from hls_model.operators import Latencies
from hls_model.programs import digest, lines_of, verilated
from hls_model.rtl.stimulus import stimulus

FOLDER = Path(__file__).parent
MANY_LANES = 8  # from here on the lane is compiled once, by itself: less code, but a call for each lane and cycle
NO_RESULT = 0  # key of a maximum that holds nothing


@dataclass(frozen=True)
class Circuit:
    """What is compiled in; everything else of a design is a register of the hardware.

    Attributes
    ----------
    lanes, port_words : int
        Lanes, and words of a port beat.
    stream_rs : bool
        RS comes with TS and there is no buffer.
    operators : Latencies
        Latencies.
    """

    lanes: int
    port_words: int
    stream_rs: bool
    operators: Latencies

    @classmethod
    def of(cls, config: Config) -> Circuit:
        """Return the circuit of a design."""
        return cls(config.lanes, config.memory.words_per_beat, config.rs_prefetch == "none", config.latencies)

    @property
    def header(self) -> str:
        """The `design.vh` that makes omega_top.v this circuit."""
        values = {"LANES": self.lanes, "PORT_WORDS": self.port_words, "STREAM_RS": int(self.stream_rs)}
        values |= {name.upper(): latency for name, latency in vars(self.operators).items()}
        return "".join(f"`define {name} {value}\n" for name, value in values.items())


@dataclass(frozen=True)
class Run:
    """What the hardware did with one position.

    Attributes
    ----------
    cycles : int
        From the first request to the end of the merge.
    best : Best
        The merge's winner.
    lanes : tuple of Best
        The lanes' maxima.
    issues : tuple of int
        Cycle in which each beat entered the lanes, if asked for.
    """

    cycles: int
    best: Best
    lanes: tuple[Best, ...]
    issues: tuple[int, ...]


def build(circuit: Circuit, folder: Path, *, waves: bool = False) -> Path:
    """Return the bench of a circuit, built in `folder` unless it is there.

    Parameters
    ----------
    circuit : Circuit
        What is compiled in.
    folder : path
        Takes a folder for each circuit.
    waves : bool
        The bench can dump waveforms.

    Raises
    ------
    ModelError
        Verilator is missing, the folder cannot be written, or the build fails.
    """
    sources = [*sorted(FOLDER.glob("*.v")), FOLDER / "bench.cpp"]
    header = circuit.header.encode()
    key = digest(header, *(path.read_bytes() for path in sources))
    place, dumping = (folder / f"{circuit.lanes}x{circuit.port_words}{kind}-{key}" for kind in ("", "-waves"))
    if waves or (dumping / "bench").exists():  # which runs without a dump as well
        place = dumping
    options = [
        f"-I{place}", "-CFLAGS", f"-DLANES={circuit.lanes} -DPORT_WORDS={circuit.port_words}",
        "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1",
        *(["--hierarchical"] if circuit.lanes >= MANY_LANES else []),
        *(["--trace", "--no-trace-params"] if place == dumping else []),
    ]  # fmt: skip
    return verilated("omega_top", place, sources, options, {"design.vh": header})


def run(
    bench: Path, positions: Iterable[tuple[Sums, Config]], *, trace: bool = False, waves: tuple[Path, int] | None = None
) -> list[Run]:
    """Run positions, whose designs all have the bench's circuit, one after the other.

    Parameters
    ----------
    bench : path
        From `build`.
    positions : iterable of (Sums, Config)
        Operands and designs.
    trace : bool
        Ask for the cycle of every beat's issue.
    waves : (path, int), optional
        File for the waveforms of the first position, and half a clock period in units of its time scale; the bench has
        to be built for them.

    Raises
    ------
    ModelError
        The hardware hangs, or settings beyond its registers.
    """
    data = b"".join(stimulus(sums, config, trace=trace) for sums, config in positions)
    dump = [str(waves[0]), str(waves[1])] if waves else []
    return [_read(line) for line in lines_of(bench, data, dump, "the bench failed")]


def _read(line: str) -> Run:
    record = json.loads(line)
    lanes = tuple(_best(*words) for words in record["lanes"])
    return Run(record["cycles"], _best(*record["best"]), lanes, tuple(record["issues"]))


def _best(bits: int, key: int, column: int, right: int) -> Best:
    return Best() if key == NO_RESULT else Best.of_bits(bits, column, right)
