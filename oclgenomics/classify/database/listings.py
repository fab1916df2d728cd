"""What can be said of a database: facts, and listings in the forms of MetaCache, which are yielded in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.features import Features, unmix
from oclgenomics.classify.database.file import KIND
from oclgenomics.classify.database.packed_file import FeatureSource
from oclgenomics.classify.options import MAX_KMER, MAX_LOCATIONS, RANKS, SEQUENCE
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import ParameterError, check_choice

BLOCK = 1 << 14  # targets or features of a piece
ROOT = RANKS.index("root")
LISTED = RANKS[:ROOT]


RULE = "-" * 48 + "\n"


def target_lines(database: Database, names: Sequence[str] = ()) -> Iterator[str]:
    """Yield targets: name, file and place in it, windows, and the taxa of the lineage.

    Parameters
    ----------
    database : Database
    names : sequence of str
        Targets to list, in this order; all if there are none.

    Raises
    ------
    UsageError
        There is no target of that name.
    """
    lineages, targets = Lineages.of(database.taxonomy, database.targets), database.targets
    numbers = _numbers_of(targets.names, names)
    if not names:
        yield "Targets (reference sequences) in database:\n"
    taxa = len(database.taxonomy)
    taxids, taxon_names = database.taxonomy.taxids, database.taxonomy.names
    for target in numbers:
        lines = [
            f"Target {targets.names[target]}):",
            f"    source:     {targets.sources[targets.source[target]]} / {targets.record[target]}",
            f"    length:     {targets.windows[target]} windows",
            f"    sequence:   ({-1 - target}) {targets.names[target]}",
        ]
        row = lineages.at_rank[taxa + target].tolist()
        slots = [(rank, taxon) for rank, taxon in zip(RANKS, row, strict=True) if taxon != NO_TAXON]
        lines += [f"    {rank + ':':<11} ({taxids[taxon]}) {taxon_names[taxon]}" for rank, taxon in slots[1:]]
        yield "\n".join(lines) + "\n"


def lineage_lines(database: Database) -> Iterator[str]:
    """Yield a table of targets: the identifier of the taxon at each rank, 0 for none, and -1 - number of a target."""
    lineages, targets = Lineages.of(database.taxonomy, database.targets), database.targets
    yield "\t".join(["name", *LISTED]) + "\n"
    at_rank = lineages.at_rank[len(database.taxonomy) :, :ROOT]
    known = np.append(database.taxonomy.taxids, 0)  # NO_TAXON, which is -1, finds the last one
    for first in range(0, len(targets), BLOCK):
        block = at_rank[first : first + BLOCK].copy()
        block[:, SEQUENCE] = NO_TAXON
        taxids = known[block]
        taxids[:, SEQUENCE] = -1 - np.arange(first, first + len(block))
        rows = zip(targets.names[first : first + BLOCK], taxids.tolist(), strict=True)
        yield "".join(["\t".join([name, *map(str, row)]) + "\n" for name, row in rows])


def rank_lines(database: Database, rank: str) -> Iterator[str]:
    """Yield a table of the taxa at a rank: identifier, name, targets; those of no taxon last, as 0 and "--".

    Raises
    ------
    UsageError
        There is no such rank.
    """
    check_choice("rank", rank, RANKS)
    lineages, taxa = Lineages.of(database.taxonomy, database.targets), len(database.taxonomy)
    found, targets = np.unique(lineages.at_rank[taxa:, RANKS.index(rank)], return_counts=True)
    yield f"Sequence distribution for rank '{rank}':\ntaxid \t taxon_name \t sequences\n"
    for number, count in zip(found.tolist(), targets.tolist(), strict=True):
        if number >= taxa:
            yield f"{taxa - number - 1} \t {database.targets.names[number - taxa]} \t {count}\n"
        elif number != NO_TAXON:
            yield f"{database.taxonomy.taxids[number]} \t {database.taxonomy.names[number]} \t {count}\n"
    if len(found) and found[0] == NO_TAXON:
        yield f"0 \t -- \t {targets[0]}\n"


def location_lines(database: Database) -> Iterator[str]:
    """Yield features in ascending order, each with its locations: "FEATURE -> (target,window)(target,window)..."."""
    first_window = database.targets.first_window
    for features, counts, places in _blocks(database):
        locations = database.features.locations[places]
        target = np.searchsorted(first_window, locations, side="right") - 1
        # all numbers of all lines in a row, for one formatting: a feature, then two numbers for each location
        begins = np.cumsum(1 + 2 * counts) - (1 + 2 * counts)
        values = np.empty(len(features) + 2 * len(places), np.int64)
        values[begins] = features
        pairs = np.ones(len(values), bool)
        pairs[begins] = False
        values[pairs] = np.stack([target, locations - first_window[target]], axis=1).reshape(-1)
        forms = ["%d -> " + "(%d,%d)" * count + "\n" for count in range(int(counts.max()) + 1)]
        yield "".join([forms[count] for count in counts.tolist()]) % tuple(values.tolist())


def count_lines(database: Database) -> Iterator[str]:
    """Yield features in ascending order, each with the number of its locations: "FEATURE -> COUNT"."""
    for features, counts, _ in _blocks(database):
        yield "%d -> %d\n" * len(features) % tuple(np.stack([features, counts], axis=1).reshape(-1).tolist())


def _numbers_of(known: Sequence[str], names: Sequence[str]) -> Sequence[int]:
    if not names:
        return range(len(known))
    numbers = {name: number for number, name in enumerate(known)}
    for name in names:
        if name not in numbers:
            raise ParameterError("names", "no target of the database has this name", name)
    return [numbers[name] for name in names]


def _blocks(database: Database) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Features that have locations, in ascending order: values, counts, and where all these locations are."""
    keys, starts = database.features.keys, database.features.starts
    alive = np.flatnonzero(database.features.counts)
    features = unmix(keys[alive])
    order = np.argsort(features)
    for first in range(0, len(order), BLOCK):
        block = order[first : first + BLOCK]
        own = alive[block]
        counts = database.features.counts[own].astype(np.int64)
        begins = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(starts[own] - begins, counts)
        yield features[block].astype(np.int64), counts, places


