"""Both containers take the steps of one script, and the user of the one for Docker owns its cache."""

from __future__ import annotations

import subprocess
from pathlib import Path

from oclgenomics.runtime import loader

CONTAINER = Path(__file__).resolve().parent.parent / "packaging/container"
STEPS = "packaging/container/setup.sh"


def test_the_steps_are_those_of_one_script() -> None:
    for name in ("Dockerfile", "apptainer.def"):
        assert (CONTAINER / name).read_text().count(f"/{STEPS} ") == 1
    assert subprocess.run(["sh", "-n", CONTAINER / "setup.sh"], check=False).returncode == 0


def test_nvidias_driver_gets_its_entry() -> None:
    steps = (CONTAINER / "setup.sh").read_text()
    assert f"echo {loader.NVIDIA_LIBRARY} >{loader.SYSTEM_FOLDER}/" in steps


def test_the_user_is_not_root_and_owns_the_cache() -> None:
    docker, steps = (CONTAINER / "Dockerfile").read_text(), (CONTAINER / "setup.sh").read_text()
    assert "\nUSER oclgenomics\n" in docker
    assert "\nENV OCLGENOMICS_CACHE=/opt/oclgenomics/cache " in docker
    assert "chown oclgenomics /opt/oclgenomics/cache" in steps
    assert "OCLGENOMICS_CACHE=/opt/oclgenomics/cache oclgenomics doctor" in steps
