"""Writes files of named arrays with checksums; `array_layout` says what lies where."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.array_layout import (
    ALIGNMENT,
    END,
    FOOT,
    HEAD,
    KEY,
    MAX_DIMENSIONS,
    PIECE_BYTES,
    TYPES,
    Description,
    FileKind,
    Section,
    checksum,
)
from oclgenomics.io.atomic_file import WholeFile, whole_file
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.siphash import BLOCK_BYTES, block_sums, sum_of_sums
from oclgenomics.io.workers import Workers

THREADS = 8  # that write and make checksums
NO_SUM = "0" * 16


def write_arrays(
    path: str | os.PathLike[str],
    kind: FileKind,
    program: str,
    metadata: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write a file, whole or not at all. Equal arguments give equal bytes.

    Parameters
    ----------
    path : path
    kind : FileKind
    program : str
        Version of the program.
    metadata : mapping
        Anything that JSON knows.
    arrays : mapping of str to ndarray
        Of integers, float32 or float64. They are written in this order.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    ValueError
        An array of another type or with too many dimensions, or metadata that JSON does not know.
    """
    sections, stored = _laid_out(arrays)
    description = Description(program, metadata, sections)
    first = len(_head_of(kind, description))  # checksums do not change it
    places = [first + section.offset for section in sections]
    in_blocks = kind.version >= kind.blocks_since
    with whole_file(path) as file, Workers(min(THREADS, usable_cores())) as threads:
        work = partial(_store, file if file.seekable else None, in_blocks)
        begun = [_begun(threads, work, place, pieces) for place, pieces in zip(places, stored, strict=True)]
        sums = [_sum_of(found, pieces, in_blocks) for found, pieces in zip(begun, stored, strict=True)]
        summed = [replace(section, checksum=f"{sum_:016x}") for section, sum_ in zip(sections, sums, strict=True)]
        head = _head_of(kind, description._replace(sections=summed))
        foot = FOOT.pack(checksum(KEY, head), END)
        if file.seekable:
            file.write_at(head, 0)
            file.write_at(foot, first + sum(section.filled_bytes for section in sections))
        else:
            file.write(head)
            for piece in chain.from_iterable(stored):
                file.write(piece.data)
            file.write(foot)


def _store(file: WholeFile | None, in_blocks: bool, piece: NDArray[np.uint8], place: int) -> NDArray[np.uint64]:
    """Write a piece to its place, if its file has places, and return the checksums of its blocks if they are wanted."""
    if file is not None:
        file.write_at(piece.data, place)
    return block_sums(KEY, piece if in_blocks else piece[:0])


def _begun(
    threads: Workers,
    work: Callable[[NDArray[np.uint8], int], NDArray[np.uint64]],
    place: int,
    pieces: Sequence[NDArray[np.uint8]],
) -> list[Future[NDArray[np.uint64]]]:
    """Let threads store a section from its place on."""
    places = accumulate(map(len, pieces), initial=place)
    return [threads.submit(work, piece, at) for piece, at in zip(pieces, places, strict=False)]


def _sum_of(begun: Sequence[Future[NDArray[np.uint64]]], pieces: Sequence[NDArray[np.uint8]], in_blocks: bool) -> int:
    """The checksum of a section, all of which is stored."""
    whole = None if in_blocks else checksum(KEY, *(piece.data for piece in pieces))
    sums = [stored.result() for stored in begun]
    return sum_of_sums(KEY, np.concatenate(sums)) if whole is None else whole


def _laid_out(arrays: Mapping[str, NDArray[Any]]) -> tuple[list[Section], list[list[NDArray[np.uint8]]]]:
    """The sections of a file, still without checksums, and the bytes of each in pieces of whole blocks but the last."""
    sections: list[Section] = []
    stored: list[list[NDArray[np.uint8]]] = []
    offset = 0
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        if plain.dtype.str not in TYPES or array.ndim > MAX_DIMENSIONS:
            raise ValueError(f"array {name!r} of {array.dtype} with {array.ndim} dimensions cannot be written")
        data = plain.reshape(-1).view(np.uint8)
        whole = len(data) // BLOCK_BYTES * BLOCK_BYTES
        pieces = [data[begin : min(begin + PIECE_BYTES, whole)] for begin in range(0, whole, PIECE_BYTES)]
        filled = np.append(data[whole:], np.zeros(-len(data) % ALIGNMENT, np.uint8))
        sections.append(Section(name, plain.dtype.str, array.shape, offset, NO_SUM))
        stored.append([*pieces, filled])
        offset += whole + len(filled)
    return sections, stored


def _head_of(kind: FileKind, description: Description) -> bytes:
    """The head of a file, and its description."""
    text = description.pack()
    return HEAD.pack(kind.mark, kind.version, len(text)) + text
