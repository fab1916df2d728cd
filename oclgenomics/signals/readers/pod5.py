"""POD5, by the library of the same name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signals.chemistry import FACTS, Chemistry, chemistry_of
from oclgenomics.signals.readers.raw_read import RawRead

__all__ = ["read_pod5"]

RUN_FACTS = ("flow_cell_product_code", "sequencing_kit", "protocol_name")


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
        batches, known = file.batch_count, _Known()
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
                    *known(record),
                )


class _Known:
    """What reads are of, by their runs."""

    def __init__(self) -> None:
        self._chemistries: dict[tuple[str, str], Chemistry] = {}

    def __call__(self, record: Any) -> Chemistry:
        run, pore = record.run_info, str(record.pore.pore_type)
        key = (str(run.acquisition_id), pore)
        if key not in self._chemistries:
            facts = {**run.tracking_id, **run.context_tags, "pore_type": pore}
            facts |= {name: getattr(run, name) for name in RUN_FACTS}
            self._chemistries[key] = chemistry_of({name: str(facts[name]) for name in FACTS if name in facts})
        return self._chemistries[key]


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
