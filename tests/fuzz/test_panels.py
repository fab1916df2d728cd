"""Panels that are damaged under right checksums: each is refused in one line, or safe to use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.array_file_damage import check_refused_or_safe
from helpers.fuzz_samples import SAMPLES
from helpers.fuzzing import SECONDS

from oclgenomics.signatures.formats.panel_file import KIND, BuiltPanel, open_panel
from oclgenomics.signatures.panels.seeds import TAIL, SeedTable

pytestmark = pytest.mark.fuzz


def check_safe(panel: BuiltPanel) -> None:
    """Nothing points out of its array."""
    assert len(panel.names) == len(set(panel.names)) == len(panel.lengths)
    assert panel.lengths.min() >= 1
    assert panel.offsets[-1] == len(panel.sets)
    assert 1 <= panel.sets.min() <= panel.sets.max() <= 15
    for key in panel.tables.numbers:
        check_table(panel, key.strand, panel.tables.read(key))


def check_table(panel: BuiltPanel, strand: Any, table: SeedTable) -> None:
    lengths = panel.patterns(strand).lengths
    assert (lengths[table.pattern] - table.offset.astype(np.int64) >= table.head + TAIL).all()
    assert (np.diff(table.first.astype(np.int64)) >= 0).all()
    assert table.first[-1] == len(table.lists)
    assert (table.lists < len(table.pattern)).all()
    assert len(table.barred) == len(table.offset) == len(table.pattern)
    assert set(table.pattern.tolist()) | set(table.unseeded.tolist()) == set(range(len(lengths)))


@pytest.mark.parametrize("part", ["description", "array"])
def test_right_checksums(tmp_path: Path, part: str) -> None:
    check_refused_or_safe(
        tmp_path / "x", SAMPLES["built_panel"], KIND, part, SECONDS / 2, lambda path: check_safe(open_panel(path))
    )
