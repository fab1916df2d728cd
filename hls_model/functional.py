"""What the hardware computes, bit for bit: omegas in float32, the lanes' maxima and their merge. No timing in here.

The lane's arithmetic is that of Fig. 8 of the paper, operator by operator, on blocks of columns:

    omega = [(LS + RS) / float(C(k,2) + C(m,2))] / [((TS - LS) - RS) / float(k m) + 0.00001]

All operators round to nearest even, counts are unsigned 32-bit integers, and subnormal operands and results of the
float operators are flushed to a zero of their sign, as the operators of Xilinx do.

Of equal omegas the running maxima and their merge keep the one of the smaller column, then of the smaller right-side
iteration: that of the sequential loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.workload import LARGEST_SIDE

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Sums:
    """Region sums of one grid position, as they lie in M.

    Attributes
    ----------
    LS : ndarray, float32 (left,)
        Sum within the left part, for each column (outer iteration).
    RS : ndarray, float32 (right,)
        Sum within the right part, for each right-side iteration.
    TS : ndarray, float32 (left, right)
        Sum of the whole window: a row here is a column of M.
    first_left, first_right : int
        SNPs of the left part in the first column, and of the right part in the first right-side iteration: k of column
        i is `first_left + i`, m of right-side iteration j is `first_right + j`.

    Raises
    ------
    ModelError
        Shapes or types that do not fit together, or counts beyond 32-bit integers: k and m have to be 1 to 65,536, and
        k m below 2**32.
    """

    LS: Floats
    RS: Floats
    TS: Floats
    first_left: int = 2
    first_right: int = 2

    def __post_init__(self) -> None:
        if self.LS.ndim != 1 or self.RS.ndim != 1 or self.TS.shape != (len(self.LS), len(self.RS)):
            raise ModelError(
                f"LS, RS and TS have the shapes {self.LS.shape}, {self.RS.shape} and {self.TS.shape}; they have to be "
                "(left,), (right,) and (left, right)"
            )
        for name in ("LS", "RS", "TS"):
            if getattr(self, name).dtype != np.float32:
                raise ModelError(f"{name} is {getattr(self, name).dtype}; the hardware takes float32")
        if min(self.first_left, self.first_right) < 1:
            raise ModelError(f"first counts are {self.first_left} and {self.first_right}; a part has 1 SNP at least")
        k, m = self.first_left + self.left - 1, self.first_right + self.right - 1
        if max(k, m) > LARGEST_SIDE or k * m >= 1 << 32:
            raise ModelError(
                f"windows reach {k} and {m} SNPs; the 32-bit counters of the hardware take {LARGEST_SIDE} on a side "
                "and a product below 2**32"
            )

    @property
    def left(self) -> int:
        """Columns, the outer loop's trip count."""
        return len(self.LS)

    @property
    def right(self) -> int:
        """Right-side iterations, the inner loop's trip count."""
        return len(self.RS)


OFFSET = np.float32(1e-5)
SMALLEST = np.finfo(np.float32).tiny
MIN_QUOTIENT = 2.0**-60  # smallest operand over largest, see `_subnormals_possible`


def omegas(sums: Sums) -> Floats:
    """Return all omegas of a position, float32 (left, right); NaN where the hardware computes one."""
    out = np.empty(sums.TS.shape, np.float32)
    if out.size:
        Scorer(sums, sums.left).score(0, sums.left, out)
    return out


