"""Files that are neither FASTA nor FASTQ are called what they are, whichever reader meets them."""

from __future__ import annotations

import bz2
import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.foreign_files import FOREIGN

from oclgenomics.errors import InputError, MissingDependencyError
from oclgenomics.io.foreign import ALIGNED, foreign_format, format_name
from oclgenomics.runtime import Engine
from oclgenomics.sequence import letter_blocks, packed_blocks
from oclgenomics.sequence.records import Record, read_records
from oclgenomics.signals.read import signal_format
from oclgenomics.variation import read_alignments

PACKED: dict[str, Callable[[bytes], bytes]] = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress}


@pytest.mark.each_value
@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("name", [name for name in FOREIGN if FOREIGN[name][0] not in ALIGNED])
def test_readers_of_sequences(engine: Engine, tmp_path: Path, name: str, packing: str) -> None:
    called, data = FOREIGN[name]
    path = tmp_path / "x.fastq"
    path.write_bytes(PACKED[packing](data) if not data.startswith(b"\x1f\x8b") else data)
    told = re.escape(f"{path}: is {called}") + r".*, neither FASTA nor FASTQ; [^\n]+$"
    for read in (read_records, lambda path: letter_blocks(engine, [path]), lambda path: packed_blocks(engine, [path])):
        with pytest.raises(InputError, match=told):
            list(read(path))


@pytest.mark.parametrize("name", [name for name in FOREIGN if FOREIGN[name][0] in ALIGNED])
def test_aligned_reads_need_pysam(engine: Engine, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oclgenomics.io.htslib.find_spec", lambda _: None)
    called, data = FOREIGN[name]
    path = tmp_path / "x.fastq"
    path.write_bytes(data)
    told = re.escape(f"{path}: is {called}, which needs the package pysam: pip install 'oclgenomics[bam]', or convert")
    for read in (read_records, lambda path: letter_blocks(engine, [path]), lambda path: packed_blocks(engine, [path])):
        with pytest.raises(MissingDependencyError, match=told + r" it: samtools fastq .*FILE > reads\.fastq"):
            list(read(path))


@pytest.mark.parametrize("name", [name for name in FOREIGN if FOREIGN[name][0] in ALIGNED and name != "unmapped sam"])
def test_damaged_aligned_reads(tmp_path: Path, name: str) -> None:
    pytest.importorskip("pysam", reason="aligned reads are read by pysam")
    called, data = FOREIGN[name]
    path = tmp_path / "x"
    path.write_bytes(data)
    told = re.escape(f"{path}: ") + f"(damaged or truncated {called} |holds no sequence)"
    if name == "sam":  # which is whole
        assert list(read_records(path)) == [Record("r1", b"ACGTACG")]
        return
    with pytest.raises(InputError, match=told):
        list(read_records(path))


@pytest.mark.parametrize("name", FOREIGN)
def test_readers_of_alignments_and_signals(tmp_path: Path, name: str) -> None:
    called, data = FOREIGN[name]
    path = tmp_path / "x"
    path.write_bytes(data)
    if name not in ("vcf", "bcf"):
        with pytest.raises(InputError, match=re.escape(f"x: is {called}") + ".*(call variants first|give ms, MaCS)"):
            list(read_alignments(path))
    if name != "pod5":
        with pytest.raises(InputError, match=re.escape(f"x: is {called}") + ".*, which has no raw signal"):
            signal_format(str(path))


READS = [
    b"@HD\tVN:1.6\nACGT\n+\nIIII\n", b"@SQ\tSN:x\r\nACGT\r\n+\r\nIIII\r\n", b"@CO\tx\nACGT\n+\n@@@@\n", b"@r\n\n+\n\n",
    b">LOCUS       x\nACGT\n", b">r\n" + b"A" * 254 + b"ustar" + b"ACGT" * 5, b"@r" + b"x" * 255 + b"ustar\nA\n+\nI\n",
]  # fmt: skip


@pytest.mark.parametrize("text", READS)
def test_reads_with_odd_names(engine: Engine, tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(text)
    assert foreign_format(text) is None
    assert format_name(text) == ("FASTA" if text.startswith(b">") else "FASTQ")
    assert len(list(read_records(path))) == 1
    assert sum(len(block.names) for block in letter_blocks(engine, [path])) == 1


def test_lists_of_files(tmp_path: Path) -> None:
    (tmp_path / "x.fa").write_bytes(b">r\nACGT\n")
    (tmp_path / "list").write_text(f"{tmp_path / 'x.fa'}\n")
    with pytest.raises(InputError, match="its first line names a file; a list of files is given as @LIST"):
        list(read_records(tmp_path / "list"))
    (tmp_path / "x.fq").write_bytes(b"@r\nACGT\n+\nIIII\n")
    with pytest.raises(InputError, match=r"is FASTQ .reads.; map the reads and call variants first"):
        list(read_alignments(tmp_path / "x.fq"))


@pytest.mark.parametrize(
    "packed", [b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x1f\x9d\x90", b"\x04\x22\x4d\x18", b"LZIP\x01", b"PK\x03\x04"]
)
def test_other_packers(tmp_path: Path, packed: bytes) -> None:
    (tmp_path / "x").write_bytes(packed + bytes(50))
    with pytest.raises(InputError, match=r"x: packed with .*; unpack it, or pack it with gzip or bgzip"):
        list(read_records(tmp_path / "x"))
