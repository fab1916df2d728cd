"""Chunks in, decisions out: what is common to all that select reads while they are sequenced.

The device may be late, and may fail. Reads that wait for it go on being sequenced; what it finds is taken up when it
comes, if the read is still there. If it cannot serve all channels, some are left out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics import notices
from oclgenomics.sdtw.decisions.thresholds import ACCEPT, REJECT, UNDECIDED, Thresholds
from oclgenomics.sdtw.live.channels import CLOSED, FLYING, OPEN, ChannelTable, LiveTrim, decode_chunks
from oclgenomics.sdtw.live.judging import CONTROL, DELAYED, UNSELECTED, Decided, Job
from oclgenomics.sdtw.live.metrics import Metrics
from oclgenomics.sdtw.live.options import LiveOptions
from oclgenomics.sdtw.live.schedule import ChannelChoice, Pace, Schedule
from oclgenomics.sdtw.live.workers import Clock, Outcome, Worker

BATCH_SECONDS = 0.05  # of full batches at least


class Selector:
    """Gathers chunks of reads and decides of reads by stages.

    Parameters
    ----------
    thresholds : Thresholds
    references : int
        How many there are.
    worker : Worker
        Aligns.
    clock : Clock
    options : LiveOptions
    tell : callable
        Takes messages to the user.

    Attributes
    ----------
    metrics : Metrics
    selecting : bool
        Whether reads are judged; no more after too many failures.
    """

    def __init__(
        self,
        thresholds: Thresholds,
        references: int,
        worker: Worker,
        clock: Clock,
        options: LiveOptions,
        tell: Callable[[str], None] = notices.tell,
    ) -> None:
        self._worker, self._clock, self._options, self._tell = worker, clock, options, tell
        self._references, self._prefixes = references, thresholds.prefixes
        self._table = ChannelTable(thresholds.prefixes, trim=options.settled_trim, max_missed=options.max_missed)
        self._max_samples = options.max_samples or LiveTrim(options.settled_trim).samples + 2 * thresholds.prefixes[-1]
        self._control = np.array(sorted(options.control_channels), np.int64)
        self._choice = ChannelChoice(self._control, options.select)
        pace = Pace(thresholds.prefixes[0], BATCH_SECONDS, options.deadline)
        self._schedule = Schedule(thresholds.prefixes, ending(options), pace, options.max_batch)
        self._known = self._table.generation.copy()  # reads that were seen before
        self._failed_in_a_row = 0
        self._waited = 0.0  # real seconds in this turn
        self._left: float | None = None  # when the caller was sent off with a batch under way
        self._turned = math.inf  # when the last turn began
        self._slow = False  # the batch that is under way
        self.metrics = Metrics(len(thresholds.stages), self._choice)
        self.selecting = True

    @property
    def pressed(self) -> bool:
        """Whether more reads are due than the device can judge at once, so that the next turn should come soon."""
        return self._left is not None

    def update(
        self, chunks: Sequence[tuple[int, Any]], kind: np.dtype[Any], calibration: Mapping[int, Any] | None = None
    ) -> Decided:
        """Take chunks, and return the reads that are decided of since the last call.

        Returns after `max_latency` and its own work of a few milliseconds, whatever the device does.

        Parameters
        ----------
        chunks, kind
            See `decode_chunks`.
        calibration : mapping of int to object, optional
            Of channels; see `digitise`.
        """
        begun, self._waited = time.perf_counter(), 0.0
        now = self._clock.now()
        if self._left is not None:
            self._schedule.pace.apart(now - self._left)
        if now - self._turned > self._schedule.pace.deadline / 2:
            self._choice.hold_up()
        self._turned = now
        taken = self._table.take(decode_chunks(chunks, kind), now, calibration)
        self.metrics.add_chunks(taken)
        before, judged = [self._controls(), self._unselected()], self._judge_due()
        late = self._schedule.expired(self._table, self._clock.now()) if self.selecting else np.empty(0, np.int64)
        parts = [*before, *judged, self._delayed(late), self._overdue()]
        if self._choice.adapt(self._clock.now()) and (message := self._choice.message()):
            self._tell(message)
        if judged:
            self.metrics.loop_seconds.add(np.array([time.perf_counter() - begun - self._waited]))
        return Decided.joined(parts)

    def told(self, channel: NDArray[np.int64]) -> None:
        """Take note that the sequencer was asked to send no more of these channels' reads."""
        self._table.acted[channel] = True

    def _judge_due(self) -> list[Decided]:
        """Have due reads aligned, one batch after the other, as long as there is time.

        If more are due than a batch may hold, the caller gets what is decided after each full batch, while the device
        is busy with the next one.
        """
        decided: list[Decided] = []
        spent, self._left = 0.0, None
        end = self._clock.now() + self._options.max_latency
        while True:
            if not self._worker.idle:
                failures, busy = self.metrics.failures, self.metrics.batch_seconds.total
                decided.append(self._take_up(0.0 if self._slow else max(0.0, end - self._clock.now())))
                if not self._worker.idle:
                    self._note_slow()
                    break
                spent += self.metrics.batch_seconds.total - busy
                if self.metrics.failures > failures:
                    break
            if not self.selecting:
                break
            channel, others = self._schedule.batch(self._table)
            if not len(channel):
                break
            self._worker.submit(self._job(channel, alone=not len(others)))
            if len(others) and (spent >= self._schedule.pace.full() / 2 or self._clock.now() >= end):
                self._left = self._clock.now()
                break
        if self.selecting:
            self._defer()
        return decided

    def _note_slow(self) -> None:
        """Count the batch that is under way, once."""
        self.metrics.slow_batches += not self._slow
        self._slow = True
        self._table.delayed |= self._table.state == FLYING

    def _defer(self) -> None:
        """Count reads that have to wait for the device until the next time."""
        late = self._table.due()
        self.metrics.deferred += int((~self._table.delayed[late]).sum())
        self._table.delayed[late] = True

    def _job(self, channel: NDArray[np.int64], *, alone: bool) -> Job:
        """Copy what the next stages of reads need; where others wait, no more than the next one does."""
        table = self._table
        held = table.held[channel]
        if not alone:
            held = np.minimum(held, table.prefixes[table.stage[channel]])
        width = max(rows for rows in self._prefixes if rows <= int(held.max()))
        table.state[channel] = FLYING
        return Job(channel, table.generation[channel], table.stage[channel], held, table.samples[channel, :width])

    def _take_up(self, seconds: float) -> Decided:
        """Wait so long for the batch that is under way, and take up what it found."""
        begun = time.perf_counter()
        outcome = self._worker.wait(seconds)
        self._waited += time.perf_counter() - begun
        if outcome is None:
            return self._nothing()
        self._slow = False
        job, table = outcome.job, self._table
        channel = job.channel
        here = (table.generation[channel] == job.generation) & (table.state[channel] == FLYING)
        table.state[channel[here]] = OPEN
        if outcome.verdict is None:
            table.delayed[channel[here]] = True
            self._count_failure(outcome)
            return self._nothing()
        self._count_batch(outcome, here)
        table.stage[channel[here]] = outcome.verdict.judged[here] + 1
        final = here & (outcome.verdict.decision != UNDECIDED)
        verdict = outcome.verdict
        return self._close(
            channel[final], verdict.decision[final], verdict.judged[final],
            verdict.score[final], verdict.cost[final], verdict.column[final],
        )  # fmt: skip

    def _count_batch(self, outcome: Outcome, here: NDArray[np.bool_]) -> None:
        """Count a batch that was judged, and learn from it."""
        job, verdict, seconds = outcome.job, outcome.verdict, outcome.seconds
        assert verdict is not None
        self._failed_in_a_row = 0
        self.metrics.gone += int((~here).sum())
        self.metrics.add_batch(len(job), verdict, seconds)
        self._schedule.learn(job, verdict, seconds)
        new, over = job.stage == 0, self._table.generation[job.channel] != job.generation
        first = self._schedule.first_share(job)
        self._choice.count(int((new & here).sum()), int((new & over).sum()), first * seconds)

    def _count_failure(self, outcome: Outcome) -> None:
        self.metrics.failures += 1
        self._failed_in_a_row += 1
        if self.metrics.failures == 1:
            self._tell(f"warning: a batch of reads could not be aligned, they proceed ({_one_line(outcome.error)})")
        if self._failed_in_a_row >= self._options.max_failures:
            self.selecting = False
            self._tell(
                f"WARNING: {self._failed_in_a_row} batches in a row could not be aligned: the selection has ended, and "
                f"all reads proceed ({_one_line(outcome.error)}); start it again when the device is well"
            )

    def _controls(self) -> Decided:
        """Reads of control channels, as soon as they are seen."""
        known = self._control[self._control < len(self._table)]
        new = known[self._table.state[known] == OPEN]
        return self._close(new, np.full(len(new), CONTROL, np.uint8))

    def _unselected(self) -> Decided:
        """New reads of channels for which the device is too slow."""
        table = self._table
        self._known.resize(len(table), refcheck=False)
        new = np.flatnonzero(table.generation != self._known)
        self._known[new] = table.generation[new]
        if not self.selecting:
            return self._nothing()
        left_out = new[~self._choice.of(new)]
        left_out = left_out[table.state[left_out] == OPEN]
        return self._close(left_out, np.full(len(left_out), UNSELECTED, np.uint8))

    def _overdue(self) -> Decided:
        """Reads that have more samples than a decision may take; one that is being judged gets its verdict."""
        table = self._table
        waiting = (table.state == OPEN) | ((table.state == FLYING) & self._slow)
        channel = np.flatnonzero(waiting & (table.received() >= self._max_samples))
        late = table.delayed[channel] | (not self.selecting)
        undecided = self._close(channel[~late], np.full(int((~late).sum()), UNDECIDED, np.uint8))
        return Decided.joined([undecided, self._delayed(channel[late])])

    def _delayed(self, channel: NDArray[np.int64]) -> Decided:
        """Reads for which the device was late."""
        self._choice.count(0, int((self._table.stage[channel] == 0).sum()))
        return self._close(channel, np.full(len(channel), DELAYED, np.uint8))

    def _nothing(self) -> Decided:
        return self._close(np.empty(0, np.int64), np.empty(0, np.uint8))

    def _close(
        self,
        channel: NDArray[np.int64],
        outcome: NDArray[np.uint8],
        stage: NDArray[np.int64] | None = None,
        score: NDArray[np.float64] | None = None,
        cost: NDArray[np.float64] | None = None,
        column: NDArray[np.int64] | None = None,
    ) -> Decided:
        """Judge reads no more."""
        table, shape = self._table, (len(channel), self._references)
        table.state[channel] = CLOSED
        at = np.full(len(channel), -1, np.int64) if stage is None else stage
        arrived = np.full(len(channel), np.nan) if stage is None else table.arrived[channel, at]
        return Decided(
            channel, table.key[channel], table.read[channel], outcome, at, table.received()[channel],
            np.full(len(channel), np.nan) if score is None else score,
            np.full(shape, np.nan) if cost is None else cost,
            np.full(shape, -1, np.int64) if column is None else column,
            arrived,
        )  # fmt: skip


def ending(options: LiveOptions) -> list[int]:
    """Decisions that end a read; both decisions, if none does."""
    told = [number for number, name in ((ACCEPT, "accept"), (REJECT, "reject")) if getattr(options, name) == "unblock"]
    return told or [ACCEPT, REJECT]


def _one_line(error: Exception | None) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
