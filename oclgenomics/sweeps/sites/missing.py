"""What RAiSD 2.9 does with missing states apart from dropping and masking them: it draws them, or they match anything.

`reference` defines both. They depend on the order of all sites, so they are computed on the host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import full_words, pack_states, unpack_sites
from oclgenomics.variation.selection import count_ones

Ints = NDArray[np.int64]

RAND_MAX = 0x7FFFFFFF
_LAGS = (3, 31)
_DISCARDED = 310
_AT_ONCE = 1 << 22  # states that are unpacked at a time
_POOL_BYTES, _WORD_BYTES = 1 << 20, 8  # of RAiSD's pool of patterns: states in words of 64 bits, and one word more


class Draws:
    """The numbers that `rand()` of the GNU C library gives after `srand(seed)`, 0 to `RAND_MAX`.

    Parameters
    ----------
    seed : int
        0 to `RAND_MAX`.
    """

    def __init__(self, seed: int) -> None:
        state = [seed or 1]
        while len(state) < _LAGS[1]:
            state.append(16807 * state[-1] % RAND_MAX)
        self._state = state[_LAGS[0] :] + state[: _LAGS[0]]  # the first sums are of the fourth word and the first one
        self.take(_DISCARDED)

    def take(self, count: int) -> Ints:
        """Return the next numbers, int64 (count,)."""
        state, (near, far) = self._state, _LAGS
        for _ in range(count):
            state.append((state[-near] + state[-far]) & 0xFFFFFFFF)
        self._state = state[-far:]
        return np.array(state[far:], np.int64) >> 1


def imputed(alignment: Alignment, draws: Draws) -> Alignment:
    """Draw missing states: each is derived with the probability that observed ones are.

    Nothing is drawn at sites of which no state is observed, or none but derived ones.

    Parameters
    ----------
    alignment : Alignment
        Not changed.
    draws : Draws
        Used up by a number for each state, in the order of sites and haplotypes.
    """
    if alignment.valid is None:
        return alignment
    absent, bits, valid = alignment.absent, alignment.bits.copy(), alignment.valid.copy()
    derived, observed = count_ones(bits), count_ones(valid)
    missing = ~valid & full_words(alignment.haplotypes)[:, None]
    if absent is not None:
        missing &= ~absent
    drawn = np.flatnonzero((derived < observed) & missing.any(axis=0))
    step = max(1, _AT_ONCE // max(1, alignment.haplotypes))
    for first in range(0, len(drawn), step):
        sites = drawn[first : first + step]
        lacks = unpack_sites(missing[:, sites], alignment.haplotypes).astype(bool)
        row, haplotype = np.nonzero(lacks)
        chance = derived[sites] / observed[sites]
        states = np.zeros(lacks.shape, bool)
        states[row, haplotype] = draws.take(len(row)) / RAND_MAX <= chance[row]
        bits[:, sites] |= pack_states(states).T
        valid[:, sites] |= missing[:, sites]
    return replace(alignment, bits=bits, valid=valid)


@dataclass(frozen=True, eq=False)
class Matches:
    """Patterns of sites where a missing state matches anything.

    Attributes
    ----------
    patterns : ndarray of int64, shape (sites,)
        Number of the pattern of each site.
    derived, observed : ndarray of int64, shape (sites,)
        Haplotypes by which a site lies at the edges of the spectrum: those of the site whose pattern it has, if that
        lacks states; else its own derived ones, of all haplotypes.
    """

    patterns: Ints
    derived: Ints
    observed: Ints

    def counts(self, width: int) -> tuple[Ints, Ints]:
        """Return the numbers of `reference.pattern_counts` in windows of `width` sites, int64 (windows,) each."""
        patterns, half = self.patterns.tolist(), width // 2
        lone, pairs = (np.zeros(max(len(patterns) - width + 1, 0), np.int64) for _ in range(2))
        for begin in range(len(lone)):
            left, right = patterns[begin : begin + half], patterns[begin + half : begin + width]
            ours, theirs = set(left), set(right)
            both = ours & theirs
            lone[begin] = (len(ours) - len(both)) * sum(one not in both for one in left)
            lone[begin] += (len(theirs) - len(both)) * sum(one not in both for one in right)
            pairs[begin] = len(ours) * len(theirs)
        return lone, pairs


def pool_size(haplotypes: int) -> int:
    """Return how many patterns RAiSD's pool holds."""
    words = -(-haplotypes // (8 * _WORD_BYTES))
    return int(np.float32(_POOL_BYTES) / np.float32(_WORD_BYTES * words + _WORD_BYTES))


def matched(
    bits: NDArray[np.uint32], valid: NDArray[np.uint32], haplotypes: int, width: int, capacity: int | None = None
) -> Matches:
    """Find the pattern of each site in a pool that grows along the alignment.

    A site has the first pattern in the pool that it equals, or else the first whose complement it equals, where both
    are observed; a site without any adds its own. A pool that is full keeps those of the last `width` - 1 sites.

    Parameters
    ----------
    bits, valid : ndarray of uint32, shape (words, sites)
        As `Alignment` has them.
    haplotypes, width : int
    capacity : int, optional
        Patterns of the pool; as many as RAiSD's if not given.

    Raises
    ------
    UsageError
        A pool of so many haplotypes does not hold the patterns of a window, on which RAiSD's results rest.
    """
    capacity = pool_size(haplotypes) if capacity is None else capacity
    if capacity < width:
        raise ParameterError(
            "width",
            f"RAiSD's pool holds {capacity:,} patterns of {haplotypes:,} haplotypes; use smaller windows",
            width,
        )
    words, sites = bits.shape
    rows, masks = np.ascontiguousarray(bits.T), np.ascontiguousarray(valid.T)
    derived, observed = count_ones(bits), count_ones(valid)
    pool, pool_masks = np.zeros((capacity, words), np.uint32), np.zeros((capacity, words), np.uint32)
    members = np.zeros(capacity, np.int64)  # the site that each pattern of the pool comes from
    size, source = 0, np.zeros(sites, np.int64)
    for site in range(sites):
        found = _find(rows[site], masks[site], pool[:size], pool_masks[:size])
        if found is None:
            found, size = size, size + 1
            pool[found], pool_masks[found], members[found] = rows[site], masks[site], site
        source[site] = members[found]
        if size == capacity:
            kept = _kept_places(members, source[max(site - width + 2, 0) : site + 1])
            size = len(kept)
            for array in (pool, pool_masks, members):
                array[:size] = array[kept]
    lacks = observed[source] < haplotypes
    return Matches(source, np.where(lacks, derived[source], derived), np.where(lacks, observed[source], haplotypes))


def _find(
    row: NDArray[np.uint32], mask: NDArray[np.uint32], pool: NDArray[np.uint32], masks: NDArray[np.uint32]
) -> int | None:
    """Return the first place of a pattern that a site equals, or else the first whose complement it equals."""
    for turned in (np.uint32(0), np.uint32(0xFFFFFFFF)):
        places = np.arange(len(pool))
        for word in range(len(row)):
            both = masks[places, word] & mask[word]
            places = places[((pool[places, word] ^ row[word] ^ turned) & both) == 0]
            if not len(places):
                break
        if len(places):
            return int(places[0])
    return None


def _kept_places(members: Ints, last: Ints) -> Ints:
    """Which patterns of a full pool stay, in their new order: those of the last sites, each swapped to the front."""
    order = list(range(len(members)))
    place = {site: number for number, site in enumerate(members.tolist())}
    size = 0
    for site in last.tolist():
        at = place[site]
        if at >= size:
            other = int(members[order[size]])
            order[at], order[size] = order[size], order[at]
            place[other], place[site] = at, size
            size += 1
    return np.array(order[:size], np.int64)
