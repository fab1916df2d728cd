"""Writes files of named arrays with checksums; `array_layout` says what lies where."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
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
from oclgenomics.io.workers import Workers

THREADS = 2
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
    with whole_file(path) as file, Workers(min(THREADS, usable_cores())) as threads:
        writing = _start_writing(file, places, stored, threads) if file.seekable else []
        summed = [_summed(section, pieces) for section, pieces in zip(sections, stored, strict=True)]
        head = _head_of(kind, description._replace(sections=summed))
        foot = FOOT.pack(checksum(KEY, head), END)
        if file.seekable:
            file.write_at(head, 0)
            file.write_at(foot, first + sum(section.filled_bytes for section in sections))
        else:
            file.write(head)
            for piece in chain.from_iterable(stored):
                file.write(piece)
            file.write(foot)
        for written in writing:
            written.result()


def _start_writing(
    file: WholeFile, places: Sequence[int], stored: Sequence[Sequence[memoryview]], threads: Workers
) -> list[Future[None]]:
    """Let threads write sections to their places."""
    begun = []
    for place, pieces in zip(places, stored, strict=True):
        ends = accumulate(map(len, pieces), initial=place)
        begun += [threads.submit(file.write_at, piece, at) for piece, at in zip(pieces, ends, strict=False)]
    return begun


def _laid_out(arrays: Mapping[str, NDArray[Any]]) -> tuple[list[Section], list[list[memoryview]]]:
    """The sections of a file, still without checksums, and the bytes of each in pieces."""
    sections: list[Section] = []
    stored: list[list[memoryview]] = []
    offset = 0
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        if plain.dtype.str not in TYPES or array.ndim > MAX_DIMENSIONS:
            raise ValueError(f"array {name!r} of {array.dtype} with {array.ndim} dimensions cannot be written")
        data = plain.reshape(-1).view(np.uint8).data
        pieces = [data[begin : begin + PIECE_BYTES] for begin in range(0, len(data), PIECE_BYTES)]
        filling = memoryview(bytes(-len(data) % ALIGNMENT))
        sections.append(Section(name, plain.dtype.str, array.shape, offset, NO_SUM))
        stored.append([*pieces, filling])
        offset += len(data) + len(filling)
    return sections, stored


def _summed(section: Section, pieces: list[memoryview]) -> Section:
    return replace(section, checksum=f"{checksum(KEY, *pieces):016x}")


def _head_of(kind: FileKind, description: Description) -> bytes:
    """The head of a file, and its description."""
    text = description.pack()
    return HEAD.pack(kind.mark, kind.version, len(text)) + text
