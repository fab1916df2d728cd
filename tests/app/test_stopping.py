"""Signals end a command in order, and in one line, whenever they come; nothing is left, of files or of processes."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.kmer_sets import GOLDEN, pairs_of, set_of, write_database
from helpers.products import only_whole

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device

PROGRAM = [sys.executable, "-m", "oclgenomics"]
NAMED_FILES = "import os; del os.O_TMPFILE; from oclgenomics.__main__ import program; raise SystemExit(program())"
ENDS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "hung up")]
ENDING = pytest.mark.parametrize(("number", "status", "word"), ENDS)
LOOK = 0.01  # seconds between two looks at a process


@contextlib.contextmanager
def started(words: list[str], **options: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def told(process: subprocess.Popen[str]) -> str:
    """The one line that it leaves."""
    _, text = process.communicate(timeout=60)
    (line,) = text.splitlines()
    return line


def reads_pipe(process: subprocess.Popen[str]) -> bool:
    """Whether it waits in a system call for the pipe of its folder."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        call = Path(f"/proc/{process.pid}/syscall").read_text().split()
        return len(call) > 1 and os.readlink(f"/proc/{process.pid}/fd/{int(call[1], 16)}").endswith("/pipe")
    return False


# A command in the middle of its output: it has opened the pipe that it reads records from, and waits for some. Python
# acts on a signal that comes just before a system call only after it.

QUERY = ["kmers", "query", "db", "--file", "pipe", "-o", "out", "-d", "host"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _, k, canonical, expected = GOLDEN[0]
    write_database(tmp_path / "db", set_of(pairs_of(expected, k), k, canonical))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "out").write_text("before")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.each_value
@pytest.mark.parametrize("program", [PROGRAM, [sys.executable, "-c", NAMED_FILES]], ids=["nameless", "named"])
@ENDING
def test_what_was_there_stays_and_nothing_else(
    program: list[str], number: signal.Signals, status: int, word: str, folder: Path
) -> None:
    with started([*program, *QUERY]) as process, open("pipe", "w"):
        while not reads_pipe(process):
            assert process.poll() is None
            time.sleep(LOOK)
        process.send_signal(number)
        line = told(process)
    assert (process.returncode, line) == (status, f"oclgenomics: {word}; saved: nothing")
    assert {path.name for path in folder.iterdir()} == {"db", "pipe", "out"}
    assert (folder / "out").read_text() == "before"


def test_a_process_that_is_killed_leaves_nothing(folder: Path) -> None:
    with started([*PROGRAM, *QUERY]) as process, open("pipe", "w"):
        process.kill()
        process.wait(60)
    assert {path.name for path in folder.iterdir()} == {"db", "pipe", "out"}
    assert (folder / "out").read_text() == "before"


def test_signals_that_are_ignored_stay_ignored(folder: Path) -> None:
    """As `nohup` and shells without job control have it."""

    def ignore() -> None:
        for number, _, _ in ENDS:
            signal.signal(number, signal.SIG_IGN)

    with started([*PROGRAM, *QUERY], preexec_fn=ignore) as process:
        with open("pipe", "w") as pipe:
            for number, _, _ in ENDS:
                process.send_signal(number)
            pipe.write(">r\nACATG\n")
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert "r\t1\t1\t2" in (folder / "out").read_text()


# While modules are imported: an import of one of them waits for a pipe.


WAITING = """
import sys
class Waiting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            open({pipe!r}).close()
sys.meta_path.insert(0, Waiting())
"""


IMPORTED = ["oclgenomics.cli.main", "oclgenomics.kmers.commands", "oclgenomics.kmers.analysis.query", "numpy"]


@pytest.mark.each_value
@pytest.mark.parametrize("module", IMPORTED)
@ENDING
def test_while_modules_are_imported(module: str, number: signal.Signals, status: int, word: str, folder: Path) -> None:
    (folder / "site").mkdir()
    os.mkfifo(folder / "imports")
    code = WAITING.format(module=module, pipe=str(folder / "imports"))
    (folder / "site" / "sitecustomize.py").write_text(textwrap.dedent(code))
    paths = [str(folder / "site"), os.environ.get("PYTHONPATH", ""), str(Path(__file__).parents[2])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with started([*PROGRAM, *QUERY], env=environment) as process, open("imports", "w"):
        process.send_signal(number)
        line = told(process)
    assert (process.returncode, line) == (status, f"oclgenomics: {word}; saved: nothing")


def test_a_command_within_another_program_leaves_its_signals_alone(capsys: pytest.CaptureFixture[str]) -> None:
    before = [signal.getsignal(number) for number, _, _ in ENDS]
    assert main(["--help"]) == 0
    assert main(["timing"]) == 2
    assert [signal.getsignal(number) for number, _, _ in ENDS] == before


TWICE = """
import os, signal
from oclgenomics.app import stopping
stopping.exit_on_signals("test")
stopping.raise_on_signals()
try:
    os.kill(os.getpid(), signal.SIGTERM)
except KeyboardInterrupt:
    print(stopping.received(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        signal.pause()
"""


def test_the_second_signal_ends_a_command_that_cannot_end() -> None:
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 130
    assert (done.stdout, done.stderr) == ("(143, 'terminated')\n", "")


# Processes that simulate


THRESHOLD = [
    "omega", "threshold", "--length", "10M", "--samples", "400", "--seed", "1", "--replicates", "500",
    "--theta", "4000", "--rho", "4000", "--jobs", "2", "--grid", "5", "--minwin", "1k", "--maxwin", "10k",
]  # fmt: skip


def children(pid: int) -> dict[int, str]:
    """Command lines of a process' children."""
    found = {}
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found[int(child)] = Path(f"/proc/{child}/cmdline").read_text()
    return found


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes cannot be waited for here")
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 143), (signal.SIGKILL, -9), *only_whole((signal.SIGINT, 130), (signal.SIGHUP, 129))],
)
def test_no_process_is_left(number: signal.Signals, status: int, device: Device) -> None:
    with started([*PROGRAM, *THRESHOLD, "-d", str(device.index)]) as process:
        workers: list[int] = []
        while len(workers) < 2:  # both have begun, or are about to
            workers = [pid for pid, command in children(process.pid).items() if "haplotypes.workers" in command]
            assert process.poll() is None
            time.sleep(LOOK)
        ends = [os.pidfd_open(pid) for pid in children(process.pid)]
        process.send_signal(number)
        assert process.wait(60) == status
        for end in ends:
            assert select.select([end], [], [], 60)[0], "a process is left"
            os.close(end)
