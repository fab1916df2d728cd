"""POD5, by the library of the same name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signals.readers.raw_read import RawRead

__all__ = ["read_pod5"]


def read_pod5(path: str, limit: int | None) -> Iterator[RawRead]:
    """Read a file.

    Parameters
    ----------
    path : str
    limit : int or None
        Samples of each read that are asked for, from the first one on; chunks behind them are not decoded.

    Yields
    ------
    RawRead

    Raises
    ------
    ImportError
        pod5 is not installed.
    Exception
        Anything that the library raises of a damaged file.
    """
    import pod5

    with pod5.Reader(path) as file:
        batches = file.batch_count
        for number in range(batches):
            batch = file.get_batch(number)
            for row, record in enumerate(batch.reads()):
                calibration = record.calibration
                yield RawRead(
                    str(record.read_id),
                    _samples(record, limit),
                    float(calibration.scale),
                    float(calibration.offset),
                    float(record.run_info.sample_rate),
                    int(record.pore.channel),
                    (number + (row + 1) / batch.num_reads) / batches,
                )


def _samples(record: Any, limit: int | None) -> NDArray[np.int16]:
    if limit is None:
        return np.asarray(record.signal, np.int16)
    chunks, size = [np.empty(0, np.int16)], 0
    for index in range(len(record.signal_rows)):
        if size >= limit:
            break
        chunks.append(np.asarray(record.signal_for_chunk(index), np.int16))
        size += len(chunks[-1])
    return np.concatenate(chunks)[:limit]
