"""Selection while sequencing, played on a flow cell that is simulated: in real time, faster, or in simulated time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics import notices
from oclgenomics.app.reports import MISSING
from oclgenomics.app.run import EngineLike, verb
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.text_file import read_text
from oclgenomics.sdtw.decisions.basis import KindCheck, check_rate
from oclgenomics.sdtw.decisions.thresholds import Thresholds
from oclgenomics.sdtw.device.strips import PrefixAligner
from oclgenomics.sdtw.live import workers
from oclgenomics.sdtw.live.classifier import ReadUntilClassifier
from oclgenomics.sdtw.live.flow_cell import FlowCell, Tally
from oclgenomics.sdtw.live.judging import OUTCOMES, Criteria, Decided, Job
from oclgenomics.sdtw.live.metrics import Metrics
from oclgenomics.sdtw.live.options import FlowCellOptions, LiveOptions
from oclgenomics.sdtw.squiggles.opened import References
from oclgenomics.signals.model import Signals

KINDS = ("other", "target")
LEAST_INTERVAL = 1e-3  # seconds between requests in simulated time, which would take forever to pass without any


@dataclass(frozen=True, eq=False)
class Played:
    """How a run went.

    Attributes
    ----------
    options : FlowCellOptions
    live : LiveOptions
    metrics : Metrics
    seconds : float
        Of the run, as the sequencer counts them.
    selected, control : Tally
        What was sequenced with the selection, and in the same time without one.
    labelled : bool
        Whether it is known which reads are of the target.
    outcomes : ndarray, int64, (2, outcomes)
        Reads that are no targets, and targets, by what was decided of them.
    time, latency : ndarray, float64, (decisions,)
        When each read was decided of, and how long after its samples were there.
    response : dict of str to float
        Seconds from the measurement of the last sample that was sent of a read to the action.
    missed : int
        Actions for reads that were over.
    """

    options: FlowCellOptions
    live: LiveOptions
    metrics: Metrics
    seconds: float
    selected: Tally
    control: Tally
    labelled: bool
    outcomes: NDArray[np.int64]
    time: NDArray[np.float64]
    latency: NDArray[np.float64]
    response: dict[str, Any]
    missed: int

    @property
    def enrichment(self) -> float:
        """Samples of the target that each channel sequenced, by those without selection; NaN if there are none."""
        without = int(self.control.samples[1])
        return int(self.selected.samples[1]) / without if without else float("nan")

    def record(self) -> dict[str, Any]:
        """All of it as plain values."""
        metrics = self.metrics.record()
        busy = self.metrics.batch_seconds.total
        rates = {
            "samples_per_second": self.metrics.samples / self.seconds,
            "reads_per_second": self.metrics.reads / self.seconds,
            "cells_per_second": self.metrics.cells / busy if busy else None,
            "device_busy": busy / self.seconds,
        }
        record: dict[str, Any] = {
            "flow_cell": asdict(self.options), "seconds": self.seconds, **metrics, **rates,
            "response": self.response, "missed_actions": self.missed,
        }  # fmt: skip
        if self.labelled:
            record["with_selection"] = self._shares(self.selected)
            record["without_selection"] = self._shares(self.control)
            record["enrichment"] = self.enrichment
            record["outcomes_by_truth"] = {
                kind: dict(zip(OUTCOMES, row, strict=True))
                for kind, row in zip(KINDS, self.outcomes.tolist(), strict=True)
            }
        return record

    def _shares(self, tally: Tally) -> dict[str, Any]:
        channel_seconds = self.options.channels * self.options.duration
        return {
            "target_samples_per_channel_second": int(tally.samples[1]) / channel_seconds,
            "target_share_of_samples": int(tally.samples[1]) / max(1, int(tally.samples.sum())),
            **{f"{kind}_reads": int(tally.reads[number]) for number, kind in enumerate(KINDS)},
            **{f"{kind}_reads_unblocked": int(tally.unblocked[number]) for number, kind in enumerate(KINDS)},
            **{f"{kind}_samples": int(tally.samples[number]) for number, kind in enumerate(KINDS)},
        }


class _Watch:
    """Keeps when reads were decided of, and what of which."""

    def __init__(self, clock: workers.Clock, kinds: dict[str, int]) -> None:
        self._clock, self._kinds, self._began = clock, kinds, clock.now()
        self.outcomes = np.zeros((2, len(OUTCOMES)), np.int64)
        self._time: list[NDArray[np.float64]] = [np.empty(0)]
        self._latency: list[NDArray[np.float64]] = [np.empty(0)]

    def add(self, decided: Decided) -> None:
        """Take reads of which the sequencer knows now."""
        now = self._clock.now()
        kinds = [self._kinds[name.rsplit(".", 2)[0]] for name in decided.read.tolist()]
        np.add.at(self.outcomes, (np.array(kinds, np.int64), decided.outcome), 1)
        self._time.append(np.full(len(decided), now - self._began))
        self._latency.append(now - decided.arrived)

    def times(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """When, and how long after their samples were there."""
        return np.concatenate(self._time), np.concatenate(self._latency)


@verb
def play(
    signals: Signals,
    targets: References,
    thresholds: Thresholds | str | os.PathLike[str],
    *,
    decoys: References = (),
    truth: NDArray[np.bool_] | None = None,
    flow_cell: FlowCellOptions | None = None,
    live: LiveOptions | None = None,
    speed: float = 1.0,
    seconds: Callable[[Job, float], float] | None = None,
    engine: EngineLike = None,
    aligner: PrefixAligner | None = None,
    debug: IO[str] | None = None,
    tell: Callable[[str], None] = notices.tell,
    log_seconds: float = 0.0,
) -> Played:
    """Play reads on a simulated flow cell and select among them.

    Parameters
    ----------
    signals : Signals
        Reads to play, from their beginning.
    targets, thresholds, decoys, engine, aligner, debug, tell, log_seconds
        See `ReadUntilClassifier`.
    truth : ndarray, bool, (reads,), optional
        Which reads are of the target.
    flow_cell : FlowCellOptions, optional
    live : LiveOptions, optional
    speed : float
        1 plays in real time, 2 twice as fast. 0 plays in simulated time, in which only the alignments take time, as
        long as they really did; the rest of the program takes none.
    seconds : callable, optional
        How long alignments take in simulated time, instead of as long as they did; see `VirtualWorker`.

    Raises
    ------
    ParameterError
        The speed is negative, simulated time would hardly pass, or the flow cell has another rate than the reads.
    UsageError
        Reads are of another kind than the references or the thresholds; see also `ReadUntilClassifier`.
    InputError, DeviceError
        See `ReadUntilClassifier` and `FlowCell`.
    """
    if not 0 <= speed < float("inf"):
        raise ParameterError("speed", "give 0 (simulated time) or more", speed)
    options, live = flow_cell or FlowCellOptions(), live or LiveOptions()
    if not speed and live.interval < LEAST_INTERVAL:
        few = f"give {LEAST_INTERVAL:g} seconds or more with `speed=0`, as simulated time passes between requests alone"
        raise ParameterError("interval", few, live.interval)
    virtual = workers.VirtualClock()
    clock: workers.Clock = workers.RealClock(speed) if speed else virtual
    labels = np.zeros(len(signals), np.bool_) if truth is None else truth

    def make_worker(make: workers.MakeAligner, criteria: Criteria, clock: workers.Clock) -> workers.Worker:
        if speed:
            return workers.ThreadWorker(make, criteria, clock)
        return workers.VirtualWorker(make, criteria, virtual, seconds)

    with ReadUntilClassifier(
        targets, thresholds, decoys=decoys, options=live, engine=engine,
        aligner=aligner, clock=clock, make_worker=make_worker, debug=debug, tell=tell,
    ) as classifier:  # fmt: skip
        check = KindCheck(classifier.references, classifier.thresholds.reads)
        check.see(signals)
        if check.kind.rate is not None:
            check_rate(options.rate, check.kind.rate)
        cell = FlowCell(signals, labels, clock, options)
        watch = _Watch(clock, dict(zip(signals.names.tolist(), labels.astype(int).tolist(), strict=True)))
        classifier.run(cell, log_seconds=log_seconds, on_decided=watch.add)
        took = cell.seconds
    unselected = FlowCell(signals, labels, workers.VirtualClock(), options).finish()
    time, latency = watch.times()
    return Played(
        options, live, classifier.metrics, took, cell.finish(), unselected, truth is not None, watch.outcomes, time,
        latency, cell.response.summary(), cell.missed,
    )  # fmt: skip


def read_classes(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the class of each read from a table.

    Parameters
    ----------
    path : path
        Columns with tabs between them, among them `read` and `class`, which the first line names; lines that start
        with # are comments. What `oclgenomics simulate signals --truth` writes is one.

    Raises
    ------
    InputError
        It cannot be read, lacks one of the columns, or tells two classes of a read.
    """
    text, source = read_text(path)
    lines = [(number, line.split("\t")) for number, line in enumerate(text.splitlines(), 1) if not line.startswith("#")]
    first, head = lines[0] if lines else (1, [])
    if "read" not in head or "class" not in head:
        raise InputError('the first line has to name the columns "read" and "class"', source=source, line=first)
    name, kind = head.index("read"), head.index("class")
    classes: dict[str, str] = {}
    for number, fields in lines[1:]:
        if len(fields) != len(head):
            raise InputError(f"{len(fields)} columns, not {len(head)}", source=source, line=number)
        if classes.setdefault(fields[name], fields[kind]) != fields[kind]:
            raise InputError(f"read {fields[name]} is of two classes", source=source, line=number)
    return classes


