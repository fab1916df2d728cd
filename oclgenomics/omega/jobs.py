"""Scans for sweeps as jobs, of which other processes do pieces: alignments, and ranges of positions of large ones."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.alignment_jobs import (
    AllShares,
    Dealer,
    PositionRange,
    check_agreed,
    counted,
    file_names,
    held_bytes,
    input_files,
    kept_items,
    null_parameters,
    reading_parameters,
)
from oclgenomics.app.jobs import AgainError, Job, KeptItems
from oclgenomics.app.pieces import WHOLE, PieceFile, Shard
from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.omega.device.scanner import MIN_SITES, OmegaScanner, Progress
from oclgenomics.omega.options import ScanOptions, scan_parameters
from oclgenomics.omega.plan.batch import FULL_BITS
from oclgenomics.omega.plan.shards import least_range, position_costs
from oclgenomics.omega.plan.windows import Windows, find_windows
from oclgenomics.omega.result import DataFacts, Scan, ScanStats
from oclgenomics.omega.significance.replicates import ReplicateScan
from oclgenomics.omega.sites.filters import Prepared
from oclgenomics.omega.sites.sources import FilteredBatch, filter_batch, filtered_batches
from oclgenomics.variation import Alignment, ReadOptions
from oclgenomics.variation.alignment import AlignmentRead
from oclgenomics.variation.observation import Observation, as_observed
from oclgenomics.variation.sources import AlignmentSource, Excluded, Simulated, batches, open_alignments, regions_of


@dataclass(frozen=True)
class ScanShare:
    """What a piece has of an alignment; the scan of these positions follows.

    Attributes
    ----------
    number : int
        Of the alignment within its input, counted from 0.
    begin, end : int
        Grid positions [begin, end).
    read : AlignmentRead
    """

    number: int
    begin: int
    end: int
    read: AlignmentRead


ScanPart: TypeAlias = AlignmentRead | Scan | ScanShare | AllShares


@dataclass(frozen=True)
class ScanJob(Job[ScanPart]):
    """A scan of alignments. Its parts are an `AlignmentRead` for each of them, and a `Scan` later.

    Attributes
    ----------
    source : path, Alignment, or iterable of both
        For pieces a tuple of files.
    options : ScanOptions
    reading : ReadOptions
    exclude : BedRegions or path, optional
        For pieces a file.
    named : bool
        A piece refuses an input that does not name its samples.
    sum_bits : tuple of (int, int)
        Numbers of alignments, counted from 0, and the fraction bits that their sums may have, because more are too many
        somewhere in them.
    """

    NAME = "omega scan"
    KINDS = (AlignmentRead, ScanShare, AllShares, Scan, ScanStats, DataFacts)

    source: AlignmentSource
    options: ScanOptions
    reading: ReadOptions = ReadOptions()
    exclude: Excluded = None
    named: bool = False
    sum_bits: tuple[tuple[int, int], ...] = ()

    def inputs(self) -> tuple[str, ...]:
        return input_files(self.source, self.reading, self.exclude)

    def parameters(self) -> Mapping[str, Any]:
        return scan_parameters(self.options) | reading_parameters(self.reading)

    def parts(self, engine: EngineLike, run: Run, shard: Shard | None = None) -> Generator[ScanPart, None, None]:
        if shard is not None:
            return self._piece(engine, run, shard)
        return scan_parts(self.source, self.options, engine, run, reading=self.reading, exclude=self.exclude)

    def _piece(self, engine: EngineLike, run: Run, shard: Shard) -> Generator[ScanPart, None, None]:
        dealer = Dealer(shard.of)
        with (
            lent_engine(engine) as lent,
            kept_items(lent, self, KeptItems[_Ready], self.named) as kept,
            closing(self._own(kept, run, shard, dealer)) as own,
        ):
            scanner, known_bits = OmegaScanner(lent), dict(self.sum_bits)
            for batch in batches(own):
                shares = [one.share for one in batch]
                filtered = FilteredBatch([one.prepared for one in batch], sum(one.seconds for one in batch))
                windows = [one.windows for one in batch]
                del batch  # before the next one is read
                ranges = [(one.begin, one.end) for one in shares]
                bits = [known_bits.get(one.number, FULL_BITS) for one in shares]
                scans = scan_batch(
                    filtered, self.options, scanner, ranges=ranges, most_bits=bits, windows=windows,
                )  # fmt: skip
                del filtered
                for share, scan in zip(shares, scans, strict=True):
                    yield share
                    yield scan
        yield AllShares(dealer.dealt, dealer.decided)

    def _own(self, kept: KeptItems[_Ready], run: Run, shard: Shard, dealer: Dealer) -> Generator[_OwnShare, None, None]:
        """Give the shares of alignments that this piece has, all of which are read, or kept from another piece."""
        with closing(kept.walk("source", partial(self._prepared, run), _Ready.held_bytes, run.progress)) as every:
            for one in every:
                number = dealer.dealt
                for piece, begin, end in _dealt(one, dealer):
                    if piece == shard.number:
                        seconds, one.seconds = one.seconds, 0.0
                        yield _OwnShare(ScanShare(number, begin, end, one.read), one.prepared, one.windows, seconds)
                del one  # before the next one is read

    def _prepared(self, run: Run) -> Generator[_Ready, None, None]:
        """Read and filter all alignments."""
        regions = regions_of(self.exclude)
        read = open_alignments(self.source, self.reading, threads=run.threads, progress=run.progress)
        with closing(read):
            for number, alignment in enumerate(read):
                if self.named and not alignment.samples:
                    raise ParameterError("samples", "has no effect: this input does not name its samples")
                seen, batch = AlignmentRead.of(alignment, number), filter_batch([alignment], self.options, regions)
                del alignment  # before the next one is read
                ready = [_Ready.of(seen, batch, self.options)]
                del batch
                yield ready.pop()  # the caller's alone, so that it can be gone before the next one is read

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[ScanPart]:
        agreed: dict[str, AllShares] = {}
        shares = heapq.merge(
            *[self._shares(piece, agreed) for piece in pieces], key=lambda one: (one[0].number, one[0].begin)
        )
        for _, own in itertools.groupby(shares, key=lambda one: one[0].number):
            found = [(share, next(parts), piece) for share, parts, piece in own]
            if not _follow([share for share, *_ in found]):
                break
            self._check_sums(found)
            yield found[0][0].read
            yield Scan.joined([scan for _, scan, _ in found])
        rest = sum(1 for _ in shares)  # up to the last parts
        check_agreed(agreed)
        assert not rest, "pieces that agree have each position once"

    def _check_sums(self, found: Sequence[tuple[ScanShare, Scan, PieceFile]]) -> None:
        """Refuse ranges of an alignment some of whose sums are coarser than others: one scan has one kind."""
        coarsest = max(found, key=lambda one: one[1].unit)
        unit, number, coarse = coarsest[1].unit, coarsest[0].number, coarsest[2]
        finer = [str(piece.record.shard) for _, scan, piece in found if 0 < scan.unit < unit]
        if finer:
            bits = -round(math.log2(unit))
            told = f"has sums of {coarsest[1].name} that outgrew their format; make {', '.join(finer)} again with"
            job = replace(self, sum_bits=(*self.sum_bits, (number, bits)))
            raise AgainError(f"{told} --sum-bits {number}:{bits}, too", source=coarse.name, job=job)

    def _shares(
        self, piece: PieceFile, agreed: dict[str, AllShares]
    ) -> Iterator[tuple[ScanShare, Iterator[Any], PieceFile]]:
        """Give the shares of a piece, each with the parts of which its scan is the next one."""
        parts = self.read(piece)
        for part in parts:
            if isinstance(part, AllShares):
                agreed[piece.name] = part
            elif isinstance(part, ScanShare):
                yield part, parts, piece


def _follow(shares: Sequence[ScanShare]) -> bool:
    """Whether ranges of an alignment follow each other; one that is empty is by itself."""
    ranges = [(share.begin, share.end) for share in shares]
    return ranges[0][0] == 0 and all(a < b == c < d for (a, b), (c, d) in itertools.pairwise(ranges))


@dataclass(eq=False)
class _Ready:
    """An alignment that was read and filtered, and what the scan of each position costs.

    Attributes
    ----------
    read : AlignmentRead
    prepared : Prepared
    windows : Windows, optional
        None if too few sites are left.
    costs : ndarray of int64, shape (grid,)
        There is no position then.
    seconds : float
        That it took to filter it, until a scan has counted them.
    """

    read: AlignmentRead
    prepared: Prepared
    windows: Windows | None
    costs: NDArray[np.int64]
    seconds: float

    @classmethod
    def of(cls, read: AlignmentRead, batch: FilteredBatch, options: ScanOptions) -> _Ready:
        """Take the alignment of a batch of one."""
        (prepared,) = batch.prepared
        if prepared.alignment.sites < MIN_SITES:
            return cls(read, prepared, None, np.zeros(0, np.int64), batch.seconds)
        windows = find_windows(prepared.alignment.positions, options)
        return cls(read, prepared, windows, position_costs(windows, options.tried_border), batch.seconds)

    def held_bytes(self) -> int:
        """Return what it takes of memory."""
        parts = (self, self.prepared.alignment, self.windows)
        return sum(held_bytes(part) for part in parts if part is not None)


@dataclass(frozen=True, eq=False)
class _OwnShare:
    """A share of an alignment that is in memory."""

    share: ScanShare
    prepared: Prepared
    windows: Windows | None
    seconds: float

    @property
    def sites(self) -> int:
        return self.prepared.alignment.sites

    @property
    def packed_bytes(self) -> int:
        return self.prepared.alignment.packed_bytes


def _dealt(one: _Ready, dealer: Dealer) -> list[PositionRange]:
    """Who scans which positions of an alignment; those of one without a window are an empty range."""
    return dealer.deal(one.costs) if one.windows is None else dealer.deal(one.costs, least_range(one.windows))


def scan_parts(
    source: AlignmentSource,
    options: ScanOptions,
    engine: EngineLike,
    run: Run,
    *,
    reading: ReadOptions = ReadOptions(),
    exclude: Excluded = None,
    on_alignment: Callable[[Alignment], None] | None = None,
) -> Generator[AlignmentRead | Scan, None, None]:
    """Scan an input; parameters and errors as for `oclgenomics.omega.scan`.

    Yields
    ------
    AlignmentRead or Scan
        Those of alignments that are scanned together, and then their scans.
    """
    seen: list[AlignmentRead] = []
    number = itertools.count()

    def see(alignment: Alignment) -> None:
        seen.append(AlignmentRead.of(alignment, next(number)))
        if on_alignment is not None:
            on_alignment(alignment)

    batches = filtered_batches(source, options, reading=reading, exclude=exclude, on_alignment=see, threads=run.threads)
    scanner = None
    with ExitStack() as stack:
        for batch in stack.enter_context(closing(batches)):
            yield from seen
            seen.clear()
            scanner = scanner or OmegaScanner(stack.enter_context(lent_engine(engine)))
            results = scan_batch(batch, options, scanner, run.progress)
            del batch  # before the next one is read
            yield from results


def scan_batch(
    batch: FilteredBatch,
    options: ScanOptions,
    scanner: OmegaScanner,
    progress: Progress | None = None,
    ranges: Sequence[tuple[int, int]] | None = None,
    most_bits: Sequence[int] | None = None,
    windows: Sequence[Windows | None] | None = None,
) -> list[Scan]:
    """Scan filtered alignments, or ranges of positions of them, and count what was left out and the sites of windows.

    The seconds of each are its share, of those that the filter took, too. `OmegaScanner.scan_filtered` tells the rest.
    """
    start = time.perf_counter()
    results = scanner.scan_filtered(batch.alignments, options, progress, ranges, most_bits, windows)
    share = (batch.seconds + time.perf_counter() - start) / max(len(results), 1)
    made = scan_parameters(options)
    return [_counted(result, one, share, made) for result, one in zip(results, batch.prepared, strict=True)]


def _counted(result: Scan, prepared: Prepared, seconds: float, parameters: dict[str, Any]) -> Scan:
    """The result with what was left out, the sites of each window, what was scanned how, and the seconds it took."""
    at = prepared.alignment.positions
    counted = np.searchsorted(at, result.right, "right") - np.searchsorted(at, result.left, "left")
    return replace(
        result, discarded=prepared.discarded, window_sites=np.where(result.valid, counted, -1).astype(np.int64),
        stats=replace(result.stats, seconds=seconds), data=prepared.data, parameters=parameters,
    )  # fmt: skip


ReplicatePart: TypeAlias = ReplicateScan | AllShares


@dataclass(frozen=True)
class ThresholdJob(Job[ReplicatePart]):
    """Scans of neutral replicates, and of replicates with a sweep, of which only the largest omegas are kept.

    Attributes
    ----------
    neutral : Simulated, path, Alignment, or iterable of both
        For pieces replicates to simulate, or a tuple of files.
    options : ScanOptions
    reading : ReadOptions
    exclude : BedRegions or path, optional
        For pieces a file.
    sweeps : path, Alignment, or iterable of both, optional
        As `neutral`.
    observation : Observation, optional
        How the replicates are seen; those with a sweep fall on their place of the chromosome always.
    expected : tuple of int and str, optional
        The number of haplotypes that neutral replicates must have, and the report that says so.
    report : str, optional
        A file that the replicates are compared with when all are scanned.
    questions : mapping
        What is asked when all are scanned: what pieces must have in common apart from what they do themselves.
    """

    NAME = "omega threshold"
    KINDS = (ReplicateScan, AlignmentRead, DataFacts, AllShares)

    neutral: AlignmentSource
    options: ScanOptions
    reading: ReadOptions = ReadOptions()
    exclude: Excluded = None
    sweeps: AlignmentSource | None = None
    observation: Observation | None = None
    expected: tuple[int, str] | None = None
    report: str | None = None
    questions: Mapping[str, Any] = field(default_factory=dict)

    def inputs(self) -> tuple[str, ...]:
        files = [
            () if isinstance(one, Simulated) or one is None else file_names(one) for one in (self.neutral, self.sweeps)
        ]
        others = [] if self.report is None else [self.report]
        return (*itertools.chain(*files), *input_files((), self.reading, self.exclude), *others)

    def parameters(self) -> Mapping[str, Any]:
        known = scan_parameters(self.options) | reading_parameters(self.reading) | dict(self.questions)
        known["sweeps"] = self.sweeps is not None
        return known | null_parameters(self.observation, self.neutral)

    def parts(
        self,
        engine: EngineLike,
        run: Run,
        shard: Shard | None = None,
        *,
        on_alignment: Callable[[Alignment], None] | None = None,
    ) -> Generator[ReplicatePart, None, None]:
        how: dict[str, Any] = {"exclude": self.exclude, "on_alignment": on_alignment}
        kinds = [_Kind(source, shard or WHOLE) for source in (self.neutral, self.sweeps)]
        for kind, swept in zip(kinds, (False, True), strict=True):
            with (
                kept_items(engine, self, KeptItems[Alignment]) as kept,
                closing(kind.own(kept, self.reading, run.threads, swept=swept)) as own,
            ):
                seen = counted(self.observed(own, swept=swept), run)
                with closing(scan_parts(seen, self.options, engine, Run(), **how)) as scans:
                    for place, (read, scan) in enumerate(_pairs(scans)):
                        yield ReplicateScan.of(scan, read, kind.number(place), swept=swept)
        if shard is not None:
            neutral, with_sweep = (kind.count for kind in kinds)
            yield AllShares(neutral, with_sweep)

    def observed(self, replicates: Iterable[Alignment], *, swept: bool = False) -> Generator[Alignment, None, None]:
        """Give replicates as they are scanned.

        Raises
        ------
        UsageError
            A neutral one has another number of haplotypes than is expected.
        """
        how = replace(self.observation, room=0) if swept and self.observation is not None else self.observation
        for one in replicates if how is None else as_observed(replicates, how):
            if self.expected is not None and not swept and one.haplotypes != self.expected[0]:
                wanted, report = self.expected
                raise UsageError(
                    f"{report} has {wanted:,} haplotypes and the replicates have {one.haplotypes:,}, for "
                    "which the threshold is another; make both of the same number"
                )
            yield one
            del one  # before the next one is simulated or read

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[ReplicatePart]:
        agreed: dict[str, AllShares] = {}
        found: list[ReplicateScan] = []
        for piece in pieces:
            for part in self.read(piece):
                if isinstance(part, AllShares):
                    agreed[piece.name] = part
                else:
                    found.append(part)
        check_agreed(agreed)
        yield from sorted(found, key=lambda one: (one.swept, one.number))


class _Kind:
    """Replicates of one kind, some of which are a piece's: a range of those that it simulates, or every N-th it reads.

    Attributes
    ----------
    count : int
        All of them, when they have come.
    """

    def __init__(self, source: AlignmentSource | None, shard: Shard) -> None:
        self._source, self._shard = source, shard
        self.count = 0

    def own(
        self, kept: KeptItems[Alignment], reading: ReadOptions, threads: int | None, *, swept: bool
    ) -> Generator[Alignment, None, None]:
        """Give those of the piece, of which all are read, or kept from another piece."""
        if isinstance(self._source, Simulated):
            self.count = self._source.replicates
            yield from self._source.between(*self._shard.share(self.count))
        elif self._source is not None:
            read = partial(open_alignments, self._source, reading, threads=threads)
            with closing(kept.walk("sweeps" if swept else "neutral", read, held_bytes)) as every:
                for one in every:
                    if self.count % self._shard.of == self._shard.number - 1:
                        yield one
                    self.count += 1
                    del one  # before the next one is read

    def number(self, place: int) -> int:
        """Return the number of one of the piece's among all, both counted from 0."""
        if isinstance(self._source, Simulated):
            return self._shard.share(self.count)[0] + place
        return self._shard.number - 1 + place * self._shard.of


def _pairs(parts: Iterable[AlignmentRead | Scan]) -> Iterator[tuple[AlignmentRead, Scan]]:
    """What was read of each alignment, and its scan."""
    waiting: deque[AlignmentRead] = deque()
    for part in parts:
        if isinstance(part, Scan):
            yield waiting.popleft(), part
        else:
            waiting.append(part)
