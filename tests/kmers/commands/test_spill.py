"""`kmers count` of inputs larger than memory: messages, full disks, signals and the memory of the process."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.cli.main import main
from oclgenomics.kmers import reference
from oclgenomics.kmers.database.keys import keys_of
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import Device

PROGRAM = [sys.executable, "-m", "oclgenomics"]


def random_fasta(path: Path, letters: int) -> Path:
    sequence = np.random.default_rng(1).choice(np.frombuffer(b"ACGT", np.uint8), letters).tobytes()
    path.write_bytes(b">r\n%b\n" % sequence)
    return path


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Larger than 1 MiB of memory counts at once."""
    return random_fasta(tmp_path / "x.fa", 800_000)


@pytest.fixture
def tmp_dir(tmp_path: Path) -> Path:
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


def words(inputs: list[Path | str], output: Path, device: Device, tmp_dir: Path | str, limit: str = "1M") -> list[str]:
    counting = ["kmers", "count", *map(str, inputs), "-k", "21", "-o", str(output), "-d", str(device.index)]
    return [*counting, "--max-memory", limit, "--tmp-dir", str(tmp_dir)]


@pytest.fixture(scope="module")
def warm(device: Device, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The kernels are in their caches."""
    folder = tmp_path_factory.mktemp("warm")
    large = random_fasta(folder / "x.fa", 800_000)
    assert main([*words([large], folder / "x.db", device, folder), "-q"]) == 0


@pytest.mark.one_cpu
def test_what_is_told(
    device: Device, large: Path, tmp_path: Path, tmp_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words([large], tmp_path / "x.db", device, tmp_dir), "--json", "-v"]) == 0
    out, err = capsys.readouterr()
    record = json.loads(out)
    result = record["result"]
    assert record["parameters"]["tmp_dir"] == str(tmp_dir)
    parts, written = result["temporary_runs"], result["temporary_bytes"]
    assert parts > 1
    assert written > 2_500_000
    told = [line for line in err.splitlines() if "in temporary files" in line]
    assert len(told) == parts
    assert told[-1] == f"oclgenomics: part {parts:,} counted; {written:,} bytes in temporary files"
    last = f"counted in {parts:,} parts; {written:,} bytes were written to temporary files"
    assert err.splitlines()[-1] == f"oclgenomics: {last}"
    assert not list(tmp_dir.iterdir())


def test_nothing_is_told_of_what_fits(
    device: Device, large: Path, tmp_path: Path, tmp_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words([large], tmp_path / "x.db", device, tmp_dir, "1G"), "--json", "-v"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)["result"]
    assert (result["temporary_runs"], result["temporary_bytes"]) == (0, 0)
    assert "temporary" not in err


@pytest.mark.parametrize(("name", "message"), [("none", "there is no such folder"), ("x.fa", "is no folder")])
def test_wrong_folders_are_told_first(
    device: Device, large: Path, tmp_path: Path, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words(["-"], tmp_path / "x.db", device, tmp_path / name), "-q"]) == 5
    err = capsys.readouterr().err
    assert err.startswith(f"oclgenomics: error: --tmp-dir {tmp_path / name}: {message}")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["x.fa"]


@contextmanager
def limited_file_size(size: int) -> Iterator[None]:
    """Python ignores the signal that comes with larger files, so that writing them fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def assert_full(status: int, err: str, place: str, tmp_path: Path, tmp_dir: Path) -> None:
    assert status == 5, err
    assert "Traceback" not in err
    told = err.splitlines()[-1]
    assert told.startswith(f"oclgenomics: error: --tmp-dir {tmp_dir}: a temporary run cannot be written")
    assert "of them are on the file system at " + place in told
    assert told.endswith("name another folder, or raise --max-memory")
    assert {path.name for path in tmp_path.iterdir()} == {"x.fa", "temporary"}
    assert not list(tmp_dir.iterdir())


@pytest.mark.one_cpu
@pytest.mark.usefixtures("warm")
def test_a_file_that_may_not_grow(
    device: Device, large: Path, tmp_path: Path, tmp_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with limited_file_size(700_000):
        status = main(words([large], tmp_path / "x.db", device, tmp_dir))
    err = capsys.readouterr().err
    assert_full(status, err, "/", tmp_path, tmp_dir)
    assert "(File too large)" in err


@pytest.mark.one_cpu
def test_a_full_file_system(device: Device, large: Path, tmp_path: Path, tmp_dir: Path) -> None:
    in_own_space = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec"]
    mount = f'mount -t tmpfs -o size=2m tmpfs "{tmp_dir}"'
    if not shutil.which("unshare") or subprocess.run([*in_own_space, mount], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no file system can be mounted here")
    counting = [*PROGRAM, *words([large], tmp_path / "x.db", device, tmp_dir)]
    done = subprocess.run(
        [*in_own_space, f'{mount}; exec "$@"', "sh", *counting], stderr=subprocess.PIPE, text=True, timeout=600
    )
    assert_full(done.returncode, done.stderr, str(tmp_dir), tmp_path, tmp_dir)
    assert "(No space left on device)" in done.stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_signals_leave_nothing(
    device: Device, large: Path, tmp_path: Path, tmp_dir: Path, number: int, status: int
) -> None:
    """The process has written runs and waits for more input, of which there is none."""
    command = [*PROGRAM, *words([large, "-"], tmp_path / "x.db", device, tmp_dir), "-v"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "part 1 counted" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(number)
        told = process.stderr.read()
        assert process.wait(60) == status, told
    assert "Traceback" not in told
    assert {path.name for path in tmp_path.iterdir()} == {"x.fa", "temporary"}
    assert not list(tmp_dir.iterdir())


PEAK = """
import os, resource, sys
from oclgenomics.cli.main import main
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
status = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
sys.exit(status)
"""


def peak_mib(arguments: list[str]) -> int:
    command = [sys.executable, "-c", PEAK, *arguments, "-q"]
    return int(subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=600).stdout)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the number of threads cannot be set here")
def test_memory_of_the_process(device: Device, tmp_path: Path, tmp_dir: Path) -> None:
    """The 24-byte items that 6 million k-mers are counted by would take 137 MiB; what fits is a 17th of that."""
    little, much = random_fasta(tmp_path / "little.fa", 30_000), random_fasta(tmp_path / "much.fa", 6_000_000)
    base = peak_mib(words([little], tmp_path / "little.db", device, tmp_dir, "8M"))
    peak = peak_mib(words([much], tmp_path / "much.db", device, tmp_dir, "8M"))
    assert peak - base < 110
    with KmerDatabase.open(tmp_path / "little.db") as database:
        assert database.total == 30_000 - 20
    with KmerDatabase.open(tmp_path / "much.db") as database:
        assert database.total == 6_000_000 - 20
        text = (tmp_path / "little.fa").read_bytes()  # how the larger one begins
        wanted = reference.count([text], CountOptions(21))
        counts = database.lookup(keys_of(list(wanted)))
    assert (counts >= np.array(list(wanted.values()))).all()
