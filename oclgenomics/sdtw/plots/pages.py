"""Pages for browsers: how well scores tell targets from other reads, and a run with selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import BLUE, EN_DASH, INK, ORANGE, TONES, WHITE, number_text
from oclgenomics.app.pages import Chart, Page, Table, label, pale, vertical, views_of_traces
from oclgenomics.sdtw.decisions.evaluation import Evaluation, PrefixEvaluation
from oclgenomics.sdtw.decisions.report import EvaluationReport
from oclgenomics.sdtw.live.judging import OUTCOMES
from oclgenomics.sdtw.live.playback import Played, played_headline, played_text
from oclgenomics.sdtw.plots.evaluation import BINS, COLOURS, TAIL, shown_fpr
from oclgenomics.sdtw.plots.live import COLOURS as OUTCOME_COLOURS

CORNERS = 500  # of a ROC curve that are drawn
SHOWN_PREFIXES = 6  # that have histograms
DOTS = 5_000  # decisions that are drawn
LATENCY_BINS = 60
DASHES = ("solid", "dash", "dot")


def evaluation_page(report: EvaluationReport, *, title: str) -> Page:
    """Return the page of an evaluation; `title` is what was evaluated."""
    evaluations, first = report.evaluations, report.evaluations[0]
    best = max(first.prefixes, key=lambda one: one.f.value)
    marked = {stage.prefix: stage.reject_above for stage in report.staged.thresholds.stages}
    reads = [len(scores) for scores in (first.labelled.target, first.labelled.other)]
    kept = [f"{100 * low:.1f}{EN_DASH}{100 * high:.1f} %" for low, high in report.staged.kept]
    rates = report.staged.true_positive_rate, report.staged.false_positive_rate
    facts = {
        "Highest F": f"{best.f.value:.3f}\nat {best.prefix:,} samples" + _interval(best.f.low, best.f.high),
        "Targets kept": f"{100 * rates[0]:.1f} %\n({kept[0]})", "Others kept": f"{100 * rates[1]:.1f} %\n({kept[1]})",
        "Enrichment": f"{report.enrichment.enrichment:.2f}\nexpected of the stages",
        "Reads": f"{sum(reads):,}\n{reads[0]:,} targets, {reads[1]:,} others",
    }  # fmt: skip
    weights = "both classes weigh the same" if first.balanced else "each read weighs the same"
    parts: list[Chart | Table] = [_f_curves(evaluations), _roc(first, marked), _scores(first, marked), *_tables(report)]
    return Page(f"F {best.f.value:.3f} at {best.prefix:,} samples", f"{title}; {weights}", parts, facts)


def _interval(low: float, high: float) -> str:
    return "" if low != low else f" ({low:.3f}{EN_DASH}{high:.3f})"


def _f_curves(evaluations: Sequence[Evaluation]) -> Chart:
    traces: list[dict[str, Any]] = []
    for number, evaluation in enumerate(evaluations):
        colour, name = COLOURS[number % len(COLOURS)], label(evaluation.labelled.name)
        x = [one.prefix for one in evaluation.prefixes]
        low, middle, high = (np.array([one.f[place] for one in evaluation.prefixes]) for place in (1, 0, 2))
        if not np.isnan(low).all():
            band = {"type": "scatter", "mode": "lines", "x": x, "line": {"width": 0}, "hoverinfo": "skip"}
            traces += [
                {**band, "y": low, "showlegend": False},
                {**band, "y": high, "fill": "tonexty", "fillcolor": pale(colour, 0.18), "showlegend": False},
            ]
        traces.append({
            "type": "scatter", "mode": "lines+markers", "name": name, "x": x, "y": middle,
            "line": {"color": colour, "width": 2.2, "dash": DASHES[number // len(COLOURS) % 3]},
            "customdata": np.stack([low, high], axis=1),
            "hovertemplate": "%{fullData.name}, %{x:,} samples: F %{y:.4f}<br>95 %: %{customdata[0]:.4f} to "
            "%{customdata[1]:.4f}<extra></extra>",
        })  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": "Samples of a read"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "Highest F"}}, "showlegend": len(evaluations) > 1,
    }  # fmt: skip
    text = (
        "The highest F of all thresholds by the length of the prefix that is aligned; bands: 95 % of bootstrap rounds."
    )
    return Chart("F by prefix", text, traces, layout, 380)


def _roc(evaluation: Evaluation, marked: Mapping[int, float]) -> Chart:
    traces: list[dict[str, Any]] = []
    tones = TONES[3:]
    for number, one in enumerate(evaluation.prefixes):
        fpr, tpr = one.sweep.roc
        corners = np.unique(np.linspace(0, len(fpr) - 1, CORNERS).round().astype(np.int64))
        tone = tones[round(number * (len(tones) - 1) / max(len(evaluation.prefixes) - 1, 1))]
        traces.append({
            "type": "scatter", "mode": "lines", "name": f"{one.prefix:,} samples, AUC {one.sweep.auc:.3f}",
            "x": fpr[corners], "y": tpr[corners], "line": {"color": tone, "width": 2},
            "hovertemplate": "%{fullData.name}<br>keeps %{y:.2%} of the targets, %{x:.2%} of the others<extra></extra>",
        })  # fmt: skip
    points = [(one, *one.sweep.rates(marked[one.prefix])) for one in evaluation.prefixes if one.prefix in marked]
    if points:
        traces.append({
            "type": "scatter", "mode": "markers", "name": "thresholds", "x": [fpr for _, _, fpr in points],
            "y": [tpr for _, tpr, _ in points],
            "marker": {"color": ORANGE, "size": 9, "line": {"width": 1, "color": WHITE}},
            "customdata": [[one.prefix, marked[one.prefix]] for one, _, _ in points], "cliponaxis": False,
            "hovertemplate": "threshold %{customdata[1]:,.6~r} at %{customdata[0]:,} samples<br>keeps %{y:.2%} of the "
            "targets, %{x:.2%} of the others<extra></extra>",
        })  # fmt: skip
    end = shown_fpr(evaluation)
    across = {"range": [0, end], "tickformat": ".0%"}
    layout = {
        "xaxis": {**across, "title": {"text": "Others that are kept"}}, "showlegend": True,
        "yaxis": {**across, "range": [0, 1.01], "title": {"text": "Targets that are kept"}},
    }  # fmt: skip
    text = "The shares of both classes that each threshold keeps, by the length of the prefix."
    return Chart("ROC", text, traces, layout, 460)


def _shown(evaluation: Evaluation, marked: Mapping[int, float]) -> list[PrefixEvaluation]:
    """Prefixes that have histograms, from the shortest to the longest."""
    known = [one for one in evaluation.prefixes if one.prefix in marked] or list(evaluation.prefixes)
    places = np.unique(np.linspace(0, len(known) - 1, SHOWN_PREFIXES).round()).astype(int)
    return [known[place] for place in places.tolist()]


def _scores(evaluation: Evaluation, marked: Mapping[int, float]) -> Chart:
    """Histograms of both classes, of one prefix at a time."""
    groups: dict[str, list[dict[str, Any]]] = {}
    shown = _shown(evaluation, marked)
    for one in shown:
        groups[f"{one.prefix:,}"] = _histograms(one, marked.get(one.prefix))
    score = "Cost" if evaluation.labelled.score == "cost" else "Difference of costs"
    traces, menu = views_of_traces(groups)
    layout = {
        "xaxis": {"title": {"text": score}}, "yaxis": {"title": {"text": "Share of the class"}, "tickformat": ".0%"},
        "barmode": "overlay", "bargap": 0, "showlegend": True, "updatemenus": [menu] if len(groups) > 1 else [],
    }  # fmt: skip
    text = "Scores of both classes, and the threshold; the buttons choose the samples of the prefix."
    return Chart("Scores", text, traces, layout, 400)


def _histograms(one: PrefixEvaluation, threshold: float | None) -> list[dict[str, Any]]:
    finite = [scores[np.isfinite(scores)] for scores in (one.sweep.target, one.sweep.other)]
    low, high = np.percentile(np.concatenate(finite), [TAIL, 100 - TAIL]).tolist()
    low, high = (min(low, threshold), max(high, threshold)) if threshold is not None else (low, high)
    room = max((high - low) * 0.03, 0.5)
    edges = np.linspace(low - room, high + room, BINS + 1)
    traces, top = [], 0.0
    for name, scores, total, colour in (
        ("targets", finite[0], len(one.sweep.target), BLUE), ("others", finite[1], len(one.sweep.other), ORANGE),
    ):  # fmt: skip
        counts = np.histogram(scores, edges)[0]
        top = max(top, float(counts.max()) / total)
        traces.append({
            "type": "bar", "name": name, "x": (edges[:-1] + edges[1:]) / 2, "y": counts / total, "opacity": 0.65,
            "width": float(edges[1] - edges[0]), "marker": {"color": colour, "line": {"width": 0}},
            "customdata": np.stack([edges[:-1], edges[1:], counts], axis=1),
            "hovertemplate": "%{customdata[2]:,} %{fullData.name} (%{y:.2%})<br>%{customdata[0]:,.5~r} to "
            "%{customdata[1]:,.5~r}<extra></extra>",
        })  # fmt: skip
    if threshold is not None:
        recall, fpr = one.sweep.rates(threshold)
        kept = f"<br>keeps {100 * recall:.1f} % of targets, {100 * fpr:.1f} % of others"
        name = f"threshold {threshold:,.6g}"
        traces.append({
            "type": "scatter", "mode": "lines", "name": name, "x": [threshold] * 2, "y": [0, 1.08 * top],
            "line": {"color": INK, "width": 2}, "hovertemplate": f"{name}{kept}<extra></extra>",
        })  # fmt: skip
    return traces


def _tables(report: EvaluationReport) -> list[Table]:
    names = {
        "variant": "Alignments", "prefix": "Samples", "f": "F", "f_low": "F, low", "f_high": "F, high",
        "held_out_f": "F, held out", "threshold": "Threshold", "recall": "Recall", "fpr": "FPR",
        "precision": "Precision", "auc": "AUC", "targets": "Targets", "others": "Others",
    }  # fmt: skip
    rows = [[record.get(name) for name in names] for one in report.evaluations for record in one.records()]
    note = "At the threshold of the highest F; low and high are the ends of the interval of 95 %."
    stages = report.staged.records()
    heads = list(stages[0]) if stages else []
    staged = [[record[name] for name in heads] for record in stages]
    shown = [name.replace("_", " ").capitalize() for name in heads]
    what = "What each stage of thresholds does with the reads that reach it."
    return [Table("Prefixes", list(names.values()), rows, note), Table("Stages", shown, staged, what)]


# A run with selection


def played_page(played: Played, *, title: str) -> Page:
    """Return the page of a run; `title` is what was played."""
    metrics, latency = played.metrics, played.metrics.latency.summary()
    facts = {
        "Reads": f"{metrics.reads:,}",
        "Channels": f"{played.options.channels:,}",
        "Seconds": f"{played.seconds:,.1f}",
    }
    if latency["p99"] is not None:
        facts["Latency"] = f"{number_text(1e3 * (latency['p50'] or 0))} ms\np99 {number_text(1e3 * latency['p99'])} ms"
    facts["Slow batches"] = f"{metrics.slow_batches:,}\nof {metrics.batches:,}"
    if played.labelled and np.isfinite(played.enrichment):
        facts["Enrichment"] = f"{played.enrichment:.2f}"
    rows = [line.split("\t", 1) for line in played_text(played).splitlines()]
    table = Table("The run in numbers", ["What", "Value"], rows)
    charts = [_latency(played), _latency_histogram(played), _outcomes(played)] if played.outcomes.any() else []
    return Page(played_headline(played), title, [*charts, table], facts)


def _known_latency(played: Played) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    known = ~np.isnan(played.latency)
    return played.time[known], 1e3 * played.latency[known]


def _latency(played: Played) -> Chart:
    time, latency = _known_latency(played)
    step = max(1, -(-len(time) // DOTS))
    bound = 1e3 * played.live.max_latency
    dots = {
        "type": "scatter", "mode": "markers", "x": time[::step], "y": latency[::step], "name": "decisions",
        "marker": {"color": BLUE, "size": 4, "opacity": 0.5},
        "hovertemplate": "after %{x:,.2f} s: %{y:,.1f} ms<extra></extra>",
    }  # fmt: skip
    end = played.seconds or 1
    line = {
        "type": "scatter", "mode": "lines", "x": [0, end], "y": [bound, bound], "name": "the loop waits no longer",
        "line": {"color": ORANGE, "width": 1.5}, "hoverinfo": "name", "hoverlabel": {"namelength": -1},
    }  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": "Time of the run (s)"}, "range": [0, end]}, "showlegend": True,
        "yaxis": {"title": {"text": "Decision latency (ms)"}, "rangemode": "tozero"},
    }  # fmt: skip
    text = "A dot for each decision: when the sequencer got it, and how long after the samples that made it possible."
    text += f" Every {step}th decision is drawn." if step > 1 else ""
    return Chart("Decision latency", text, [dots, line], layout, 400)


def _latency_histogram(played: Played) -> Chart:
    _, latency = _known_latency(played)
    high = max(1.05 * float(latency.max(initial=0)), 1.0)
    counts, edges = np.histogram(latency, np.linspace(0, high, LATENCY_BINS + 1))
    bars = {
        "type": "bar", "x": (edges[:-1] + edges[1:]) / 2, "y": counts, "marker": {"color": BLUE},
        "customdata": np.stack([edges[:-1], edges[1:]], axis=1),
        "hovertemplate": "%{y:,} reads<br>%{customdata[0]:,.1f} to %{customdata[1]:,.1f} ms<extra></extra>",
    }  # fmt: skip
    shapes = [vertical(1e3 * played.live.max_latency, ORANGE, width=1.5)]
    layout = {
        "xaxis": {"title": {"text": "Decision latency (ms)"}, "range": [0, high]},
        "yaxis": {"title": {"text": "Reads"}}, "bargap": 0.05, "shapes": shapes,
    }  # fmt: skip
    return Chart("Latencies", "How many reads were decided within which time.", [bars], layout, 300)


def _outcomes(played: Played) -> Chart:
    rows = [("targets", played.outcomes[1]), ("others", played.outcomes[0])]
    rows = rows if played.labelled else [("reads", played.outcomes.sum(axis=0))]
    names = [name for name, _ in rows]
    traces = []
    for word, colour in OUTCOME_COLOURS.items():
        counts = np.array([int(row[OUTCOMES.index(word)]) for _, row in rows])
        if counts.any():
            shares = counts / np.array([max(1, int(row.sum())) for _, row in rows])
            traces.append({
                "type": "bar", "orientation": "h", "name": word, "y": names, "x": shares.tolist(),
                "marker": {"color": colour}, "customdata": counts.tolist(),
                "text": [f"{count:,}" for count in counts.tolist()],
                "insidetextanchor": "middle", "textangle": 0, "constraintext": "inside",
                "hovertemplate": "%{customdata:,} %{y}: %{fullData.name} (%{x:.1%})<extra></extra>",
            })  # fmt: skip
    layout = {
        "barmode": "stack", "xaxis": {"title": {"text": "Share of the reads"}, "range": [0, 1], "tickformat": ".0%"},
        "yaxis": {"autorange": "reversed", "ticks": ""}, "showlegend": True,
    }  # fmt: skip
    return Chart("Decisions", "What was decided of the reads.", traces, layout, 190 + 50 * len(rows))
