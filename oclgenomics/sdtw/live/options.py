"""The options of selection while sequencing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from oclgenomics.errors import ParameterError, check_choice, check_values
from oclgenomics.sdtw.decisions.basis import Trim
from oclgenomics.signals.trimming import TrimOptions

Action = Literal["unblock", "stop_receiving", "proceed"]
ACTIONS: tuple[Action, ...] = get_args(Action)
MAX_CHANNELS = 1 << 14  # of a flow cell; a PromethION's has 3,000


@dataclass(frozen=True)
class LiveOptions:
    """What is done with reads while they are sequenced. Times are in seconds, lengths in samples.

    Attributes
    ----------
    accept, reject, undecided, control : {'unblock', 'stop_receiving', 'proceed'}
        What the sequencer does with a read that is accepted, rejected, or undecided after `max_samples`, and with each
        read of `control_channels` and of channels that are not selected: end it, sequence it to its end and send no
        more of it, or nothing. Reads that are undecided because the device was late are never unblocked.
    control_channels : frozenset of int
        Channels whose reads are not judged.
    trim : TrimOptions, None or 'thresholds'
        What is left out at the start of reads; a stall is looked for in the samples that are there. If not given, what
        was left out of the reads by which the thresholds were chosen, and nothing for thresholds that somebody typed.
    max_samples : int, optional
        A read without a decision after so many samples is undecided. Those of trimming and twice the last stage, if not
        given.
    max_missed : int
        Samples at the start of a read that may be over before its first chunk is seen. What has run longer proceeds.
    max_latency : float
        How long the loop waits for the device at a time.
    max_batch : int, optional
        Reads that are aligned together at most, if the device could judge more of them soon enough.
    deadline : float, optional
        Seconds after its samples came in which a read has to get its verdict; with less left it is not judged. If not
        given, a second, or four times what the smallest batch takes.
    select : int, optional
        Channels that are selected; as many as the device can serve, if not given. Of the others and of control channels
        no read is judged.
    interval : float
        Time from one request for chunks to the next.
    unblock_duration : float
        How long the voltage is reversed.
    max_failures : int
        So many batches that fail in a row end the selection: from then on all reads proceed.
    dry_run : bool
        Tell the sequencer `stop_receiving` instead of `unblock`.

    Raises
    ------
    ParameterError
        A value is outside its range.
    """

    accept: Action = "stop_receiving"
    reject: Action = "unblock"
    undecided: Action = "stop_receiving"
    control: Action = "stop_receiving"
    control_channels: frozenset[int] = frozenset()
    trim: Trim = "thresholds"
    max_samples: int | None = None
    max_missed: int = 5000
    max_latency: float = 0.4
    max_batch: int | None = None
    deadline: float | None = None
    select: int | None = None
    interval: float = 0.1
    unblock_duration: float = 0.1
    max_failures: int = 3
    dry_run: bool = False

    @property
    def settled_trim(self) -> TrimOptions | None:
        """What is left out, where the thresholds had their say."""
        return None if self.trim == "thresholds" else self.trim

    def __post_init__(self) -> None:
        for name in ("accept", "reject", "undecided", "control"):
            check_choice(name, getattr(self, name), ACTIONS)
        times = ("max_latency", "unblock_duration", "deadline")
        check_values(self, times, lambda time: 0 < time < math.inf, "give more than 0 seconds")
        check_values(self, ("interval",), lambda time: 0 <= time < math.inf, "give 0 seconds or more")
        counts = ("max_samples", "max_batch", "select", "max_failures")
        check_values(self, counts, lambda count: count >= 1, "give 1 or more")
        check_values(self, ("max_missed",), lambda count: count >= 0, "give 0 samples or more")
        if any(not 1 <= channel <= MAX_CHANNELS for channel in self.control_channels):
            raise ParameterError("control_channels", f"channels are 1 to {MAX_CHANNELS:,}")


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
        check_values(self, ("channels",), lambda count: 1 <= count <= MAX_CHANNELS, f"give 1 to {MAX_CHANNELS:,}")
        above = ("rate", "chunk", "duration", "capture")
        check_values(self, above, lambda value: 0 < value < 1e9, "give more than 0, and less than 1e9")
        check_values(self, ("unblock_latency",), lambda time: 0 <= time < 1e9, "give 0 seconds or more, less than 1e9")
        if self.chunk * self.rate < 1:
            raise ParameterError("chunk", "a chunk has at least one sample", self.chunk)
        check_values(self, ("seed",), lambda seed: seed >= 0, "give 0 or more")
