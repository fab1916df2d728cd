"""The options of simulated flow cells."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.live.options import MAX_CHANNELS

__all__ = ["FlowCellOptions"]


@dataclass(frozen=True)
class FlowCellOptions:
    """How a flow cell is played. Times are in seconds.

    Attributes
    ----------
    channels : int
    rate : float
        Samples per second.
    chunk : float
        Time from one chunk of a read to the next. The last, incomplete chunk of a read is never sent.
    duration : float
    capture : float
        Mean time from the end of a read to the next one.
    unblock_latency : float
        From the request to unblock a read to its end.
    accumulate : bool
        Send all of a read so far, as readfish's client does, not only what is new.
    once : bool
        Play each read once, instead of drawing reads with replacement.
    seed : int

    Raises
    ------
    ParameterError
        A value is outside its range.
    """

    channels: int = 512
    rate: float = 4000.0
    chunk: float = 0.4
    duration: float = 60.0
    capture: float = 1.0
    unblock_latency: float = 0.07
    accumulate: bool = False
    once: bool = False
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.channels <= MAX_CHANNELS:
            raise ParameterError("channels", f"give 1 to {MAX_CHANNELS:,}", self.channels)
        for name in ("rate", "chunk", "duration", "capture"):
            if not 0 < getattr(self, name) < 1e9:
                raise ParameterError(name, "give more than 0", getattr(self, name))
        if not 0 <= self.unblock_latency < 1e9:
            raise ParameterError("unblock_latency", "give 0 seconds or more", self.unblock_latency)
        if self.chunk * self.rate < 1:
            raise ParameterError("chunk", "a chunk has at least one sample", self.chunk)
        if self.seed < 0:
            raise ParameterError("seed", "give 0 or more", self.seed)
