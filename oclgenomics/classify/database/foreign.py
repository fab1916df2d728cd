"""Files that people take for databases, told by how they begin."""

from __future__ import annotations

import os
import stat

from oclgenomics.errors import InputError
from oclgenomics.io.foreign import ALIGNED, HEAD_BYTES, foreign_format

__all__ = ["refuse_foreign"]

BUILD = "build one of its references with `oclgenomics classify build`"
OWN = b"\x89ocla"
METACACHE_VERSION = 20200820  # of its databases, as 8 bytes
BEGINNINGS = {
    METACACHE_VERSION.to_bytes(8, "little"): f"is a database of MetaCache; {BUILD}",
    b"\x1f\x8b": "is compressed by gzip; a database is read as it was written, so unpack it",
    b"BZh": "is compressed by bzip2; a database is read as it was written, so unpack it",
    b"\x28\xb5\x2f\xfd": "is compressed by Zstandard; a database is read as it was written, so unpack it",
    b">": "is FASTA; build a database of it with `oclgenomics classify build`",
    b"@": "is FASTQ, which reads are in; give a database of `oclgenomics classify build`",
}


def refuse_foreign(path: str | os.PathLike[str]) -> None:
    """Refuse folders, empty files and files of other kinds that are easily told.

    Raises
    ------
    InputError
        What the file is, and what to do. Of a file that cannot be read, nothing is said here.
    """
    try:
        known = os.stat(path)
        if stat.S_ISDIR(known.st_mode):
            raise InputError(_folder(path), source=os.fspath(path))
        if not stat.S_ISREG(known.st_mode):
            return
        with open(path, "rb", buffering=0) as file:
            beginning = file.read(HEAD_BYTES)
    except OSError:
        return
    if not beginning:
        raise InputError("is empty; give a database of `oclgenomics classify build`", source=os.fspath(path))
    trouble = next((told for other, told in BEGINNINGS.items() if beginning.startswith(other)), None)
    if (other := foreign_format(beginning, OWN)) is not None and (trouble is None or other.name in ALIGNED):
        trouble = f"is {other.name}; give a database of `oclgenomics classify build`"
    if trouble is not None:
        raise InputError(trouble, source=os.fspath(path), byte=0)


def _folder(path: str | os.PathLike[str]) -> str:
    if os.path.exists(os.path.join(path, "hash.k2d")):
        return f"is a database of Kraken 2; {BUILD}"
    return "is a folder; give the file that `oclgenomics classify build` wrote"
