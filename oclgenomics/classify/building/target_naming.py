"""Records of references as targets: their names, and their place behind those that a database has."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.building.identifiers import file_stem, header_taxids, raw_id, told_apart
from oclgenomics.classify.building.target_table import TargetTable
from oclgenomics.classify.options import BuildOptions
from oclgenomics.classify.targets import Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import InputError

__all__ = ["NewTargets", "join_targets", "refuse_known"]

NUMBER = re.compile(r"![0-9]+$")  # what tells targets of one name apart


@dataclass(frozen=True)
class NewTargets:
    """Records that become targets.

    Attributes
    ----------
    ids : list of str
        What the records are called; several may have one name.
    taxids : ndarray, int64 (records,)
        That headers give; 0 where they give none.
    sources : list of str
        Files, each once.
    source : ndarray, int32 (records,)
        The file of each record.
    record, letters, windows : ndarray, int64 (records,)
        See `Targets`.
    """

    ids: list[str]
    taxids: NDArray[np.int64]
    sources: list[str]
    source: NDArray[np.int32]
    record: NDArray[np.int64]
    letters: NDArray[np.int64]
    windows: NDArray[np.int64]

    @classmethod
    def of(cls, table: TargetTable, options: BuildOptions) -> NewTargets:
        """Name the records of a table."""
        source = table.source
        ids = [
            raw_id(header, options.sequence_id_format) or header or file_stem(table.sources[file])
            for header, file in zip(table.headers, source.tolist(), strict=True)
        ]
        windows = table.windows(options.sketch)
        return cls(ids, header_taxids(table.headers), table.sources, source, table.record, table.letters, windows)


def refuse_known(targets: Targets, new: NewTargets) -> None:
    """Refuse a file that a database has already: the name of the file, its records' names and their lengths are one's.

    Raises
    ------
    InputError
        There is such a file.
    """
    wanted = {os.path.basename(name) for name in new.sources}
    known: dict[tuple[object, ...], str] = {}
    for number, name in enumerate(targets.sources):
        if os.path.basename(name) in wanted:
            mine = np.flatnonzero(targets.source == number).tolist()
            records = [(NUMBER.sub("", targets.names[target]), int(targets.letters[target])) for target in mine]
            known[os.path.basename(name), *records] = name
    for number, name in enumerate(new.sources):
        mine = np.flatnonzero(new.source == number).tolist()
        other = known.get(
            (os.path.basename(name), *((NUMBER.sub("", new.ids[one]), int(new.letters[one])) for one in mine))
        )
        if other is not None:
            place = "" if other == name else f", as {other}"
            raise InputError(f"is in the database already{place}; leave it out", source=name)


def join_targets(before: Targets | None, new: NewTargets, options: BuildOptions) -> Targets:
    """Put records behind the targets that are there; none of the new ones has a taxon yet."""
    if before is None:
        nothing = np.empty(0, np.int64)
        before = Targets((), (), nothing.astype(np.int32), nothing, nothing.astype(np.int32), nothing, nothing)
    numbers = {name: number for number, name in enumerate(before.sources)}
    places = np.array([numbers.setdefault(name, len(numbers)) for name in new.sources], np.int32)
    return Targets(
        (*before.names, *told_apart(new.ids, before.names)),
        tuple(numbers),
        np.concatenate([before.source, places[new.source]]),
        np.concatenate([before.record, new.record]),
        np.concatenate([before.taxon, np.full(len(new.ids), NO_TAXON, np.int32)]),
        np.concatenate([before.letters, new.letters]),
        np.concatenate([before.windows, new.windows]),
    )
