"""All that can be checked of a database in a file."""

from __future__ import annotations

import os
from typing import NamedTuple

from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.file import read_database
from oclgenomics.classify.database.manifest import check_manifest, manifest_path

__all__ = ["Verified", "verify_database"]


class Verified(NamedTuple):
    """A database that is sound.

    Attributes
    ----------
    database : Database
    sha256 : str, optional
        That of the file, if there is a manifest that says the same.
    """

    database: Database
    sha256: str | None


def verify_database(path: str | os.PathLike[str]) -> Verified:
    """Read a database, check its checksums and what it holds, and compare it with its manifest if there is one.

    Raises
    ------
    InputError
        It cannot be read, is no database, or is damaged, contradicts itself, or is another than its manifest says.
    """
    database = read_database(path)
    return Verified(database, check_manifest(path) if os.path.exists(manifest_path(path)) else None)
