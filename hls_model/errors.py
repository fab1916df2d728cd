"""What the model raises on purpose: one line that says what is wrong, where, and what to do."""

from __future__ import annotations

__all__ = ["ModelError", "ModelOutputError"]


class ModelError(ValueError):
    """A parameter, a configuration file, a workload or an output that the model cannot take."""


class ModelOutputError(ModelError):
    """An output that could not be written; nothing half written is left behind."""
