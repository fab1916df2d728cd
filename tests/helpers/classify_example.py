"""The database of the example in docs/classify-format.md."""

from __future__ import annotations

import numpy as np

from helpers.classify_databases import features_of
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.options import METACACHE_BUILD
from oclgenomics.classify.plan import count_windows
from oclgenomics.classify.reference import build_features
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.classify.taxonomy.tree import Taxonomy

__all__ = ["example_database"]

SEQUENCES = b"GATTACAGATTACAGATTA", b"TACAGATTACAGATTACC"


def example_database() -> Database:
    """Two sequences that have a feature in common, of which the first has a taxon."""
    options, letters = METACACHE_BUILD, np.array([*map(len, SEQUENCES)], np.int64)
    targets = Targets(
        ("x", "y"),
        ("a.fa",),
        np.zeros(2, np.int32),
        np.arange(2),
        np.array([1, -1], np.int32),
        letters,
        count_windows(letters, options.sketch),
    )
    none = np.empty(0, np.int64)
    ranks = np.array([20, 4], np.int8)
    taxonomy = Taxonomy(np.array([1, 562]), np.zeros(2, np.int32), ranks, ("root", "E. coli"), none, none)
    features = features_of(build_features(SEQUENCES, options), targets.first_window)
    return Database(options, targets, taxonomy, features, {})
