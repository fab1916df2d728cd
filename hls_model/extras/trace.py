"""One grid position as people look at it: phases, how busy every stage is, and when each column runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.extras.recording import Recording, record
from hls_model.records import record_of
from hls_model.timing.passes import split
from hls_model.workload import Workload

STRIP = 72  # characters
SHADES = " .:-=+*#%@"


@dataclass(frozen=True)
class Stage:
    """How busy a stage is.

    Attributes
    ----------
    name, full : str
        The stage, and what it is when full.
    busy : ndarray, float64 (cycles,)
        Share of `full` in each cycle, 0 to 1.
    """

    name: str
    full: str
    busy: NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """When a column runs, in cycles.

    Attributes
    ----------
    tile, number : int
        Pass of the position, and column within it, from 0.
    request, first, last : int
        Its first request, and the issue of its first and last beat.
    stop : int
        The first cycle after its drain; after its last issue where columns overlap and another follows.
    """

    tile: int
    number: int
    request: int
    first: int
    last: int
    stop: int


@dataclass(frozen=True)
class Trace:
    """One grid position, recorded.

    Attributes
    ----------
    workload : Workload
        The position's trip counts.
    software_omegas : int
        Scores that the hardware leaves to software.
    recording : Recording
        Every signal in every cycle.
    """

    workload: Workload
    software_omegas: int
    recording: Recording

    @property
    def title(self) -> str:
        """The design and the position in one line."""
        config = self.recording.config
        interval = f", II {config.ii}" if config.ii > 1 else ""
        sides = f"{int(self.workload.left[0]):,} x {int(self.workload.right[0]):,}"
        return (
            f"{config.name}, {config.lanes} lanes at {config.clock_mhz:g} MHz{interval}: a position of {sides} scores"
        )

    @property
    def seconds(self) -> float:
        """Seconds of the position."""
        return self.recording.cycles / (self.recording.config.clock_mhz * 1e6)

    @property
    def rate(self) -> float:
        """Scores per second that the pipelines reach."""
        return (self.workload.omegas - self.software_omegas) / self.seconds

    def stages(self) -> list[Stage]:
        """Return the stages from memory to the merge; a beat every II cycles is full use of the issue and the lanes."""
        config, signals = self.recording.config, self.recording.signals
        merging = np.zeros(self.recording.cycles)
        merging[-config.lanes :] = 1
        in_lanes = -(-config.depth // config.ii)
        every = "a beat a cycle" if config.ii == 1 else f"a beat in {config.ii} cycles"

        def share(name: str, most: float) -> NDArray[np.float64]:
            return signals[name][:-1] / most

        slots, room = config.memory.outstanding, config.memory.fifo_beats
        stages = [
            Stage("requests", f"{slots} under way", share("request.under_way", slots)),
            Stage("bus", "a port beat a cycle", share("bus.taken", 1)),
            Stage("FIFO", f"{room} port beats", share("fifo.count", room)),
            Stage("RS buffer", "a write a cycle", share("buffer.write", 1)),
            Stage("issue", every, share("lanes.issue", 1 / config.ii)),
            Stage("lanes", f"{in_lanes} beats in {config.depth} stages", share("lanes.occupied", in_lanes)),
            Stage("merge", "a lane a cycle", merging),
        ]
        return [stage for stage in stages if stage.name != "RS buffer" or config.rs_prefetch != "none"]

    def columns(self) -> list[Column]:
        """Return when each column of each pass runs."""
        spans, signals = self.recording.spans, self.recording.signals
        columns = []
        for span, _drain, turn in zip(spans, spans[1:], spans[2:], strict=False):
            if span.state != "run":
                continue
            accepted, issued = (
                span.start + np.flatnonzero(signals[name][span.start : span.stop])
                for name in ("request.accepted", "lanes.issue")
            )
            beats = self.recording.beats[span.tile]
            together = len(issued) // beats
            for number, part in enumerate(issued.reshape(together, beats)):
                stop = turn.stop if number == together - 1 else int(part[-1]) + 1
                request = int(accepted[number * len(accepted) // together])
                columns.append(Column(span.tile, span.column + number, request, int(part[0]), int(part[-1]), stop))
        return columns

    def text(self) -> str:
        """Return a table of the phases and a strip of how busy the stages are."""
        recording = self.recording
        lines = [self.title, ""]
        for name, cycles in recording.phases.items():
            lines.append(f"{name:<9} {cycles:>12,} cycles {100 * cycles / recording.cycles:>6.1f} %")
        lines.append(f"{'total':<9} {recording.cycles:>12,} cycles = {self.seconds * 1e6:,.2f} us")
        lines.append(f"{'rate':<9} {self.rate / 1e6:>12,.1f} M omega/s of {recording.config.ideal_rate / 1e6:,.0f}")
        if self.software_omegas:
            lines.append(f"{'software':<9} {self.software_omegas:>12,} scores left over")
        width = min(STRIP, recording.cycles)
        lines += ["", f"a character is {recording.cycles / width:,.3g} cycles, from idle to full: {SHADES[1:]}"]
        lines += [f"{stage.name:<9} |{_strip(stage.busy, width)}| {stage.full}" for stage in self.stages()]
        return "\n".join(lines)

    def record(self) -> dict[str, Any]:
        """Return the same for JSON, and the columns."""
        recording = self.recording
        return {
            "design": recording.config.name,
            "left": int(self.workload.left[0]),
            "right": int(self.workload.right[0]),
            **record_of(recording, "cycles phases_cycles=phases"),
            **record_of(self, "seconds omega_per_s=rate software_omegas"),
            "busy": {stage.name: float(stage.busy.mean()) for stage in self.stages()},
            "columns": [vars(column) for column in self.columns()],
        }


def trace(config: Config, left: int, right: int) -> Trace:
    """Record one grid position of `left` times `right` scores.

    Raises
    ------
    ModelError
        Nothing of it runs in hardware, or it takes too many cycles to record.
    """
    workload = Workload.single(left, right)
    passes = split(workload, config)
    return Trace(workload, int(passes.software_omegas.sum()), record(config, passes.columns, passes.beats))


def shares_of(busy: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Return the means over `bins` stretches, at most 1. Their lengths differ by a cycle at most."""
    edges = np.arange(bins + 1) * len(busy) // bins
    sums = np.concatenate([[0.0], np.cumsum(busy)])
    # a beat in II cycles counts II where it is issued, which a short stretch may hold once too often
    return np.minimum(np.diff(sums[edges]) / np.diff(edges), 1.0)


def _strip(busy: NDArray[np.float64], width: int) -> str:
    # anything but idle shows
    shades = np.ceil(np.round(shares_of(busy, width), 6) * (len(SHADES) - 1)).astype(int)
    return "".join(SHADES[shade] for shade in shades)
