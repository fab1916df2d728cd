"""Watch every memory access of every kernel: launch them all under the simulator oclgrind, and fail on any message.

    python tests/smoke_oclgrind.py [gpu|cpu] [FAMILY ...]

gpu and cpu are the kernels as they are specialised for either; without one, both. Families are those of
`helpers.launches`; without one, all, and then every kernel of the sources has to have been launched.

Families run in processes of their own, because the simulator counts its messages by process and stops telling at a
limit; small ones share one (`TOGETHER`), since each start takes more than a second. As many run at a time as there are
processors. What a process says on standard error is a failure, and so is a
broken kernel that the simulator passes: `SIGHT` checks each time that the gate sees.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import numpy as np
from helpers.launches import FAMILIES, Case, kernel_names
from helpers.simulator import truly_written

from oclgenomics.primitives import scan
from oclgenomics.runtime import Engine, program, select_device
from oclgenomics.runtime.source import place_of
from oclgenomics.runtime.tuning import Tuning

# Small groups and vectors narrower than PoCL's, to simulate less.
MAX_GROUP = 32
# Bytes: the simulator marks all that is allocated as not written, and looks through it at each launch.
MEMORY = 24 << 20
SHAPES = {
    "gpu": Tuning(vector_width=1, local_size=16, builtin_popcount=True, shape="gpu"),
    "cpu": Tuning(vector_width=8, local_size=16, builtin_popcount=False, shape="cpu"),
}
# Without optimisation, because the simulator lacks some of the instructions that LLVM makes; without --check-api,
# because PyOpenCL raises on every failed call and makes some of its own on purpose.
OCLGRIND = (
    *("oclgrind", "--data-races", "--uninitialized", "--num-threads", "1", "--max-errors", "1000"),
    *("--build-options", "-cl-opt-disable"),
)
TOGETHER = (  # families that take hardly longer than a start of Python under the simulator
    ("kmer_lines", "kmer_bins", "kmer_filter", "kmer_query", "kmer_fill"),
    ("signal_alignments", "signal_levels", "signal_starts"),
    ("sequences", "letters", "classify_sketch", "classify_packed", "classify_lines", "common"),
)
LIMIT_S = 600
MAX_KINDS = 12  # of messages told of a case
_FIRST_LINE = re.compile(r"^(?=\S)", re.MULTILINE)
_PLACE = re.compile(r"^\tAt line (\d+) \(column \d+\) of (\S+):$", re.MULTILINE)
_KERNEL = re.compile(r"^\tKernel: (\w+)$", re.MULTILINE)
_NUMBER = re.compile(r" (address )?0x[0-9a-f]+")


def lost_barriers(engine: Engine) -> None:
    """Scan with a kernel that lacks its barriers."""
    whole = program.load_source
    with mock.patch.object(program, "load_source", lambda name: re.sub(r"barrier\([^)]*\);", ";", whole(name))):
        scan(engine, engine.upload(np.arange(700, dtype=np.uint64)))
        engine.finish()


def hash_numbers(engine: Engine, items: int, *, written: bool) -> None:
    """Hash so many numbers, of which there are 20."""
    numbers = engine.upload(np.arange(20, dtype=np.uint64)) if written else engine.empty(20, np.uint64)
    kernel, hashes = engine.kernel("common/hash.cl", "hash_numbers"), engine.empty(32, np.uint64)
    engine.launch(kernel, (32,), (16,), numbers=numbers, k0=1, k1=2, count=items, hashes=hashes)
    engine.finish()


# Broken on purpose, with what has to be said of it.
SIGHT: tuple[tuple[Case, str], ...] = (
    (lost_barriers, "data race at local memory"),
    (lambda engine: hash_numbers(engine, 21, written=True), "Invalid read of size 8 at global memory"),
    (lambda engine: hash_numbers(engine, 20, written=False), "Uninitialized value"),
)


@dataclasses.dataclass(frozen=True)
class Task:
    """The cases of a family or a few in one shape, or a kernel that is broken on purpose, by its number."""

    shape: str
    families: tuple[str, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        if self.broken:
            return (self.sight[0],)
        return tuple(case for family in self.families for case in FAMILIES[family])

    @property
    def broken(self) -> bool:
        return self.families[0].isdigit()

    @property
    def sight(self) -> tuple[Case, str]:
        return SIGHT[int(self.families[0])]

    def __str__(self) -> str:
        return f"{self.shape} {'broken on purpose ' if self.broken else ''}{', '.join(self.families)}"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a task: why it failed, or "", and which kernels it launched, by source and name."""

    task: Task
    seconds: float
    failure: str
    launched: frozenset[tuple[str, str]] = frozenset()


