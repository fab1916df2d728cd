"""A table of reads: one line of headings, then plain columns with tabs between them.

| column | what it holds |
|---|---|
| read | name |
| length, mate_length | bases; `NA` for the mate of a single read |
| taxid, rank, name | what the read is called; 0, `NA`, `NA` if unclassified; the taxid of a target is its taxon's |
| hits, needed | of the best candidate, and how many the read needed; 0 hits without a candidate |
| target, begin, end | where the best candidate was hit: bases of that target, from 0 on, `end` not included |
| second, second_hits | the target of the second candidate, and its hits |
| confidence | hits of the best candidate by the features that the read could share with a target, 0 to 1 |

JSON Lines have the same keys, with null where that has NA, and `candidates`: a list, the best one first, of `target`,
`taxid`, `hits`, `begin` and `end`. The host makes each line, so this is the slow format.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.reports import MISSING
from oclgenomics.classify.formats.kraken import walk
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import NO_TAXID, LineReport, TaxonWords, target_numbers, target_range
from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.plan import confidences
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import ParameterError
from oclgenomics.io.text_file import rows_of
from oclgenomics.sequence.joined_lines import (
    NO_TEXT,
    Column,
    LineJoiner,
    NameColumn,
    NumberColumn,
    TextTable,
    clean_names,
)

COLUMNS = (
    "read", "length", "mate_length", "taxid", "rank", "name", "hits", "needed", "target", "begin", "end", "second",
    "second_hits", "confidence",
)  # fmt: skip

EVIDENCE = (
    "taxid", "rank", "name", "reads", "direct", "hits", "distinct", "known", "expected", "coverage", "evenness",
)  # fmt: skip

SHARES = (
    "taxid", "rank", "name", "reads", "reads_low", "reads_high", "share", "share_low", "share_high", "length",
)  # fmt: skip
BOOTSTRAP = 100  # rounds


_LINE = (
    '{"read": %s, "length": %d, "mate_length": %s, "taxid": %d, "rank": %s, "name": %s, "needed": %d,'
    ' "confidence": %s, "candidates": [%s]}\n'
)


def evidence_table(tally: Tally) -> str:
    """Write how much of each taxon the reads of its clade cover; see `taxonomy.coverage`.

    Taxa come as in a report of Kraken 2, then targets that reads were called. What the database has of them is NA if
    nobody knows.

    Parameters
    ----------
    tally : Tally
        Of parts with features.

    Raises
    ------
    ParameterError
        It counts none.
    """
    words, clades, direct = TaxonWords(tally.lineages), tally.of_clades(), tally.of_taxa()
    covered = tally.coverage(known=True)
    if covered is None:
        raise ParameterError("features", "the tally counts none, so there is no evidence to write")
    called = np.flatnonzero(tally.counts[words.taxa : -1]).tolist()
    rows = [(taxon, int(clades[taxon]), int(direct[taxon])) for taxon, _ in walk(tally.lineages.taxonomy, clades)]
    targets = [(words.taxa + target, int(tally.counts[words.taxa + target])) for target in called]
    rows += [(number, reads, reads) for number, reads in targets]
    lines = ["\t".join(EVIDENCE) + "\n"]
    for number, reads, own in rows:
        columns = [words.taxid(number), words.rank(number), words.name(number), reads, own]
        columns += [covered.hits[number], covered.distinct[number]]
        if covered.known is None:
            columns += [MISSING] * 4
        else:
            shares = (covered.coverage[number], covered.evenness[number])
            columns += [covered.known[number], f"{covered.expected[number]:.1f}", *(f"{one:.4f}" for one in shares)]
        lines.append("\t".join(map(str, columns)) + "\n")
    return "".join(lines)


def shares_table(tally: Tally, *, per_genome: bool = False, rounds: int = BOOTSTRAP) -> str:
    """Write the estimated reads and shares of species, with intervals; see `taxonomy.evidence`.

    Parameters
    ----------
    tally : Tally
        Of candidates.
    per_genome : bool
        Shares are of genomes, not of reads.
    rounds : int
        Of the bootstrap; with 0 intervals are NA.

    Raises
    ------
    ParameterError
        Candidates are not counted, or do not tell shares.
    """
    words, found = TaxonWords(tally.lineages), tally.shares(per_genome=per_genome, rounds=rounds)
    lines = ["\t".join(SHARES) + "\n"]
    for at, number in enumerate(found.taxon.tolist()):
        reads, share = (
            [MISSING] * 2 if ends is None else [f"{end:.{digits}f}" for end in ends[:, at].tolist()]
            for ends, digits in ((found.reads_between, 1), (found.share_between, 6))
        )
        columns = [str(words.taxid(number)), words.rank(number), words.name(number)]
        columns += [f"{found.reads[at]:.1f}", *reads, f"{found.share[at]:.6f}", *share, f"{found.length[at]:.0f}"]
        lines.append("\t".join(columns) + "\n")
    return "".join(lines)


class TsvReport(LineReport):
    """A line for each read or pair, below a line of headings.

    Parameters
    ----------
    lineages : Lineages
    sketch : SketchOptions
        Those of the database.
    joiner : LineJoiner
    """

    def __init__(self, lineages: Lineages, sketch: SketchOptions, joiner: LineJoiner) -> None:
        self._lineages, self._sketch, self._joiner = lineages, sketch, joiner
        self._words = TaxonWords(lineages)
        targets = len(lineages.targets)
        self._calls = TextTable(self._words.count, self._call)
        self._tab, self._no_mate = map(TextTable.same, ("\t", f"\t{MISSING}"))
        self._sure = TextTable(1001, lambda share: f"\t{share / 1000:.3f}\n")
        self._best = TextTable(targets, lambda target: self._target(target, f"\t{MISSING}" * 3))
        self._second = TextTable(targets, lambda target: self._target(target, f"\t{MISSING}\t"))
        self._between = TextTable(1, lambda there: "" if there == NO_TEXT else "\t")

    def _call(self, number: int) -> str:
        if number == NO_TEXT:
            return f"\t{NO_TAXID}\t{MISSING}\t{MISSING}\t"
        return f"\t{self._words.taxid(number)}\t{self._words.rank(number)}\t{self._words.name(number)}\t"

    def _target(self, target: int, none: str) -> str:
        return none if target == NO_TEXT else f"\t{self._words.name(self._words.taxa + target)}\t"

    def head(self) -> bytes:
        """Name the columns."""
        return ("\t".join(COLUMNS) + "\n").encode()

    def lines(self, part: ClassifiedReads) -> memoryview:
        """Make the lines of a part."""
        reads, candidates, lines = part.reads, part.candidates, len(part)
        tab = self._tab.repeated(lines)
        mate: list[Column] = [self._no_mate.repeated(lines)]
        if reads.mate_letters is not None:
            mate = [tab, NumberColumn.of(reads.mate_letters)]
        columns = [
            NameColumn(clean_names(reads.names)), tab, NumberColumn.of(reads.letters), *mate,
            self._calls.column(part.calls.taxon), NumberColumn.of(candidates.hits[:, 0]), tab,
            NumberColumn.of(part.calls.hitmin), *self._range(candidates), *self._runner_up(candidates),
            self._sure.column(confidences(candidates.hits[:, 0], reads.kmers(self._sketch.kmerlen), self._sketch)),
        ]  # fmt: skip
        return self._joiner.join(lines, columns)

    def _range(self, candidates: Candidates) -> list[Column]:
        targets = candidates.targets[:, 0]
        known = targets != NO_TARGET
        begin, end = range_in_target(candidates, 0, self._lineages, self._sketch)
        between = self._between.column(np.where(known, 0, NO_TEXT))
        best = self._best.column(target_numbers(targets))
        return [best, NumberColumn.of(begin, known), between, NumberColumn.of(end, known)]

    def _runner_up(self, candidates: Candidates) -> list[Column]:
        targets, hits = candidates.targets[:, 1:2], candidates.hits[:, 1:2]
        if not targets.shape[1]:
            hits = np.zeros((len(candidates), 1), np.uint32)
            targets = np.full_like(hits, NO_TARGET)
        return [self._second.column(target_numbers(targets[:, 0])), NumberColumn.of(hits[:, 0])]


def range_in_target(
    candidates: Candidates, place: int, lineages: Lineages, sketch: SketchOptions
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return where candidates were hit: the first base of their target, and the one behind the last.

    Parameters
    ----------
    candidates : Candidates
    place : int
        0 for the best ones.
    lineages : Lineages
    sketch : SketchOptions
        Those of the database.
    """
    begin, end = target_range(candidates, place, sketch.winstride, sketch.winlen)
    targets = candidates.targets[:, place]
    letters = np.append(lineages.targets.letters, 0).astype(np.uint64)
    lengths = letters[np.where(targets == NO_TARGET, len(letters) - 1, targets)]
    return np.minimum(begin, lengths), np.minimum(end, lengths)


