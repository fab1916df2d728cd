"""Features of clades counted on a device: against the oracle, in pieces of any size."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from helpers.classify_index import features_of
from helpers.taxonomies import random_lineages

from oclgenomics.classify import plan, reference
from oclgenomics.classify.device import clade_counter
from oclgenomics.classify.device.clade_counter import count_clades
from oclgenomics.classify.taxonomy.coverage import Clades, known_features
from oclgenomics.io.workers import Workers
from oclgenomics.runtime import Engine


@pytest.mark.parametrize("most", [1, 7, 1 << 20])
def test_features_of_clades(engine: Engine, most: int) -> None:
    rng = np.random.default_rng(most)
    sizes = {"cpu": most, "gpu": most}
    changed = {"LOADED_FEATURES": sizes, "LOADED_LOCATIONS": sizes}
    for taxa, targets, features in ((1, 1, 1), (3, 2, 0), (20, 9, 12), (60, 40, 90), (40, 70, 2)):
        lineages = random_lineages(taxa, targets, rng)
        windows, first = int(lineages.targets.windows.sum()), lineages.targets.first_window
        counts = np.minimum(rng.geometric(0.2, features) - (rng.random(features) < 0.2), windows)
        counts[:2] = windows  # also longer lists than those that are sorted by insertion
        names = rng.choice(1 << 31, features, replace=False).tolist()
        lists = {
            name: np.sort(rng.choice(windows, count, replace=False)).tolist()
            for name, count in zip(names, counts.tolist(), strict=True)
        }
        clades = Clades(lineages)
        above = [None if up == len(clades.parents) - 1 else up for up in clades.parents[:-1].tolist()]
        owners = [
            (taxa + int(np.searchsorted(first, window, "right")) - 1, name) for name in lists for window in lists[name]
        ]
        with mock.patch.multiple(plan, **changed), mock.patch.object(clade_counter, "MOST_GAINED", most):
            found = count_clades(engine, features_of(lists), lineages)
        assert found.tolist() == reference.cover_clades(owners, above)[1]
        with Workers(2) as threads:
            assert known_features(features_of(lists), lineages, threads).tolist() == found.tolist()
