"""Prefix sums of qualities."""

from __future__ import annotations

import numpy as np
import pytest

from oclgenomics.runtime import Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.signatures.device.quality_sums import group_sums, quality_sums, sum_type

SKIP = 5


def text_of(engine: Engine, size: int) -> tuple[Text, np.ndarray]:
    memory = np.random.default_rng(size).integers(0, 256, SKIP + size, np.uint8)
    return Text(engine.upload(memory), SKIP, size), memory[SKIP:].astype(np.int64)


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 64, 1000])
@pytest.mark.parametrize(("kind", "bits"), [("uint", 32), ("ulong", 64)])
def test_sums_before_bytes_and_groups(shaped: Engine, size: int, kind: str, bits: int) -> None:
    text, values = text_of(shaped, size)
    before = np.concatenate([[0], np.cumsum(values - 33)])
    sums = shaped.download(quality_sums(shaped, text, kind))
    assert sums.dtype == np.dtype(f"u{bits // 8}")
    assert [int(number) for number in sums] == [number % (1 << bits) for number in before.tolist()]
    groups = shaped.download(group_sums(shaped, text, kind))
    assert groups.tolist() == np.concatenate([[0], np.cumsum(values)])[::32].tolist()


def test_sums_of_windows_fit_their_type() -> None:
    assert sum_type((1 << 32) // 93) == "uint"
    assert sum_type((1 << 32) // 93 + 1) == "ulong"
