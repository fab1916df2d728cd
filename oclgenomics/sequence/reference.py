"""The oracle: the runs of letters of FASTA and FASTQ text, in plain Python."""

from __future__ import annotations

import re

__all__ = ["runs", "sequences", "symbols_text"]


def sequences(text: bytes) -> list[str]:
    """The sequence of each record, lines joined, as it stands."""
    if text.lstrip(b"\r\n").startswith(b"@"):
        lines = text.decode("latin-1").replace("\r\n", "\n").split("\n")
        return [lines[i + 1] for i in range(0, len(lines) - 1, 4) if lines[i].startswith("@")]
    records: list[list[str]] = [[]]
    for line in text.decode("latin-1").replace("\r\n", "\n").split("\n"):
        if line.startswith(">"):
            records.append([])
        else:
            records[-1].append(line)
    return ["".join(lines) for lines in records]


def runs(text: bytes) -> list[str]:
    """Stretches of A, C, G and T, in upper case: nothing joins what another letter or a record's end parts."""
    return [run for sequence in sequences(text) for run in re.findall("[ACGT]+", sequence.upper())]


def symbols_text(codes: list[int], valid: list[int], size: int) -> str:
    """Packed symbols as letters, "-" for gaps."""
    letters = []
    for s in range(size):
        good = valid[s // 32] >> (31 - s % 32) & 1
        letters.append("ACGT"[codes[s // 16] >> (30 - 2 * (s % 16)) & 3] if good else "-")
    return "".join(letters)
