"""Hudson's ms format, replicates of haplotype rows over sites at relative positions; and mbs, which gives bp."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.numbers import parse_decimals, whole_number
from oclgenomics.io.workers import Workers
from oclgenomics.notices import tell_once
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import MAX_BP, base_pairs
from oclgenomics.variation.packing import WORD_BITS, RowPacker, combine_rows
from oclgenomics.variation.readers.input_buffer import InputBuffer

BLOCK_BYTES = 1 << 22  # rows that one thread takes at once
_FIRST_LOOK = 1 << 17  # rows taken first; a small replicate ends within them
_ZERO, _ONE, _GAP, _N = (ord(c) for c in "01-N")
_LEGAL = np.zeros(256, bool)
_LEGAL[[_ZERO, _ONE, _GAP, _N]] = True


def read_ms(
    buffer: InputBuffer,
    *,
    length: float | None,
    mbs: bool = False,
    exact: bool = False,
    block_bytes: int = BLOCK_BYTES,
    workers: Workers | None = None,
) -> Iterator[Alignment]:
    """Read the replicates of an ms file, one at a time.

    A line on standard error says that there are fewer than the command line in the first line says.

    Parameters
    ----------
    buffer : InputBuffer
        The input, unconsumed.
    length : float
        Length of the region, bp; position p lies at trunc(float32(p) * float32(length)).
    mbs : bool
        Positions are whole bp, `length` is not needed, and `segsites` may count the selected site, which has no column.
    exact : bool
        Give positions with their fractions, too: float64(p) * length.
    block_bytes : int
        Bytes of rows that one thread handles at once; results do not depend on it.
    workers : Workers, optional
        The threads; none but the caller's if not given.

    Yields
    ------
    Alignment
        Binary; haplotypes in the order of the rows. ``segsites: 0`` gives an alignment without sites.

    Raises
    ------
    InputError
        No `length`, no replicate, a row of the wrong length, a character other than 0 1 - N, a number of positions that
        differs from segsites, positions outside 0 to 1 or not in order; an input that ends before the last replicate
        has as many rows as the replicates before, or as the command line in the first line says.
    """
    if length is None and not mbs:
        raise InputError(
            "ms positions are relative; give the length of the region in bp (`length`)", source=buffer.source
        )
    replicate = 0
    workers = workers or Workers(1)
    wanted, replicates = _command_of(buffer.peek_line())  # 0 where nothing is known
    found = _skip_to(buffer, b"//")
    while found:
        replicate += 1
        alignment = _read_replicate(buffer, replicate, None if mbs else length, block_bytes, workers, exact=exact)
        rows = alignment.haplotypes
        short = alignment.sites > 0 and rows < wanted
        if short and not (found := _skip_to(buffer, b"//")):
            raise buffer.error(
                f"the input is cut off: replicate {replicate}, the last, has {rows} haplotype rows where the "
                f"{'first line says' if replicate == 1 else 'replicates before have'} {wanted}"
            )
        wanted = rows if replicate == 1 and not wanted else wanted if rows == wanted or not alignment.sites else 0
        yield alignment
        del alignment  # before the next one is read
        found = found if short else _skip_to(buffer, b"//")
    if not replicate:
        raise InputError("no replicate ('//' line) found", source=buffer.source)
    if replicate < replicates:
        tell_once(
            f"warning: {buffer.source}: {replicate} replicates where the first line says {replicates}; "
            "the input may be cut off between two of them"
        )


def _command_of(line: bytes | None) -> tuple[int, int]:
    """Haplotypes of each replicate and replicates, from the command line that ms and its kin write first (ms 20 100
    ...); else 0."""
    words = (line or b"").split()
    samples, replicates = [whole_number(word) for word in (*words, b"", b"", b"")[1:3]]
    return (0, 0) if samples is None or replicates is None else (samples, replicates)


def _skip_to(buffer: InputBuffer, start: bytes) -> bool:
    """Consume lines up to and with the first that begins with `start`."""
    while (line := buffer.line()) is not None:
        if line.startswith(start):
            return True
    return False


def _read_replicate(
    buffer: InputBuffer, replicate: int, length: float | None, block_bytes: int, workers: Workers, *, exact: bool
) -> Alignment:
    sites = _read_segsites(buffer)
    given = _read_positions(buffer, sites, length) if sites else np.zeros(0, np.float64)
    positions = given.astype(np.int64) if length is None else base_pairs(given, length)
    sites = len(positions)
    rows = _RowReader(buffer, sites, block_bytes, workers)
    if sites:
        rows.read()
        if not rows.haplotypes:
            raise buffer.error(f"replicate {replicate} has no haplotype rows")
    bits, valid, gap = rows.planes()
    letters = np.tile(np.array([_ZERO, _ONE], np.uint8), (sites, 1))
    return Alignment(
        name=str(replicate), positions=positions, bits=bits, valid=valid, gap=gap, haplotypes=rows.haplotypes,
        letters=letters, replicate=replicate, source=buffer.source,
        exact=given * float(length) if exact and length is not None else None,
    )  # fmt: skip


def _read_segsites(buffer: InputBuffer) -> int:
    """The number after 'segsites:'; lines of trees and probabilities may come before it."""
    while (line := buffer.line()) is not None:
        if line.startswith(b"segsites:"):
            sites = whole_number(line.removeprefix(b"segsites:").strip())
            if sites is None:
                raise buffer.error("'segsites:' is not followed by a number", line=buffer.line_number - 1)
            return sites
        if line.startswith(b"//"):
            break
    raise buffer.error("a replicate without a 'segsites:' line", line=buffer.line_number - 1)


def _read_positions(buffer: InputBuffer, sites: int, length: float | None) -> NDArray[np.float64]:
    """The positions as they are written, float64 (sites,), checked: relative to `length`, or bp already without one."""
    while (line := buffer.line()) is not None and not line.startswith((b"positions:", b"//")):
        continue
    at = buffer.line_number - 1
    if line is None or line.startswith(b"//"):
        raise buffer.error("a replicate without a 'positions:' line", line=at)
    try:
        positions = parse_decimals(line.removeprefix(b"positions:"))
    except ValueError as error:
        raise buffer.error("the positions are not all numbers", line=at) from error
    if len(positions) != sites and not (length is None and len(positions) == sites - 1):
        raise buffer.error(f"{len(positions)} positions for {sites} segregating sites", line=at)
    if length is not None and not ((positions >= 0) & (positions <= 1)).all():
        raise buffer.error("positions must lie between 0 and 1 (those in bp are mbs; name this format)", line=at)
    if length is None and not ((positions >= 0) & (positions <= MAX_BP) & (positions == np.trunc(positions))).all():
        raise buffer.error(f"mbs positions are whole numbers of bp, at most {MAX_BP}", line=at)
    back = np.flatnonzero(np.diff(positions) < 0)
    if len(back):
        raise buffer.error(f"the positions go back at site {int(back[0]) + 2}; sort the sites by position", line=at)
    return positions


@dataclass
class _Planes:
    """Byte planes of groups of 8 rows, uint8 (groups, sites); valid and gap are None where all is observed."""

    bits: NDArray[np.uint8]
    valid: NDArray[np.uint8] | None = None
    gap: NDArray[np.uint8] | None = None


def _combine(rows: NDArray[np.uint8]) -> _Planes:
    """Planes of the leading groups, of (groups, 8, sites), that are made of legal characters only."""
    ones, common = np.bitwise_or.reduce(rows, axis=1), np.bitwise_and.reduce(rows, axis=1)
    if not ((ones & ~np.uint8(1)) != _ZERO).any() and not ((common & ~np.uint8(1)) != _ZERO).any():
        return _Planes(combine_rows(rows, _ZERO))
    observed, gap = (rows & ~np.uint8(1)) == _ZERO, rows == _GAP
    legal = _leading_true((observed | gap | (rows == _N)).all(axis=(1, 2)))
    if legal < len(rows):  # what comes after the last row; the rows before it may still be complete
        return _combine(rows[:legal]) if legal else _Planes(np.zeros((0, rows.shape[2]), np.uint8))
    return _Planes(
        combine_rows((rows == _ONE).view(np.uint8), 0),
        combine_rows(observed.view(np.uint8), 0),
        combine_rows(gap.view(np.uint8), 0) if gap.any() else None,
    )


class _RowReader:
    """Packs the haplotype rows of one replicate as they come."""

    def __init__(self, buffer: InputBuffer, sites: int, block_bytes: int, workers: Workers) -> None:
        self.buffer, self.sites = buffer, sites
        self.haplotypes = 0
        self._block_bytes, self._workers = block_bytes, workers
        self._bits = RowPacker(sites)
        self._valid: RowPacker | None = None
        self._gap: RowPacker | None = None
        self._pending: list[NDArray[np.uint8]] = []  # fewer than 8 rows that wait for their byte plane

    def read(self) -> None:
        """Consume rows until a blank line, the next replicate or the end of the input."""
        more = True
        while more:
            if not self._pending:
                self._read_groups()
            more = self._read_single()
        self._flush()

    def planes(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32] | None, NDArray[np.uint32] | None]:
        """bits, valid and gap."""
        valid = self._valid.finish(self._workers) if self._valid else None
        if valid is not None and self.haplotypes % WORD_BITS:
            valid[-1] &= np.uint32((1 << self.haplotypes % WORD_BITS) - 1)  # the rows that filled the last byte plane
        return self._bits.finish(self._workers), valid, self._gap.finish(self._workers) if self._gap else None

    def _read_groups(self) -> None:
        """Take whole groups of 8 rows as long as the bytes look like rows; whatever else comes is left in place."""
        given: deque[NDArray[np.uint8]] = deque()
        for planes in self._workers.map(_combine, self._tables(given)):
            table = given.popleft()
            taken = len(planes.bits)
            self._add(planes)
            self.haplotypes += 8 * taken
            if taken < len(table):
                left = [table[taken:], *given]
                self.buffer.put_back(np.concatenate([part.ravel() for part in left]), 8 * sum(map(len, left)))
                return

    def _tables(self, given: deque[NDArray[np.uint8]]) -> Iterator[NDArray[np.uint8]]:
        """Groups of rows of the right length, (groups, 8, sites), consumed; `given` gets them as they were."""
        wanted = _FIRST_LOOK
        while True:
            pitch = self.sites + 1 + self._carriage_returns()
            self.buffer.require(max(wanted, 8 * pitch))
            groups = min(len(self.buffer), max(wanted, 8 * pitch)) // (8 * pitch)
            table = self.buffer.held[: groups * 8 * pitch].reshape(groups, 8, pitch)
            good = table[:, :, -1] == ord("\n")
            if self.sites + 1 < pitch:
                good &= table[:, :, -2] == ord("\r")
            groups = _leading_true(good.all(axis=1))
            if not groups:
                return
            self.buffer.consume(groups * 8 * pitch, groups * 8)
            given.append(table[:groups])
            yield table[:groups, :, : self.sites]
            wanted = min(4 * wanted, self._block_bytes)

    def _carriage_returns(self) -> int:
        """1 if the next row ends in CR LF."""
        self.buffer.require(self.sites + 2)
        data = self.buffer.held
        return int(len(data) > self.sites and data[self.sites] == ord("\r"))

    def _add(self, planes: _Planes) -> None:
        """Append byte planes."""
        if self._valid is None and planes.valid is not None:
            self._valid = self._catch_up(255)
        if self._gap is None and planes.gap is not None:
            self._gap = self._catch_up(0)
        self._bits.add(planes.bits)
        for packer, own, fill in ((self._valid, planes.valid, 255), (self._gap, planes.gap, 0)):
            if packer is not None:
                packer.add(np.broadcast_to(np.uint8(fill), planes.bits.shape) if own is None else own)

    def _catch_up(self, fill: int) -> RowPacker:
        """A packer that has seen as many byte planes as `bits`, all of them `fill`."""
        packer = RowPacker(self.sites)
        packer.add(np.broadcast_to(np.uint8(fill), (self._bits.planes_added, self.sites)))
        return packer

    def _read_single(self) -> bool:
        """Take one row; False at the end of the replicate."""
        line = self.buffer.peek_line()
        if line is None or not line.strip() or line.startswith(b"//"):
            return False
        line = line.rstrip()
        if len(line) != self.sites:
            raise self.buffer.error(f"a row of {len(line)} characters for {self.sites} segregating sites")
        row = np.frombuffer(line, np.uint8)
        if not _LEGAL[row].all():
            bad = chr(row[np.flatnonzero(~_LEGAL[row])[0]])
            raise self.buffer.error(f"{bad!r} in a haplotype row; only 0 1 - N are allowed")
        self.buffer.line()
        self.haplotypes += 1
        self._pending.append(row)
        if len(self._pending) == 8:
            self._flush()
        return True

    def _flush(self) -> None:
        """Pack the pending rows, filled up to 8 with rows that are dropped again."""
        if not self._pending:
            return
        rows = np.full((1, 8, self.sites), _ZERO, np.uint8)
        rows[0, : len(self._pending)] = self._pending
        self._add(_combine(rows))
        self._pending = []


def _leading_true(flags: NDArray[np.bool_]) -> int:
    """How many True stand before the first False."""
    return len(flags) if flags.all() else int(np.argmin(flags))
