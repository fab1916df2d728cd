"""Simulated signatures and samples as files: FASTA, FASTQ, and a table of what was planted."""

from __future__ import annotations

from itertools import pairwise

from oclgenomics.io.packed_file import Sink
from oclgenomics.simulate.planting import SimulatedSignatures
from oclgenomics.simulate.signatures import SampleBatch

__all__ = [
    "TRUTH_COLUMNS",
    "sample_name",
    "signature_name",
    "write_samples",
    "write_signatures",
    "write_truth_head",
    "write_truth_rows",
]

TRUTH_COLUMNS = ("sample", "signature", "strand", "start", "end", "mismatches")


def sample_name(number: int) -> str:
    """Return the name of a sample, by its number from 0."""
    return f"sample_{number + 1:06}"


def signature_name(number: int) -> str:
    """Return the name of a signature, by its number from 0."""
    return f"signature_{number + 1:05}"


def write_signatures(stream: Sink, signatures: SimulatedSignatures) -> None:
    """Write signatures as FASTA, each in one line."""
    text = signatures.letters.data
    for number, (begin, end) in enumerate(pairwise(signatures.offsets.tolist())):
        stream.write(b">%s\n%s\n" % (signature_name(number).encode(), text[begin:end]))


def write_samples(stream: Sink, batch: SampleBatch) -> None:
    """Write samples as FASTQ of four lines a record."""
    letters, qualities = batch.letters.data, batch.qualities.data
    parts: list[bytes | memoryview] = []
    for number, (begin, end) in enumerate(pairwise(batch.offsets.tolist()), batch.first):
        parts += [b"@%s\n" % sample_name(number).encode(), letters[begin:end], b"\n+\n", qualities[begin:end], b"\n"]
    stream.write(b"".join(parts))


def write_truth_head(stream: Sink, provenance: str) -> None:
    """Write the head of a table of copies: a comment that says how it was made, and the names of `TRUTH_COLUMNS`."""
    stream.write(f"# {provenance}\n{'	'.join(TRUTH_COLUMNS)}\n".encode())


def write_truth_rows(stream: Sink, batch: SampleBatch) -> None:
    """Write a line for each copy of a signature: `TRUTH_COLUMNS`, separated by tabs; starts count from 0."""
    copies = batch.copies
    columns = (copies.sample, copies.signature, copies.reverse, copies.start, copies.end, copies.mismatches)
    for sample, signature, reverse, *numbers in zip(*(column.tolist() for column in columns), strict=True):
        row = [sample_name(sample), signature_name(signature), "-" if reverse else "+", *map(str, numbers)]
        stream.write(("\t".join(row) + "\n").encode())