class Scorer:
    """Omegas of blocks of columns; holds the work space of one thread.

    Parameters
    ----------
    sums : Sums
        The position.
    rows : int
        Columns of the largest block.
    """

    def __init__(self, sums: Sums, rows: int) -> None:
        self.sums = sums
        self.k = np.arange(sums.first_left, sums.first_left + sums.left, dtype=np.uint32)[:, None]
        self.m = np.arange(sums.first_right, sums.first_right + sums.right, dtype=np.uint32)
        self.left_pairs, self.right_pairs = self.k * (self.k - 1) >> 1, self.m * (self.m - 1) >> 1
        self.counts = np.empty((rows, sums.right), np.uint32)
        self.floats = np.empty((rows, sums.right), np.float32)
        self.denominators = np.empty((rows, sums.right), np.float32)

    def score(self, first: int, last: int, out: Floats) -> None:
        """Write omegas of the columns [first, last) into `out`, float32 (last - first, right)."""
        part = slice(first, last)
        LS, RS, TS = self.sums.LS[part, None], self.sums.RS, self.sums.TS[part]
        counts, floats, below = (a[: last - first] for a in (self.counts, self.floats, self.denominators))
        with np.errstate(all="ignore"):  # infinities and NaN are results here
            flush = _subnormals_possible(LS, RS, TS)
            if flush:
                LS, RS, TS = (_flushed(operand.copy()) for operand in (LS, RS, TS))
            done = _flushed if flush else _as_it_is

            done(np.add(LS, RS, out=out))
            np.add(self.left_pairs[part], self.right_pairs, out=counts)
            floats[...] = counts
            done(np.divide(out, floats, out=out))

            done(np.subtract(TS, LS, out=below))
            done(np.subtract(below, RS, out=below))
            np.multiply(self.k[part], self.m, out=counts)
            floats[...] = counts
            done(np.divide(below, floats, out=below))
            done(np.add(below, OFFSET, out=below))

            done(np.divide(out, below, out=out))


def _as_it_is(array: Floats) -> Floats:
    return array


def _flushed(array: Floats) -> Floats:
    """Flush subnormals to a zero of their sign, in place."""
    np.copysign(0, array, out=array, where=np.abs(array) < SMALLEST)
    return array


def _subnormals_possible(*operands: Floats) -> bool:
    """Whether a subnormal may come up: False is certain, True is not.

    With a the smallest magnitude but 0 and b the greatest, sums and differences of sums are 0 or at least a 2**-24,
    and divided by a count of 32 bits at least a 2**-56. The denominator is at most 3 b + 1 and, where it is not
    0.00001 plus something smaller, a multiple of 2**-41; so omega is 0 or at least a 2**-56 / (3 b + 1).
    """
    smallest, largest = np.inf, 0.0
    for operand in operands:
        low, high = float(operand.min()), float(operand.max())
        if not low > 0:  # zeros, negative numbers or NaN: a closer look
            sizes = np.abs(operand)
            high = float(sizes.max())
            low = float(np.min(sizes, initial=np.inf, where=sizes > 0))
        smallest, largest = min(smallest, low), max(largest, high)
        if not high < np.inf:
            return True
    return smallest < MIN_QUOTIENT * (3 * largest + 1)


NOTHING = np.float32(np.nan)


@dataclass(frozen=True)
class Best:
    """The greatest omega and where it is; `omega` is NaN and the indices are -1 where there is none.

    Attributes
    ----------
    omega : numpy.float32
        The score.
    column, right : int
        Column (outer iteration) and right-side iteration.
    """

    omega: np.float32 = NOTHING
    column: int = -1
    right: int = -1

    @classmethod
    def of_bits(cls, bits: int, column: int, right: int) -> Best:
        """Return the maximum whose omega has these 32 bits."""
        return cls(np.uint32(bits).view(np.float32), column, right)

    @property
    def found(self) -> bool:
        """Whether there is a maximum; NaN is none."""
        return self.column >= 0

    @property
    def bits(self) -> int:
        """The omega's 32 bits; NaN as the hardware writes it."""
        return int(np.float32(self.omega).view(np.uint32)) if self.found else 0x7FC00000

    def better_than(self, other: Best) -> bool:
        """Whether the merge takes this one rather than the other."""
        if not (self.found and other.found) or self.omega != other.omega:
            return self.found and not other.omega >= self.omega
        return (self.column, self.right) < (other.column, other.right)


def same(one: Best, other: Best) -> bool:
    """Whether two maxima are equal bit for bit, with their place."""
    return (one.bits, one.column, one.right) == (other.bits, other.column, other.right)


def merge(maxima: Iterable[Best]) -> Best:
    """Return the greatest of some maxima."""
    best = Best()
    for one in maxima:
        if one.better_than(best):
            best = one
    return best


