"""The times of commands, into a profile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from oclgenomics.runtime.profile import Profile

if TYPE_CHECKING:
    import pyopencl

__all__ = ["Recorder"]


class Recorder:
    """Records commands by their events where these carry times, and by the host's clock where not.

    Parameters
    ----------
    profile : Profile
    has_times : callable
        Says whether the device's events carry times; it is only asked while the profile is kept.
    """

    def __init__(self, profile: Profile, has_times: Callable[[], bool]) -> None:
        self.profile = profile
        self._has_times = has_times

    def record(self, name: str, lane: str, event: pyopencl.Event, start: int) -> None:
        """Record a command that was enqueued at `start`, on the host's clock."""
        if not self.profile.enabled:
            return
        if self._has_times():
            self.profile.record(name, lane, event, start)
        else:  # the runtime reports zeros: wait, and take the host's clock
            event.wait()
            self.profile.add(name, lane, start, time.perf_counter_ns())
