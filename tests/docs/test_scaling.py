"""The recipes of docs/scaling.md: the job array, the scripts of dask-jobqueue and the workflow of Snakemake."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oclgenomics.cli.main import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "scaling.md").read_text()
PIECES = 3


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reads in the working folder, their k-mers, and `oclgenomics` on the path."""
    monkeypatch.chdir(tmp_path)
    Path("reads.fq").write_text(
        "".join(f"@{one}\nACGTTGCA{'ACGT'[one % 4] * 40}\n+\n{'I' * 48}\n" for one in range(50))
    )
    assert main(["kmers", "count", "reads.fq", "-k", "31", "-o", "one.db", "-q"]) == 0
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "oclgenomics").write_text(f'#!/bin/sh\nexec {sys.executable} -m oclgenomics "$@"\n')
    (tmp_path / "bin" / "oclgenomics").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(DOCS.parent), os.environ.get("PYTHONPATH", "")]))
    return tmp_path


def block(mark: str) -> str:
    """A block of the page that has a mark before it."""
    (text,) = re.findall(rf"<!-- {mark} -->\n```[a-z]*\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


def test_job_array(folder: Path) -> None:
    for number in range(1, PIECES + 1):
        variables = {"SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_TASK_COUNT": str(PIECES)}
        subprocess.run(["bash", "-euc", block("slurm")], env=os.environ | variables, check=True)
    (combine,) = re.findall(r'--wrap "(.*?)"', PAGE)
    subprocess.run(["bash", "-euc", combine], check=True)
    assert Path("reads.db").read_bytes() == Path("one.db").read_bytes()


def test_jobqueue(folder: Path) -> None:
    pytest.importorskip("dask_jobqueue", reason="dask_jobqueue is not installed")
    program = block("jobqueue").replace(
        "    cores=1", '    scheduler_options={"dashboard_address": None},\n    cores=1'
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "#SBATCH --gpus=1\n" in done.stdout
    assert "#SBATCH --mem=30G\n" in done.stdout
    (command,) = [line for line in done.stdout.splitlines() if "dask_worker" in line or "dask worker" in line]
    assert "--nthreads 1 " in command
    assert "--resources DEVICE=1 --memory-limit 0" in command


def test_snakemake(folder: Path) -> None:
    if shutil.which("snakemake") is None:
        pytest.skip("snakemake is not installed")
    shutil.copy(DOCS / "examples" / "Snakefile", "Snakefile")
    words = ["snakemake", "--cores", "2", "--quiet", "all", "--config", "reads=reads.fq", f"pieces={PIECES}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Path("kmers.db").read_bytes() == Path("one.db").read_bytes()
