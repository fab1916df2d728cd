"""Reads files by libraries in a process of its own, which is this module, too.

Libraries for signals are written in C, and some damaged files end the process that they are in, or keep it busy for
ever. Nor does what they print reach the user.

A job is a line of JSON: format, path, the number of samples that are asked for of each read, and which part of the
file. An answer is the sizes
of its two parts, then JSON whose first word is one of `ANSWERS`, then samples.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any

import numpy as np

from oclgenomics.errors import InputError, MissingDependencyError, OclGenomicsError, reason_of
from oclgenomics.io.children import how_ended
from oclgenomics.io.processes import child_environment, child_python
from oclgenomics.signals.file_part import FilePart
from oclgenomics.signals.readers.libraries import read_fast5, read_pod5, read_slow5
from oclgenomics.signals.readers.raw_read import RawRead, damaged

SIZES = struct.Struct("<QQ")
ANSWERS = ("read", "end", "refused", "failed", "missing")
BUFFER_BYTES = 1 << 18
MAX_SECONDS = 600  # for a read; twice as long as the parent process waits
MAX_MEMORY = 8 << 30  # bytes; a day of samples takes one
PACKAGES = {"slow5": "pyslow5", "pod5": "pod5", "fast5": "ont-fast5-api"}
MAX_SILENCE = 300.0  # seconds; even a slow network brings some bytes in this time
MAX_TEXT, MAX_DATA = 1 << 24, 1 << 33  # bytes of an answer; more is not an answer
_READERS = {"slow5": read_slow5, "pod5": read_pod5, "fast5": read_fast5}


class ReaderProcess:
    """A process that reads one file after the other; a context manager. It starts when the first file is read."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ReaderProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def read(self, kind: str, path: str, limit: int | None, part: FilePart | None = None) -> Iterator[RawRead]:
        """Read a file.

        Parameters
        ----------
        kind : str
            Its format, one of `PACKAGES`.
        path : str
        limit : int or None
            Samples of each read that are asked for, from the first one on.
        part : FilePart, optional
            Which reads are asked for; all if not given.

        Yields
        ------
        RawRead

        Raises
        ------
        InputError
            The file is damaged or something else; the library raised an error, crashed, or stopped answering.
        MissingDependencyError
            The library is not installed.
        """
        last: str | None = None
        try:
            own = None if part is None else [part.begin, part.end, part.size]
            self._ask(json.dumps([kind, os.path.realpath(path), limit, own]).encode() + b"\n")
            while True:
                (answer, *words), samples = self._answer()
                if answer == "end":
                    return
                if answer != "read":
                    raise _refusal(answer, words[0], kind, path, last)
                last = words[0]
                yield RawRead(words[0], samples, *words[1:])
        except OSError as error:
            trouble = f"cannot be read, as {sys.executable} cannot be started ({error.strerror})"
            raise InputError(trouble, source=path) from error
        except _LostError as error:
            self._end()
            raise damaged(kind.upper(), last, f"{PACKAGES[kind]} {error}", path) from None

    def _ask(self, job: bytes) -> None:
        process = self._process or self._start()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # that it is gone shows when it does not answer
            process.stdin.write(job)
            process.stdin.flush()

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            child_python("-m", "oclgenomics.signals.readers.apart"), env=child_environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return self._process

    def _answer(self) -> tuple[list[Any], np.ndarray[tuple[int], np.dtype[np.int16]]]:
        text, data = SIZES.unpack(self._receive(SIZES.size))
        if text > MAX_TEXT or data > MAX_DATA or data % 2:
            raise _LostError("does not answer as it should")
        try:
            words = json.loads(self._receive(text).decode())
        except ValueError:
            words = [""]
        if words[0] not in ANSWERS:
            raise _LostError("does not answer as it should")
        return words, np.frombuffer(self._receive(data), "<i2").astype(np.int16, copy=False)

    def _receive(self, size: int) -> bytearray:
        """Exactly so many bytes."""
        assert self._process is not None
        assert self._process.stdout is not None
        handle, place = self._process.stdout.fileno(), 0
        poll = select.poll()  # not select.select, which takes the first 1,024 handles only
        poll.register(handle, select.POLLIN)
        data = bytearray(size)
        view = memoryview(data)
        until = time.monotonic() + MAX_SILENCE
        while place < size:
            if not poll.poll(1000 * max(0.0, until - time.monotonic())):
                raise _LostError(f"gave no answer in {MAX_SILENCE:g} s")
            count = os.readv(handle, [view[place:]])
            if not count:
                raise _LostError(how_ended(self._process))
            place += count
        return data

    def _end(self) -> None:
        """End the process, wherever it is in its work."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                assert stream is not None
                stream.close()
        process.wait()


class _LostError(Exception):
    """The process is gone, or as good as gone."""


def _refusal(answer: str, text: str, kind: str, path: str, last: str | None) -> OclGenomicsError:
    if answer == "missing":
        return MissingDependencyError(f"{path}: {text}")
    if answer == "refused":
        return InputError(text, source=path)
    return damaged(kind.upper(), last, text, path)


def serve(jobs: IO[bytes], answers: IO[bytes]) -> None:
    """Do jobs until there are no more."""
    for line in jobs:
        kind, path, limit, own = json.loads(line)
        try:
            for read in timed(_READERS[kind](path, limit, None if own is None else FilePart(path, *own))):
                facts = read.name, read.scale, read.offset, read.rate, read.channel, read.share
                samples = read.samples.astype("<i2", copy=False)
                _send(answers, samples, "read", *facts, read.pore, read.molecule)
            _send(answers, None, "end")
        except InputError as error:
            _send(answers, None, "refused", str(error).removeprefix(f"{path}: "))
        except MissingDependencyError as error:
            _send(answers, None, "missing", str(error))
        except Exception as error:  # libraries have many kinds for what is damaged
            _send(answers, None, "failed", reason_of(error))
        answers.flush()


def timed(reads: Iterator[RawRead]) -> Iterator[RawRead]:
    """Yield reads; one that takes too long ends the process, though nobody may be left who would.

    An alarm does so even where a library never comes back to Python.
    """
    while True:
        signal.setitimer(signal.ITIMER_REAL, MAX_SECONDS)
        try:
            read = next(reads, None)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if read is None:
            return
        yield read


def _send(answers: IO[bytes], samples: np.ndarray[tuple[int], np.dtype[np.int16]] | None, *words: object) -> None:
    text = json.dumps(words).encode()
    data = b"" if samples is None else np.ascontiguousarray(samples).view(np.uint8).data
    answers.write(SIZES.pack(len(text), len(data)) + text)
    answers.write(data)


def limit_memory() -> None:
    """Let no damaged file have a library fill all memory."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY if hard < 0 else min(MAX_MEMORY, hard), hard))


def main() -> None:
    """Serve the parent process; what libraries print goes nowhere."""
    limit_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends it
    nowhere = os.open(os.devnull, os.O_WRONLY)
    answers = os.fdopen(os.dup(1), "wb", BUFFER_BYTES)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    with answers:
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
