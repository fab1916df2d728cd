"""The bases under matches, and the alignments of signatures to them, while the blocks of a scan go by.

A record of FASTA may go through many blocks, and its matches are reported when it ends. So the bases of matches that
were found are kept, and before a block is gone, those of places that may still become matches.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.pieces import LetterBlock, Pieces
from oclgenomics.signatures.matches.alignments import spans, trace
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import Alignments, Matches

NO_LETTERS = np.empty(0, np.uint8)


class MatchLetters:
    """Keeps the bases that the alignments of matches need, and makes these.

    Parameters
    ----------
    panel : Panel
    options : ScanOptions
        Those of the scan.
    """

    def __init__(self, panel: Panel, options: ScanOptions) -> None:
        self._panel, self._gaps = panel, options.max_edits > 0
        self._before, self._begin = NO_LETTERS, 0  # of the record that the block goes on with, and where they begin
        self._kept: dict[tuple[int, int, int], NDArray[np.uint8]] = {}  # by sample, start and end of a match

    def see(self, block: LetterBlock, matches: Matches) -> None:
        """Keep the bases of matches that the scan found and that are reported later, as their record goes on."""
        pieces = block.pieces
        if not len(pieces) or pieces.ends[-1]:
            return
        waiting = matches.take(matches.sample == pieces.record[-1])
        if len(waiting):
            letters = self._letters(block, waiting)
            bounds = pairwise(letters.starts.tolist())
            self._kept |= {
                place: letters.letters[begin:end] for place, (begin, end) in zip(_places(waiting), bounds, strict=True)
            }

    def alignments(self, block: LetterBlock, matches: Matches) -> Alignments:
        """Return the alignments of matches of whole samples, the last of which end in a block."""
        letters = self._letters(block, matches)
        traced = trace(self._panel, matches, letters, gaps=self._gaps)
        return Alignments(
            traced.same, traced.cigar, letters, *_reads(block, matches.sample[np.diff(matches.sample, prepend=-1) > 0])
        )

    def end(self, block: LetterBlock, earliest: int | None) -> None:
        """Take what later blocks may ask for of a block that goes.

        Parameters
        ----------
        block : LetterBlock
        earliest : int or None
            The first base of places in the record that goes on.
        """
        pieces = block.pieces
        if not len(pieces):
            return
        last, goes_on = int(pieces.record[-1]), not pieces.ends[-1]
        if len(pieces) > 1 or not goes_on:
            self._kept = {place: kept for place, kept in self._kept.items() if goes_on and place[0] == last}
        behind = int(pieces.start[-1]) + int(pieces.owned[-1])
        if not goes_on or earliest is None:
            self._before, self._begin = NO_LETTERS, behind
            return
        letters, begin = self._of_piece(block, len(pieces) - 1)
        self._before, self._begin = letters[earliest - begin : behind - begin].copy(), earliest

    def _letters(self, block: LetterBlock, matches: Matches) -> NameList:
        """The bases under matches, which lie in a block, or were kept."""
        pieces, piece = block.pieces, _piece_of(block.pieces, matches.sample)
        start, end = matches.start - pieces.start[piece], matches.end - pieces.start[piece]
        if (start >= 0).all():
            first = pieces.letters[piece].astype(np.int64)
            return spans(block.host, first + start, first + end) if len(matches) else NameList.of(())
        letters, begin = self._of_piece(block, 0)  # that of the record that began in an earlier block
        texts: list[NDArray[np.uint8]] = []
        for number, place in enumerate(_places(matches)):
            if start[number] >= 0:
                at = int(pieces.letters[piece[number]])
                texts.append(block.host[at + int(start[number]) : at + int(end[number])])
            elif place in self._kept:
                texts.append(self._kept[place])
            else:
                texts.append(letters[place[1] - begin : place[2] - begin])
        return NameList(np.concatenate(texts), np.cumsum([0, *map(len, texts)]))

    def _of_piece(self, block: LetterBlock, number: int) -> tuple[NDArray[np.uint8], int]:
        """The bases of a piece and those that were kept before it, and where in its record they begin."""
        pieces = block.pieces
        at = int(pieces.letters[number])
        letters = block.host[at : at + int(pieces.size[number])]
        if number or not len(self._before):
            return letters, int(pieces.start[number])
        return np.concatenate([self._before, letters]), self._begin


def _places(matches: Matches) -> Iterator[tuple[int, int, int]]:
    """Sample, start and end of each match."""
    return zip(matches.sample.tolist(), matches.start.tolist(), matches.end.tolist(), strict=True)


def _piece_of(pieces: Pieces, sample: NDArray[np.int64]) -> NDArray[np.int64]:
    """The piece of each sample; a block has one of each record, and records follow each other."""
    return sample - (pieces.record[0] if len(pieces) else 0)


def _reads(block: LetterBlock, samples: NDArray[np.int64]) -> tuple[NameList, NameList]:
    """All bases and qualities of samples, if they have qualities: these lie in the block as a whole."""
    pieces = block.pieces
    if pieces.qualities is None or not len(samples):
        nothing = NameList(NO_LETTERS, np.zeros(len(samples) + 1, np.int64))
        return nothing, nothing
    piece = _piece_of(pieces, samples)
    size = pieces.size[piece].astype(np.int64)
    bases, qualities = (places[piece].astype(np.int64) for places in (pieces.letters, pieces.qualities))
    return spans(block.host, bases, bases + size), spans(block.host, qualities, qualities + size)
