"""Histograms and spectra of counted k-mers, and the counts of given k-mers."""
