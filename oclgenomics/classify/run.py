"""References built into a database that is queried at once and not kept."""

from __future__ import annotations

import os
from collections.abc import Sequence

from oclgenomics.classify.build import build
from oclgenomics.classify.index import Index
from oclgenomics.classify.options import BuildOptions, QueryOptions, Wanted
from oclgenomics.classify.query import MateFiles, checked_inputs
from oclgenomics.classify.result import QueryResult
from oclgenomics.io.source import Progress
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sequence.files import SequenceFiles

__all__ = ["run"]


def run(
    reads: SequenceFiles,
    references: SequenceFiles,
    options: QueryOptions = QueryOptions(),
    *,
    build_options: BuildOptions = BuildOptions(),
    taxonomy: str | os.PathLike[str] | None = None,
    taxpostmap: Sequence[str | os.PathLike[str]] = (),
    paired: MateFiles | None = None,
    interleaved: bool = False,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    wanted: Wanted = Wanted(),
) -> QueryResult:
    """Classify reads by references, of which no database is written.

    Parameters
    ----------
    reads, options, paired, interleaved, engine, device, max_memory, threads, progress, wanted
        See `query`.
    references, build_options, taxonomy, taxpostmap
        See `build`.

    Returns
    -------
    QueryResult

    Raises
    ------
    UsageError, InputError, DeviceError
        Those of `build` and `query`.

    Examples
    --------
    >>> from oclgenomics.classify import run
    >>> found = run("reads.fastq.gz", "genomes", taxonomy="taxdump")  # doctest: +SKIP
    """
    inputs = checked_inputs(reads, paired, interleaved=interleaved)
    with lent_engine(engine, device, max_memory) as lent:
        database = build(
            references, build_options, taxonomy=taxonomy, taxpostmap=taxpostmap, engine=lent, threads=threads,
            progress=progress,
        )  # fmt: skip
        with Index(database, engine=lent) as index:
            return index.query(inputs, options, wanted, threads=threads, progress=progress)
