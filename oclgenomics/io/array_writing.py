"""Writes files of named arrays with checksums; `array_layout` says what lies where."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.array_layout import (
    ALIGNMENT,
    BLOCK_SUMS,
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
Both = tuple[NDArray[np.uint8], NDArray[np.uint8]]  # the whole blocks of a section, and what is behind them
BlockSummer = Callable[[NDArray[np.uint8]], NDArray[np.uint64]]  # makes checksums of whole blocks


def write_arrays(
    path: str | os.PathLike[str],
    kind: FileKind,
    program: str,
    metadata: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    summer: BlockSummer | None = None,
    sums: Mapping[str, NDArray[np.uint64]] | None = None,
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
    summer : callable, optional
        Makes the checksums of whole blocks of bytes; else the threads that write do so.
    sums : mapping of str to ndarray, uint64, optional
        Checksums of the whole blocks of some arrays, which need not be made any more.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    ValueError
        An array of another type or with too many dimensions, or metadata that JSON does not know.
    """
    sections, stored = _laid_out(arrays, with_sums=kind.holds_sums)
    description = Description(program, metadata, sections)
    first = len(_head_of(kind, description))  # checksums do not change it
    in_blocks = kind.version >= kind.blocks_since
    with whole_file(path) as file, Workers(min(THREADS, usable_cores())) as threads:
        store = _Store(threads, file if file.seekable else None, in_blocks, summer)
        places = [first + section.offset for section in sections]
        known = [(sums or {}).get(name) for name in arrays]
        begun = [store.begin(one, sum_, place) for one, sum_, place in zip(stored, known, places, strict=False)]
        made = [store.sums(*each) for each in zip(stored, known, begun, strict=True)]
        if kind.holds_sums:
            last = _cut(np.concatenate([np.empty(0, np.uint64), *made]).astype("<u8", copy=False))
            made.append(store.sums(last, None, store.begin(last, None, places[-1])))
            stored.append(last)
        checksums = [store.checksum(*both, found) for both, found in zip(stored, made, strict=True)]
        summed = [replace(section, checksum=f"{sum_:016x}") for section, sum_ in zip(sections, checksums, strict=True)]
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


@dataclass(frozen=True)
class _Store:
    """How sections are written and summed: their whole blocks, and the tail behind these."""

    threads: Workers
    file: WholeFile | None
    in_blocks: bool
    summer: BlockSummer | None

    def begin(self, both: Both, known: NDArray[np.uint64] | None, place: int) -> list[Future[NDArray[np.uint64]]]:
        """Let threads store a section from its place on; the results are checksums, as far as threads make them."""
        whole, tail = both
        begins = range(0, len(whole), PIECE_BYTES)
        by_threads = self.summer is None and known is None
        pieces = [(whole[begin : begin + PIECE_BYTES], place + begin, by_threads) for begin in begins]
        return [self.threads.submit(self._store, *one) for one in (*pieces, (tail, place + len(whole), True))]

    def _store(self, piece: NDArray[np.uint8], place: int, summed: bool) -> NDArray[np.uint64]:
        if self.file is not None:
            self.file.write_at(piece.data, place)
        return block_sums(KEY, piece if summed and self.in_blocks else piece[:0])

    def sums(
        self, both: Both, known: NDArray[np.uint64] | None, begun: Sequence[Future[NDArray[np.uint64]]]
    ) -> NDArray[np.uint64]:
        """Return the checksums of the blocks of a section when all of it is stored; none where these do not count."""
        if known is None and self.summer is not None and self.in_blocks:
            known = self.summer(both[0])
        made = [known] if known is not None and self.in_blocks else []
        return np.concatenate([*made, *(stored.result() for stored in begun)])

    def checksum(self, whole: NDArray[np.uint8], tail: NDArray[np.uint8], sums: NDArray[np.uint64]) -> int:
        """Return the checksum of a section, of whose blocks these are the checksums."""
        return sum_of_sums(KEY, sums) if self.in_blocks else checksum(KEY, whole.data, tail.data)


def _laid_out(
    arrays: Mapping[str, NDArray[Any]], *, with_sums: bool
) -> tuple[list[Section], list[tuple[NDArray[np.uint8], NDArray[np.uint8]]]]:
    """The sections of a file, still without checksums, and the bytes of each; `with_sums`, one more, without bytes."""
    sections: list[Section] = []
    stored: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]] = []
    offset = 0
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        if plain.dtype.str not in TYPES or array.ndim > MAX_DIMENSIONS:
            raise ValueError(f"array {name!r} of {array.dtype} with {array.ndim} dimensions cannot be written")
        sections.append(Section(name, plain.dtype.str, array.shape, offset, NO_SUM))
        stored.append(_cut(plain))
        offset += sections[-1].filled_bytes
    if with_sums:
        blocks = sum(section.blocks for section in sections)
        sections.append(Section(BLOCK_SUMS, "<u8", (blocks,), offset, NO_SUM))
    return sections, stored


def _cut(array: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The bytes of a section: whole blocks, and what is behind them."""
    data = array.reshape(-1).view(np.uint8)
    whole = len(data) // BLOCK_BYTES * BLOCK_BYTES
    return data[:whole], np.append(data[whole:], np.zeros(-len(data) % ALIGNMENT, np.uint8))


def _head_of(kind: FileKind, description: Description) -> bytes:
    """The head of a file, and its description."""
    text = description.pack()
    return HEAD.pack(kind.mark, kind.version, len(text)) + text
