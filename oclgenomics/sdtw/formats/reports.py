"""Reports: alignments and classified reads as tables, JSON Lines and PAF, counts by stage, and evaluations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from json.encoder import encode_basestring_ascii
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.multiqc import Content
from oclgenomics.app.provenance import provenance_lines
from oclgenomics.app.reports import MISSING, Lines, Report, cell, encoded, table_text
from oclgenomics.errors import ParameterError
from oclgenomics.io.json_text import json_text
from oclgenomics.io.text_file import rows_of
from oclgenomics.sdtw.decisions.chosen_by import SharedReads
from oclgenomics.sdtw.decisions.evaluation import Evaluation
from oclgenomics.sdtw.decisions.report import EvaluationReport
from oclgenomics.sdtw.result import Alignments, BestPlaces, Classified, Totals
from oclgenomics.sdtw.squiggles.squiggle import named_places, record_lengths

Part = Alignments | Classified
ReportFormat = Literal["tsv", "jsonl", "paf"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
SHOWN_RATES = 500  # of a ROC curve in a report of MultiQC
WHOLE, REAL = "%.0f", "%.9g"  # REAL tells floats of single precision apart
PAF = "%%s\t%%s\t0\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\ttp:A:P\tco:%s:%%s\trf:Z:%%s"
WORDS_SHOWN = ("accept", "reject", "undecided")  # in summaries, in this order


def make_report(format: ReportFormat, *, provenance: Mapping[str, Any] | None = None) -> Report[Part]:
    """Return the report of a format.

    Parameters
    ----------
    format : {'tsv', 'jsonl', 'paf'}
        PAF needs parts with starts.
    provenance : mapping, optional
        What made the results, for 'tsv'; the others have no place for it.

    Raises
    ------
    ParameterError
        There is no such format.
    """
    if format == "tsv":
        return TsvReport(provenance or {})
    if format == "jsonl":
        return JsonReport()
    if format == "paf":
        return PafReport()
    raise ParameterError("format", f"choose one of {', '.join(FORMATS)}", format)


class JsonReport(Lines):
    """A line of JSON for each row of `columns`; null where there is no value, or an infinite score."""

    def body(self, part: Part, /) -> bytes:
        columns = part.columns()
        texts = [_texts(column, part, json=True) for column in columns.values()]
        return encoded(rows_of(texts, "{" + ", ".join(f'"{name}": %s' for name in columns) + "}\n"))


class TsvReport(Lines):
    """A table: lines with '#' that say what made it, a header, and the rows of `columns` of each part."""

    def __init__(self, provenance: Mapping[str, Any]) -> None:
        self._head = provenance_lines(provenance)
        self._begun = False

    def head(self) -> bytes:
        """Return what made it; the names of the columns depend on the parts, and come with the first one."""
        return encoded(self._head)

    def body(self, part: Part, /) -> bytes:
        columns = part.columns()
        names = "" if self._begun else "\t".join(columns) + "\n"
        self._begun = True
        return encoded(names + rows_of([_texts(column, part) for column in columns.values()]))


class PafReport(Lines):
    """A line for each read that has a place, of its best reference. Reads without a place are left out, as PAF does.

    Of the read, lengths and places are samples; of the record, bases. Matches are the k-mers that samples were
    aligned with, and the block is their bases. Tags: `co` is the cost, `rf` the name of the reference, `dc` the
    decision.

    Attributes
    ----------
    left_out : int
        Reads without a place so far.
    """

    def __init__(self) -> None:
        self.left_out = 0

    def body(self, part: Part, /) -> bytes:
        """Write the places of a part.

        Raises
        ------
        ValueError
            The part has no starts.
        """
        best = BestPlaces.of(part)
        there = best.end >= 0
        self.left_out += int(np.count_nonzero(~there))
        which, start, end = best.reference[there], best.start[there], best.end[there]
        first, last = (named_places(part.references, which, column) for column in (start, end))
        row = part.options.row_samples
        low = np.minimum(first["position"], last["position"])
        bases = np.abs(first["position"] - last["position"]) + np.array([one.k for one in part.references])[which]
        columns = [
            part.names[there], part.samples[there], best.prefix[there] // row * row,
            first["strand"], first["record"], record_lengths(part.references, which, end), low, low + bases,
            end - start + 1, bases, best.quality[there], best.cost[there], first["reference"],
        ]  # fmt: skip
        form = PAF % ("f" if part.options.is_float else "i")
        if best.decision is not None:
            columns.append(best.decision[there])
            form += "\tdc:Z:%s"
        return encoded(rows_of([_texts(column, part) for column in columns], form + "\n"))


def summary_text(totals: Totals, prefixes: Sequence[int], provenance: Mapping[str, Any] | None = None) -> str:
    """Return a table with a line for each stage: reads that came to it, decisions of those that stopped there.

    Parameters
    ----------
    totals : Totals
    prefixes : sequence of int
        Samples of the stages; a line for 0, reads that came to none, is before them.
    provenance : mapping, optional
    """
    rows = []
    for prefix in (0, *prefixes):
        came = sum(number for (last, _), number in totals.decided.items() if last >= prefix)
        rows.append([str(number) for number in (prefix, came, *(totals.decided[prefix, word] for word in WORDS_SHOWN))])
    return table_text(provenance or {}, ("prefix", "came", *WORDS_SHOWN), rows)


def decisions_content(sample: str, totals: Totals, prefixes: Sequence[int]) -> Content:
    """Return what was decided of reads for MultiQC: accepted ones, and those rejected at each stage.

    Parameters
    ----------
    sample : str
    totals : Totals
    prefixes : sequence of int
        Samples of the stages.
    """
    decisions = totals.decisions
    counts = {"Accepted": decisions["accept"]}
    for prefix in reversed(prefixes):
        counts[f"Rejected after {prefix:,} samples"] = totals.decided[prefix, "reject"]
    counts["Undecided"] = decisions["undecided"]
    description = "What `sdtw classify` decided of reads. Undecided ones end before a stage that could decide."
    settings = {"ylab": "Reads"}
    return Content(
        "sdtw_decisions", "Decisions of target selection", description, "bargraph", {sample: counts}, settings
    )


def _texts(column: NDArray[Any], part: Part, *, json: bool = False) -> list[str]:
    """The values of a column of a part: an empty text, -1 and NaN are missing values, and so is infinity in JSON."""
    values, missing = column.tolist(), "null" if json else MISSING
    if column.dtype.kind == "f":
        form = REAL if part.options.is_float else WHOLE
        known = math.isfinite if json else lambda value: value == value
        return [form % value if known(value) else missing for value in values]
    if column.dtype.kind == "i":
        return [str(value) if value >= 0 else missing for value in values]
    return [(encode_basestring_ascii(value) if json else value) if value else missing for value in values]


def as_json(report: EvaluationReport, provenance: Mapping[str, Any]) -> str:
    """All results as one JSON object; null where there is no value."""
    record: dict[str, Any] = {
        "kind": "sdtw evaluation",
        "provenance": dict(provenance),
        **report.settings,
        "variants": {
            one.labelled.name: {
                "options": asdict(one.labelled.options),
                "score": one.labelled.score,
                "references": list(one.labelled.references),
            }
            for one in report.evaluations
        },
        "prefixes": [row for one in report.evaluations for row in one.records()],
        "differences": [one.record() for one in report.differences],
        "stages": report.staged.records(),
        "decisions": {**report.staged.summary(), **_chosen_by(report)},
        "run": {**asdict(report.run), **report.enrichment.record()},
    }
    return json_text(record, indent=1) + "\n"


def as_tsv(report: EvaluationReport, provenance: Mapping[str, Any]) -> str:
    """All results as one table, of which the column `record` says what a row is, below '#' lines of provenance."""
    first = report.evaluations[0].labelled.name
    rows = [{"record": "prefix", **row} for one in report.evaluations for row in one.records()]
    rows += [{"record": "difference", **one.record()} for one in report.differences]
    rows += [{"record": "stage", "variant": first, **row} for row in report.staged.records()]
    rows.append({"record": "run", "variant": first, **report.staged.summary(), **_chosen_by(report),
                 **report.enrichment.record()})  # fmt: skip
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return table_text(provenance, columns, [[cell(row.get(name)) for name in columns] for row in rows])


def _chosen_by(report: EvaluationReport) -> dict[str, Any]:
    """What is known of the reads that chose the thresholds; None for what is not."""
    known = report.chosen_by or SharedReads(None, 0, exact=False)
    return known.record() if report.chosen_by else dict.fromkeys(known.record())


def roc_content(sample: str, evaluations: Sequence[Evaluation]) -> Content:
    """Return the ROC curves of evaluations for MultiQC, one for each prefix and kind of alignment."""
    lines = {}
    for evaluation in evaluations:
        kind = f", {evaluation.labelled.name}" if len(evaluations) > 1 else ""
        for one in evaluation.prefixes:
            fpr, tpr = one.sweep.roc
            corners = np.unique(np.linspace(0, len(fpr) - 1, SHOWN_RATES).round().astype(np.int64))
            nudges = 1e-9 * np.arange(len(corners))  # MultiQC shows one point of those at the same place
            x = (fpr[corners] + nudges) / (1 + nudges[-1])
            lines[f"{sample}{kind}, {one.prefix:,} samples"] = np.stack([x, tpr[corners]], axis=1).tolist()
    settings = {
        "xlab": "False positive rate", "ylab": "True positive rate", "xmin": 0, "xmax": 1, "ymin": 0, "ymax": 1,
    }  # fmt: skip
    description = "How well scores of raw signals tell targets from other reads, by the length of the prefix."
    return Content("sdtw_roc", "ROC curves of target selection", description, "linegraph", lines, settings)
