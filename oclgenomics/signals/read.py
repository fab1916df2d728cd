"""Reads signals: one entry for all formats."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from oclgenomics.errors import OclGenomicsError, ParameterError
from oclgenomics.io.source import Progress
from oclgenomics.signals.files import SignalFiles, signal_files, signal_format
from oclgenomics.signals.model import Signals
from oclgenomics.signals.readers.apart import ReaderProcess
from oclgenomics.signals.readers.numpy_files import read_npy, read_npz
from oclgenomics.signals.readers.raw_read import RawRead, check_read, damaged
from oclgenomics.signals.trimming import TrimOptions, trim_start

__all__ = ["BLOCK_SAMPLES", "read_signals"]

BLOCK_SAMPLES = 1 << 24
MAX_READS = 1 << 20  # of a block; many reads without samples fill memory, too
_OWN_READERS = {"npz": read_npz, "npy": read_npy}


def read_signals(
    paths: SignalFiles,
    *,
    trim: TrimOptions | None = None,
    max_samples: int | None = None,
    block_samples: int = BLOCK_SAMPLES,
    progress: Progress | None = None,
) -> Iterator[Signals]:
    """Read signals in blocks of whole reads, in the order of the files and of the reads in them.

    The content of a file says what it is, not its name:

    - POD5, FAST5 (of one read or many), SLOW5 and BLOW5. The extras `pod5`, `fast5` and `slow5` bring what reads them.
    - .npz as `write_signals` makes it, or with an array for each read, whose name is the read's.
    - .npy with one read, or with a read in each row. Reads are named after the file, and numbered from 1 on.

    Integers of .npz and .npy are samples of the converter. Floating-point numbers are currents in pA; they are rounded
    to 1/32 pA, and `scale` is 1/32.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, and folders, which stand for all signals in them.
    trim : TrimOptions, optional
        What is left out at the beginning of reads. A read of which nothing is left is kept, with 0 samples.
    max_samples : int, optional
        Samples of each read that are kept, after trimming. So long reads do not fill memory.
    block_samples : int
        Samples of a block, about; one read at least. Reads do not depend on it.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the files.

    Yields
    ------
    Signals
        Each with one read or more.

    Raises
    ------
    InputError
        A file is missing, holds no signals, or is damaged; or a read has currents that 16 bits do not hold.
    MissingDependencyError
        A file is of a format whose package is not installed.
    ParameterError
        `max_samples` or `block_samples` below 1.
    """
    for name, value in (("max_samples", max_samples), ("block_samples", block_samples)):
        if value is not None and value < 1:
            raise ParameterError(name, "must be 1 or more", value)
    return _blocks(signal_files(paths), trim, max_samples, block_samples, progress)


def _blocks(
    files: list[str], trim: TrimOptions | None, max_samples: int | None, block_samples: int, progress: Progress | None
) -> Iterator[Signals]:
    waiting: list[RawRead] = []
    size = 0
    for read in _reads_of_files(files, _needed(trim, max_samples), progress):
        begin = trim_start(read.samples, trim)
        end = len(read.samples) if max_samples is None else min(begin + max_samples, len(read.samples))
        kept = read.samples[begin:end]
        # A view would keep all of a long read in memory.
        waiting.append(read if len(kept) == len(read.samples) else _with_samples(read, kept))
        size += len(kept)
        if size >= block_samples or len(waiting) == MAX_READS:
            yield _block(waiting)
            waiting, size = [], 0
    if waiting:
        yield _block(waiting)


def _with_samples(read: RawRead, kept: np.ndarray[tuple[int], np.dtype[np.int16]]) -> RawRead:
    return replace(read, samples=kept.copy())


def _needed(trim: TrimOptions | None, max_samples: int | None) -> int | None:
    """Samples of a read that have to be read: all where a stall is looked for, which depends on them."""
    if max_samples is None or (trim is not None and trim.stall):
        return None
    return max_samples + (0 if trim is None else trim.extra)


def _block(reads: list[RawRead]) -> Signals:
    return Signals.of(
        [read.samples for read in reads],
        [read.name for read in reads],
        scale=[read.scale for read in reads],
        offset=[read.offset for read in reads],
        rate=[read.rate for read in reads],
        channel=[read.channel for read in reads],
        pore=[read.pore for read in reads],
        molecule=[read.molecule for read in reads],
    )


def _reads_of_files(files: list[str], limit: int | None, progress: Progress | None) -> Iterator[RawRead]:
    kinds = [signal_format(path) for path in files]  # all are looked at before the first one is read
    sizes = [os.path.getsize(path) for path in files]
    done, total = 0, sum(sizes)
    with ReaderProcess() as apart:
        for path, kind, size in zip(files, kinds, sizes, strict=True):
            reads = _own_reads(path, kind, limit) if kind in _OWN_READERS else apart.read(kind, path, limit)
            for read in reads:
                yield check_read(read, path)
                if progress is not None:
                    progress(done + int(size * read.share), total)
            done += size
            if progress is not None:
                progress(done, total)


def _own_reads(path: str, kind: str, limit: int | None) -> Iterator[RawRead]:
    """The reads of a NumPy file; whatever the library raises becomes one line."""
    last: str | None = None
    try:
        for read in _OWN_READERS[kind](path, limit):
            yield read
            last = read.name
    except OclGenomicsError:
        raise
    except Exception as error:  # besides BadZipFile and ValueError: zlib.error, MemoryError, NotImplementedError...
        reason = " ".join(str(error).split()) or type(error).__name__
        raise damaged(f".{kind}", last, reason, path) from error
