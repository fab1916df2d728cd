"""Files of other formats, recognised by how they begin, and how sequences are got from them."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable
from typing import NamedTuple

HEAD_BYTES = 4096  # that say what a file is
MARK_BYTES = 5  # of the mark of the package's own files; those behind them change when a file is taken for text
ALIGNED = ("BAM", "CRAM", "SAM")  # names of formats of aligned reads
_GZIP = b"\x1f\x8b"
_TAR_MARK, _TAR_AT = b"ustar", 257
_SAMTOOLS = "convert it: samtools fastq FILE > reads.fastq"
_REGIONS = "give sequences; those of its regions: bedtools getfasta -fi GENOME.fa -bed FILE > regions.fa"
_VARIANTS = "give sequences; those of a sample: bcftools consensus -f GENOME.fa -s SAMPLE FILE > sample.fa"
_SIGNAL = "call its bases first: dorado basecaller --emit-fastq MODEL FILE > reads.fastq"
_TO_FASTA = "convert it: any2fasta FILE > sequences.fa"
_OWN = "give the sequences that it was made of"


class ForeignFormat(NamedTuple):
    """What a file is that is no FASTA and no FASTQ.

    Attributes
    ----------
    name : str
        As it goes behind "is".
    remedy : str
        How sequences are got, for a command that reads these.
    """

    name: str
    remedy: str


_MAGIC = {
    b"BAM\x01": ForeignFormat("BAM", _SAMTOOLS),
    b"CRAM": ForeignFormat("CRAM", "convert it: samtools fastq --reference GENOME.fa FILE > reads.fastq"),
    b"BCF\x02": ForeignFormat("BCF (variants)", _VARIANTS),
    b"##fileformat=VCF": ForeignFormat("VCF (variants)", _VARIANTS),
    b"##gff-version": ForeignFormat("GFF (annotation)", _REGIONS),
    b"#!genome-build": ForeignFormat("GTF (annotation)", _REGIONS),
    b"#gtf-version": ForeignFormat("GTF (annotation)", _REGIONS),
    b"LOCUS       ": ForeignFormat("GenBank", _TO_FASTA),
    b"ID   ": ForeignFormat("EMBL", _TO_FASTA),
    b"CLUSTAL": ForeignFormat("Clustal", _TO_FASTA),
    b"# STOCKHOLM": ForeignFormat("Stockholm", _TO_FASTA),
    b"#NEXUS": ForeignFormat("NEXUS", "give FASTA"),
    b"H\tVN:Z:": ForeignFormat("GFA", _TO_FASTA),
    b"\x43\x27\x41\x1a": ForeignFormat("2bit", "convert it: twoBitToFa FILE sequences.fa"),
    b"\x1a\x41\x27\x43": ForeignFormat("2bit", "convert it: twoBitToFa FILE sequences.fa"),
    b"NCBI.sra": ForeignFormat("SRA", "convert it: fasterq-dump FILE"),
    b"ABIF": ForeignFormat("a Sanger trace (ABIF)", "convert it: tracy basecall -f fastq -o reads.fastq FILE"),
    b"\x8bPOD\r\n\x1a\n": ForeignFormat("POD5 (raw nanopore signal)", _SIGNAL),
    b"\x89HDF\r\n\x1a\n": ForeignFormat("HDF5, as FAST5 (raw nanopore signal) is", _SIGNAL),
    b"BLOW5\x01": ForeignFormat("BLOW5 (raw nanopore signal)", _SIGNAL),
    b"#slow5_version": ForeignFormat("SLOW5 (raw nanopore signal)", _SIGNAL),
    b"\x89okmer": ForeignFormat("a database of `oclgenomics kmers`", _OWN),
    b"\x89osig": ForeignFormat("a panel of `oclgenomics signatures`", _OWN),
    b"\x89osqu": ForeignFormat("a reference of `oclgenomics sdtw`", _OWN),
    b"\x89ocla": ForeignFormat("a database of `oclgenomics classify`", _OWN),
    b"\x93NUMPY": ForeignFormat("an array of NumPy", "give FASTA or FASTQ"),
    b"PAR1": ForeignFormat("Parquet", "give FASTA or FASTQ"),
    b"%PDF": ForeignFormat("PDF", "give FASTA or FASTQ"),
}
_SAM = ForeignFormat("SAM", _SAMTOOLS)
_TAR = ForeignFormat("a tar archive", "unpack it, and give the files that were in it")
_WEB_PAGE = ForeignFormat("a web page, perhaps of a download that failed", "download the file again")
_SAM_HEADER = re.compile(rb"@(HD|SQ|RG|PG)\t[A-Za-z][A-Za-z0-9]:|@CO\t")
_NUMBER = re.compile(rb"[0-9]+")
_PERCENT = re.compile(rb" *[0-9]{1,3}\.[0-9]+")
_CIGAR = re.compile(rb"\*|([0-9]+[MIDNSHPX=])+")


def foreign_format(head: bytes, own: bytes = b"") -> ForeignFormat | None:
    """Recognise a file that is neither FASTA nor FASTQ.

    Parameters
    ----------
    head : bytes
        How it begins, uncompressed or compressed by gzip (as BAM is). `HEAD_BYTES` are enough.
    own : bytes
        Mark of the files that are wanted, which are not foreign, even if the end of the mark is damaged.

    Returns
    -------
    ForeignFormat or None
        None of FASTA, FASTQ, what is wanted and what is not known.
    """
    if own and head.startswith(own[:MARK_BYTES]):
        return None
    head = _inflated(head) if head.startswith(_GZIP) else head
    if head.startswith((b">", b"@")):
        return _SAM if _SAM_HEADER.match(head) and not _is_fastq(head) else None
    for magic, known in _MAGIC.items():
        if head.startswith(magic):
            return known
    if head[_TAR_AT:].startswith(_TAR_MARK):
        return _TAR
    if head[:100].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return _WEB_PAGE
    return _of_row(head)


def format_name(head: bytes, own: bytes = b"") -> str | None:
    """Name the format of a file, if it is one of `foreign_format`, or FASTA or FASTQ; as it goes behind "is"."""
    known = foreign_format(head, own)
    if known is not None:
        return known.name
    head = _inflated(head) if head.startswith(_GZIP) else head
    return {b">": "FASTA", b"@": "FASTQ"}.get(head.lstrip(b"\r\n")[:1])


def not_sequences(head: bytes) -> str:
    """Say what is wrong with an input that should be FASTA or FASTQ: what it is, and what to do."""
    known = foreign_format(head)
    if known is None and _names_a_file(head):
        return "its first line names a file; a list of files is given as @LIST"
    if known is None:
        return "is neither FASTA nor FASTQ: it starts with neither > nor @"
    return f"is {known.name}, neither FASTA nor FASTQ; {known.remedy}"


def _names_a_file(head: bytes) -> bool:
    name = head.partition(b"\n")[0].strip()
    return 0 < len(name) < HEAD_BYTES and b"\0" not in name and os.path.isfile(name)


def _inflated(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(31).decompress(head, HEAD_BYTES)
    except zlib.error:
        return head


def _is_fastq(head: bytes) -> bool:
    """Whether a header of SAM may be the title of a read: a line of bases follows."""
    _, newline, rest = head.partition(b"\n")
    second = rest.partition(b"\n")[0].rstrip(b"\r")
    return bool(newline and second) and not second.startswith(b"@") and b"\t" not in second


def _of_row(head: bytes) -> ForeignFormat | None:
    """Recognise tables by their first row that is no comment."""
    rows = (line for line in head.split(b"\n") if line and not line.startswith((b"#", b"track", b"browser")))
    fields = next(rows, b"").rstrip(b"\r").split(b"\t")
    return next((known for is_it, known in _ROWS if is_it(fields)), None)


def _is_sam(fields: list[bytes]) -> bool:
    return len(fields) >= 11 and _numbers(fields, 1, 3, 4, 7) and bool(_CIGAR.fullmatch(fields[5]))


def _is_paf(fields: list[bytes]) -> bool:
    return len(fields) >= 12 and _numbers(fields, 1, 2, 3, 6, 7, 8, 9, 10, 11) and fields[4] in (b"+", b"-")


def _is_gff(fields: list[bytes]) -> bool:
    return len(fields) >= 9 and _numbers(fields, 3, 4) and fields[6] in (b"+", b"-", b".", b"?")


def _is_kreport(fields: list[bytes]) -> bool:
    return len(fields) >= 6 and bool(_PERCENT.fullmatch(fields[0])) and _numbers(fields, 1, 2)


def _is_bed(fields: list[bytes]) -> bool:
    return len(fields) >= 3 and _numbers(fields, 1, 2)


def _is_gfa(fields: list[bytes]) -> bool:
    return len(fields) >= 3 and fields[0] == b"S" and fields[2].isalpha()


def _numbers(fields: list[bytes], *places: int) -> bool:
    return all(_NUMBER.fullmatch(fields[place]) for place in places)


_ROWS: tuple[tuple[Callable[[list[bytes]], bool], ForeignFormat], ...] = (
    (_is_sam, _SAM),
    (_is_paf, ForeignFormat("PAF (alignments)", "give the reads that were aligned")),
    (_is_gff, ForeignFormat("GFF or GTF (annotation)", _REGIONS)),
    (_is_gfa, ForeignFormat("GFA", _TO_FASTA)),
    (_is_kreport, ForeignFormat("a report of Kraken (kreport)", "give the reads that were classified")),
    (_is_bed, ForeignFormat("BED (regions)", _REGIONS)),
)
