"""The process that libraries read files in: it takes jobs from its input, and sends reads to its output.

A job is a line of JSON: format, path, and the number of samples that are asked for of each read. An answer is the sizes
of its two parts, then JSON whose first word is one of `ANSWERS`, then samples.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterator
from typing import IO

import numpy as np

from oclgenomics.errors import InputError
from oclgenomics.signals.readers.fast5 import read_fast5
from oclgenomics.signals.readers.pod5 import read_pod5
from oclgenomics.signals.readers.raw_read import RawRead
from oclgenomics.signals.readers.slow5 import read_slow5

__all__ = ["ANSWERS", "SIZES", "serve", "timed"]

SIZES = struct.Struct("<QQ")
ANSWERS = ("read", "end", "refused", "failed", "missing")
BUFFER_BYTES = 1 << 18
MAX_SECONDS = 600  # for a read; twice as long as whoever asks waits
MAX_MEMORY = 8 << 30  # bytes; a day of samples takes one
_READERS = {"slow5": read_slow5, "pod5": read_pod5, "fast5": read_fast5}


def serve(jobs: IO[bytes], answers: IO[bytes]) -> None:
    """Do jobs until there are no more."""
    for line in jobs:
        kind, path, limit = json.loads(line)
        try:
            for read in timed(_READERS[kind](path, limit)):
                facts = read.name, read.scale, read.offset, read.rate, read.channel, read.share
                samples = read.samples.astype("<i2", copy=False)
                _send(answers, samples, "read", *facts, read.pore, read.molecule)
            _send(answers, None, "end")
        except InputError as error:
            _send(answers, None, "refused", str(error).removeprefix(f"{path}: "))
        except ModuleNotFoundError as error:
            _send(answers, None, "missing", str(error))
        except Exception as error:  # libraries have many kinds for what is damaged
            _send(answers, None, "failed", " ".join(str(error).split()) or type(error).__name__)
        answers.flush()


def timed(reads: Iterator[RawRead]) -> Iterator[RawRead]:
    """Yield reads; one that takes too long ends the process, though nobody may be left who would.

    An alarm does so even where a library never comes back to Python.
    """
    while True:
        signal.alarm(MAX_SECONDS)
        try:
            read = next(reads, None)
        finally:
            signal.alarm(0)
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
    """Serve whoever started the process; what libraries print goes nowhere."""
    limit_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    nowhere = os.open(os.devnull, os.O_WRONLY)
    answers = os.fdopen(os.dup(1), "wb", BUFFER_BYTES)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    with answers:
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
