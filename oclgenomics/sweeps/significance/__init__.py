"""What values of statistics mean: thresholds and p-values from neutral replicates, and regions that exceed them."""
