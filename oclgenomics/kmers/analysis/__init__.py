"""What counted k-mers tell: histograms, spectra, and counts of given k-mers."""