def run_cases(task: Task) -> None:
    """Run cases in this process, which is under the simulator, and tell the kernels launched."""
    import pyopencl

    launched: set[tuple[str, str]] = set()
    enqueue = pyopencl.enqueue_nd_range_kernel

    def enqueue_noted(queue: Any, kernel: Any, *args: Any, **options: Any) -> Any:
        text = kernel.get_info(pyopencl.kernel_info.PROGRAM).get_info(pyopencl.program_info.SOURCE)
        launched.add((place_of(text, 1).split(":")[0], kernel.function_name))
        return enqueue(queue, kernel, *args, **options)

    device = dataclasses.replace(select_device(), unified_memory=False, max_work_group=MAX_GROUP)
    if device.family != "oclgrind":
        raise SystemExit(f"this is {device}, not the simulator")
    noting = mock.patch.object(pyopencl, "enqueue_nd_range_kernel", enqueue_noted)
    with truly_written(), noting:
        for case in task.cases:
            with Engine(device, max_memory=MEMORY, tuning=SHAPES[task.shape]) as engine:
                case(engine)
                engine.finish()
    print(json.dumps(sorted(launched)))


def watch(task: Task) -> Outcome:
    """Run a task under the simulator, in a process of its own."""
    command = [*OCLGRIND, sys.executable, __file__, "--task", task.shape, *task.families]
    environment = {**os.environ, "OCLGENOMICS_CACHE": "off"}
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(task, LIMIT_S, f"did not end within {LIMIT_S} s")
    seconds = time.perf_counter() - start
    if task.broken:
        wanted = task.sight[1]
        failure = "" if wanted in done.stderr else f"the gate is blind: no '{wanted}' in: {done.stderr or 'nothing'}"
        return Outcome(task, seconds, failure)
    failure = "\n".join(summary(done.stderr))
    if done.returncode:  # of Python: the simulator itself ends with 0 whatever it finds
        failure += f"\n{done.stderr}\nexit status {done.returncode}"
        return Outcome(task, seconds, failure)
    launched = frozenset((source, name) for source, name in json.loads(done.stdout.splitlines()[-1]))
    return Outcome(task, seconds, failure, launched)


def summary(messages: str) -> Iterator[str]:
    """Say once what the simulator says of each address."""
    numbers: Counter[str] = Counter()
    for message in _FIRST_LINE.split(messages):
        if message.strip():
            first = _NUMBER.sub("", message.splitlines()[0])
            places = " and ".join(f"{file}:{line}" for line, file in _PLACE.findall(message))
            kernels = " ".join(_KERNEL.findall(message))
            numbers[f"{first} {kernels} {places}".strip()] += 1
    for text, number in itertools.islice(numbers.items(), MAX_KINDS):  # the first is the cause of many others
        yield f"    {number} x {text}"
    if len(numbers) > MAX_KINDS:
        yield f"    and {len(numbers) - MAX_KINDS} more kinds"


def tasks_of(arguments: list[str]) -> list[Task]:
    """List what the command line asks for."""
    shapes = [name for name in arguments if name in SHAPES] or list(SHAPES)
    families = [name for name in arguments if name not in SHAPES]
    unknown = [name for name in families if name not in FAMILIES]
    if unknown:
        raise SystemExit(f"no family {unknown[0]}; there are {', '.join(FAMILIES)}")
    bundle = {family: bundle for bundle in TOGETHER for family in bundle}
    groups = dict.fromkeys((family,) if families else bundle.get(family, (family,)) for family in families or FAMILIES)
    chosen = [Task(shape, group) for group in groups for shape in shapes]
    return chosen + [Task("gpu", (str(number),)) for number in range(len(SIGHT))]


def main() -> int:
    """Run what the command line asks for on the simulator; 1 where anything is wrong."""
    if sys.argv[1:2] == ["--task"]:
        run_cases(Task(sys.argv[2], tuple(sys.argv[3:])))
        return 0
    start, failures, launched = time.perf_counter(), 0, set[tuple[str, str]]()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcome in pool.map(watch, tasks_of(sys.argv[1:])):
            launched |= outcome.launched
            failures += bool(outcome.failure)
            print(f"{outcome.task}: {outcome.seconds:.1f} s{': FAILED' if outcome.failure else ''}", flush=True)
            if outcome.failure:
                print(outcome.failure, flush=True)
    unseen = kernel_names() - launched
    if unseen and len(sys.argv) == 1:
        print("never launched; add them to tests/helpers/launches.py:", *sorted(unseen))
        failures += 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    seconds = time.perf_counter() - start
    print(f"oclgrind: {failures or 'no'} failures in {seconds:.0f} s, {used:.0f} s of processors")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
