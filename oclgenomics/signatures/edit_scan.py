"""Matches with edits, block after block; places go on from one piece of a record to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.describe import describe_spans
from oclgenomics.signatures.device.edits import EditMatcher
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.edit_places import Places, joined_places, reported_places
from oclgenomics.signatures.joining import rows_of_pieces
from oclgenomics.signatures.letters import ANY
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panel_file import ready_table
from oclgenomics.signatures.result import Matches, Samples
from oclgenomics.signatures.seed_plan import choose_head
from oclgenomics.signatures.seed_table import make_table

__all__ = ["EditScan"]

CANDIDATE = 800.0  # nanoseconds of two cores of 2024, to find and align one


class EditScan:
    """Finds the matches of blocks that follow each other.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    options : ScanOptions
        With `max_edits` of 1 or more.
    """

    def __init__(self, engine: Engine, patterns: DevicePatterns, options: ScanOptions) -> None:
        self._engine, self._patterns, self._options = engine, patterns, options
        known = patterns.patterns
        self._lengths = known.lengths
        self._ns = np.add.reduceat((known.sets == ANY).astype(np.int64), known.offsets[:-1])
        self._matcher: EditMatcher | None = None
        # Places of a record that goes on, which the next piece may make longer, and the facts of their matches.
        self._open = Places.none()
        self._open_ns, self._open_errors = np.empty(0, np.int64), np.empty(0, np.uint64)

    def parts(self, samples: SampleLetters) -> Iterator[tuple[Samples, Matches]]:
        """Yield the pieces of a block and the matches of all places that are known to end; the others come later.

        With one match reported of a sample and a pattern, `hits` counts those of this block.
        """
        places = joined_places(Places.of([self._open, self._in_records(samples)]))
        goes_on = self._goes_on(samples, places)
        done, hits = reported_places(self._filtered(places.take(~goes_on)), self._options.report)
        matches = self._described(samples, done, hits)
        kept = places.take(goes_on)
        self._open_ns, self._open_errors = self._facts(samples, kept)
        self._open = replace(kept, origin=~np.arange(len(kept)))
        yield rows_of_pieces(samples), matches

    def _in_records(self, samples: SampleLetters) -> Places:
        """The places of a block, counted from the begin of records."""
        if self._matcher is None:
            self._matcher = self._made_matcher(samples)
        places, pieces = self._matcher.places(samples), samples.block.pieces
        begin = pieces.start[places.text]
        columns = {name: getattr(places, name) + begin for name in ("first", "last", "start", "end")}
        return replace(places, text=pieces.record[places.text], **columns)

    def _made_matcher(self, samples: SampleLetters) -> EditMatcher:
        """The matcher, made for samples like these."""
        patterns, max_edits = self._patterns.patterns, self._options.max_edits
        if self._options.method == "brute":
            return EditMatcher(self._engine, self._patterns, max_edits, None)
        letters = int(samples.block.pieces.owned.sum(dtype=np.int64))
        n_rate = float(samples.ambiguous.sum()) / max(letters, 1)
        head = choose_head(patterns, max_edits, n_rate, letters, CANDIDATE)
        table = ready_table(patterns, max_edits, head)
        if table is None:
            table = make_table(patterns, max_edits, head)
        return EditMatcher(self._engine, self._patterns, max_edits, table)

    def _goes_on(self, samples: SampleLetters, places: Places) -> NDArray[np.bool_]:
        """Whether the next piece may make places longer: those that reach the last end that is known by now."""
        pieces = samples.block.pieces
        if not len(pieces):
            return np.ones(len(places), np.bool_)
        behind = int(pieces.start[-1]) + int(pieces.owned[-1]) + self._lengths[places.pattern] + self._options.max_edits
        reach: NDArray[np.bool_] = (places.text == pieces.record[-1]) & (places.last == behind - 1)
        return reach if not pieces.ends[-1] else np.zeros(len(places), np.bool_)

    def _filtered(self, places: Places) -> Places:
        informative = places.informative / self._lengths[places.pattern]
        score = places.quality_sum / (places.end - places.start)
        return places.take((informative >= self._options.min_informative) & (score >= self._options.min_score))

    def _facts(self, samples: SampleLetters, places: Places) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Ns and expected errors of matches, those of earlier blocks as they were."""
        ns, errors = np.empty(len(places), np.int64), np.empty(len(places), np.uint64)
        here = places.origin >= 0
        new = places.take(here)
        begin = samples.block.pieces.start[new.origin]
        facts = describe_spans(self._engine, samples, new.origin, new.start - begin, new.end - begin)
        ns[here], errors[here] = facts.sample_ns, facts.error_units
        ns[~here], errors[~here] = (of[~places.origin[~here]] for of in (self._open_ns, self._open_errors))
        return ns, errors

    def _described(self, samples: SampleLetters, places: Places, hits: NDArray[np.int64]) -> Matches:
        ns, errors = self._facts(samples, places)
        known = self._patterns.patterns
        return Matches(
            places.text,
            known.signature[places.pattern],
            known.strand[places.pattern],
            places.start,
            places.end,
            hits,
            places.edits.astype(np.int32),
            np.full(len(places), samples.has_qualities),
            places.quality_sum,
            places.informative,
            ns,
            self._ns[places.pattern],
            errors,
        )
