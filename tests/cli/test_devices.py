"""The commands `devices` and `doctor`; what `doctor` finds here is in `test_children`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from oclgenomics.cli.main import main
from oclgenomics.errors import NoDeviceError
from oclgenomics.runtime import devices, list_devices, loader, select_device
from oclgenomics.selftest import examination


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    present = list_devices()
    assert len(lines) == len(present) + 1
    assert [line.startswith("*") for line in lines[1:]] == [device == select_device("auto") for device in present]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["name"] for record in records] == [device.name for device in list_devices()]
    assert sum(record["auto"] for record in records) == 1


def test_no_device(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(devices, "platforms", list)
    assert main(["devices"]) == 4
    error = capsys.readouterr().err
    assert loader.install_hint() in error
    assert error.count("\n") == 1
    monkeypatch.setattr(examination, "_cache", list)
    assert main(["doctor"]) == 4
    assert "[problem] platform: there is none" in capsys.readouterr().out


@pytest.mark.parametrize(("code", "trouble"), [("import os; os.abort()", "ended by SIGABRT"), ("1/0", "ZeroDivision")])
def test_doctor_survives_a_driver_that_takes_the_process_down(
    monkeypatch: pytest.MonkeyPatch, code: str, trouble: str
) -> None:
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda command, **options: run([sys.executable, "-c", code], **options))
    finding = examination._jobs_on(list_devices()[0])[-1]
    assert finding.state == "problem"
    assert trouble in finding.text
    assert finding.remedy


def test_doctor_on_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OCLGENOMICS_CACHE", "off")
    assert examination._cache()[0].state == "note"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OCLGENOMICS_CACHE", str(tmp_path / "file"))
    assert examination._cache()[0].state == "problem"
    monkeypatch.setenv("OCLGENOMICS_CACHE", str(tmp_path / "new"))
    assert examination._cache()[0].state == "ok"
    (tmp_path / "new").chmod(0o777)
    assert examination._cache()[0].state == "problem"
    assert "others may write" in examination._cache()[0].text


def test_doctor_without_pyopencl(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(with_jobs: bool) -> list[examination.Finding]:
        raise NoDeviceError("PyOpenCL cannot be imported; install a runtime")

    monkeypatch.setattr(examination, "_devices", fail)
    assert [finding.state for finding in examination.examine() if finding.topic == "loader"] == ["problem"]
