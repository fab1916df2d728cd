"""Matches of block after block: found, described, and as rows of a result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from oclgenomics.lazy_names import late
from oclgenomics.runtime import Engine
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.pieces import LetterBlock
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.matches.joining import Places, joined_places, reported_places, rows_of_part
from oclgenomics.signatures.options import BEST_QUALITY, ScanOptions
from oclgenomics.signatures.panels.letters import ANY
from oclgenomics.signatures.plan import CPU_EDITS, GPU_EDITS, choose_head, lanes_pay, parts_of_pairs, plan_lanes
from oclgenomics.signatures.reference import error_units
from oclgenomics.signatures.result import Matches, Samples

if TYPE_CHECKING:
    from oclgenomics.signatures.device.edits import EditMatcher
    from oclgenomics.signatures.device.methods import Methods
    from oclgenomics.signatures.device.overhang_edits import EditOverhangFinder
    from oclgenomics.signatures.device.overhangs import OverhangFinder, Overhangs
    from oclgenomics.signatures.device.pairs import FoundStarts

# A scan needs those of mismatches or of edits.
edits = late("oclgenomics.signatures.device.edits")
methods = late("oclgenomics.signatures.device.methods")
overhang_edits = late("oclgenomics.signatures.device.overhang_edits")
overhangs = late("oclgenomics.signatures.device.overhangs")
pairs_found = late("oclgenomics.signatures.device.pairs")
seed_table = late("oclgenomics.signatures.device.seed_table")

FACTS = 6
MATCHES = 1 << 18  # described at a time
GPU_LANES = 64
CPU_LANES = 16


@dataclass(frozen=True)
class MatchFacts:
    """What is known of matches; arrays of one length.

    Attributes
    ----------
    quality_sum : ndarray, uint64
        0 without qualities.
    mismatches, informative, sample_ns, pattern_ns : ndarray, int64
    error_units : ndarray, uint64
        Expected errors in units of 2^-32; 0 without qualities.
    """

    quality_sum: NDArray[np.uint64]
    mismatches: NDArray[np.int64]
    informative: NDArray[np.int64]
    sample_ns: NDArray[np.int64]
    pattern_ns: NDArray[np.int64]
    error_units: NDArray[np.uint64]


def describe(
    engine: Engine,
    samples: SampleLetters,
    patterns: DevicePatterns | None,
    *columns: NDArray[np.integer[Any]],
    skip: NDArray[np.int64] | None = None,
) -> MatchFacts:
    """Return the facts of matches in a block, some at a time.

    Parameters
    ----------
    engine : Engine
    samples : SampleLetters
    patterns : DevicePatterns or None
        Without them nothing is compared with a pattern, and `mismatches`, `informative` and `pattern_ns` say nothing.
    *columns : ndarray
        Pieces, patterns, starts, and ends, which are one behind the last base; arrays of one length.
    skip : ndarray, int64, optional
        Letters of each pattern before the one that lies above the start; none if not given.
    """
    cpu = engine.tuning.cpu
    lanes = CPU_LANES if cpu else engine.group_size(GPU_LANES)
    defines = {"CPU": cpu, "LANES": lanes, "QUALITIES": samples.has_qualities, "PATTERNS": patterns is not None}
    kernel = engine.kernel("signatures/describe.cl", "describe_matches", **defines)
    units = engine.upload(np.array([error_units(quality) for quality in range(BEST_QUALITY + 1)], np.uint64))
    skip = np.zeros(len(columns[0]), np.int64) if skip is None else skip
    records = np.stack([*columns, skip], axis=1).astype(np.uint32)
    compared = {"sets": None, "patterns": None} if patterns is None else patterns.arguments
    parts = [np.empty((0, FACTS), np.uint64)]
    for begin in range(0, len(records), MATCHES):
        lot = records[begin : begin + MATCHES]
        facts = engine.empty((len(lot), FACTS), np.uint64)
        groups = -(-len(lot) // lanes) if cpu else len(lot)
        engine.launch(
            kernel, (groups * lanes,), (lanes,), **samples.arguments, **compared, matches=engine.upload(lot),
            count=len(lot), units=units, facts=facts,
        )  # fmt: skip
        parts.append(engine.download(facts))
    told = np.concatenate(parts)
    mismatches, informative, sample_ns, pattern_ns = told[:, 1:5].astype(np.int64).T
    return MatchFacts(told[:, 0], mismatches, informative, sample_ns, pattern_ns, told[:, 5])


def rows_of_pieces(samples: SampleLetters) -> Samples:
    """Return what is known of the pieces of a block as rows of samples, one for each piece."""
    block, pieces = samples.block, samples.block.pieces
    count = len(pieces)
    source = np.broadcast_to(np.array([block.source], object), count)
    return Samples(
        pieces.record, cast(Any, names_of_pieces(block)), source, samples.owned_letters, samples.ns,
        samples.ambiguous, np.full(count, samples.has_qualities), samples.quality_sum, np.zeros(count, np.int64),
        pieces.ends, samples.least_quality,
    )  # fmt: skip


def names_of_pieces(block: LetterBlock) -> NameList:
    """Return the name of the record of each piece; empty where the record began in a block before."""
    record, names = block.pieces.record, block.names
    named = NameList(names.letters, np.append(names.starts[:1], names.starts))  # from record `first` - 1 on
    places = record - (block.first - 1)
    if len(places) and places[-1] - places[0] == len(places) - 1:  # a piece of each record
        return named[int(places[0]) : int(places[-1]) + 1]
    return named.take(places)


class MatchScan:
    """Finds the matches of blocks.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    options : ScanOptions
    times : int
        See `Methods`.
    """

    def __init__(self, engine: Engine, patterns: DevicePatterns, options: ScanOptions, times: int = 1) -> None:
        self._engine, self._patterns, self._options = engine, patterns, options
        self._methods: Methods = methods.Methods(engine, patterns, options.method, times)
        self._overhangs: OverhangFinder | None = None
        if options.overhang:
            self._overhangs = overhangs.OverhangFinder(engine, patterns, options.overhang, options.overhangs_at)

    earliest: int | None = None  # see `EditScan.earliest`; a match lies in the block that it is found in

    def begin(self) -> None:
        """Do nothing: no block depends on those before."""

    def parts(self, samples: SampleLetters) -> Iterator[tuple[Samples, Matches]]:
        """Yield the pieces of a block and their matches: at once where a pair has one, else as many as memory takes."""
        rows, pairs = rows_of_pieces(samples), self._methods.pairs(samples)
        over, piece = self._overhanging(samples)
        if self._options.report != "all":
            best = self._options.report == "best"
            starts = pairs_found.FoundStarts(pairs.piece, pairs.pattern, pairs.best if best else pairs.first)
            yield rows, Matches.joined([self._matches(samples, starts, pairs.hits.astype(np.int64)), over])
            return
        for part in parts_of_pairs(pairs.piece, pairs.hits, len(rows)):
            starts = self._methods.starts(samples, pairs.take(slice(part.begin, part.end)))
            matches = self._matches(samples, starts, np.ones(len(starts), np.int64))
            # Those of a piece come with its first part.
            begin, end = np.searchsorted(piece, [part.first_piece + part.again, part.end_piece])
            matches = Matches.joined([matches, over.take(slice(begin, end))])
            yield rows_of_part(rows, part.first_piece, part.end_piece, again=part.again, goes_on=part.goes_on), matches

    def _matches(self, samples: SampleLetters, found: FoundStarts, hits: NDArray[np.int64]) -> Matches:
        pieces, known = samples.block.pieces, self._patterns.patterns
        length, before = known.lengths[found.pattern], pieces.start[found.piece]
        places = found.piece, found.pattern, found.start, found.start + length
        facts = describe(self._engine, samples, self._patterns, *places)
        return Matches(
            pieces.record[found.piece], known.signature[found.pattern], known.strand[found.pattern],
            before + found.start, before + found.start + length, hits, facts.mismatches.astype(np.int32),
            np.full(len(found), samples.has_qualities), facts.quality_sum, facts.informative, facts.sample_ns,
            facts.pattern_ns, facts.error_units, *np.zeros((2, len(found)), np.int64),
        )  # fmt: skip

    def _overhanging(self, samples: SampleLetters) -> tuple[Matches, NDArray[np.int64]]:
        """Matches that run past the ends of records, a hit each, by piece, and the piece of each."""
        if self._overhangs is None:
            return Matches.none(), np.empty(0, np.int64)
        found = self._overhangs.find(samples)
        facts = self._described(samples, found)
        known, length = self._patterns.patterns, self._patterns.patterns.lengths[found.pattern]
        inside, begin = found.end - found.start, samples.block.pieces.start[found.piece]
        matches = Matches(
            samples.block.pieces.record[found.piece], known.signature[found.pattern], known.strand[found.pattern],
            begin + found.start, begin + found.end, np.ones(len(found), np.int64), facts.mismatches.astype(np.int32),
            np.full(len(found), samples.has_qualities), facts.quality_sum, facts.informative, facts.sample_ns,
            facts.pattern_ns, facts.error_units, length - inside, found.skip,
        )  # fmt: skip
        passing = _passing(matches, length, self._options)
        return matches.take(passing), found.piece[passing]

    def _described(self, samples: SampleLetters, found: Overhangs) -> MatchFacts:
        places = found.piece, found.pattern, found.start, found.end
        return describe(self._engine, samples, self._patterns, *places, skip=found.skip)


def _passing(matches: Matches, length: NDArray[np.int64], options: ScanOptions) -> NDArray[np.bool_]:
    """Whether matches of signatures of these lengths have enough informative positions, and the quality."""
    informative: NDArray[np.bool_] = matches.informative / length >= options.min_informative
    return informative & (matches.quality_sum / (matches.end - matches.start) >= options.min_score)


class EditScan:
    """Finds the matches of blocks that follow each other.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    options : ScanOptions
        With `max_edits` of 1 or more.
    times : int
        See `Methods`.
    """

    def __init__(self, engine: Engine, patterns: DevicePatterns, options: ScanOptions, times: int = 1) -> None:
        self._engine, self._patterns, self._options, self._times = engine, patterns, options, times
        known = patterns.patterns
        self._lengths = known.lengths
        self._ns = np.add.reduceat((known.sets == ANY).astype(np.int64), known.offsets[:-1])
        self._matcher: EditMatcher | None = None
        self._overhangs: EditOverhangFinder | None = None
        if options.overhang:
            self._overhangs = overhang_edits.EditOverhangFinder(
                engine, patterns, options.max_edits, options.overhang, options.overhangs_at
            )
        self.begin()

    def begin(self) -> None:
        """Forget the blocks before: others come from the start."""
        # Places of a record that goes on, which the next piece may make longer, and the facts of their matches.
        self._open = Places.none()
        self._open_ns, self._open_errors = np.empty(0, np.int64), np.empty(0, np.uint64)

    @property
    def earliest(self) -> int | None:
        """The first base, in its record, of all matches that may still come of blocks so far; None without any."""
        return int(self._open.start.min()) if len(self._open) else None

    def parts(self, samples: SampleLetters) -> Iterator[tuple[Samples, Matches]]:
        """Yield the pieces of a block and the matches of all places that are known to end; the others come later.

        With one match reported of a sample and a pattern, `hits` counts those of this block.
        """
        places = joined_places(Places.joined([self._open, self._in_records(samples)]))
        goes_on = self._goes_on(samples, places)
        done, hits = reported_places(self._filtered(places.take(~goes_on)), self._options.report)
        matches = Matches.joined([self._described(samples, done, hits), self._overhanging(samples)])
        kept = places.take(goes_on)
        self._open_ns, self._open_errors = self._facts(samples, kept)
        self._open = replace(kept, origin=~np.arange(len(kept)))
        yield rows_of_pieces(samples), matches

    def _overhanging(self, samples: SampleLetters) -> Matches:
        """Matches that run past the ends of records, a hit each."""
        if self._overhangs is None:
            return Matches.none()
        found, known, pieces = self._overhangs.find(samples), self._patterns.patterns, samples.block.pieces
        facts = describe(self._engine, samples, None, found.piece, found.pattern, found.start, found.end)
        begin = pieces.start[found.piece]
        matches = Matches(
            pieces.record[found.piece], known.signature[found.pattern], known.strand[found.pattern],
            begin + found.start, begin + found.end, np.ones(len(found), np.int64), found.edits.astype(np.int32),
            np.full(len(found), samples.has_qualities), facts.quality_sum, found.informative, facts.sample_ns,
            found.pattern_ns, facts.error_units, found.outside, found.before,
        )  # fmt: skip
        return matches.take(_passing(matches, self._lengths[found.pattern], self._options))

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
        patterns, max_edits, method = self._patterns.patterns, self._options.max_edits, self._options.method
        if method == "brute":
            return cast("EditMatcher", edits.EditMatcher(self._engine, self._patterns, max_edits, None))
        costs = CPU_EDITS if self._engine.tuning.cpu else GPU_EDITS
        rate = samples.rate(self._times)
        table, chosen = None, np.ones(len(patterns), np.bool_)
        if method == "index" or (method == "auto" and not lanes_pay(costs, patterns, max_edits, *rate)):
            head = choose_head(patterns, max_edits, *rate, costs.candidate)
            table = seed_table.DeviceTable.of_patterns(self._engine, self._patterns, max_edits, head)
            chosen[:] = False
            chosen[table.unseeded] = True
        lanes = plan_lanes(costs, patterns, max_edits, chosen)
        return cast("EditMatcher", edits.EditMatcher(self._engine, self._patterns, max_edits, table, lanes))

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
        spans = new.origin, np.zeros_like(new.origin), new.start - begin, new.end - begin
        facts = describe(self._engine, samples, None, *spans)
        ns[here], errors[here] = facts.sample_ns, facts.error_units
        ns[~here], errors[~here] = (of[~places.origin[~here]] for of in (self._open_ns, self._open_errors))
        return ns, errors

    def _described(self, samples: SampleLetters, places: Places, hits: NDArray[np.int64]) -> Matches:
        ns, errors = self._facts(samples, places)
        known = self._patterns.patterns
        return Matches(
            places.text, known.signature[places.pattern], known.strand[places.pattern], places.start, places.end, hits,
            places.edits.astype(np.int32), np.full(len(places), samples.has_qualities), places.quality_sum,
            places.informative, ns, self._ns[places.pattern], errors, *np.zeros((2, len(places)), np.int64),
        )  # fmt: skip