def named_classes(names: Sequence[str]) -> dict[str, str]:
    """Return the classes that names of reads begin with, before their first `_`: names of simulated reads do."""
    return {name: name.partition("_")[0] for name in names if "_" in name}


def of_class(names: Sequence[str], classes: Mapping[str, str], wanted: str, source: str) -> NDArray[np.bool_]:
    """Return which reads are of a class.

    Raises
    ------
    InputError
        The class of a read is missing, or none is of the class.
    """
    missing = next((name for name in names if name not in classes), None)
    if missing is not None:
        raise InputError(f"does not tell the class of read {missing}", source=source)
    found = np.array([classes[name] == wanted for name in names], np.bool_)
    if not found.any():
        others = ", ".join(sorted(set(classes.values()))[:5])
        raise InputError(f"no read is of class {wanted}; there are {others}", source=source)
    return found


def played_text(played: Played) -> str:
    """Return a table of names and values, with a tab between them."""
    return "".join([f"{name}\t{value}\n" for name, value in _rows(played)])


def played_headline(played: Played) -> str:
    """Return what matters most of a run, for the titles of its figure and page."""
    if played.labelled and np.isfinite(played.enrichment):
        return f"Enrichment {played.enrichment:.2f}"
    return f"{played.metrics.reads:,} reads played on {played.options.channels:,} channels"


