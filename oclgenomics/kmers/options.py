"""What is counted, which reads a filter keeps, and what of them is refused."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.filtering import PAIR_RULES, PairRule
from oclgenomics.errors import ParameterError, UsageError, check_choice, check_range
from oclgenomics.io.atomic_file import check_folder
from oclgenomics.sequence.parse import BEST_QUALITY

MAX_K = 256
MAX_COUNTER = (1 << 32) - 1
BATCH_LETTERS = 1 << 22  # of sequences, that are looked up at a time
Operation = Literal["union", "intersect", "subtract", "subtract-counts", "symmetric-difference"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
CountMode = Literal["sum", "min", "max", "left", "right", "diff", "number"]
COUNT_MODES: tuple[CountMode, ...] = get_args(CountMode)
MODE_OF: dict[Operation, CountMode] = {
    "union": "sum", "intersect": "min", "subtract": "left", "subtract-counts": "diff", "symmetric-difference": "left",
}  # fmt: skip
DumpFormat = Literal["tsv", "jellyfish", "fasta", "npz", "kmc", "fastk", "parquet"]
DUMP_FORMATS: tuple[DumpFormat, ...] = get_args(DumpFormat)
MatrixFormat = Literal["tsv", "npz", "parquet"]
MATRIX_FORMATS: tuple[MatrixFormat, ...] = get_args(MatrixFormat)


@dataclass(frozen=True)
class CountOptions:
    """What is counted, and how.

    Attributes
    ----------
    k : int
        Letters of a k-mer, 1 to 256.
    canonical : bool
        A k-mer and its reverse complement count as one, the lesser of the two (A < C < G < T). A k-mer that is its own
        reverse complement counts once for each place.
    min_count, max_count : int
        K-mers that occur less or more often are left out. `min_count` is at most 2^32 - 1.
    counter_max : int
        Counters stop here, after k-mers were left out; at most 2^32 - 1.
    compressed : bool
        In each sequence, runs of equal bases count as one base, before k-mers are cut; for k from 2 on.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    k: int
    canonical: bool = True
    min_count: int = 1
    max_count: int = MAX_COUNTER
    counter_max: int = MAX_COUNTER
    compressed: bool = False

    def __post_init__(self) -> None:
        check_range("k", self.k, 1, MAX_K, f"k-mers have 1 to {MAX_K} bases")
        check_counts(self.min_count, self.max_count)
        if self.compressed and self.k < 2:
            raise ParameterError("k", "k-mers of compressed sequences have 2 bases or more", self.k)
        check_range("counter_max", self.counter_max, 1, MAX_COUNTER, f"counters hold 1 to {MAX_COUNTER:,}")

    @property
    def plain(self) -> CountOptions:
        """The same kind of k-mers, all of them with all of their counts."""
        return CountOptions(self.k, self.canonical, compressed=self.compressed)

    @staticmethod
    def check_reading(min_quality: int | None, tmp_dir: str | os.PathLike[str] | None) -> None:
        """Refuse what a count could not do before a device starts, rather than after hours.

        Raises
        ------
        UsageError
            `min_quality` is out of range.
        OutputError
            The folder for temporary files is missing or not writable.
        """
        check_range("min_quality", min_quality, 0, BEST_QUALITY, f"qualities are 0 to {BEST_QUALITY}")
        if tmp_dir is not None:
            check_folder(os.fspath(tmp_dir))


