"""BAM, CRAM and SAM give what FASTQ of the same reads gives, whichever command reads them."""

from __future__ import annotations

import bz2
import gzip
import os
import pickle
import random
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from helpers.classify_databases import edge_database
from helpers.products import examples
from hypothesis import HealthCheck, example, given, settings, strategies as st

from oclgenomics.classify.database.file import write_database as write_classify_database
from oclgenomics.cli.main import main
from oclgenomics.errors import EmptyInputError, InputError
from oclgenomics.io.htslib import _environment, _local
from oclgenomics.io.source import Source
from oclgenomics.runtime import Device, Engine, diskcache
from oclgenomics.sequence import ReferencedFile, letter_blocks, read_records, with_reference
from oclgenomics.sequence.aligned_reads import fastq_converter
from oclgenomics.sequence.slices import cut_files, cut_inputs

pysam: Any = pytest.importorskip("pysam", reason="aligned reads are read by pysam")

REFERENCE = "".join(random.Random(5).choices("ACGT", k=3000))
PAIRED, UNMAPPED, REVERSE, FIRST, SECOND, SECONDARY, BAD, DUPLICATE, EXTRA = 1, 4, 16, 64, 128, 256, 512, 1024, 2048
TURNED = str.maketrans("ACGTN", "TGCAN")


@dataclass(frozen=True)
class Read:
    """A record: its name, flags, bases and qualities as they are stored, and its place, if it is mapped."""

    name: str
    flag: int
    letters: str
    qualities: tuple[int, ...] | None
    place: int = 0

    @property
    def fastq(self) -> str:
        """The record as FASTQ, by the specification of SAM and what `samtools fastq` says of itself."""
        if self.flag & (SECONDARY | EXTRA):
            return ""
        qualities = "B" * len(self.letters) if self.qualities is None else "".join(chr(33 + q) for q in self.qualities)
        letters = self.letters
        if self.flag & REVERSE:
            letters, qualities = letters.translate(TURNED)[::-1], qualities[::-1]
        mate = {FIRST: "/1", SECOND: "/2"}.get(self.flag & (FIRST | SECOND), "")
        return f"@{self.name}{mate}\n{letters}\n+\n{qualities}\n"


def fastq_of(reads: list[Read]) -> bytes:
    return "".join(read.fastq for read in reads).encode()


def write(path: Path, reads: list[Read], mode: str = "wb", reference: Path | None = None, **options: Any) -> Path:
    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "c", "LN": len(REFERENCE)}]}
    if reference is not None:
        options["reference_filename"] = str(reference)
    with pysam.AlignmentFile(str(path), mode, header=header, **options) as out:
        for read in reads:
            one = pysam.AlignedSegment(out.header)
            one.query_name, one.flag, one.query_sequence = read.name, read.flag, read.letters
            one.query_qualities = None if read.qualities is None else list(read.qualities)
            if not read.flag & UNMAPPED:
                one.reference_id, one.reference_start, one.mapping_quality = 0, read.place, 60
                one.cigarstring = f"{len(read.letters)}M"
            out.write(one)
    return path


def text_of(path: str | os.PathLike[str]) -> bytes:
    with Source(path, converter=fastq_converter(os.fspath(path))) as source:
        return b"".join(source)


def some_reads(count: int = 40, *, pairs: bool = False, seed: int = 1) -> list[Read]:
    rng = random.Random(seed)
    reads = []
    for number in range(count):
        size, place = rng.randint(30, 90), rng.randint(0, 2000)
        letters = REFERENCE[place : place + size]
        flag = rng.choice([0, REVERSE, BAD, DUPLICATE | REVERSE])
        flag |= PAIRED | (SECOND if number % 2 else FIRST) if pairs else rng.choice([0, 0, SECONDARY, EXTRA])
        name = f"r{number // 2 if pairs else number}"
        qualities = None if rng.random() < 0.1 else tuple(rng.choices(range(2, 41), k=size))
        reads.append(Read(name, flag, letters, qualities, place))
    return reads


def drawn_read(name: str, flags: tuple[int, int], letters: str, seed: int) -> Read:
    qualities = tuple(random.Random(seed).choices(range(94), k=len(letters)))
    return Read(name, flags[0] | flags[1], letters, qualities if seed % 5 else None)


