"""Letters of FASTA, copied on the device so that those of a record are neighbours."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.joined_source import JoinedSource
from oclgenomics.runtime import Engine
from oclgenomics.sequence.block_records import names_at
from oclgenomics.sequence.copied_letters import CopiedLetters, LetterCopier
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.line_breaks import first_of_last, is_break
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.parse import FastaState
from oclgenomics.sequence.pieces import LetterBlock, Origins, Pieces
from oclgenomics.sequence.text import TextBlocks


def fasta_letters(
    engine: Engine, text: TextBlocks, overlap: int, first: int, files: JoinedSource | None = None
) -> Generator[LetterBlock, None, int]:
    """Yield the blocks of an input whose first block has been read.

    The overlap of two blocks is read twice: the text of the second one begins with it.

    Parameters
    ----------
    engine : Engine
    text : TextBlocks
    overlap : int
    first : int
        Records of the inputs before this one.
    files : JoinedSource, optional
        The files that are read as one text.

    Returns
    -------
    int
        Records of all inputs so far.
    """
    before, state, there = first, FastaState(), True
    origins = None if files is None else _OriginFinder(files)
    start: int | None = (
        None  # letters of a begun record that earlier blocks own; None where the text begins with a header
    )
    with LetterCopier(engine) as copier:
        while there:
            used = 0
            # The last byte waits for the next block, so that there is one.
            whole = text.host if text.final else text.host[:-1]
            size = state.whole_headers(whole, final=text.final)
            if size:
                copied = copier.copy(text.on_device(size), state)
                cut = _cut(copied, first, start, overlap, text.host[:size], final=text.final)
                if len(cut.pieces):
                    byte_of = partial(_byte_of, text.host[:size], state, text.offset)
                    names = copied.names[: cut.begun]
                    texts = partial(_texts, text.host[: cut.used], copied.headers[: cut.begun], start)
                    headers = partial(_headers, engine, text.on_device(size), copied, cut.begun)
                    header_places = text.offset + copied.headers[: cut.begun].astype(np.int64)
                    begun_in = None if origins is None else origins.find(header_places)
                    yield LetterBlock(
                        copied.text, copied.host, cut.pieces, names, first, text.name, before, byte_of, texts, headers,
                        begun_in,
                    )  # fmt: skip
                # Line breaks that no piece has are the next one's text.
                used = cut.used if len(cut.pieces) or start is None else 0
                first, start = first + cut.begun, cut.start
            state = state.after(text.host[:used])
            there = text.read(used)
    return first


class _OriginFinder:
    """Finds the files of records, which come in order, and counts them."""

    def __init__(self, files: JoinedSource) -> None:
        self._files = files
        self._last, self._records = -1, 0  # the file of the last record, and its records so far

    def find(self, headers: NDArray[np.int64]) -> Origins:
        """Find the files of the next records, whose headers are at places of the text."""
        file = self._files.file_at(headers)
        begins = np.searchsorted(file, file)  # the first record here of the same file
        record = np.arange(len(file)) - begins
        record[file == self._last] += self._records
        if len(file):
            self._last, self._records = int(file[-1]), int(record[-1]) + 1
        return Origins(self._files, file, record)


@dataclass(frozen=True)
class _Cut:
    """A block cut into pieces.

    Attributes
    ----------
    pieces : Pieces
    begun : int
        Records that begin in the block.
    start : int or None
        Letters of the last record that this block and those before it own; None where it has ended or not begun.
    used : int
        Bytes of the block that the next one does not need.
    """

    pieces: Pieces
    begun: int
    start: int | None
    used: int


def _cut(
    copied: CopiedLetters, first: int, start: int | None, overlap: int, host: NDArray[np.uint8], *, final: bool
) -> _Cut:
    """Cut the letters of a block into pieces; the last record goes on in the next one unless the text ends here."""
    letters = np.append(np.uint32(0), copied.starts)
    ends = np.append(copied.starts - np.uint32(1), np.uint32(copied.text.size))
    skipped = int(start is None)  # nothing comes before the first header
    letters, ends = letters[skipped:], ends[skipped:]
    size = ends - letters
    record = first - 1 + skipped + np.arange(len(size))
    starts = np.zeros(len(size), np.int64)
    if start is not None:
        starts[0] = start
    owned, ended = size.copy(), np.ones(len(size), np.bool_)
    if final:
        return _Cut(Pieces(record, starts, letters, size, owned, None, ended), len(copied.starts), None, len(host))
    kept = min(overlap, int(size[-1]))
    owned[-1] -= kept
    ended[-1] = False
    begun, again = len(copied.starts), not owned[-1]
    count = len(size) - again
    pieces = Pieces(record[:count], starts[:count], letters[:count], size[:count], owned[:count], None, ended[:count])
    if again and begun:  # the record begins in the next block
        return _Cut(pieces, begun - 1, None, int(copied.headers[-1]))
    return _Cut(pieces, begun, int(starts[-1] + owned[-1]), first_of_last(host, kept))


def _byte_of(text: NDArray[np.uint8], state: FastaState, offset: int, place: int) -> int:
    """Place in the input of what was copied to a place: a letter, or the > of a header, for which a newline stands."""
    breaks = is_break(text)
    line_starts = np.flatnonzero(np.append(state.starts_line, breaks[:-1]))
    headers = line_starts[text[line_starts] == ord(">")]
    line_ends = np.append(np.flatnonzero(breaks), len(text))
    header_ends = line_ends[np.searchsorted(line_ends, headers)]
    marks = np.zeros(len(text) + 1, np.int8)
    marks[headers + 1] += 1  # the rest of a header is not copied
    marks[header_ends] -= 1
    left_out = breaks | np.cumsum(marks[:-1], dtype=np.int8).astype(np.bool_)
    return offset + int(np.flatnonzero(~left_out)[place])


def _texts(text: NDArray[np.uint8], headers: NDArray[np.uint32], start: int | None) -> NameList:
    """The text of each piece: from its header, or the beginning of the block, to the next one."""
    first = [] if start is None else [0]
    return NameList(text, np.concatenate([first, headers, [len(text)]]).astype(np.int64))


def _headers(engine: Engine, text: Text, copied: CopiedLetters, begun: int) -> NameList:
    """The headers of the first records that begin in a text."""
    places = engine.upload(np.append(copied.headers[:begun] + np.uint32(1), np.uint32(0)))
    return names_at(engine, text, places, copied.header_lengths, begun)
