"""What a plain install asks for: both CPU runtimes where they have wheels, and nothing that cannot be had elsewhere."""

from __future__ import annotations

import configparser
import platform
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from oclgenomics.runtime import loader

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
