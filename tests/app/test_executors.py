"""Executors of other packages, given to a verb, give what one run gives."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oclgenomics.app.jobs import Spread
from oclgenomics.io.processes import child_environment, child_python
from oclgenomics.signatures import scan

SECONDS = 100
MPI = """
import json
from mpi4py.futures import MPIPoolExecutor
from oclgenomics.app.jobs import Spread
from oclgenomics.signatures import scan

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        found = scan(["0.fasta", "1.fasta"], "panel.fasta", executor=Spread(executor, 3))
    print(json.dumps(list(found.records())))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Samples in two files, and signatures of some, in the working folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    samples = ["".join(rng.choice(list("ACGT"), 200)) for _ in range(20)]
    for number in range(2):
        Path(f"{number}.fasta").write_text("".join(f">s{number}\n{text}\n" for text in samples[number::2]))
    Path("panel.fasta").write_text("".join(f">p{one}\n{samples[one][30:60]}\n" for one in (0, 5, 19)))
    return tmp_path


def records_of(executor: Executor | None, folder: Path) -> list[dict[str, Any]]:
    spread = None if executor is None else Spread(executor, 3)
    files = [str(folder / f"{number}.fasta") for number in range(2)]
    return list(scan(files, str(folder / "panel.fasta"), executor=spread).records())


def test_dask(folder: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    here = {"processes": False, "protocol": "tcp://"}  # in a thread, which is sent what a process is
    how = {"threads_per_worker": 1, "resources": {"DEVICE": 1}, "dashboard_address": "127.0.0.1:0", **here}
    with distributed.LocalCluster(1, **how) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        found = records_of(client.get_executor(resources={"DEVICE": 1}), folder)
    assert found == records_of(None, folder)
    assert len(found) == 3


def test_executorlib(folder: Path) -> None:
    executorlib = pytest.importorskip("executorlib", reason="executorlib is not installed")
    with executorlib.SingleNodeExecutor(max_workers=1, block_allocation=True) as executor:
        assert records_of(executor, folder) == records_of(None, folder)


def test_mpi(folder: Path) -> None:
    try:
        importlib.metadata.version("mpi4py")
        files = importlib.metadata.files("mpich") or []
    except importlib.metadata.PackageNotFoundError as error:
        pytest.skip(f"{error.name} is not installed")
    start = next(str(file.locate().resolve()) for file in files if file.name == "mpiexec")
    Path("program.py").write_text(MPI)
    environment = child_environment() | {"LD_LIBRARY_PATH": str(Path(start).parents[1] / "lib")}
    done = subprocess.run(
        [start, "-n", "2", *child_python("-m", "mpi4py.futures", "program.py")],
        env=environment, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    assert json.loads(done.stdout) == records_of(None, folder)
