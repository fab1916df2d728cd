"""Databases on disk; docs/classify-format.md tells them byte by byte."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.classify.database.checks import described_fault, find_fault
from oclgenomics.classify.database.database import Database, Features
from oclgenomics.classify.database.foreign import refuse_foreign
from oclgenomics.classify.database.manifest import manifest_path, write_manifest
from oclgenomics.classify.database.stored_features import StoredFeatures, contradiction
from oclgenomics.classify.database.stored_options import UNMASKED, stored_options
from oclgenomics.classify.options import BuildOptions
from oclgenomics.classify.targets import Targets
from oclgenomics.classify.taxonomy.tree import Taxonomy
from oclgenomics.io.array_file import ArrayFile, is_of_kind
from oclgenomics.io.array_layout import FileKind
from oclgenomics.io.array_writing import write_arrays
from oclgenomics.io.strict_json import Fields

__all__ = ["KIND", "is_database", "open_database", "read_database", "write_database"]

KIND = FileKind(
    b"\x89ocla\r\n\x1a",
    2,
    "database of `oclgenomics classify`",
    "build it again with `oclgenomics classify build`",
    older=(UNMASKED,),
)


def write_database(path: str | os.PathLike[str], database: Database, *, manifest: bool = False) -> None:
    """Write a database to a file, whole or not at all. Equal databases give equal bytes.

    Parameters
    ----------
    path : path
    database : Database
    manifest : bool
        Also write its SHA-256 beside it, as `sha256sum` does. One that is there is written anew in any case.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    ValueError
        The database contradicts itself.
    """
    fault = find_fault(database)
    if fault is not None:
        raise ValueError(f"the database has {fault}")
    metadata = {"options": asdict(database.options), "provenance": database.provenance}
    write_arrays(path, KIND, __version__, metadata, _arrays(database))
    if manifest or os.path.exists(manifest_path(path)):
        write_manifest(path)


def is_database(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a file of `write_database`; of pipes and their like nothing is read."""
    return is_of_kind(path, KIND)


def read_database(path: str | os.PathLike[str]) -> Database:
    """Read a database and check all of it.

    Raises
    ------
    InputError
        The file cannot be read, is of another kind or version, cut off or damaged, or contradicts itself.
    """
    with open_database(path) as (database, features):
        return replace(database, features=features.whole())


@contextmanager
def open_database(path: str | os.PathLike[str]) -> Iterator[tuple[Database, StoredFeatures]]:
    """Read a database but for its features, which come from the file piece by piece as long as the context lasts.

    Raises
    ------
    InputError
        As `read_database`; what is wrong with the features is said when they are read.
    """
    refuse_foreign(path)
    with ArrayFile(path, KIND) as file:
        fields = Fields(file.metadata, file.name)
        fields.only(("options", "provenance"))
        options = stored_options(fields.inner("options"), file.version)
        provenance = fields.get("provenance", dict)
        kind = _count_type(options)
        none = Features(np.zeros(0, np.uint32), np.zeros(0, kind), np.zeros(0, np.uint32))
        database = Database(options, _targets(file), _taxonomy(file), none, provenance)
        fault = described_fault(database)
        if fault is not None:
            raise contradiction(file, fault)
        yield database, StoredFeatures(file, kind, int(database.targets.windows.sum()), options.max_locations)


def _arrays(database: Database) -> dict[str, NDArray[Any]]:
    targets, taxonomy, features = database.targets, database.taxonomy, database.features
    return {
        **_packed("target_names", targets.names),
        **_packed("sources", targets.sources),
        "target_source": targets.source,
        "target_record": targets.record,
        "target_taxon": targets.taxon,
        "target_letters": targets.letters,
        "target_windows": targets.windows,
        "taxids": taxonomy.taxids,
        "parents": taxonomy.parents,
        "ranks": taxonomy.ranks,
        **_packed("taxon_names", taxonomy.names),
        "merged_from": taxonomy.merged_from,
        "merged_to": taxonomy.merged_to,
        "keys": features.keys,
        "counts": features.counts.astype(_count_type(database.options), copy=False),
        "locations": features.locations,
    }


def _targets(file: ArrayFile) -> Targets:
    return Targets(
        _names(file, "target_names"),
        _names(file, "sources"),
        file.array("target_source", "<i4"),
        file.array("target_record", "<i8"),
        file.array("target_taxon", "<i4"),
        file.array("target_letters", "<i8"),
        file.array("target_windows", "<i8"),
    )


def _taxonomy(file: ArrayFile) -> Taxonomy:
    return Taxonomy(
        file.array("taxids", "<i8"),
        file.array("parents", "<i4"),
        file.array("ranks", "|i1"),
        _names(file, "taxon_names"),
        file.array("merged_from", "<i8"),
        file.array("merged_to", "<i8"),
    )


def _count_type(options: BuildOptions) -> str:
    return "|u1" if options.max_locations < 1 << 8 else "<u2"


def _packed(section: str, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Texts as two sections: their bytes, and where each one starts."""
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]  # names of files may be no text
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {section: np.frombuffer(b"".join(encoded), np.uint8), f"{section}_starts": starts}


def _names(file: ArrayFile, section: str) -> tuple[str, ...]:
    text, starts = file.array(section, "|u1"), file.array(f"{section}_starts", "<i8")
    if not (len(starts) and starts[0] == 0 and starts[-1] == len(text) and (np.diff(starts) >= 0).all()):
        raise file.error(f"contradicts itself: {section} and where they start do not go together", 0)
    joined = text.tobytes()
    try:
        return tuple(joined[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(starts.tolist()))
    except UnicodeDecodeError as error:
        raise file.error(f"contradicts itself: one of {section} is no UTF-8", 0) from error
