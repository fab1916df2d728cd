"""Reads of files, or pairs of them, filtered by whether signatures match them, and cut at their best matches."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.run import Run
from oclgenomics.sequence.line_breaks import RETURN
from oclgenomics.sequence.mates import KeptReads, ReadRun, Writer, mates_of_inputs
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.pieces import LetterBlock
from oclgenomics.signatures.jobs import Finder
from oclgenomics.signatures.matches.alignments import spans
from oclgenomics.signatures.options import FilterOptions
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import FilterSummary, Samples, ScanPart

NONE = -1  # number of a signature
FASTA = ord(">")
STRETCHES = 7  # of a record of FASTQ: header, label, line break, bases, up to the qualities, qualities, the rest
LABEL, TIES = " signature=%s", " ties=%d"


@dataclass(frozen=True)
class MatchedReads(ReadRun):
    """Records that follow each other in an input, with their best matches.

    Attributes
    ----------
    cut : NameList
        Each record as it is written if it is kept.
    bases, kept_bases : ndarray, int64
        Of each record, and of it when it is cut.
    signature : ndarray, int64
        The number of the signature of the best match; `NONE` where none matches.
    ties : ndarray, int64
        Other signatures that match as well; see `oclgenomics.signatures.result.Rivals`.
    """

    cut: NameList
    bases: NDArray[np.int64]
    kept_bases: NDArray[np.int64]
    signature: NDArray[np.int64]
    ties: NDArray[np.int64]


def filter_files(
    finders: Sequence[Finder],
    panel: Panel,
    singles: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    options: FilterOptions,
    writers: Sequence[Writer],
    run: Run,
    *,
    block_bytes: int | None,
    interleaved: bool,
    any_mates: bool,
) -> FilterSummary:
    """Let the first writer have the reads that are kept, and the second one, if there is one, all others.

    Parameters are those of `oclgenomics.signatures.filter_reads`, with all files named, and:

    finders : sequence of Finder
        One for reads and first mates, and one for second mates if there are files of them: both are read in turn.
    block_bytes : int, optional
        See `oclgenomics.sequence.letters.letter_blocks`.
    """

    def opened(path: str, *, second: bool) -> Generator[MatchedReads, None, None]:
        # The progress of the first mates is that of both.
        own = Run(run.threads, None if second else run.progress)
        return matched_reads(finders[second], panel, path, options, own, block_bytes)

    tally = _Tally(options, writers)
    for parts in mates_of_inputs(opened, singles, pairs, interleaved=interleaved, any_mates=any_mates):
        tally.take(parts)
    return tally.summary(panel)


def matched_reads(
    finder: Finder, panel: Panel, path: str, options: FilterOptions, run: Run, block_bytes: int | None = None
) -> Generator[MatchedReads, None, None]:
    """Read an input and find the best match of each record.

    The text of a record is held until the record ends.

    Parameters
    ----------
    finder : Finder
        Of scans with `report='read'`.
    panel : Panel
    path : str
    options : FilterOptions
    run : Run
    block_bytes : int, optional

    Yields
    ------
    MatchedReads
        Of one record at least; valid until the next ones are asked for.
    """
    begun: list[NDArray[np.uint8]] = []  # text of the record that goes on
    with closing(finder.found([path], run, block_bytes)) as found:
        for block, part in found:
            texts, record, ended = block.texts(), block.pieces.record, part.samples.ended
            best, first = _BestMatches(part, ended, panel, options), 0
            if begun and len(ended):
                if len(record) and int(record[0]) == int(ended.number[0]):
                    begun.append(texts[:1].letters[texts.starts[0] : texts.starts[1]])
                    first = 1
                text = np.concatenate(begun)
                yield best.reads(0, 1, NameList(text, np.array([0, len(text)])), None)
                begun.clear()
            before = len(ended) - (len(record) - first) + (0 if _all_end(part.samples) else 1)
            if before < len(ended):
                count = len(ended) - before
                yield best.reads(before, len(ended), texts[first : first + count], (block, first))
                first += count
            begun += [texts.letters[texts.starts[at] : texts.starts[at + 1]].copy() for at in range(first, len(texts))]


def _all_end(samples: Samples) -> bool:
    return bool(samples.ends[-1:].all())


class _BestMatches:
    """The best matches of samples that ended in a part, and what is kept of each sample."""

    def __init__(self, part: ScanPart, ended: Samples, panel: Panel, options: FilterOptions) -> None:
        self._ended, self._panel, self._options = ended, panel, options
        self._signature = np.full(len(ended), NONE, np.int64)
        self._low, self._high = np.zeros(len(ended), np.int64), ended.letters.copy()
        matches = part.matches
        row = matches.sample - (ended.number[0] if len(ended) else 0)
        self._signature[row] = matches.signature
        self._ties = np.zeros(len(ended), np.int64)
        if part.rivals is not None:
            self._ties[row] = part.rivals.ties
        if options.trim == "before":
            self._low[row] = matches.end
        if options.trim == "after":
            self._high[row] = matches.start

    def reads(self, begin: int, end: int, texts: NameList, where: tuple[LetterBlock, int] | None) -> MatchedReads:
        """Return some of the records, of which these are the texts.

        Parameters
        ----------
        begin, end : int
        texts : NameList
        where : tuple of LetterBlock and int, optional
            The block that holds the records, and the number of the first one's piece.
        """
        some = slice(begin, end)
        low, high, signature = self._low[some], self._high[some], self._signature[some]
        cut = texts
        if (self._options.trim is not None or self._options.label) and (signature != NONE).any():
            labels = self._labels(some)
            if where is not None and where[0].pieces.qualities is not None:
                cut = _cut_fastq(*where, texts, labels, low, high)
            else:
                cut = _cut_fasta(texts, np.flatnonzero(signature != NONE), labels, low, high)
        names: Any = self._ended.name[some]
        return MatchedReads(names, texts, cut, self._ended.letters[some], high - low, signature, self._ties[some])

    def _labels(self, some: slice) -> NameList:
        """What is appended to the header of each of some records."""
        signature = self._signature[some]
        if not self._options.label:
            return NameList.of([""] * len(signature))
        labels = ["" if number == NONE else LABEL % self._panel.names[number] for number in signature.tolist()]
        ties = self._ties[some].tolist()
        return NameList.of([label + TIES % tied if tied else label for label, tied in zip(labels, ties, strict=True)])


def _cut_fastq(
    block: LetterBlock,
    first: int,
    texts: NameList,
    labels: NameList,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> NameList:
    """Records of four lines with labels, and with the bases and the qualities low .. high - 1."""
    some, pieces = slice(first, first + len(texts)), block.pieces
    assert pieces.qualities is not None
    size, bases, qualities = (
        places[some].astype(np.int64) for places in (pieces.size, pieces.letters, pieces.qualities)
    )
    line_end = bases - 1 - (texts.letters[bases - 2] == RETURN)
    label = labels.starts + len(texts.letters)
    begins = [texts.starts[:-1], label[:-1], line_end, bases + low, bases + size, qualities + low, qualities + size]
    ends = [line_end, label[1:], bases, bases + high, qualities, qualities + high, texts.starts[1:]]
    letters = np.concatenate([texts.letters, labels.letters]) if len(labels.letters) else texts.letters
    parts = spans(letters, np.column_stack(begins).ravel(), np.column_stack(ends).ravel())
    return NameList(parts.letters, parts.starts[::STRETCHES])


def _cut_fasta(
    texts: NameList, which: NDArray[np.int64], labels: NameList, low: NDArray[np.int64], high: NDArray[np.int64]
) -> NameList:
    """Records, some of them with labels and the bases low .. high - 1, in lines as long as the first of each was."""
    made = []
    for at in which.tolist():
        record = texts.letters[texts.starts[at] : texts.starts[at + 1]].tobytes()
        header, *lines = record.replace(b"\r\n", b"\n").replace(b"\r", b"\n").rstrip(b"\n").split(b"\n")
        kept = b"".join(lines)[int(low[at]) : int(high[at])]
        width = max(1, len(next(filter(None, lines), b"")))
        rows = [kept[begin : begin + width] for begin in range(0, len(kept), width)] or [b""]
        made.append(b"\n".join([header + labels[at].encode(), *rows, b""]))
    order = np.arange(len(texts))
    order[which] = len(texts) + np.arange(len(which))
    cut = NameList(np.frombuffer(b"".join(made), np.uint8), np.cumsum([0, *map(len, made)]))
    return NameList.joined([texts, cut]).take(order)


class _Tally:
    """Writes reads, and counts them."""

    def __init__(self, options: FilterOptions, writers: Sequence[Writer]) -> None:
        self._written = KeptReads(writers, both=options.pairs == "both", drop=options.drop)
        self._bases = self._kept_bases = self._empty = self._ambiguous = 0
        self._of_signature: dict[int, int] = {}

    def take(self, parts: tuple[MatchedReads, ...]) -> None:
        """Take some reads, or first and second mates."""
        passing = [part.signature != NONE for part in parts]
        kept = self._written.take(passing, tuple(part.texts for part in parts), tuple(part.cut for part in parts))
        for part in parts:
            self._bases += int(part.bases.sum())
            self._ambiguous += int(np.count_nonzero(part.ties))
            self._kept_bases += int(part.kept_bases[kept].sum())
            self._empty += int(np.count_nonzero(kept & (part.kept_bases == 0) & (part.bases > 0)))
            numbers, counts = np.unique(part.signature[part.signature != NONE], return_counts=True)
            for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
                self._of_signature[number] = self._of_signature.get(number, 0) + count

    def summary(self, panel: Panel) -> FilterSummary:
        """Return the numbers of all reads so far."""
        found = {panel.names[number]: count for number, count in sorted(self._of_signature.items())}
        written = self._written
        return FilterSummary(
            written.reads, written.kept, written.pairs, sum(found.values()), self._ambiguous, self._bases,
            self._kept_bases, self._empty, found,
        )  # fmt: skip
