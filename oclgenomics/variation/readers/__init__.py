"""Readers of alignments: ms, MaCS, FASTA and VCF, uncompressed or compressed, tree sequences and VCF Zarr."""
