"""Where the time went: a table per kernel and a trace that Perfetto and Chrome open."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    import pyopencl


statistics = late("statistics")


@dataclass(frozen=True)
class Span:
    """Something that took time: a kernel, a transfer or a stretch of host work; nanoseconds of the host's clock.

    `where` names the process, if it is another one; all processes of a machine have the same clock.
    """

    name: str
    lane: str
    start: int
    end: int
    where: str = ""

    @property
    def milliseconds(self) -> float:
        return (self.end - self.start) / 1e6


@dataclass(frozen=True)
class _Pending:
    name: str
    lane: str
    event: pyopencl.Event
    enqueued: int


class Profile:
    """Spans of one engine.

    Parameters
    ----------
    enabled : bool
        When False, nothing is recorded and events are not kept.
    """

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self.origin = time.perf_counter_ns()
        self._spans: list[Span] = []
        self._pending: list[_Pending] = []

    def record(self, name: str, lane: str, event: pyopencl.Event, enqueued: int) -> None:
        """Keep an event, to read its timestamps when it has ended; `enqueued` is the host's clock at its enqueueing."""
        if self.enabled:
            self._pending.append(_Pending(name, lane, event, enqueued))

    def add(self, name: str, lane: str, start: int, end: int) -> None:
        """Keep a span measured on the host (`time.perf_counter_ns`)."""
        if self.enabled:
            self._spans.append(Span(name, lane, start, end))

    @contextlib.contextmanager
    def mark(self, name: str, lane: str = "host") -> Iterator[None]:
        """Measure the body of a `with` statement, as host work if nothing else is said."""
        start = time.perf_counter_ns()
        try:
            yield
        finally:
            self.add(name, lane, start, time.perf_counter_ns())

    @property
    def spans(self) -> list[Span]:
        """All spans so far; waits for the device where needed."""
        for pending in self._pending:
            pending.event.wait()
            stamps = pending.event.profile
            # The device's clock starts anywhere: the moment of queueing is the one that both clocks saw.
            offset = pending.enqueued - stamps.queued
            self._spans.append(Span(pending.name, pending.lane, stamps.start + offset, stamps.end + offset))
        self._pending.clear()
        return self._spans

    def taken(self, where: str) -> list[Span]:
        """Return all spans so far, as of a process that is named so, and forget them."""
        spans = [replace(span, where=where) for span in self.spans]
        self.clear()
        return spans

    def extend(self, spans: Iterable[Span]) -> None:
        """Keep spans of another process."""
        self._spans.extend(spans)

    def clear(self) -> None:
        """Forget all spans so far."""
        self._pending.clear()
        self._spans.clear()

    def totals(self) -> dict[str, dict[str, float]]:
        """Return count and milliseconds (total, min, median, max) for each name, the largest total first."""
        groups: dict[str, list[float]] = {}
        for span in self.spans:
            name = span.name if span.lane == "compute" else f"{span.lane}: {span.name}"
            groups.setdefault(name, []).append(span.milliseconds)
        columns: dict[str, Callable[[list[float]], float]] = {
            "count": len, "total_ms": sum, "min_ms": min, "median_ms": statistics.median, "max_ms": max,
        }  # fmt: skip
        rows = {name: {column: of(times) for column, of in columns.items()} for name, times in groups.items()}
        return dict(sorted(rows.items(), key=lambda row: -row[1]["total_ms"]))

    def table(self) -> str:
        """Return the totals as text."""
        rows = self.totals()
        width = max([len(name) for name in rows] + [6])
        lines = [f"{'kernel':<{width}} {'count':>7} {'total ms':>11} {'min ms':>10} {'median ms':>10} {'max ms':>10}"]
        for name, row in rows.items():
            lines.append(
                f"{name:<{width}} {row['count']:>7} {row['total_ms']:>11.3f} {row['min_ms']:>10.4f} "
                f"{row['median_ms']:>10.4f} {row['max_ms']:>10.4f}"
            )
        return "\n".join(lines)

    def trace(self, path: str | Path) -> None:
        """Write the trace to a file."""
        Path(path).write_text(self.trace_json())

    def trace_json(self) -> str:
        """Return the spans in the Trace Event Format, which ui.perfetto.dev and chrome://tracing read."""
        lanes = {"host": 0, "compute": 1, "transfer": 2}
        processes = {where: number for number, where in enumerate(dict.fromkeys(span.where for span in self.spans), 1)}
        events: list[dict[str, object]] = []
        for where, process in (processes or {"": 1}).items():
            if where:
                events.append({"ph": "M", "pid": process, "name": "process_name", "args": {"name": where}})
            events += [
                {"ph": "M", "pid": process, "tid": number, "name": "thread_name", "args": {"name": lane}}
                for lane, number in lanes.items()
            ]
        for span in self.spans:
            when = {"ts": (span.start - self.origin) / 1e3, "dur": (span.end - span.start) / 1e3}
            track = {"pid": processes[span.where], "tid": lanes[span.lane]}
            events.append({"ph": "X", **track, "name": span.name, **when})
        return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})


class Recorder:
    """Records commands by their events where these carry times, and by the host's clock where not.

    Parameters
    ----------
    profile : Profile
    has_times : callable
        Says whether the device's events carry times; it is only asked while the profile is kept.
    """

    def __init__(self, profile: Profile, has_times: Callable[[], bool]) -> None:
        self.profile = profile
        self._has_times = has_times

    def record(self, name: str, lane: str, event: pyopencl.Event, start: int) -> None:
        """Record a command that was enqueued at `start`, on the host's clock."""
        if not self.profile.enabled:
            return
        if self._has_times():
            self.profile.record(name, lane, event, start)
        else:  # the runtime reports zeros: wait, and take the host's clock
            event.wait()
            self.profile.add(name, lane, start, time.perf_counter_ns())
