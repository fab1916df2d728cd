"""Reads of a query, with their sketches."""
