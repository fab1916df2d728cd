"""The oracle: the records of FASTA and FASTQ text and their runs of letters, in plain Python."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Record:
    """A record as it stands, lines joined; FASTA has no qualities."""

    name: str
    letters: str
    qualities: list[int]


def records(text: bytes) -> list[Record]:
    """All records, with the first word of their headers."""
    text = text.lstrip(b"\r\n").replace(b"\r\n", b"\n")
    if text.startswith(b"@"):
        return [
            Record(_name(one.header), _letters(one.letters), [q - 33 for q in one.qualities])
            for one in fastq_records(text)
        ]
    text = text.replace(b"\r", b"\n")
    parts = (b"\n" + text).split(b"\n>")[1:]
    split = [part.partition(b"\n") for part in parts]
    return [Record(_name(b">" + head), _letters(lines.replace(b"\n", b"")), []) for head, _, lines in split]


@dataclass
class FastqRecord:
    """A record of FASTQ, and where its letters are in the text."""

    header: bytes
    letters: bytes = b""
    places: list[int] = field(default_factory=list)
    qualities: bytes = b""


def fastq_records(text: bytes) -> list[FastqRecord]:
    """Records of sound FASTQ of any layout, line by line."""
    found: list[FastqRecord] = []
    part, at = "qualities", 0
    for whole in text.split(b"\n"):
        line = whole.rstrip(b" \t\v\f\r")
        full = not found or len(found[-1].qualities) == len(found[-1].letters)
        if part == "qualities" and line and full:
            found.append(FastqRecord(whole.removesuffix(b"\r")))
            part = "letters"
        elif part == "letters" and line.startswith(b"+"):
            part = "qualities"
        elif part == "letters":
            found[-1].letters += line
            found[-1].places += range(at, at + len(line))
        elif found:
            found[-1].qualities += line
        at += len(whole) + 1
    return found


def _name(header: bytes) -> str:
    return b"".join(header[1:].split()[:1]).decode("utf-8", "replace")


def _letters(line: bytes) -> str:
    return line.decode("latin-1")


def symbols(record: Record, min_quality: int | None = None) -> str:
    """The letters of a record in upper case, "-" for all but A, C, G and T and for letters of lower quality."""
    letters = re.sub("[^ACGTacgt]", "-", record.letters).upper()
    if min_quality is None:
        return letters
    return "".join([x if q >= min_quality else "-" for x, q in zip(letters, record.qualities, strict=True)])


def runs(text: bytes, min_quality: int | None = None, *, compress: bool = False) -> list[str]:
    """Stretches of A, C, G and T, in upper case; any other letter and the end of a record end a stretch.

    With `compress`, runs of equal bases are one base.
    """
    change = compressed if compress else str
    return [run for record in records(text) for run in change(symbols(record, min_quality)).split("-") if run]


def compressed(symbols: str) -> str:
    """The symbols of a record with each run of equal bases as one of them."""
    return "".join([one for place, one in enumerate(symbols) if one == "-" or place == 0 or symbols[place - 1] != one])


def symbols_text(codes: list[int], valid: list[int], size: int) -> str:
    """Packed symbols as letters, "-" for gaps."""
    letters = []
    for s in range(size):
        good = valid[s // 32] >> (31 - s % 32) & 1
        letters.append("ACGT"[codes[s // 16] >> (30 - 2 * (s % 16)) & 3] if good else "-")
    return "".join(letters)
