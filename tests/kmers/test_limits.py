"""Counting k-mers on devices whose work-groups are small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import random_text

from oclgenomics.kmers import reference
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.run import count_to_database
from oclgenomics.runtime import Engine


@pytest.mark.parametrize("k", [9, 40])
def test_the_same_bytes(limited: Engine, engine: Engine, tmp_path: Path, k: int) -> None:
    text = random_text(np.random.default_rng(k), 30_000, b"ACGTACGTacgtN", 900)
    (tmp_path / "x.fa").write_bytes(text)
    summary = count_to_database([tmp_path / "x.fa"], CountOptions(k), tmp_path / "small.db", engine=limited)
    count_to_database([tmp_path / "x.fa"], CountOptions(k), tmp_path / "own.db", engine=engine)
    assert summary.windows == sum(reference.count([text], CountOptions(k)).values())
    assert (tmp_path / "small.db").read_bytes() == (tmp_path / "own.db").read_bytes()
