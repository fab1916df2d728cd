"""Files that unpack to much, and processes that read them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from helpers.bgzf import END, block
from helpers.fuzz_samples import SAMPLES
from oclgenomics.app import stopping
from oclgenomics.classify.formats import results as result_text
from oclgenomics.classify.taxonomy import text_fields
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError
from oclgenomics.io.packed_file import zstd_module
from oclgenomics.io.text_file import read_text
from oclgenomics.sequence import files, records, rewritten_source
from oclgenomics.signatures.formats import panel_text
from oclgenomics.variation import samples
from oclgenomics.variation.bed import read_bed
from oclgenomics.variation.read_options import ReadOptions
from oclgenomics.variation.readers import input_buffer, line_blocks
from oclgenomics.variation.readers.read import read_alignments

MIB = 1 << 20
LIMIT, BLOCK = 4 * MIB, 1 << 16  # bytes of what is read whole, and of what is read at a time, for these tests
UNPACKED, IN_SHORT_LINES = 40 * MIB, 2 * MIB
BOUNDS = [
    (records, "MAX_LINE_BYTES", LIMIT),
    (records, "MAX_LETTERS", LIMIT),
    (rewritten_source, "MAX_BYTES", LIMIT),
    (rewritten_source, "MAX_LINES", 1 << 15),
    (panel_text, "MAX_BYTES", LIMIT),
    (panel_text, "MAX_SIGNATURES", 1 << 15),
    (input_buffer, "MAX_LINE_BYTES", LIMIT),
    (line_blocks, "MAX_LINE_BYTES", LIMIT),
    (samples, "MAX_LIST_BYTES", LIMIT),
    (files, "MAX_LIST_BYTES", LIMIT),
    (text_fields, "BLOCK_BYTES", 4 * BLOCK),
]


def alignments(path: str) -> object:
    return [a.sites for a in read_alignments(path, ReadOptions(length=1000), block_bytes=BLOCK)]


READERS: dict[str, Callable[[str], object]] = {
    "sequences": lambda path: sum(len(record.letters) for record in records.read_records(path)),
    "signatures": panel_text.read_panel_text,
    "alignment": alignments,
    "regions": read_bed,
    "sample names": lambda path: samples.sample_names(path),
    "whole text": lambda path: read_text(path, LIMIT),
    "list of files": lambda path: files.file_names([f"@{path}"]),
    "result": result_text.read_result,
    "dump": lambda path: sum(len(lines) for lines in text_fields.read_lines(path)),
}
CASES = [
    *(("sequences", head, unit) for head, unit in [(b"", b"\n"), (b"", b"\r\n"), (b">", b"A"), (b"@", b"A")]),
    *(("sequences", b">a\n", unit) for unit in (b"A", b"\n", b"A\n", b">\n")),
    *(("sequences", b"@a\n", unit) for unit in (b"A", b"\n", b"A\n")),
    *(("signatures", head, unit) for head, unit in [(b"", b"A"), (b"", b"\n"), (b">", b"A"), (b"", b">\n")]),
    *(("signatures", head, unit) for head, unit in [(b">a\n", b"\n"), (b"@a\n", b"\n"), (b"", b"@\nA\n+\nI\n")]),
    *(("alignment", SAMPLES[name], unit) for name in ("vcf", "macs", "alignment") for unit in (b"A", b"\n")),
    *(("alignment", head, b"A") for head in (SAMPLES["ms"], b"##fileformat=VCF", b"//", b"COMMAND:", b">")),
    *(("regions", SAMPLES["bed"], unit) for unit in (b"A", b"\n", b"#\n")),
    *((name, b"a", unit) for name in ("sample names", "whole text", "list of files") for unit in (b"a", b"\n")),
    *(("result", SAMPLES["result"], unit) for unit in (b"A", b"\n", b"#\n")),
    ("result", b"", b"A\n"),
    *(("dump", b"1\t|\t1\t|\n", unit) for unit in (b"A", b"\n", b"\t")),
]


def by_bgzip(text: bytes) -> bytes:
    """A stretch of text as blocks, which may be many times the same."""
    size = len(text) // 16
    return b"".join(block(text[at : at + size]) for at in range(0, len(text), size))


PACKINGS: dict[str, tuple[Callable[[bytes], bytes], bytes]] = {  # and what ends a file
    "gzip": (gzip.compress, b""),
    "bgzip": (by_bgzip, END),
    "bzip2": (bz2.compress, b""),
    "xz": (lzma.compress, b""),
    **({"zstd": (zstd_module().compress, b"")} if zstd_module() else {}),
}


def by_lines(reader: str, head: bytes, unit: bytes) -> bool:
    """Whether the reader takes one line after the other, and so its time."""
    return b"\n" in unit and (reader == "regions" or (reader == "sequences" and b">" in head + unit))


def write_bomb(path: Path, packing: str, head: bytes, unit: bytes, unpacked: int = UNPACKED) -> Path:
    """Write a file that unpacks to a head and a unit again and again."""
    pack, end = PACKINGS[packing]
    text = unit * (MIB // 2 // len(unit))
    first = pack(head) if packing != "bgzip" else block(head) if head else b""
    path.write_bytes(first * bool(head) + pack(text) * (unpacked // len(text)) + end)
    return path


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def read_bounded(number: int, path: Path, answer: Connection) -> None:
    """In a process of its own: read, and tell what came of it and by how much memory grew."""
    for module, name, value in BOUNDS:
        assert hasattr(module, name)
        setattr(module, name, value)
    before, told = resident(), ""
    try:
        READERS[CASES[number][0]](str(path))
    except InputError as error:
        told = str(error)
    answer.send((told, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before))


def run_command(words: list[str], answer: Connection) -> None:
    stopping.exit_on_signals("oclgenomics")
    answer.send("begins")
    answer.send((main(words), time.process_time()))
