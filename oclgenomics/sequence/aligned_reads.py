"""Reads of BAM, CRAM and SAM as FASTQ, which is what `samtools fastq` makes of them, byte for byte.

Secondary and supplementary records are left out, those of the reverse strand are turned back, /1 and /2 follow the
names of mates, and bases without qualities get "B". Reads that failed quality control and duplicates stay. First and
second mates beside each other come in this order.

Where samtools would drop one of two records with equal names beside each other, the input is refused: no read is lost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from oclgenomics.errors import InputError
from oclgenomics.io.foreign import ALIGNED, foreign_format
from oclgenomics.io.htslib import Conversion, first_error, require_pysam

_PROCESSED = re.compile(r"processed (\d+) reads")
_NO_REFERENCE = re.compile(r"reference|ref_get|REF_PATH|md5|faidx|fai_|failed to open the file", re.IGNORECASE)


class ReferencedFile(str):
    """The name of a file of aligned reads, and the FASTA file that a CRAM among them was made with.

    It is the file's name wherever a name is compared, shown or opened.

    Parameters
    ----------
    path : path
    reference : path
    """

    reference: str

    def __new__(cls, path: str | os.PathLike[str], reference: str | os.PathLike[str]) -> ReferencedFile:
        name = super().__new__(cls, os.fspath(path))
        name.reference = os.fspath(reference)
        return name

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.reference


def with_reference(names: Iterable[str], reference: str | os.PathLike[str] | None) -> list[str]:
    """Return names of files, which know the FASTA file of their CRAM if one is given.

    Raises
    ------
    InputError
        The FASTA file is not there, or has no index.
    """
    if reference is None:
        return list(names)
    path = os.fspath(reference)
    if not os.path.isfile(path):
        raise InputError("no such file; a reference is a file of FASTA", source=path)
    if not os.path.isfile(f"{path}.fai"):
        raise InputError(f"a reference needs an index next to it; make it: samtools faidx {path}", source=path)
    return [ReferencedFile(name, path) for name in names]


def fastq_converter(name: str) -> Callable[[bytes], Conversion | None]:
    """Return what gives, by the first bytes of a file with this name, how its reads become FASTQ.

    Parameters
    ----------
    name : str
        A `ReferencedFile` brings its reference.

    Returns
    -------
    callable
        Called with the first bytes; returns None for what is not BAM, CRAM or SAM.
    """
    reference = getattr(name, "reference", None)

    def converter(head: bytes) -> Conversion | None:
        found = foreign_format(head)
        if found is None or found.name not in ALIGNED:
            return None
        require_pysam(f"{name}: is {found.name}, which", found.remedy)
        words = ["samtools", "fastq"]  # without threads: with them htslib never ends on some damaged files
        words += [] if reference is None else ["--reference", reference]
        return Conversion(found.name, (*words, "-"), _trouble, lambda said: _explained(found.name, said))

    return converter


def aligned_format(name: str) -> str | None:
    """Return the format of a file of aligned reads: BAM, CRAM or SAM; None of other files, and of pipes."""
    if name == "-" or not os.path.isfile(name):
        return None
    with open(name, "rb") as file:
        found = foreign_format(file.read(4096))
    return found.name if found is not None and found.name in ALIGNED else None


def collate_hint(name: str) -> str:
    """Return what to do where mates do not follow each other in a file, if it is one of aligned reads; else ""."""
    found = aligned_format(name)
    if found is None:
        return ""
    return (
        f"; in this {found} mates do not follow each other, as in one that is sorted by coordinate, or a read has "
        "no mate: group them, samtools collate -u -o NEW.bam FILE, and leave out reads without mates"
    )


def _trouble(said: str, lines: int) -> str:
    """What is wrong with FASTQ that was written to its end, or ""."""
    reads = _PROCESSED.search(said)
    if reads is not None and 4 * int(reads[1]) == lines:
        return ""
    return (
        "a read has several records next to each other that are neither secondary nor supplementary, of which "
        "samtools fastq would give one, or its name holds a line break; mark the others as secondary or rename them"
    )


def _explained(name: str, said: str) -> str:
    """What is wrong with an input that samtools refused."""
    reads, error = _PROCESSED.search(said), first_error(said)
    if name == "CRAM" and _NO_REFERENCE.search(error):
        return (
            f"the reference that this CRAM was made with is missing, or another one ({error}); give its FASTA file "
            "with `reference`, or a folder of references with the variable REF_PATH (nothing is downloaded)"
        )
    behind = f" behind {int(reads[1]):,} reads" if reads is not None else ""
    return f"damaged or truncated {name}{behind}{f' ({error})' if error else ''}; fetch the file again"
