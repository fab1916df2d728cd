"""Scans for sweeps as jobs, of which other processes do pieces: alignments, and portions of large ones.

A piece measures portions of alignments, as `SweepScanner.begin` and `settle` do; what compares an alignment with the
whole input follows when all portions are joined. Only CLR needs a device for that, so each piece counts the sites of
the whole input, which all of them read, and computes it for its portions.
"""

from __future__ import annotations

import heapq
import itertools
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from oclgenomics.app.alignment_jobs import (
    AllShares,
    Dealer,
    check_agreed,
    counted,
    file_names,
    held_bytes,
    input_files,
    kept_items,
    null_parameters,
    reading_parameters,
)
from oclgenomics.app.jobs import Job, KeptItems, path_of
from oclgenomics.app.pieces import PieceFile, Shard, check_same_input
from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.io.closing import Closing
from oclgenomics.sweeps.device.clr import ClrValues
from oclgenomics.sweeps.device.haplotypes import HaplotypeCounts
from oclgenomics.sweeps.device.scanner import BegunScan, SweepScanner
from oclgenomics.sweeps.formats.thresholds import read_thresholds
from oclgenomics.sweeps.options import FILES, IN_INFO, SweepOptions, sweep_parameters
from oclgenomics.sweeps.plan import ALL, Portion
from oclgenomics.sweeps.result import Scan
from oclgenomics.sweeps.significance.refinement import candidates
from oclgenomics.sweeps.significance.thresholds import Significance, check_background, check_background_data
from oclgenomics.sweeps.sites.missing import Draws
from oclgenomics.sweeps.sites.populations import read_populations
from oclgenomics.sweeps.sites.used import SweepFacts, UsedSites, used_sites
from oclgenomics.sweeps.statistics.ehh import SiteScores
from oclgenomics.sweeps.statistics.families import Background
from oclgenomics.sweeps.statistics.haplotypes import HaplotypeWindows
from oclgenomics.variation import Alignment, ReadOptions
from oclgenomics.variation.alignment import AlignmentRead
from oclgenomics.variation.ancestral import AncestralFasta, with_ancestral
from oclgenomics.variation.observation import Observation, as_observed
from oclgenomics.variation.sources import AlignmentSource, Excluded, Simulated, batches, open_alignments, regions_of

GRAIN = 1 << 20  # states of sites, some milliseconds: an alignment is not cut into portions that have fewer
PARTS = 1 << 12  # of an alignment that is cut, at whose borders that may be

Backgrounds: TypeAlias = Mapping[str, Background] | Significance | str | os.PathLike[str] | None
"""What statistics compare alignments with instead of the input, or neutral replicates that have it, or their file."""


@dataclass(frozen=True, eq=False)
class SweepShare:
    """What a piece has of an alignment.

    Attributes
    ----------
    number : int
        Of the alignment within its input, counted from 0.
    portion : Portion
    read : AlignmentRead
    begun : BegunScan
    """

    number: int
    portion: Portion
    read: AlignmentRead
    begun: BegunScan


@dataclass(frozen=True, eq=False)
class LateBackgrounds:
    """What a piece compared its portions with, of the whole input.

    Attributes
    ----------
    values : mapping of str to mapping
    """

    values: Mapping[str, Background]


