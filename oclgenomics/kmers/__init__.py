"""K-mers of sequences, counted on the device."""
