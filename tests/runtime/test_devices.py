"""Choosing a device, among made-up ones and the real ones."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from oclgenomics.errors import NoDeviceError, UnknownDeviceError
from oclgenomics.runtime import Device, devices, list_devices, loader, select_device, selection, trust


def made_up(index: int, platform_index: int, platform: str, family: str, kind: str, name: str, driver: str) -> Device:
    return Device(
        index=index,
        platform_index=platform_index,
        platform=platform,
        platform_version="OpenCL 3.0",
        name=name,
        vendor="somebody",
        driver=driver,
        version="OpenCL 3.0",
        kind=kind,
        family=family,
        compute_units=2,
        clock=1000,
        global_memory=1 << 30,
        max_allocation=1 << 28,
        local_memory=1 << 15,
        max_work_group=256,
        warp=32,
        unified_memory=kind == "cpu",
        alignment=128,
        divide_rounding_option=True,
        builtins="",
        extensions=frozenset(),
        handle=None,  # type: ignore[arg-type]
    )


POCL_OLD = made_up(0, 0, "Portable Computing Language", "pocl", "cpu", "pthread-one", "3.0-rc2")
POCL_NEW = made_up(1, 1, "Portable Computing Language", "pocl", "cpu", "pthread-two", "3.10")
INTEL = made_up(2, 3, "Intel(R) OpenCL", "intel", "cpu", "Xeon", "2026.2")
RUSTICL = made_up(3, 4, "rusticl", "rusticl", "cpu", "llvmpipe", "25.1")
GPU_ONE = made_up(4, 5, "NVIDIA CUDA", "nvidia", "gpu", "H200", "580")
GPU_TWO = made_up(5, 5, "NVIDIA CUDA", "nvidia", "gpu", "H200", "580")
SIMULATOR = made_up(6, 6, "Oclgrind", "oclgrind", "gpu", "Oclgrind Simulator", "21.10")
ALL = [POCL_OLD, POCL_NEW, INTEL, RUSTICL, GPU_ONE, GPU_TWO, SIMULATOR]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[Device]:
    present = list(ALL)
    monkeypatch.setattr(selection, "list_devices", lambda: present)
    monkeypatch.setattr(trust, "kept_verdict", lambda device: trust.Verdict({}))
    for name in ("OCLGENOMICS_DEVICE", "PYOPENCL_CTX"):
        monkeypatch.delenv(name, raising=False)
    return present


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (None, GPU_ONE),
        ("auto", GPU_ONE),
        ("gpu", GPU_ONE),
        ("cpu", INTEL),
        ("CPU", INTEL),
        ("0", POCL_OLD),
        ("5", GPU_TWO),
        ("h200", GPU_ONE),
        ("pocl", POCL_NEW),
        ("intel", INTEL),
        ("portable", POCL_NEW),
        ("pthread-one", POCL_OLD),
        ("nvidia:1", GPU_TWO),
        ("5:1", GPU_TWO),
        ("3:0", INTEL),
        ("simulator", SIMULATOR),
    ],
)
def test_requests(machine: list[Device], request_: str | None, expected: Device) -> None:
    assert select_device(request_) == expected


def test_order_of_preference(machine: list[Device]) -> None:
    for expected in (GPU_ONE, GPU_TWO, INTEL, POCL_NEW, POCL_OLD, RUSTICL, SIMULATOR):
        assert select_device() == expected
        machine.remove(expected)
    with pytest.raises(NoDeviceError, match="pip install"):
        select_device()


def test_discrete_gpus_go_before_integrated_ones_and_by_units_times_clock() -> None:
    integrated = dataclasses.replace(GPU_ONE, family="intel", platform="Intel(R) OpenCL Graphics", unified_memory=True)
    integrated = dataclasses.replace(integrated, driver="26.9", compute_units=512, clock=3000)
    nvidia = dataclasses.replace(GPU_ONE, compute_units=128, clock=2520, driver="580.1")
    amd = dataclasses.replace(GPU_TWO, family="amd", compute_units=96, clock=2500, driver="3649.0")
    faster = dataclasses.replace(amd, compute_units=304, clock=2100)
    assert max([INTEL, integrated], key=selection._rank) == integrated
    assert max([integrated, amd, nvidia, INTEL], key=selection._rank) == nvidia
    assert max([integrated, nvidia, faster], key=selection._rank) == faster


@pytest.mark.parametrize("request_", ["tpu", "7", "nvidia:2", "5:2", "accelerator", "2:0"])
def test_unknown_requests_never_fall_back(machine: list[Device], request_: str) -> None:
    with pytest.raises(UnknownDeviceError, match=r"there are 0: pthread-one \[Portable") as caught:
        select_device(request_)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 4


def test_environment(machine: list[Device], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYOPENCL_CTX", "portable")
    assert select_device() == POCL_NEW
    monkeypatch.setenv("OCLGENOMICS_DEVICE", "intel")
    assert select_device() == INTEL
    assert select_device("0") == POCL_OLD
    monkeypatch.setenv("OCLGENOMICS_DEVICE", "nonesuch")
    with pytest.raises(UnknownDeviceError, match="OCLGENOMICS_DEVICE"):
        select_device()


class BrokenPlatform:
    """A platform whose driver fails at every question but its name."""

    name = "broken"
    version = "OpenCL 1.2"

    def get_devices(self) -> list[object]:
        raise loader.opencl().LogicError("clGetDeviceIDs failed: DEVICE_NOT_FOUND")


class EmptyPlatform(BrokenPlatform):
    name = "empty"

    def get_devices(self) -> list[object]:
        return []


def test_broken_and_empty_platforms_do_not_hide_others(monkeypatch: pytest.MonkeyPatch) -> None:
    before = list_devices()
    everything = [BrokenPlatform(), *loader.platforms(), EmptyPlatform()]
    monkeypatch.setattr(devices, "platforms", lambda: everything)
    after = list_devices()
    moved = [dataclasses.replace(device, platform_index=device.platform_index + 1) for device in before]
    assert after == moved
    reports = devices.list_platforms()
    assert "DEVICE_NOT_FOUND" in str(reports[0].trouble)
    assert reports[-1].trouble == "the platform offers no device"


def test_real_devices_are_described(device: Device) -> None:
    assert device.kind in ("gpu", "cpu", "accelerator")
    assert device.global_memory >= device.max_allocation > 0
    assert select_device(str(device.index)) == device
    assert device.name in str(device)


def run_python(code: str, **environment: str) -> str:
    """Run code in a fresh process, with no OpenCL variable but those given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OCL", "OPENCL", "PYOPENCL"))}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**kept, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout


