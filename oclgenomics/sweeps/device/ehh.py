"""Homozygosity around core sites on the device: sums of pairs of equal haplotypes, walking away from each core."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.runtime import Engine
from oclgenomics.runtime.memory import BufferNeed
from oclgenomics.sweeps.arrays import Floats
from oclgenomics.sweeps.options import Statistic, SweepOptions
from oclgenomics.sweeps.plan import Portion
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import UsedSites
from oclgenomics.sweeps.statistics.ehh import (
    BY_BP,
    COMPARING,
    END,
    MOST_HAPLOTYPES,
    REASONS,
    SCORES,
    CoreSites,
    Score,
    SiteScores,
    Walks,
    compared_sites,
    core_sites,
    joined_cores,
    normalised,
    score_bins,
    site_scores,
    walks,
    windows_of_scores,
)
from oclgenomics.sweeps.statistics.families import Background, Native

SOURCE = "sweeps/ehh.cl"
LANES = 256
LOCAL_BYTES, LOCAL_FIXED = 11, 256  # of local memory, for each haplotype and for all
COMPARED_BYTES = 8  # more for each haplotype where two populations are compared
LEAST_IN_LOCAL = 256
LEAST_BLOCK = 256  # cores that a work-item of `walk_sorted` does at least
BLOCK_SHARE = 4  # ... and times the steps that it has to begin before them
ITEMS = 64
GROUPS = 1 << 12  # at a time, with classes in global memory
AHEAD = 2  # rows of the stack beyond the most steps

Method = Literal["sorted", "classes"]
ALL_SCORES: tuple[Score, ...] = (*SCORES, *COMPARING)


@dataclass(frozen=True, eq=False)
class EhhValues(Native):
    """nSL, iHS, XP-nSL and XP-EHH of windows, each of its own scored sites.

    Attributes
    ----------
    windows : mapping of str to Native
        By statistic.
    """

    windows: Mapping[str, Native] = field(default_factory=dict)

    def on_rows(self, rows: Floats, step: float | None) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        for one in self.windows.values():
            found |= one.on_rows(rows, step)
        return found


class Ehh:
    """nSL, iHS, XP-nSL and XP-EHH as a family of statistics; see `families.Family`.

    Parameters
    ----------
    engine : Engine, optional
    block_sites : int, optional
        Sites of a block instead of those that fit in memory. Results never depend on it.
    """

    name: ClassVar[str] = "ehh"
    statistics: ClassVar[tuple[Statistic, ...]] = ALL_SCORES
    late: ClassVar[bool] = False

    def __init__(self, engine: Engine | None, *, block_sites: int | None = None) -> None:
        self._scanner = None if engine is None else HomozygosityScanner(engine, block_cores=block_sites)

    def needs_background(self, options: SweepOptions) -> bool:
        """Say that scores are normalised by those of the whole input."""
        return True

    def measure(
        self, used: Sequence[UsedSites], options: SweepOptions, masks: Sequence[Mask], portions: Sequence[Portion]
    ) -> list[dict[Score, SiteScores]]:
        """Return the scores of the sites of each alignment, not normalised.

        Raises
        ------
        UsageError
            More haplotypes than there may be, or genotypes where two populations are compared.
        """
        assert self._scanner is not None
        names = [name for name in ALL_SCORES if name in options.statistics]
        columns = []
        for chosen, sites_of in ((SCORES, core_sites), (COMPARING, compared_sites)):
            own = [name for name in names if name in chosen]
            if own:
                sites = [sites_of(one, options, mask) for one, mask in zip(used, masks, strict=True)]
                cores = [portion.share(one.sites) for one, portion in zip(sites, portions, strict=True)]
                columns += [self._scanner.scores(sites, name, options, cores) for name in own]
        return [dict(zip(names, each, strict=True)) for each in zip(*columns, strict=True)]

    def joined(self, measured: Sequence[dict[Score, SiteScores]]) -> dict[Score, SiteScores]:
        """Join the scores of portions."""
        return {name: SiteScores.joined([one[name] for one in measured]) for name in measured[0]}

    def see(self, used: UsedSites, options: SweepOptions) -> None:
        """Do nothing: scores say what the background needs."""

    def background(self, measured: Sequence[dict[Score, SiteScores]], options: SweepOptions) -> Background:
        """Return the means and deviations of scores, by derived frequency unless they compare populations."""
        found: dict[str, Floats] = {}
        for name in ALL_SCORES:
            if name in options.statistics:
                bins = score_bins([one[name] for one in measured], by_frequency=name in SCORES)
                found |= {f"{name}_{column}": values for column, values in bins.items()}
        return found

    def native(
        self, measured: dict[Score, SiteScores], options: SweepOptions, background: Background | None
    ) -> EhhValues:
        """Return the means of normalised scores in windows: of absolute ones unless they compare populations."""
        assert background is not None
        details: dict[str, Any] = {}
        windows: dict[str, Native] = {}
        for name, scores in measured.items():
            bins = {column: background[f"{name}_{column}"] for column in ("mean", "deviation")}
            details[name] = normalised(scores, bins)
            at, values = windows_of_scores(details[name], signed=name in COMPARING)
            windows[name] = Native(at, {name: values})
        remarks = tuple(one for name, scores in measured.items() if (one := _remark(name, scores)))
        return EhhValues(np.zeros(0), {}, remarks, details=details, windows=windows)

    def nearer(
        self, found: Native, used: UsedSites, at: Floats, options: SweepOptions, mask: Mask,
        background: Background | None,
    ) -> Native:  # fmt: skip
        """Return the values of windows, all of which are known."""
        return found


def _remark(name: Score, scores: SiteScores) -> str:
    """Why sites have no score; empty if all have one."""
    if not scores.unscored:
        return ""
    without = ", ".join(f"{count:,} {reason}" for reason, count in scores.unscored.items())
    text = f"{name} of {len(scores.score):,} sites; others have none: {without}"
    if scores.unscored.get(REASONS[END], 0) > len(scores.score):
        text = f"warning: {text}; scan longer regions, or with --ehh-edge keep"
    return text


def _rows_of_scratch(like: CoreSites) -> tuple[int, int]:
    """Numbers that `walk_sorted` keeps for each step: of its stack, and of lost pairs."""
    if like.first:
        return 5, 3
    return 3, 3 if like.genotypes else 2


def _group_words(like: CoreSites) -> int:
    """Words of classes that `walk_classes` keeps in global memory."""
    return 4 * like.count + 9 + (2 * like.count + 4) * (like.first > 0)


def _blocks(ranges: Sequence[tuple[int, int]], most: int) -> Iterator[tuple[int, int]]:
    """Blocks of at most so many cores; ranges that follow each other are taken as one."""
    joined: list[tuple[int, int]] = []
    for begin, end in ranges:
        if begin == end:
            continue
        if joined and joined[-1][1] == begin:
            begin = joined.pop()[0]
        joined.append((begin, end))
    for first, last in joined:
        for begin in range(first, last, most):
            yield begin, min(begin + most, last)


class HomozygosityScanner:
    """Computes nSL, iHS, XP-nSL and XP-EHH of sites on one device.

    Parameters
    ----------
    engine : Engine
    block_cores : int, optional
        Cores at a time instead of those that fit in memory. Results never depend on it.
    method : {'sorted', 'classes'}, optional
        The kernel, instead of the one that suits the device. Results never depend on it.
    local_memory : int, optional
        Bytes that classes of haplotypes may take, instead of those of the device. Results never depend on it.
    """

    def __init__(
        self, engine: Engine, *, block_cores: int | None = None, method: Method | None = None,
        local_memory: int | None = None,
    ) -> None:  # fmt: skip
        self._engine, self._block_cores = engine, block_cores
        self._local = engine.device.local_memory if local_memory is None else local_memory
        self._method: Method = method or ("sorted" if engine.tuning.cpu else "classes")

    def scores(
        self,
        alignments: Sequence[CoreSites],
        score: Score,
        options: SweepOptions,
        cores: Sequence[tuple[int, int]] | None = None,
    ) -> list[SiteScores]:
        """Return the scores of sites of some alignments, not normalised.

        Parameters
        ----------
        alignments : sequence of CoreSites
        score : str
        options : SweepOptions
        cores : sequence of (int, int), optional
            Cores [begin, end) of each; all if not given.

        Raises
        ------
        UsageError
            More haplotypes than there may be.
        DeviceError
            Not enough device memory, or a device lost on the way.
        """
        pairs = [(one, walks(one, score)) for one in alignments]
        wanted = [(0, one.sites) for one in alignments] if cores is None else list(cores)
        groups: dict[tuple[int, bool, int], list[int]] = defaultdict(list)
        for number, one in enumerate(alignments):
            if one.count > MOST_HAPLOTYPES:
                raise UsageError(f"{score} takes at most {MOST_HAPLOTYPES:,} haplotypes, and there are {one.count:,}")
            if one.sites:
                groups[one.haplotypes, one.genotypes, one.first].append(number)
        found: dict[int, tuple[NDArray[np.uint64], NDArray[np.bool_]]] = {}
        for members in groups.values():
            rows, joined = joined_cores([pairs[number] for number in members])
            before = np.cumsum([0, *(alignments[number].sites for number in members)]).tolist()
            ranges = [
                (start + wanted[number][0], start + wanted[number][1])
                for start, number in zip(before, members, strict=False)
            ]
            sums, ended = self._sums(rows, joined, alignments[members[0]], score, ranges)
            start = 0
            for number in members:
                own = slice(start, start + wanted[number][1] - wanted[number][0])
                found[number] = sums[:, :, own], ended[:, own]
                start = own.stop
        nothing = np.zeros((2, 5, 0), np.uint64), np.zeros((2, 0), bool)
        return [
            site_scores(one, score, walk, *found.get(number, nothing), options, wanted[number])
            for number, (one, walk) in enumerate(pairs)
        ]

    def _sums(
        self, rows: NDArray[np.uint32], walk: Walks, like: CoreSites, score: Score, ranges: Sequence[tuple[int, int]]
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Sums of the cores of ranges, one after the other, and which of their walks were completed."""
        cores, kinds = sum(end - begin for begin, end in ranges), 5 if like.genotypes else 2
        sums, ended = np.empty((2, kinds, cores), np.uint64), np.empty((2, cores), bool)
        number = np.arange(len(rows))
        furthest = np.maximum.accumulate(number + walk.steps[0])
        nearest = np.minimum.accumulate((number - walk.steps[1])[::-1])[::-1]
        most = self._fitting(rows, walk, like)
        place = 0
        for begin, end in _blocks(ranges, most):
            low, high = int(nearest[begin]), int(furthest[end - 1]) + 1
            part = Walks(
                walk.weights[low:high], walk.bits, np.ascontiguousarray(walk.steps[:, low:high]),
                np.ascontiguousarray(walk.closed[:, low:high]),
            )  # fmt: skip
            found = self._block(rows[low:high], part, like, score, begin - low, end - low)
            own = slice(place, place + end - begin)
            sums[:, :, own], ended[:, own] = found
            place = own.stop
        return sums, ended

    def _fitting(self, rows: NDArray[np.uint32], walk: Walks, like: CoreSites) -> int:
        """Cores of a block."""
        if self._block_cores is not None:
            return self._block_cores
        around, each = 2 * int(walk.steps.max()), rows.shape[1] * 4
        needs = [
            BufferNeed("rows", fixed=around * each, per_item=each), BufferNeed("walks", fixed=around * 14, per_item=14),
            BufferNeed("sums", per_item=82), BufferNeed("scratch", fixed=self._scratch(walk, like)),
        ]  # fmt: skip
        return self._engine.items_that_fit(needs, item="site")

    def _scratch(self, walk: Walks, like: CoreSites) -> int:
        """Bytes of scratch, whatever the cores."""
        if self._method == "sorted":
            depth = int(walk.steps.max()) + AHEAD + 1
            return ITEMS * (12 * like.count + 4 * sum(_rows_of_scratch(like)) * depth)
        return 0 if self._capacity(like) else GROUPS * 4 * _group_words(like)

    def _capacity(self, like: CoreSites) -> int:
        """Haplotypes whose classes are kept in local memory, a power of 2; 0 where these do not fit there."""
        capacity = max(1 << (like.count - 1).bit_length(), LEAST_IN_LOCAL)
        each = LOCAL_BYTES + COMPARED_BYTES * (like.first > 0)
        return capacity if capacity * each + LOCAL_FIXED <= self._local else 0

    def _block(
        self, rows: NDArray[np.uint32], walk: Walks, like: CoreSites, score: Score, begin: int, end: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Sums of the cores [begin, end) of some sites, and which walks were completed."""
        engine, cores = self._engine, end - begin
        alleles, kinds = (3, 5) if like.genotypes else (2, 2)
        with engine.profile.mark("upload sites"):
            held = {
                "rows": engine.upload(np.ascontiguousarray(rows)), "weights": engine.upload(walk.weights.copy()),
                "steps": engine.upload(walk.steps), "closed": engine.upload(walk.closed),
                "sums": engine.empty((2, kinds, cores), np.uint64), "ended": engine.empty((2, cores), np.uint8),
            }  # fmt: skip
        given = {**held, "words": rows.shape[1], "sites": len(rows), "count": like.count, "begin": begin, "end": end}
        given["compared"] = like.first
        defines = {"ALLELES": alleles, "BY_BP": int(score in BY_BP), "COMPARED": int(like.first > 0)}
        scratch = []
        if self._method == "sorted":
            depth = int(walk.steps.max()) + AHEAD + 1
            block = max(LEAST_BLOCK, BLOCK_SHARE * (depth - AHEAD), -(-2 * cores // ITEMS))
            items = 2 * -(-cores // block)
            stack, lost = _rows_of_scratch(like)
            scratch = [
                engine.empty(items * 2 * like.count, np.uint16), engine.empty(items * 2 * like.count, np.uint32),
                engine.empty(items * stack * depth, np.uint32), engine.empty(items * lost * depth, np.uint32),
            ]  # fmt: skip
            named = dict(zip(("order", "differing", "stack", "lost"), scratch, strict=True))
            kernel = engine.kernel(SOURCE, "walk_sorted", **defines)
            engine.launch_items(kernel, items, lanes=1, **given, **named, block=block, depth=depth)
        else:
            capacity = self._capacity(like)
            kernel = engine.kernel(SOURCE, "walk_classes", **defines, IN_LOCAL=capacity)
            words = _group_words(like)
            lanes, groups = engine.group_of(kernel, LANES), 2 * cores
            if capacity:
                engine.launch(kernel, (groups * lanes,), (lanes,), **given, from_group=0, group_words=0, scratch=None)
            else:
                scratch = [engine.empty(min(groups, GROUPS) * words, np.uint32)]
                for first in range(0, groups, GROUPS):
                    size = min(GROUPS, groups - first)
                    engine.launch(
                        kernel, (size * lanes,), (lanes,), **given, from_group=first, group_words=words,
                        scratch=scratch[0],
                    )  # fmt: skip
        found = engine.download(held["sums"]), engine.download(held["ended"]) != 0
        for array in (*held.values(), *scratch):
            array.release()
        return found
