"""Pure decisions: search windows, which kernel scores which grid position, and how a scan is cut."""
