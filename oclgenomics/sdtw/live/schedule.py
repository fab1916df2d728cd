"""What a device can serve: which reads are judged next and how many together, and which channels are selected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.decisions.thresholds import UNDECIDED, WORDS
from oclgenomics.sdtw.live.channels import ChannelTable
from oclgenomics.sdtw.live.judging import Job, Verdict

VECTORS = 32, 16  # reads that a CPU aligns as fast as one: a part of a vector costs as much as all of it
FIRST_READS = 4  # of the first batch, when nothing is known; each batch may be twice as large as the one before
MEMORY, LITTLE = 0.95, 0.3  # weight of what was known, at each batch; and if that was far from it
SURPRISE = 2.0  # times more or less seconds than expected are far
OVERHEAD = 4.0  # batches take at least so many times what a batch of no reads takes: the rest is work
LEAST_SPREAD = 1e-3  # of batch sizes, squared and relative, that tells overhead from work
DEADLINE = 1.0  # seconds, where none is given
BATCHES = 4  # of the smallest size that fit into a deadline that is not given
DITHER, EVERY = 0.6, 4  # so much of a full batch, each so many times: equal batches do not tell overhead from work
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
AGAIN, CHANGE = 15, 0.25  # windows until it may be said again, and by how much it has to differ


class Schedule:
    """Orders reads that are due by what a verdict is expected to bring.

    A verdict pays by the rest of a read that is not sequenced. Stages come in the order of the reads that they end in a
    second of the device, as far as is known; in a stage the read whose samples came last is the first, since of it most
    is left. A read that would get its verdict after the deadline is not judged any more. Where more reads are due than
    a batch may hold, it takes whole vectors of each stage, and the rest waits for the next one.

    Parameters
    ----------
    prefixes : sequence of int
        Samples that each stage aligns.
    paying : sequence of int
        Decisions that end a read.
    pace : Pace
    max_batch : int, optional
        Reads in a batch at most.

    Attributes
    ----------
    gains : ndarray, float64, (stages,)
        Reads that end for each sample aligned, if reads are judged at a stage and at as many more as pays most.
    """

    def __init__(self, prefixes: Sequence[int], paying: Sequence[int], pace: Pace, max_batch: int | None) -> None:
        self._work = np.array(prefixes, np.int64)
        self._paying = np.isin(np.arange(len(WORDS)), paying)
        self._max_batch, self.pace = max_batch, pace
        self._judged, self._paid, self._open = (np.zeros(len(prefixes)) for _ in range(3))
        self.gains = self._gains()

    def batch(self, table: ChannelTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the channels of the next batch, and those whose reads are due as well but have no place in it."""
        due = table.due()
        if not len(due):
            return due, due
        stage = table.stage[due]
        # by what is gained, then the latest, then the order in which channels are selected
        ordered = due[np.lexsort((rank(due), -table.arrived[due, stage], -self.gains[stage]))]
        work = np.cumsum(self._work[table.stage[ordered]])
        fit = int(np.searchsorted(work, self.pace.limit(), "right"))
        count = max(1, min(fit, self._max_batch or fit))
        if count >= len(ordered):
            return ordered, ordered[:0]
        taken = np.zeros(len(ordered), np.bool_)
        taken[:count] = in_vectors(table.stage[ordered[:count]])
        return ordered[taken], ordered[~taken]

    def _gains(self) -> NDArray[np.float64]:
        """What is known of them; of what is unknown, half ends reads."""
        paid, going_on = (self._paid + 1) / (self._judged + 2), (self._open + 1) / (self._judged + 2)
        result = np.empty(len(self._work))
        for first in range(len(result)):
            reach = np.cumprod(np.append(1.0, going_on[first:-1]))
            result[first] = np.max(np.cumsum(reach * paid[first:]) / np.cumsum(reach * self._work[first:]))
        return result

    def first_share(self, job: Job) -> float:
        """Share of a batch's work that comes before the second look at reads, or pays as much as the first."""
        work = self._work[job.stage]
        return float(work[self.gains[job.stage] >= self.gains[0]].sum() / work.sum())

    def expired(self, table: ChannelTable, now: float) -> NDArray[np.int64]:
        """Channels whose reads are due, and have waited too long to be judged in time."""
        due = table.due()
        stage = table.stage[due]
        patience = max(0.0, self.pace.deadline - self.pace.full())
        return due[now - table.arrived[due, stage] > patience]

    def learn(self, job: Job, verdict: Verdict, seconds: float) -> None:
        """Take note of what a batch brought, and how long it took."""
        self.pace.learn(verdict.aligned, seconds)
        final = self._paying[verdict.decision]
        for stage in range(len(self._work)):
            judged = (job.stage <= stage) & (verdict.judged >= stage)
            last = judged & (verdict.judged == stage)
            self._judged[stage] += judged.sum()
            self._paid[stage] += (last & final).sum()
            self._open[stage] += (judged & ~last).sum() + (last & (verdict.decision == UNDECIDED)).sum()
        self.gains = self._gains()