class Groups:
    """Maxima of groups of right-side iterations, such as lanes, over columns that come in ascending order.

    Parameters
    ----------
    group : ndarray, int64 (right,)
        Group of each right-side iteration, 0 or more.
    """

    def __init__(self, group: NDArray[np.int64]) -> None:
        self.members = [np.flatnonzero(group == one) for one in range(int(group.max(initial=-1)) + 1)]
        self.best = [Best() for _ in self.members]
        self.order = np.concatenate([*self.members, np.empty(0, np.int64)])
        sizes = np.array([len(members) for members in self.members])
        self.starts = np.cumsum(sizes) - sizes
        self.empty = sizes == 0

    def update(self, omegas: Floats, first: int) -> None:
        """Take the omegas of the columns from `first` on, float32 (columns, right)."""
        top = np.maximum.reduce(omegas, axis=0)
        if np.isnan(top).any():
            top = np.fmax.reduce(omegas, axis=0)
        padded = np.append(np.where(np.isnan(top), -np.inf, top)[self.order], np.float32(-np.inf))
        greatest = np.maximum.reduceat(padded, self.starts)
        now = np.array([best.omega for best in self.best], np.float32)
        for index in np.flatnonzero(~(greatest <= now) & ~self.empty):
            found = self._locate(omegas, int(index), greatest[index], first)
            if found.better_than(self.best[index]):
                self.best[index] = found

    def _locate(self, omegas: Floats, index: int, omega: np.float32, first: int) -> Best:
        """Find the first omega of a group that is as great as the greatest."""
        members = self.members[index]
        same = omegas[:, members] == omega
        rows = same.any(axis=1)
        if not rows.any():
            return Best()  # only NaN
        row = int(np.argmax(rows))
        right = int(members[np.argmax(same[row])])
        return Best(omegas[row, right], first + row, right)


BLOCK = 1 << 17  # omegas scored at a time: enough to hide NumPy's calls, and the work space stays in the cache


@dataclass(frozen=True)
class Result:
    """The result of a grid position.

    Attributes
    ----------
    best : Best
        The winner over hardware and software: the one of a sequential float32 loop over columns, then right side.
    hardware : Best
        The winner of the lanes' merge.
    lanes : tuple of Best
        The maximum of each lane.
    software : Best
        The maximum of the remainder.
    hardware_omegas, software_omegas : int
        Scores from the lanes, and of the remainder.
    """

    best: Best
    hardware: Best
    lanes: tuple[Best, ...]
    software: Best
    hardware_omegas: int
    software_omegas: int


def lane_of(right: int, config: Config) -> NDArray[np.int64]:
    """Return the lane of each right-side iteration, int64 (right,); the remainder that software takes has `lanes`.

    Blocked lanes have stretches of equal length. Where the division leaves a rest, the first ones are one iteration
    longer, so that only the last beat is not full.
    """
    lanes = config.lanes
    inside = right - (right % config.unroll if config.remainder == "software" else 0)
    where = np.arange(inside)
    if config.lane_map == "interleaved":
        lane = where % lanes
    else:
        stretch, longer = divmod(inside, lanes)
        lane = np.repeat(np.arange(lanes), np.where(np.arange(lanes) < longer, stretch + 1, stretch))
    return np.concatenate([lane, np.full(right - inside, lanes)]).astype(np.int64)


def run(sums: Sums, config: Config) -> Result:
    """Compute a grid position as the hardware and its software do.

    Parameters
    ----------
    sums : Sums
        Operands of the position.
    config : Config
        The design; only lanes, unroll, lane map and remainder matter. Tiles of the right side do not change the result.
    """
    lane = lane_of(sums.right, config)
    groups = _maxima(sums, lane)
    groups += [Best()] * (config.lanes + 1 - len(groups))
    rest = int(np.count_nonzero(lane == config.lanes))
    hardware, software = merge(groups[: config.lanes]), groups[config.lanes]
    return Result(
        best=merge((hardware, software)),
        hardware=hardware,
        lanes=tuple(groups[: config.lanes]),
        software=software,
        hardware_omegas=sums.left * (sums.right - rest),
        software_omegas=sums.left * rest,
    )


def _maxima(sums: Sums, lane: NDArray[np.int64]) -> list[Best]:
    """Return the maxima of the lanes, and of the remainder where there is one."""
    groups = Groups(lane)
    if not sums.TS.size:
        return groups.best
    rows = max(1, min(sums.left, BLOCK // sums.right))
    scorer = Scorer(sums, rows)
    out = np.empty((rows, sums.right), np.float32)
    for first in range(0, sums.left, rows):
        last = min(first + rows, sums.left)
        scorer.score(first, last, out[: last - first])
        groups.update(out[: last - first], first)
    return groups.best
