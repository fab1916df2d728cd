"""What of an alignment is scanned: excluded regions, filters, imputation, reduction to two states, polarity.

The order of the steps and the meaning of every count are those of OmegaPlus 3.0.3, so that its random draws fall on the
same entries; the random numbers are those of the C library it runs with.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import DataFacts
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import BedRegions
from oclgenomics.variation.packing import both_observed, full_words, pack_states, unpack_sites, with_haploid
from oclgenomics.variation.selection import count_ones, outside_regions, take_sites

_BLOCK_ENTRIES = 1 << 22  # haplotype entries unpacked at once
FACT_DIGITS = 9


@dataclass
class Prepared:
    """An alignment ready to be scanned.

    Attributes
    ----------
    alignment : Alignment
        The sites that are left.
    discarded : dict of str to int
        Sites left out by reason: "monomorphic", "singleton", "maf"; a site counts under the first that applies. Their
        sum is what OmegaPlus calls discarded sites.
    data : DataFacts, optional
        What a threshold of its omegas has to be made for.
    """

    alignment: Alignment
    discarded: dict[str, int]
    data: DataFacts | None = None


def filter_alignment(alignment: Alignment, options: ScanOptions, exclude: BedRegions | None) -> Prepared:
    """Return the sites that a scan uses, and all that was left out on the way, the reader's counts first."""
    alignment.validate()
    outside, inside = (alignment, 0) if exclude is None else outside_regions(alignment, exclude)
    prepared = prepare(outside, options)
    counts = (alignment.skipped, {"excluded": inside} if inside else {}, prepared.discarded)
    reasons = dict.fromkeys(reason for count in counts for reason in count)
    discarded = {reason: sum(count.get(reason, 0) for count in counts) for reason in reasons}
    facts = _facts_of(alignment, outside, prepared.alignment, exclude)
    return Prepared(prepared.alignment, discarded, facts)


def _facts_of(read: Alignment, outside: Alignment, used: Alignment, exclude: BedRegions | None) -> DataFacts:
    """Take the facts of an alignment as it was read, without the excluded regions, and as it was scanned."""
    missing = masked = 0.0
    states = outside.sites * outside.haplotypes
    if outside.absent is not None:
        states -= int(count_ones(outside.absent).sum())
    if outside.valid is not None and states:
        missing = 1 - int(count_ones(outside.valid).sum()) / states
    if exclude is not None and read.sites:
        first, last = int(read.positions[0]), int(read.positions[-1])
        masked = exclude.covered(read.name, first, last) / (last - first + 1)
    haplotypes = used.haplotypes if used.unphased else used.copies
    return DataFacts(haplotypes, used.sites, used.unphased, round(missing, FACT_DIGITS), round(masked, FACT_DIGITS))


