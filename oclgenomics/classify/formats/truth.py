"""What reads are of, in truth, what tools called them, and how many calls are right in MetaCache's words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.tally import MAIN_RANKS
from oclgenomics.classify.options import RANKS
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.abundances import percent_text
from oclgenomics.classify.taxonomy.evaluation import CLASSES, Truth
from oclgenomics.classify.taxonomy.identifiers import header_taxids, raw_id, without_version
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.text_file import read_text
from oclgenomics.sequence.name_list import NEWLINE, NameList

_FIELDS = 4
_MAX_DIGITS = 10  # of a taxid
_MATES = ("/1", "/2")


_LAYOUT = "TABLE_LAYOUT: "
_SEPARATOR = "\t|\t"
_BEFORE_CALLS = ("query_id", "query_header", "all_hits", "top_hits", "candidate_locations")
_IN_BRACKETS = re.compile(r"\((-?[0-9]{1,10})\)(?=,|$)")
_BARE = re.compile(r"(?:^|:)(-?[0-9]{1,10})(?=,|$)")
_SHARE = re.compile(r"0\.[0-9]{3}|1\.000")
_TAXID = re.compile(r"[0-9]{1,10}")
_KNOWN = "lines of Kraken, MetaCache's with -taxids or -taxids-only, or the table of --format tsv"
Row = tuple[int, str, int]  # number of the line, name, taxid


def read_name(text: str) -> str:
    """Return the name of a read or pair: the first word, without what tells mates apart."""
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    return word[:-2] if word.endswith(_MATES) else word


def read_truth(path: str | os.PathLike[str]) -> Truth:
    """Read a table of reads: name, taxids of the species and the genus, and class, with tabs between them.

    Parameters
    ----------
    path : str or path-like
        As `oclgenomics simulate reads --truth` writes it; lines that start with # are left out.

    Raises
    ------
    InputError
        The file cannot be read, a line is something else, or two have the same name.
    """
    text, source = read_text(path)
    rows: dict[str, tuple[int, int, int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.rstrip("\r").split("\t")
        if len(fields) != _FIELDS or not (_is_taxid(fields[1]) and _is_taxid(fields[2])) or fields[3] not in CLASSES:
            what = f"is not a name, the taxids of a species and a genus, and one of {', '.join(CLASSES)}"
            raise InputError(what, source=source, line=number)
        name = read_name(fields[0])
        if name in rows:
            raise InputError(f"names the read {name} a second time", source=source, line=number)
        rows[name] = int(fields[1]), int(fields[2]), CLASSES.index(fields[3])
    table = np.array(list(rows.values()), np.int64).reshape(-1, 3)
    return Truth(tuple(rows), table[:, 0], table[:, 1], table[:, 2].astype(np.int8))


def _is_taxid(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS


def read_calls(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read the taxid of each read; 0 for unclassified ones.

    Parameters
    ----------
    path : str or path-like
        Lines of Kraken (of any version, or of `--format kraken`); native lines of MetaCache or of this package, that
        hold taxids and, if they tell candidates, the line with their layout; or the table of `--format tsv`. Of a
        native lineage the lowest taxon counts.

    Returns
    -------
    dict of str to int
        By the names of reads and pairs, without /1.

    Raises
    ------
    InputError
        The file cannot be read, holds something else, or names a read twice.
    """
    text, source = read_text(path)
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1)]
    calls: dict[str, int] = {}
    for number, name, taxid in _rows(lines, source):
        if name in calls:
            raise InputError(f"names the read {name} a second time", source=source, line=number)
        calls[name] = taxid
    return calls


