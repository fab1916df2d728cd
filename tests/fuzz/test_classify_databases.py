"""Databases of classify that are damaged under right checksums: each is refused in one line, or safe to use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.array_file_damage import check_refused_or_safe
from helpers.classify_databases import edge_database
from helpers.fuzzing import SECONDS

from oclgenomics.classify.database import listings
from oclgenomics.classify.database.file import KIND, read_database, write_database
from oclgenomics.classify.database.listings import statistics_lines
from oclgenomics.classify.options import RANKS

pytestmark = pytest.mark.fuzz


def check_safe(path: Path) -> None:
    """Nothing points out of its array, and all can be told of it."""
    database = read_database(path)
    targets, taxonomy, features = database.targets, database.taxonomy, database.features
    total = int(targets.first_window[-1])
    assert len(set(targets.names)) == len(targets) == len(targets.windows)
    assert (targets.taxon < len(taxonomy)).all()
    assert all(0 <= parent < len(taxonomy) for parent in taxonomy.parents)
    assert all(-1 <= rank < len(RANKS) for rank in taxonomy.ranks)
    assert (np.diff(features.keys.astype(np.int64)) > 0).all()
    assert features.starts[-1] == len(features.locations)
    assert (features.counts <= database.options.max_locations).all()
    for begin, end in zip(features.starts[:-1], features.starts[1:], strict=True):
        own = features.locations[begin:end].astype(np.int64)
        assert (np.diff(own) > 0).all()
        assert (own < total).all()
    for lines in (listings.target_lines, listings.lineage_lines, listings.location_lines, statistics_lines):
        assert sum(map(len, lines(database))) > 0
    assert all(listings.rank_lines(database, rank) for rank in RANKS)


@pytest.mark.parametrize("part", ["description", "array"])
def test_right_checksums(tmp_path: Path, part: str) -> None:
    write_database(tmp_path / "whole", edge_database())
    whole = (tmp_path / "whole").read_bytes()
    check_refused_or_safe(tmp_path / "x", whole, KIND, part, SECONDS / 2, check_safe)
