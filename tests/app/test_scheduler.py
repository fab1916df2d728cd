"""A command whose pieces workers of a Dask scheduler do: the bytes of one run, or one clear error, and never a hang.

What goes wrong on a worker is brought there by a module that the worker loads before it works (Dask's preload).
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.pieces import without_made
from helpers.products import only_whole, runs_whole
from helpers.signal_files import write_signal_inputs

from oclgenomics import classify
from oclgenomics.app import cluster as cluster_module
from oclgenomics.app.cluster import connected
from oclgenomics.cli.main import main
from oclgenomics.errors import SchedulerError
from oclgenomics.io.processes import child_environment, child_python

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

CLASSIFY = b"\x89ocla"
SECONDS = 300  # in which everything here has an answer
FILES = 5
SAMPLING, TICK = "distributed.worker.profile.enabled", "distributed.admin.tick.interval"
TROUBLE = """
import builtins, errno, os, time
from oclgenomics.app import cluster, jobs
from oclgenomics.app.run import Run
from oclgenomics.errors import DeviceLostError
from oclgenomics.io import atomic_file

def is_asked(trouble):  # by a file of this name
    return os.path.exists(os.path.join(FOLDER, trouble))

def held():
    open(os.path.join(FOLDER, f"begun-{os.getpid()}"), "w").close()
    while not is_asked("open"):
        time.sleep(0.02)

def check_inputs(asked, check=cluster._check_inputs):
    if is_asked("hold"):
        held()
    if is_asked("die"):
        os._exit(1)
    check(asked)

def check_worker(worker, asked, check=cluster._check_worker):
    cluster.__version__ = "0.0.1" if is_asked("other version") else jobs.__version__
    check(worker, asked)

