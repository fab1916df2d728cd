"""How selection while sequencing goes: counts, times of which the latest are kept, and a line for each read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.reports import MISSING
from oclgenomics.sdtw.live.channels import Taken
from oclgenomics.sdtw.live.judging import OUTCOMES, Decided, Verdict
from oclgenomics.sdtw.live.options import ACTIONS
from oclgenomics.sdtw.live.schedule import ChannelChoice

KEPT = 1 << 17
PERCENTILES = (50, 95, 99)
COLUMNS = ("time", "channel", "read", "samples", "prefix", "score", "outcome", "action", "sent", "latency")


class Metrics:
    """Counts all that happens. Times are seconds of the clock.

    Attributes
    ----------
    reads, chunks, samples, malformed, joined, late : int
        See `Taken`.
    outcomes : ndarray, int64, (outcomes, stages + 1)
        Reads by outcome and by the stage at which they were judged last; the last column is of those without one.
    actions : dict of str to int
        Reads by what was sent to the sequencer.
    batches, aligned, cells : int
        Batches that were judged, their samples, those of each stage counted, and the cells of their matrices.
    slow_batches : int
        Batches that were not there after `max_latency`.
    deferred : int
        Reads that were due while the device was still busy, each counted once.
    gone : int
        Reads that were over, or could not be judged any more, when their verdict came.
    failures : int
        Batches that failed.
    choice : ChannelChoice
        Tells how many channels are selected.
    latency : Latest
        From the arrival of the chunk that completed a prefix to the action.
    batch_seconds, batch_reads : Latest
        Of batches.
    loop_seconds : Latest
        Of the loop's own work in each turn in which reads were judged, without waiting for the device.
    """

    def __init__(self, stages: int, choice: ChannelChoice) -> None:
        self.choice = choice
        self.reads = self.chunks = self.samples = self.malformed = self.joined = self.late = 0
        self.batches = self.aligned = self.cells = self.slow_batches = self.deferred = self.gone = self.failures = 0
        self.outcomes = np.zeros((len(OUTCOMES), stages + 1), np.int64)
        self.actions = dict.fromkeys(ACTIONS, 0)
        self.latency, self.batch_seconds, self.batch_reads, self.loop_seconds = (Latest() for _ in range(4))

    def add_chunks(self, taken: Taken) -> None:
        """Count chunks."""
        for name in ("reads", "chunks", "samples", "malformed", "joined", "late"):
            setattr(self, name, getattr(self, name) + getattr(taken, name))

    def add_batch(self, reads: int, verdict: Verdict, seconds: float) -> None:
        """Count a batch that was judged."""
        self.batches += 1
        self.aligned += verdict.aligned
        self.cells += verdict.cells
        self.batch_seconds.add(np.array([seconds]))
        self.batch_reads.add(np.array([float(reads)]))

    def add_decided(self, decided: Decided, now: float) -> None:
        """Count reads that are judged no more, of which the sequencer knows now."""
        np.add.at(self.outcomes, (decided.outcome, decided.stage), 1)
        self.latency.add(now - decided.arrived)

    def outcome_counts(self) -> dict[str, int]:
        """Reads by outcome."""
        return dict(zip(OUTCOMES, self.outcomes.sum(axis=1).tolist(), strict=True))

    def record(self) -> dict[str, Any]:
        """All of it as plain values."""
        names = ("reads", "chunks", "samples", "malformed", "joined", "late", "batches", "aligned", "cells")
        counts = {name: getattr(self, name) for name in (*names, "slow_batches", "deferred", "gone", "failures")}
        times = ("latency", "batch_seconds", "batch_reads", "loop_seconds")
        by_stage = {word: row for word, row in zip(OUTCOMES, self.outcomes.tolist(), strict=True) if any(row)}
        return {
            **counts,
            "selection": self.choice.record(),
            "outcomes": self.outcome_counts(),
            "outcomes_by_stage": by_stage,
            "actions": dict(self.actions),
            **{name: getattr(self, name).summary() for name in times},
        }

    def line(self) -> str:
        """All of it in a line, for a log."""
        counts = ", ".join(f"{count:,} {word}" for word, count in self.outcome_counts().items() if count) or "none yet"
        latency, batch = self.latency.summary(), self.batch_seconds.summary()
        troubles = (
            ("slow batches", self.slow_batches), ("deferred reads", self.deferred), ("failed batches", self.failures),
            ("late verdicts", self.gone), ("malformed chunks", self.malformed), ("late chunks", self.late),
        )  # fmt: skip
        odd = "".join(f"; {count:,} {name}" for name, count in troubles if count)
        odd += f"; {self.choice.text()} channels selected" if self.choice.short else ""
        return (
            f"{self.reads:,} reads: {counts}; {self.batches:,} batches, p99 {_milliseconds(batch['p99'])}; "
            f"decisions p50 {_milliseconds(latency['p50'])}, p99 {_milliseconds(latency['p99'])}{odd}"
        )


class Latest:
    """The latest 131,072 of some numbers, and the number and the largest of all."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = np.empty(kept)
        self.count, self.total, self.largest = 0, 0.0, float("nan")

    def add(self, values: NDArray[np.float64]) -> None:
        """Add numbers; NaN is none."""
        new = values[~np.isnan(values)]
        if len(new):
            self._kept[np.arange(self.count, self.count + len(new)) % len(self._kept)] = new
            self.count += len(new)
            self.total += float(new.sum())
            self.largest = float(np.fmax(self.largest, new.max()))

    def values(self) -> NDArray[np.float64]:
        """Those that are kept, in no order."""
        return self._kept[: self.count]

    def summary(self) -> dict[str, float | int | None]:
        """Count, mean and maximum of all, and percentiles of those that are kept; None where there is none."""
        if not self.count:
            return {"count": 0, "mean": None, **{f"p{share}": None for share in PERCENTILES}, "max": None}
        marks = np.percentile(self.values(), PERCENTILES).tolist()
        shares = {f"p{share}": mark for share, mark in zip(PERCENTILES, marks, strict=True)}
        return {"count": self.count, "mean": self.total / self.count, **shares, "max": self.largest}


