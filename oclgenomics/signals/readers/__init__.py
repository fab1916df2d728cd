"""Readers of signals: NumPy files, SLOW5 and BLOW5, POD5, and FAST5; each gives one read after the other."""
