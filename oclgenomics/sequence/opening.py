"""Inputs opened as blocks of text, whatever is made of these."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from oclgenomics.errors import EmptyInputError, InputError
from oclgenomics.io.foreign import HEAD_BYTES, foreign_format, not_sequences
from oclgenomics.io.source import Progress, Source
from oclgenomics.io.workers import Workers
from oclgenomics.lazy_names import late
from oclgenomics.notices import tell
from oclgenomics.runtime import Engine
from oclgenomics.sequence.text import TextBlocks
from oclgenomics.sequence.tiles import MAX_BYTES

if TYPE_CHECKING:
    from oclgenomics.io.joined_source import JoinedSource

joined_source = late("oclgenomics.io.joined_source")

__all__ = ["joined_files", "largest_block", "opened_files", "opened_text", "without_reads"]

MAX_JOINED = 64 << 20  # bytes of a file that is joined with others
CPU_BLOCK, GPU_BLOCK, MIN_BLOCK = 32 << 20, 128 << 20, 1 << 16  # bytes; GPUs wait for each block's end
BLOCK_SHARE = 8  # blocks that the device's memory holds: two or three of text, and what is made of them


@contextlib.contextmanager
def opened_text(
    engine: Engine,
    path: str | os.PathLike[str],
    *,
    block_bytes: int | None,
    threads: int | None,
    progress: Progress | None,
    live: bool = False,
) -> Iterator[tuple[TextBlocks, bool]]:
    """Open an input and read its first block.

    Parameters
    ----------
    engine : Engine
    path : path
        A file, plain or packed; "-" is standard input.
    block_bytes : int, optional
        `largest_block` if not given.
    threads : int, optional
        See `Workers`.
    progress : callable, optional
        See `Progress`.
    live : bool
        Blocks of a pipe are what has come.

    Yields
    ------
    text : TextBlocks
    fastq : bool
        Whether it is FASTQ; else it is FASTA.

    Raises
    ------
    InputError
        The input cannot be read or is neither.
    EmptyInputError
        It holds nothing.
    """
    with (
        Workers(threads) as workers,
        Source(path, progress=progress, workers=workers, live=live) as source,
        TextBlocks(engine, source, _block_size(engine, source, block_bytes)) as text,
    ):
        first = text.first_letter()
        head = text.host[:HEAD_BYTES].tobytes()
        if first not in b">@" or foreign_format(head):
            raise InputError(not_sequences(head), source=source.name)
        yield text, first == ord("@")


@contextlib.contextmanager
def without_reads(*, allowed: bool) -> Iterator[None]:
    """Go on behind the body, with a warning, where it opens an input with nothing in it and that is allowed."""
    try:
        yield
    except EmptyInputError as error:
        if not allowed:
            raise
        tell(f"warning: {error}; it is taken for a sample without reads")


@contextlib.contextmanager
def opened_files(engine: Engine, source: JoinedSource, *, block_bytes: int | None) -> Iterator[TextBlocks]:
    """Open files of FASTA that are read as one text, and read its first block; see `opened_text`."""
    with TextBlocks(engine, source, _block_size(engine, source, block_bytes)) as text:
        text.first_letter()
        yield text


def joined_files(
    paths: Iterable[str | os.PathLike[str]], progress: Progress | None
) -> Iterator[str | os.PathLike[str] | JoinedSource]:
    """Join neighbouring plain files of FASTA, unless they are so large that each fills blocks by itself."""
    joined: list[tuple[str, int]] = []
    for path in paths:
        head = joined_source.head_of(path)
        if head is not None and head[1] < MAX_JOINED and head[0].lstrip(b"\r\n").startswith(b">"):
            joined.append((os.fspath(path), head[1]))
            continue
        if joined:
            yield joined_source.JoinedSource(*zip(*joined, strict=True), progress=progress)
            joined = []
        yield path
    if joined:
        yield joined_source.JoinedSource(*zip(*joined, strict=True), progress=progress)


def largest_block(engine: Engine) -> int:
    """Bytes of text in a block that suit the device and its memory."""
    most = CPU_BLOCK if engine.tuning.cpu else GPU_BLOCK
    return min(most, max(MIN_BLOCK, engine.budget // BLOCK_SHARE), max(MIN_BLOCK, engine.max_allocation // 2))


def _block_size(engine: Engine, source: Source | JoinedSource, wanted: int | None) -> int:
    """Bytes of a block; of a small file enough to hold it, a power of two, so that files can share memory."""
    enough = MAX_BYTES if source.size is None else 1 << source.size.bit_length()
    return min(largest_block(engine) if wanted is None else wanted, enough)
