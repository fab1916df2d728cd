"""Raw signals of reads as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FACTS: dict[str, Any] = {
    "names": np.object_, "scale": np.float64, "offset": np.float64, "rate": np.float64, "channel": np.int32,
    "pore": np.object_, "molecule": np.object_,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Signals:
    """Raw signals of reads, laid end to end.

    The samples of a read are the numbers of the analogue-to-digital converter; its current in pA is
    `(sample + offset) * scale`.

    Attributes
    ----------
    samples : ndarray, int16
        Of all reads.
    starts : ndarray, int64, (reads + 1,)
        Read i is `samples[starts[i] : starts[i + 1]]`.
    names : ndarray, object (str), (reads,)
        Read identifiers.
    scale, offset : ndarray, float64, (reads,)
        Calibration; scale 1 and offset 0 where none is known.
    rate : ndarray, float64, (reads,)
        Samples per second; NaN where it is not known.
    channel : ndarray, int32, (reads,)
        0 where it is not known.
    pore, molecule : ndarray, object (str), (reads,)
        As of `Chemistry`; empty where it is not known.

    Raises
    ------
    ValueError
        Arrays of other types or lengths than these.
    """

    samples: NDArray[np.int16]
    starts: NDArray[np.int64]
    names: NDArray[np.object_]
    scale: NDArray[np.float64]
    offset: NDArray[np.float64]
    rate: NDArray[np.float64]
    channel: NDArray[np.int32]
    pore: NDArray[np.object_]
    molecule: NDArray[np.object_]

    def __post_init__(self) -> None:
        reads = len(self.names)
        facts: tuple[NDArray[Any], ...] = tuple(getattr(self, name) for name in FACTS)
        if self.samples.dtype != np.int16 or self.starts.dtype != np.int64 or self.starts.shape != (reads + 1,):
            raise ValueError("samples are int16, starts int64 and one more than the reads")
        if any(fact.shape != (reads,) or fact.dtype != kind for fact, kind in zip(facts, FACTS.values(), strict=True)):
            raise ValueError("names, scale and the other facts have one value for each read")
        if self.starts[0] != 0 or self.starts[-1] != len(self.samples) or (np.diff(self.starts) < 0).any():
            raise ValueError("starts ascend from 0 to the number of samples")

    @classmethod
    def of(
        cls,
        reads: Sequence[NDArray[np.int16]],
        names: Sequence[str] | None = None,
        *,
        scale: Any = 1.0,
        offset: Any = 0.0,
        rate: Any = np.nan,
        channel: Any = 0,
        pore: Any = "",
        molecule: Any = "",
    ) -> Signals:
        """Put reads together.

        Parameters
        ----------
        reads : sequence of ndarray, int16
        names : sequence of str, optional
            Numbers from 1 on, if not given.
        scale, offset, rate, channel, pore, molecule : number, text or array_like
            For all reads, or one for each.
        """
        count = len(reads)
        starts = np.zeros(count + 1, np.int64)
        np.cumsum([len(read) for read in reads], out=starts[1:])
        samples = np.concatenate(reads) if count else np.empty(0, np.int16)
        chosen = [str(number) for number in range(1, count + 1)] if names is None else list(names)
        given = (np.array(chosen, object).reshape(count), scale, offset, rate, channel, pore, molecule)
        kinds = zip(given, FACTS.values(), strict=True)
        return cls(samples, starts, *(np.array(np.broadcast_to(np.asarray(one, kind), count)) for one, kind in kinds))

    @classmethod
    def joined(cls, parts: Sequence[Signals]) -> Signals:
        """Join parts in their order; none give no reads."""
        if not parts:
            return cls.of([])
        ends = np.cumsum([0, *(len(part.samples) for part in parts)])
        starts = [part.starts[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
        return cls(
            np.concatenate([part.samples for part in parts]),
            np.append(np.concatenate(starts), ends[-1]).astype(np.int64),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in FACTS),
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of samples of each read."""
        return np.diff(self.starts)

    def read(self, number: int) -> NDArray[np.int16]:
        """Return the samples of a read."""
        return self.samples[self.starts[number] : self.starts[number + 1]]

    def take(self, which: NDArray[Any]) -> Signals:
        """Return some reads, given by their numbers or by a truth value for each."""
        numbers = np.arange(len(self))[which]
        return self._of_stretches(numbers, self.starts[numbers], self.lengths[numbers])

    def between(self, first: int, stop: int) -> Signals:
        """Return the reads from one to another (excluded), which share memory with these."""
        starts = self.starts[first : stop + 1]
        samples = self.samples[starts[0] : starts[-1]]
        return Signals(samples, starts - starts[0], *(getattr(self, name)[first:stop] for name in FACTS))

    def cut(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> Signals:
        """Return the samples from `first` to `last` (excluded) of each read, as far as the read has them."""
        first = np.clip(first, 0, self.lengths)
        size = np.clip(last, first, self.lengths) - first
        return self._of_stretches(np.arange(len(self)), self.starts[:-1] + first, size)

    def _of_stretches(self, numbers: NDArray[np.int64], first: NDArray[np.int64], size: NDArray[np.int64]) -> Signals:
        """Some reads, each from one of the samples on."""
        starts = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        stretches = [self.samples[a:b] for a, b in zip(first.tolist(), (first + size).tolist(), strict=True)]
        samples = np.concatenate(stretches) if stretches else np.empty(0, np.int16)
        return Signals(samples, starts, *(getattr(self, name)[numbers] for name in FACTS))
