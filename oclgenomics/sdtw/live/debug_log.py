"""A line for each read that selection while sequencing decides of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

import numpy as np

from oclgenomics.sdtw.live.outcomes import OUTCOMES, Decided

__all__ = ["COLUMNS", "DebugLog"]

COLUMNS = ("time", "channel", "read", "samples", "prefix", "score", "outcome", "action", "sent", "latency")


class DebugLog:
    """Writes a table with tabs between its columns.

    `time` and `latency` are in seconds, `samples` are those that came of the read, `prefix` those of the stage at which
    it was judged last, `action` is what its outcome stands for and `sent` what the sequencer was told (in a dry run,
    `stop_receiving` instead of `unblock`). Empty fields are of reads that were never aligned.

    Parameters
    ----------
    stream : text file
    prefixes : sequence of int
        Of the stages.
    """

    def __init__(self, stream: IO[str], prefixes: Sequence[int]) -> None:
        self._stream, self._prefixes = stream, [str(prefix) for prefix in prefixes]
        self._stream.write("\t".join(COLUMNS) + "\n")

    def add(self, decided: Decided, actions: Sequence[str], sent: Sequence[str], now: float) -> None:
        """Write reads that the sequencer knows of now."""
        latency = now - decided.arrived
        rows = zip(
            decided.channel.tolist(), decided.read.tolist(), decided.samples.tolist(), decided.stage.tolist(),
            decided.score.tolist(), decided.outcome.tolist(), actions, sent, latency.tolist(), strict=True,
        )  # fmt: skip
        for channel, read, samples, stage, score, outcome, action, said, late in rows:
            prefix, told = ("", "") if stage < 0 else (self._prefixes[stage], f"{score:.12g}")
            wait = "" if np.isnan(late) else f"{late:.4f}"
            name = " ".join(read.split())
            self._stream.write(
                f"{now:.4f}\t{channel}\t{name}\t{samples}\t{prefix}\t{told}\t{OUTCOMES[outcome]}\t{action}\t{said}\t{wait}\n"
            )
