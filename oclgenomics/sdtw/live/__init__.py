"""Selection of reads while they are sequenced."""
