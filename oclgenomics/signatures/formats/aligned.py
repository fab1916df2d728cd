"""Matches with their alignments, as PAF and SAM."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.provenance import provenance_lines
from oclgenomics.app.reports import encoded
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.signatures.formats.report_lines import ScanReport, rows, texts
from oclgenomics.signatures.matches.joining import falling_means, run_starts
from oclgenomics.signatures.result import Alignments, Matches, ScanPart, match_columns

UNKNOWN_QUALITY = 255  # of a mapping, as PAF and SAM have it
PAF_COLUMNS = (
    "sample", "sample_length", "start", "end", "strand", "signature", "length", "first", "last", "same", "columns",
    "quality", "type", "cigar", "tags",
)  # fmt: skip
PAF_FORM = "\t".join(["%s"] * 12 + ["tp:A:%s", "cg:Z:%s", "%s"]) + "\n"
SAM_COLUMNS = ("sample", "flag", "signature", "position", "cigar", "bases", "qualities", "tags")
SAM_FORM = f"%s\t%s\t%s\t%s\t{UNKNOWN_QUALITY}\t%s\t*\t0\t0\t%s\t%s\t%s\n"
FLAG_REVERSE, FLAG_SECONDARY = 16, 256
LONGEST_NAME = 254  # bytes of a name in SAM
NUL = "\0"  # at which its readers take a line to end
COMPLEMENTED = str.maketrans("ACGTUMRWSYKVHDBNacgtumrwsykvhdbn", "TGCAAKYWSRMBDHVNtgcaakywsrmbdhvn")
WITHOUT_U = str.maketrans("Uu", "Tt")  # BAM has no U


class PafReport(ScanReport):
    """PAF: a line for each match, with the sample as the query and the signature as the target."""

    def _lines(self, part: ScanPart) -> str:
        matches, aligned = part.matches, _alignments(part)
        columns: dict[str, Any] = match_columns(self._panel, part.samples, matches)
        first, last = matches.inside(self._panel.lengths)
        columns |= {
            "sample": [name or "*" for name in columns["sample"].tolist()],
            "sample_length": part.samples.letters[matches.sample - _first_number(part)],
            "length": self._panel.lengths[matches.signature],
            "first": first,
            "last": last,
            "same": aligned.same,
            "columns": aligned.same + matches.mismatches,
            "quality": np.full(len(matches), UNKNOWN_QUALITY),
            "type": ["P" if primary else "S" for primary in _primary(matches).tolist()],
            "cigar": aligned.cigar.tolist(),
            "tags": _tags(part),
        }
        return rows(columns, PAF_COLUMNS, PAF_FORM)


class SamReport(ScanReport):
    """SAM: a record for each match, with the sample as the read and the signature as the reference.

    The record of a sample's best match has all its bases and qualities, with soft clips; its other records have none.
    Samples without qualities may be as long as chromosomes: their records have the bases under the match alone.

    Raises
    ------
    InputError
        SAM cannot hold the name of a signature (`head`) or of a sample (`body`).
    """

    def head(self) -> bytes:
        for name in self._panel.names:
            if name.startswith(("*", "=")) or NUL in name:
                trouble = "have no zero byte" if NUL in name else f"do not begin with {name[0]}"
                raise InputError(f"signature {name}: names in SAM {trouble}; rename it, or write PAF")
        lines = ["@HD\tVN:1.6\tSO:unsorted\tGO:query"]
        lengths = self._panel.lengths.tolist()
        lines += [f"@SQ\tSN:{name}\tLN:{length}" for name, length in zip(self._panel.names, lengths, strict=True)]
        made = dict(self._provenance)
        if made:
            program, version = made.pop("program", ""), made.pop("version", "")
            command = " ".join(" ".join(made.pop("command", ())).split())
            lines.append(f"@PG\tID:{program}\tPN:{program}\tVN:{version}\tCL:{command}")
        text = "".join([line + "\n" for line in lines])
        return encoded(text + provenance_lines(made).replace("# ", "@CO\t"))

    def _lines(self, part: ScanPart) -> str:
        matches, aligned = part.matches, _alignments(part)
        columns: dict[str, Any] = match_columns(self._panel, part.samples, matches)
        primary, reverse = _primary(matches), matches.strand == 1
        behind = part.samples.letters[matches.sample - _first_number(part)] - matches.end
        clips = np.where(reverse, [behind, matches.start], [matches.start, behind])
        bases, qualities = _bases(part, primary)
        columns |= {
            "sample": _query_names(part, columns["sample"].tolist()),
            "position": matches.inside(self._panel.lengths)[0] + 1,
            "flag": FLAG_REVERSE * reverse + FLAG_SECONDARY * ~primary,
            "cigar": [
                f"{_clip(first, mark)}{cigar}{_clip(last, mark)}"
                for first, last, cigar, mark in zip(
                    *clips.tolist(), aligned.cigar.tolist(), _marks(matches), strict=True
                )
            ],
            "bases": bases,
            "qualities": qualities,
            "tags": _tags(part),
        }
        return rows(columns, SAM_COLUMNS, SAM_FORM)


def _alignments(part: ScanPart) -> Alignments:
    if part.alignments is None:
        raise ParameterError("alignments", "the parts have no alignments; scan with `alignments=True`")
    return part.alignments


def _first_number(part: ScanPart) -> int:
    return int(part.samples.number[0]) if len(part.samples) else 0


def _primary(matches: Matches) -> NDArray[np.bool_]:
    """Whether each match is the best of its sample, as `report=read` has it; then the leftmost."""
    means = falling_means(matches.quality_sum, matches.end - matches.start)
    order = np.lexsort((*means, matches.missed, matches.sample))
    primary = np.zeros(len(matches), np.bool_)
    primary[order[run_starts(matches.sample[order])]] = True
    return primary


def _tags(part: ScanPart) -> list[str]:
    """What the formats of alignments have no columns for."""
    matches = part.matches
    columns: list[NDArray[Any]] = [matches.mismatches, matches.informative, matches.hits]
    form = "NM:i:%d\tXI:i:%d\tXH:i:%d"
    if part.rivals is not None:
        columns.append(part.rivals.ties)
        form += "\tXT:i:%d"
    scores = texts(matches.score, "\tXQ:f:%.3f", matches.has_qualities, "")
    outside = texts(matches.outside, "\tXO:i:%d", matches.outside > 0, "")
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return [form % row + score + more for row, score, more in zip(numbers, scores, outside, strict=True)]


def _marks(matches: Matches) -> list[str]:
    return ["S" if known else "H" for known in matches.has_qualities.tolist()]


def _clip(size: int, mark: str) -> str:
    return f"{size}{mark}" if size else ""


def _query_names(part: ScanPart, names: list[str]) -> list[str]:
    for name, number in zip(names, part.matches.sample.tolist(), strict=True):
        if len(name.encode()) > LONGEST_NAME or name.startswith("@") or NUL in name:
            at = int(number - _first_number(part))
            trouble = "has a zero byte" if NUL in name else f"has more than {LONGEST_NAME} bytes"
            trouble = "begins with @" if name.startswith("@") else trouble
            what = f"sample {number + 1:,} has a name that SAM cannot hold: it {trouble}; use `format=paf`"
            raise InputError(what, source=str(part.samples.source[at]))
    return [name or "*" for name in names]


def _bases(part: ScanPart, primary: NDArray[np.bool_]) -> tuple[list[str], list[str]]:
    """Bases and qualities of records, in the direction of signatures; * where there are none."""
    matches, aligned = part.matches, _alignments(part)
    bases, qualities = ["*"] * len(matches), ["*"] * len(matches)
    letters = aligned.letters.tolist()
    for row in np.flatnonzero(~matches.has_qualities).tolist():
        bases[row] = letters[row]
    sample = np.cumsum(np.append(False, matches.sample[1:] != matches.sample[:-1]))[: len(matches)]
    whole = np.flatnonzero(matches.has_qualities & primary)
    reads, scores = (texts.take(sample[whole]).tolist() for texts in (aligned.reads, aligned.qualities))
    for row, read, score in zip(whole.tolist(), reads, scores, strict=True):
        bases[row], qualities[row] = read or "*", score or "*"
    for row in np.flatnonzero(matches.strand == 1).tolist():
        bases[row], qualities[row] = bases[row][::-1].translate(COMPLEMENTED), qualities[row][::-1]
    return [text.translate(WITHOUT_U) for text in bases], qualities
