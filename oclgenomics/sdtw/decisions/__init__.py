"""What is decided of a read by its scores: stages, thresholds, and the words for it."""
