"""The process of a command has no threads of NumPy's linear algebra, unless the user wants them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from oclgenomics.app import stopping as algebra_threads

TASKS = Path("/proc/self/task")
CODE = """
import os, sys
sys.argv[1:] = ["--version"]
from oclgenomics.__main__ import program
program()
import numpy
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not TASKS.exists() or (os.cpu_count() or 1) == 1, reason="threads are counted as Linux shows them")
def test_a_command_has_one_thread_beside_numpy() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in algebra_threads.VARIABLES}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "1", done.stderr


@pytest.mark.parametrize("name", algebra_threads.VARIABLES)
def test_what_the_user_asks_for_stays(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in algebra_threads.VARIABLES:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "7")
    algebra_threads.without_algebra_threads()
    assert {other: os.environ.get(other) for other in algebra_threads.VARIABLES if other in os.environ} == {name: "7"}
