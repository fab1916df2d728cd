"""FASTA alignments: sequences of equal length, of which only the polymorphic columns are packed.

The input is read twice: once to see which states each column shows, once to pack the columns that show at least two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.workers import Workers
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import RowPacker, byte_table, combine_rows
from oclgenomics.variation.readers.input_buffer import InputBuffer

_BASES, _GAP, _N, _ILLEGAL = 15, 16, 32, 128  # A, C, G, T are 1, 2, 4, 8
_CODES = byte_table(
    _ILLEGAL,
    {"ACGTU": [1, 2, 4, 8, 8], "acgtu": [1, 2, 4, 8, 8], "-": _GAP, "NXKMRYSWBVHD.?nxkmryswbvhd": _N, ">": 64},
).tobytes()
_BLANKS = b"\r\n\t "
_LETTERS = np.zeros(16, np.uint8)
_LETTERS[[1, 2, 4, 8]] = np.frombuffer(b"ACGT", np.uint8)


def read_fasta(
    buffer: InputBuffer, again: Callable[[], InputBuffer], workers: Workers | None = None
) -> Iterator[Alignment]:
    """Read one alignment.

    Parameters
    ----------
    buffer : InputBuffer
        The input, unconsumed.
    again : callable
        Gives the same input a second time, unconsumed.
    workers : Workers, optional
        Threads that join the parts; none but the caller's if not given.

    Yields
    ------
    Alignment
        One; DNA, haploid; bp is the column counted from 1; state 0 is the first observed base in the order A, C, G, T.
        `skipped` counts the columns with fewer than two bases.

    Raises
    ------
    InputError
        Sequences of different lengths, an empty one, a character that is no base.
    """
    seen, names = _survey(buffer)
    columns = _Columns.of(seen)
    packer = _ColumnPacker(columns)
    for _, codes in _sequences(again()):
        packer.add(codes)
    yield packer.finish(len(seen), tuple(names), buffer.source, workers or Workers(1))


def _sequences(buffer: InputBuffer) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """Name and codes of each sequence, uint8; checks the characters."""
    while (line := buffer.peek_line()) is not None and not line.startswith(b">"):
        if line.strip() and not line.startswith(b";"):
            raise buffer.error("a FASTA file begins with a '>' line")
        buffer.line()
    while (header := buffer.line()) is not None:
        size = buffer.find(ord(">"))
        text = bytes(buffer.held[:size])
        codes = np.frombuffer(text.translate(_CODES, _BLANKS), np.uint8)
        if codes.max(initial=0) >= _ILLEGAL:
            _refuse_character(buffer, text)
        buffer.consume(size, int(np.count_nonzero(buffer.held[:size] == ord("\n"))))
        yield header[1:].split(maxsplit=1)[0].decode("utf-8", "replace") if header[1:].strip() else "", codes


def _refuse_character(buffer: InputBuffer, text: bytes) -> None:
    bad = next(i for i, byte in enumerate(text) if _CODES[byte] >= _ILLEGAL and byte not in _BLANKS)
    raise buffer.error(
        f"{chr(text[bad])!r} in a sequence is no base", line=buffer.line_number + text.count(b"\n", 0, bad)
    )


def _survey(buffer: InputBuffer) -> tuple[NDArray[np.uint8], list[str]]:
    """States seen in each column, uint8 with one bit per state, and the names."""
    names: list[str] = []
    seen = np.zeros(0, np.uint8)
    for name, codes in _sequences(buffer):
        if not names:
            seen = np.zeros(len(codes), np.uint8)
        if len(codes) != len(seen) or not len(codes):
            raise buffer.error(
                f"sequence {len(names) + 1} ({name}) has {len(codes)} columns, the first {len(seen)}; align them",
                line=buffer.line_number - 1,
            )
        names.append(name)
        np.bitwise_or(seen, codes, out=seen)
    return seen, names


@dataclass
class _Columns:
    """Which columns are packed, and how.

    Attributes
    ----------
    index : ndarray of int64, shape (sites,)
        Polymorphic columns, from 0.
    first, second : ndarray of uint8, shape (sites,)
        Codes of the first two observed bases.
    multi_site, multi_code : ndarray, shape (rows,)
        Sites with three or more bases, one row per base.
    missing, gaps : bool
        Whether a packed column has missing states, and gaps among them.
    """

    index: NDArray[np.int64]
    first: NDArray[np.uint8]
    second: NDArray[np.uint8]
    multi_site: NDArray[np.int64]
    multi_code: NDArray[np.uint8]
    missing: bool
    gaps: bool

    @classmethod
    def of(cls, seen: NDArray[np.uint8]) -> _Columns:
        """Choose the columns by the states seen."""
        bases = seen & np.uint8(_BASES)
        index = np.flatnonzero(np.bitwise_count(bases) >= 2)
        chosen, states = bases[index], seen[index]
        first = chosen & (~chosen + np.uint8(1))
        later = chosen ^ first
        second = later & (~later + np.uint8(1))
        row, letter = np.nonzero((chosen[:, None] & np.array([1, 2, 4, 8], np.uint8)) != 0)
        many = (np.bitwise_count(chosen) > 2)[row]
        multi_code = np.left_shift(1, letter[many]).astype(np.uint8)
        missing = bool((states & (_GAP | _N)).any())
        return cls(index, first, second, row[many], multi_code, missing, bool((states & _GAP).any()))


class _ColumnPacker:
    """Packs the chosen columns, 8 sequences at a time."""

    def __init__(self, columns: _Columns) -> None:
        self._columns = columns
        sites = len(columns.index)
        self._bits, self._multi = RowPacker(sites), RowPacker(len(columns.multi_site))
        self._valid = RowPacker(sites) if columns.missing else None
        self._gap = RowPacker(sites) if columns.gaps else None
        self._group = np.zeros((1, 8, sites), np.uint8)
        self._count = 0

    def add(self, codes: NDArray[np.uint8]) -> None:
        """Append a sequence."""
        codes.take(self._columns.index, out=self._group[0, self._count % 8])
        self._count += 1
        if self._count % 8 == 0:
            self._close_group()

    def _close_group(self) -> None:
        """Pack the group; rows without a sequence are 0, neither observed nor gaps."""
        group, columns = self._group, self._columns
        observed = ((group & _BASES) != 0).view(np.uint8)
        self._bits.add(combine_rows(observed & (group != columns.first), 0))
        if self._valid is not None:
            self._valid.add(combine_rows(observed, 0))
        if self._gap is not None:
            self._gap.add(combine_rows((group == _GAP).view(np.uint8), 0))
        self._multi.add(combine_rows((group[:, :, columns.multi_site] == columns.multi_code).view(np.uint8), 0))
        self._group[:] = 0

    def finish(self, length: int, names: tuple[str, ...], source: str, workers: Workers) -> Alignment:
        """The alignment of all sequences, which have `length` columns."""
        if self._count % 8:
            self._close_group()
        columns = self._columns
        monomorphic = length - len(columns.index)
        return Alignment(
            name="1", positions=columns.index.astype(np.int64) + 1, bits=self._bits.finish(workers),
            valid=self._valid.finish(workers) if self._valid else None,
            gap=self._gap.finish(workers) if self._gap else None,
            haplotypes=self._count, letters=_LETTERS[np.stack([columns.first, columns.second], axis=1)],
            multi_site=columns.multi_site.astype(np.int32), multi_bits=self._multi.finish(workers),
            multi_letter=_LETTERS[columns.multi_code], alphabet="dna", samples=names,
            skipped={"monomorphic": monomorphic} if monomorphic else {}, source=source, ordered=False,
        )  # fmt: skip
