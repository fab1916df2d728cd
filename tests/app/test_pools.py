"""Worker processes: nothing is lost, nothing comes twice, nothing is left, whoever dies when."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import pickle
import pkgutil
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers import pool_tasks as tasks
from helpers.pieces import without_made
from helpers.pool_tasks import Counting, numbers_of
from helpers.products import only_whole, runs_whole
from helpers.signal_files import write_signal_inputs

import oclgenomics
from oclgenomics.app import jobs, pools, spread
from oclgenomics.app.jobs import Run, Spread
from oclgenomics.app.pieces import Shard
from oclgenomics.app.pools import DevicePool
from oclgenomics.app.streams import StreamError
from oclgenomics.classify import read_database, write_database
from oclgenomics.cli.main import main
from oclgenomics.errors import (
    DeviceError,
    InputError,
    OclGenomicsError,
    ParameterError,
    UnknownDeviceError,
    UsageError,
)
from oclgenomics.runtime import Device, Profile, select_devices, selection

TESTS = str(Path(__file__).resolve().parents[1])
PROGRAM = [sys.executable, "-m", "oclgenomics"]


@pytest.fixture(autouse=True)
def known_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have workers find the tasks of tests."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), TESTS])))


@pytest.fixture
def other(device: Device) -> Device:
    """A device that workers think is another one."""
    return dataclasses.replace(device, index=99)


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counting:
    monkeypatch.setattr(jobs, "make_piece", tasks.make_numbers)
    (tmp_path / "count").write_text("40")
    return Counting(str(tmp_path / "count"))


def workers(of: int | None = None) -> list[int]:
    """Processes of workers that a process has, which are not gone."""
    of, found = os.getpid() if of is None else of, []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            status = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(status[1]) == of and status[0] != "Z" and b"app.pools" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def until(true: Callable[[], Any], seconds: float = 300.0) -> None:
    """Wait for something."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


# The executor


def test_each_worker_has_its_device_and_its_share_of_the_cores(
    device: Device, other: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "usable_cores", lambda: 7)
    with DevicePool([device, other]) as pool:
        assert pool.devices == (device, other)
        found = set()  # one may be ready long before the other
        until(lambda: found.add(pool.submit(tasks.slow_on, "none", 0.0).result()) or len(found) == 2)
        assert found == {str(device.index), "99"}
        assert pool.submit(tasks.threads_here).result() == "3"
    assert workers() == []


def test_workers_stay_from_task_to_task_and_end_with_the_pool(device: Device) -> None:
    with DevicePool([device, device]) as pool:
        found = {task.result() for task in [pool.submit(tasks.pid_after, 0.02) for _ in range(20)]}
        assert found == set(workers())
        assert len(found) == 2
        assert all(os.getpgid(pid) == pid for pid in found)  # signals to the group of this process do not reach them
    assert workers() == []
    with pytest.raises(RuntimeError, match="the pool is closed"):
        pool.submit(tasks.index_here)


def test_all_that_was_given_is_done_before_the_pool_ends(device: Device) -> None:
    with DevicePool([device]) as pool:
        given = [pool.submit(tasks.pid_after, 0.01) for _ in range(10)]
    assert all(task.done() and task.result() for task in given)


def test_an_error_in_the_block_ends_the_workers_at_once(device: Device) -> None:
    start, pool = time.monotonic(), DevicePool([device, device])
    given = [pool.submit(tasks.pid_after, 300.0) for _ in range(5)]
    until(lambda: sum(task.running() for task in given) == 2)
    with pytest.raises(KeyboardInterrupt), pool:
        raise KeyboardInterrupt
    assert workers() == []
    assert time.monotonic() - start < 60
    for task in given:
        with pytest.raises(CancelledError):
            task.result()


def test_a_task_that_is_begun_can_be_cancelled(device: Device) -> None:
    with DevicePool([device]) as pool:
        long, waiting = pool.submit(tasks.pid_after, 300.0), pool.submit(tasks.pid_after, 300.0)
        until(workers)
        assert waiting.cancel()
        assert waiting.cancelled()
        assert long.cancel()
        with pytest.raises(CancelledError):
            long.result()
        assert pool.submit(tasks.pid_after, 0.0).result() in workers()  # the device gets a fresh worker
        done = pool.submit(tasks.pid_after, 0.0)
        done.result()
        assert not done.cancel()


