"""Two levels of timing that agree: events (L1) and every cycle (L2)."""

from hls_model.timing.result import LEVELS as LEVELS, Timing as Timing, simulate as simulate