class Disk:
    def __getattr__(self, name):
        return getattr(os, name)
    def write(self, handle, data):
        if is_asked("full disk"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(handle, data)

def make_piece(*args, run, make=jobs.make_piece, **how):
    if is_asked("fail once"):
        os.remove(os.path.join(FOLDER, "fail once"))
        raise DeviceLostError("the device is lost")
    if not is_asked("hold at work"):
        return make(*args, run=run, **how)
    try:
        make(*args, run=Run(run.threads, lambda *told: (held(), run.progress(*told))), **how)
    except BaseException as error:
        with open(os.path.join(FOLDER, "end"), "w") as file:
            file.write(type(error).__name__)
        raise

if not hasattr(builtins, "loaded"):  # Dask may load it twice
    builtins.loaded = True
    make_piece.__module__ = jobs.make_piece.__module__
    cluster._check_inputs, cluster._check_worker, cluster.LOOK_SECONDS = check_inputs, check_worker, 0
    atomic_file.os, jobs.make_piece = Disk(), make_piece
"""


OMEGA = Path(__file__).parents[1] / "data" / "omega" / "edge"


def write_samples(folder: Path) -> list[str]:
    """Write samples to files, and return all of them."""
    rng = np.random.default_rng(7)
    samples = ["".join(rng.choice(list("ACGT"), 300)) for _ in range(20 * FILES)]
    for number in range(FILES):
        own = range(number, len(samples), FILES)
        (folder / f"{number}.fasta").write_text("".join(f">s{one}\n{samples[one]}\n" for one in own))
    return samples


def signature_scan(folder: Path) -> str:
    samples = write_samples(folder)
    (folder / "panel.fasta").write_text("".join(f">p{one}\n{samples[one][50:80]}\n" for one in range(0, 60, 3)))
    return "signatures scan 0.fasta 1.fasta 2.fasta 3.fasta 4.fasta panel.fasta -o OUT"


def kmer_count(folder: Path) -> str:
    write_samples(folder)
    return "kmers count 0.fasta 1.fasta 2.fasta -k 11 -o OUT"


def omega_scan(folder: Path) -> str:
    return f"omega scan {OMEGA}/plain.ms --length 1M --grid 50 --minwin 100 --maxwin 50000 -o OUT"


def omega_threshold(_folder: Path) -> str:
    region = "--length 200k --samples 12 --theta 40 --rho 40 --seed 5 --replicates 9 --fpr 0.2"
    return f"omega threshold --grid 12 --minwin 1k --maxwin 30k {region} -o OUT"


def sdtw_align(folder: Path) -> str:
    write_signal_inputs(folder)
    return "sdtw align reads.npz --reference target.sdtw --prefixes 100,450 --trim 20 -o OUT"


def sdtw_classify(folder: Path) -> str:
    write_signal_inputs(folder)
    return "sdtw classify reads.npz --reference target.sdtw --stages 100:500,300:400 --trim 20 -o OUT"


def classify_build(folder: Path) -> str:
    write_samples(folder)
    return "classify build OUT 0.fasta 1.fasta 2.fasta"


def classify_query(folder: Path) -> str:
    assert done([*classify_build(folder).replace("OUT", "database").split(), "-q"]) == 0
    return "classify query database 1.fasta 3.fasta --lowest sequence -o OUT"


COMMANDS = {  # each writes its inputs to a folder, and names OUT what it writes
    "signatures scan": signature_scan,
    "kmers count": kmer_count,
    "omega scan": omega_scan,
    "omega threshold": omega_threshold,
    "sdtw align": sdtw_align,
    "sdtw classify": sdtw_classify,
    "classify build": classify_build,
    "classify query": classify_query,
}


def command_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str = "signatures scan"
) -> Callable[..., list[str]]:
    """A command whose inputs are in the working folder, which takes an output and more options."""
    monkeypatch.chdir(folder)
    words = COMMANDS[name](folder).split()
    return lambda output, *more: [output if word == "OUT" else word for word in words] + list(more)


def troubled(folder: Path) -> str:
    """Write the module that makes trouble where files in the folder ask for it."""
    script = folder / "trouble.py"
    script.write_text(f"FOLDER = {str(folder)!r}\n{TROUBLE}")
    return str(script)


def without_package(folder: Path) -> str:
    """Write a module after which this package cannot be imported."""
    script = folder / "without.py"
    script.write_text("import sys\nsys.modules['oclgenomics'] = None\n")
    return str(script)


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    """Have Dask not watch itself all the time: idle schedulers and workers would take more than the work here."""
    with dask.config.set({SAMPLING: False, TICK: "1s"}), pytest.MonkeyPatch.context() as patch:
        for name, value in ((SAMPLING, "False"), (TICK, "1s")):  # of processes
            patch.setenv(f"DASK_{name.replace('.', '__').upper()}", value)
        yield


@contextlib.contextmanager
def workers(folder: Path, number: int = 2, threads: int = 1, **options: Any) -> Iterator[Any]:
    """Lend a cluster of processes on this machine."""
    how = {"resources": {"DEVICE": 1}, "preload": [troubled(folder)], "dashboard_address": "127.0.0.1:0"} | options
    with distributed.LocalCluster(number, threads_per_worker=threads, **how) as local:
        yield local


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Path]]:
    folder = tmp_path_factory.mktemp("workers")
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), workers(folder) as local:
        yield local, folder


@pytest.fixture
def local(shared: tuple[Any, Path]) -> Any:
    """A cluster of two workers."""
    return shared[0]


@pytest.fixture
def elsewhere(shared: tuple[Any, Path]) -> Iterator[Path]:
    """The folder whose files ask for trouble, and where workers say what they are at; empty in the end."""
    yield shared[1]
    (shared[1] / "open").touch()
    with connected(shared[0].scheduler_address) as client:
        wait_for(lambda: not any(client.processing().values()))
    for file in shared[1].glob("*"):
        if file.name != "trouble.py":
            file.unlink()


def bytes_of(path: str) -> bytes:
    """A report without the lines that say what made it, or a database without its record of that."""
    if Path(path).read_bytes().startswith(CLASSIFY):
        classify.write_database(path, replace(classify.read_database(path), provenance={}))
    return without_made(Path(path).read_bytes())


def started(words: list[str]) -> Future[int]:
    """Run a command in a thread."""
    status: Future[int] = Future()

    def run() -> None:
        try:
            status.set_result(main(words))
        except BaseException as error:
            status.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return status


def done(words: list[str]) -> int:
    """The status of a command, which comes in time."""
    return started(words).result(SECONDS)


def wait_for(condition: Callable[[], Any]) -> Any:
    until = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


def begun(folder: Path) -> list[int]:
    """The processes of workers that have a piece at hand."""
    return [int(file.name.removeprefix("begun-")) for file in folder.glob("begun-*")]


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    """What a command that failed says in its one line."""
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "error: " in line]
    return line


@pytest.mark.parametrize("name", COMMANDS)
def test_workers_give_what_one_run_gives(
    local: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = command_of(tmp_path, monkeypatch, name)
    assert done(command("one")) == 0
    (tmp_path / "s.json").write_text(f'{{"address": "{local.scheduler_address}"}}')
    ways = [[local.scheduler_address], ["s.json", "--pieces", "1"], ["s.json", "--pieces", "7", "--piece-dir", "."]]
    few = ways if name == "signatures scan" or runs_whole() else ways[:1]  # how it is cut is the same for all
    for number, way in enumerate(few):
        there = set(os.listdir())
        spread = ["--scheduler", *way]
        assert done(command(f"spread{number}", *spread)) == 0
        assert bytes_of(f"spread{number}") == bytes_of("one")
        assert set(os.listdir()) - there == {f"spread{number}"}  # pieces are gone


def test_a_worker_is_killed_and_another_comes(
    local: Any, tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = command_of(tmp_path, monkeypatch)
    assert done(command("one")) == 0
    (elsewhere / "hold").touch()
    status = started(command("two", "--scheduler", local.scheduler_address))
    wait_for(lambda: len(begun(elsewhere)) == 2)
    local.scale(3)
    wait_for(lambda: len(begun(elsewhere)) == 3)
    os.kill(begun(elsewhere)[0], signal.SIGKILL)
    wait_for(lambda: len(begun(elsewhere)) == 4)  # the nanny has started it again
    (elsewhere / "open").touch()
    assert status.result(SECONDS) == 0
    assert bytes_of("two") == bytes_of("one")
    local.scale(2)
    wait_for(lambda: len(local.scheduler.workers) == 2)


def test_a_piece_whose_device_fails_is_done_again(
    local: Any, tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = command_of(tmp_path, monkeypatch)
    assert done(command("one")) == 0
    (elsewhere / "fail once").touch()
    assert done(command("two", "--scheduler", local.scheduler_address)) == 0
    assert not (elsewhere / "fail once").exists()
    assert bytes_of("two") == bytes_of("one")


@pytest.mark.parametrize(
    ("trouble", "status", "said"),
    [
        ("other version", 2, "a worker has version 0.0.1 of oclgenomics, and this command "),
        ("full disk", 5, "No space left on device"),
        ("die", 4, "2 workers ended while they did the same piece"),
    ],
)
def test_a_bad_worker_is_one_error(
    trouble: str, status: int, said: str, local: Any, tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    command = command_of(tmp_path, monkeypatch)
    there = set(os.listdir())
    (elsewhere / trouble).touch()
    assert done(command("two", "--scheduler", local.scheduler_address)) == status
    assert said in error_of(capsys)
    assert set(os.listdir()) == there


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda: os.remove("2.fasta"), "2.fasta: no such file; inputs need the same"),
        (lambda: os.utime("2.fasta", (1, 1)), "2.fasta: is another file than where the command runs"),
    ],
    ids=["missing", "changed"],
)
def test_an_input_that_a_worker_has_otherwise(
    harm: Callable[[], None], said: str, local: Any, tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    command = command_of(tmp_path, monkeypatch)
    (elsewhere / "hold").touch()
    status = started(command("two", "--scheduler", local.scheduler_address))
    wait_for(lambda: begun(elsewhere))
    harm()
    (elsewhere / "open").touch()
    assert status.result(SECONDS) == 3
    error = error_of(capsys)
    assert said in error
    assert "(on the worker " in error


def test_an_interrupted_command_takes_its_pieces_back(
    local: Any, tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = command_of(tmp_path, monkeypatch)
    there = set(os.listdir())
    (elsewhere / "hold at work").touch()
    words = command("two", "--scheduler", local.scheduler_address)
    process = subprocess.Popen(
        child_python("-m", "oclgenomics", *words), env=child_environment(), stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: len(begun(elsewhere)) == local.scheduler.total_nthreads)  # all have a piece at hand
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "oclgenomics: interrupted; saved: nothing"
    assert "Traceback" not in said
    assert set(os.listdir()) == there
    with connected(local.scheduler_address) as client:  # it takes a moment until workers know

        def states() -> set[str]:
            found = client.run(lambda dask_worker: [task.state for task in dask_worker.state.tasks.values()])
            return {state for some in found.values() for state in some}

        wait_for(lambda: states() <= {"cancelled"})
    (elsewhere / "open").touch()
    assert wait_for(lambda: (elsewhere / "end").exists() and (elsewhere / "end").read_text()) == "_UnwantedError"


HERE = {"processes": False, "protocol": "tcp://", "preload": []}  # for workers that no work comes to


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ({"threads": 2, **HERE}, 2, "a worker has 2 threads, which would all open the device; start some with: oclg"),
        (
            {"resources": {}, **HERE},
            4,
            "has had no worker with a device for 1 s; start some with: oclgenomics worker tcp",
        ),
        ({"preload": None}, 4, "a worker cannot import what this process uses ("),
    ],
    ids=["threads", "resource", "package"],
)
def test_workers_that_were_started_otherwise(
    options: dict[str, Any], status: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    command = command_of(tmp_path, monkeypatch)
    monkeypatch.setattr(cluster_module, "WITHOUT_WORKERS", 1)
    if options["preload"] is None:
        options = {"preload": [without_package(tmp_path)]}
    with workers(tmp_path, 1, **options) as local:
        assert done(command("two", "--scheduler", local.scheduler_address)) == status
    assert said in error_of(capsys)


def test_all_workers_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    command = command_of(tmp_path, monkeypatch)
    monkeypatch.setattr(cluster_module, "WITHOUT_WORKERS", 1)
    monkeypatch.setattr(cluster_module, "ASK_SECONDS", 0.2)
    (tmp_path / "hold").touch()
    patient = dask.config.set({"distributed.scheduler.allowed-failures": 100})  # the way a worker ends counts as one
    with patient, workers(tmp_path, 1) as local:
        status = started(command("two", "--scheduler", local.scheduler_address))
        wait_for(lambda: begun(tmp_path))
        local.scale(0)
        assert status.result(SECONDS) == 4
    assert "has had no worker with a device for 1 s" in error_of(capsys)


@contextlib.contextmanager
def scheduler(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Lend a scheduler in a process of its own, and its file."""
    file = folder / "scheduler.json"
    options = ("--port", "0", "--no-dashboard", "--scheduler-file", str(file), "--preload", without_package(folder))
    words = ("-m", "distributed.cli.dask_scheduler", *options)
    with open(folder / "scheduler.log", "w") as log:
        process = subprocess.Popen(child_python(*words), env=child_environment(), stderr=log, text=True)
    try:
        yield process, str(file)
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def devices_of_this_machine(scheduler: str, log: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    words = child_python("-m", "oclgenomics", "worker", scheduler, *more)
    with open(log, "w") as file:
        process = subprocess.Popen(words, env=child_environment(), stderr=file, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(SECONDS)


@pytest.mark.parametrize("end", [signal.SIGKILL, *only_whole(signal.SIGTERM)])
def test_worker_and_the_end_of_the_scheduler(
    end: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    command = command_of(tmp_path, monkeypatch)
    assert done(command("one")) == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", troubled(elsewhere))
    log = elsewhere / "worker.log"
    with scheduler(elsewhere) as (process, file), devices_of_this_machine(file, log, "--workers", "0") as worker:
        assert done(command("two", "--scheduler", file)) == 0
        assert bytes_of("two") == bytes_of("one")
        (elsewhere / "hold").touch()
        status = started(command("three", "--scheduler", file))
        wait_for(lambda: begun(elsewhere))
        capsys.readouterr()
        process.send_signal(end)
        assert status.result(SECONDS) == 4
        assert "lost the connection to tcp://" in error_of(capsys)
        assert not (tmp_path / "three").exists()
        (elsewhere / "open").touch()
        assert worker.wait(SECONDS) == 0
        said = log.read_text()
        assert "passed the self-test" in said
        assert said.rstrip().endswith("has ended")
        assert "Traceback" not in said


def test_interrupted_workers_end(local: Any, tmp_path: Path) -> None:
    with connected(local.scheduler_address) as client:

        def there() -> set[str]:
            known = client.scheduler_info()["workers"].values()
            return {worker["name"] for worker in known if "-" in str(worker["name"])}

        with devices_of_this_machine(local.scheduler_address, tmp_path / "log", "--workers", "0,0") as worker:
            wait_for(lambda: len(there()) == 2)
            assert {f"-{worker.pid}-{number}-" in "".join(there()) for number in (0, 1)} == {True}
            worker.send_signal(signal.SIGINT)
            assert worker.wait(SECONDS) == 130
        wait_for(lambda: not there())
    assert (tmp_path / "log").read_text().rstrip().endswith("oclgenomics: interrupted; saved: nothing")


def test_there_is_no_scheduler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command_of(tmp_path, monkeypatch)("two", "--scheduler")
    (tmp_path / "bad.json").write_text("[]")
    with dask.config.set({"distributed.comm.timeouts.connect": "200ms"}):
        for given, said in (
            ("tcp://127.0.0.1:9", "no Dask scheduler answers at tcp://127.0.0.1:9 (Timed out"),
            ("abc://127.0.0.1:9", "no Dask scheduler answers at abc://127.0.0.1:9 ("),
            ("gone.json", "gone.json: there is no such scheduler file; start the scheduler with: dask scheduler --sch"),
            ("bad.json", "bad.json: is no scheduler file ("),
        ):
            assert done([*words, given]) == 4
            assert said in error_of(capsys)
        assert done(["worker", "bad.json"]) == 4
        assert said in error_of(capsys)


def clients() -> list[distributed.Client]:
    """All that there are, those of earlier tests among them that nobody has collected yet."""
    return [one for one in gc.get_objects() if isinstance(one, distributed.Client)]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "abc://127.0.0.1:9"])
def test_a_client_that_does_not_connect_is_closed(address: str) -> None:
    """Whoever collects one that is not closes it, and waits for ever where that happens while another one starts."""
    earlier = clients()
    soon = dask.config.set({"distributed.comm.timeouts.connect": "200ms"})
    with soon, pytest.raises(SchedulerError) as caught, connected(address):
        pass
    assert caught.value.__traceback__ is not None  # which holds it
    assert [one.status for one in clients() if one not in earlier] == ["closed"]


def test_the_package_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command_of(tmp_path, monkeypatch)("two", "--scheduler", "tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    for command in (words, ["worker", "tcp://127.0.0.1:9"]):
        assert main(command) == 2
        assert "pip install 'oclgenomics[dask]'" in error_of(capsys)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--shard", "1/2"], "--shard and --scheduler contradict each other"),
        (["-d", "0"], "--device and --scheduler contradict each other"),
        (["--profile"], "--profile and --scheduler contradict each other"),
        (["--pieces", "0"], "--pieces 0: give 1 or more"),
        (["-o", "-"], "name a folder for the pieces with --piece-dir, or a file with -o"),
        (["-o", "/dev/null"], "name a folder for the pieces with --piece-dir, or a file with -o"),
    ],
)
def test_options_that_do_not_go_together(
    more: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command_of(tmp_path, monkeypatch)("two", "--scheduler", "tcp://127.0.0.1:9")
    assert done([*words, *more]) == 2
    assert said in error_of(capsys)
    for option, value in (("--pieces", "3"), ("--piece-dir", ".")):
        assert done([*words[:-2], option, value]) == 2
        assert f"{option}: has a meaning only with --scheduler" in error_of(capsys)
