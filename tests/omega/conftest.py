"""Fixtures of the omega tests."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded random numbers, the same for each test."""
    return np.random.default_rng(20210517)
