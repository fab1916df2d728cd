"""What is true of simulated signals, and the sequences they are of, as files."""

from __future__ import annotations

from oclgenomics.io.packed_file import Sink
from oclgenomics.simulate.genomes import Genome
from oclgenomics.simulate.signals import SignalBatch

__all__ = ["TRUTH_COLUMNS", "write_genome", "write_truth_head", "write_truth_rows"]

TRUTH_COLUMNS = ("read", "class", "record", "strand", "start", "end", "samples", "lead", "slowness")
LINE_LETTERS = 80
NOTHING = "."  # in place of what junk does not have


def write_genome(stream: Sink, genome: Genome) -> None:
    """Write sequences as FASTA."""
    for name, letters in zip(genome.names, genome.letters, strict=True):
        lines = [letters[at : at + LINE_LETTERS] for at in range(0, len(letters), LINE_LETTERS)]
        stream.write(b"\n".join([b">" + name.encode("utf-8", "replace"), *lines, b""]))


def write_truth_head(stream: Sink, provenance: str) -> None:
    """Write the head of a table of reads: a comment that says how it was made, and the names of `TRUTH_COLUMNS`."""
    stream.write(f"# {provenance}\n{'	'.join(TRUTH_COLUMNS)}\n".encode())


def write_truth_rows(stream: Sink, batch: SignalBatch) -> None:
    """Write a line for each read: `TRUTH_COLUMNS`, separated by tabs; starts count from 0."""
    facts = (batch.signals.names, batch.record, batch.strand, batch.start, batch.end, batch.signals.lengths, batch.lead)
    rows: list[str] = []
    for name, record, strand, start, end, samples, lead, slowness in zip(
        *(fact.tolist() for fact in facts), batch.slowness.tolist(), strict=True
    ):
        place = [record, strand, str(start), str(end)] if strand else [NOTHING] * 4
        rows.append("\t".join([name, batch.label, *place, str(samples), str(lead), f"{slowness:.6g}"]))
    stream.write("".join([f"{row}\n" for row in rows]).encode("utf-8", "replace"))
