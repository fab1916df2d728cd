"""SLOW5 and BLOW5, by pyslow5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from oclgenomics.errors import InputError
from oclgenomics.signals.readers.raw_read import RawRead

__all__ = ["read_slow5"]


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
    Exception
        Anything that the library raises of a damaged file.
    """
    import pyslow5

    file = pyslow5.Open(path, "r")
    known = file.get_aux_names()
    wanted = ["channel_number"] if "channel_number" in (known or ()) else None
    for record in file.seq_reads(aux=wanted):
        samples = np.asarray(record["signal"], np.int16)[:limit]
        yield RawRead(
            record["read_id"],
            samples.copy() if limit is not None else samples,
            _scale(record, path),
            float(record["offset"]),
            float(record["sampling_rate"]),
            _channel(record.get("channel_number")),
        )


def _scale(record: dict[str, Any], path: str) -> float:
    if not record["digitisation"]:
        raise InputError(f"read {record['read_id']!r} has a digitisation of 0; the file is damaged", source=path)
    return float(record["range"]) / float(record["digitisation"])


def _channel(value: object) -> int:
    """The number of a channel, which is a text; 0 for one that is no number."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
