"""The process of a command ends at once, with its status, after what others want done at exit."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import atexit, sys
from oclgenomics.app import stopping as leaving

class Kept:
    def __del__(self):
        print("taken apart", flush=True)

def command():
    leaving.leave_at_once()
    atexit.register(print, "handled")
    print("said", end=" ")
    print("told", end=" ", file=sys.stderr)
    {ending}

kept = Kept()
raise SystemExit(command())
"""


def run(ending: str) -> subprocess.CompletedProcess[str]:
    script = SCRIPT.format(ending=ending)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("status", [0, 3, 130])
def test_handlers_run_and_nothing_is_taken_apart(status: int) -> None:
    done = run(f"return leaving.leaves_with({status})")
    assert (done.returncode, done.stdout, done.stderr) == (status, "said handled\n", "told ")


def test_an_error_that_nobody_took_ends_as_ever() -> None:
    done = run("raise ValueError('of old')")
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: of old\n")
    assert done.stdout == "said handled\ntaken apart\n"


def test_a_closed_output_does_no_harm() -> None:
    done = run("sys.stdout.close(); return leaving.leaves_with(4)")
    assert (done.returncode, done.stdout) == (4, "said ")
