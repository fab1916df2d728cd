"""Seeded simulators, one kind of data a module."""
