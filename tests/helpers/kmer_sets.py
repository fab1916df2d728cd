"""Small sets of k-mers whose counts are known, in memory and as databases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oclgenomics.kmers import reference
from oclgenomics.kmers.database.keys import key_words, keys_of, letters_of
from oclgenomics.kmers.database.kmer_set import CountedKmers, KmerBlock
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions

# What KMC 3.2.1 (-fm) and Jellyfish 2.3 (-C) find.
A = b">a\nGATTACAGATTACATGTAATC\n"
B = b">r1\nACGTNacgtaAC\nGGTTRCCATG\n>r2 desc\n\nTTTTTTTT\n"
C = b">a\nACGTACGTTTGNAAACCCGGGTTT\n>b\nacgtacgtTTGCA\nAACCC\nGGGTTT\n>c\nACGTACGTTRGCAAACCC\n"
GOLDEN = [
    (A, 5, True, "AATCT1 ACAGA1 ACATG2 ATCTG1 ATGTA2 ATTAC3 CTGTA1 GATTA3 TGTAA3"),
    (B, 4, True, "AAAA5 AACC1 AACG1 ACCG1 ACGG1 ACGT2 ATGG1 CATG1 CGTA1 GTAA1 GTTA1"),
    (B, 4, False, "AACG1 ACGG1 ACGT2 CATG1 CCAT1 CGGT1 CGTA1 GGTT1 GTAA1 TAAC1 TTTT5"),
    (
        C,
        8,
        True,
        "AAACCCGG4 AAACGTAC2 AACCCGGG4 AACGTACG3 ACCCGGGT2 ACGTACGT3 ACGTTTGC1 CAAACCCG1 CAAACGTA2 CGTTTGCA1 GCAAACCC2 "
        "GGTTTGCA1 GTTTGCAA2 TTTGCAAA1",
    ),
]


def pairs_of(golden: str, k: int) -> dict[str, int]:
    """A line of `GOLDEN` as k-mers and counts."""
    return {item[:k]: int(item[k:]) for item in golden.split()}


def set_of(counts: dict[str, int], k: int, canonical: bool = True) -> CountedKmers:
    """A set in memory; the k-mers are sorted."""
    kmers = sorted(counts)
    keys = keys_of(kmers) if kmers else np.zeros((key_words(k), 0), np.uint64)
    return CountedKmers(k, canonical, keys, np.array([counts[kmer] for kmer in kmers], np.uint32))


def random_set(k: int, size: int, seed: int = 1, canonical: bool = True, most: int = 300) -> CountedKmers:
    """K-mers drawn at random; canonical ones are the lesser of both strands."""
    rng = np.random.default_rng(seed)
    kmers = {"".join(rng.choice(list("ACGT"), k)) for _ in range(size)}
    if canonical:
        kmers = {min(kmer, reference.reverse_complement(kmer)) for kmer in kmers}
    return set_of({kmer: int(rng.integers(1, most + 1)) for kmer in sorted(kmers)}, k, canonical)


def write_database(path: Path, kmers: CountedKmers) -> Path:
    """A database that holds a set."""
    with DatabaseWriter(path, CountOptions(kmers.k, kmers.canonical)) as writer:
        for block in kmers.blocks():
            writer.append(block)
    return path


def as_dict(blocks: Sequence[KmerBlock], k: int) -> dict[str, int]:
    """K-mers and their counts, in their order."""
    found: dict[str, int] = {}
    for block in blocks:
        kmers = [row.tobytes().decode() for row in letters_of(block.keys, k)]
        found |= dict(zip(kmers, block.counts.tolist(), strict=True))
    return found


def random_text(rng: np.random.Generator, letters: int, alphabet: bytes, record: int) -> bytes:
    """FASTA of random letters."""
    sequence = rng.choice(np.frombuffer(alphabet, np.uint8), letters).tobytes()
    return b"".join(b">r\n%b\n" % sequence[i : i + record] for i in range(0, letters, record))
