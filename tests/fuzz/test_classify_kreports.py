"""Damaged reports of samples: counts that go together, or one error of one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.fuzzing import SECONDS, inputs, limited
from helpers.random_calls import random_lineages, random_reads

from oclgenomics.classify.formats import Tally, read_kreport
from oclgenomics.classify.formats.kraken import kreport
from oclgenomics.errors import InputError

pytestmark = pytest.mark.fuzz


def sample(seed: int) -> bytes:
    lineages = random_lineages(seed)
    tally = Tally(lineages)
    tally.add(random_reads(lineages, seed, 200))
    return kreport(tally).encode()


def test_reports(tmp_path: Path) -> None:
    path, refused = tmp_path / "x.kreport", 0
    samples = {"first": sample(1), "second": sample(2)}
    for number, data in inputs(samples, "first", SECONDS, each=0.003):
        path.write_bytes(data)
        with limited(data, f"report {number}"):
            refused += refuses(path)
    assert refused > 5


def refuses(path: Path) -> bool:
    """Whether a report is refused, which is done in one line; else its counts go together."""
    try:
        found = read_kreport(path)
    except InputError as error:
        refusal = str(error)
    else:
        assert found.reads == found.unclassified + int(found.of_taxa().sum())
        assert kreport(found)
        return False
    assert "\n" not in refusal
    return True
