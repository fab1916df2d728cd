"""A run with selection, told to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oclgenomics.sdtw.live.outcomes import OUTCOMES
from oclgenomics.sdtw.live.playback import Played

__all__ = ["played_text"]


def played_text(played: Played) -> str:
    """Return a table of names and values, with a tab between them."""
    return "".join([f"{name}\t{value}\n" for name, value in _rows(played)])


def _rows(played: Played) -> Iterator[tuple[str, str]]:
    record, metrics = played.record(), played.metrics
    yield "channels", f"{played.options.channels:,}"
    yield "selected channels", _selected(played)
    yield "seconds", f"{played.seconds:.2f}"
    yield "reads", f"{metrics.reads:,}"
    yield "decisions", _counts(metrics.outcome_counts())
    yield "decision latency (ms)", _times(record["latency"])
    yield "batch time (ms)", _times(record["batch_seconds"])
    yield "own work per batch (ms)", _times(record["loop_seconds"])
    yield "response (ms)", _times(record["response"])
    yield (
        "batches",
        f"{metrics.batches:,}, {metrics.slow_batches:,} slow; {_number(record['batch_reads']['mean'])} reads",
    )
    yield "device busy", f"{100 * record['device_busy']:.1f} %"
    yield "samples per second", f"{record['samples_per_second']:,.0f}"
    yield "cells per second", "-" if record["cells_per_second"] is None else f"{record['cells_per_second']:,.4g}"
    verdicts, late = int(metrics.batch_reads.total), metrics.gone + played.missed
    yield "verdicts", f"{verdicts:,}, {late:,} too late ({100 * late / max(1, verdicts):.1f} %)"
    troubles = ("malformed", "joined", "late", "deferred", "gone", "failures", "missed_actions")
    yield (
        "trouble",
        ", ".join(f"{record[name]:,} {name.replace('_', ' ')}" for name in troubles if record[name]) or "none",
    )
    if played.labelled:
        for number, kind in ((1, "targets"), (0, "others")):
            yield kind, _counts(dict(zip(OUTCOMES, played.outcomes[number].tolist(), strict=True)))
        shares = [record[name]["target_share_of_samples"] for name in ("with_selection", "without_selection")]
        yield (
            "share of the target",
            f"{100 * shares[0]:.2f} % of the samples, {100 * shares[1]:.2f} % without selection",
        )
        yield "enrichment", f"{played.enrichment:.3f}"


def _selected(played: Played) -> str:
    """How many channels were selected, and why not all of them."""
    why = "; this machine is too slow for more" if played.metrics.choice.short else ""
    return played.metrics.choice.text() + why


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in counts.items() if count) or "none"


def _times(summary: dict[str, Any]) -> str:
    names = ("mean", "p50", "p95", "p99", "max")
    return ", ".join(f"{name} {_number(None if summary[name] is None else 1e3 * summary[name])}" for name in names)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"
