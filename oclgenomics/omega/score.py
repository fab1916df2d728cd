"""Omega of a window from the sums of its parts."""

from __future__ import annotations

__all__ = ["EPSILON"]

EPSILON = 0.00001  # of OmegaPlus, which keeps the ratio finite where no pair across is linked
