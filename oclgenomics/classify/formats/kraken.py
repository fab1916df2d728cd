"""What Kraken 2 and the programs around it read and write: lines of reads, reports of samples, Bracken's and Krona's.

**Lines** of reads are C or U, the read, its taxon, its length, and what was found, which is what differs. Kraken
counts k-mers there; here each `taxid:count` is a candidate, the best one first, and the count is its hits: features of
the read that were found close to each other in that taxon. A feature may count for several candidates, and those that
were found nowhere are not listed; `0:0` is no candidate. Hits of both mates count together, and stand before
`|:|`; behind it there is always `0:0`. A target has no taxid of its own, so a read called one gets that of its taxon;
where it has none, that of the root.

**Reports** of samples are a tree of taxa, each with the reads of its clade:

| column | what it holds |
|---|---|
| 1 | share of all reads in the clade, in percent |
| 2 | reads in the clade: called the taxon or one below it |
| 3 | reads that were called the taxon itself |
| 4 | rank: U(nclassified), R(oot), D(omain), K(ingdom), P(hylum), C(lass), O(rder), F(amily), G(enus), S(pecies); |
|   | a taxon of any other rank has the letter of the next one above it, and how far below that it is |
| 5 | taxid |
| 6 | name, two spaces before it for each level of the tree |

With `Tally.coverage` two columns follow the third, where Kraken 2 has minimizers: the features that the reads of the
clade share with their best candidates, each as often as reads have it, and how many of them differ.

Each taxon comes before those below it; of neighbours the one with more reads comes first. A pair counts as one read.
Reads that were called a target count for its taxon, or, where it has none, for the root: they are classified, and that
is all that is known of their place in the tree. The root is always there, even where the database has no taxonomy,
since programs that read such reports look for it.

**Bracken** assigns the reads of higher taxa by the k-mers that genomes share, which it takes from a database of Kraken.
Here its columns hold the estimate of `Tally.estimate`, which may also be below the reads that were called a taxon.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import NO_TAXID, LineReport, TaxonWords, hit_columns
from oclgenomics.classify.options import NO_RANK, RANKS
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.ncbi import MAX_TAXID
from oclgenomics.classify.taxonomy.tree import NO_TAXON, ROOT_TAXID, Taxonomy
from oclgenomics.errors import InputError, check_choice
from oclgenomics.io.text_file import read_text
from oclgenomics.sequence.joined_lines import (
    NO_TEXT,
    Column,
    LineJoiner,
    NameColumn,
    NumberColumn,
    TextTable,
    clean_names,
)

RANK_LETTERS = {
    RANKS.index(rank): letter
    for rank, letter in (
        ("root", "R"), ("domain", "D"), ("kingdom", "K"), ("phylum", "P"), ("class", "C"), ("order", "O"),
        ("family", "F"), ("genus", "G"), ("species", "S"),
    )
}  # fmt: skip
HEADINGS = (
    "name", "taxonomy_id", "taxonomy_lvl", "kraken_assigned_reads", "added_reads", "new_est_reads",
    "fraction_total_reads",
)  # fmt: skip
SLOTS = {letter: slot for slot, letter in RANK_LETTERS.items()}
# clade, taxon, rank, taxid, name; eight columns with counts of minimizers
LINE_COLUMNS = {6: (1, 2, 3, 4, 5), 8: (1, 2, 5, 6, 7)}
UNCLASSIFIED = "U"
INDENT = 2  # spaces for a level
MAX_DIGITS = 15  # so no sum of reads of a report leaves 64 bits
WHAT = "is no line of a report of Kraken 2: share, reads of the clade, reads of the taxon, rank, taxid and name"


class KrakenReport(LineReport):
    """A line for each read or pair.

    Parameters
    ----------
    lineages : Lineages
    lowest : str
        The lowest rank at which reads are classified.
    joiner : LineJoiner
    """

    def __init__(self, lineages: Lineages, lowest: str, joiner: LineJoiner) -> None:
        self._words, self._joiner = TaxonWords(lineages), joiner
        self._groups = lineages.groups(lowest)
        targets = len(lineages.targets)
        self._status = TextTable(self._words.count, lambda number: "C\t" if self._taxid(number) else "U\t")
        self._calls = TextTable(self._words.count, lambda number: f"\t{self._taxid(number)}\t")
        self._mate, self._end, self._pair_end = map(TextTable.same, ("|", "\n", " |:| 0:0\n"))
        self._first = TextTable(targets, lambda target: "\t0:0" if target == NO_TEXT else f"\t{self._found(target)}:")
        self._others = TextTable(targets, lambda target: "" if target == NO_TEXT else f" {self._found(target)}:")

    def _taxid(self, number: int) -> int:
        return NO_TAXID if number == NO_TEXT else self._words.taxid(number) or ROOT_TAXID

    def _found(self, target: int) -> int:
        return self._words.taxid(int(self._groups[target]))

    def lines(self, part: ClassifiedReads) -> memoryview:
        """Make the lines of a part."""
        reads, calls, lines = part.reads, part.calls.taxon, len(part)
        columns: list[Column] = [
            self._status.column(calls), NameColumn(clean_names(reads.names)), self._calls.column(calls),
            NumberColumn.of(reads.letters),
        ]  # fmt: skip
        if reads.mate_letters is not None:
            columns += [self._mate.repeated(lines), NumberColumn.of(reads.mate_letters)]
        columns += hit_columns(part.candidates, self._first, self._others)
        columns.append((self._end if reads.mate_letters is None else self._pair_end).repeated(lines))
        return self._joiner.join(lines, columns)


def kreport(tally: Tally) -> str:
    """Write the report.

    Parameters
    ----------
    tally : Tally
    """
    taxonomy, words = tally.lineages.taxonomy, TaxonWords(tally.lineages)
    direct, clades, total = tally.of_taxa(), tally.of_clades(), max(tally.reads, 1)
    covered = tally.coverage()
    features = [""] * len(clades)
    if covered is not None:
        pairs = zip(covered.hits.tolist(), covered.distinct.tolist(), strict=True)
        features = [f"\t{hits}\t{distinct}" for hits, distinct in pairs]
    lines = []
    if none := tally.unclassified:
        nothing = "" if covered is None else "\t0\t0"
        lines.append(f"{100 * none / total:6.2f}\t{none}\t{none}{nothing}\tU\t0\tunclassified\n")
    if not len(taxonomy):
        found = tally.without_taxon
        every = "" if covered is None else f"\t{covered.hits.sum()}\t{covered.distinct_of_all}"
        lines.append(f"{100 * found / total:6.2f}\t{found}\t{found}{every}\tR\t{ROOT_TAXID}\troot\n")
    codes: list[tuple[str, int]] = []  # of the taxa above: the letter, and how far below it they are
    for taxon, depth in walk(taxonomy, clades):
        letter = "R" if not depth else RANK_LETTERS.get(int(taxonomy.ranks[taxon]))
        code = (codes[depth - 1][0], codes[depth - 1][1] + 1) if letter is None else (letter, 0)
        codes[depth:] = [code]
        count, rank = int(clades[taxon]), f"{code[0]}{code[1] or ''}"
        numbers = f"{100 * count / total:6.2f}\t{count}\t{direct[taxon]}{features[taxon]}\t{rank}\t{words.taxid(taxon)}"
        lines.append(f"{numbers}\t{'  ' * depth}{words.name(taxon)}\n")
    return "".join(lines)


def walk(taxonomy: Taxonomy, clades: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the taxa whose clades have reads, and the root, each before those below it, and how far below the root.

    Parameters
    ----------
    taxonomy : Taxonomy
    clades : ndarray, int64 (taxa,)
        Reads of clades; of neighbours, the one with most comes first, then the one with the lowest identifier.
    """
    numbers = np.arange(len(taxonomy))
    is_root = taxonomy.parents == numbers
    seen = np.flatnonzero((clades > 0) & ~is_root)
    order = seen[np.lexsort((-seen, clades[seen]))]  # the last one is to be the first
    below: dict[int, list[int]] = {}
    for taxon, parent in zip(order.tolist(), taxonomy.parents[order].tolist(), strict=True):
        below.setdefault(parent, []).append(taxon)
    waiting = [(root, 0) for root in numbers[is_root].tolist()]
    while waiting:
        taxon, depth = waiting.pop()
        yield taxon, depth
        waiting += [(child, depth + 1) for child in below.get(taxon, ())]