SweepPart: TypeAlias = AlignmentRead | Scan | SweepShare | LateBackgrounds | AllShares
KINDS = (
    SweepShare, LateBackgrounds, AllShares, AlignmentRead, Portion, BegunScan, Scan, SweepFacts, HaplotypeWindows,
    HaplotypeCounts, SiteScores, ClrValues,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Ready:
    """An alignment whose sites were chosen, as all pieces see it.

    Attributes
    ----------
    read : AlignmentRead
    used : UsedSites
    seconds : float
        That it took to choose them.
    """

    read: AlignmentRead
    used: UsedSites
    seconds: float

    def held_bytes(self) -> int:
        """Return what it takes of memory."""
        return held_bytes(self) + held_bytes(self.used) + held_bytes(self.used.planes)


class _Kept(KeptItems[_Ready]):
    """What a worker keeps for the next piece of a job: alignments, and when a piece is done what scanned them.

    Attributes
    ----------
    scanner : SweepScanner, optional
        It has tables of the whole input on the device.
    given, late : mapping, optional
        Backgrounds from a file, and those of late families.
    """

    scanner: SweepScanner | None = None
    given: Mapping[str, Background] | None = None
    late: Mapping[str, Background] | None = None

    def close(self) -> None:
        """Forget them."""
        super().close()
        self.scanner = self.given = self.late = None


@dataclass(frozen=True, eq=False)
class _OwnShare:
    """A portion of an alignment that is in memory."""

    number: int
    portion: Portion
    ready: _Ready

    @property
    def sites(self) -> int:
        return self.ready.used.sites

    @property
    def packed_bytes(self) -> int:
        return self.ready.used.packed_bytes


class _Sites(Closing):
    """How the sites of alignments are chosen; what that needs of files is read once.

    Parameters
    ----------
    options : SweepOptions
    reading : ReadOptions
    exclude : BedRegions or path, optional
    null : Significance, optional
        Neutral replicates whose background the alignments are compared with.
    """

    def __init__(
        self, options: SweepOptions, reading: ReadOptions, exclude: Excluded = None, null: Significance | None = None
    ) -> None:
        self._null = null
        self.options, self.regions, self._length = options, regions_of(exclude), reading.length
        named, ancestral = options.populations, options.ancestral
        self._populations = None if named is None else read_populations(named, options.between)
        self.accessible = regions_of(options.accessible)
        self._ancestral = None if ancestral in (None, IN_INFO) else AncestralFasta(str(ancestral))
        self._draws = Draws(options.impute_seed)  # one sequence for all alignments of the input

    def close(self) -> None:
        """Close the file of ancestral bases."""
        if self._ancestral is not None:
            self._ancestral.close()

    def used(self, alignment: Alignment) -> UsedSites:
        """Return the sites of an alignment that are used."""
        if self._ancestral is not None:
            alignment = with_ancestral(alignment, self._ancestral)
        given = self._populations, self.accessible, self._draws
        found = used_sites(alignment, self.options, self.regions, self._length, *given)
        if self._null is not None:
            check_background_data(self._null, found.facts, self.options, found.name)
        return found

    def ready(self, alignment: Alignment, number: int) -> _Ready:
        """Choose the sites of the alignment of a number, counted from 0."""
        start = time.perf_counter()
        return _Ready(AlignmentRead.of(alignment, number), self.used(alignment), time.perf_counter() - start)


@dataclass(frozen=True)
class ScanJob(Job[SweepPart]):
    """A scan of alignments. Its parts are an `AlignmentRead` for each of them, and a `Scan` later.

    Attributes
    ----------
    source : path, Alignment, or iterable of both
        For pieces a tuple of files.
    options : SweepOptions
    reading : ReadOptions
    exclude : BedRegions or path, optional
        For pieces a file.
    backgrounds : mapping, Significance or path, optional
        For pieces a file.
    thresholds : Significance, optional
        Say which rows are refined.
    named : bool
        A piece refuses an input that does not name its samples.
    """

    NAME = "sweeps scan"
    KINDS = KINDS

    source: AlignmentSource
    options: SweepOptions
    reading: ReadOptions = ReadOptions()
    exclude: Excluded = None
    backgrounds: Backgrounds = None
    named: bool = False
    thresholds: Significance | None = None

    def inputs(self) -> tuple[str, ...]:
        others = [] if self.backgrounds is None else [path_of("backgrounds", self.backgrounds)]
        return (*input_files(self.source, self.reading, self.exclude), *_option_files(self.options), *others)

    def parameters(self) -> Mapping[str, Any]:
        return reading_parameters(self.reading) | _plain_options(self.options)

    def parts(self, engine: EngineLike, run: Run, shard: Shard | None = None) -> Generator[SweepPart, None, None]:
        if shard is None:
            how: dict[str, Any] = {
                "exclude": self.exclude, "backgrounds": self.backgrounds, "thresholds": self.thresholds,
            }  # fmt: skip
            return scan_parts(self.source, self.options, engine, run, reading=self.reading, **how)
        if self.options.refine is not None:
            raise UsageError(
                "`refine` looks again at rows of the whole scan, which no piece has; leave it out, or scan without "
                "pieces"
            )
        null = null_of(self.backgrounds, self.options)
        sites = _Sites(self.options, self.reading, self.exclude, null)
        ready = partial(self._ready, run, sites)
        return _pieces(self, sites, engine, run, shard, ready, partial(backgrounds_of, self.backgrounds, null))

    def _ready(self, run: Run, sites: _Sites) -> Generator[_Ready, None, None]:
        """Read all alignments, and choose their sites."""
        reading = reading_for(self.reading, self.options)
        with closing(open_alignments(self.source, reading, threads=run.threads, progress=run.progress)) as every:
            for number, alignment in enumerate(every):
                if self.named and not alignment.samples:
                    raise ParameterError("samples", "has no effect: this input does not name its samples")
                ready = [sites.ready(alignment, number)]
                del alignment  # before the next one is read
                yield ready.pop()  # the caller's alone, so that it can be gone before the next one is read

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[SweepPart]:
        given = backgrounds_of(self.backgrounds, null_of(self.backgrounds, self.options))

        def checked() -> Iterator[PieceFile]:
            for piece in pieces:
                if isinstance(self.backgrounds, (str, os.PathLike)):
                    check_same_input(os.fspath(self.backgrounds), piece, -1)
                yield piece

        yield from _combined(self, checked(), self.options, given)


@dataclass(frozen=True)
class ThresholdJob(Job[SweepPart]):
    """Scans of neutral replicates. Its parts are a `Scan` for each of them.

    Attributes
    ----------
    neutral : Simulated, path, Alignment, or iterable of both
        For pieces replicates to simulate, or a tuple of files.
    options : SweepOptions
    reading : ReadOptions
    observation : Observation, optional
        How the replicates are seen.
    report : str, optional
        A file that the replicates are compared with when all are scanned.
    questions : mapping
        What is asked when all are scanned: what pieces must have in common besides what they do themselves.
    """

    NAME = "sweeps threshold"
    KINDS = KINDS

    neutral: AlignmentSource
    options: SweepOptions
    reading: ReadOptions = ReadOptions()
    observation: Observation | None = None
    report: str | None = None
    questions: Mapping[str, Any] = field(default_factory=dict)

    def inputs(self) -> tuple[str, ...]:
        files = () if isinstance(self.neutral, Simulated) else file_names(self.neutral)
        others = [] if self.report is None else [self.report]
        return (*files, *input_files((), self.reading, None), *_option_files(self.options), *others)

    def parameters(self) -> Mapping[str, Any]:
        known = reading_parameters(self.reading) | _plain_options(self.options) | dict(self.questions)
        return known | null_parameters(self.observation, self.neutral)

    def parts(
        self,
        engine: EngineLike,
        run: Run,
        shard: Shard | None = None,
        *,
        on_alignment: Callable[[Alignment], None] | None = None,
    ) -> Generator[SweepPart, None, None]:
        if shard is None:
            return self._whole(engine, run, on_alignment)
        if isinstance(self.neutral, Simulated):
            return self._simulated(self.neutral, engine, run, shard)
        sites = _Sites(self.options, self.reading)
        return _pieces(self, sites, engine, run, shard, partial(self._ready, run, sites), dict)

    def _whole(
        self, engine: EngineLike, run: Run, on_alignment: Callable[[Alignment], None] | None
    ) -> Generator[Scan, None, None]:
        reading = reading_for(self.reading, self.options)
        with closing(open_alignments(self.neutral, reading, threads=run.threads)) as read:
            seen = counted(self.observed(read), run)
            how: dict[str, Any] = {"reading": self.reading, "on_alignment": on_alignment}
            with closing(scan_parts(seen, self.options, engine, Run(), **how)) as parts:
                yield from (part for part in parts if isinstance(part, Scan))

    def _simulated(
        self, neutral: Simulated, engine: EngineLike, run: Run, shard: Shard
    ) -> Generator[SweepPart, None, None]:
        """A piece of replicates that are simulated: it makes its own."""
        (begin, end), sites = shard.share(neutral.replicates), _Sites(self.options, self.reading)

        def own() -> Generator[_OwnShare, None, None]:
            for number, one in enumerate(counted(self.observed(neutral.between(begin, end)), run), start=begin):
                yield _OwnShare(number, ALL, sites.ready(one, number))
                del one  # before the next one is simulated

        with lent_engine(engine) as lent, kept_items(lent, self, _Kept) as kept, sites:
            scanner = kept.scanner or SweepScanner(lent, self.options)
            if self.options.missing == "impute":
                raise UsageError(
                    "`missing=impute` draws along all replicates, of which a piece simulates only its own; give "
                    "them as a file"
                )
            if scanner.settles_late({}):
                raise UsageError(
                    "clr compares simulated replicates with the sites of all of them, of which a piece has only its "
                    "own; give `clr_spectrum`, or the replicates as a file"
                )
            with closing(own()) as mine:
                yield from _shares(mine, scanner, sites, {}, kept)
        yield AllShares(neutral.replicates, 0)

    def _ready(self, run: Run, sites: _Sites) -> Generator[_Ready, None, None]:
        """Read all replicates, and choose their sites."""
        reading = reading_for(self.reading, self.options)
        with closing(open_alignments(self.neutral, reading, threads=run.threads, progress=run.progress)) as every:
            for number, one in enumerate(self.observed(every)):
                yield sites.ready(one, number)
                del one  # before the next one is read

    def observed(self, replicates: Iterable[Alignment]) -> Iterable[Alignment]:
        """Give replicates as they are scanned."""
        return replicates if self.observation is None else as_observed(replicates, self.observation)

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[SweepPart]:
        yield from (one for one in _combined(self, pieces, self.options, {}) if isinstance(one, Scan))


def scan_parts(
    source: AlignmentSource,
    options: SweepOptions,
    engine: EngineLike,
    run: Run,
    *,
    reading: ReadOptions = ReadOptions(),
    exclude: Excluded = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    backgrounds: Backgrounds = None,
    thresholds: Significance | None = None,
) -> Generator[AlignmentRead | Scan, None, None]:
    """Scan an input; parameters and errors as for `oclgenomics.sweeps.scan`.

    Yields
    ------
    AlignmentRead or Scan
        Those of alignments that are scanned together, and their scans, maybe after the last alignment.
    """
    null = null_of(backgrounds, options)
    sites, given = _Sites(options, reading, exclude, null), backgrounds_of(backgrounds, null)
    number = itertools.count()
    how = {} if options.refine is None else {"candidates": partial(candidates, options=options, null=thresholds)}
    with ExitStack() as stack:
        stack.callback(sites.close)
        read = open_alignments(source, reading_for(reading, options), threads=run.threads, progress=run.progress)
        scanner, held = None, list[BegunScan]()
        for batch in batches(stack.enter_context(closing(read))):
            for one in batch:
                if on_alignment is not None:
                    on_alignment(one)
                yield AlignmentRead.of(one, next(number))
                del one
            start = time.perf_counter()
            used = [sites.used(one) for one in batch]
            del batch  # before the next one is read
            seconds = time.perf_counter() - start
            scanner = scanner or SweepScanner(stack.enter_context(lent_engine(engine)), options)
            begun = scanner.begin(used, sites.regions, seconds, accessible=sites.accessible)
            del used
            if scanner.waits(given):
                held += begun
            else:
                yield from scanner.finish(begun, given, **how)
        if scanner is not None and held:
            yield from scanner.finish(held, given, **how)


def _pieces(
    job: Job[SweepPart], sites: _Sites, engine: EngineLike, run: Run, shard: Shard,
    ready: Callable[[], Generator[_Ready, None, None]], background: Callable[[], Mapping[str, Background]],
) -> Generator[SweepPart, None, None]:  # fmt: skip
    """A piece of alignments in files, all of which are read, or kept from another piece."""
    dealer = Dealer(shard.of)

    def own(scanner: SweepScanner, kept: _Kept, given: Mapping[str, Background]) -> Generator[_OwnShare, None, None]:
        late = kept.late is None and scanner.settles_late(given)
        with closing(kept.walk("source", ready, _Ready.held_bytes, run.progress)) as every:
            for one in every:
                number = dealer.dealt
                if late:
                    scanner.see(one.used)
                for portion, piece in _dealt(one.used, dealer):
                    if piece == shard.number:
                        yield _OwnShare(number, portion, one)
                del one  # before the next one is read

    with lent_engine(engine) as lent, kept_items(lent, job, _Kept) as kept, sites:
        scanner, given = kept.scanner or SweepScanner(lent, sites.options), kept.given or background()
        with closing(own(scanner, kept, given)) as mine:
            yield from _shares(mine, scanner, sites, given, kept)
    yield AllShares(dealer.dealt, dealer.decided)


def _shares(
    own: Iterator[_OwnShare], scanner: SweepScanner, sites: _Sites, given: Mapping[str, Background], kept: _Kept
) -> Generator[SweepShare | LateBackgrounds, None, None]:
    """The shares of a piece, measured. What is kept for the next one is set last: after an error all begins anew."""
    held: list[SweepShare] = []
    late, known = scanner.settles_late(given), given if kept.late is None else kept.late
    waits = late and kept.late is None
    for batch in batches(own):
        used, portions = [one.ready.used for one in batch], [one.portion for one in batch]
        seconds = sum(one.ready.seconds for one in batch)
        begun = scanner.begin(used, sites.regions, seconds, portions, sites.accessible)
        shares = [
            SweepShare(one.number, one.portion, one.ready.read, scan) for one, scan in zip(batch, begun, strict=True)
        ]
        del batch, used  # before the next one is read
        if waits:
            held += shares
        else:
            yield from (replace(one, begun=scanner.settle(one.begun, known)) for one in shares)
    if waits:
        known = scanner.late_backgrounds(given)
        yield from (replace(one, begun=scanner.settle(one.begun, known)) for one in held)
    if late:
        yield LateBackgrounds(known)
    kept.scanner, kept.given, kept.late = scanner, given, known


def _dealt(used: UsedSites, dealer: Dealer) -> list[tuple[Portion, int]]:
    """The portions of an alignment, and which piece has each."""
    cost = used.sites * used.planes.haplotypes
    parts = PARTS if cost >= 2 * GRAIN else 1
    ranges = dealer.deal(np.full(parts, max(cost // parts, 1)), GRAIN)
    return [(Portion(begin, end, parts), piece) for piece, begin, end in ranges]


def _combined(
    job: Job[SweepPart], pieces: Iterable[PieceFile], options: SweepOptions, given: Mapping[str, Background]
) -> Iterator[AlignmentRead | Scan]:
    """What one scan gives, from the shares of all pieces."""
    agreed: dict[str, AllShares] = {}
    late: dict[str, Background] = {}
    scanner, held = SweepScanner(None, options), list[BegunScan]()
    every = [_shares_of(job, piece, agreed, late) for piece in pieces]
    shares = heapq.merge(*every, key=lambda one: (one.number, one.portion.begin))
    for _, own in itertools.groupby(shares, key=lambda one: one.number):
        found = list(own)
        if not _follow([one.portion for one in found]):
            break
        begun = scanner.joined([one.begun for one in found])
        yield found[0].read
        if scanner.waits(given):
            held.append(begun)
        else:
            yield from scanner.finish([begun], given)
    rest = sum(1 for _ in shares)  # up to the last parts
    check_agreed(agreed)
    assert not rest, "pieces that agree have each portion once"
    if held:
        yield from scanner.finish(held, {**late, **given})


def _shares_of(
    job: Job[SweepPart], piece: PieceFile, agreed: dict[str, AllShares], late: dict[str, Background]
) -> Iterator[SweepShare]:
    """The shares of a piece; what comes after them is noted."""
    for part in job.read(piece):
        if isinstance(part, AllShares):
            agreed[piece.name] = part
        elif isinstance(part, LateBackgrounds):
            late.update(part.values)
        elif isinstance(part, SweepShare):
            yield part


def _follow(portions: list[Portion]) -> bool:
    """Whether portions of an alignment follow each other from its begin to its end."""
    borders = [(one.begin, one.end) for one in portions]
    inner = all(a[1] == b[0] for a, b in itertools.pairwise(borders))
    return borders[0][0] == 0 and inner and borders[-1][1] == portions[-1].of


def reading_for(reading: ReadOptions, options: SweepOptions) -> ReadOptions:
    """Return what is read of an input for a scan with these options."""
    records = "raisd" if options.precision == "compat" else reading.records
    return replace(reading, exact_positions=True, records=records, ancestral=options.ancestral == IN_INFO)


def null_of(given: Backgrounds, options: SweepOptions) -> Significance | None:
    """Return the neutral replicates whose background is given, read if they are a file; None if it is not of any.

    Raises
    ------
    InputError
        The file cannot be read, or is something else.
    UsageError
        The background is of other options, or lacks that of a statistic.
    """
    null = read_thresholds(given) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(null, Significance):
        return None
    check_background(null, options)
    return null


def backgrounds_of(given: Backgrounds, null: Significance | None) -> Mapping[str, Background]:
    """Return what statistics compare alignments with, of neutral replicates if it is of some; nothing if none is."""
    if null is not None:
        return null.backgrounds
    assert given is None or isinstance(given, Mapping), "all else has replicates"
    return given or {}


def _option_files(options: SweepOptions) -> list[str]:
    """Files that options name."""
    return [getattr(options, name) for name in FILES if getattr(options, name) not in (None, IN_INFO)]


def _plain_options(options: SweepOptions) -> dict[str, Any]:
    """The options by name, as plain values; of files, whether there is one."""
    named = {name: getattr(options, name) for name in FILES}
    given = {name: value if value in (None, IN_INFO) else "a file" for name, value in named.items()}
    return sweep_parameters(options) | given
