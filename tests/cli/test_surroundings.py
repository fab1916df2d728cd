"""Commands work, or end in one line, where the home folder is not to be used and the stack is small."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oclgenomics.runtime import Device, trust

PROGRAM = [sys.executable, "-m", "oclgenomics"]
EDGE = Path(__file__).parents[1] / "data" / "omega" / "edge"
IN_OWN_SPACE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec"]
FULL = "head -c 1m /dev/zero > {0}/fill 2>/dev/null || true"
MOUNTS = {"read-only": "mount -t tmpfs -o ro tmpfs {0}", "full": "mount -t tmpfs -o size=16k tmpfs {0}; " + FULL}


def environment(home: str | None) -> dict[str, str]:
    found = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    own = [name for name in found if name.startswith(("OCLGENOMICS_", "MPL", "POCL_")) and name != trust.TRUSTED]
    found = {name: value for name, value in found.items() if name not in own}
    return found if home is None else {**found, "HOME": home}


def works(words: list[str], folder: Path, home: str | None) -> None:
    done = subprocess.run(
        words, cwd=folder, env=environment(home), capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def counting(device: Device, folder: Path) -> list[str]:
    (folder / "x.fa").write_text(">r\nACGTACGTTGCA\n")
    return [*PROGRAM, "kmers", "count", "x.fa", "-k", "5", "-o", "x.db", "-q", "-d", str(device.index)]


def scanning(device: Device) -> list[str]:
    """A command that compiles and draws: runtimes and Matplotlib keep what they make in a home."""
    words = ["omega", "scan", str(EDGE / "phased.vcf"), "--grid", "5", "--minwin", "1", "--maxwin", "50k"]
    return [*PROGRAM, *words, "-o", "x.tsv", "--plot", "x.png", "-q", "-d", str(device.index)]


@pytest.mark.parametrize("home", [None, "/dev/null", "/proc/nowhere"])
def test_homes_that_are_none(home: str | None, device: Device, tmp_path: Path) -> None:
    works(scanning(device), tmp_path, home)


@pytest.mark.parametrize("kind", MOUNTS)
def test_homes_that_cannot_be_written(kind: str, device: Device, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    mount = MOUNTS[kind].format(home)
    if not shutil.which("unshare") or subprocess.run([*IN_OWN_SPACE, mount], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no file system can be mounted here")
    works([*IN_OWN_SPACE, f'{mount}; exec "$@"', "sh", *scanning(device)], tmp_path, str(home))


def test_nothing_but_the_own_cache_is_left_in_a_home(device: Device, tmp_path: Path) -> None:
    """Without a figure, as Matplotlib keeps a list of fonts."""
    home = tmp_path / "home"
    home.mkdir()
    works(counting(device, tmp_path), tmp_path, str(home))
    found = {path.relative_to(home).parts[:2] for path in home.rglob("*") if path.is_file()}
    assert found == {(".cache", "oclgenomics")}


def test_a_user_that_there_is_not(tmp_path: Path) -> None:
    surroundings = environment(str(tmp_path)) | {"OCLGENOMICS_CACHE": "~nosuchuser/x"}
    done = subprocess.run([*PROGRAM, "devices"], env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "OCLGENOMICS_CACHE=~nosuchuser/x: there is no such user" in line


def small_stack() -> None:
    resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, resource.RLIM_INFINITY))


def test_a_stack_that_drivers_overflow(device: Device, tmp_path: Path) -> None:
    words = counting(device, tmp_path)
    surroundings = {**os.environ, "OCLGENOMICS_CACHE": "off"}
    done = subprocess.run(
        words, cwd=tmp_path, env=surroundings, capture_output=True, text=True, preexec_fn=small_stack, check=False
    )
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert "the stack is limited to 256 KiB" in line
    assert line.endswith("ulimit -s 8192")
    assert not (tmp_path / "x.db").exists()
