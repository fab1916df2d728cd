"""Fixtures of the omega tests."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pytest

from oclgenomics.errors import DeviceError


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded random numbers, the same for each test."""
    return np.random.default_rng(20210517)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Compat precision is refused on devices without float64: tests of it are skipped there."""
    try:
        return (yield)
    except DeviceError as error:
        if "has no float64" not in str(error):
            raise
        pytest.skip(str(error))
