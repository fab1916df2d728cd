"""Readers of alignments: ms, MaCS, FASTA and VCF, plain or gzip, tree sequences and VCF Zarr."""
