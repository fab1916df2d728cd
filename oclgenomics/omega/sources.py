"""Where alignments come from: files, memory, or any mix of them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import TypeAlias

from oclgenomics.errors import InputError
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.read_options import ReadOptions

__all__ = ["AlignmentSource", "first_read", "open_alignments"]

AlignmentSource: TypeAlias = str | os.PathLike[str] | Alignment | Iterable[str | os.PathLike[str] | Alignment]
"""A file or folder that `read_alignments` reads, an alignment, or an iterable of both."""


def open_alignments(
    source: AlignmentSource, reading: ReadOptions = ReadOptions(), *, threads: int | None = None
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
    from oclgenomics.variation import PREFETCH_BYTES, read_alignments

    for one in [source] if isinstance(source, (str, os.PathLike, Alignment)) else source:
        if isinstance(one, Alignment):
            yield one
        else:
            read = read_alignments(one, reading, threads=threads, prefetch=PREFETCH_BYTES)
            with closing(read):
                yield from first_read(read, os.fspath(one))
        del one  # before the next one is read


def first_read(
    alignments: Iterator[Alignment], source: str, check: Callable[[Alignment], None] | None = None
) -> Iterator[Alignment]:
    """Return the same alignments, the first of which is read now: a bad input is told before a device starts.

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