def read_confidences(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read the confidence of each read, in thousandths.

    Parameters
    ----------
    path : str or path-like
        The table of `--format tsv`.

    Returns
    -------
    dict of str to int
        By the names of reads and pairs, without /1.

    Raises
    ------
    InputError
        The file cannot be read, or has no such column, or a line of it is something else.
    """
    text, source = read_text(path)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    heads = lines[0].split("\t")
    if "read" not in heads or "confidence" not in heads:
        raise InputError("has no column of confidences; classify with --format tsv", source=source)
    name, share = heads.index("read"), heads.index("confidence")
    found: dict[str, int] = {}
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        if line.strip():
            if len(fields) <= max(name, share) or not _SHARE.fullmatch(fields[share]):
                raise InputError("has no confidence from 0.000 to 1.000", source=source, line=number)
            found[read_name(fields[name])] = min(int(fields[share].replace(".", "")), 1000)
    return found


def _rows(lines: list[tuple[int, str]], source: str) -> Iterator[Row]:
    first = next((line for _, line in lines if line.strip() and not line.startswith("#")), "")
    layout = next((line.split(_LAYOUT, 1)[1] for _, line in lines if _LAYOUT in line), None)
    rows = [(number, line) for number, line in lines if line.strip() and not line.startswith("#")]
    if layout is not None or _SEPARATOR in first:
        return _native(rows, layout, source)
    if first.startswith(("C\t", "U\t")) or not first:
        return _columns(rows, 1, 2, source)
    heads = first.split("\t")
    if "read" in heads and "taxid" in heads:
        return _columns(rows[1:], heads.index("read"), heads.index("taxid"), source)
    raise InputError(f"is none of these: {_KNOWN}", source=source)


def _columns(rows: Iterable[tuple[int, str]], name: int, taxid: int, source: str) -> Iterator[Row]:
    for number, line in rows:
        fields = line.split("\t")
        found = _TAXID.fullmatch(_number_of(fields[taxid])) if len(fields) > max(name, taxid) else None
        if found is None:
            raise InputError("has no name and taxid of a read where others have them", source=source, line=number)
        yield number, read_name(fields[name]), int(found[0])


def _number_of(field: str) -> str:
    """A taxid, also where `kraken2 --use-names` writes it: "name (taxid 9606)"."""
    return field.rsplit("(taxid ", 1)[-1].removesuffix(")") if field.endswith(")") else field


def _native(rows: Iterable[tuple[int, str]], layout: str | None, source: str) -> Iterator[Row]:
    heads = (layout or "query_header").split(_SEPARATOR)
    if "query_header" not in heads:
        raise InputError("tells a layout without names of reads", source=source)
    before = [head for head in heads if head in _BEFORE_CALLS]
    pattern = _IN_BRACKETS if any("taxname" in head for head in heads) else _BARE
    if layout is not None and not any("taxid" in head for head in heads):
        raise InputError("has no taxids; classify with -taxids or -taxids-only", source=source)
    name = heads.index("query_header")
    for number, line in rows:
        fields = line.split(_SEPARATOR)
        if len(fields) <= len(before):
            raise InputError("has fewer columns than its layout", source=source, line=number)
        yield number, read_name(fields[name]), _lowest(fields[len(before) :], pattern, source, number)


def _lowest(fields: list[str], pattern: re.Pattern[str], source: str, line: int) -> int:
    taxids = [int(found) for field in fields for found in pattern.findall(field)]
    if any(taxid < 0 for taxid in taxids) and not any(taxid > 0 for taxid in taxids):
        raise InputError("is a call of a sequence, without its species; classify with -lowest species or -lineage",
                         source=source, line=line)  # fmt: skip
    return next((taxid for taxid in taxids if taxid > 0), 0)


class PrecisionTally:
    """Counts calls that are right, part by part, as MetaCache counts them.

    A call is right at a rank if it and the true taxon have a taxon of that rank, or of a lower one, in common. A read
    whose true taxon is of a higher rank than its call can be right at that rank and above.

    Parameters
    ----------
    lineages : Lineages

    Attributes
    ----------
    reads : int
        Those without a known taxon as well.
    called : ndarray, int64 (ranks,)
        Reads that are called a taxon of each rank.
    known : ndarray, int64 (ranks,)
        Reads whose true taxon is known and is of each rank.
    called_known : ndarray, int64 (ranks,)
        Those of them that are called a taxon of each rank.
    right : ndarray, int64 (ranks,)
        Those for which each rank is the lowest one at which both lineages agree.
    """

    def __init__(self, lineages: Lineages) -> None:
        self._at_rank = lineages.at_rank
        filled = lineages.at_rank != NO_TAXON
        self._slots = np.where(filled.any(axis=1), filled.argmax(axis=1), RANKS.index("root"))
        self.reads = 0
        self.called, self.known, self.called_known, self.right = (np.zeros(len(RANKS), np.int64) for _ in range(4))

    def add(self, part: ClassifiedReads, truth: NDArray[np.int32]) -> None:
        """Count the reads of a part.

        Parameters
        ----------
        part : ClassifiedReads
        truth : ndarray, int32 (reads,)
            The true taxon of each read, a number in `Lineages`; `NO_TAXON` if it is not known.
        """
        calls = part.calls.taxon
        called, known = calls != NO_TAXON, truth != NO_TAXON
        both = called & known
        self.reads += len(part)
        self.called += self._counted(calls[called])
        self.known += self._counted(truth[known])
        self.called_known += self._counted(calls[both])
        ours, true = self._at_rank[calls[both]], self._at_rank[truth[both]]
        same = (ours == true) & (ours != NO_TAXON)
        agreed = same.argmax(axis=1)[same.any(axis=1)]
        self.right += np.bincount(agreed, minlength=len(RANKS))

    def _counted(self, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.bincount(self._slots[numbers], minlength=len(RANKS))


def precision_text(tally: PrecisionTally, comment: str = "# ") -> str:
    """Say how many reads are right at each rank or below; ranks start with the lowest one of any call.

    Precision is the share of those that are called anything there and whose true taxon is known; sensitivity is the
    share of all reads whose true taxon is known there. If none is known, that is all that is said, where MetaCache says
    nothing.

    Parameters
    ----------
    tally : PrecisionTally
    comment : str
        Starts each line.
    """
    called, known, called_known, right = (
        np.cumsum(counts) for counts in (tally.called, tally.known, tally.called_known, tally.right)
    )
    if not known[-1]:
        return f"{comment}ground truth unknown: 100% ({tally.reads})\n" if tally.reads else ""
    ranks = [(rank, RANKS.index(rank)) for rank in MAIN_RANKS if called[RANKS.index(rank)]]
    lines = []
    if unknown := tally.reads - int(known[-1]):
        lines.append(f"ground truth unknown: {percent_text(unknown / tally.reads)}% ({unknown})")
    lines.append("ground truth known:")
    lines += [f"  {rank:<11}{_percent(known[at], tally.reads)} ({known[at]})" for rank, at in ranks]
    lines.append("correctly classified:")
    lines += [f"  {rank:<11}{right[at]}" for rank, at in ranks]
    lines.append("precision (correctly classified / classified) if ground truth known:")
    lines += [f"  {rank:<11}{_percent(right[at], called_known[at])}" for rank, at in ranks]
    lines.append("sensitivity (correctly classified / all) if ground truth known:")
    lines += [f"  {rank:<11}{_percent(right[at], known[at])}" for rank, at in ranks]
    return "".join([f"{comment}{line}\n" for line in lines])


def _percent(part: np.int64, whole: np.int64 | int) -> str:
    return f"{percent_text(int(part) / max(int(whole), 1))}%"


class HeaderTruth:
    """Finds the true taxa of reads: the target whose accession is in the header, else the taxid behind "taxid|".

    Of an accession that no target has, one with another version or none does. A taxon that fills no rank counts as
    the first one above it that does. Headers are read one by one on the host, so this is slow.

    Parameters
    ----------
    lineages : Lineages
        Of the database: taxa that it does not hold are not known.
    """

    def __init__(self, lineages: Lineages) -> None:
        self._lineages = lineages
        taxa, names = len(lineages.taxonomy), lineages.targets.names
        self._targets = {name: taxa + target for target, name in enumerate(names)}
        for target, name in enumerate(names):
            self._targets.setdefault(without_version(name), taxa + target)
        rows = lineages.at_rank
        self._ranked = np.append(rows[np.arange(len(rows)), (rows != NO_TAXON).argmax(axis=1)], np.int32(NO_TAXON))

    def of(self, part: ClassifiedReads) -> NDArray[np.int32]:
        """Return the true taxa of the reads of a part, of pairs by the first mates.

        Returns
        -------
        ndarray, int32 (reads,)
            Numbers in `Lineages`; `NO_TAXON` where the header does not tell.

        Raises
        ------
        UsageError
            The part does not have the records.
        """
        if not len(part):
            return np.zeros(0, np.int32)
        if not part.texts:
            raise ParameterError("ground_truth", "the query has to be asked for texts")
        headers = _headers(part.texts[0])
        by_taxid = self._lineages.taxonomy.find(header_taxids(headers))
        found = [
            self._target(raw_id(header, "ncbi"), taxon)
            for header, taxon in zip(headers, by_taxid.tolist(), strict=True)
        ]
        return self._ranked[found]

    def _target(self, accession: str, otherwise: int) -> int:
        named = self._targets.get(accession)
        return self._targets.get(without_version(accession), otherwise) if named is None else named


def _headers(texts: NameList) -> list[str]:
    """The first lines of records, without what marks them."""
    letters = texts.letters
    newlines = np.append(np.flatnonzero(letters == NEWLINE), len(letters))
    begins = texts.starts[:-1]
    ends = np.minimum(newlines[np.searchsorted(newlines, begins)], texts.starts[1:])
    data = letters.tobytes()
    return [
        data[begin + 1 : end].decode("utf-8", "replace").rstrip("\r")
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
