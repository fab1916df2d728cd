"""Decisions from the limits of a device, by arithmetic alone: memory, and the bins of counting on CPUs."""
