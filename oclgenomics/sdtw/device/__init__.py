"""Alignments on the device."""
