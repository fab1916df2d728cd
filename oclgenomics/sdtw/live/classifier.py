"""Selection of reads while they are sequenced, through a client of the Read Until API."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import IO, Any, Protocol

from oclgenomics import notices
from oclgenomics.app.run import EngineLike
from oclgenomics.runtime import Device
from oclgenomics.sdtw.decisions.thresholds import Thresholds, checked_trim
from oclgenomics.sdtw.device.strips import PrefixAligner
from oclgenomics.sdtw.formats.thresholds import read_thresholds
from oclgenomics.sdtw.live.channels import signal_type
from oclgenomics.sdtw.live.judging import OUTCOMES, Criteria, Decided
from oclgenomics.sdtw.live.metrics import DebugLog, Metrics
from oclgenomics.sdtw.live.options import MAX_CHANNELS, Action, LiveOptions
from oclgenomics.sdtw.live.selector import Selector
from oclgenomics.sdtw.live.workers import Clock, MakeWorker, RealClock, ThreadWorker, given_aligner, own_aligner
from oclgenomics.sdtw.squiggles.opened import References, open_targets


class ReadUntilClient(Protocol):
    """What is needed of a client of the Read Until API, such as `read_until.ReadUntilClient` and readfish's."""

    signal_dtype: Any

    @property
    def is_running(self) -> bool:
        """Whether reads come."""

    def get_read_chunks(self, batch_size: int = 1, last: bool = True) -> list[tuple[int, Any]]:
        """Return channels and chunks that came since the last call."""

    def unblock_read_batch(self, reads: list[tuple[int, Any]], duration: float = 0.1) -> None:
        """End reads, given by channel and number or id."""

    def stop_receiving_batch(self, reads: list[tuple[int, Any]]) -> None:
        """Send no more of reads."""


LOG_SECONDS = 60.0
MANY_DELAYED = 0.05  # of the reads


