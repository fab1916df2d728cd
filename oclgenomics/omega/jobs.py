"""Scans for sweeps as jobs, of which other processes do pieces: alignments, and ranges of positions of large ones."""

from __future__ import annotations

import heapq
import itertools
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from oclgenomics.app.jobs import Job, path_of
from oclgenomics.app.pieces import PieceFile, Shard
from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.omega.device.scanner import MIN_SITES, OmegaScanner, Progress
from oclgenomics.omega.options import ScanOptions, scan_parameters
from oclgenomics.omega.plan.shards import Dealer, PositionRange, least_range, position_costs
from oclgenomics.omega.plan.windows import find_windows
from oclgenomics.omega.result import DataFacts, Scan, ScanStats
from oclgenomics.omega.sites.filters import Prepared
from oclgenomics.omega.sites.sources import (
    AlignmentSource,
    Excluded,
    FilteredBatch,
    batches,
    filter_batch,
    filtered_batches,
    open_alignments,
    regions_of,
)
from oclgenomics.variation import Alignment, ReadOptions


@dataclass(frozen=True)
class AlignmentRead:
    """What was read of an alignment whose scan comes later: what figures and messages show beside scans.

    Attributes
    ----------
    name : str
    binary : bool
        The states are 0 and 1, as those of simulated replicates are.
    sites, haplotypes, copies, ploidy, unphased, unphased_calls
        As in `Alignment`, before any site was left out.
    haploid : bool, optional
        True if any call is haploid among diploid ones; None if none is.
    samples : tuple of str
        Their names, of the first alignment of an input only.
    """

    name: str
    binary: bool
    sites: int
    haplotypes: int
    copies: int
    ploidy: int
    unphased: bool
    unphased_calls: int
    haploid: bool | None
    samples: tuple[str, ...]

    @classmethod
    def of(cls, alignment: Alignment, number: int) -> AlignmentRead:
        """Take it from the `number`-th alignment of an input, counted from 0."""
        names = ("name", "sites", "haplotypes", "copies", "ploidy", "unphased", "unphased_calls")
        return cls(
            binary=alignment.alphabet == "binary", haploid=None if alignment.haploid is None else True,
            samples=() if number else alignment.samples, **{name: getattr(alignment, name) for name in names},
        )  # fmt: skip


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


