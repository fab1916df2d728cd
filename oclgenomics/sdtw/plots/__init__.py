"""Figures of target selection."""
