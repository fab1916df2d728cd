"""Reads signals, one entry for all formats: the files of a path, the format of each, and their reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from oclgenomics.errors import InputError, OclGenomicsError, ParameterError, reason_of
from oclgenomics.io.foreign import HEAD_BYTES, format_name
from oclgenomics.io.raw_file import Progress
from oclgenomics.signals.file_part import FilePart
from oclgenomics.signals.model import Signals
from oclgenomics.signals.readers.apart import ReaderProcess
from oclgenomics.signals.readers.numpy_files import read_npy, read_npz
from oclgenomics.signals.readers.raw_read import RawRead, check_read, damaged
from oclgenomics.signals.trimming import TrimOptions, trim_start

SignalFiles = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
FORMATS = ("npz", "npy", "slow5", "pod5", "fast5")
ENDINGS = (".blow5", ".fast5", ".npy", ".npz", ".pod5", ".slow5")
_MAGIC = {
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",  # without members
    b"\x93NUMPY": "npy",
    b"BLOW5\x01": "slow5",
    b"#slow5_version": "slow5",
    b"\x8bPOD\r\n\x1a\n": "pod5",
    b"\x89HDF\r\n\x1a\n": "fast5",
}
_PACKERS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
FACTS = ("name", "scale", "offset", "rate", "channel", "pore", "molecule")  # of a read
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
        Files, and folders, of which all signals are read. Of a `FilePart`, those of its reads that are in it.
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
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    files = [name for path in given for name in ([path] if isinstance(path, FilePart) else signal_files(path))]
    return _blocks(files, trim, max_samples, block_samples, progress)


def signal_files(paths: SignalFiles) -> list[str]:
    """List the files of paths.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, in this order, and folders. Of a folder, these are all files in it, and in folders in it, that begin as
        signals do or whose names end as theirs; sorted by name.

    Raises
    ------
    InputError
        There is no such file, a folder without signals, or standard input.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [name for path in given for name in _files_of(os.fspath(path))]


def signal_format(path: str) -> str:
    """Return the format of a file, one of `FORMATS`.

    Raises
    ------
    InputError
        It cannot be read, or holds something else.
    """
    if path == "-":
        raise InputError("signals are read from files, not from standard input", source=path)
    head = _head(path)
    kind = _kind(head)
    if kind is not None:
        return kind
    known = format_name(head)
    if known is not None:
        raise InputError(f"is {known}, which has no raw signal; give POD5, FAST5, SLOW5 or BLOW5", source=path)
    packer = next((name for magic, name in _PACKERS.items() if head.startswith(magic)), None)
    if packer is not None:
        raise InputError(f"packed with {packer}; unpack it", source=path)
    trouble = "no signals" if head else "the file is empty"
    raise InputError(f"{trouble}; give POD5, FAST5, SLOW5, BLOW5, .npz or .npy", source=path)


def _kind(head: bytes) -> str | None:
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def _head(path: str) -> bytes:
    """The first bytes of a regular file; anything else could wait for ever, or be read once only."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise InputError("not a regular file; signals are not read from pipes or devices", source=path)
        with open(path, "rb") as file:
            return file.read(HEAD_BYTES)
    except FileNotFoundError as error:
        raise InputError("no such file", source=path) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read ({reason})", source=path) from error


def _files_of(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    found = _in_folder(path, set())
    if not found:
        raise InputError("a folder without signals; give one with POD5, FAST5, SLOW5, BLOW5 or .npz files", source=path)
    return found


def _in_folder(folder: str, above: set[tuple[int, int]]) -> list[str]:
    """The files of signals in a folder; `above` are the folders that it is in, to which links may lead back."""
    found: list[str] = []
    try:
        status = os.stat(folder)
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"the folder cannot be read ({error.strerror})", source=folder) from error
    around = above | {(status.st_dev, status.st_ino)}
    if len(around) == len(above):
        return []
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            found += _in_folder(path, around)
        elif os.path.isfile(path) and (name.lower().endswith(ENDINGS) or _kind(_head(path)) is not None):
            found.append(path)
    return found


def _blocks(
    files: list[str | FilePart],
    trim: TrimOptions | None,
    max_samples: int | None,
    block_samples: int,
    progress: Progress | None,
) -> Iterator[Signals]:
    waiting: list[RawRead] = []
    size = 0
    for read in _reads_of_files(files, _needed(trim, max_samples), progress):
        begin = trim_start(read.samples, trim)
        end = len(read.samples) if max_samples is None else min(begin + max_samples, len(read.samples))
        kept = read.samples[begin:end]
        # A view would keep all of a long read in memory.
        waiting.append(read if len(kept) == len(read.samples) else replace(read, samples=kept.copy()))
        size += len(kept)
        if size >= block_samples or len(waiting) == MAX_READS:
            yield _block(waiting)
            waiting, size = [], 0
    if waiting:
        yield _block(waiting)


def _needed(trim: TrimOptions | None, max_samples: int | None) -> int | None:
    """Samples of a read that have to be read: all where a stall is looked for, which depends on them."""
    if max_samples is None or (trim is not None and trim.stall):
        return None
    return max_samples + (0 if trim is None else trim.extra)


def _block(reads: list[RawRead]) -> Signals:
    facts: dict[str, list[Any]] = {name: [getattr(read, name) for read in reads] for name in FACTS}
    return Signals.of([read.samples for read in reads], facts.pop("name"), **facts)


def _reads_of_files(files: list[str | FilePart], limit: int | None, progress: Progress | None) -> Iterator[RawRead]:
    kinds = [signal_format(os.fspath(path)) for path in files]  # all are looked at before the first one is read
    parts = [file if isinstance(file, FilePart) else FilePart.whole(file) for file in files]
    done, total = 0, sum(map(len, parts))
    with ReaderProcess() as apart:
        for part, kind in zip(parts, kinds, strict=True):
            read_file = _own_reads if kind in _OWN_READERS else apart.read
            for read in read_file(kind, part.path, limit, None if part.is_whole else part):
                yield check_read(read, part.path)
                if progress is not None:
                    progress(done + min(max(int(part.size * read.share) - part.begin, 0), len(part)), total)
            done += len(part)
            if progress is not None:
                progress(done, total)


def _own_reads(kind: str, path: str, limit: int | None, part: FilePart | None) -> Iterator[RawRead]:
    """The reads of a NumPy file; whatever the library raises becomes one line."""
    last: str | None = None
    try:
        for read in _OWN_READERS[kind](path, limit, part):
            yield read
            last = read.name
    except OclGenomicsError:
        raise
    except Exception as error:  # besides BadZipFile and ValueError: zlib.error, MemoryError, NotImplementedError...
        raise damaged(f".{kind}", last, reason_of(error), path) from error
