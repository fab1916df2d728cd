"""Processes that commands start import nothing from the current folder, whatever lies there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.devices import devices_under_test
from helpers.signal_files import need

import oclgenomics
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError
from oclgenomics.io.processes import child_environment, child_python
from oclgenomics.runtime import pocl
from oclgenomics.runtime.devices import list_devices
from oclgenomics.signals.readers.apart import ReaderProcess
from oclgenomics.simulate import Region, neutral_alignments

PACKAGE = Path(oclgenomics.__file__).parent
HOSTILE = ("pyopencl", "numpy", "json", "oclgenomics", "pod5", "pyslow5", "ont_fast5_api", "platformdirs", "struct")


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with modules that leave a file; the name of the file, which is not there."""
    mark = tmp_path / "run"
    for name in HOSTILE:
        (tmp_path / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\n")
    monkeypatch.chdir(tmp_path)
    own = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", "", own]))
    return mark


def test_the_folder_is_hostile(hostile: Path) -> None:
    subprocess.run([sys.executable, "-c", "import json"], check=True)
    assert "json" in hostile.read_text()


def test_names_of_the_current_folder_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    given = os.pathsep.join(["", "/opt/one", ".", "two", ""])
    monkeypatch.setenv("PYTHONPATH", given)
    assert child_environment()["PYTHONPATH"].split(os.pathsep) == ["/opt/one", "two", str(PACKAGE.parent)]
    assert os.environ["PYTHONPATH"] == given


def test_a_child_imports_this_package(hostile: Path) -> None:
    code = "import json, oclgenomics; print(oclgenomics.__file__)"
    done = subprocess.run(child_python("-c", code), env=child_environment(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == oclgenomics.__file__
    assert not hostile.exists()


@pytest.mark.skipif(pocl.find_wheel() is None, reason="PyOpenCL has come without PoCL")
def test_asking_pocl_for_its_target(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCLGENOMICS_CACHE", "off")
    pocl._ask()
    assert not hostile.exists()


@pytest.mark.parametrize("kind", ["slow5", "pod5", "fast5"])
def test_reading_signals(hostile: Path, kind: str, tmp_path: Path) -> None:
    need(kind)
    (tmp_path / "damaged").write_bytes(b"damaged")
    with ReaderProcess() as process, pytest.raises(InputError):
        list(process.read(kind, "damaged", None))
    assert not hostile.exists()


def test_drawing_replicates_side_by_side(hostile: Path) -> None:
    assert len(list(neutral_alignments(Region(4, 1000, 1000, 2.0, 0.0), 1, 2, jobs=2))) == 2
    assert not hostile.exists()


def test_doctor(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has processes for the self-test of each device and for jobs on it."""
    assert main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    checked = [finding for finding in findings if finding["topic"].startswith("device ")]
    assert len(checked) == len(list_devices())
    right = [one for one in checked if one["state"] == "ok"]
    assert {f"device {device.index}" for device in devices_under_test()} <= {one["topic"] for one in right}
    assert all("passes the self-test; has" in one["text"] and "reciprocal error" in one["text"] for one in right)
    wrong = [one["text"] for one in checked if one not in right]
    assert all("older than this processor" in text or "fails the self-test: " in text for text in wrong)
    assert {"versions", "loader", "platform", "cache"} <= {finding["topic"] for finding in findings}
    assert not hostile.exists()


def test_python_is_started_in_one_place_only() -> None:
    starting = [file for file in PACKAGE.rglob("*.py") if "[sys.executable" in file.read_text()]
    assert starting == [PACKAGE / "io" / "processes.py"]