NAMES = st.text([chr(code) for code in range(33, 127) if chr(code) != "@"], min_size=1, max_size=30)
FLAGS = st.sampled_from([0, REVERSE, FIRST | PAIRED, SECOND | PAIRED, SECONDARY, BAD, DUPLICATE, EXTRA])
READS = st.lists(
    st.builds(
        drawn_read, NAMES, st.tuples(st.sampled_from([0, UNMAPPED]), FLAGS), st.text("ACGTN", min_size=1, max_size=200),
        st.integers(0, 1 << 30),
    ),
    min_size=1, max_size=30, unique_by=lambda read: read.name,
)  # fmt: skip


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reads=READS, mode=st.sampled_from(["wb", "wbu", "w"]))
@example(reads=[Read("x", 0, "A", (9,))], mode="wb")
@example(reads=[Read("x", 0, "A", (9,))], mode="w")
def test_text_is_the_fastq_of_the_reads(tmp_path: Path, reads: list[Read], mode: str) -> None:
    text = text_of(write(tmp_path / "x", reads, mode))
    if mode == "w":  # in SAM the quality 9 of a single base is written as none is
        reads = [replace(read, qualities=None) if read.qualities == (9,) else read for read in reads]
    assert text == fastq_of(reads)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same reads in all formats, and a reference with its index."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(diskcache.VARIABLE, str(diskcache.cache_folder() or "off"))  # where the programs are
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("REF_PATH", raising=False)
    reads = some_reads()
    (tmp_path / "x.fq").write_bytes(fastq_of(reads))
    write(tmp_path / "x.bam", reads)
    write(tmp_path / "x.sam", reads, "w")
    (tmp_path / "ref.fa").write_text(f">c\n{REFERENCE}\n")
    pysam.faidx("ref.fa")
    write(tmp_path / "x.cram", reads, "wc", tmp_path / "ref.fa")
    write(tmp_path / "embedded.cram", reads, "wc", tmp_path / "ref.fa", format_options=[b"embed_ref=1"])
    write(tmp_path / "old.cram", reads, "wc", tmp_path / "ref.fa", format_options=[b"version=2.1", b"embed_ref=1"])
    (tmp_path / "x.sam.gz").write_bytes(gzip.compress((tmp_path / "x.sam").read_bytes()))
    (tmp_path / "x.sam.bz2").write_bytes(bz2.compress((tmp_path / "x.sam").read_bytes()))
    write(tmp_path / "pairs.bam", some_reads(pairs=True))
    (tmp_path / "pairs.fq").write_bytes(fastq_of(some_reads(pairs=True)))
    return tmp_path


def test_all_formats_whatever_they_are_called(folder: Path) -> None:
    text = (folder / "x.fq").read_bytes()
    (folder / "ref.fa").rename(folder / "other.fa")
    for name in ("x.bam", "x.sam", "x.sam.gz", "x.sam.bz2", "embedded.cram", "old.cram"):
        (folder / "reads.fasta").write_bytes((folder / name).read_bytes())
        assert text_of("reads.fasta") == text, name


def test_references_of_cram(folder: Path) -> None:
    text = (folder / "x.fq").read_bytes()
    (folder / "ref.fa").rename(folder / "other.fa")
    with pytest.raises(InputError, match=r"x\.cram: the reference .* missing, .*give its FASTA file with reference"):
        text_of("x.cram")
    with pytest.raises(InputError, match=r"other\.fa: a reference needs an index next to it; make it: samtools faidx"):
        with_reference(["x.cram"], "other.fa")
    with pytest.raises(InputError, match=r"none\.fa: no such file"):
        with_reference(["x.cram"], "none.fa")
    pysam.faidx("other.fa")
    (name,) = with_reference(["x.cram"], "other.fa")
    assert name == "x.cram"
    assert text_of(name) == text
    assert text_of(pickle.loads(pickle.dumps(name))) == text
    (folder / "wrong.fa").write_text(f">c\n{REFERENCE[::-1]}\n")
    pysam.faidx("wrong.fa")
    with pytest.raises(InputError, match=r"x\.cram: the reference that this CRAM was made with is missing, or another"):
        text_of(ReferencedFile("x.cram", "wrong.fa"))


def test_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("REF_PATH", "/a/%2s/%s:http://www.ebi.ac.uk:80/ena/cram/md5/%s")
    found = _environment()
    assert found["REF_PATH"] == "/a/%2s/%s"
    assert "no_proxy" not in found
    assert all(found[name].startswith("http://127.0.0.1") for name in ("http_proxy", "https_proxy", "ALL_PROXY"))
    monkeypatch.delenv("REF_PATH")
    assert "//" not in _environment()["REF_PATH"]
    assert _local("refs/%s:/x/%s") == "refs/%s:/x/%s"
    assert _local("URL=https://x/%s") == os.devnull


