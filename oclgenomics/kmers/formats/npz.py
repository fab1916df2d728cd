"""Writes counted k-mers as arrays for NumPy."""

from __future__ import annotations

import zipfile
from typing import IO

import numpy as np

from oclgenomics.kmers.formats.select import SelectedKmers
from oclgenomics.kmers.keys import key_words

__all__ = ["open_member", "write_header", "write_npz"]


def write_npz(kmers: SelectedKmers, stream: IO[bytes]) -> None:
    """Write arrays that `numpy.load` reads.

    They are `keys`, uint64 (words, n) as `oclgenomics.kmers.keys` makes them; `counts`, uint32 (n,); `k`, int64; and
    `canonical`, bool.
    """
    shape = key_words(kmers.k), kmers.distinct
    with zipfile.ZipFile(stream, "w", allowZip64=True) as archive:
        for name, value in (("k", np.int64(kmers.k)), ("canonical", np.bool_(kmers.canonical))):
            with open_member(archive, name) as member:
                np.lib.format.write_array(member, np.asarray(value))
        with open_member(archive, "keys") as member:
            # Column after column, so that blocks can follow each other.
            write_header(member, "<u8", shape, fortran=True)
            for block in kmers.blocks():
                member.write(np.ascontiguousarray(block.keys.T, "<u8").data)
        with open_member(archive, "counts") as member:
            write_header(member, "<u4", shape[1:])
            for block in kmers.blocks():
                member.write(np.ascontiguousarray(block.counts, "<u4").data)


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Begin an array of an archive. The date is fixed, so that equal arrays give equal bytes."""
    return archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)


def write_header(member: IO[bytes], kind: str, shape: tuple[int, ...], *, fortran: bool = False) -> None:
    """Write what an array's bytes follow."""
    np.lib.format.write_array_header_1_0(member, {"descr": kind, "fortran_order": fortran, "shape": shape})