class JsonReport(LineReport):
    """A line for each read or pair.

    Parameters
    ----------
    lineages : Lineages
    sketch : SketchOptions
        Those of the database.
    """

    def __init__(self, lineages: Lineages, sketch: SketchOptions) -> None:
        self._lineages, self._sketch, self._words = lineages, sketch, TaxonWords(lineages)
        self._calls: dict[int, tuple[int, str, str]] = {NO_TAXON: (NO_TAXID, "null", "null")}
        self._targets: dict[int, str] = {}

    def lines(self, part: ClassifiedReads) -> bytes:
        """Make the lines of a part."""
        reads = part.reads
        calls = [self._call(number) for number in part.calls.taxon.tolist()]
        mates = ["null"] * len(part) if reads.mate_letters is None else reads.mate_letters.tolist()
        columns: list[list[Any]] = [
            list(map(encode_basestring_ascii, reads.names)),
            reads.letters.tolist(),
            mates,
            *([call[item] for call in calls] for item in range(3)),
            part.calls.hitmin.tolist(),
            [f"{share / 1000:.3f}" for share in self._confidences(part)],
            self._candidates(part),
        ]
        return rows_of(columns, _LINE).encode()

    def _call(self, number: int) -> tuple[int, str, str]:
        if number not in self._calls:
            words = self._words
            shown = (words.rank(number), words.name(number))
            self._calls[number] = (words.taxid(number), *map(encode_basestring_ascii, shown))  # type: ignore[assignment]
        return self._calls[number]

    def _confidences(self, part: ClassifiedReads) -> list[int]:
        kmers = part.reads.kmers(self._sketch.kmerlen)
        found: list[int] = confidences(part.candidates.hits[:, 0], kmers, self._sketch).tolist()
        return found

    def _candidates(self, part: ClassifiedReads) -> list[str]:
        candidates = part.candidates
        lists: list[list[str]] = [[] for _ in range(len(part))]
        for place in range(candidates.targets.shape[1]):
            ranges = range_in_target(candidates, place, self._lineages, self._sketch)
            arrays = (candidates.targets[:, place], candidates.hits[:, place], *ranges)
            for listed, target, hits, begin, end in zip(lists, *(array.tolist() for array in arrays), strict=True):
                if target != NO_TARGET:
                    listed.append(f'{self._target(target)}, "hits": {hits}, "begin": {begin}, "end": {end}}}')
        return [", ".join(listed) for listed in lists]

    def _target(self, target: int) -> str:
        if target not in self._targets:
            number = self._words.taxa + target
            name = encode_basestring_ascii(self._words.name(number))
            self._targets[target] = f'{{"target": {name}, "taxid": {self._words.taxid(number)}'
        return self._targets[target]
