"""Where k-mers come from: a database by its path, or a set that is there already."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.kmer_set import KmerSet

__all__ = ["KmerSource", "opened"]

KmerSource = KmerSet | str | os.PathLike[str]


@contextlib.contextmanager
def opened(source: KmerSource) -> Iterator[KmerSet]:
    """Lend a set; a database that is given by its path is open as long.

    Raises
    ------
    InputError
        The file is missing, no database, cut off or damaged.
    """
    if isinstance(source, (str, os.PathLike)):
        with KmerDatabase.open(source) as database:
            yield database
    else:
        yield source
