"""K-mers of reads looked up on the device."""
