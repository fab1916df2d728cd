"""What the model raises on purpose: one line that says what is wrong, where, and what to do."""

from __future__ import annotations


class ModelError(ValueError):
    """A parameter that the model cannot use."""

    exit_code = 2


class ModelInputError(ModelError):
    """An input file that is missing, unreadable or malformed."""

    exit_code = 3


class ModelOutputError(ModelError):
    """An output that could not be written; no incomplete file is left behind."""

    exit_code = 5
