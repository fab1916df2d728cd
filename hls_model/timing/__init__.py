"""Two levels of timing that agree: events (L1) and every cycle (L2)."""

from hls_model.timing.result import LEVELS, Timing, simulate

__all__ = ["LEVELS", "Timing", "simulate"]