def bracken_table(tally: Tally, rank: str = "species") -> str:
    """Write a line for each taxon of a rank that reads were called, or that is estimated to have one at least.

    `new_est_reads` is the estimate as a whole number. `kraken_assigned_reads` are the reads of its clade, but no more
    than the estimate: Bracken only adds reads, and taxpasta refuses an `added_reads`, the difference of both, below 0.
    `fraction_total_reads` is of all reads that are estimated to be of taxa of the rank.

    Parameters
    ----------
    tally : Tally
    rank : str
        One that has a letter: domain, kingdom, phylum, class, order, family, genus or species.

    Raises
    ------
    UsageError
        There is no letter for the rank.
    """
    letters = {RANKS[slot]: letter for slot, letter in RANK_LETTERS.items() if letter != "R"}
    check_choice("rank", rank, tuple(letters))
    words = TaxonWords(tally.lineages)
    assigned = dict(zip(*(array.tolist() for array in tally.at_rank(rank)), strict=True))
    estimate = tally.estimate(rank)
    reads = dict(zip(estimate.taxon.tolist(), (round(count) for count in estimate.reads.tolist()), strict=True))
    at_rank = tally.lineages.at_rank[:, RANKS.index(rank)]
    there = assigned.keys() | {taxon for taxon, count in reads.items() if count and at_rank[taxon] == taxon}
    rows = {taxon: reads.get(taxon, 0) for taxon in sorted(there)}
    total = max(sum(rows.values()), 1)
    lines = ["\t".join(HEADINGS) + "\n"]
    for taxon, count in rows.items():
        kept = min(assigned.get(taxon, 0), count)
        numbers = f"{kept}\t{count - kept}\t{count}\t{count / total:.5f}"
        lines.append(f"{words.name(taxon)}\t{words.taxid(taxon)}\t{letters[rank]}\t{numbers}\n")
    return "".join(lines)


