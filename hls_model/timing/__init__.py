"""Three levels of timing that agree: closed form (L0), events (L1), every cycle (L2)."""

from hls_model.timing.result import LEVELS, Timing, simulate

__all__ = ["LEVELS", "Timing", "simulate"]