def test_records_of_no_use(folder: Path) -> None:
    write(folder / "none.bam", [])
    with pytest.raises(EmptyInputError, match=r"none\.bam: holds no sequence"):
        list(read_records("none.bam"))
    write(folder / "none.bam", [Read("r", SECONDARY, "ACGT", None)])
    with pytest.raises(EmptyInputError, match=r"none\.bam: holds no sequence"):
        list(read_records("none.bam"))


@pytest.mark.parametrize("name", ["x.bam", "embedded.cram"])
def test_cut_and_damaged_files(engine: Engine, folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    marker = 28 if name == "x.bam" else 38
    (folder / "cut").write_bytes(data[:-marker])
    with pytest.raises(InputError, match=r"^cut: the (BAM|CRAM) ends without its end marker .a truncated file.*$"):
        text_of("cut")
    for size in (len(data) // 2, len(data) - marker - 9):
        (folder / "cut").write_bytes(data[:size])
        with pytest.raises(InputError, match=r"^cut: damaged or truncated (BAM|CRAM)[^\n]*; fetch the file again$"):
            list(letter_blocks(engine, ["cut"]))


def test_a_name_with_a_line_break_adds_no_read(folder: Path) -> None:
    write(folder / "odd.bam", [Read("ab", 0, "ACGT", (9, 9, 9, 9))])
    text = pysam.BGZFile(str(folder / "odd.bam")).read()
    with pysam.BGZFile(str(folder / "odd.bam"), "wb") as out:
        out.write(text.replace(b"ab\0", b"a\n\0"))
    with pytest.raises(InputError, match=r"odd\.bam: a read has several records .* holds a line break"):
        text_of("odd.bam")


def test_records_that_samtools_would_drop_are_told(folder: Path) -> None:
    write(folder / "twice.bam", [Read("r", 0, "ACGT", None), Read("r", 0, "GGGG", None)])
    with pytest.raises(InputError, match=r"twice\.bam: a read has several records next to each other"):
        text_of("twice.bam")


def test_pipes_and_progress(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (folder / "x.fq").read_bytes()
    os.mkfifo("pipe")
    data = (folder / "x.bam").read_bytes()
    writer = threading.Thread(target=(folder / "pipe").write_bytes, args=(data,))
    writer.start()
    assert text_of("pipe") == text
    writer.join()
    told: list[tuple[int, int | None]] = []
    with Source("x.bam", progress=lambda *numbers: told.append(numbers), converter=fastq_converter("x.bam")) as source:
        assert b"".join(source) == text
    assert told[-1] == (len(data), len(data))
    with open("x.bam", "rb") as file:

        class Standard:
            buffer = file

        monkeypatch.setattr("sys.stdin", Standard())
        assert text_of("-") == text


def test_readers_that_stop_early(folder: Path) -> None:
    write(folder / "long.bam", some_reads(20000))
    with Source("long.bam", converter=fastq_converter("long.bam")) as source:
        assert next(iter(source)).startswith(b"@r")


def test_files_are_not_cut(folder: Path) -> None:
    for name in ("x.bam", "x.cram", "x.sam"):
        named = ReferencedFile(name, "ref.fa")
        parts = [cut_files([named], number, 3) for number in (1, 2, 3)]
        assert parts == [[name], [], []]
        assert parts[0][0] is named
    assert cut_inputs([("x.bam", "x.sam")], 1, 2) == [("x.bam", "x.sam")]
    assert cut_inputs([("x.bam", "x.sam")], 2, 2) == []


def same_outputs(folder: Path, device: Device, words: list[str], *inputs: list[str]) -> None:
    """The outputs of a command for files, and for others of the same reads, but for what names them."""
    found = []
    for names in inputs:
        assert main([*(word for one in words for word in (names if one == "{}" else [one])),
                     "-d", str(device.index), "-o", "out"]) == 0  # fmt: skip
        data = (folder / "out").read_bytes()
        found.append([line for line in data.split(b"\n") if not line.startswith(b"#")])
    assert all(one == found[0] for one in found)


def test_commands(device: Device, folder: Path) -> None:
    names = ["x.bam", "x.sam", "x.cram"]
    inputs = [["x.fq"], *([name, "--reference", "ref.fa"] for name in names)]
    for more in ([], ["--min-quality", "20"]):
        same_outputs(folder, device, ["kmers", "count", "{}", "-k", "11", *more], *inputs)
    assert main(["kmers", "count", "ref.fa", "-k", "11", "-d", str(device.index), "-o", "db"]) == 0
    same_outputs(folder, device, ["kmers", "filter", "db", "{}", "--min-fraction", "0.5"], *inputs)
    (folder / "panel.fa").write_text(f">s\n{REFERENCE[500:520]}\n>t\n{REFERENCE[900:925]}\n")
    scan = ["signatures", "scan", "{}", "panel.fa", "--max-mismatch", "2", "--format", "tsv", "--report", "all"]
    same_outputs(folder, device, scan, ["x.fq"], ["x.bam"], ["x.sam"], ["embedded.cram"])
    write_classify_database(folder / "edge", edge_database())
    same_outputs(folder, device, ["classify", "query", "edge", "{}"], *inputs)
    outputs = []
    for name in ("x.fq", *names):
        assert main(["kmers", "query", "db", "--file", name, "--counts", "-o", "out"]) == 0
        outputs.append((folder / "out").read_bytes())
    assert all(one == outputs[0] for one in outputs)


@pytest.mark.one_cpu
def test_commands_that_count_on_the_way_take_the_reference_of_cram(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ref.fa", "ref.fa.fai"):  # so that CRAM does not find it by the name that it has of it
        (folder / name).rename(folder / name.replace("ref", "moved"))
    for command in (
        ["kmers", "histogram", "{}", "-k", "11"],
        ["kmers", "matrix", "{}", "-k", "11"],
        ["kmers", "matrix", "moved.fa", "--only", "{}", "-k", "11"],
        ["kmers", "count", "moved.fa", "--only", "{}", "-k", "11"],
    ):
        with_reference = ["--reference", "moved.fa"]
        if command[1] == "matrix" and command[2] == "{}":
            same_outputs(folder, device, command, ["s=x.cram", *with_reference], ["s=x.fq"])
        else:
            same_outputs(folder, device, command, ["x.cram", *with_reference], ["x.fq"])
        words = [word.replace("{}", "x.cram") for word in command]
        capsys.readouterr()
        assert main([*words, "-d", str(device.index), "-o", "out"]) == 3
        assert "give its FASTA file with --reference" in capsys.readouterr().err


def test_references_of_a_database_are_no_aligned_reads(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, format in (("x.bam", "BAM"), ("x.sam", "SAM"), ("embedded.cram", "CRAM"), ("x.fq", "FASTQ")):
        assert main(["classify", "build", "out", name, "-d", str(device.index)]) == 3
        assert f"{name}: is {format}, which reads are in; references are FASTA" in capsys.readouterr().err


def test_pairs(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_classify_database(folder / "edge", edge_database())
    pairs = some_reads(pairs=True)
    for number in (0, 1):
        write(folder / f"{number + 1}.bam", pairs[number::2])
        (folder / f"{number + 1}.fq").write_bytes(fastq_of(pairs[number::2]))
    words = ["classify", "query", "edge", "{}", "--hitmin", "1"]
    same_outputs(folder, device, words, ["pairs.bam", "--interleaved"], ["pairs.fq", "--interleaved"])
    same_outputs(folder, device, words, ["--paired", "1.bam", "2.bam"], ["--paired", "1.fq", "2.fq"])
    write(folder / "sorted.bam", sorted(pairs, key=lambda read: read.place))
    write(folder / "odd.bam", pairs[:-1])
    capsys.readouterr()
    for name in ("sorted.bam", "odd.bam"):
        line = ["classify", "query", "edge", name, "--interleaved", "-d", str(device.index), "-o", "out"]
        assert main(line) == 3
        assert "group them, samtools collate -u -o NEW.bam FILE" in capsys.readouterr().err


def test_pieces(device: Device, folder: Path) -> None:
    count = ["kmers", "count", "x.bam", "x.fq", "-k", "11", "-d", str(device.index)]
    assert main([*count, "-o", "whole"]) == 0
    for number in (1, 2, 3):
        assert main([*count, "--shard", f"{number}/3", "-o", f"{number}.piece"]) == 0
    assert main(["kmers", "combine", "1.piece", "2.piece", "3.piece", "-o", "combined"]) == 0
    assert (folder / "combined").read_bytes() == (folder / "whole").read_bytes()
