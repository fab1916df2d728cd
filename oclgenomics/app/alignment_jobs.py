"""What jobs on alignments share: which piece of a job scans what, what their files are, and what is kept of them.

All pieces of a job walk along the same alignments and come to the same decisions, without knowing of each other:
alignments are dealt out one by one, and large ones in ranges of positions.
"""

from __future__ import annotations

import heapq
import itertools
import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.jobs import Job, KeptItems, is_kept, kept_open, path_of
from oclgenomics.app.pieces import InputMark
from oclgenomics.app.run import EngineLike, Run
from oclgenomics.errors import InputError
from oclgenomics.io.array_layout import KEY, Checksum
from oclgenomics.runtime import Engine
from oclgenomics.variation import Alignment, ReadOptions
from oclgenomics.variation.observation import Observation
from oclgenomics.variation.sources import AlignmentSource, Excluded, Simulated

KeptT = TypeVar("KeptT", bound=KeptItems[Any])
OBJECT_BYTES = 2048  # of an object in memory, apart from its arrays; about


class PositionRange(NamedTuple):
    """Positions [begin, end) of an alignment, and the number of the piece that scans them, from 1 on."""

    piece: int
    begin: int
    end: int


class Dealer:
    """Deals alignments out to pieces, in their order; a piece with the least cost up to now gets the next range.

    Parameters
    ----------
    pieces : int

    Attributes
    ----------
    dealt : int
        Alignments up to now.
    """

    def __init__(self, pieces: int) -> None:
        self._pieces = pieces
        self._costs = [(0, number) for number in range(1, pieces + 1)]  # a heap
        self._decided = Checksum(KEY)
        self.dealt = 0

    @property
    def decided(self) -> int:
        """A checksum of all decisions up to now."""
        return self._decided.value

    def deal(self, costs: NDArray[np.int64], least: int = 1) -> list[PositionRange]:
        """Cut an alignment into ranges of about the same cost, and say who scans them.

        Parameters
        ----------
        costs : ndarray of int64, shape (positions,)
            Of each position. There may be no position, and that is a range, too.
        least : int
            An alignment is not cut into ranges that cost less.

        Returns
        -------
        list of PositionRange
            In the order of positions, all of which are in one of them.
        """
        ranges = []
        ends = _ends(costs, min(self._pieces, max(1, int(costs.sum()) // max(1, least))))
        for begin, end in zip([0, *ends], ends, strict=False):
            cost, piece = self._costs[0]
            heapq.heapreplace(self._costs, (cost + 1 + int(costs[begin:end].sum()), piece))
            ranges.append(PositionRange(piece, begin, end))
        self._decided.update(repr(ranges).encode())
        self.dealt += 1
        return ranges


def _ends(costs: NDArray[np.int64], ranges: int) -> list[int]:
    """Where ranges of about the same cost end, so many or fewer, if one position costs more."""
    summed = np.cumsum(costs)
    wanted = [int(summed[-1]) * number // ranges for number in range(1, ranges)] if ranges > 1 else []
    inner = set(np.searchsorted(summed, wanted, side="right").tolist())
    return [*sorted(inner - {0, len(costs)}), len(costs)]


@dataclass(frozen=True)
class AllShares:
    """The last part of a piece: what all pieces of a job have to agree on.

    Attributes
    ----------
    count : int
        Alignments of the input.
    decided : int
        Checksum of who has what of each.
    """

    count: int
    decided: int


def check_agreed(agreed: Mapping[str, Any]) -> None:
    """Refuse pieces that saw other alignments than others: then one is missing, or there twice.

    Raises
    ------
    InputError
    """
    (first_name, first), *others = agreed.items()
    for name, one in others:
        if one != first:
            told = f"saw other alignments than {first_name} ({one.count:,} and {first.count:,})"
            raise InputError(f"{told}; make all pieces again, of an input that does not change", source=name)


def kept_items(
    engine: EngineLike, job: Job[Any], kind: Callable[..., KeptT], *others: object
) -> AbstractContextManager[KeptT]:
    """Lend what keeps alignments of the files of a job for its next piece, if one may come; a `KeptItems` of a kind."""
    if not (isinstance(engine, Engine) and is_kept(engine)):
        return nullcontext(kind(keep=False))
    key = job.NAME, tuple(map(InputMark.of, job.inputs())), repr(job.parameters()), others
    return kept_open(engine, key, partial(kind, keep=True))


def held_bytes(held: object) -> int:
    """Return what an object with arrays takes of memory, about."""
    return OBJECT_BYTES + sum(one.nbytes for one in vars(held).values() if isinstance(one, np.ndarray))


def counted(alignments: Iterable[Alignment], run: Run) -> Generator[Alignment, None, None]:
    """Give the same alignments, and report their number as they come."""
    come = itertools.count(1)
    for one in alignments:
        if run.progress is not None:
            run.progress(next(come), None)
        yield one
        del one  # before the next one is read


def file_names(source: AlignmentSource) -> tuple[str, ...]:
    """Return the files that a source is, which other processes read.

    Raises
    ------
    ParameterError
        It is something in this process's memory.
    """
    sources = [source] if isinstance(source, (str, os.PathLike, Alignment)) else source
    return tuple(path_of("source", one) for one in sources)


def source_of(source: AlignmentSource) -> Simulated | tuple[str, ...]:
    """Return what other processes simulate, or the files that they read; see `file_names`."""
    return source if isinstance(source, Simulated) else file_names(source)


def input_files(source: AlignmentSource, reading: ReadOptions, exclude: Excluded) -> tuple[str, ...]:
    """Return all files that are read: of alignments, regions and names of samples.

    Raises
    ------
    ParameterError
        Something is in this process's memory.
    """
    others = [] if exclude is None else [path_of("exclude", exclude)]
    if isinstance(reading.samples, (str, os.PathLike)):
        others.append(os.fspath(reading.samples))
    return (*file_names(source), *others)


def reading_parameters(reading: ReadOptions) -> dict[str, Any]:
    """Return what is read of an input, by name, as plain values."""
    values = asdict(reading)
    return values | {"samples": None if isinstance(reading.samples, (str, os.PathLike)) else reading.samples}


def null_parameters(observation: Observation | None, neutral: object) -> dict[str, Any]:
    """Return how neutral alignments are observed, and simulated if they are, by name, as plain values."""
    observed = {} if observation is None else asdict(observation)
    simulated = neutral.record() if isinstance(neutral, Simulated) else {}
    return {f"observed {name}": value for name, value in observed.items()} | {
        f"simulated {name}": value for name, value in simulated.items()
    }