@dataclass(frozen=True)
class FilterOptions:
    """Bounds on the k-mers of a read that the set has.

    A read passes if it is within all bounds that are given. Without any it has to have one k-mer of the set.

    Attributes
    ----------
    min_kmers, max_kmers : int, optional
        K-mers of the read that the set has, each place counted.
    min_fraction, max_fraction : float, optional
        Their share of the read's k-mers, 0 to 1. A read without k-mers has the share 0.
    min_count, max_count : int
        K-mers of the set with other counts are as if it had them not.
    pairs : {'either', 'both'}
        A pair passes if either of its mates does, or both do.
    drop : bool
        Keep the reads that do not pass.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    min_kmers: int | None = None
    max_kmers: int | None = None
    min_fraction: float | None = None
    max_fraction: float | None = None
    min_count: int = 1
    max_count: int = MAX_COUNTER
    pairs: PairRule = "either"
    drop: bool = False
    _least: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("min_kmers", "max_kmers"):
            check_range(name, getattr(self, name), 0, float("inf"), "give 0 or more")
        for name in ("min_fraction", "max_fraction"):
            check_range(name, getattr(self, name), 0, 1, "a share is 0 to 1")
        _check_order("kmers", self.min_kmers, self.max_kmers)
        _check_order("fraction", self.min_fraction, self.max_fraction)
        check_counts(self.min_count, self.max_count)
        check_choice("pairs", self.pairs, PAIR_RULES)
        bounds = (self.min_kmers, self.max_kmers, self.min_fraction, self.max_fraction)
        least = int(bounds == (None,) * len(bounds)) if self.min_kmers is None else self.min_kmers
        object.__setattr__(self, "_least", least)

    def passing(self, kmers: NDArray[np.int64], found: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which reads pass.

        Parameters
        ----------
        kmers, found : ndarray, int64 (n,)
            K-mers of each read, and those of them that the set has.

        Returns
        -------
        ndarray, bool (n,)
        """
        passing: NDArray[np.bool_] = found >= self._least
        if self.max_kmers is not None:
            passing &= found <= self.max_kmers
        if self.min_fraction is not None or self.max_fraction is not None:
            # The quotient is the double next to the share, as is a bound that was written as a decimal.
            share = found / np.maximum(kmers, 1)
            passing &= share >= (self.min_fraction or 0)
            passing &= share <= (1 if self.max_fraction is None else self.max_fraction)
        return passing


@dataclass(frozen=True)
class MergeOptions:
    """Which k-mers of several sets a merge keeps, and with which counts.

    Attributes
    ----------
    operation : {'union', 'intersect', 'subtract', 'subtract-counts', 'symmetric-difference'}
        'union' keeps the k-mers that any set has, 'intersect' those that all have, 'subtract' those of the first set
        that no other has, and 'symmetric-difference' those that one set alone has. 'subtract-counts' takes the counts
        of the others off those of the first set, and keeps what is left of it.
    counts : {'sum', 'min', 'max', 'left', 'right', 'diff', 'number'}, optional
        For 'union' and 'intersect', of the counts in the sets that have the k-mer, in the order in which they were
        given: their sum, the least, the greatest, the first, the last, the first less all others (k-mers of which
        nothing is left are left out), or how many there are. 'sum' for 'union' and 'min' for 'intersect' if not given.
    min_count, max_count : int
        K-mers with other counts in the result are left out. Results stop at 2^32 - 1 afterwards.

    Raises
    ------
    UsageError
        A value is none of these, or the others have `counts`.
    """

    operation: Operation = "union"
    counts: CountMode | None = None
    min_count: int = 1
    max_count: int = MAX_COUNTER

    def __post_init__(self) -> None:
        check_choice("operation", self.operation, OPERATIONS)
        if self.counts is not None:
            check_choice("counts", self.counts, COUNT_MODES)
            if self.operation not in ("union", "intersect"):
                raise UsageError(f"`counts` is for union and intersect, and `operation={self.operation}` has its own")
        check_counts(self.min_count, self.max_count)

    @property
    def mode(self) -> CountMode:
        """How counts are made of several."""
        return self.counts or MODE_OF[self.operation]


@dataclass(frozen=True)
class QualityOptions:
    """How the quality of an assembly is assessed.

    Attributes
    ----------
    min_solid : int, optional
        K-mers of the reads with at least this count are solid; behind the valley of the spectrum if not given.
    lower_bound : bool
        Take a database without the rarest or the most common k-mers, too. Those of the assembly that were left out
        count as errors, so QVs are lower bounds.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    min_solid: int | None = None
    lower_bound: bool = False

    def __post_init__(self) -> None:
        check_range("min_solid", self.min_solid, 1, MAX_COUNTER, f"counts are 1 to {MAX_COUNTER:,}")


def _check_order(name: str, least: float | None, most: float | None) -> None:
    if least is not None and most is not None and least > most:
        raise UsageError(f"`min_{name}={least}` `max_{name}={most}`: take min <= max")


def check_counts(least: int, most: int) -> None:
    """Refuse bounds of counts, `min_count` and `max_count`, that no count is within.

    Raises
    ------
    UsageError
    """
    if not 1 <= least <= most:
        raise UsageError(f"`min_count={least}` `max_count={most}`: take 1 <= min <= max")
    if least > MAX_COUNTER:
        raise ParameterError("min_count", f"counters hold at most {MAX_COUNTER:,}", least)
