"""What a plain install asks for: both CPU runtimes where they have wheels, and nothing that cannot be had elsewhere."""

from __future__ import annotations

import configparser
import platform
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from oclgenomics.runtime import loader
from oclgenomics.selftest import examination

ROOT = Path(__file__).resolve().parent.parent


def required(system: str, machine: str) -> list[Requirement]:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lines = setup["options"]["install_requires"].split("\n")
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    where = {"platform_system": system, "platform_machine": machine}
    return [requirement for requirement in found if requirement.marker is None or requirement.marker.evaluate(where)]


def runtimes(system: str, machine: str) -> set[str]:
    found = required(system, machine)
    names = {requirement.name for requirement in found} | {extra for one in found for extra in one.extras}
    return names & {"pocl", *loader.BUNDLED}


def test_linux_on_x86_64_gets_both_runtimes() -> None:
    assert runtimes("Linux", "x86_64") == {"pocl", "intel-opencl-rt", "intel-cmplr-lib-rt"}


@pytest.fixture
def conda(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment of conda with an ICD file, and a system with another; the folder of ICD files of the first."""
    (tmp_path / "conda/conda-meta").mkdir(parents=True)
    for name in ("conda/etc/OpenCL/vendors/pocl.icd", "system/gpu.icd"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(f"lib{Path(name).stem}-that-is-not-there.so\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "conda"))
    monkeypatch.setattr(loader, "SYSTEM_FOLDER", tmp_path / "system")
    return tmp_path / "conda/etc/OpenCL/vendors"


def test_conda_hides_no_runtime(conda: Path) -> None:
    assert [file.name for file in loader.icd_files()] == ["gpu.icd", "pocl.icd"]
    missing = "/opt/libmissing.so"
    folder = loader._vendor_folder([missing])  # the loader reads no other
    assert {file.name for file in folder.iterdir()} == {"gpu.icd", "pocl.icd", "oclgenomics-libmissing.icd"}


def test_on_conda_its_packages_are_named(conda: Path) -> None:
    hint = loader.install_hint()
    assert "conda install -c conda-forge pocl" in hint
    assert "ocl-icd-system" in hint
    assert "pip" not in hint
    remedies = {Path(finding.text.split()[0]).name: finding.remedy for finding in examination._icd_files()}
    assert "ocl-icd-system" in remedies["gpu.icd"]
    assert "ocl-icd-system" not in remedies["pocl.icd"]


@pytest.mark.parametrize(
    "where", [("Linux", "aarch64"), ("Linux", "ppc64le"), ("Darwin", "arm64"), ("Darwin", "x86_64")]
)
def test_other_machines_can_install_it_and_are_told_what_is_missing(
    where: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtimes(*where) == set()
    assert "pyopencl" in {requirement.name for requirement in required(*where)}
    monkeypatch.setattr(platform, "system", lambda: where[0])
    monkeypatch.setattr(platform, "machine", lambda: where[1])
    assert "pocl-opencl-icd" in loader.install_hint()
