"""K-mers counted by others: text, k, canonical, and the counts in ascending order."""

from __future__ import annotations

__all__ = ["GOLDEN", "A", "B", "C"]

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
