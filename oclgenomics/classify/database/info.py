"""What can be told of a database as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.classify.database.database import Database, Features, FeatureSource
from oclgenomics.classify.database.file import KIND
from oclgenomics.classify.options import MAX_KMER, MAX_LOCATIONS
from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["ListSizes", "database_facts", "list_sizes", "statistics_lines"]

RULE = "-" * 48 + "\n"


class ListSizes(NamedTuple):
    """How many locations features have, those without any left aside.

    Attributes
    ----------
    features, dead : int
        With and without locations.
    largest : int
    mean, deviation, skewness : float
        The deviation is that of a sample; 0 where there is none.
    """

    features: int
    dead: int
    largest: int
    mean: float
    deviation: float
    skewness: float


def list_sizes(features: Features) -> ListSizes:
    """Sum up how many locations features have."""
    tally = np.bincount(features.counts, minlength=1)
    dead, sizes = int(tally[0]), np.arange(len(tally), dtype=np.float64)
    tally[0] = 0
    alive = int(tally.sum())
    if not alive:
        return ListSizes(0, dead, 0, 0.0, 0.0, 0.0)
    mean = float(tally @ sizes) / alive
    deviation = float(np.sqrt(tally @ (sizes - mean) ** 2 / max(alive - 1, 1)))
    skewness = float(tally @ (sizes - mean) ** 3) / alive / deviation**3 if deviation else 0.0
    return ListSizes(alive, dead, len(tally) - 1, mean, deviation, skewness)


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
    sizes = list_sizes(database.features)
    yield from _block(
        ("oclgenomics", __version__),
        ("database version", KIND.version),
    )
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
    yield from _block(
        ("max. locations", options.max_locations),
        ("location limit", MAX_LOCATIONS),
    )
    spread = f"mean: {sizes.mean:g} +/- {sizes.deviation:g} <> {sizes.skewness:g}"
    yield from _block(
        ("database parts", 1),
        ("targets", len(targets)),
        ("ranked targets", _ranked(targets.taxon)),
        ("taxa in tree", len(taxonomy) + len(taxonomy.merged_from)),
        ("bucket size", f"max: {sizes.largest} {spread}"),
        ("features", sizes.features),
        ("dead features", sizes.dead),
        ("locations", len(database.features.locations)),
    )
    yield RULE


def _ranked(taxon: NDArray[np.int32]) -> int:
    return int(np.count_nonzero(taxon != NO_TAXON))


def _block(*facts: tuple[str, object]) -> Iterator[str]:
    yield RULE
    yield from (f"{name:<18} {value}\n" for name, value in facts)