class ReadUntilClassifier:
    """Accepts and rejects reads while they are sequenced.

    Parameters
    ----------
    targets : Squiggle, path, or iterable of either
        References that are looked for. The cost of a read is that of the best of them.
    thresholds : Thresholds or path
        Their stages decide, and their options say how signals are aligned.
    decoys : Squiggle, path, or iterable of either
        References that are not looked for. The score `difference` takes the best decoy's cost from the targets'.
    options : LiveOptions, optional
    engine : Engine, Device or str, optional
        Where to run: an engine in use already, which stays open and is this object's alone until `close`; or a device,
        as `oclgenomics.runtime.select_device` takes it, which a thread of this object opens.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    device : Device or str, optional
        The name of `engine` in the version before.
    aligner : PrefixAligner, optional
        Aligns these references by the options of the thresholds, instead of a device.
    clock : Clock, optional
        The time; that of the machine, if not given.
    make_worker : callable
        Makes what runs the aligner: a thread.
    debug : text file, optional
        Gets a line for each read; see `DebugLog`.
    tell : callable
        Takes messages to the user.

    Attributes
    ----------
    references : tuple of Squiggle
        Targets, then decoys.
    thresholds : Thresholds
    metrics : Metrics

    Raises
    ------
    UsageError
        The references or the trimming do not suit the thresholds.
    InputError
        A file cannot be read.

    Examples
    --------
    >>> with ReadUntilClassifier("target.sdtw", "stages.json", engine="gpu") as classifier:  # doctest: +SKIP
    ...     classifier.run(client)
    ...     print(classifier.metrics.line())
    """

    def __init__(
        self,
        targets: References,
        thresholds: Thresholds | str | os.PathLike[str],
        *,
        decoys: References = (),
        options: LiveOptions | None = None,
        engine: EngineLike = None,
        max_memory: int | None = None,
        device: Device | str | None = None,
        aligner: PrefixAligner | None = None,
        clock: Clock | None = None,
        make_worker: MakeWorker = ThreadWorker,
        debug: IO[str] | None = None,
        tell: Callable[[str], None] = notices.tell,
    ) -> None:
        if device is not None:
            what = "ReadUntilClassifier: device: give engine, which takes devices, too"
            warnings.warn(what, DeprecationWarning, stacklevel=2)
        first, others = open_targets(targets, decoys)
        thresholds = thresholds if isinstance(thresholds, Thresholds) else read_thresholds(thresholds)
        options = options or LiveOptions()
        options = replace(options, trim=checked_trim(thresholds, first, others, options.trim, None))
        thresholds = thresholds.for_references(first + others)
        self.references, self.thresholds = first + others, thresholds
        self._clock = RealClock() if clock is None else clock
        self._options, self._tell = options, tell
        own = own_aligner(self.references, thresholds.options, engine or device, max_memory)
        make = own if aligner is None else given_aligner(aligner)
        self._worker = make_worker(make, Criteria(thresholds, len(first)), self._clock)
        self._selector = Selector(thresholds, len(self.references), self._worker, self._clock, options, tell)
        self._debug = None if debug is None else DebugLog(debug, thresholds.prefixes)
        self._started = False

    @property
    def metrics(self) -> Metrics:
        """What happened so far."""
        return self._selector.metrics

    def __enter__(self) -> ReadUntilClassifier:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Make the device ready, if it is not yet.

        Raises
        ------
        DeviceError
            There is no such device, or its memory is too small.
        """
        if not self._started:
            self._worker.start()
            self._started = True

    def close(self) -> None:
        """Release the device."""
        if self._started:
            self._worker.close()

    def run(
        self,
        client: ReadUntilClient,
        seconds: float = math.inf,
        log_seconds: float = LOG_SECONDS,
        on_decided: Callable[[Decided], None] | None = None,
    ) -> Metrics:
        """Select reads as long as the client runs.

        Parameters
        ----------
        client : ReadUntilClient
            With many chunks for each read (`one_chunk=False`), whole reads so far or only what is new.
        seconds : float
            Stop then.
        log_seconds : float
            Tell how it goes each time so much time is over; 0 for never.
        on_decided : callable, optional
            Gets the reads of each turn, at the moment at which the sequencer knows of them.

        Raises
        ------
        UsageError
            The client sends samples of an unknown type.
        """
        self.start()
        clock, said = self._clock, self._clock.now()
        end = clock.now() + seconds
        while client.is_running and clock.now() < end:
            begun = clock.now()
            decided = self.step(client)
            if on_decided is not None and len(decided):
                on_decided(decided)
            if log_seconds and clock.now() - said >= log_seconds:
                self._tell(self.metrics.line())
                said = clock.now()
            if not self._selector.pressed:
                clock.sleep(self._options.interval - (clock.now() - begun))
        self._tell_short()
        return self.metrics

    def _tell_short(self) -> None:
        """Tell of a machine that was too slow."""
        counts, choice = self.metrics.outcome_counts(), self.metrics.choice
        delayed = counts["delayed"]
        selected = sum(counts.values()) - counts["control"] - counts["unselected"]
        if choice.short:
            self._tell(
                f"warning: {choice.text()} channels were selected, as many as this machine could serve; "
                f"{self.metrics.gone:,} verdicts came too late, and {delayed:,} reads went on without one"
            )
        elif delayed > MANY_DELAYED * selected and not self.metrics.failures:
            self._tell(
                f"warning: {delayed:,} of {selected:,} reads of selected channels went on without a verdict: this "
                "machine is too slow for all stages of all of them; shorten the references or the stages, or take a "
                "faster device"
            )

    def step(self, client: ReadUntilClient) -> Decided:
        """Take the chunks that are there, and tell the client what is to be done with which reads.

        Returns
        -------
        Decided
            These reads.
        """
        kind = signal_type(client)
        chunks = client.get_read_chunks(batch_size=getattr(client, "channel_count", MAX_CHANNELS), last=True)
        decided = self._selector.update(chunks, kind, getattr(client, "calibration_values", None))
        if len(decided):
            self._act(client, decided)
        return decided

    def _act(self, client: ReadUntilClient, decided: Decided) -> None:
        """Tell the client, and count it."""
        meant = [self._action_of(OUTCOMES[outcome]) for outcome in decided.outcome.tolist()]
        sent = ["stop_receiving" if self._options.dry_run and one == "unblock" else one for one in meant]
        reads = list(zip(decided.channel.tolist(), decided.key.tolist(), strict=True))
        unblock = [read for read, action in zip(reads, sent, strict=True) if action == "unblock"]
        stop = [read for read, action in zip(reads, sent, strict=True) if action == "stop_receiving"]
        if unblock:
            client.unblock_read_batch(unblock, duration=self._options.unblock_duration)
        if stop:
            client.stop_receiving_batch(stop)
        now = self._clock.now()
        self._selector.told(decided.channel[[action != "proceed" for action in sent]])
        for action in sent:
            self.metrics.actions[action] += 1
        self.metrics.add_decided(decided, now)
        if self._debug is not None:
            self._debug.add(decided, meant, sent, now)

    def _action_of(self, outcome: str) -> Action:
        """The action for an outcome; what the device was late for goes on, what it does not look at is as control."""
        if outcome == "delayed":
            return "proceed"
        action: Action = getattr(self._options, "control" if outcome == "unselected" else outcome)
        return action