def spread_of_lists(features: Features) -> tuple[float, float, float]:
    """Return mean, deviation and skewness of the numbers of locations, features without any left aside.

    The deviation is that of a sample; 0 where there is none.
    """
    tally = np.bincount(features.counts, minlength=1)
    sizes = np.arange(len(tally), dtype=np.float64)
    tally[0] = 0
    alive = int(tally.sum())
    if not alive:
        return 0.0, 0.0, 0.0
    mean = float(tally @ sizes) / alive
    deviation = float(np.sqrt(tally @ (sizes - mean) ** 2 / max(alive - 1, 1)))
    return mean, deviation, float(tally @ (sizes - mean) ** 3) / alive / deviation**3 if deviation else 0.0


def database_facts(database: Database, features: FeatureSource | None = None) -> dict[str, Any]:
    """Return what a database holds, as JSON has it.

    Parameters
    ----------
    database : Database
    features : FeatureSource, optional
        Where its features are, if they are not in memory.

    Returns
    -------
    dict
        Numbers of targets (`ranked_targets`: with a taxon), of the files they are from, of taxa, letters, windows,
        features (`dead_features`: those that lost all locations) and locations; `largest_feature`, the most locations
        of one; the options of `BuildOptions`; and `program`, the version that built it, where that is known.
    """
    features = database.features if features is None else features
    targets, numbers = database.targets, features.numbers
    options = asdict(database.options)
    return {
        "targets": len(targets),
        "ranked_targets": _ranked(targets.taxon),
        "sources": len(targets.sources),
        "taxa": len(database.taxonomy),
        "letters": int(targets.letters.sum()),
        "windows": int(targets.windows.sum()),
        "features": numbers.alive,
        "dead_features": numbers.dead,
        "locations": numbers.located,
        "largest_feature": numbers.largest,
        **options.pop("sketch"),
        **options,
        "program": database.provenance.get("version"),
    }


def statistics_lines(database: Database) -> Iterator[str]:
    """Yield what MetaCache calls statistics, in its form, without what a database of this program does not have."""
    options, targets, taxonomy = database.options, database.targets, database.taxonomy
    numbers, (mean, deviation, skewness) = database.features.numbers, spread_of_lists(database.features)
    yield from _block(("oclgenomics", __version__), ("database version", KIND.version))
    yield from _block(
        ("target limit", (1 << 31) - 1),
        ("window limit", (1 << 32) - 1),
        ("window length", options.sketch.winlen),
        ("window stride", options.sketch.winstride),
    )
    yield from _block(
        ("feature type", "unsigned int 32 bits"),
        ("kmer size", options.sketch.kmerlen),
        ("kmer limit", MAX_KMER),
        ("sketch size", options.sketch.sketchlen),
    )
    yield from _block(("max. locations", options.max_locations), ("location limit", MAX_LOCATIONS))
    yield from _block(
        ("database parts", 1),
        ("targets", len(targets)),
        ("ranked targets", _ranked(targets.taxon)),
        ("taxa in tree", len(taxonomy) + len(taxonomy.merged_from)),
        ("bucket size", f"max: {numbers.largest} mean: {mean:g} +/- {deviation:g} <> {skewness:g}"),
        ("features", numbers.alive),
        ("dead features", numbers.dead),
        ("locations", len(database.features.locations)),
    )
    yield RULE


def _ranked(taxon: NDArray[np.int32]) -> int:
    return int(np.count_nonzero(taxon != NO_TAXON))


def _block(*facts: tuple[str, object]) -> Iterator[str]:
    yield RULE
    yield from (f"{name:<18} {value}\n" for name, value in facts)