def _rows(played: Played) -> Iterator[tuple[str, str]]:
    record, metrics = played.record(), played.metrics
    yield "channels", f"{played.options.channels:,}"
    why = "; this machine is too slow for more" if metrics.choice.short else ""
    yield "selected channels", metrics.choice.text() + why
    yield "seconds", f"{played.seconds:.2f}"
    yield "reads", f"{metrics.reads:,}"
    yield "decisions", _counts(metrics.outcome_counts())
    yield "decision latency (ms)", _times(record["latency"])
    yield "batch time (ms)", _times(record["batch_seconds"])
    yield "own work per batch (ms)", _times(record["loop_seconds"])
    yield "response (ms)", _times(record["response"])
    reads = _number(record["batch_reads"]["mean"])
    yield "batches", f"{metrics.batches:,}, {metrics.slow_batches:,} slow; {reads} reads"
    yield "device busy", f"{100 * record['device_busy']:.1f} %"
    yield "samples per second", f"{record['samples_per_second']:,.0f}"
    yield "cells per second", MISSING if record["cells_per_second"] is None else f"{record['cells_per_second']:,.4g}"
    verdicts, late = int(metrics.batch_reads.total), metrics.gone + played.missed
    yield "verdicts", f"{verdicts:,}, {late:,} too late ({100 * late / max(1, verdicts):.1f} %)"
    troubles = ("malformed", "joined", "late", "deferred", "gone", "failures", "missed_actions")
    yield "trouble", _counts({name.replace("_", " "): record[name] for name in troubles})
    if played.labelled:
        for number, kind in ((1, "targets"), (0, "others")):
            yield kind, _counts(dict(zip(OUTCOMES, played.outcomes[number].tolist(), strict=True)))
        shares = [record[name]["target_share_of_samples"] for name in ("with_selection", "without_selection")]
        share = f"{100 * shares[0]:.2f} % of the samples, {100 * shares[1]:.2f} % without selection"
        yield "share of the target", share
        yield "enrichment", f"{played.enrichment:.3f}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in counts.items() if count) or "none"


def _times(summary: dict[str, Any]) -> str:
    names = ("mean", "p50", "p95", "p99", "max")
    return ", ".join(f"{name} {_number(None if summary[name] is None else 1e3 * summary[name])}" for name in names)


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.1f}"
