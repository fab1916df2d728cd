"""Processes that draw replicates: signals to the group do not reach them, and they end with their input."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from oclgenomics.errors import OclGenomicsError, UsageError
from oclgenomics.io.children import SIZE
from oclgenomics.io.processes import child_environment, child_python
from oclgenomics.simulate import Region, neutral_alignments
from oclgenomics.simulate.haplotypes.workers import drawn_side_by_side

REGION = Region(8, 20_000, 10_000, 8.0, 4.0)


def workers() -> list[int]:
    found = []
    for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        if "oclgenomics.simulate.haplotypes.workers" in Path(f"/proc/{pid}/cmdline").read_text():
            found.append(int(pid))
    return found


def test_they_are_no_part_of_the_group_and_end_with_the_generator() -> None:
    replicates = neutral_alignments(REGION, 2, 1000, jobs=2)
    next(replicates)
    started = workers()
    assert len(started) == 2
    assert all(os.getpgid(pid) == pid for pid in started)
    replicates.close()  # type: ignore[attr-defined]
    assert workers() == []


def test_they_take_nothing_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numpy", "pickle", "struct", "oclgenomics"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    assert [one.name for one in neutral_alignments(REGION, 2, 3, jobs=2)] == ["1", "2", "3"]


def test_errors_of_a_draw_are_those_of_the_process_that_asked() -> None:
    too_many = Region(100_001, 1000, 10_000, 1.0, 0.0)
    with pytest.raises(UsageError, match="samples must be between"):
        list(neutral_alignments(too_many, 1, 4, jobs=2))
    assert workers() == []


@dataclass(frozen=True)
class Deadly:
    """A task that ends the process, in which it may not even be found."""

    def draw(self) -> int:
        os._exit(3)


def test_a_process_that_ends_is_told() -> None:
    with pytest.raises(OclGenomicsError, match="was killed"):
        list(drawn_side_by_side([Deadly(), Deadly()], 1))
    assert workers() == []


def test_a_process_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: object, **_options: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(OclGenomicsError, match=r"no process .* can be started .Resource temporarily unavailable.; try"):
        list(neutral_alignments(REGION, 2, 3, jobs=2))


@pytest.mark.parametrize("cut", [0, 10])
def test_they_end_with_their_input_in_the_middle_of_a_task(cut: int) -> None:
    """A task of hours is not waited for."""
    from oclgenomics.simulate.haplotypes.replicates import _Replicate, replicate_seeds

    endless = Region(5_000, 100_000_000, 10_000, 1.0, 1_000_000.0)
    task = pickle.dumps(_Replicate(endless, "own", 0.0, None, 1, replicate_seeds(1, 1)[0]), protocol=5)
    short = pickle.dumps(_Replicate(REGION, "own", 0.0, None, 1, replicate_seeds(1, 1)[0]), protocol=5)
    with subprocess.Popen(
        child_python("-m", "oclgenomics.simulate.haplotypes.workers"), env=child_environment(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(short + task + task[:cut])
        process.stdin.flush()
        (size,) = SIZE.unpack(process.stdout.read(SIZE.size))
        drawn, error = pickle.loads(process.stdout.read(size))
        assert (drawn.haplotypes, error) == (8, None)
        process.send_signal(signal.SIGINT)  # whose business it is not
        process.stdin.close()
        assert process.wait(60) == 0
