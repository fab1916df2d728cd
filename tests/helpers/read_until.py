"""A sequencer that plays a script, and what else tests of selection while sequencing need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.sdtw_oracle import OracleAligner, small_squiggle
from oclgenomics.sdtw.decisions.thresholds import Stage, Thresholds
from oclgenomics.sdtw.device.strips import Found
from oclgenomics.sdtw.live.classifier import ReadUntilClassifier
from oclgenomics.sdtw.live.judging import Job
from oclgenomics.sdtw.live.options import LiveOptions
from oclgenomics.sdtw.live.workers import VirtualClock, VirtualWorker
from oclgenomics.sdtw.options import CRESCENT, AlignOptions
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["BACKGROUND", "LEVELS", "TARGET", "Chunk", "Script", "classifier_of", "read_of", "stages_of"]

OPTIONS = CRESCENT  # has a row for each sample, whatever the defaults
RNG = np.random.default_rng(11)
LEVELS = RNG.normal(90, 12, 60)
TARGET = small_squiggle("target", LEVELS)
BACKGROUND = small_squiggle("background", RNG.normal(90, 12, 80))
Read = tuple[int, Any]


@dataclass
class Chunk:
    """What MinKNOW sends of a read; clients for versions before 6.0 have its number as well."""

    id: str
    raw_data: Any
    chunk_start_sample: Any
    chunk_length: int = 0
    start_sample: int = 0


@dataclass
class Script:
    """Sends scripted chunks, one list a turn, and keeps what it is told."""

    turns: Sequence[Sequence[tuple[int, Any]]]
    signal_dtype: Any = "<i2"
    clock: VirtualClock | None = None
    unblocked: list[Read] = field(default_factory=list)
    stopped: list[Read] = field(default_factory=list)
    told: list[tuple[float, str, Read]] = field(default_factory=list)
    turn: int = 0

    @property
    def is_running(self) -> bool:
        return self.turn < len(self.turns)

    def get_read_chunks(self, batch_size: int = 1, last: bool = True) -> list[tuple[int, Any]]:
        assert batch_size >= 512
        assert last
        self.turn += 1
        return list(self.turns[self.turn - 1])

    def unblock_read_batch(self, reads: list[Read], duration: float = 0.1) -> None:
        assert reads
        assert duration == 0.1
        self.unblocked += reads
        self._keep("unblock", reads)

    def stop_receiving_batch(self, reads: list[Read]) -> None:
        assert reads
        self.stopped += reads
        self._keep("stop_receiving", reads)

    def _keep(self, action: str, reads: list[Read]) -> None:
        now = self.clock.now() if self.clock else 0.0
        self.told += [(now, action, read) for read in reads]


def read_of(levels: NDArray[np.float64], samples: int, seed: int = 0, dwell: int = 3) -> NDArray[np.int16]:
    """Samples of a molecule that starts somewhere among `levels`."""
    rng = np.random.default_rng(seed)
    rows = -(-samples // dwell)
    start = int(rng.integers(0, max(1, len(levels) - rows + 1)))
    wanted = np.take(levels, np.arange(start, start + rows), mode="wrap")
    return np.rint(np.repeat(wanted, dwell)[:samples] * 5 + rng.normal(0, 4, samples)).astype(np.int16)


def stages_of(*stages: tuple[int, float], options: AlignOptions = OPTIONS) -> Thresholds:
    return Thresholds(tuple(Stage(prefix, above) for prefix, above in stages), options)


class Flaky:
    """An aligner that raises whenever `fails` says so of the number of the call."""

    def __init__(self, inner: OracleAligner, fails: Callable[[int], bool]) -> None:
        self.references, self.options, self._inner, self._fails = inner.references, inner.options, inner, fails
        self.calls = 0

    def align(self, samples: NDArray[np.int16], first: NDArray[np.int64], rows: int) -> Found:
        self.calls += 1
        if self._fails(self.calls):
            raise RuntimeError("the device is gone\nfor good")
        return self._inner.align(samples, first, rows)


def classifier_of(
    thresholds: Thresholds,
    *,
    decoys: Sequence[Squiggle] = (),
    seconds: Callable[[Job, float], float] = lambda job, real: 0.0,
    fails: Callable[[int], bool] = lambda call: False,
    debug: Any = None,
    said: list[str] | None = None,
    **options: Any,
) -> tuple[ReadUntilClassifier, VirtualClock]:
    """A classifier on the oracle, in simulated time; `seconds` says how long a batch takes."""
    clock = VirtualClock()
    aligner = Flaky(OracleAligner((TARGET, *decoys), thresholds.options), fails)
    made = ReadUntilClassifier(
        TARGET, thresholds, decoys=decoys, options=LiveOptions(**options), aligner=aligner, clock=clock,
        make_worker=lambda make, criteria, _: VirtualWorker(make, criteria, clock, seconds),
        debug=debug, tell=(said if said is not None else []).append,
    )  # fmt: skip
    return made, clock
