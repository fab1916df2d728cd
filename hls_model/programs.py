"""Other programs: what they say, and one line of it where they fail."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from hls_model.errors import ModelError

__all__ = ["output_of"]


def output_of(command: Sequence[str], failure: str, given: str | None = None) -> str:
    """Run a program and return what it writes to standard output.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    failure : str
        What failed, for the message.
    given : str, optional
        Its standard input.

    Raises
    ------
    ModelError
        Its exit status is not 0; with its first line that speaks of an error, or its last one.
    """
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        telling = [line for line in lines if "rror" in line or "ERROR" in line]
        telling = telling or lines[-1:] or [f"exit status {done.returncode}"]
        raise ModelError(f"{failure}: {telling[0].strip()}")
    return done.stdout