def krona_text(tally: Tally) -> str:
    """Write a line for each taxon with reads of its own: their number, then the taxa from below the root down to it.

    Reads that were called a target count for its taxon; where it has none, the target itself stands below the root.
    Reads that were called nothing are `Unclassified`.

    Parameters
    ----------
    tally : Tally
    """
    words, direct, taxa = TaxonWords(tally.lineages), tally.of_taxa(rootless=False), len(tally.lineages.taxonomy)
    lines: list[str] = []
    names: list[str] = []  # from the root down
    for taxon, depth in walk(tally.lineages.taxonomy, tally.of_clades()):
        names[depth:] = [words.name(taxon)]
        if direct[taxon]:
            lines.append("\t".join([f"{direct[taxon]}", *names[1:]]) + "\n")
    for target in np.flatnonzero(tally.lineages.targets.taxon == NO_TAXON).tolist():
        if reads := int(tally.counts[taxa + target]):
            lines.append(f"{reads}\t{words.name(taxa + target)}\n")
    if none := tally.unclassified:
        lines.append(f"{none}\tUnclassified\n")
    return "".join(lines)


class _Line(NamedTuple):
    """A line of a report, its number in the file, and how many levels below the root it is."""

    number: int
    clade: int
    direct: int
    rank: str
    taxid: int
    depth: int
    name: str


