"""What an omega means: thresholds from neutral replicates, p-values, and how often sweeps are detected."""
