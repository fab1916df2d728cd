"""Readers of alignments: ms, MaCS, FASTA and VCF, plain or packed, tree sequences and VCF Zarr."""
