"""Time as the sequencer counts it: real, faster, or simulated."""

from __future__ import annotations

import time
from typing import Protocol

__all__ = ["Clock", "RealClock", "VirtualClock"]


class Clock(Protocol):
    """Tells the time and lets it pass, in seconds."""

    def now(self) -> float:
        """Seconds since some moment."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""
        ...

    def real(self, seconds: float) -> float:
        """How long so much time really takes."""
        ...


class RealClock:
    """The time of the machine.

    Parameters
    ----------
    speed : float
        How much faster time passes than it does.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self._speed, self._start = speed, time.perf_counter()

    def now(self) -> float:
        """Seconds since this clock was made."""
        return (time.perf_counter() - self._start) * self._speed

    def sleep(self, seconds: float) -> None:
        """Wait."""
        if seconds > 0:
            time.sleep(self.real(seconds))

    def real(self, seconds: float) -> float:
        """How long so much time really takes."""
        return seconds / self._speed


class VirtualClock:
    """A time that only passes when somebody lets it."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        """Seconds that were let pass."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let so much time pass at once."""
        self._now += max(0.0, seconds)

    def real(self, seconds: float) -> float:
        """No time at all."""
        return 0.0