FAMILIES = "from oclgenomics.runtime import list_devices; print(*[device.family for device in list_devices()])"


@pytest.mark.skipif(loader.intel_library() is None, reason="Intel's runtime is not installed")
@pytest.mark.parametrize("cache", ["off", "folder"])
def test_intel_runtime_is_found_with_no_variable_set(tmp_path: object, cache: str) -> None:
    setting = "off" if cache == "off" else str(tmp_path)
    assert "intel" in run_python(FAMILIES, OCLGENOMICS_CACHE=setting).split()


def test_missing_runtimes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA's library without an ICD file, and names that a variable gives, are added; what is listed is not."""
    (tmp_path / "pocl.icd").write_text("libpocl.so.2.10.0\n")
    (tmp_path / "gone.icd").write_text("/nowhere/libgone.so\n")
    library = tmp_path / loader.NVIDIA_LIBRARY
    library.write_text("")
    monkeypatch.setattr(loader, "SYSTEM_FOLDER", tmp_path)
    monkeypatch.setattr(loader, "NVIDIA_FOLDERS", ("/nowhere", str(tmp_path)))
    monkeypatch.setattr(loader, "intel_library", lambda: None)
    monkeypatch.setenv("OCL_ICD_FILENAMES", "libpocl.so.2:/opt/libgone.so:libnvidia-opencl.so.1")
    assert loader.missing_runtimes() == ["/opt/libgone.so", "libnvidia-opencl.so.1"]
    monkeypatch.delenv("OCL_ICD_FILENAMES")
    assert loader.missing_runtimes() == [str(library)]
    (tmp_path / "nvidia.icd").write_text(f"{library}\n")
    assert loader.missing_runtimes() == []


def test_environment_is_left_as_it_was() -> None:
    code = "import os; before = dict(os.environ); from oclgenomics.runtime import list_devices; list_devices(); "
    code += "print({name for name in os.environ if os.environ[name] != before.get(name)} - {'PYOPENCL_HOME'})"
    assert run_python(code).strip() == "set()"


def test_a_list_given_by_the_user_is_respected(tmp_path: object) -> None:
    assert "intel" not in run_python(FAMILIES, OCL_ICD_VENDORS=str(tmp_path))


def test_importing_the_runtime_does_not_import_pyopencl() -> None:
    assert run_python("import sys, oclgenomics.runtime; print('pyopencl' in sys.modules)").strip() == "False"