def read_kreport(path: str | os.PathLike[str]) -> Tally:
    """Read a report.

    Parameters
    ----------
    path : str or path-like
        As `--kreport` writes it, or `kraken2 --report`, also with --report-minimizer-data.

    Returns
    -------
    Tally
        Of a tree with the taxa of the report and no targets.

    Raises
    ------
    InputError
        The file cannot be read or is no such report, its taxa are no tree, or its counts contradict each other.
    """
    text, source = read_text(path)
    lines = list(_lines(text, source))
    if not lines:
        raise InputError("holds no taxon", source=source)
    none = [line for line in lines if line.rank == UNCLASSIFIED]
    if len(none) > 1:
        raise InputError("tells of unclassified reads a second time", source=source, line=none[1].number)
    taxa = [line for line in lines if line.rank != UNCLASSIFIED]
    parents = _parents(taxa, source)
    _check_clades(taxa, parents, source)
    order = sorted(range(len(taxa)), key=lambda at: taxa[at].taxid)
    again = next((b for a, b in pairwise(order) if taxa[a].taxid == taxa[b].taxid), None)
    if again is not None:
        raise InputError(f"has taxid {taxa[again].taxid} a second time", source=source, line=taxa[again].number)
    tally = Tally(Lineages.of(_taxonomy(taxa, parents, order), Targets.none()))
    tally.counts[:] = [*(taxa[at].direct for at in order), sum(line.clade for line in none)]
    tally.sequences = tally.reads
    return tally


def _lines(text: str, source: str) -> Iterator[_Line]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        fields = line.rstrip("\r").split("\t")
        columns = LINE_COLUMNS.get(len(fields))
        if columns is None:
            raise InputError(WHAT, source=source, line=number)
        clade, direct, rank, taxid, name = (fields[column] for column in columns)
        numbers = [_whole(one) for one in (clade, direct, taxid)]
        shown = name.lstrip(" ")
        depth, odd = divmod(len(name) - len(shown), INDENT)
        rank = rank.strip()
        if min(numbers) < 0 or numbers[2] > MAX_TAXID or odd or (not numbers[2] and rank != UNCLASSIFIED):
            raise InputError(WHAT, source=source, line=number)
        if not rank[:1].isalpha():
            raise InputError(
                f"taxid {numbers[2]} has no rank; some builds of Kraken 2 leave ranks out, so use another one",
                source=source, line=number,
            )  # fmt: skip
        yield _Line(number, numbers[0], numbers[1], rank, numbers[2], depth, shown)


def _whole(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else -1


def _parents(taxa: Sequence[_Line], source: str) -> list[int]:
    """The line of the taxon above each one, by the depths of names; that of the root is its own."""
    parents, path = [], list[int]()
    for at, line in enumerate(taxa):
        if line.depth > len(path) or (at and not line.depth):
            what = "lies more than a level below the line before" if line.depth else "is a second root"
            raise InputError(f"taxid {line.taxid} {what}", source=source, line=line.number)
        del path[line.depth :]
        parents.append(path[-1] if path else at)
        path.append(at)
    return parents


def _check_clades(taxa: Sequence[_Line], parents: Sequence[int], source: str) -> None:
    """Refuse a clade that has not as many reads as its parts."""
    sums = [line.direct for line in taxa]
    for at in range(len(taxa) - 1, 0, -1):
        sums[parents[at]] += sums[at]
    for line, found in zip(taxa, sums, strict=True):
        if line.clade != found:
            what = f"taxid {line.taxid} has {line.clade:,} reads in its clade, and what is in the clade {found:,}"
            raise InputError(what, source=source, line=line.number)


def _taxonomy(taxa: Sequence[_Line], parents: Sequence[int], order: Sequence[int]) -> Taxonomy:
    places = {at: place for place, at in enumerate(order)}
    none = np.zeros(0, np.int64)
    return Taxonomy(
        np.array([taxa[at].taxid for at in order], np.int64),
        np.array([places[parents[at]] for at in order], np.int32),
        np.array([SLOTS.get(taxa[at].rank, NO_RANK) for at in order], np.int8),
        tuple(taxa[at].name for at in order),
        none,
        none,
    )
