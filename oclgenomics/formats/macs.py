"""MaCS: one line per site, "SITE: index position [time] haplotypes"; with and without the column of times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import InputError
from .alignment import Alignment, words_for
from .batch import Batch, next_batch
from .bytes_at import windows
from .numbers import base_pairs
from .packing import full_words, join_sites, pack_states
from .window import ByteWindow

__all__ = ["BATCH_BYTES", "read_macs"]

BATCH_BYTES = 1 << 20
_PREFIX = 96  # bytes that hold index, position and time
_ZERO, _ONE = ord("0"), ord("1")
_GAP, _N = (ord(character) - _ZERO & 0xFF for character in "-N")


def read_macs(window: ByteWindow, *, length: float | None, batch_bytes: int = BATCH_BYTES) -> Iterator[Alignment]:
    """Read the alignments of a MaCS output; a further "COMMAND:" or "//" line begins the next one.

    Parameters
    ----------
    window : ByteWindow
        The input, unconsumed.
    length : float
        Length of the region, bp; position p lies at trunc(float32(p) * float32(length)).
    batch_bytes : int
        Bytes of lines handled at once; results do not depend on it.

    Yields
    ------
    Alignment
        Binary.

    Raises
    ------
    InputError
        No `length`, no sites, a line with too few columns, haplotypes of another length than in the first line, a
        character other than 0 1 - N, a position that is no number between 0 and 1 or goes back.
    """
    if length is None:
        raise InputError(
            "MaCS positions are relative; give the length of the region in bp (--length)", source=window.source
        )
    replicate, sites = 1, _Sites(window.source, 1, length)
    while (batch := next_batch(window, batch_bytes)) is not None:
        if not len(batch.starts):
            continue
        is_site, restart = _line_kinds(batch)
        for part in np.split(np.arange(len(batch.starts)), np.flatnonzero(restart)):
            if len(part) and restart[part[0]] and sites.count:
                yield sites.finish()
                replicate += 1
                sites = _Sites(window.source, replicate, length)
            lines = part[is_site[part]]
            if len(lines):
                sites.add(batch, lines)
    if replicate == 1 and not sites.count:
        raise InputError("no 'SITE:' line found", source=window.source)
    if sites.count:
        yield sites.finish()


def _line_kinds(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Lines of sites, and lines that begin another alignment."""
    head = windows(batch.data, batch.starts, 8)
    is_site = (head[:, :5] == np.frombuffer(b"SITE:", np.uint8)).all(axis=1)
    restart = (head == np.frombuffer(b"COMMAND:", np.uint8)).all(axis=1) | (head[:, :2] == ord("/")).all(axis=1)
    return is_site, restart


class _Sites:
    """Collects the sites of one alignment, site-major."""

    def __init__(self, source: str, replicate: int, length: float) -> None:
        self._source, self._replicate, self._length = source, replicate, length
        self.count = 0
        self._haplotypes = 0
        self._last = 0.0
        self._positions: list[np.ndarray] = []
        self._bits: list[np.ndarray] = []
        self._valid: list[np.ndarray | None] = []  # None: all observed
        self._gap: list[np.ndarray | None] = []  # None: no gaps

    def add(self, batch: Batch, lines: np.ndarray) -> None:
        """Append the sites of some lines."""
        starts, ends = batch.starts[lines], batch.ends[lines]
        if not self.count:
            last_tab = np.flatnonzero(batch.data[starts[0] : ends[0]] == ord("\t"))
            self._haplotypes = int(ends[0] - starts[0] - last_tab[-1] - 1) if len(last_tab) else 0
        self._positions.append(self._read_positions(batch, lines))
        states = self._states(batch, lines)
        self.count += len(lines)
        complete = bool(states.max() <= 1)
        gap = None if complete else states == _GAP
        self._bits.append(pack_states(states if complete else states == 1))
        self._valid.append(None if complete else pack_states(states <= 1))
        self._gap.append(None if gap is None or not gap.any() else pack_states(gap))

    def _states(self, batch: Batch, lines: np.ndarray) -> np.ndarray:
        """Characters of the haplotypes less '0', uint8 (sites, haplotypes)."""
        begins = batch.ends[lines] - self._haplotypes
        wrong = np.flatnonzero((begins <= batch.starts[lines]) | (batch.data[begins - 1] != ord("\t")))
        states = windows(batch.data, begins, self._haplotypes)
        states -= np.uint8(_ZERO)
        if len(wrong) or not self._haplotypes:
            self._refuse_length(batch, int(lines[wrong[0]] if len(wrong) else lines[0]))
        if states.max() > 1:
            illegal = (states > 1) & (states != _GAP) & (states != _N)
            if illegal.any():
                self._refuse_character(batch, lines, illegal)
        return states

    def _refuse_length(self, batch: Batch, record: int) -> None:
        text = batch.text(int(batch.starts[record]), int(batch.ends[record])).split("\t")[-1]
        raise batch.error(record, f"{len(text)} haplotypes; the first site has {self._haplotypes}")

    def _refuse_character(self, batch: Batch, lines: np.ndarray, illegal: np.ndarray) -> None:
        row, column = np.argwhere(illegal)[0].tolist()
        at = int(batch.ends[lines[row]]) - self._haplotypes + column
        raise batch.error(
            int(lines[row]), f"{batch.text(at, at + 1)!r} among the haplotypes; only 0 1 - N are allowed", at
        )

    def _read_positions(self, batch: Batch, lines: np.ndarray) -> np.ndarray:
        """Positions of the sites as float64, checked."""
        prefix = windows(batch.data, batch.starts[lines], _PREFIX)
        tabs = np.cumsum(prefix == ord("\t"), axis=1)
        prefix[(tabs != 2) | (prefix == ord("\t"))] = ord(" ")
        texts = prefix.view(f"S{_PREFIX}").ravel()
        inside = np.arange(_PREFIX) < (batch.ends - batch.starts)[lines, None]
        complete = np.where(inside, tabs, 0).max(axis=1) >= 3
        try:
            positions = np.char.strip(texts).astype(np.float64)
        except ValueError:
            positions = np.array([_float_or_nan(text) for text in texts])
        bad = np.flatnonzero(~complete | ~((positions >= 0) & (positions <= 1)))
        if len(bad):
            wanted = "SITE:, index, position from 0 to 1 and haplotypes, parted by tabs"
            raise batch.error(int(lines[bad[0]]), f"not a site; a line has {wanted}")
        back = np.flatnonzero(np.diff(positions, prepend=self._last) < 0)
        if len(back):
            raise batch.error(int(lines[back[0]]), "the position goes back; sort the sites by position")
        self._last = float(positions[-1])
        return positions

    def finish(self) -> Alignment:
        """Join the parts."""
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

    def _mask(self, parts: list[np.ndarray | None], otherwise: np.ndarray) -> np.ndarray | None:
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
