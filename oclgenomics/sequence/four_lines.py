"""FASTQ of any layout rewritten with four lines a record, by vectors: what the device reads.

A record is a line that starts with @; letters, until a line starts with +; that line, which may repeat the title of
the first; then lines of qualities until these are as many as the letters, so a line of qualities may start with @ or +.
White space at the end of a line of letters or qualities is none of them, and blank lines count for nothing. Letters and
qualities are bytes from ! to ~. The rules are those of Cock et al. 2010, doi:10.1093/nar/gkp1137, and Biopython.

A record that has four lines already stays as it is, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sequence.defects import CUT, LENGTHS, NO_LETTER, NO_QUALITY, NOT_AT, TITLES
from oclgenomics.sequence.line_breaks import NEWLINE, RETURN

AT, PLUS = ord("@"), ord("+")
LOWEST, HIGHEST = ord("!"), ord("~")  # of letters and qualities
IS_SPACE = np.isin(np.arange(256), np.frombuffer(b" \t\n\v\f\r", np.uint8))
ENDED, STRAY, BROKEN = -1, -2, -3  # instead of the next record: no more lines, a line of none, a record without its end

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Defect:
    """What is wrong with a text, and where.

    Attributes
    ----------
    kind : int
        Index of `defects.DEFECTS`.
    record : int
        Its number in the text, from 0 on.
    place : int
        Byte of the text.
    """

    kind: int
    record: int
    place: int


@dataclass(frozen=True)
class FourLines:
    """Complete records, rewritten.

    Attributes
    ----------
    text : ndarray, uint8
    used : int
        Bytes of the original that they take.
    records : int
    new, old : ndarray, int64
        Stretches that were copied as they are: where each starts in `text` and in the original, ascending.
    defect : Defect or None
        The first one; `text` is to be left alone then.
    """

    text: NDArray[np.uint8]
    used: int
    records: int
    new: Places
    old: Places
    defect: Defect | None = None

    def place_of(self, place: int) -> int:
        """Return the place in the original of a byte of the text."""
        stretch = int(np.searchsorted(self.new, place, side="right")) - 1
        return int(self.old[stretch]) + place - int(self.new[stretch])


def four_lines(text: NDArray[np.uint8], *, final: bool) -> FourLines:
    """Rewrite the records of a text.

    Parameters
    ----------
    text : ndarray, uint8
        Begins with a record, or with blank lines.
    final : bool
        The input ends with this text: the last line needs no newline, and the last record has to be complete.
    """
    lines = _Lines.of(text, final=final)
    found, stop = _chained(lines, _candidates(lines, final=final), final=final)
    defect = _first_defect(lines, found) or stop.defect
    if defect is not None:
        nothing = np.zeros(1, np.int64)
        return FourLines(text[:0], 0, defect.record, nothing, nothing, defect)
    return _rewritten(lines, found, stop)


@dataclass(frozen=True)
class _Lines:
    """The lines of a text; arrays with an item a line.

    Attributes
    ----------
    text : ndarray, uint8
    starts, ends : ndarray, int64
        Where each line starts, and where its newline is, or the text ends.
    stripped : ndarray, int64
        Where it ends without white space.
    before : ndarray, int64 (lines + 1,)
        Bytes of all lines before, stripped.
    filled : ndarray, int64
        Numbers of the lines that are not blank.
    first : ndarray, uint8
        The first byte of each line that is not blank; 0 for the others.
    odd : ndarray, int64
        Places of bytes that are neither letters nor qualities nor newlines.
    """

    text: NDArray[np.uint8]
    starts: Places
    ends: Places
    stripped: Places
    before: Places
    filled: Places
    first: NDArray[np.uint8]
    odd: Places

    @classmethod
    def of(cls, text: NDArray[np.uint8], *, final: bool) -> _Lines:
        odd = np.flatnonzero((text - np.uint8(LOWEST)) > HIGHEST - LOWEST)  # bytes below wrap around
        is_newline = text[odd] == NEWLINE
        ends, odd = odd[is_newline], odd[~is_newline]
        starts = np.append(np.int64(0), ends + 1)
        if final and starts[-1] < len(text):
            ends = np.append(ends, len(text))
        starts = starts[: len(ends)]
        stripped = _stripped(text, starts, ends) if len(odd) else ends
        sizes = stripped - starts
        first = np.zeros(len(starts), np.uint8)
        filled = np.flatnonzero(sizes)
        first[filled] = text[starts[filled]]
        return cls(text, starts, ends, stripped, np.append(0, np.cumsum(sizes)), filled, first, odd)

    def __len__(self) -> int:
        return len(self.starts)

    def filled_from(self, lines: Places | int) -> Places:
        """The first line that is not blank, from each of these on; as many as there are lines where there is none."""
        return np.append(self.filled, len(self))[np.searchsorted(self.filled, lines)]

    def returns(self) -> NDArray[np.int64]:
        """Of each line, 1 if a carriage return ends it."""
        before = np.maximum(self.ends - 1, 0)
        found: NDArray[np.int64] = ((self.ends > self.starts) & (self.text[before] == RETURN)).astype(np.int64)
        return found


def _stripped(text: NDArray[np.uint8], starts: Places, ends: Places) -> Places:
    stripped = ends.copy()
    left = np.arange(len(ends))
    while len(left := left[stripped[left] > starts[left]]):
        left = left[IS_SPACE[text[stripped[left] - 1]]]
        stripped[left] -= 1
    return stripped


@dataclass(frozen=True)
class _Records:
    """Records as they may be; arrays with an item a record, lines by their numbers.

    Attributes
    ----------
    header : ndarray, int64
    plus : ndarray, int64
        The line that starts with +; as many as there are lines where there is none.
    letters : ndarray, int64
        How many there are.
    end : ndarray, int64
        The line behind the qualities; more than there are lines where these are too few.
    fits : ndarray, bool
        Letters and qualities are equally many.
    """

    header: Places
    plus: Places
    letters: Places
    end: Places
    fits: NDArray[np.bool_]

    def __getitem__(self, which: Places) -> _Records:
        return _Records(self.header[which], self.plus[which], self.letters[which], self.end[which], self.fits[which])


@dataclass(frozen=True)
class _Stop:
    """Where the complete records end: at a line, by its number, or with a defect."""

    line: int
    defect: Defect | None = None


def _candidates(lines: _Lines, *, final: bool) -> _Records:
    """The records that would begin at each line that starts with @."""
    count = len(lines)
    header = np.flatnonzero(lines.first == AT)
    pluses = np.flatnonzero(lines.first == PLUS)
    plus = np.append(pluses, count)[np.searchsorted(pluses, header, side="right")]
    has_plus = plus < count
    letters = lines.before[plus] - lines.before[header + 1]
    wanted = lines.before[np.minimum(plus + 1, count)] + letters
    end = np.searchsorted(lines.before, wanted)
    fits = has_plus & (lines.before[np.minimum(end, count)] == wanted)
    # The empty line of qualities of a record without letters may still come, or end with the text.
    may_end = final and count > 0 and bool(lines.ends[-1] < len(lines.text))
    fits &= (letters > 0) | (plus + 1 < count) | may_end
    return _Records(header, plus, letters, end, fits)


def _chained(lines: _Lines, candidates: _Records, *, final: bool) -> tuple[_Records, _Stop]:
    """The records from the first line on that follow each other, and where they end."""
    count = len(lines)
    following = lines.filled_from(candidates.end)
    step = _numbers_at(candidates.header, following, count)
    step[~candidates.fits] = BROKEN
    steps = step.tolist()
    begin = lines.filled_from(0)
    chain: list[int] = []
    at = int(_numbers_at(candidates.header, begin.reshape(1), count)[0])
    while at >= 0:
        chain.append(at)
        at = steps[at]
    broken = candidates[np.array(chain[-1:], np.int64)] if at == BROKEN else None
    found = candidates[np.array(chain[:-1] if at == BROKEN else chain, np.int64)]
    if broken is not None:
        return found, _stop_at(lines, broken, len(found.header), final=final)
    if at == STRAY:
        line = int(following[chain[-1]] if chain else begin)
        return found, _Stop(line, Defect(NOT_AT, len(chain), int(lines.starts[line])))
    return found, _Stop(count)


def _numbers_at(headers: Places, wanted: Places, count: int) -> Places:
    """Which of the headers each wanted line is, or ENDED or STRAY."""
    number = np.searchsorted(headers, wanted)
    is_header = np.append(headers, -1)[number] == wanted
    return np.where(is_header, number, np.where(wanted == count, ENDED, STRAY))


def _stop_at(lines: _Lines, broken: _Records, number: int, *, final: bool) -> _Stop:
    """Stop before a record without its end: a defect, unless that may still come."""
    count = len(lines)
    header, plus, end = int(broken.header[0]), int(broken.plus[0]), int(broken.end[0])
    is_long = plus < count and broken.letters[0] > 0 and end <= count
    if not (is_long or final):
        return _Stop(header)
    kind = LENGTHS if is_long or lines.filled_from(min(plus + 1, count)) < count else CUT
    return _Stop(header, Defect(kind, number, int(lines.starts[header])))


def _first_defect(lines: _Lines, found: _Records) -> Defect | None:
    """What is wrong within records whose lines are all there."""
    candidates = [defect for defect in (_odd_byte(lines, found), _other_title(lines, found)) if defect is not None]
    return min(candidates, key=lambda defect: (defect.record, defect.place), default=None)


def _body(lines: _Lines, found: _Records) -> NDArray[np.bool_]:
    """Say of each line whether it has letters or qualities, or lies between such."""
    marks = np.zeros(len(lines) + 1, np.int8)
    for begin, end in ((found.header + 1, found.plus), (found.plus + 1, found.end)):
        marks[begin] += 1
        marks[end] -= 1
    return np.cumsum(marks[:-1], dtype=np.int8) > 0


def _odd_byte(lines: _Lines, found: _Records) -> Defect | None:
    """The first byte among letters or qualities that is none."""
    if not len(lines):
        return None
    line = np.searchsorted(lines.starts, lines.odd, side="right") - 1
    wrong = np.flatnonzero(_body(lines, found)[line] & (lines.odd < lines.stripped[line]))
    if not len(wrong):
        return None
    first = int(wrong[0])
    record = int(np.searchsorted(found.header, line[first], side="right")) - 1
    kind = NO_LETTER if line[first] < found.plus[record] else NO_QUALITY
    return Defect(kind, record, int(lines.odd[first]))


def _other_title(lines: _Lines, found: _Records) -> Defect | None:
    """The first title behind + that is not the one behind @."""
    size = lines.stripped - lines.starts
    titled = np.flatnonzero(size[found.plus] > 1)
    wrong = titled[~_same_text(lines, found.header[titled], found.plus[titled], lines.stripped)]
    return Defect(TITLES, int(wrong[0]), int(lines.starts[found.plus[wrong[0]]])) if len(wrong) else None


def _same_text(lines: _Lines, one: Places, other: Places, ends: Places) -> NDArray[np.bool_]:
    """Say of each pair of lines whether all but their first bytes are the same, up to the ends."""
    sizes = ends[other] - lines.starts[other] - 1
    same = np.array(ends[one] - lines.starts[one] - 1 == sizes)
    pairs = np.flatnonzero(same)
    sizes = sizes[pairs]
    before = np.cumsum(sizes) - sizes
    steps = np.arange(sizes.sum()) - np.repeat(before, sizes)
    first, second = (np.repeat(lines.starts[which[pairs]] + 1, sizes) + steps for which in (one, other))
    differs = np.flatnonzero(lines.text[first] != lines.text[second])
    same[pairs[np.searchsorted(before + sizes, differs, side="right")]] = False
    return same


def _rewritten(lines: _Lines, found: _Records, stop: _Stop) -> FourLines:
    """Leave out what four lines a record do not have."""
    text, low, high, added = _left_out(lines, found)
    used = 0
    if len(lines):
        used = int(lines.starts[stop.line]) if stop.line < len(lines) else min(int(lines.ends[-1]) + 1, len(text))
    changed = np.flatnonzero(((high > low) | (added > 0)) & (np.arange(len(lines)) < stop.line))
    low, high, added = low[changed], high[changed], added[changed]
    sizes = high - low
    removed = np.cumsum(sizes)
    keep = np.ones(used, np.bool_)
    keep[np.repeat(high - removed, sizes) + np.arange(sizes.sum())] = False
    result = text[:used][keep]
    if added.any():
        result = np.insert(result, (low - removed + sizes)[added > 0], NEWLINE)
    old, new = np.append(0, high), np.append(0, high - removed + np.cumsum(added))
    return FourLines(result, used, len(found.header), new, old)


def _left_out(lines: _Lines, found: _Records) -> tuple[NDArray[np.uint8], Places, Places, Places]:
    """What is left out of each line, from place `low` up to `high`, and how many newlines come instead."""
    text, returns = lines.text, lines.returns()
    behind = np.minimum(lines.ends + 1, len(text))
    break_starts = lines.ends - returns
    low, high, added = lines.starts.copy(), behind.copy(), np.zeros(len(lines), np.int64)
    body = _body(lines, found)
    low[body] = lines.stripped[body]
    low[found.header] = behind[found.header]
    low[found.plus] = behind[found.plus]
    other = found.plus[~_same_text(lines, found.header, found.plus, break_starts)]
    other = other[break_starts[other] - lines.starts[other] > 1]  # the same but for white space
    low[other], high[other] = lines.starts[other] + 1, break_starts[other]
    full = found.letters > 0
    last_letters = lines.filled[np.searchsorted(lines.filled, found.plus[full]) - 1]
    empty = found[np.flatnonzero(~full)]
    with_line = empty.header + 1 < empty.plus
    added[empty.header[~with_line]] = 1
    after = np.minimum(empty.plus + 1, len(lines) - 1)
    blank = (empty.plus < len(lines) - 1) & (lines.first[after] == 0)
    added[empty.plus[~blank & (empty.plus < len(lines) - 1)]] = 1
    ends = np.concatenate([last_letters, found.end[full] - 1, empty.header[with_line] + 1, after[blank]])
    low[ends], high[ends] = lines.stripped[ends], break_starts[ends]
    return text, low, high, added
