"""The oracle: sketches, features, candidates and calls in plain Python, by the rules of MetaCache (Mueller 2017).

Slow, and meant to be read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

import numpy as np

from oclgenomics.classify.database.features import NO_FEATURE, hash_kmers
from oclgenomics.classify.options import RANKS, BuildOptions, QueryOptions, SketchOptions
from oclgenomics.classify.taxonomy.calls import Candidate

CODES = {letter: code for code, letters in enumerate((b"Aa", b"Cc", b"Gg", b"TtUu")) for letter in letters}
LOWER = frozenset(b"acgtu")
Locations = dict[int, list[tuple[int, int]]]  # of each feature: target and window, ascending


def windows(letters: bytes, options: SketchOptions) -> list[bytes]:
    """Cut a sequence into its windows; those shorter than a k-mer are left out."""
    found = []
    begin = 0
    if len(letters) > options.winlen:
        while begin + options.winlen <= len(letters):
            found.append(letters[begin : begin + options.winlen])
            begin += options.winstride
    found.append(letters[begin:])
    return [window for window in found if len(window) >= options.kmerlen]


def sketch(window: bytes, options: SketchOptions) -> list[int]:
    """Return the smallest distinct hashes of the canonical k-mers of a window, ascending."""
    k, masked, least = options.kmerlen, options.soft_masked, options.min_triplets
    every = (canonical(window[begin : begin + k], least, soft_masked=masked) for begin in range(len(window) - k + 1))
    kmers = [kmer for kmer in every if kmer is not None]
    hashes = set(hash_kmers(np.array(kmers, np.uint32)).tolist()) - {NO_FEATURE}
    return sorted(hashes)[: options.sketchlen]


@lru_cache(maxsize=1 << 16)  # neighbouring windows share k-mers, as do the same windows with other options
def canonical(letters: bytes, min_triplets: int, *, soft_masked: bool) -> int | None:
    """Return the smaller number of a k-mer and of its reverse complement; None where it is left out."""
    codes = [CODES.get(letter, -1) for letter in letters]
    masked = soft_masked and not LOWER.isdisjoint(letters)
    if min(codes) < 0 or masked or count_triplets(codes) < min_triplets:
        return None
    forward = sum(code << 2 * place for place, code in enumerate(reversed(codes)))
    backward = sum((3 - code) << 2 * place for place, code in enumerate(codes))
    return min(forward, backward)


def count_triplets(codes: Sequence[int]) -> int:
    """Return how many different triplets neighbouring bases make: few where a sequence is of low complexity."""
    return len(set(zip(codes, codes[1:], codes[2:], strict=False)))


def sketches(letters: bytes, options: SketchOptions) -> list[list[int]]:
    """Return the sketch of each window of a sequence."""
    return [sketch(window, options) for window in windows(letters, options)]


def build_features(
    targets: Sequence[bytes], options: BuildOptions, taxa: Sequence[int | None] | None = None
) -> Locations:
    """Return the locations of each feature; none of those that the options remove.

    Parameters
    ----------
    targets : sequence of bytes
    options : BuildOptions
    taxa : sequence of int or None, optional
        Taxon of each target at the rank of `remove_ambiguous`; None, where there is none, counts as one.
    """
    found: Locations = defaultdict(list)
    for target, letters in enumerate(targets):
        for window, features in enumerate(sketches(letters, options.sketch)):
            for feature in features:
                found[feature].append((target, window))
    for feature, locations in found.items():
        del locations[options.max_locations :]
        overpopulated = options.remove_overpopulated and len(locations) >= options.max_locations
        if overpopulated or (taxa is not None and _ambiguous(locations, options, taxa)):
            found[feature] = []
    return dict(found)


def _ambiguous(locations: Iterable[tuple[int, int]], options: BuildOptions, taxa: Sequence[int | None]) -> bool:
    return len({taxa[target] for target, _ in locations}) > options.max_ambiguous


def find_candidates(
    mates: Sequence[bytes],
    features: Locations,
    options: SketchOptions,
    width: int,
    maxcand: int,
    groups: Sequence[int | None] | None = None,
    *,
    repeats: bool = False,
) -> list[Candidate]:
    """Return the candidates of a read, the best one first.

    Parameters
    ----------
    mates : sequence of bytes
        The read, or both mates of a pair.
    features : Locations
    options : SketchOptions
        Of the read's windows.
    width : int
        Neighbouring windows whose hits add up; see `plan.range_widths`.
    maxcand : int
    groups : sequence of int or None, optional
        Taxon of each target; of each taxon the best target alone is a candidate, and targets of None are none. If not
        given, each target is a taxon by itself.
    repeats : bool
        Count a feature for each time that the read has it, and for each of its windows.
    """
    own = [feature for letters in mates for window in sketches(letters, options) for feature in window]
    if repeats:
        hit = [location for feature in own for location in features.get(feature, ())]
    else:
        hit = [location for feature in set(own) for location in counting(features.get(feature, ()), width)]
    return choose_candidates(hit, width, maxcand, groups)


def counting(locations: Iterable[tuple[int, int]], width: int) -> list[tuple[int, int]]:
    """Return those of a feature's locations that count: none that is close behind one of the same target that does."""
    kept: list[tuple[int, int]] = []
    for target, window in locations:
        if not kept or kept[-1][0] != target or window - kept[-1][1] >= width:
            kept.append((target, window))
    return kept


