"""Reads and references as callers name them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import Any, cast

from oclgenomics.errors import ParameterError
from oclgenomics.io.read_ahead import ReadAhead
from oclgenomics.io.source import Progress
from oclgenomics.sdtw.squiggles.file import read_squiggle
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import Signals, TrimOptions, read_signals

__all__ = ["References", "SignalSource", "check_together", "looked_into", "open_references", "signal_blocks"]

SignalSource = Signals | str | os.PathLike[str] | Iterable[Signals] | Iterable[str | os.PathLike[str]]
References = Squiggle | str | os.PathLike[str] | Iterable[Squiggle | str | os.PathLike[str]]


def open_references(references: References, parameter: str = "references") -> tuple[Squiggle, ...]:
    """Return references, those of files read.

    Parameters
    ----------
    references : Squiggle, path, or iterable of either
    parameter : str
        What the caller knows them as, for the error message.

    Raises
    ------
    ParameterError
        There is none, two have one name, or DNA and RNA or several pores are mixed.
    InputError
        See `read_squiggle`.
    """
    given = [references] if isinstance(references, (Squiggle, str, os.PathLike)) else references
    opened = tuple(one if isinstance(one, Squiggle) else read_squiggle(one) for one in given)
    if not opened:
        raise ParameterError(parameter, "must not be empty")
    check_together(opened, parameter)
    return opened


def check_together(references: Sequence[Squiggle], parameter: str) -> None:
    """Refuse references that results could not tell apart, or that no read could belong to both of.

    Raises
    ------
    ParameterError
        See `open_references`.
    """
    name, times = Counter(one.name for one in references).most_common(1)[0]
    if times > 1:
        raise ParameterError(parameter, f"must differ in name; {times} of them have the name {name}")
    if len({one.molecule for one in references}) > 1:
        raise ParameterError(parameter, "must be all of DNA or all of RNA, as a read is")
    pores = sorted({one.pore for one in references} - {""})
    if len(pores) > 1:
        raise ParameterError(parameter, f"must be all for one pore; there are some for {' and for '.join(pores)}")


def looked_into(source: SignalSource) -> tuple[SignalSource, bool]:
    """Return a source as good as the one given, and whether it is of files, which are then trimmed when read."""
    if isinstance(source, (Signals, str, os.PathLike)):
        return source, not isinstance(source, Signals)
    items: Iterator[Any] = iter(source)
    first = list(islice(items, 1))
    return chain(first, items), bool(first) and not isinstance(first[0], Signals)


def signal_blocks(
    source: SignalSource, *, trim: TrimOptions | None = None, progress: Progress | None = None
) -> Generator[Signals, None, None]:
    """Yield reads in their order, block by block; of files, a thread reads the next block meanwhile.

    Parameters
    ----------
    source : Signals, path, or iterable of Signals or of paths
        `Signals` of an iterable are used as they come, so there may be more of them than memory holds.
    trim, progress
        As `oclgenomics.signals.read_signals` takes them, for files. Progress is told with each block.
    """
    given: Iterable[Any] = [source] if isinstance(source, (Signals, str, os.PathLike)) else source
    items = iter(given)
    for first in items:
        if isinstance(first, Signals):
            yield first
        else:
            yield from _read_ahead([first, *items], trim, progress)


def _read_ahead(
    paths: list[str | os.PathLike[str]], trim: TrimOptions | None, progress: Progress | None
) -> Iterator[Signals]:
    read: list[tuple[int, int | None]] = [(0, 0)]

    def note(done: int, total: int | None) -> None:
        read[0] = done, total

    blocks = cast("Generator[Signals, None, None]", read_signals(paths, trim=trim, progress=note))
    with closing(blocks):
        ahead = ReadAhead(blocks, 1)
        try:
            for block in ahead:
                if progress is not None:
                    progress(*read[0])
                yield block
        finally:
            ahead.stop(wait=True)
