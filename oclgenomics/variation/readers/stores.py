"""Inputs that are no stream of bytes but a store of arrays: which of them a path is, told without reading it."""

from __future__ import annotations

import os
import zipfile

from oclgenomics.errors import InputError

__all__ = ["KASTORE", "METADATA_FILES", "STORES", "store_format"]

STORES = ("trees", "vcz")
KASTORE = b"\x89KAS\r\n\x1a\n"  # how files of tskit begin
METADATA_FILES = (".zgroup", "zarr.json")  # one of them is in the folder of every Zarr group, by the version of Zarr
_ZIP = b"PK\x03\x04"


def store_format(path: str) -> str | None:
    """Name of the format, one of `STORES`; None for a stream, for what is not there and for standard input.

    Only folders and regular files are looked at, so that nothing is taken out of a pipe.

    Raises
    ------
    InputError
        A folder that is no Zarr group, or a tree sequence packed by tszip.
    """
    if os.path.isdir(path):
        if not any(os.path.exists(os.path.join(path, name)) for name in METADATA_FILES):
            raise InputError("is a folder, and no VCF Zarr; give a file", source=path)
        return "vcz"
    if path == "-" or not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            head = file.read(len(KASTORE))
    except OSError:
        return None  # opening it as a stream says what is wrong
    if head == KASTORE:
        return "trees"
    return _zip_format(path) if head.startswith(_ZIP) else None


def _zip_format(path: str) -> str | None:
    """The format of the Zarr group that is in a zip file, if there is one."""
    try:
        with zipfile.ZipFile(path) as packed:
            names = set(packed.namelist())
    except Exception as error:  # besides BadZipFile: versions and names that it does not know, numbers beyond the file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"a damaged zip file ({reason})", source=path) from error
    if not names.intersection(METADATA_FILES):
        return None
    if any(name.startswith("edges/") for name in names):
        raise InputError(f"packed with tszip; unpack it with tszip -d {path}", source=path)
    return "vcz"