@dataclass(frozen=True)
class AllShares:
    """The last part of a piece: what all pieces of a job have to agree on.

    Attributes
    ----------
    count : int
        Alignments of the input.
    decided : int
        Checksum of who has what of each.
    """

    count: int
    decided: int


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
    """

    NAME = "omega scan"
    KINDS = (AlignmentRead, ScanShare, AllShares, Scan, ScanStats, DataFacts)

    source: AlignmentSource
    options: ScanOptions
    reading: ReadOptions = ReadOptions()
    exclude: Excluded = None
    named: bool = False

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
        with lent_engine(engine) as lent, closing(self._own(run, shard, dealer)) as own:
            scanner = OmegaScanner(lent)
            for batch in batches(own):
                shares = [one.share for one in batch]
                filtered = FilteredBatch([one.prepared for one in batch], sum(one.seconds for one in batch))
                del batch  # before the next one is read
                scans = scan_batch(filtered, self.options, scanner, ranges=[(one.begin, one.end) for one in shares])
                del filtered
                for share, scan in zip(shares, scans, strict=True):
                    yield share
                    yield scan
        yield AllShares(dealer.dealt, dealer.decided)

    def _own(self, run: Run, shard: Shard, dealer: Dealer) -> Generator[_OwnShare, None, None]:
        """Read and filter all alignments, and give those of which this piece has a share."""
        regions = regions_of(self.exclude)
        read = open_alignments(self.source, self.reading, threads=run.threads, progress=run.progress)
        with closing(read):
            for alignment in read:
                number = dealer.dealt
                if self.named and not alignment.samples:
                    raise ParameterError("samples", "has no effect: this input does not name its samples")
                seen, batch = AlignmentRead.of(alignment, number), filter_batch([alignment], self.options, regions)
                del alignment  # before the next one is read
                (prepared,) = batch.prepared
                for piece, begin, end in _dealt(prepared.alignment, self.options, dealer):
                    if piece == shard.number:
                        yield _OwnShare(ScanShare(number, begin, end, seen), prepared, batch.seconds)
                del prepared, batch

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[ScanPart]:
        agreed: dict[str, AllShares] = {}
        shares = heapq.merge(
            *[self._shares(piece, agreed) for piece in pieces], key=lambda one: (one[0].number, one[0].begin)
        )
        for _, own in itertools.groupby(shares, key=lambda one: one[0].number):
            found = [(share, next(parts)) for share, parts in own]
            if not _follow([share for share, _ in found]):
                break
            yield found[0][0].read
            yield Scan.joined([scan for _, scan in found])
        rest = sum(1 for _ in shares)  # up to the last parts
        check_agreed(agreed)
        assert not rest, "pieces that agree have each position once"

    def _shares(self, piece: PieceFile, agreed: dict[str, AllShares]) -> Iterator[tuple[ScanShare, Iterator[Any]]]:
        """Give the shares of a piece, each with the parts of which its scan is the next one."""
        parts = self.read(piece)
        for part in parts:
            if isinstance(part, AllShares):
                agreed[piece.name] = part
            elif isinstance(part, ScanShare):
                yield part, parts


def _follow(shares: Sequence[ScanShare]) -> bool:
    """Whether ranges of an alignment follow each other; one that is empty is by itself."""
    ranges = [(share.begin, share.end) for share in shares]
    return ranges[0][0] == 0 and all(a < b == c < d for (a, b), (c, d) in itertools.pairwise(ranges))


@dataclass(frozen=True, eq=False)
class _OwnShare:
    """A share of an alignment that is in memory."""

    share: ScanShare
    prepared: Prepared
    seconds: float

    @property
    def sites(self) -> int:
        return self.prepared.alignment.sites

    @property
    def packed_bytes(self) -> int:
        return self.prepared.alignment.packed_bytes


def _dealt(alignment: Alignment, options: ScanOptions, dealer: Dealer) -> list[PositionRange]:
    """Who scans which positions of an alignment; those of one without a window are an empty range."""
    if alignment.sites < MIN_SITES:
        return dealer.deal(np.zeros(0, np.int64))
    windows = find_windows(alignment.positions, options)
    return dealer.deal(position_costs(windows, options.tried_border), least_range(windows))


def check_agreed(agreed: Mapping[str, Any]) -> None:
    """Refuse pieces that saw other alignments than others: then one is missing, or there twice.

    Raises
    ------
    InputError
    """
    (first_name, first), *others = agreed.items()
    for name, one in others:
        if one != first:
            told = f"saw other alignments than {first_name} ({one.count:,} and {first.count:,})"
            raise InputError(f"{told}; make all pieces again, of an input that does not change", source=name)


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
) -> list[Scan]:
    """Scan filtered alignments, or ranges of positions of them, and count what was left out and the sites of windows.

    The seconds of each are its share, of those that the filter took, too.
    """
    start = time.perf_counter()
    results = scanner.scan_filtered(batch.alignments, options, progress, ranges)
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


def file_names(source: AlignmentSource) -> tuple[str, ...]:
    """Return the files that a source is, which other processes read.

    Raises
    ------
    ParameterError
        It is something in this process's memory.
    """
    sources = [source] if isinstance(source, (str, os.PathLike, Alignment)) else source
    return tuple(path_of("source", one) for one in sources)


def input_files(source: AlignmentSource, reading: ReadOptions, exclude: Excluded) -> tuple[str, ...]:
    """Return all files that are read: of alignments, regions and names of samples.

    Raises
    ------
    ParameterError
        Something is in this process's memory.
    """
    others = [] if exclude is None else [path_of("exclude", exclude)]
    if isinstance(reading.samples, (str, os.PathLike)):
        others.append(os.fspath(reading.samples))
    return (*file_names(source), *others)


def reading_parameters(reading: ReadOptions) -> dict[str, Any]:
    """Return what is read of an input, by name, as plain values."""
    values = asdict(reading)
    return values | {"samples": None if isinstance(reading.samples, (str, os.PathLike)) else reading.samples}
