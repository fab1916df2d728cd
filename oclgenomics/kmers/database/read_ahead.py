"""Sections of a k-mer database that are read ahead of whoever takes them, decoded by threads or on the device."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np

from oclgenomics.errors import InputError
from oclgenomics.kmers.database.section_file import SectionFile
from oclgenomics.kmers.database.sections.decode_device import decode_on, room_for
from oclgenomics.kmers.database.sections.plan import SectionPlan
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine

__all__ = ["blocks_ahead", "runs_ahead"]


def blocks_ahead(file: SectionFile, pool: Executor, ahead: int) -> Iterator[KmerBlock]:
    """All sections, decoded by NumPy; so many are read ahead by the threads of a pool.

    Raises
    ------
    InputError
        A section is damaged.
    """
    numbers = iter(range(len(file)))
    coming: deque[Future[KmerBlock]] = deque()
    try:
        for number in itertools.islice(numbers, ahead):
            coming.append(pool.submit(file.section, number))
        while coming:
            block = coming.popleft().result()
            for number in itertools.islice(numbers, 1):
                coming.append(pool.submit(file.section, number))
            yield block
    finally:
        for future in coming:
            future.cancel()


def runs_ahead(file: SectionFile, engine: Engine) -> Iterator[Runs]:
    """All sections, some of them at a time, decoded in an engine's memory; the next ones are read meanwhile.

    Raises
    ------
    InputError
        A section is damaged.
    AllocationError
        The device's memory does not hold a section.
    """
    step = SectionPlan(DeviceLimits.of(engine), file.index.head.options.k, engine.memory.used).decode()
    tables = [file.index.table[start : start + step] for start in range(0, len(file), step)]
    if not tables:
        return
    rooms = [room_for(engine, tables) for _ in tables[:2]]
    with ThreadPoolExecutor(1, "read-kmers") as pool:
        coming = pool.submit(file.read_raw, tables[0], rooms[0].host)
        for number, table in enumerate(tables):
            coming.result()
            for later in tables[number + 1 : number + 2]:
                coming = pool.submit(file.read_raw, later, rooms[(number + 1) % 2].host)
            greatest = file.greatest[:, number * step : number * step + len(table)]
            runs, status = decode_on(engine, table, greatest, rooms[number % 2])
            for damaged in np.flatnonzero(status)[:1].tolist():
                file.section(number * step + damaged)  # which says what is wrong with it
                raise InputError("changed while it was read", source=file.name)
            yield runs
            del runs
