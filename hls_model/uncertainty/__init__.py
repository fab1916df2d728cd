"""Ranges of a design's time: what is not known about it (`unknowns`), and what follows from that (`bands`)."""

from __future__ import annotations

from hls_model.uncertainty.bands import (
    Band,
    Contribution,
    band,
    built_band,
    built_timing,
    contributions,
    fastest,
    slowest,
)

__all__ = ["Band", "Contribution", "band", "built_band", "built_timing", "contributions", "fastest", "slowest"]
