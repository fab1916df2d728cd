"""All that gives work to a device: sketches, the building of databases, the index of features, and candidates."""
