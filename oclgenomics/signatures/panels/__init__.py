"""Signatures, the patterns that they make, and the seeds by which patterns are found."""
