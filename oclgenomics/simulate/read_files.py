"""Simulated reads as FASTQ, and the table of what they are of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.packed_file import Sink
from oclgenomics.simulate.metagenome_files import ListedGenome
from oclgenomics.simulate.sampled_reads import ReadBatch

__all__ = ["fastq", "write_truth"]


def fastq(batch: ReadBatch, genomes: Sequence[ListedGenome], mates: Sequence[int]) -> bytes:
    """Return records of four lines; names end in /1 and /2 for pairs, and headers tell the taxon, if there is one.

    Parameters
    ----------
    batch : ReadBatch
    genomes : sequence of ListedGenome
    mates : sequence of int
        Which mates of each pair, or 0 for single reads.
    """
    paired = len(batch.letters) > 1
    taxids = [b" taxid|%d" % one.species_taxid if one.species_taxid else b"" for one in genomes]
    told = [taxids[genome] for genome in batch.genome.tolist()]
    ends = [(b"/%d" % (mate + 1) if paired else b"", _rows(batch.letters[mate]), _rows(batch.qualities[mate]))
            for mate in mates]  # fmt: skip
    records = []
    for number, taxid in enumerate(told):
        for end, letters, qualities in ends:
            records.append(
                b"@r%d%s%s\n%s\n+\n%s\n" % (batch.first + number, end, taxid, letters[number], qualities[number])
            )
    return b"".join(records)


def _rows(letters: NDArray[np.uint8]) -> list[bytes]:
    rows: list[bytes] = np.ascontiguousarray(letters).view(f"S{letters.shape[1]}")[:, 0].tolist()
    return rows


def write_truth(stream: Sink, batch: ReadBatch, genomes: Sequence[ListedGenome]) -> None:
    """Write a line for each read or pair: name, taxids of its species and genus (0 for aliens), and class."""
    ends = [f"\t{one.species_taxid}\t{one.genus_taxid}\t{one.role}\n" for one in genomes]
    lines = [f"r{batch.first + number}{ends[genome]}" for number, genome in enumerate(batch.genome.tolist())]
    stream.write("".join(lines).encode())
