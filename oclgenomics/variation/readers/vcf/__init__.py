"""VCF, many lines at a time."""
