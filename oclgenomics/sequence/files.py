"""Files of sequences: as callers name them, opened, many as one, and how far through them reading is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from oclgenomics.errors import EmptyInputError, InputError
from oclgenomics.io.file_slice import stored_size
from oclgenomics.io.foreign import HEAD_BYTES, foreign_format, not_sequences
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.source import Source
from oclgenomics.io.text_file import read_text
from oclgenomics.io.workers import Workers
from oclgenomics.lazy_names import late
from oclgenomics.notices import tell
from oclgenomics.runtime import Engine
from oclgenomics.sequence.aligned_reads import fastq_converter
from oclgenomics.sequence.parse import MAX_BYTES
from oclgenomics.sequence.text import TextBlocks

if TYPE_CHECKING:
    from oclgenomics.io.joined_source import JoinedSource

joined_source = late("oclgenomics.io.joined_source")


MARK = "@"  # before the name of a list
MAX_LIST_BYTES = 1 << 28

SequenceFiles = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def file_names(source: SequenceFiles) -> list[str]:
    """Return the names of one file or of several; "-" is standard input.

    A string that begins with @ names a list: a text file of names of files, one a line, relative to the working folder.
    Blank lines and lines that begin with # do not count. What is not a string, such as a `Path`, is never a list, and
    ./@name is a file.

    Raises
    ------
    InputError
        A list that cannot be read, names no file, or names another list or a file that is not there.
    """
    paths = [source] if isinstance(source, (str, os.PathLike)) else source
    names: list[str] = []
    for path in paths:
        if isinstance(path, str) and path.startswith(MARK):
            names += _listed(path.removeprefix(MARK))
        else:
            name = os.fspath(path)
            names.append(os.path.join(os.curdir, name) if name.startswith(MARK) else name)
    return names


def list_names(source: Iterable[str]) -> list[str]:
    """Return the names of the lists that are among names as `file_names` takes them."""
    return [name.removeprefix(MARK) for name in source if name.startswith(MARK)]


def _listed(path: str) -> list[str]:
    """The files that a list names."""
    if path in ("", "-"):
        raise InputError("behind the @ has to come the name of a file", source=MARK + path)
    text, _ = read_text(path, MAX_LIST_BYTES)
    names: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        name = line.strip()
        if not name or name.startswith("#"):
            continue
        if name.startswith(MARK):
            raise InputError(f"{name} would be a list in a list; if it is a file of sequences, name it ./{name}",
                             source=path, line=number)  # fmt: skip
        if name != "-" and not os.path.exists(name):
            raise InputError(f"there is no file {name}", source=path, line=number)
        names.append(name)
    if not names:
        raise InputError("names no file", source=path)
    return names


MAX_JOINED = 64 << 20  # bytes of a file that is joined with others
CPU_BLOCK, GPU_BLOCK, MIN_BLOCK = 32 << 20, 64 << 20, 1 << 16  # bytes; GPUs wait for each block's end
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
        A file, uncompressed or compressed; "-" is standard input.
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
        Source(
            path, progress=progress, workers=workers, live=live, converter=fastq_converter(os.fspath(path))
        ) as source,
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


class InputProgress:
    """Adds the files before to the progress of each file; its calls are those of a `Progress`.

    Where a call cannot be of the file before, the next file has begun; `end_file` says so for certain.

    Parameters
    ----------
    paths : sequence of str
        The files in the order in which they are read.
    progress : callable
        Called with (bytes read, bytes in all) as the files are stored; the latter is None where a file has no size.
    """

    def __init__(self, paths: Sequence[str], progress: Progress) -> None:
        sizes = [stored_size(path) for path in paths]
        self._total = None if None in sizes else sum(size or 0 for size in sizes)
        self._progress, self._before, self._here = progress, 0, 0
        self._size: int | None = None  # of the file at work

    def __call__(self, done: int, size: int | None) -> None:
        if done < self._here or size != self._size:
            self.end_file()
        self._here, self._size = done, size
        done += self._before
        self._progress(done if self._total is None else min(done, self._total), self._total)

    def end_file(self) -> None:
        """Go on to the next file."""
        self._before, self._here = self._before + self._here, 0
