"""Sections of a k-mer database: k-mers and counts as bytes, encoded and decoded by NumPy or on the device."""
