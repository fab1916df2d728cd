"""The suite fails where it has nothing to run on."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import devices as module

from oclgenomics.errors import UntrustedDeviceError
from oclgenomics.runtime import list_devices

HERE = Path(__file__).parent


def suite(arguments: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a small test file as a user would, without tests that need a device."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, str(HERE / "test_memory.py")]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OCLGENOMICS_", "PYTEST_"))}
    return subprocess.run(command, env={**clean, **environment}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [pytest.param([], marks=pytest.mark.whole), ["-n", "1"]], ids=["alone", "xdist"])
def test_no_device_is_a_failure(tmp_path, arguments):
    (tmp_path / "without_devices.py").write_text("import oclgenomics.runtime as r\nr.list_devices = lambda: []\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = suite(["-p", "without_devices", *arguments], PYTHONPATH=path)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "there is no OpenCL device to test on; `python -m oclgenomics doctor` says why" in done.stderr


def test_an_unknown_device_is_a_failure():
    done = suite([], OCLGENOMICS_TEST_DEVICES="pdp11")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "OCLGENOMICS_TEST_DEVICES=pdp11: " in done.stderr


@pytest.fixture
def some(monkeypatch):
    """Have the machine hold devices of so many families, all from pip and for one processor."""
    first = list_devices()[0]
    monkeypatch.delenv("OCLGENOMICS_TEST_DEVICES", raising=False)

    def have(
        *families: str, machine: str = "x86_64", processor: str = "znver3", refused: tuple[str, ...] = ()
    ) -> list[str]:
        version = f"OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-{processor}"
        found = [
            dataclasses.replace(first, index=index, family=family, driver="1", kind="cpu", version=version)
            for index, family in enumerate(families)
        ]

        def trust(device):
            if device.family in refused:
                raise UntrustedDeviceError(f"{device.family} fails the self-test")

        monkeypatch.setattr(module, "list_devices", lambda: found)
        monkeypatch.setattr(module, "require_trust", trust)  # there are none of these to test
        monkeypatch.setattr(module.platform, "system", lambda: "Linux")
        monkeypatch.setattr(module.platform, "machine", lambda: machine)
        return [device.family for device in module.devices_under_test()]

    return have


def test_both_runtimes_of_the_package_have_to_be_there(some):
    assert some("nvidia", "pocl", "intel") == ["pocl", "intel"]
    for families, name in ((("pocl",), "Intel's CPU runtime"), (("intel", "nvidia"), "PoCL from pip")):
        with pytest.raises(pytest.UsageError, match=f"^{name} comes with the package and has no device here; "):
            some(*families)


def test_pocl_is_left_out_where_its_compiler_does_not_know_the_processor(some):
    assert some("pocl", "intel", processor="generic") == ["intel"]
    assert module.unknown_processor()
    assert some("pocl", "intel") == ["pocl", "intel"]
    assert not module.unknown_processor()


def test_pocl_is_left_out_where_it_is_refused_and_another_runtime_is_trusted(some, monkeypatch):
    assert some("pocl", "intel", refused=("pocl",)) == ["intel"]
    assert module.left_out() == "not on PoCL from pip: pocl fails the self-test"
    assert some("pocl", "intel") == ["pocl", "intel"]
    assert module.left_out() == ""
    for refused in (("intel",), ("intel", "pocl")):
        with pytest.raises(pytest.UsageError, match="fails the self-test"):
            some("pocl", "intel", refused=refused)


def test_a_device_that_is_named_and_refused_is_a_failure(some, monkeypatch):
    some("pocl", "intel", refused=("pocl",))
    monkeypatch.setenv("OCLGENOMICS_TEST_DEVICES", "all")
    with pytest.raises(pytest.UsageError, match="pocl fails the self-test"):
        module.devices_under_test()
    assert module.left_out() == ""


def test_any_device_does_where_the_runtimes_have_no_wheel(some):
    assert some("pocl", "rusticl", machine="aarch64") == ["pocl"]
    assert some("rusticl", "nvidia", machine="aarch64") == ["rusticl"]
    with pytest.raises(pytest.UsageError, match="there is no OpenCL device"):
        some(machine="aarch64")
