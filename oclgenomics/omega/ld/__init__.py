"""Linkage disequilibrium of all pairs of sites of a region."""
