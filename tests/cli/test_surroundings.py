"""Commands work, or end in one line, where the home folder is not to be used and the stack is small."""

from __future__ import annotations

import errno
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.products import only_whole

from oclgenomics.cli import main
from oclgenomics.runtime import Device, limits, trust

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


@pytest.mark.parametrize("home", [None, "/dev/null", *only_whole("/proc/nowhere")])
def test_homes_that_are_none(home: str | None, device: Device, tmp_path: Path) -> None:
    works(scanning(device), tmp_path, home)


@pytest.mark.parametrize("kind", ["full", *only_whole("read-only")])
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
    assert found - {(".nv", "ComputeCache")} == {(".cache", "oclgenomics")}  # which NVIDIA's driver keeps of its own


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


def limited(words: list[str], folder: Path, limit: int, value: int) -> tuple[int, list[str]]:
    """Run a command under a limit; its exit status and its lines."""
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        preexec_fn=lambda: resource.setrlimit(limit, (value, value)),
    )  # fmt: skip
    return done.returncode, done.stderr.splitlines()


def test_too_few_open_files(device: Device, tmp_path: Path) -> None:
    status, lines = limited(counting(device, tmp_path), tmp_path, resource.RLIMIT_NOFILE, 8)
    assert status == 4
    assert lines == [
        "oclgenomics: error: open files are limited to 8, and OpenCL drivers need 16 or more; raise the limit: "
        "ulimit -n 1024"
    ]
    enough = 32 if device.kind == "cpu" else 256
    assert limited(counting(device, tmp_path), tmp_path, resource.RLIMIT_NOFILE, enough) == (0, [])


def test_too_many_open_files_are_no_defect(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(_words: list[str]) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "x.fa")

    monkeypatch.setattr(main, "_run", run)
    assert main.main([]) == 3
    remedy = "give fewer files at a time, or raise the limit: ulimit -n 1024"
    assert capsys.readouterr().err == f"oclgenomics: error: x.fa: too many open files; {remedy}\n"


@pytest.mark.one_cpu
@pytest.mark.parametrize(
    ("limit", "mebibytes", "letter"),
    [
        (resource.RLIMIT_AS, 75, "v"), (resource.RLIMIT_AS, 300, "v"), (resource.RLIMIT_AS, 436, "v"),
        (resource.RLIMIT_AS, 900, "v"), (resource.RLIMIT_DATA, 75, "d"), (resource.RLIMIT_DATA, 154, "d"),
    ],
)  # fmt: skip
def test_too_little_memory(limit: int, mebibytes: int, letter: str, device: Device, tmp_path: Path) -> None:
    """No crash of a library, and no advice to install anything, which would not help."""
    status, (line,) = limited(counting(device, tmp_path), tmp_path, limit, mebibytes << 20)
    assert status == 4
    assert re.search(f"the memory of this process is limited to {mebibytes}(.0)? MiB, and .* [MG]iB or more; ", line)
    assert f"raise the limit: ulimit -{letter} unlimited" in line
    assert "install" not in line
    assert not (tmp_path / "x.db").exists()


def test_no_room_in_files(device: Device, tmp_path: Path) -> None:
    """Runtimes take the signal for a crash, and ask for a report of it."""
    status, lines = limited(counting(device, tmp_path), tmp_path, resource.RLIMIT_FSIZE, 0)
    assert status == 5
    assert lines == ["oclgenomics: error: x.db: cannot be written (File too large); nothing half written is left"]
    assert not (tmp_path / "x.db").exists()


def test_limits_are_named_where_memory_ran_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memory_limit", lambda _below: (2 << 30, "v"))
    remedy = "which may be too little for OpenCL; raise the limit: ulimit -v unlimited"
    assert limits.limits_hint() == f"the memory of this process is limited to 2.0 GiB, {remedy}"
