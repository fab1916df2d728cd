"""SLOW5 and BLOW5, by pyslow5."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from oclgenomics.signals.chemistry import FACTS, Chemistry, chemistry_of
from oclgenomics.signals.readers.raw_read import RawRead, channel_number, pore_scale

__all__ = ["read_slow5"]


class _Troubles(logging.Handler):
    """Errors that the library only logs; it then goes on as if the file had ended."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(" ".join(record.getMessage().split()))


def read_slow5(path: str, limit: int | None) -> Iterator[RawRead]:
    """Read a file.

    Parameters
    ----------
    path : str
    limit : int or None
        Samples of each read that are asked for, from the first one on. The library decodes all.

    Yields
    ------
    RawRead

    Raises
    ------
    ImportError
        pyslow5 is not installed.
    InputError
        A read has no calibration.
    Exception
        Anything that the library raises, or logs, of a damaged file.
    """
    import pyslow5

    troubles = _Troubles()
    log = logging.getLogger("pyslow5")
    log.addHandler(troubles)
    try:
        with _with_ending(path) as named:
            file = pyslow5.Open(named, "r")
        handle, size = _handle(path), os.path.getsize(path)
        wanted = ["channel_number"] if "channel_number" in (file.get_aux_names() or ()) else None
        known: dict[int, Chemistry] = {}
        for record in file.seq_reads(aux=wanted):
            group = int(record["read_group"])
            if group not in known:
                known[group] = _chemistry(file, group)
            share = 0.0 if handle is None else os.lseek(handle, 0, os.SEEK_CUR) / size
            yield _read(record, limit, share, path, known[group])
        file.close()
    finally:
        log.removeHandler(troubles)
    if troubles.texts:
        raise OSError(troubles.texts[0])


@contextmanager
def _with_ending(path: str) -> Iterator[str]:
    """The path, or a link to it whose name tells the library what the file holds, which it sees in nothing else."""
    with open(path, "rb") as file:
        ending = ".blow5" if file.read(1) == b"B" else ".slow5"
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, f"x{ending}")
        os.symlink(os.path.realpath(path), link)
        yield link


def _chemistry(file: Any, group: int) -> Chemistry:
    """What the head says of the reads of a group."""
    there = set(file.get_header_names() or ())
    facts = {name: file.get_header_value(name, read_group=group) for name in FACTS if name in there}
    return chemistry_of({name: str(text) for name, text in facts.items() if text is not None})


def _read(record: dict[str, Any], limit: int | None, share: float, path: str, chemistry: Chemistry) -> RawRead:
    name = str(record["read_id"])
    scale = pore_scale(float(record["range"]), float(record["digitisation"]), name, path)
    return RawRead(
        name,
        np.asarray(record["signal"], np.int16)[:limit],
        scale,
        float(record["offset"]),
        float(record["sampling_rate"]),
        channel_number(str(record.get("channel_number", ""))),
        share,
        *chemistry,
    )


def _handle(path: str) -> int | None:
    """The handle by which the library reads, which says how far it is; None where the system lists no handles."""
    wanted = os.stat(path)
    with suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                if os.path.samestat(os.fstat(int(name)), wanted):
                    return int(name)
    return None
