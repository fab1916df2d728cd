"""Probed traits: sensible on the runtimes under test, kept on disk, survived when a device cannot."""

from pathlib import Path

import pytest

from oclgenomics.errors import BuildError
from oclgenomics.runtime import Device, Engine, diskcache, traits
from oclgenomics.selftest.idiom_values import RECIPROCAL_ERROR


def test_runtimes_under_test(engine: Engine) -> None:
    if engine.device.family not in ("pocl", "intel", "nvidia"):
        pytest.skip("no expectation for this runtime")
    found = engine.traits
    assert (found.fp64, found.int64_atomics, found.timestamps) == (True, True, True)
    assert found.correctly_rounded_divide
    assert found.fused_multiply_add
    assert found.separate_multiply_add
    assert 0 < found.reciprocal_error <= RECIPROCAL_ERROR


def test_kept_on_disk(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path))
    with Engine(device) as engine:
        first = engine.traits
    monkeypatch.setattr(traits, "_Probe", None)
    with Engine(device) as engine:
        assert engine.traits == first


def test_a_device_that_compiles_nothing(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise BuildError("no")

    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(traits, "build_program", fail)
    with Engine(device) as engine:
        assert engine.traits == traits.Traits(False, False, False, False, False, False, 1.0)