class GlibcRandom:
    """glibc's rand(): additive feedback r[i] = r[i-3] + r[i-31] modulo 2**32, the upper 31 bits given out.

    Parameters
    ----------
    seed : int
        As for srand; 0 is taken as 1.
    """

    MAXIMUM = 2**31 - 1

    def __init__(self, seed: int) -> None:
        word = np.int64(np.uint32(seed & 0xFFFFFFFF).astype(np.int32))
        state = [int(word) or 1]
        for _ in range(30):  # Lehmer's generator with Schrage's division, which C truncates toward zero
            high = int(abs(state[-1]) // 127773) * (1 if state[-1] >= 0 else -1)
            value = 16807 * (state[-1] - 127773 * high) - 2836 * high
            state.append(value + self.MAXIMUM if value < 0 else value)
        self._state = [value & 0xFFFFFFFF for value in state[3:] + state[:3]]
        self.draw(310)

    def draw(self, count: int) -> NDArray[np.int64]:
        """The next `count` values, int64 (count,), each in 0 to 2**31 - 1."""
        state = [*self._state[-31:]]
        push = state.append
        for i in range(31, 31 + count):
            push((state[i - 3] + state[i - 31]) & 0xFFFFFFFF)
        self._state = state[-31:]
        return np.array(state[31:], np.int64) >> 1


@dataclass
class StateCounts:
    """How often each state is observed.

    Attributes
    ----------
    observed : ndarray of int64, shape (sites,)
        Haplotypes with a state.
    ones : ndarray of int64, shape (sites,)
        Haplotypes with the second state (multiallelic sites: with any but the first of their rows).
    rows : ndarray of int64, shape (multi rows,)
        Haplotypes with the state of each row of a multiallelic site.
    """

    observed: NDArray[np.int64]
    ones: NDArray[np.int64]
    rows: NDArray[np.int64]


def count_states(alignment: Alignment) -> StateCounts:
    """Count the states of every site."""
    observed = np.full(alignment.sites, alignment.haplotypes, np.int64)
    if alignment.valid is not None:
        observed = count_ones(alignment.valid)
    return StateCounts(observed, count_ones(alignment.bits), count_ones(alignment.multi_bits))


def prepare(alignment: Alignment, options: ScanOptions | None = None) -> Prepared:
    """Filter, impute, reduce and orient the sites of an alignment.

    The steps, in this order:

    1. drop sites with fewer than two observed states; with `no_singletons` those at which a state is seen once; those
       at which an observed state is rarer than `maf` among the observed haplotypes;
    2. fill missing states by draws in proportion to the counts of the site;
    3. with `binary` replace the third and fourth commonest base of a site, each by a draw between the two commonest in
       proportion to their counts (two draws a site, whether or not it shows a fourth base);
    4. if no site has more than two states left, let state 0 of each DNA site be that of its first observed haplotype.

    Parameters
    ----------
    alignment : Alignment
        Not changed; planes that no step touches are shared with the result.
    options : ScanOptions, optional
        Its `maf`, `no_singletons`, `impute`, `binary` and `seed`. Compat precision follows OmegaPlus also where that is
        an accident: with fewer than four sites left nothing is drawn, filled or oriented. OmegaPlus' corruption of
        missing data is not repeated.

    Returns
    -------
    Prepared
    """
    options = options or ScanOptions()
    used = alignment if "N" in options.impute else _known_genotypes(alignment)
    alignment, discarded = _filter(used, options.maf, options.no_singletons)
    if options.precision == "compat" and alignment.sites < 4:
        return Prepared(alignment, discarded)
    if options.seed is not None:  # without it, options draw nothing
        random = GlibcRandom(options.seed)
        if options.impute and alignment.valid is not None:
            alignment = _impute(alignment, options.impute, random)
        if options.binary and len(alignment.multi_site):
            alignment = _reduce(alignment, random)
    if alignment.alphabet == "dna" and not len(alignment.multi_site):
        alignment = _orient(alignment)
    return Prepared(alignment, discarded)


def _known_genotypes(alignment: Alignment) -> Alignment:
    """The alignment with the states that r2 uses: where genotypes are correlated, half-missing ones say nothing."""
    if not alignment.unphased or alignment.valid is None:
        return alignment
    seen = alignment.valid & both_observed(with_haploid(alignment.valid, alignment.haploid))
    if (seen == alignment.valid).all():
        return alignment
    return _only_seen_states(
        replace(
            alignment, bits=alignment.bits & seen, valid=seen, gap=None,
            multi_bits=alignment.multi_bits & seen[:, alignment.multi_site],
        )
    )  # fmt: skip


def _only_seen_states(alignment: Alignment) -> Alignment:
    """The alignment without rows of states that no haplotype shows, as values of pairs are divided by their number.

    Sites of a single state keep their rows, since the filter drops them.
    """
    assert alignment.valid is not None
    owner, shown = alignment.multi_site, count_ones(alignment.multi_bits) > 0
    left = np.bincount(owner[shown], minlength=alignment.sites)
    gone = ~shown & (left[owner] >= 2)
    if not gone.any():
        return alignment
    bits, letters = alignment.bits.copy(), alignment.letters.copy()
    sites, rows = np.unique(owner[gone]), np.flatnonzero(shown)
    first = np.searchsorted(owner[rows], sites)
    bits[:, sites] = alignment.valid[:, sites] & ~alignment.multi_bits[:, rows[first]]
    letters[sites] = alignment.multi_letter[rows[np.stack([first, first + 1], axis=1)]]
    kept = (shown & (left[owner] > 2)) | (left[owner] < 2)
    return replace(
        alignment, bits=bits, letters=letters, multi_site=owner[kept], multi_letter=alignment.multi_letter[kept],
        multi_bits=np.ascontiguousarray(alignment.multi_bits[:, kept]),
    )  # fmt: skip


def _filter(alignment: Alignment, maf: float, no_singletons: bool) -> tuple[Alignment, dict[str, int]]:
    """Drop sites by their states; the counts of dropped sites by reason."""
    counts = count_states(alignment)
    zeros = counts.observed - counts.ones
    seen = [np.where(state > 0, state, counts.observed) for state in (zeros, counts.ones)]
    rarest = np.minimum(*seen)
    rarest[alignment.multi_site] = counts.observed[alignment.multi_site]
    shown = np.where(counts.rows > 0, counts.rows, counts.observed[alignment.multi_site])
    np.minimum.at(rarest, alignment.multi_site, shown)
    states = (zeros > 0).astype(np.int64) + (counts.ones > 0)
    states[alignment.multi_site] = 0
    np.add.at(states, alignment.multi_site, counts.rows > 0)
    reasons = {
        "monomorphic": states < 2,
        "singleton": (rarest == 1) & no_singletons,
        "maf": rarest < maf * counts.observed,
    }
    keep = np.ones(alignment.sites, bool)
    discarded = {}
    for reason, flags in reasons.items():
        fresh = int((keep & flags).sum())
        keep &= ~flags
        if fresh:
            discarded[reason] = fresh
    return (alignment if keep.all() else take_sites(alignment, keep)), discarded


class _StateTable:
    """The states of each site in the order A, C, G, T (or 0, 1), as the draws meet them.

    Attributes
    ----------
    cumulative : ndarray of int64, shape (sites, 4)
        Running sums of the counts in that order.
    swapped : ndarray of bool, shape (sites,)
        State 1 comes before state 0.
    first_row : ndarray of int64, shape (sites,)
        First row of a multiallelic site, -1 for others.
    """

    def __init__(self, alignment: Alignment) -> None:
        counts = count_states(alignment)
        self.swapped = alignment.letters[:, 1] < alignment.letters[:, 0]
        self.first_row = np.full(alignment.sites, -1, np.int64)
        multi, start, size = np.unique(alignment.multi_site, return_index=True, return_counts=True)
        self.first_row[multi] = start
        self.swapped[multi] = False
        first = np.where(self.swapped, counts.ones, counts.observed - counts.ones)
        self.cumulative = np.stack([first, counts.observed, counts.observed, counts.observed], axis=1)
        for i in range(3):  # a multiallelic site has three or four rows
            has = size > i
            before = self.cumulative[multi[has], i - 1] if i else 0
            self.cumulative[multi[has], i] = before + counts.rows[start[has] + i]

    def pick(self, sites: NDArray[np.int64], random: GlibcRandom) -> NDArray[np.int64]:
        """One state for each entry of `sites`, by rand() % total + 1."""
        cumulative = self.cumulative[sites]
        drawn = random.draw(len(sites)) % cumulative[:, -1] + 1
        picked: NDArray[np.int64] = (drawn[:, None] > cumulative).sum(axis=1)
        return picked


def _impute(alignment: Alignment, kinds: Set[str], random: GlibcRandom) -> Alignment:
    """Fill missing states, site by site and haplotype by haplotype."""
    assert alignment.valid is not None
    wanted = ~alignment.valid & full_words(alignment.haplotypes)[:, None]
    if alignment.absent is not None:
        wanted &= ~alignment.absent
    if "N" not in kinds:
        wanted = wanted & alignment.gap if alignment.gap is not None else np.zeros_like(wanted)
    elif "GAP" not in kinds and alignment.gap is not None:
        wanted &= ~alignment.gap
    affected = np.flatnonzero(wanted.any(axis=0))
    if not len(affected):
        return alignment
    table, bits, multi_bits = _StateTable(alignment), alignment.bits.copy(), alignment.multi_bits.copy()
    step = max(1, _BLOCK_ENTRIES // max(1, alignment.haplotypes))
    for start in range(0, len(affected), step):
        block = affected[start : start + step]
        missing = unpack_sites(wanted[:, block], alignment.haplotypes)
        rows, haplotypes = np.nonzero(missing)
        at = block[rows]
        states = table.pick(at, random)  # index in the order of the letters
        filled = np.zeros(missing.shape, np.uint8)
        filled[rows, haplotypes] = (states != 0) ^ table.swapped[at]
        bits[:, block] |= pack_states(filled).T
        many = table.first_row[at] >= 0
        row, haplotype = table.first_row[at[many]] + states[many], haplotypes[many]
        np.bitwise_or.at(multi_bits, (haplotype // 32, row), np.uint32(1) << (haplotype % 32).astype(np.uint32))
    valid = alignment.valid | wanted
    gap = None if alignment.gap is None else alignment.gap & ~wanted
    complete = bool((valid == full_words(alignment.haplotypes)[:, None]).all())
    return replace(
        alignment, bits=bits, multi_bits=multi_bits, valid=None if complete else valid,
        gap=gap if gap is not None and gap.any() else None,
    )  # fmt: skip


def _reduce(alignment: Alignment, random: GlibcRandom) -> Alignment:
    """Replace the third and fourth commonest bases; no multiallelic sites are left."""
    bits, letters = alignment.bits.copy(), alignment.letters.copy()
    counts = count_ones(alignment.multi_bits)
    sites, start, size = np.unique(alignment.multi_site, return_index=True, return_counts=True)
    draws = random.draw(2 * len(sites)).reshape(-1, 2).tolist()
    for site, first, states, drawn in zip(sites.tolist(), start.tolist(), size.tolist(), draws, strict=True):
        commonest, second, *rare = _by_count(range(first, first + states), counts, alignment.multi_letter)
        ones = alignment.multi_bits[:, second].copy()
        for row, number in zip(rare, drawn, strict=False):
            if number % int(counts[commonest] + counts[second]) + 1 > counts[commonest]:
                ones |= alignment.multi_bits[:, row]
        bits[:, site] = ones
        letters[site] = alignment.multi_letter[[commonest, second]]
    return replace(
        alignment, bits=bits, letters=letters, multi_site=np.zeros(0, np.int32),
        multi_bits=np.zeros((alignment.words, 0), np.uint32), multi_letter=np.zeros(0, np.uint8),
    )  # fmt: skip


def _by_count(rows: Iterable[int], counts: NDArray[np.int64], letters: NDArray[np.uint8]) -> list[int]:
    """Rows of one site's states by falling count.

    OmegaPlus orders the counts of A, C, G and T by a network of five comparisons; equal counts come out as that leaves
    them.
    """
    row_of = {int(letters[row]): row for row in rows}
    ranked = [(int(counts[row_of[letter]]), row_of[letter]) if letter in row_of else (0, -1) for letter in b"ACGT"]
    for i, j in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):
        if ranked[j][0] > ranked[i][0]:
            ranked[i], ranked[j] = ranked[j], ranked[i]
    return [row for count, row in ranked if count]


def _orient(alignment: Alignment) -> Alignment:
    """Let state 0 of every site be that of its first observed haplotype; the alignment becomes binary."""
    if alignment.valid is None:
        flip = (alignment.bits[:1] & np.uint32(1)).any(axis=0)
    else:
        word = np.argmax(alignment.valid != 0, axis=0)
        columns = np.arange(alignment.sites)
        observed = alignment.valid[word, columns]
        lowest = observed & (~observed + np.uint32(1))
        flip = (alignment.bits[word, columns] & lowest) != 0
    flipped = np.flatnonzero(flip)
    bits, letters = alignment.bits.copy(), alignment.letters.copy()
    letters[flipped] = letters[flipped][:, ::-1]
    full = full_words(alignment.haplotypes)
    for i, word_of_sites in enumerate(bits):
        observed_bits = full[i] if alignment.valid is None else alignment.valid[i, flipped]
        word_of_sites[flipped] ^= observed_bits
    return replace(alignment, bits=bits, letters=letters, alphabet="binary")
