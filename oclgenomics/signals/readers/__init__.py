"""Readers of raw signals, one format a module."""
