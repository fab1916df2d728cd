"""Devices of CPUs keep to the cores that may be used, whoever says how many; each case is a process of its own.

`helpers.crowd` counts the work-groups that are at work at a time, which does not depend on how busy the machine is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.products import only_whole

from oclgenomics.io.cores import TASK, VARIABLE, scheduled_cores, usable_cores
from oclgenomics.runtime import trust
from oclgenomics.runtime.cores import VARIABLES

TESTS = Path(__file__).parents[1]
OURS = {VARIABLE, TASK, *(name for names in VARIABLES.values() for name in names)}
COUNT = "import json, sys; from helpers.crowd import crowds; print(json.dumps(crowds()))"
QUOTA = """
from oclgenomics.io import cores
cores._text = {"/proc/self/cgroup": "0::/job\\n", "/sys/fs/cgroup/job/cpu.max": "90000 100000\\n"}.get
cores._text = lambda path, found=cores._text: found(path, "")
"""
TRIAL = """
from oclgenomics.runtime.devices import list_devices
from oclgenomics.selftest.idioms import Trial
trials = [Trial(device) for device in list_devices() if device.kind == "cpu"]
"""
COMMAND = """
from pathlib import Path
from oclgenomics.cli.main import main
Path(sys.argv[1], "x.fa").write_text(">r\\nACGTACGTTGCA\\n")
words = ["kmers", "count", f"{sys.argv[1]}/x.fa", "-k", "5", "-q", "-d", "cpu", "-o", f"{sys.argv[1]}/x.db"]
assert main([*words, "--threads", "1"]) == 0
"""
CASES: dict[str, tuple[str, dict[str, str]]] = {  # code that runs before, and variables
    "threads": ("", {VARIABLE: "1"}),
    "slurm": ("", {TASK: "1"}),
    "taskset": ("", {}),
    "quota": (QUOTA, {}),
    "self-test": (TRIAL, {VARIABLE: "1"}),
    "command": (COMMAND, {}),
    "variables": ("", {"CL_CONFIG_CPU_TBB_NUM_WORKERS": "1", "DPCPP_CPU_NUM_CUS": "64", "POCL_CPU_MAX_CU_COUNT": "1"}),
}

pytestmark = pytest.mark.skipif(scheduled_cores() < 2 or usable_cores() < 2, reason="needs two cores to leave one out")


def ran(code: str, *words: str, before: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in OURS}
    return subprocess.run(
        [*before, sys.executable, "-W", "ignore", "-c", f"import sys\n{code}", *words],
        cwd=TESTS, env=clean | variables, capture_output=True, text=True, check=True,
    )  # fmt: skip


def found(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def test_all_cores_work_where_nothing_is_said() -> None:
    """This is what the next test sees if a limit does not hold."""
    crowds = found(ran(COUNT))
    assert crowds or sys.platform != "linux"
    assert all(one["most"] > 1 for one in crowds), crowds


# How many cores these leave, `tests/io/test_cores.py` sees without a process; that devices keep to it, the others do.
SEEN_ELSEWHERE = ("slurm", "quota")


@pytest.mark.parametrize(
    "case", [*(case for case in CASES if case not in SEEN_ELSEWHERE), *only_whole(*SEEN_ELSEWHERE)]
)
def test_devices_are_held_to_a_core(case: str, tmp_path: Path) -> None:
    code, variables = CASES[case]
    before: tuple[str, ...] = ()
    if case == "taskset":
        if not shutil.which("taskset"):
            pytest.skip("taskset is not there")
        before = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
    crowds = found(ran(f"{code}\n{COUNT}", str(tmp_path), before=before, **variables))
    assert all((one["most"], one["units"]) == (1, 1) for one in crowds), crowds


LATE = f"""
import os
from oclgenomics.runtime import Engine
Engine("cpu").close()
os.environ["{VARIABLE}"] = "1"
for _ in range(2):
    Engine("cpu").close()
"""
FOREIGN = """
import pyopencl
platforms = pyopencl.get_platforms()
from oclgenomics.runtime import Engine
Engine("cpu").close()
"""


def test_a_limit_that_comes_too_late_is_reported() -> None:
    lines = ran(LATE).stderr.splitlines()
    assert len(lines) == 1, lines
    assert "was in use before it could be held to 1 of its cores, and may use " in lines[0]
    assert "set OCLGENOMICS_THREADS before the program starts" in lines[0]


def test_a_limit_in_time_is_not_reported() -> None:
    assert ran(LATE, **{VARIABLE: "1"}).stderr == ""


def test_a_runtime_that_other_code_has_loaded_is_reported(tmp_path: Path) -> None:
    from oclgenomics.runtime import loader

    library = loader.intel_library()
    if library is None:
        pytest.skip("needs Intel's runtime for CPUs")
    (tmp_path / "intel.icd").write_text(f"{library}\n")
    done = ran(FOREIGN, OCL_ICD_VENDORS=str(tmp_path), **{VARIABLE: "1"})
    assert "was in use before it could be held to 1 of its cores" in done.stderr


def test_the_self_test_does_not_depend_on_limits() -> None:
    code = "from oclgenomics.runtime import list_devices, trust; print([trust._key(one) for one in list_devices()])"
    assert ran(code).stdout == ran(code, **{VARIABLE: "1"}).stdout
    assert trust.TRUSTED not in OURS


POOLS = """
import concurrent.futures.thread as pools
made, begin = [], pools.ThreadPoolExecutor.__init__
def noted(self, max_workers=None, *args, **options):
    made.append(max_workers)
    begin(self, max_workers, *args, **options)
pools.ThreadPoolExecutor.__init__ = noted
from oclgenomics.cli.main import main
folder, *threads = sys.argv[1:]
count = ["kmers", "count", f"{folder}/x.fa", "-k", "9", "-d", "cpu", "-q", "-o", f"{folder}/x.db", *threads]
scan = ["omega", "scan", "data/omega/edge/phased.vcf", "--grid", "5", "--minwin", "1", "--maxwin", "50k", "-q",
        "-o", f"{folder}/x.tsv", "-d", "cpu", *threads]
assert main(count) == 0 and main(scan) == 0
assert main(["kmers", "dump", f"{folder}/x.db", "-q", "-o", f"{folder}/x.txt"]) == 0
print(max(made))
"""


def test_pools_of_host_threads_are_limited(tmp_path: Path) -> None:
    results = {}
    for threads in ("1", "2"):
        folder = tmp_path / threads
        folder.mkdir()
        (folder / "x.fa").write_text(">r\nACGTACGTTGCAAC\n")
        most = ran(POOLS, str(folder), "--threads", threads, **{VARIABLE: threads}).stdout.split()[-1]
        results[most] = [(folder / name).read_bytes() for name in ("x.db", "x.txt")]
    assert list(results) == ["1", "2"]
    assert results["1"] == results["2"]
