"""Which channels are selected, if the device cannot serve all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ChannelChoice"]

GOLDEN = (5**0.5 - 1) / 2  # multiples of it lie evenly between whole numbers, however many there are
WINDOW = 2.0  # seconds between two choices
LEAST_READS = 20  # that tell anything
GAIN = 0.5  # exponent of growth: as more channels are served, each gives more reads
ENOUGH = 0.87  # share of the reads of selected channels that are judged in time: with less there are fewer channels
PLENTY = 0.92  # with more there are more
BUSY = 0.95  # share of its time for which the device is to work
LARGEST_CUT = 0.6  # in a window
SLOWEST, FASTEST = 1.03, 1.15  # growth in a window
NEARLY_ALL = 0.99  # of the channels, on average, are all
SETTLED = 5  # windows until there is something to tell
AGAIN, CHANGE = 15, 0.25  # windows until it may be told again, and by how much it has to differ


class ChannelChoice:
    """Selects as many channels as the device can serve; the same ones each time, spread evenly over the flow cell.

    A few reads more than it can serve are asked of the device, so that it never waits: the number of channels falls if
    many of their reads are not judged in time although it is busy, and rises while nearly all are. A channel changes
    sides with its next read.

    Parameters
    ----------
    control : ndarray, int64
        Channels that are not to be selected.
    wanted : int, optional
        Select so many, whatever the device can do.
    """

    def __init__(self, control: NDArray[np.int64], wanted: int | None = None) -> None:
        self._control, self._wanted = control, wanted
        self._seen = np.empty(0, np.int64)  # in the order in which they are selected
        self._chosen = np.zeros(1, np.bool_)  # by channel; the last one stands for all that follow
        self._share = 1.0
        self._begun: float | None = None
        self._served = self._missed = 0  # in this window
        self._busy = 0.0
        self._held_up = False
        self._shares: list[float] = []  # of the channels, at the end of each window: more come while a run goes on
        self._told = 0, 0.0  # after how many windows, and which share of the channels

    @property
    def channels(self) -> int:
        """Those that had reads, controls left out."""
        return len(self._seen)

    @property
    def selected(self) -> int:
        """How many of them are selected now."""
        if self._wanted is not None:
            return min(self._wanted, self.channels)
        return min(self.channels, max(1, round(self._share * self.channels)))

    @property
    def usual(self) -> int:
        """How many were selected on average, once it was known how many can be."""
        if self._wanted is not None or not self._shares:
            return self.selected
        share = float(np.mean(self._shares[SETTLED - 1 :] or self._shares[-1:]))
        return self.channels if share > NEARLY_ALL else round(share * self.channels)

    def of(self, channels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which channels are selected, and take note of those that are new."""
        new = np.setdiff1d(channels, self._seen)
        new = new[~np.isin(new, self._control)]
        if len(new):
            seen = np.append(self._seen, new)
            self._seen = seen[np.argsort(rank(seen), kind="stable")]
            self._choose()
        result: NDArray[np.bool_] = self._chosen[np.minimum(channels, len(self._chosen) - 1)]
        return result

    def _choose(self) -> None:
        self._chosen = np.zeros(int(self._seen.max()) + 2, np.bool_)
        self._chosen[self._seen[: self.selected]] = True

    def count(self, served: int, missed: int, seconds: float = 0.0) -> None:
        """Take note of new reads of selected channels, judged in time or not, and of the device's time for them."""
        self._served += served
        self._missed += missed
        self._busy += seconds

    def hold_up(self) -> None:
        """Take note that reads waited for the caller, and not for the device."""
        self._held_up = True

    def adapt(self, now: float) -> bool:
        """Choose anew if it is time; returns whether it was."""
        begun = self._begun = now if self._begun is None else self._begun
        seconds, reads, before = now - begun, self._served + self._missed, self.selected
        if seconds < WINDOW or reads < LEAST_READS or not self._busy:  # a device that hangs tells nothing
            return False
        served, busy = self._served / reads, self._busy / seconds
        if not self._shares:
            pass  # in the first window batches were small, since nothing was known of the device
        elif served < ENOUGH:  # reads that came all at once are missed by a device that has time for more as well
            possible = served / (1.0 if self._held_up else min(1.0, busy))
            self._share = before / self.channels * min(1.0, max(possible / ENOUGH, LARGEST_CUT))
        elif served > PLENTY and before < self.channels:
            self._share *= min(FASTEST, max(SLOWEST, (BUSY / busy) ** GAIN))
        self._share = min(1.0, self._share)
        self._choose()
        self._shares.append(self.selected / self.channels)
        self._begun, self._served, self._missed, self._busy, self._held_up = now, 0, 0, 0.0, False
        return True

    @property
    def short(self) -> bool:
        """Whether the device was too slow for all channels."""
        return self._wanted is None and self.usual < self.channels

    def message(self) -> str | None:
        """How many can be selected, once that is known, and again if it changes much; None if all that was told."""
        windows, now = len(self._shares), self.selected
        if self._wanted is not None or windows < SETTLED:
            return None
        (since, told), share = self._told, now / self.channels
        if told and not (windows - since >= AGAIN and abs(share - told) > CHANGE * told):
            return None
        self._told = windows, share
        if now == self.channels:
            return f"this machine selects all of {now:,} channels"
        return (
            f"warning: this machine selects {about(now)} of {self.channels:,} channels, and sequences all reads of the "
            "others; to select more, shorten the references or the stages, or take a faster device"
        )

    def record(self) -> dict[str, int]:
        """How many there are, and how many were selected."""
        return {"channels": self.channels, "selected": self.usual}

    def text(self) -> str:
        """How many were selected."""
        if not self.channels or self.usual == self.channels:
            return f"all of {self.channels:,}"
        return f"{about(self.usual) if self._wanted is None else f'{self.usual:,}'} of {self.channels:,}"


def about(channels: int) -> str:
    """A number of channels that changes a little all the time."""
    return f"about {round(channels, -1) if channels >= 100 else channels:,}"


def rank(channels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Numbers by whose order channels are selected."""
    result: NDArray[np.float64] = np.modf(channels * GOLDEN)[0]
    return result