def _milliseconds(seconds: float | int | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:,.0f} ms"


class DebugLog:
    """Writes a table with tabs between its columns.

    `time` and `latency` are in seconds, `samples` are those that came of the read, `prefix` those of the stage at which
    it was judged last, `action` is what its outcome asks for and `sent` what the sequencer got (in a dry run,
    `stop_receiving` instead of `unblock`). NA is for reads that were never aligned, and
    for actions where others than this program take them.

    Parameters
    ----------
    stream : text file
    prefixes : sequence of int
        Of the stages.
    """

    def __init__(self, stream: IO[str], prefixes: Sequence[int]) -> None:
        self._stream, self._prefixes = stream, [str(prefix) for prefix in prefixes]
        self._stream.write("\t".join(COLUMNS) + "\n")

    def add(self, decided: Decided, actions: Sequence[str], sent: Sequence[str], now: float) -> None:
        """Write reads that the sequencer knows of now."""
        latency = now - decided.arrived
        rows = zip(
            decided.channel.tolist(), decided.read.tolist(), decided.samples.tolist(), decided.stage.tolist(),
            decided.score.tolist(), decided.outcome.tolist(), actions, sent, latency.tolist(), strict=True,
        )  # fmt: skip
        for channel, read, samples, stage, score, outcome, action, said, late in rows:
            prefix, told = (MISSING, MISSING) if stage < 0 else (self._prefixes[stage], f"{score:.12g}")
            wait = MISSING if np.isnan(late) else f"{late:.4f}"
            fields = (
                f"{now:.4f}", channel, " ".join(read.split()), samples, prefix, told, OUTCOMES[outcome],
                action or MISSING, said or MISSING, wait,
            )  # fmt: skip
            self._stream.write("\t".join(map(str, fields)) + "\n")
