"""`oclgenomics signatures`: patterns with wildcards in reads and genomes."""
