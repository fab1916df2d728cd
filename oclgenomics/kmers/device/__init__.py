"""Counting on the device, and the runs of what does not fit into memory."""
