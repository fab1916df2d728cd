"""What a scan for signatures gives, made by the oracle."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from oclgenomics.sequence.name_list import NameList
from oclgenomics.signatures import reference
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import STRANDS, Alignments, Matches, Rivals, Samples, ScanPart


@dataclass(frozen=True)
class Read:
    """A record; without qualities where they are None."""

    name: str
    letters: str
    qualities: str | None = None


def matches_of(
    rows: Sequence[reference.Match], sample: Sequence[int] | None = None, signature: Sequence[int] | None = None,
    hits: Sequence[int] | None = None,
) -> Matches:  # fmt: skip
    """Matches of the oracle as columns; of the first signature in the first sample if nothing else is said."""
    zeros = [0] * len(rows)
    return Matches(
        np.array(sample or zeros, np.int64), np.array(signature or zeros, np.int32),
        np.array([STRANDS.index(row.strand) for row in rows], np.uint8),
        np.array([row.start for row in rows], np.int64), np.array([row.end for row in rows], np.int64),
        np.array(hits or [1] * len(rows), np.int64), np.array([row.mismatches for row in rows], np.int32),
        np.array([row.quality_sum is not None for row in rows], np.bool_),
        np.array([row.quality_sum or 0 for row in rows], np.uint64),
        np.array([row.informative for row in rows], np.int64), np.array([row.sample_ns for row in rows], np.int64),
        np.array([row.signature_ns for row in rows], np.int64),
        np.array([row.error_units or 0 for row in rows], np.uint64), np.array([row.outside for row in rows], np.int64),
        np.array([row.before for row in rows], np.int64),
    )  # fmt: skip


def samples_of(reads: Sequence[Read], pairs: Sequence[int], first: int = 0, source: str = "x.fq") -> Samples:
    """Samples as a scan tells of them, all of which end."""
    scores = [[ord(byte) - 33 for byte in read.qualities or ""] for read in reads]
    known = [read.qualities is not None for read in reads]
    return Samples(
        number=np.arange(first, first + len(reads), dtype=np.int64),
        name=np.array([read.name for read in reads], object), source=np.array([source] * len(reads), object),
        letters=np.array([len(read.letters) for read in reads], np.int64),
        ns=np.array([read.letters.upper().count("N") for read in reads], np.int64),
        ambiguous=np.array([sum(letter not in "ACGTUacgtu" for letter in read.letters) for read in reads], np.int64),
        has_qualities=np.array(known, np.bool_), quality_sum=np.array([sum(some) for some in scores], np.uint64),
        least_quality=np.array([min(some, default=255) for some in scores], np.uint8),
        pairs=np.array(pairs, np.int64), ends=np.ones(len(reads), np.bool_),
    )  # fmt: skip


def scan_part(reads: Sequence[Read], panel: Panel, texts: Sequence[str], options: ScanOptions, first: int) -> ScanPart:
    """Scan some reads; `texts` are the letters of the signatures."""
    rows: list[reference.Match] = []
    sample: list[int] = []
    signature: list[int] = []
    hits: list[int] = []
    rivals: list[tuple[int, int]] = []
    pairs = [0] * len(reads)
    for number, read in enumerate(reads):
        here: list[tuple[reference.Match, int, int]] = []
        for other, text in enumerate(texts):
            for strand in STRANDS if options.strand == "both" else (options.strand,):
                found = _found(read, text, strand, options)
                pairs[number] += bool(found)
                chosen = found
                if found and options.report != "all":
                    chosen = [found[0] if options.report == "first" else reference.best(found)]
                here += [(match, other, 1 if options.report == "all" else len(found)) for match in chosen]
        if options.report == "read" and here:
            # `min` takes the first of equal ones.
            best = min(here, key=lambda row: (row[0].mismatches + row[0].outside, -reference.mean_quality(row[0])))
            least: dict[int, int] = {}
            for match, other, _ in here:
                missed = match.mismatches + match.outside
                least[other] = min(missed, least.get(other, missed))
            others = [missed for other, missed in least.items() if other != best[1]]
            rivals.append((others.count(best[0].mismatches + best[0].outside), min(others, default=-1)))
            here = [best]
        rows += [match for match, _, _ in here]
        sample += [first + number] * len(here)
        signature += [other for _, other, _ in here]
        hits += [count for _, _, count in here]
    part = ScanPart(samples_of(reads, pairs, first), matches_of(rows, sample, signature, hits))
    if options.report == "read":
        part = replace(part, rivals=Rivals(*np.array(rivals, np.int64).reshape(-1, 2).T))
    if options.alignments:
        aligned = [
            (reads[at - first], texts[other], row) for row, at, other in zip(rows, sample, signature, strict=True)
        ]
        part = replace(part, alignments=_alignments(aligned, gaps=options.max_edits > 0))
    return part


def _found(read: Read, text: str, strand: str, options: ScanOptions) -> list[reference.Match]:
    least: dict[str, Any] = {name: getattr(options, name) for name in ("min_informative", "min_score", "overhang")} | {
        "overhang_at": options.overhangs_at
    }
    given = read.letters, read.qualities, text
    if options.max_edits:
        return reference.places(*given, strand=strand, max_edits=options.max_edits, **least)
    return reference.matches(*given, strand=strand, max_mismatches=options.max_mismatches, **least)


def _alignments(rows: Sequence[tuple[Read, str, reference.Match]], *, gaps: bool) -> Alignments:
    """The alignments of matches in reads, which come in their order."""
    cigars = [reference.cigar(read.letters, text, match, gaps=gaps) for read, text, match in rows]
    same = [sum(int(size) for size in re.findall(r"(\d+)=", cigar)) for cigar in cigars]
    samples = [read for read, _ in groupby(read for read, _, _ in rows)]
    return Alignments(
        np.array(same, np.int64), NameList.of(cigars),
        NameList.of([read.letters[match.start : match.end] for read, _, match in rows]),
        NameList.of(["" if read.qualities is None else read.letters for read in samples]),
        NameList.of([read.qualities or "" for read in samples]),
    )  # fmt: skip


def scan_parts(
    reads: Sequence[Read], signatures: Sequence[tuple[str, str]], options: ScanOptions | None = None, size: int = 2
) -> tuple[Panel, Iterator[ScanPart]]:
    """Scan reads, so many a part."""
    options = options or ScanOptions()
    panel = Panel.from_signatures(signatures)
    texts = [text for _, text in signatures]
    parts = (scan_part(reads[at : at + size], panel, texts, options, at) for at in range(0, len(reads), size))
    return panel, parts
