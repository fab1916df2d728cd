"""Writes k-mers in the formats of other programs."""
