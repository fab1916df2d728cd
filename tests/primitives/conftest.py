"""Every device with the kernels of its own class, and the GPUs' kernels on Intel's CPU runtime."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from oclgenomics.runtime import Device, Engine


@pytest.fixture(params=["own", "gpu"], scope="module")
def shaped(request: pytest.FixtureRequest, device: Device) -> Iterator[Engine]:
    """An engine with the kernels of the device's own class, or with those of GPUs."""
    if request.param == "gpu" and device.family != "intel":
        pytest.skip("the kernels for GPUs run on GPUs, and on Intel's CPU runtime as a check")
    with Engine(device) as engine:
        if request.param == "gpu":
            engine.tuning = dataclasses.replace(engine.tuning, cpu=False)
        yield engine
