"""A context that is made before an engine asks for it is the engine's, if it is on the engine's device."""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.runtime import Device, Engine, early_context, list_devices, loader
from oclgenomics.runtime.early_context import begin_context, begin_engine, begin_gpu, keep_context, taken_context

INTEL = loader.intel_library()
CPU = 1 << 1  # CL_DEVICE_TYPE_CPU
needs_intel = pytest.mark.skipif(INTEL is None, reason="needs Intel's runtime for CPUs")


@pytest.fixture
def intel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """Intel's CPU device, in the place of NVIDIA's first GPU."""
    monkeypatch.setattr(early_context, "GPU", CPU)
    monkeypatch.setattr(early_context, "_making", None)
    monkeypatch.setattr(early_context, "_kept", {})
    early_context._made.clear()
    yield next(replace(one, family="nvidia") for one in list_devices() if one.platform.startswith("Intel"))
    if early_context._making is not None:
        early_context._making.join()


@needs_intel
def test_an_engine_takes_the_context_that_a_thread_made(intel: Device) -> None:
    begin_context(str(INTEL))
    assert early_context._making is not None
    early_context._making.join()
    (made,) = early_context._made
    context = taken_context(intel)
    assert context is not None
    assert context.int_ptr == made
    assert context.devices == [intel.handle]
    assert context.reference_count == 1  # which ends with the engine
    assert taken_context(intel) is None  # it is one engine's


@needs_intel
def test_the_context_works(intel: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_context(str(INTEL))
    real = next(one for one in list_devices() if one.index == intel.index)
    monkeypatch.setattr("oclgenomics.runtime.engine.taken_context", lambda device: taken_context(intel))
    with Engine(real) as engine:
        assert early_context._making is None
        values = np.arange(1000, dtype=np.uint32)
        np.testing.assert_array_equal(engine.download(engine.upload(values)), values)


@needs_intel
def test_threads_ask_for_it_one_at_a_time(intel: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    both, met = threading.Barrier(2), threading.Event()

    class Making:
        def join(self) -> None:
            with contextlib.suppress(threading.BrokenBarrierError):
                both.wait(0.3)
                met.set()

    early_context._make(str(INTEL), True)
    monkeypatch.setattr(early_context, "_making", Making())
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(taken_context, [intel] * 2))
    assert sum(context is not None for context in found) == 1
    assert not met.is_set()


@needs_intel
def test_another_device_does_not_get_it(intel: Device) -> None:
    begin_context(str(INTEL))
    assert taken_context(replace(intel, family="pocl")) is None  # which leaves it to those of the driver
    other = replace(intel, handle=None)  # type: ignore[arg-type]
    assert taken_context(other) is None
    assert taken_context(intel) is None  # nor is it kept for ever


@needs_intel
def test_one_is_kept_for_the_next_engine(intel: Device) -> None:
    real = next(one for one in list_devices() if one.index == intel.index)
    keep_context(real)
    kept = early_context._kept[real]
    keep_context(real)
    assert early_context._kept == {real: kept}
    with Engine(real) as engine:
        assert engine._context is kept
        assert not early_context._kept
        with Engine(real) as second:
            assert second._context.int_ptr != kept.int_ptr


@needs_intel
def test_a_driver_starts_without_a_context(intel: Device) -> None:
    begin_context(str(INTEL), make=False)
    assert early_context._making is not None
    assert taken_context(intel) is None
    assert early_context._making is None


@pytest.mark.parametrize("what", ["missing", "no library", "no driver"])
def test_what_is_no_driver_makes_none(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_context, "_making", None)
    path = tmp_path / "libnvidia-opencl.so.1"
    if what == "no library":
        path.write_bytes(b"no library")
    begin_context("libc.so.6" if what == "no driver" else str(path))
    assert early_context._making is not None
    early_context._making.join()
    assert not early_context._made


@needs_intel
def test_a_driver_without_a_gpu_makes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_context, "_making", None)
    begin_context(str(INTEL))
    assert early_context._making is not None
    early_context._making.join()
    assert not early_context._made


@pytest.mark.parametrize(
    ("request_", "variables", "makes"),
    [
        (None, {}, True), ("auto", {}, True), ("gpu", {}, True), ("cpu", {}, False), ("1", {}, False),
        (None, {"OCLGENOMICS_DEVICE": "1"}, False), (None, {"PYOPENCL_CTX": "0"}, False),
        ("auto", {"OCLGENOMICS_DEVICE": "1"}, True),
    ],
)  # fmt: skip
def test_a_context_is_made_on_what_auto_would_choose_only(
    request_: str | None, variables: dict[str, str], makes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in early_context.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    begun: list[tuple[str, bool]] = []
    drivers = ["libintelocl.so", "/usr/lib64/libnvidia-opencl.so.1", "libpocl.so.2"]
    monkeypatch.setattr(early_context, "early_drivers", lambda: drivers)
    monkeypatch.setattr(early_context, "begin_context", lambda library, *, make: begun.append((library, make)))
    for begin in (begin_gpu, begin_engine):
        begin(request_)
    assert begun == [("/usr/lib64/libnvidia-opencl.so.1", makes)] * 2


@needs_intel
def test_the_process_does_not_end_before_it_is_there() -> None:
    """A driver that is unloaded while it starts aborts, or never ends."""
    code = f"""
from oclgenomics.runtime import early_context
make = early_context._make
def _make(library, wanted):
    make(library, wanted)
    print(len(early_context._made), flush=True)
early_context._make, early_context.GPU = _make, {CPU}
early_context.begin_context({str(INTEL)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_handles_are_as_wide_as_pointers() -> None:
    assert ctypes.sizeof(early_context._Handle) == ctypes.sizeof(ctypes.c_void_p)
