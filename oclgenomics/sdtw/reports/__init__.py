"""Alignments and decisions as text."""
