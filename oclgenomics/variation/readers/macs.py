"""MaCS: one line per site, "SITE: index position [time] haplotypes"; with and without the column of times.

Behind the sites MaCS writes how many haplotypes and sites there are (TOTAL_SAMPLES, TOTAL_SITES) and which sites its
ascertainment selected, so a file that is cut off between two lines lacks these.

Blocks of lines are parsed in threads; what depends on the blocks before (the order of the positions, the number of
haplotypes) is checked with the results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.numbers import whole_number
from oclgenomics.io.workers import Workers
from oclgenomics.notices import tell_once
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import base_pairs
from oclgenomics.variation.packing import full_words, join_sites, pack_states, words_for
from oclgenomics.variation.readers.input_buffer import InputBuffer, bytes_at
from oclgenomics.variation.readers.line_blocks import LineBlock, parse_blocks

BLOCK_BYTES = 1 << 22
_PREFIX = 96  # bytes that hold index, position and time
_TOTAL_SITES = "TOTAL_SITES:"
_ZERO, _ONE = ord("0"), ord("1")
_GAP, _N = (ord(character) - _ZERO & 0xFF for character in "-N")


def read_macs(
    buffer: InputBuffer, *, length: float | None, block_bytes: int = BLOCK_BYTES, workers: Workers | None = None
) -> Iterator[Alignment]:
    """Read the alignments of a MaCS output; a further "COMMAND:" or "//" line begins the next one, and so does a site
    behind a "TOTAL_SITES:" line (MaCS' `-i`).

    A line on standard error says that the last alignment has no line of totals behind its sites.

    Parameters
    ----------
    buffer : InputBuffer
        The input, unconsumed.
    length : float
        Length of the region, bp; position p lies at trunc(float32(p) * float32(length)).
    block_bytes : int
        Bytes of lines that one thread handles at once; results do not depend on it.
    workers : Workers, optional
        The threads; none but the caller's if not given.

    Yields
    ------
    Alignment
        Binary.

    Raises
    ------
    InputError
        No `length`, no sites, a line with too few columns, haplotypes of another length than in the first line, a
        character other than 0 1 - N, a position that is no number between 0 and 1 or goes back, fewer sites than
        "TOTAL_SITES:" says, no totals behind the last alignment where others have them.
    """
    if length is None:
        raise InputError(
            "MaCS positions are relative; give the length of the region in bp (`length`)", source=buffer.source
        )
    replicate, sites, ended = 1, _Sites(buffer.source, 1, length), False
    for block, parts in parse_blocks(buffer, block_bytes, workers or Workers(1), _parse):
        for part in parts:
            if sites.count and (part.restart or (sites.ended and len(part.positions))):
                ended |= sites.ended
                yield sites.finish()
                replicate += 1
                sites = _Sites(buffer.source, replicate, length)
            if len(part.positions):
                sites.add(block, part)
            sites.end(part)
    if replicate == 1 and not sites.count:
        raise InputError("no 'SITE:' line found", source=buffer.source)
    if sites.count:
        _look_for_end(sites, buffer.source, replicate, others=ended)
        yield sites.finish()


def _look_for_end(sites: _Sites, source: str, replicate: int, *, others: bool) -> None:
    """Refuse a last alignment without totals where `others` have them; where none has, say that a cut would not show.

    Raises
    ------
    InputError
        The input is cut off.
    """
    if sites.ended:
        return
    if others:
        raise InputError(
            f"the input is cut off: alignment {replicate}, the last, has no TOTAL_SITES line where others have one",
            source=source,
        )
    tell_once(
        f"warning: {source}: no TOTAL_SITES line, with which MaCS ends; the input may be cut off "
        f"after {sites.count} sites"
    )


@dataclass
class _Part:
    """Lines of a block that belong to one alignment.

    Attributes
    ----------
    restart : bool
        Another alignment begins here.
    ended : bool
        Behind the sites comes a line that MaCS writes when all of them are out.
    total : int
        Sites that there are at least, of the TOTAL_SITES line; 0 without one.
    record : int
        The first site in the block.
    haplotypes : int
        At every site.
    positions : ndarray of float64, shape (sites,)
        From 0 to 1, in order.
    bits : ndarray of uint32, shape (sites, words)
        As in `Alignment`, but site-major.
    valid, gap : ndarray of uint32, shape (sites, words), or None
        None if all is observed, and if there are no gaps.
    """

    restart: bool
    ended: bool = False
    total: int = 0
    record: int = 0
    haplotypes: int = 0
    positions: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    bits: NDArray[np.uint32] = field(default_factory=lambda: np.zeros((0, 0), np.uint32))
    valid: NDArray[np.uint32] | None = None
    gap: NDArray[np.uint32] | None = None


def _parse(block: LineBlock) -> list[_Part]:
    """All that can be said of a block without those before.

    Raises
    ------
    InputError
        Something is wrong with a line; not always with the first that is bad.
    """
    is_site, restart, is_end = _line_kinds(block)
    begins = restart.copy()
    begins[1:] |= is_end[:-1] & ~is_end[1:]
    parts = []
    for lines in np.split(np.arange(len(block.starts)), np.flatnonzero(begins)):
        if len(lines):
            sites, ends = lines[is_site[lines]], lines[is_end[lines]]
            part = _parse_sites(block, sites) if len(sites) else _Part(False)
            total = max((_total_of(block, int(line)) for line in ends), default=0)
            parts.append(replace(part, restart=bool(restart[lines[0]]), ended=len(ends) > 0, total=total))
    return parts


def _parse_sites(block: LineBlock, lines: NDArray[np.int64]) -> _Part:
    """The sites of some lines, which have as many haplotypes as the first."""
    start, end = int(block.starts[lines[0]]), int(block.ends[lines[0]])
    tabs = np.flatnonzero(block.data[start:end] == ord("\t"))
    haplotypes = end - start - int(tabs[-1]) - 1 if len(tabs) else 0
    positions = _read_positions(block, lines)
    states = _read_states(block, lines, haplotypes)
    complete = bool(states.max(initial=0) <= 1)
    gap = None if complete else states == _GAP
    return _Part(
        restart=False, record=int(lines[0]), haplotypes=haplotypes, positions=positions,
        bits=pack_states(states if complete else states == 1),
        valid=None if complete else pack_states(states <= 1),
        gap=None if gap is None or not gap.any() else pack_states(gap),
    )  # fmt: skip


def _line_kinds(block: LineBlock) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Lines of sites, lines that begin another alignment, and lines of totals, which end one."""
    head = bytes_at(block.data, block.starts, 8)
    is_site = (head[:, :5] == np.frombuffer(b"SITE:", np.uint8)).all(axis=1)
    restart = (head == np.frombuffer(b"COMMAND:", np.uint8)).all(axis=1) | (head[:, :2] == ord("/")).all(axis=1)
    is_end = np.zeros(len(head), bool)
    for line in np.flatnonzero((head[:, :6] == np.frombuffer(b"TOTAL_", np.uint8)).all(axis=1)):
        text = block.text(int(block.starts[line]), int(block.ends[line]))
        is_end[line] = text.startswith(("TOTAL_SAMPLES:", _TOTAL_SITES))
    return is_site, restart, is_end


def _total_of(block: LineBlock, line: int) -> int:
    """The number of a TOTAL_SITES line; else 0."""
    text = block.text(int(block.starts[line]), int(block.ends[line]))
    return whole_number(text.removeprefix(_TOTAL_SITES).strip().encode()) or 0 if text.startswith(_TOTAL_SITES) else 0


def _read_states(block: LineBlock, lines: NDArray[np.int64], haplotypes: int) -> NDArray[np.uint8]:
    """Characters of the haplotypes less '0', uint8 (sites, haplotypes)."""
    begins = block.ends[lines] - haplotypes
    wrong = np.flatnonzero((begins <= block.starts[lines]) | (block.data[begins - 1] != ord("\t")))
    if len(wrong):
        raise _length_error(block, int(lines[wrong[0]]), haplotypes)
    states = bytes_at(block.data, begins, haplotypes)
    states -= np.uint8(_ZERO)
    if states.max(initial=0) > 1:
        illegal = (states > 1) & (states != _GAP) & (states != _N)
        if illegal.any():
            row, column = np.argwhere(illegal)[0].tolist()
            at = int(begins[row]) + column
            text = block.text(at, at + 1)
            raise block.error(int(lines[row]), f"{text!r} among the haplotypes; only 0 1 - N are allowed", at)
    return states


def _length_error(block: LineBlock, record: int, haplotypes: int) -> InputError:
    text = block.text(int(block.starts[record]), int(block.ends[record])).split("\t")[-1]
    return block.error(record, f"{len(text)} haplotypes; the first site has {haplotypes}")


def _read_positions(block: LineBlock, lines: NDArray[np.int64]) -> NDArray[np.float64]:
    """Positions of the sites as float64, checked."""
    prefix = bytes_at(block.data, block.starts[lines], _PREFIX)
    tabs = np.cumsum(prefix == ord("\t"), axis=1)
    prefix[(tabs != 2) | (prefix == ord("\t"))] = ord(" ")
    texts = prefix.view(f"S{_PREFIX}").ravel()
    inside = np.arange(_PREFIX) < (block.ends - block.starts)[lines, None]
    complete = np.where(inside, tabs, 0).max(axis=1) >= 3
    try:
        positions = np.char.strip(texts).astype(np.float64)
    except ValueError:
        positions = np.array([_float_or_nan(text) for text in texts])
    no_number = (prefix == ord("_")).any(axis=1)  # which Python's numbers may have
    bad = np.flatnonzero(~complete | no_number | ~((positions >= 0) & (positions <= 1)))
    if len(bad):
        wanted = "SITE:, index, position from 0 to 1 and haplotypes, parted by tabs"
        raise block.error(int(lines[bad[0]]), f"not a site; a line has {wanted}")
    _check_order(block, lines, positions)
    return positions


def _check_order(
    block: LineBlock, lines: NDArray[np.int64], positions: NDArray[np.float64], before: float = 0.0
) -> None:
    """Refuse positions that go back; `before` comes before the first."""
    back = np.flatnonzero(np.diff(positions, prepend=before) < 0)
    if len(back):
        raise block.error(int(lines[back[0]]), "the position goes back; sort the sites by position")


class _Sites:
    """Collects the sites of one alignment, site-major."""

    def __init__(self, source: str, replicate: int, length: float) -> None:
        self._source, self._replicate, self._length = source, replicate, length
        self.count = 0
        self.ended = False
        self._total = 0
        self._haplotypes = 0
        self._last = 0.0
        self._positions: list[NDArray[np.float64]] = []
        self._bits: list[NDArray[np.uint32]] = []
        self._valid: list[NDArray[np.uint32] | None] = []  # None: all observed
        self._gap: list[NDArray[np.uint32] | None] = []  # None: no gaps

    def add(self, block: LineBlock, part: _Part) -> None:
        """Append the sites of some lines."""
        if not self.count:
            self._haplotypes = part.haplotypes
        _check_order(block, np.array([part.record]), part.positions[:1], self._last)
        if part.haplotypes != self._haplotypes or not self._haplotypes:
            raise _length_error(block, part.record, self._haplotypes)
        self.count += len(part.positions)
        self._last = float(part.positions[-1])
        self._positions.append(part.positions)
        self._bits.append(part.bits)
        self._valid.append(part.valid)
        self._gap.append(part.gap)

    def end(self, part: _Part) -> None:
        """Note the totals of a part, whose sites have been added."""
        self.ended |= part.ended and self.count > 0
        self._total = max(self._total, part.total)

    def finish(self) -> Alignment:
        """Join the parts.

        Raises
        ------
        InputError
            There are fewer sites than the totals say; ascertainment selects some, so there may be more.
        """
        if self.count < self._total:
            raise InputError(
                f"alignment {self._replicate} has {self.count} 'SITE:' lines where TOTAL_SITES says {self._total}: "
                "lines are lost; make the input again (or delete that line, if they were left out on purpose)",
                source=self._source,
            )
        words = words_for(self._haplotypes)
        valid = self._mask(self._valid, full_words(self._haplotypes))
        gap = self._mask(self._gap, np.zeros(words, np.uint32))
        bits = join_sites(self._bits, words)
        return Alignment(
            name=str(self._replicate), positions=base_pairs(np.concatenate(self._positions), self._length), bits=bits,
            valid=valid, gap=gap, haplotypes=self._haplotypes,
            letters=np.tile(np.array([_ZERO, _ONE], np.uint8), (self.count, 1)), replicate=self._replicate,
            source=self._source,
        )  # fmt: skip

    def _mask(self, parts: list[NDArray[np.uint32] | None], otherwise: NDArray[np.uint32]) -> NDArray[np.uint32] | None:
        """The parts joined, with the words `otherwise` at the sites of those that are None; None if all are."""
        if all(part is None for part in parts):
            return None
        shapes = [bits.shape for bits in self._bits]
        filled = [
            np.broadcast_to(otherwise, shape) if part is None else part
            for part, shape in zip(parts, shapes, strict=True)
        ]
        return join_sites(filled, len(otherwise))


def _float_or_nan(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
