"""Writes counted k-mers, and matrices of counts, as arrays for NumPy."""

from __future__ import annotations

import contextlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import WholeFile, open_unnamed, temporary_folder
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import SelectedKmers
from oclgenomics.kmers.sets.rows import MatrixRows

COPIED = 1 << 20  # bytes at a time


def write_npz(kmers: SelectedKmers, stream: IO[bytes]) -> None:
    """Write arrays that `numpy.load` reads.

    They are `keys`, uint64 (words, n) as `oclgenomics.kmers.database.keys` makes them; `counts`, uint32 (n,); `k`,
    int64; and `canonical`, bool.
    """
    shape = key_words(kmers.k), kmers.distinct
    with zipfile.ZipFile(stream, "w", allowZip64=True) as archive:
        _write_values(archive, k=np.int64(kmers.k), canonical=np.bool_(kmers.canonical))
        with open_member(archive, "keys") as member:
            # Column after column, so that blocks can follow each other.
            write_header(member, "<u8", shape, fortran=True)
            for block in kmers.blocks():
                member.write(np.ascontiguousarray(block.keys.T, "<u8").data)
        with open_member(archive, "counts") as member:
            write_header(member, "<u4", shape[1:])
            for block in kmers.blocks():
                member.write(np.ascontiguousarray(block.counts, "<u4").data)


def _write_values(archive: zipfile.ZipFile, **values: Any) -> None:
    for name, value in values.items():
        with open_member(archive, name) as member:
            np.lib.format.write_array(member, np.asarray(value))


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Begin an array of an archive. The date is fixed, so that equal arrays give equal bytes."""
    return archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)


def write_header(member: IO[bytes], kind: str, shape: tuple[int, ...], *, fortran: bool = False) -> None:
    """Write what an array's bytes follow."""
    np.lib.format.write_array_header_1_0(member, {"descr": kind, "fortran_order": fortran, "shape": shape})


def write_matrix_npz(matrix: MatrixRows, stream: IO[bytes], tmp_dir: str | os.PathLike[str] | None = None) -> int:
    """Write arrays that `numpy.load` reads.

    They are `keys`, uint64 (words, n) as `oclgenomics.kmers.database.keys` makes them; `counts`, uint32 (n, samples);
    `names`, str (samples,); `k`, int64; and `canonical`, bool. An array begins with its size, which is known at the
    end, so keys
    and counts wait in temporary files.

    Returns
    -------
    int
        K-mers.

    Raises
    ------
    OutputError
        The folder for temporary files is missing, not writable or full.
    """
    with _spool(tmp_dir) as (put_keys, keys), _spool(tmp_dir) as (put_counts, counts):
        rows = 0
        for block in matrix.blocks():
            put_keys.write(np.ascontiguousarray(block.keys.T, "<u8").data.cast("B"))
            put_counts.write(np.ascontiguousarray(block.counts, "<u4").data.cast("B"))
            rows += len(block)
        with zipfile.ZipFile(stream, "w", allowZip64=True) as archive:
            names = np.array(matrix.names)
            _write_values(archive, k=np.int64(matrix.k), canonical=np.bool_(matrix.canonical), names=names)
            with open_member(archive, "keys") as member:
                write_header(member, "<u8", (key_words(matrix.k), rows), fortran=True)
                _copy(keys, member)
            with open_member(archive, "counts") as member:
                write_header(member, "<u4", (rows, len(matrix.names)))
                _copy(counts, member)
    return rows


@contextlib.contextmanager
def _spool(tmp_dir: str | os.PathLike[str] | None) -> Iterator[tuple[WholeFile, IO[bytes]]]:
    """A temporary file to write, and the same one to read from its beginning on."""
    folder = temporary_folder(tmp_dir)
    with open_unnamed(folder) as handle, open(handle, "rb", closefd=False) as reading:
        yield WholeFile(f"`tmp_dir` {folder}", handle, OutputError), reading


def _copy(spool: IO[bytes], member: IO[bytes]) -> None:
    spool.seek(0)
    shutil.copyfileobj(spool, member, COPIED)
