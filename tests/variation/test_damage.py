"""Whatever happens to the bytes of an input, the answer is alignments or one InputError."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from helpers.damage import INPUTS, damage

from oclgenomics.errors import InputError
from oclgenomics.variation import ReadOptions, characters, read_alignments


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", INPUTS)
def test_any_damage(tmp_path, name, packed):
    data = INPUTS[name].encode()
    path = tmp_path / "x"
    rng = np.random.default_rng(len(name) + packed)
    refused = 0
    for _ in range(100):
        path.write_bytes(damage(gzip.compress(data) if packed else data, rng))
        results: list[list[bytes] | None] = []
        for block in (16, 1 << 20):
            try:
                found = list(read_alignments(path, ReadOptions(length=1000), block_bytes=block))
                results.append([bytes(characters(alignment)) + bytes(alignment.positions) for alignment in found])
            except InputError:
                results.append(None)  # which of several defects is named depends on the block
        assert results[0] == results[1]
        refused += results[0] is None
    assert refused > 20