def choose_candidates(
    hit: Iterable[tuple[int, int]], width: int, maxcand: int, groups: Sequence[int | None] | None = None
) -> list[Candidate]:
    """Return the candidates of a read whose features are at these locations; see `find_candidates`."""
    best: dict[int, Candidate] = {}
    for target, locations in groupby(sorted(hit), key=lambda location: location[0]):
        group = target if groups is None else groups[target]
        found = _best_range(target, [window for _, window in locations], width)
        if group is not None and (group not in best or found.hits > best[group].hits):
            best[group] = found
    return sorted(best.values(), key=lambda one: (-one.hits, one.target))[:maxcand]


def _best_range(target: int, hit_windows: list[int], width: int) -> Candidate:
    """The most hits in `width` neighbouring windows; of several such ranges, the first one."""
    best = Candidate(target, 0, 0, 0)
    for end, last in enumerate(hit_windows):
        begin = bisect_right(hit_windows, last - width)
        if end + 1 - begin > best.hits:
            best = Candidate(target, end + 1 - begin, hit_windows[begin], last)
    return best


def shared_features(own: Iterable[int], features: Locations, best: Candidate | None) -> list[int]:
    """Return the features of a read that lie in the range of windows of its best candidate, in the order of the read.

    Parameters
    ----------
    own : iterable of int
        Features of the read: each once, or, where repeats count, as often as the read has it.
    features : Locations
    best : Candidate or None
    """
    if best is None:
        return []
    places = [(best.target, window) for window in range(best.first, best.last + 1)]
    return [feature for feature in own if not set(places).isdisjoint(features.get(feature, ()))]


def cover_clades(pairs: Iterable[tuple[int, int]], above: Sequence[int | None]) -> tuple[list[int], list[int]]:
    """Return how many features each clade has, and how many of them differ.

    Parameters
    ----------
    pairs : iterable of (int, int)
        Nodes and features: those of reads that are called the node, or of targets that are the node.
    above : sequence of int or None
        The parent of each node.
    """
    hits, seen = [0] * len(above), [set[int]() for _ in above]
    for called, feature in pairs:
        node: int | None = called
        while node is not None:
            hits[node] += 1
            seen[node].add(feature)
            node = above[node]
    return hits, [len(features) for features in seen]


def expected_features(known: int, hits: int) -> float:
    """Return how many of some features are hit if each of the hits may be any of them."""
    return known * (1 - (1 - 1 / known) ** hits) if known else 0.0


def lift_call(
    called: int | None,
    enough: Sequence[bool],
    above: Sequence[int | None],
    lineages: Sequence[Sequence[int | None]],
    highest: str,
) -> int | None:
    """Return what a read is called when taxa that are not covered enough are not called.

    Parameters
    ----------
    called : int or None
    enough : sequence of bool
        Of each node, whether it is covered enough by itself.
    above : sequence of int or None
    lineages : sequence of sequences of int or None
        For each node, its taxon at each rank.
    highest : str
    """
    holds = list(enough)
    for node, covered in enumerate(enough):
        higher = above[node]
        while covered and higher is not None:
            holds[higher] = True
            higher = above[higher]
    if called is None or holds[called]:
        return called
    ranked = lineages[called][: RANKS.index(highest) + 1]
    return next((taxon for taxon in ranked if taxon is not None and holds[taxon]), None)


