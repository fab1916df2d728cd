"""Sketches, the index and candidates on the device."""
