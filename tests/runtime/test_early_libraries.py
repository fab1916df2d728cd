"""The libraries of OpenCL runtimes are loaded before anybody asks for them, and by nobody's leave changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from oclgenomics.runtime import loader
from oclgenomics.runtime.loader import EarlyLibraries

CODE = """
import sys
from oclgenomics.runtime import loader
before = loader.loaded_libraries()
loader.begin_loading()
loader._early_libraries().wait()
assert "pyopencl" not in sys.modules
print(*(set(map(loader.library_stem, loader.loaded_libraries() - before))))
"""


def loaded_early(**variables: str) -> set[str]:
    environment = {name: value for name, value in os.environ.items() if name not in loader.USER_VARIABLES} | variables
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.skipif(loader.intel_library() is None, reason="needs Intel's runtime for CPUs")
def test_runtimes_are_loaded_before_pyopencl() -> None:
    assert "libintelocl" in loaded_early()


def test_a_list_of_the_users_is_left_to_the_loader(tmp_path: Path) -> None:
    assert not loaded_early(OCL_ICD_VENDORS=str(tmp_path))


def test_what_cannot_be_loaded_is_left_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "libbroken.so").write_bytes(b"no library")
    EarlyLibraries([str(tmp_path / "libgone.so"), str(tmp_path / "libbroken.so")]).wait()
    assert capfd.readouterr() == ("", "")


def test_the_process_does_not_end_before_they_are_there() -> None:
    """A library whose end begins before its start is done aborts, or never ends."""
    code = """
import time
from oclgenomics.runtime import loader
def load(libraries):
    time.sleep(0.5)
    print(*libraries, flush=True)
loader._load = load
loader.EarlyLibraries(["libslow.so"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "libslow.so\n"