def call_read(
    candidates: Sequence[Candidate],
    lineages: Sequence[Sequence[int | None]],
    options: QueryOptions,
    hitmin: int,
    lead: int | None = None,
) -> int | None:
    """Return the taxon that a read is called, or None.

    Parameters
    ----------
    candidates : sequence of Candidate
        The best one first.
    lineages : sequence of sequences of int or None
        For each target, its taxon at each rank.
    options : QueryOptions
    hitmin : int
    lead : int, optional
        Hits by which the best candidate has to lead those that do not count; `hitmin` if not given.
    """
    if not candidates or candidates[0].hits < hitmin:
        return None
    above = max(candidates[0].hits - (hitmin if lead is None else lead), 0)
    threshold = np.float32(above) * np.float32(options.hitdiff)
    counting = [lineages[one.target] for one in candidates[1:] if one.hits > threshold]
    best = lineages[candidates[0].target]
    rank = _first_rank([best], RANKS.index(options.lowest))
    for other in counting:
        rank = _first_rank([best, other], rank)
    return best[rank] if rank <= RANKS.index(options.highest) else None


def _first_rank(lineages: Sequence[Sequence[int | None]], lowest: int) -> int:
    """The first rank, from one on, at which all lineages have the same taxon; beyond all ranks if there is none."""
    shared = (rank for rank in range(lowest, len(RANKS)) if lineages[0][rank] is not None)
    return next((rank for rank in shared if len({lineage[rank] for lineage in lineages}) == 1), len(RANKS))


def share_reads(
    reads: Sequence[tuple[int, int | None, float, float]],
    above: dict[int, int | None],
    odds_of_relatives: float,
    shrinkage: float,
    rounds: int,
    weights: dict[int, float] | None = None,
) -> tuple[dict[int, float], dict[int, float]]:
    """Share reads out to their candidates, and to relatives of these without a reference.

    Parameters
    ----------
    reads : sequence of (int, int or None, float, float)
        Taxa of the best and the second candidate, and how much likelier the hits are if the read is of the one or of
        the other than if it is of neither.
    above : dict of int to int or None
        Of each taxon, the one that its relatives are of.
    odds_of_relatives : float
        Reads of relatives that are expected for each read of the taxa.
    shrinkage : float
        How far the share of relatives goes from what is found, 0, to what is expected, 1.
    rounds : int
    weights : dict of int to float, optional
        How likely a read of each taxon is to come from one place of its genome; 1 if not given.

    Returns
    -------
    tuple of dict
        Reads of the taxa, and of relatives by `above`.
    """
    taxa = sorted({one for read in reads for one in read[:2] if one is not None})
    hit = Counter(above[taxon] for taxon in {read[0] for read in reads})
    weight = dict.fromkeys(taxa, 1.0) if weights is None else weights
    share = {taxon: 1 / len(taxa) for taxon in taxa}
    unknown: dict[int | None, float] = {}
    for number in range(rounds):
        expected = {one: odds_of_relatives * sum(share[taxon] for taxon in taxa if above[taxon] == one) for one in hit}
        relatives = dict(expected)
        if number:
            relatives = {one: (1 - shrinkage) * unknown[one] / len(reads) + shrinkage * expected[one] for one in hit}
        found, unknown = dict.fromkeys(taxa, 0.0), dict.fromkeys(hit, 0.0)
        for best, second, best_odds, second_odds in reads:
            parent = above[best]
            of_best = best_odds * share[best] * weight[best]
            of_second = 0.0 if second is None else second_odds * share[second] * weight[second]
            of_none = 0.0 if parent is None else relatives[parent] / (odds_of_relatives * hit[parent]) * weight[best]
            total = of_best + of_second + of_none
            found[best] += of_best / total
            unknown[parent] += of_none / total
            if second is not None:
                found[second] += of_second / total
        share = {taxon: count / len(reads) for taxon, count in found.items()}
    return found, {one: count for one, count in unknown.items() if one is not None}
