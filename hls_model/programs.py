"""Other programs: where they are, what they build and what they say, and one line of it where they fail."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile

from hls_model.errors import ModelError, ModelOutputError


def verilated(
    top: str, place: Path, sources: Sequence[Path], options: Sequence[str], files: Mapping[str, bytes]
) -> Path:
    """Return the bench of a Verilog, built by Verilator in a folder of its own unless it is there.

    Parameters
    ----------
    top : str
        Its outermost module.
    place : path
        The folder.
    sources : sequence of path
        Verilog, and the C++ that runs it.
    options : sequence of str
        Further options of Verilator.
    files : mapping of str to bytes
        What has to lie in the folder.

    Raises
    ------
    ModelError
        Verilator is missing, or the build fails.
    ModelOutputError
        The folder cannot be written.
    """
    verilator = shutil.which("verilator")
    if verilator is None:
        raise ModelError("verilator is not installed; it builds the Verilog (Debian: install verilator, g++ and make)")
    command = [
        verilator, "--cc", "--exe", "--build", "-j", "2", "-O3", "--top-module", top,
        "--x-assign", "unique", "--x-initial", "unique", "--Mdir", str(place), "-o", "bench", *options,
        *map(str, sources),
    ]  # fmt: skip
    return build(place / "bench", files, command, "the Verilog could not be built")


def build(program: Path, files: Mapping[str, bytes], command: Sequence[str], failure: str) -> Path:
    """Return a program, built by a command in the folder of the files that it needs, unless it is there.

    Raises
    ------
    ModelError
        The build fails.
    ModelOutputError
        The folder cannot be written.
    """
    place = program.parent
    if not program.exists():
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                (place / name).write_bytes(content)
        except OSError as error:
            raise ModelOutputError(f"{place}: cannot be written ({error.strerror or error})") from error
        output_of(command, failure)
    return program


def digest(*contents: bytes) -> str:
    """Return what tells contents from others, in a few letters."""
    return blake2b(b"".join(contents), digest_size=8).hexdigest()


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


def lines_of(program: Path, data: bytes, words: Sequence[str], failure: str) -> list[str]:
    """Run a program on a file of its own that holds `data`, and return the lines that it writes.

    Parameters
    ----------
    program : path
    data : bytes
    words : sequence of str
        Its arguments behind the file.
    failure : str
        As for `output_of`.

    Raises
    ------
    ModelError
        Its exit status is not 0.
    """
    with NamedTemporaryFile(suffix=".bin") as file:  # a folder of programs may serve several runs at a time
        file.write(data)
        file.flush()
        return output_of([str(program), file.name, *words], failure).splitlines()
