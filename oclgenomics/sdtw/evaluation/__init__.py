"""How well alignments tell target reads from others, and at which thresholds."""
