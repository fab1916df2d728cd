"""Reports about samples: a line for each of them, and how sure each of their matches is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from oclgenomics.app.provenance import provenance_lines
from oclgenomics.errors import ParameterError
from oclgenomics.io.text_rows import rows_of
from oclgenomics.signatures.certainty import (
    MAY_BE_CHANCE,
    certainty,
    informative_share,
    log10_chance,
    log10_chance_of_edits,
)
from oclgenomics.signatures.formats.columns import texts, words
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panel import Panel
from oclgenomics.signatures.result import ScanPart, match_columns
from oclgenomics.signatures.totals import may_be_phred64

__all__ = ["CERTAINTY_COLUMNS", "SUMMARY_COLUMNS", "CertaintyReport", "SummaryReport", "check_certainty"]

SUMMARY_COLUMNS = (
    "sample", "file", "letters", "n_share", "ambiguous_share", "mean_quality", "least_quality", "hash", "signatures",
    "warnings", "sample_number",
)  # fmt: skip
CERTAINTY_COLUMNS = (
    "sample", "sample_letters", "signature", "signature_letters", "strand", "start", "end", "hits", "mismatches",
    "informative", "informative_share", "score", "expected_errors", "certainty", "log10_chance", "note",
    "sample_number",
)  # fmt: skip


class SummaryReport:
    """A line for each sample, with or without matches."""

    def __init__(self, panel: Panel, provenance: Mapping[str, Any] | None = None) -> None:
        self._shortest = int(panel.lengths.min())
        self._provenance = provenance or {}

    def head(self) -> str:
        return provenance_lines(self._provenance) + "\t".join(SUMMARY_COLUMNS) + "\n"

    def body(self, part: ScanPart) -> str:
        samples = part.samples.take(part.samples.ends)
        some = samples.letters > 0
        letters = np.maximum(samples.letters, 1)
        conditions = [
            (samples.letters < self._shortest, "shorter_than_any_signature"),
            (may_be_phred64(samples), "may_be_phred64"),
        ]
        columns = [
            samples.name.tolist(), [source.translate(ONE_FIELD) for source in samples.source.tolist()],
            samples.letters.tolist(), texts(samples.ns / letters, "%.6g", some),
            texts(samples.ambiguous / letters, "%.6g", some),
            texts(samples.mean_quality, "%.3f", samples.has_qualities & some),
            texts(samples.least_quality, "%d", samples.has_qualities & some),
            texts(samples.hash, "%d", samples.has_qualities), samples.pairs.tolist(), words(conditions),
            (samples.number + 1).tolist(),
        ]  # fmt: skip
        return rows_of(columns)


ONE_FIELD = {ord(character): " " for character in "\t\n\r"}  # of names of files, which may hold anything


def check_certainty(options: ScanOptions) -> None:
    """Refuse options with which nobody can tell how sure matches are.

    Raises
    ------
    UsageError
        All matches are reported: these come before the length of their sample is known.
    """
    if options.report == "all":
        text = "`sample_report` has a line for each signature of a sample; use `report=best` or `report=first`"
        raise ParameterError("report", text, options.report)


class CertaintyReport:
    """A line for each match: how much of the signature is informative, how sure the match is, and where it lies.

    The matches of a sample come with those first that chance explains least.

    Raises
    ------
    UsageError
        See `check_certainty`.
    """

    def __init__(self, panel: Panel, options: ScanOptions, provenance: Mapping[str, Any] | None = None) -> None:
        check_certainty(options)
        self._panel, self._provenance = panel, provenance or {}
        self._chance = log10_chance_of_edits if options.max_edits else log10_chance

    def head(self) -> str:
        return provenance_lines(self._provenance) + "\t".join(CERTAINTY_COLUMNS) + "\n"

    def body(self, part: ScanPart) -> str:
        matches = part.matches
        if not len(matches):
            return ""
        letters = part.samples.letters[matches.sample - part.samples.number[0]]
        length = self._panel.lengths[matches.signature]
        chance = self._chance(letters, length, matches.informative, matches.mismatches)
        order = np.lexsort((matches.start, chance, matches.sample))
        matches, letters, length, chance = matches.take(order), letters[order], length[order], chance[order]
        shown = {name: column.tolist() for name, column in match_columns(self._panel, part.samples, matches).items()}
        shown |= {
            "sample_letters": letters.tolist(),
            "signature_letters": length.tolist(),
            "informative_share": texts(informative_share(matches), "%.6g"),
            "score": texts(matches.score, "%.3f", matches.has_qualities),
            "expected_errors": texts(matches.expected_errors, "%.6g", matches.has_qualities),
            "certainty": texts(certainty(matches), "%.6g"),
            "log10_chance": texts(chance, "%.2f"),
            "note": words([(chance > MAY_BE_CHANCE, "may_be_chance"), (matches.mismatches > 0, "mismatches")]),
        }
        return rows_of([shown[name] for name in CERTAINTY_COLUMNS])
