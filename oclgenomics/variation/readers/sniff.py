"""Which format a stream has, detected from its first bytes."""

from __future__ import annotations

import os
import re
import zipfile

from oclgenomics.errors import InputError, library_errors
from oclgenomics.io.foreign import ALIGNED, foreign_format
from oclgenomics.variation.readers.input_buffer import InputBuffer

_LOOK_AT = 1 << 16
_READ = "ms, MaCS, FASTA or VCF, a tree sequence or a VCF Zarr"
_FASTQ = re.compile(rb"\s*@[^\n]*\n[A-Za-z*.]+\r?\n\+")
_MARKS = (
    ("vcf", re.compile(rb"##fileformat=VCF|#CHROM\t")),
    ("macs", re.compile(rb"COMMAND:|^SITE:\s", re.MULTILINE)),
    ("fasta", re.compile(rb"\s*>")),
    ("ms", re.compile(rb"^//", re.MULTILINE)),
)


def sniff(buffer: InputBuffer) -> str:
    """Name of the format of a stream; consumes nothing.

    VCF and FASTA are detected by how the input begins, MaCS by a line that begins with "COMMAND:" or "SITE:", and ms by
    one with "//". mbs looks like ms and has to be named.

    Raises
    ------
    InputError
        None of them, or a known binary format.
    """
    buffer.require(_LOOK_AT)
    head = bytes(buffer.held[:_LOOK_AT])
    if not head.strip():
        buffer.refuse_break()
        raise InputError("the file is empty", source=buffer.source)
    if head.startswith(KASTORE):
        raise InputError(
            "a tree sequence is read only from a file of its own: unpacked, and no stream", source=buffer.source
        )
    known = foreign_format(head)
    if known is not None and not _MARKS[0][1].match(head):
        calling = "bcftools mpileup -f GENOME.fa FILE | bcftools call -m -v"
        remedy = f"call variants first: {calling}" if known.name in ALIGNED else f"give {_READ}"
        raise InputError(f"is {known.name}; {remedy}", source=buffer.source)
    if _FASTQ.match(head):
        raise InputError("is FASTQ (reads); map the reads and call variants first", source=buffer.source)
    for name, mark in _MARKS:
        if (mark.search if name in ("ms", "macs") else mark.match)(head):
            return name
    buffer.refuse_break()
    raise InputError(
        "the format is none of ms, MaCS, FASTA and VCF, nor is it a tree sequence or a VCF Zarr "
        "(looked for '//', 'COMMAND:', '>' and '##fileformat=VCF')",
        source=buffer.source,
    )


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
    with library_errors("a damaged zip file", path), zipfile.ZipFile(path) as packed:
        names = set(packed.namelist())
    if not names.intersection(METADATA_FILES):
        return None
    if any(name.startswith("edges/") for name in names):
        raise InputError(f"packed with tszip; unpack it with tszip -d {path}", source=path)
    return "vcz"