def test_what_is_not_begun_can_be_left_out(device: Device) -> None:
    pool = DevicePool([device])
    given = [pool.submit(tasks.pid_after, 0.3) for _ in range(4)]
    until(given[0].running)
    pool.shutdown(cancel_futures=True)
    assert [task.cancelled() for task in given] == [False, True, True, True]
    assert given[0].result()


def test_what_cannot_be_sent_is_refused(device: Device) -> None:
    with DevicePool([device]) as pool:
        with pytest.raises((pickle.PicklingError, AttributeError)):
            pool.submit(lambda: None)
        assert pool.submit(tasks.index_here).result() == str(device.index)


def test_they_take_nothing_from_the_current_folder(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("numpy", "pickle", "struct", "oclgenomics", "threading"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    with DevicePool([device]) as pool:
        assert pool.submit(tasks.index_here).result() == str(device.index)


def test_messages_of_workers_are_told_once(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    with DevicePool([device, device]) as pool:
        for task in [pool.submit(tasks.notice, f"said in worker {os.getpid()}") for _ in range(6)]:
            task.result()
    assert capsys.readouterr().err == f"oclgenomics: said in worker {os.getpid()}\n"


def test_how_far_a_task_is(device: Device, tmp_path: Path) -> None:
    with DevicePool([device]) as pool:
        task: Any = pool.submit(tasks.half_then, str(tmp_path / "go"))
        until(lambda: task.fraction == 0.5)
        (tmp_path / "go").touch()
        assert task.result() == "done"


# Workers that die


KILLS = 20


def test_nothing_is_lost_or_twice_wherever_workers_are_killed(
    device: Device, counting: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "TRIES", 1000)
    monkeypatch.setattr(pools, "DEATHS", 1000)
    rng, kills, ended = random.Random(7), [], threading.Event()

    def kill() -> None:
        while len(kills) < KILLS and not ended.wait(rng.uniform(0.0, 0.15)):
            if alive := sorted(workers()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rng.choice(alive), signal.SIGKILL)
                    kills.append(time.monotonic())

    killer = threading.Thread(target=kill)
    killer.start()
    job = dataclasses.replace(counting, seconds=0.001)
    try:
        with DevicePool([device, device, device]) as pool:
            while killer.is_alive():
                for pieces in (1, 6, 17):
                    assert numbers_of(Spread(pool, pieces, tmp_path).parts(job)) == list(range(40))
                    assert [path.name for path in tmp_path.iterdir()] == ["count"]
    finally:
        ended.set()
        killer.join()
    assert len(kills) == KILLS
    assert workers() == []


@pytest.mark.parametrize("how", ["killed", "lost"])
def test_a_piece_is_given_to_another_worker(device: Device, tmp_path: Path, how: str) -> None:
    with DevicePool([device, device]) as pool:
        assert pool.submit(tasks.die_first, str(tmp_path / "tried"), how).result() in workers()


def test_a_worker_that_is_alone_gets_a_fresh_process(device: Device, tmp_path: Path) -> None:
    with DevicePool([device]) as pool:
        assert pool.submit(tasks.die_first, str(tmp_path / "tried"), "killed").result() in workers()


@pytest.mark.parametrize("count", [1, 2, *only_whole(4)])
def test_a_piece_that_ends_all_workers_is_one_error(device: Device, counting: Counting, count: int) -> None:
    job = dataclasses.replace(counting, deadly=3)
    told = (
        rf"^piece 3/5: 3 workers were lost at it, the last one on device {device.index}, .*, ended by SIGKILL; "
        "it may be short of memory: try fewer workers or a smaller max_memory$"
    )
    with DevicePool([device] * count) as pool, pytest.raises(DeviceError, match=told):
        list(Spread(pool, 5).parts(job))
    assert workers() == []


def test_an_exit_status_is_told(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "TRIES", 1)
    with DevicePool([device]) as pool:
        with pytest.raises(DeviceError, match=r"^a task: 1 workers .* ended with 7;"):
            pool.submit(tasks.exit_with, 7).result()
        with pytest.raises(DeviceError, match=r"^piece 2/3: 1 workers .* ended with 8;"):
            pool.submit(tasks.exit_with, 8, Shard(2, 3)).result()


def test_a_device_whose_workers_die_is_left_out(
    device: Device, other: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []

    def is_left_out() -> str:
        given = [pool.submit(tasks.die_on, "99") for _ in range(4)]
        assert {task.result() for task in given} == {str(device.index)}
        told.extend(capsys.readouterr().err.splitlines())
        return "".join(told)

    with DevicePool([other, device]) as pool:
        until(is_left_out)
        is_left_out()
    (line,) = told
    assert line.startswith("oclgenomics: warning: device 99, ")
    assert line.endswith("is left out: 3 workers in a row ended by SIGKILL")


def test_deaths_between_which_work_is_done_are_no_reason(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pools, "DEATHS", 2)

    def both_work() -> bool:
        given = [pool.submit(tasks.pid_after, 0.02) for _ in range(2)]
        return len({task.result() for task in given}) == 2

    with DevicePool([device, device]) as pool:
        for number in range(3):  # of which two are on the same device
            until(both_work)
            pool.submit(tasks.die_first, str(tmp_path / f"{number}"), "killed").result()
    assert capsys.readouterr().err == ""


def test_a_slow_device_holds_nobody_up(device: Device, other: Device) -> None:
    """Nor one that hangs: who has nothing left to do does its piece, too."""
    other, start = dataclasses.replace(other, name="slow"), time.monotonic()
    with DevicePool([other, device]) as pool:
        given = [pool.submit(tasks.slow_on, "99", 300.0) for _ in range(6)]
        assert {task.result() for task in given} == {str(device.index)}
        assert time.monotonic() - start < 100
        for task in [pool.submit(tasks.pid_after, 0.02) for _ in range(10)]:  # and it takes part again
            task.result()
    assert workers() == []


def test_errors_are_raised_at_once_and_tried_once(device: Device, tmp_path: Path) -> None:
    with DevicePool([device, device]) as pool:
        with pytest.raises(InputError, match=r"^reads.fq, line 3: is damaged") as caught:
            pool.submit(tasks.log_and_fail, str(tmp_path / "log")).result()
        assert (caught.value.source, caught.value.line) == ("reads.fq", 3)
        assert "log_and_fail" in caught.value.__notes__[0]  # where it was, for --debug
        with pytest.raises(RuntimeError, match=r"^OddError: something odd"):
            pool.submit(tasks.fail_oddly).result()
    assert (tmp_path / "log").read_text() == "x"


def test_a_process_that_cannot_be_started_is_told(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: object, **_options: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    told = r"no worker process can be started .Resource temporarily unavailable.; try fewer workers"
    with DevicePool([device]) as pool, pytest.raises(OclGenomicsError, match=told):
        pool.submit(tasks.index_here).result()


def test_all_errors_can_be_sent() -> None:
    for module in pkgutil.walk_packages(oclgenomics.__path__, "oclgenomics."):
        if not module.name.endswith("__main__") and "kernels_cl" not in module.name:
            importlib.import_module(module.name)
    special: dict[str, tuple[Any, ...]] = {
        "ParameterError": ("grid", "too few", 1), "InputError": ("is bad",), "ServerBusyError": ("is busy", 3.0)
    }  # fmt: skip
    for kind in [*every_kind(OclGenomicsError), StreamError]:
        error = kind(*special.get(kind.__name__, ("`max_memory` is too small",)))
        error.add_note("here")
        sent = pickle.loads(pickle.dumps(error))
        assert (type(sent), str(sent), vars(sent)) == (kind, str(error), vars(error))
    error = InputError("is bad", source="a.vcf", line=3, record=4, byte=5)
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


def every_kind(kind: type) -> Iterator[Any]:
    yield kind
    for own in kind.__subclasses__():
        yield from every_kind(own)


# Jobs


def test_progress_is_that_of_all_pieces(device: Device, counting: Counting) -> None:
    shown: list[tuple[int, int | None]] = []
    Path(counting.file).write_text("40" + " " * 998)
    job = dataclasses.replace(counting, seconds=0.05)
    with DevicePool([device, device]) as pool:
        run = Run(progress=lambda done, total: shown.append((done, total)))
        assert numbers_of(Spread(pool, 2).parts(job, run)) == list(range(40))
    assert {total for _, total in shown} == {1000}
    done = [number for number, _ in shown]
    assert done == sorted(done)
    assert any(0 < number < 500 for number in done)
    assert done[-1] == 1000


def test_a_profile_has_what_workers_did(device: Device, counting: Counting) -> None:
    profile = Profile(enabled=True)
    with DevicePool([device]) as pool:
        list(Spread(pool, 7, profile=profile).parts(counting))
    assert [span.name for span in profile.spans] == ["count"] * 7
    assert '"process_name"' in profile.trace_json()


def test_an_iteration_that_is_given_up_ends_what_is_begun(device: Device, counting: Counting, tmp_path: Path) -> None:
    job, start = dataclasses.replace(counting, seconds=0.1), time.monotonic()
    with DevicePool([device, device]) as pool:
        parts = Spread(pool, 20, tmp_path).parts(job)
        next(parts)
        parts.close()
        assert [path.name for path in tmp_path.iterdir()] == ["count"]
    assert time.monotonic() - start < 60


# Which devices


def test_devices_by_their_indexes(device: Device) -> None:
    assert select_devices(f"{device.index}, {device.index}") == [device, device]
    for text in ("", ",", "0,", "x", "0,gpu", "-1", "0;1", "all"):
        with pytest.raises(ParameterError, match=r"^workers=.*: give auto, gpu, cpu or indexes of devices"):
            select_devices(text)
    with pytest.raises(UnknownDeviceError, match=r"no device matches '99' \(from --workers\)"):
        select_devices("0,99")


def test_all_gpus_but_simulators_and_those_that_are_wrong(
    device: Device, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gpu(index: int, **changes: Any) -> Device:
        return dataclasses.replace(device, **{"kind": "gpu", "index": index, "name": f"GPU {index}", **changes})

    device = dataclasses.replace(device, kind="cpu")
    gpus = [gpu(11), gpu(12, name="llvmpipe"), gpu(13, family="oclgrind"), gpu(14), gpu(15)]
    monkeypatch.setattr(selection, "list_devices", lambda: [device, *gpus])
    monkeypatch.setattr(selection.trust, "verdict_on", lambda one: selection.trust.Verdict(
        {"sum": "is wrong"} if one.index == 14 else {}
    ))  # fmt: skip
    assert [one.index for one in select_devices("auto")] == [11, 15]
    assert "device 14, " in capsys.readouterr().err
    assert [one.index for one in select_devices(" GPU ")] == [11, 15]
    assert select_devices("cpu") == [device]
    monkeypatch.setattr(selection, "list_devices", lambda: [device])
    assert select_devices("auto") == [device]
    with pytest.raises(UnknownDeviceError, match="no device matches 'gpu'"):
        select_devices("gpu")


# Commands


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reads, signatures and an alignment in the current folder, and a folder for temporary files."""
    rng = random.Random(3)
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        reads = ["".join(rng.choices("ACGT", k=rng.randrange(30, 200))) for _ in range(400)]
        Path(f"{name}.fq").write_text("".join(f"@{n}\n{r}\n+\n{'I' * len(r)}\n" for n, r in enumerate(reads)))
    Path("s.fa").write_text(">one\nACGTN\n>two\nGATTANN\n")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


SCAN = ["signatures", "scan", "a.fq", "b.fq", "s.fa", "--strand", "both", "--report", "all"]


def test_scans_of_workers_are_what_one_scan_writes(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"-o": "x.tsv.gz", "--summary": "x.sum", "--plot": "x.svg"}
    for number, words in enumerate((["-d", f"{device.index}"], ["--workers", f"{device.index},{device.index}"])):
        files = [word for option, name in named.items() for word in (option, f"{number}{name}")]
        assert main([*SCAN, *words, *files]) == 0
    for name in named.values():
        assert without_made(Path(f"0{name}").read_bytes()) == without_made(Path(f"1{name}").read_bytes())
    told = capsys.readouterr().err
    assert told.count(f"oclgenomics: worker on device {device.index}: ") == 2
    assert list((folder / "temporary").iterdir()) == []


def test_provenance_and_profile_are_those_of_workers(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No engine of this process is opened: NVIDIA's runtime would keep memory of the device for it."""
    monkeypatch.setattr(oclgenomics.Engine, "__init__", None)
    assert main([*SCAN, "--workers", f"{device.index}", "--profile", "trace.json"]) == 0
    written = capsys.readouterr()
    lines = written.out.splitlines()
    assert f"# workers: {device.name} (device {device.index})" in lines
    assert any(line.startswith(f"# device: name={device.name} ") for line in lines)
    assert "encode_letters" in written.err
    assert f"device {device.index}, process " in Path("trace.json").read_text()


OTHERS = [
    "kmers count a.fq b.fq -k 11 -o OUT",
    f"sweeps scan {TESTS}/data/sweeps/threechrom.vcf.gz -w 20 --stat pi,nsl,clr --clr-step 20k -o OUT",
    "sweeps threshold --stat mu,pi --length 50k --samples 12 --seed 5 --sites 70 --replicates 9 --fpr 0.2 -o OUT",
    f"classify build OUT {TESTS}/data/classify/edge/edge_ref.fna --taxonomy {TESTS}/data/classify/edge",
]
ALSO_SCHEDULED = [  # whose pieces workers of a scheduler do in `test_scheduler`
    f"omega scan {TESTS}/data/omega/edge/twochrom.vcf --grid 50 --minwin 100 --maxwin 50000 -o OUT",
    "omega threshold --grid 12 --minwin 1k --maxwin 30k --length 200k --samples 12 --theta 40 --rho 40 --seed 5 "
    "--replicates 9 --fpr 0.2 -o OUT",
    "sdtw align reads.npz --reference target.sdtw --prefixes 100,450 --trim 20 -o OUT",
    "sdtw classify reads.npz --reference target.sdtw --stages 100:500,300:400 --trim 20 -o OUT",
    f"classify query DB {TESTS}/data/classify/edge/edge_reads.fa -o OUT",
]


def test_other_commands_write_what_one_run_writes(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them with one worker, which does pieces of one job after those of another."""
    if runs_whole():
        write_signal_inputs(folder)
        assert main(f"classify build DB {TESTS}/data/classify/edge/edge_ref.fna -q -d {device.index}".split()) == 0
    with DevicePool([device]) as pool:
        lent = SimpleNamespace(DevicePool=lambda _devices: contextlib.nullcontext(pool), PIECES_EACH=3)
        monkeypatch.setattr(spread, "pools", lent)
        for words in OTHERS + ALSO_SCHEDULED * runs_whole():
            for output, how in (("one", "-d"), ("two", "--workers")):
                assert main([*words.replace("OUT", output).split(), how, f"{device.index}", "-q"]) == 0
            if " build " in words:  # the database says what made it
                for name in ("one", "two"):
                    write_database(name, dataclasses.replace(read_database(name), provenance={}))
            assert without_made(Path("one").read_bytes()) == without_made(Path("two").read_bytes()), words


@pytest.mark.parametrize("damage", ["cut", "missing", "foreign"])
def test_a_bad_input_is_the_same_line(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    text = Path("b.fq").read_text()
    Path("b.fq").unlink()
    if damage != "missing":
        Path("b.fq").write_text(text[:-10] if damage == "cut" else "%PDF-1.4\n" + text)
    found = []
    for words in (["-d", f"{device.index}"], ["--workers", f"{device.index}"]):
        assert main([*SCAN, *words, "-o", "x.tsv", "-q"]) == 3
        found.append(capsys.readouterr().err)
        assert not Path("x.tsv").exists()
    one, two = found
    part = re.compile(" from stored byte [0-9]+ on|, record [0-9]+")  # a worker knows its part of the file alone
    assert part.sub("", two) == part.sub("", one)
    assert len(one.splitlines()) == 1
    assert workers() == []


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--workers", "0", "-d", "0"], 2, "--device and --workers contradict each other; give one of them"),
        (["--workers", "0", "--shard", "1/2"], 2, "--shard and --workers contradict each other; give one of them"),
        (["--workers", "0", "--scheduler", "tcp://x:1"], 2, "--workers and --scheduler contradict each other"),
        (["--workers", "0,x"], 2, "--workers 0,x: give auto, gpu, cpu or indexes of devices, such as 0,1"),
        (["--workers", ""], 2, "give auto, gpu, cpu or indexes"),
        (["--workers", "0,77"], 4, "no device matches '77' (from --workers); there are"),
        (["--workers"], 2, "argument --workers: expected one argument"),
    ],
)
def test_wrong_options(
    words: list[str], status: int, told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SCAN, "-o", "x.tsv", *words]) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert not Path("x.tsv").exists()


def test_standard_input_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["signatures", "scan", "-", "s.fa", "--workers", "0"]) == 2
    told = "oclgenomics: error: --workers: standard input (-) can be read by one process only; name files\n"
    assert capsys.readouterr().err == told


def test_a_full_disk(device: Device, folder: Path) -> None:
    words = [*PROGRAM, *SCAN, "--workers", f"{device.index}", "-o", "x.tsv", "-q"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)),
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert done.returncode == 5
    assert line.endswith("1.piece: cannot be written (File too large); nothing half written is left")
    assert not Path("x.tsv").exists()
    assert list((folder / "temporary").iterdir()) == []


ENDLESS = """
import sys, threading
from oclgenomics.signatures import jobs
made = jobs.ScanJob.parts
def held_up(self, engine, run, shard=None):
    if shard.number > 1:
        threading.Event().wait()
    return made(self, engine, run, shard)
jobs.ScanJob.parts = held_up
"""


@contextlib.contextmanager
def scanning(device: Device, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A command whose workers are at work until they are ended, the first of its pieces done."""
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(
        "import sys\nif 'oclgenomics.app.pools' in ' '.join(sys.orig_argv):\n" + ENDLESS.replace("\n", "\n    ")
    )
    paths = [str(folder / "site"), os.environ["PYTHONPATH"], str(Path(TESTS).parent)]
    words = [*PROGRAM, *SCAN, "--workers", f"{device.index},{device.index}", "-o", "x.tsv", "-q"]
    with subprocess.Popen(
        words, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        process_group=0,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.each_value
@pytest.mark.parametrize("when", ["workers start", "pieces are there"])
@pytest.mark.parametrize(
    ("number", "status", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_an_interrupt_leaves_nothing(
    device: Device, folder: Path, number: signal.Signals, status: int, word: str, when: str
) -> None:
    with scanning(device, folder) as process:
        ready = (lambda: workers(process.pid)) if when == "workers start" else lambda: [*folder.rglob("*.piece")]
        until(ready)
        begun, start = workers(process.pid), time.monotonic()
        os.killpg(process.pid, number)
        _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (status, f"oclgenomics: {word}; saved: nothing\n")
    assert time.monotonic() - start < 60
    assert begun
    # One that had only just begun when its pool did notices by itself that nobody reads its answers.
    until(lambda: not [pid for pid in begun if Path(f"/proc/{pid}").exists()])
    assert list((folder / "temporary").iterdir()) == []
    assert not Path("x.tsv").exists()


def test_workers_end_with_a_process_that_is_killed(device: Device, folder: Path) -> None:
    with scanning(device, folder) as process:
        until(lambda: [*folder.rglob("*.piece")])
        begun = workers(process.pid)
        process.kill()
        process.wait(60)
    assert len(begun) == 2
    until(lambda: not [pid for pid in begun if Path(f"/proc/{pid}").exists()])
    assert not Path("x.tsv").exists()


def test_no_workers_are_usage() -> None:
    with pytest.raises(UsageError, match="give auto"):
        DevicePool("none")
