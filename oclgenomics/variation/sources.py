"""Where alignments come from: files, memory, or any mix of them; and which are worth scanning together."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from oclgenomics.errors import InputError, OclGenomicsError, UsageError
from oclgenomics.io.raw_file import Progress
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import BedRegions, read_bed
from oclgenomics.variation.read_options import ReadOptions
from oclgenomics.variation.readers.read import PREFETCH_BYTES, read_alignments

BATCH_SITES = 1 << 16
BATCH_ALIGNMENTS = 128
BATCH_BYTES = 32 << 20  # packed planes; larger alignments are scanned alone

AlignmentSource: TypeAlias = str | os.PathLike[str] | Alignment | Iterable[str | os.PathLike[str] | Alignment]
"""A file or folder that `read_alignments` reads, an alignment, or an iterable of both."""

Excluded: TypeAlias = BedRegions | str | os.PathLike[str] | None
"""Regions whose sites are left out, or a BED file of them."""


@runtime_checkable
class Simulated(Protocol):
    """Replicates that any process can simulate: `oclgenomics.simulate.NeutralReplicates`."""

    @property
    def replicates(self) -> int:
        """How many there are."""

    def __iter__(self) -> Iterator[Alignment]: ...

    def between(self, begin: int, end: int) -> Iterator[Alignment]:
        """Simulate the replicates [begin, end)."""

    def record(self) -> Mapping[str, Any]:
        """Return all that decides what they are, as plain values."""


class Sized(Protocol):
    """An alignment, or what holds one."""

    @property
    def sites(self) -> int: ...

    @property
    def packed_bytes(self) -> int: ...


SizedT = TypeVar("SizedT", bound=Sized)


def open_alignments(
    source: AlignmentSource,
    reading: ReadOptions = ReadOptions(),
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Generator[Alignment, None, None]:
    """Give the alignments of a source one after the other.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        An alignment that is no longer held elsewhere is gone before the next one is read.
    reading : ReadOptions
        What is read of files; without effect on alignments in memory.
    threads : int, optional
        Host threads that unpack and read a file; one per core, at most 4, if not given.
    progress : callable, optional
        Called with (bytes read, bytes in all or None) of the file at work.

    Yields
    ------
    Alignment

    Raises
    ------
    InputError
        Anything wrong with a file; one without an alignment, too.
    UsageError
        Options that do not suit the file.
    """
    several: Iterable[Any] = [source]
    if not isinstance(source, (str, os.PathLike, Alignment)) and isinstance(source, Iterable):
        several = source
    for one in several:
        if not isinstance(one, (str, os.PathLike, Alignment)):
            raise UsageError(
                f"{type(one).__name__}: alignments come from a path, an `Alignment`, or several of them; arrays become "
                "one by `Alignment.from_haplotypes` or `Alignment.from_genotypes`"
            )
        if isinstance(one, Alignment):
            yield one
        else:
            read = read_alignments(one, reading, threads=threads, prefetch=PREFETCH_BYTES, progress=progress)
            with closing(read):
                yield from first_read(read, os.fspath(one))
        del one  # before the next one is read


def first_read(
    alignments: Iterator[Alignment], source: str, check: Callable[[Alignment], None] | None = None
) -> Iterator[Alignment]:
    """Return the same alignments, the first of which is read now: a bad input is reported before a device starts.

    Parameters
    ----------
    alignments : iterator of Alignment
    source : str
        Its name, for the error.
    check : callable, optional
        Called with the first one; it may refuse it.

    Raises
    ------
    InputError
        There is no alignment.
    """
    try:
        first = next(alignments)
    except StopIteration:
        raise InputError("holds no alignment", source=source) from None
    if check is not None:
        check(first)
    return itertools.chain([first], alignments)


def batches(alignments: Iterable[SizedT]) -> Iterator[list[SizedT]]:
    """Gather alignments that are worth scanning together; order is kept.

    A large alignment comes alone, and is not held here while the next one is read. Where reading fails, what was read
    before comes first.
    """
    held: list[SizedT] = []
    sites = size = 0
    source = iter(alignments)
    while True:
        try:
            alignment = next(source, None)
        except OclGenomicsError:
            if held:
                yield held
            raise
        if alignment is None:
            break
        sites, size = sites + alignment.sites, size + alignment.packed_bytes
        if held and (sites > BATCH_SITES or size > BATCH_BYTES or len(held) == BATCH_ALIGNMENTS):
            yield held
            held, sites, size = [], alignment.sites, alignment.packed_bytes
        held.append(alignment)
        del alignment
        if sites > BATCH_SITES or size > BATCH_BYTES:  # large: to be done with before the next one is read
            large, held, sites, size = held, [], 0, 0
            yield large
            del large
    if held:
        yield held


def regions_of(exclude: Excluded) -> BedRegions | None:
    """Read the regions to exclude, if they are given as a file."""
    return read_bed(exclude) if isinstance(exclude, (str, os.PathLike)) else exclude
