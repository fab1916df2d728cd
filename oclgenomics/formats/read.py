"""One entry for all formats."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator

from ..errors import UsageError
from .ahead import ProgressGate, one_ahead
from .alignment import Alignment
from .fasta import read_fasta
from .macs import read_macs
from .ms import read_ms
from .sniff import FORMATS, sniff
from .source import Progress, Source
from .vcf import read_vcf
from .window import ByteWindow
from .workers import Workers

__all__ = ["BLOCK_BYTES", "read_alignments"]

BLOCK_BYTES = 4 << 20


def read_alignments(
    path: str | os.PathLike[str],
    *,
    length: float | None = None,
    format: str | None = None,
    samples: Iterable[str] | str | os.PathLike[str] | None = None,
    phase: str = "auto",
    block_bytes: int = BLOCK_BYTES,
    threads: int | None = None,
    prefetch: int = 0,
    progress: Progress | None = None,
) -> Generator[Alignment, None, None]:
    """Read the alignments of an input one after the other; without `prefetch`, one is in memory at a time.

    Parameters
    ----------
    path : str or path-like
        File, or "-" for standard input; plain, gzip or bgzip.
    length : float, optional
        Length of the region in bp; needed by ms and MaCS, whose positions are relative.
    format : str, optional
        'ms', 'mbs', 'macs', 'fasta' or 'vcf'; told from the content if not given.
    samples : iterable of str, or path, optional
        Samples to keep (VCF), or a file with one name a line.
    phase : str
        'auto': a heterozygous call with '/' sets `Alignment.unphased`; 'ignore': '/' is taken as phased.
    block_bytes : int
        Bytes of input that each thread handles at a time; results never depend on it.
    threads : int, optional
        Threads that inflate and parse; results never depend on it. As many as there are cores, at most 8, if not given.
    prefetch : int
        After an alignment whose packed planes take fewer bytes than this, read the next one in the background at once,
        so that two are in memory. Pipes are not read before their time.
    progress : callable, optional
        Called with (bytes read, bytes in all or None) as stored on disk, from any thread, and only while the caller
        waits for an alignment.

    Yields
    ------
    Alignment

    Raises
    ------
    InputError
        Anything wrong with the input; the message names the line.
    UsageError
        An unknown `format` or `phase`, or fewer than one thread.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; one of {', '.join(FORMATS)}")
    if phase not in ("auto", "ignore"):
        raise UsageError(f"unknown phase {phase!r}; 'auto' or 'ignore'")
    gate = ProgressGate(progress or (lambda _done, _total: None))
    chunk_bytes = max(1, block_bytes // 4)
    with (
        Workers(threads) as workers,
        Source(path, chunk_bytes=chunk_bytes, progress=gate, workers=workers) as source,
    ):
        alignments = _settled(_read(source, workers, format, length, samples, phase, max(1, block_bytes)), workers)
        yield from one_ahead(alignments, prefetch if source.repeatable else 0, gate, workers.stop)


def _settled(alignments: Iterator[Alignment], workers: Workers) -> Generator[Alignment, None, None]:
    """The same alignments; while the caller has one, no worker is busy."""
    for alignment in alignments:
        workers.settle()
        yield alignment
        del alignment  # before the next one is read


def _read(
    source: Source,
    workers: Workers,
    format: str | None,
    length: float | None,
    samples: Iterable[str] | str | os.PathLike[str] | None,
    phase: str,
    block_bytes: int,
) -> Iterator[Alignment]:
    """The alignments as the reader of their format gives them."""
    window = ByteWindow(source, source.name)
    kind = sniff(window) if format is None else format
    if kind in ("ms", "mbs"):
        mbs = kind == "mbs"
        yield from read_ms(window, length=length, mbs=mbs, batch_bytes=block_bytes, workers=workers)
    elif kind == "macs":
        yield from read_macs(window, length=length, batch_bytes=block_bytes, workers=workers)
    elif kind == "fasta":
        yield from _read_fasta(source, window, workers)
    else:
        names = _sample_names(samples)
        yield from read_vcf(window, samples=names, phase=phase, batch_bytes=block_bytes, workers=workers)


def _read_fasta(source: Source, window: ByteWindow, workers: Workers) -> Iterator[Alignment]:
    """Files are opened a second time, anything else is kept in memory."""
    if not source.repeatable:
        kept = window.remember()
        yield from read_fasta(window, lambda: ByteWindow(kept, source.name), workers)
        return
    with Source(source.name, chunk_bytes=source.chunk_bytes, workers=workers) as second:
        yield from read_fasta(window, lambda: ByteWindow(second, source.name), workers)


def _sample_names(samples: Iterable[str] | str | os.PathLike[str] | None) -> list[str] | None:
    """Names to keep: as given, or the lines of a file."""
    if samples is None:
        return None
    if not isinstance(samples, (str, os.PathLike)):
        return list(samples)
    with Source(samples) as source:
        text = b"".join(source).decode("utf-8", "replace")
    return [name for line in text.splitlines() if (name := line.strip())]
