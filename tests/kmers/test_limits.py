"""Counting k-mers on devices whose work-groups are small, and on those whose buffers are."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import random_text
from helpers.products import only_whole

from oclgenomics.kmers import reference
from oclgenomics.kmers.api import count_to_database
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import Engine


@pytest.mark.parametrize("k", [9, 40])
def test_the_same_bytes(limited: Engine, engine: Engine, tmp_path: Path, k: int) -> None:
    text = random_text(np.random.default_rng(k), 12_000, b"ACGTACGTacgtN", 900)
    (tmp_path / "x.fa").write_bytes(text)
    summary = count_to_database([tmp_path / "x.fa"], CountOptions(k), tmp_path / "small.db", engine=limited)
    count_to_database([tmp_path / "x.fa"], CountOptions(k), tmp_path / "own.db", engine=engine)
    assert summary.kmers == sum(reference.count([text], CountOptions(k)).values())
    assert (tmp_path / "small.db").read_bytes() == (tmp_path / "own.db").read_bytes()


@pytest.mark.parametrize("k", [*only_whole(16), 32, 40])
def test_buffers_are_no_larger_than_the_device_takes(shaped: Engine, engine: Engine, tmp_path: Path, k: int) -> None:
    most = 2 << 20
    text = random_text(np.random.default_rng(k), 650_000, b"ACGT", 350_000)
    (tmp_path / "x.fa").write_bytes(text)
    count_to_database([tmp_path / "x.fa"], CountOptions(k), tmp_path / "own.db", engine=engine)
    device = dataclasses.replace(shaped.device, max_allocation=most)  # `runtime.buffers` refuses larger ones
    with Engine(device, tuning=shaped.tuning) as small:
        count_to_database([tmp_path / "x.fa"], CountOptions(k), tmp_path / "small.db", engine=small)
    assert (tmp_path / "small.db").read_bytes() == (tmp_path / "own.db").read_bytes()
