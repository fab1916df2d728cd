"""What an evaluation says, as tsv and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from oclgenomics.app.reports import cell, table_text
from oclgenomics.io.json_text import json_text
from oclgenomics.sdtw.decisions.chosen_by import SharedReads
from oclgenomics.sdtw.decisions.report import EvaluationReport

KIND = "sdtw evaluation"


def as_json(report: EvaluationReport, provenance: Mapping[str, Any]) -> str:
    """All results as one JSON object; null where there is no value."""
    record: dict[str, Any] = {
        "kind": KIND,
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
