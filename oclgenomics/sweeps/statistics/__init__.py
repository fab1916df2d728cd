"""The statistics on the host: what the counts and sums of the device mean."""