class Pace:
    """Learns how long batches take, and bounds them.

    The time of a batch is taken as that of a batch of no reads, and what each sample adds. Both come from the batches
    themselves, and are forgotten as these grow old: the device may get slower.

    Parameters
    ----------
    prefix : int
        Samples that the first stage aligns.
    batch_seconds : float
        How long a full batch takes at least. Shorter ones have their verdicts sooner, longer ones waste less.
    deadline : float, optional
        Seconds within which a verdict is of use; if not given, a second, or what four of the smallest batches take.
    """

    def __init__(self, prefix: int, batch_seconds: float, deadline: float | None) -> None:
        self._prefix, self._least, self._deadline = prefix, batch_seconds, deadline
        # weighted sums: of 1, of 1 / samples and its square, of seconds / samples, and of that / samples
        self._known = np.zeros(5)
        self._start = self._each = self._gap = 0.0
        self._largest, self._full = float(FIRST_READS * prefix), 0

    @property
    def deadline(self) -> float:
        """Seconds after its samples came in which a verdict is of use."""
        return max(DEADLINE, BATCHES * self.seconds(self._prefix)) if self._deadline is None else self._deadline

    def seconds(self, work: float) -> float:
        """How long so many samples take."""
        return self._start + self._each * work

    def apart(self, seconds: float) -> None:
        """Take note that the caller stayed away for so long: a batch has to keep the device busy meanwhile."""
        self._gap += (seconds - self._gap) / 4

    def full(self) -> float:
        """How long a full batch may take."""
        return min(max(self._least, self._gap, OVERHEAD * self._start), self.deadline / 2)

    def limit(self) -> float:
        """Samples that a full batch aligns; a new answer each time."""
        self._full += 1
        fits = (self.full() - self._start) / self._each if self._each > 0 else np.inf
        bound = max(0.0, min(fits, self._largest))
        if self._full % EVERY:
            return bound
        # a single read may take as long as a whole vector, which no smaller batch can show
        return DITHER * bound if bound >= 2 * self._prefix else 2.0 * self._prefix

    def learn(self, work: int, seconds: float) -> None:
        """Take note that a batch of so many samples took so long.

        The line is fitted to seconds for each sample, so that a batch counts as much as any other, whatever its size.
        """
        inverse, time = 1.0 / work, seconds / work
        expected = self.seconds(work)
        memory = MEMORY if expected / SURPRISE <= seconds <= expected * SURPRISE else LITTLE
        self._known = memory * self._known + np.array([1.0, inverse, inverse * inverse, time, inverse * time])
        self._largest = max(self._largest, 2.0 * work)
        mean, square, each, both = self._known[1:] / self._known[0]
        spread, most = square - mean * mean, each / mean
        varied = spread > LEAST_SPREAD * mean * mean
        start = (both - mean * each) / spread if varied else most * self._start_share(mean)
        self._start = float(min(max(start, 0.0), most))  # neither part is negative
        self._each = max(0.0, float(each - self._start * mean))

    def _start_share(self, inverse: float) -> float:
        """Share of the time that does not depend on the size; as batches were alike, as much as before."""
        whole = self._start * inverse + self._each
        return self._start * inverse / whole if whole > 0 else 0.0


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
        self._chosen = np.zeros(1, np.bool_)  # by channel; the last one is that of all that follow
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
        """How many can be selected, once that is known, and again if it changes much; None if all that was said."""
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


def in_vectors(stages: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which reads of these stages fill whole vectors, the first ones of each stage; all, if none does."""
    taken = np.zeros(len(stages), np.bool_)
    for stage in np.unique(stages):
        own = np.flatnonzero(stages == stage)
        width = next((width for width in VECTORS if len(own) >= width), len(own) + 1)
        taken[own[: len(own) // width * width]] = True
    return taken if taken.any() else ~taken


def about(channels: int) -> str:
    """A number of channels that changes a little all the time."""
    return f"about {round(channels, -1) if channels >= 100 else channels:,}"


def rank(channels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Numbers by whose order channels are selected."""
    result: NDArray[np.float64] = np.modf(channels * GOLDEN)[0]
    return result
