"""Figures of scans and of linkage disequilibrium."""
