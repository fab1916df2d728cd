"""Counts and those of KMC and Jellyfish, QVs and those of Merqury, where they are installed."""

from __future__ import annotations

import gzip
import itertools
import lzma
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from helpers.devices import devices_under_test
from helpers.products import only_whole

from oclgenomics.kmers import CountOptions, FilterOptions, count, count_to_database, filter_reads, qv
from oclgenomics.kmers.formats import copy_table, quality_table, sequence_table
from oclgenomics.runtime import Engine

GENOMES = sorted(Path("/usr/share/doc/kleborate/examples/data").glob("*.fna.xz"))
KS = (21, 31, 32, 33, 55, 128, *only_whole(15, 28, 40, 65))
BASES = np.frombuffer(b"ACGT", np.uint8)


def reads_text(*, fastq: bool) -> bytes:
    """Reads of a small genome with errors, N, lower case and lines of any length."""
    rng = np.random.default_rng(8)
    genome = BASES[rng.integers(0, 4, 3000)]
    records = []
    for number in range(120):
        length = int(rng.integers(20, 400))
        begin = int(rng.integers(0, len(genome) - length))
        read = genome[begin : begin + length].copy()
        wrong = rng.random(length) < 0.01
        read[wrong] = np.frombuffer(b"ACGTN", np.uint8)[rng.integers(0, 5, int(wrong.sum()))]
        text = read.tobytes() if number % 3 else read.tobytes().lower()
        if fastq:
            records.append(b"@r%d\n%b\n+\n%b\n" % (number, text, b"I" * length))
        else:
            width = int(rng.integers(30, 120))
            lines = [text[i : i + width] for i in range(0, length, width)]
            records.append(b">r%d\n%b\n" % (number, b"\n".join(lines)))
    return b"".join(records)


def own_counts(engine: Engine, path: Path, k: int, *, canonical: bool, min_quality: int | None = None) -> list[str]:
    counted = count([path], CountOptions(k, canonical=canonical), engine=engine, min_quality=min_quality)
    return [f"{record['kmer']} {record['count']}" for record in counted.records()]


@pytest.fixture(scope="module")
def engines() -> Iterator[list[Engine]]:
    """One for each device: KMC takes some seconds, so each of its runs is for all of them."""
    with ExitStack() as stack:
        yield [stack.enter_context(Engine(device)) for device in devices_under_test()]


def run(*command: object) -> str:
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(shutil.which("kmc") is None, reason="KMC is not installed (Debian package kmc)")
@pytest.mark.each_value
@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("canonical", [True, False])
def test_counts_of_kmc(engines: list[Engine], tmp_path: Path, k: int, canonical: bool) -> None:
    path, fastq = tmp_path / "reads.gz", k % 2 == 1
    path.write_bytes(gzip.compress(reads_text(fastq=fastq)))
    options = [f"-k{k}", "-ci1", "-cs1000000", "-m2", "-t1", "-fq" if fastq else "-fm", *([] if canonical else ["-b"])]
    run("kmc", *options, path, tmp_path / "kmc", tmp_path)
    run("kmc_tools", "transform", tmp_path / "kmc", "dump", "-s", tmp_path / "kmc.txt")
    expected = (tmp_path / "kmc.txt").read_text().replace("\t", " ").splitlines()
    assert expected
    for engine in engines:
        assert own_counts(engine, path, k, canonical=canonical) == expected


@pytest.mark.skipif(shutil.which("kmc_tools") is None, reason="KMC is not installed (Debian package kmc)")
@pytest.mark.parametrize(
    ("k", "counts", "reads", "options"),
    [
        (31, (1, 1000), ("1", "1000000000"), FilterOptions()),
        (21, (2, 1000), ("40", "100"), FilterOptions(min_kmers=40, max_kmers=100, min_count=2, max_count=1000)),
        (40, (1, 3), ("0.5", "0.9"), FilterOptions(min_fraction=0.5, max_fraction=0.9, max_count=3)),
    ],
)
def test_reads_that_kmc_tools_keeps(
    engines: list[Engine],
    tmp_path: Path,
    k: int,
    counts: tuple[int, int],
    reads: tuple[str, str],
    options: FilterOptions,
) -> None:
    """Reads without N and in upper case: with these the programs count windows in other ways."""
    lines = reads_text(fastq=True).upper().replace(b"N", b"A").split(b"\n")
    half, whole = tmp_path / "half.fq", tmp_path / "reads.fq"
    half.write_bytes(b"\n".join(lines[: 4 * 60]) + b"\n")
    whole.write_bytes(b"\n".join(lines))
    run("kmc", f"-k{k}", "-ci1", "-cs1000000", "-m2", "-t1", "-fq", half, tmp_path / "kmc", tmp_path)
    bounds = [f"-ci{counts[0]}", f"-cx{counts[1]}"], [f"-ci{reads[0]}", f"-cx{reads[1]}"]
    run("kmc_tools", "-t1", "filter", tmp_path / "kmc", *bounds[0], whole, *bounds[1], tmp_path / "kept.fq")
    expected = (tmp_path / "kept.fq").read_bytes()
    assert 0 < len(expected) < whole.stat().st_size
    for engine in engines:
        kmers = count([half], CountOptions(k), engine=engine)
        filter_reads(kmers, whole, tmp_path / "own.fq", options, engine=engine)
        assert (tmp_path / "own.fq").read_bytes() == expected


@pytest.mark.skipif(shutil.which("jellyfish") is None, reason="Jellyfish is not installed (Debian package jellyfish)")
@pytest.mark.each_value
@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("canonical", [True, False])
def test_counts_of_jellyfish(engine: Engine, tmp_path: Path, k: int, canonical: bool) -> None:
    path = tmp_path / "reads.fa"
    path.write_bytes(reads_text(fastq=False))
    run("jellyfish", "count", "-m", k, "-s", "1M", *(["-C"] if canonical else []), "-o", tmp_path / "jf", path)
    run("jellyfish", "dump", "-c", "-o", tmp_path / "jf.txt", tmp_path / "jf")
    expected = sorted((tmp_path / "jf.txt").read_text().splitlines())
    assert expected
    assert own_counts(engine, path, k, canonical=canonical) == expected


@pytest.mark.skipif(shutil.which("jellyfish") is None, reason="Jellyfish is not installed (Debian package jellyfish)")
@pytest.mark.parametrize("min_quality", [2, 20, 40])
def test_letters_of_little_quality_as_jellyfish_has_it(engine: Engine, tmp_path: Path, min_quality: int) -> None:
    rng = np.random.default_rng(min_quality)
    lines = reads_text(fastq=True).split(b"\n")
    for i in range(3, len(lines), 4):
        lines[i] = (33 + np.minimum(rng.integers(0, 300, len(lines[i])), 41)).astype(np.uint8).tobytes()
    path = tmp_path / "reads.fq"
    path.write_bytes(b"\n".join(lines))
    quality = ["--min-quality", min_quality, "--quality-start", 33]
    run("jellyfish", "count", "-m", 9, "-s", "1M", "-C", *quality, "-o", tmp_path / "jf", path)
    run("jellyfish", "dump", "-c", "-o", tmp_path / "jf.txt", tmp_path / "jf")
    expected = sorted((tmp_path / "jf.txt").read_text().splitlines())
    assert expected
    assert own_counts(engine, path, 9, canonical=True, min_quality=min_quality) == expected


@pytest.mark.skipif(len(GENOMES) != 4, reason="the genomes are not installed (Debian package kleborate-examples)")
def test_klebsiella_genomes(engine: Engine, tmp_path: Path) -> None:
    """31-mers as KMC, Gerbil and Jellyfish count them."""
    paths = [tmp_path / path.stem for path in GENOMES]
    for packed, path in zip(GENOMES, paths, strict=True):
        path.write_bytes(lzma.decompress(packed.read_bytes()))
    counted = count(paths, CountOptions(31), engine=engine)
    once = int((counted.counts == 1).sum())
    assert (counted.distinct, once, counted.total, counted.counts.max()) == (8_143_533, 2_429_810, 22_236_082, 48)


# Merqury

TRACKS = ("bed", "wig")
MERQURY = os.environ.get("MERQURY", "")  # the folder of its scripts
# What its `spectra-cn.sh` (2024-06-28, with meryl 1.4.2) writes of the files of `write_assemblies`.
MERQURY_QV = """\
asm1	195	12520	31.2655	0.000747228
asm2	65	10520	35.3004	0.000295093
Both	260	23040	32.6738	0.000540277
"""
MERQURY_COMPLETENESS = """\
asm1	all	11221	12236	91.7048
asm2	all	9434	12236	77.1004
both	all	12058	12236	98.5453
"""
MERQURY_SEQUENCES = """\
a	64	4980	32.106	0.000615748
b	109	6980	31.254	0.000749208
gap	22	560	27.1973	0.00190667
a	64	9950	35.1253	0.000307235
b	0	10	inf	0
gap	1	560	40.7004	8.51064e-05
"""


def write_assemblies(folder: Path) -> None:
    """Reads with errors of two haplotypes, and an assembly of each with errors, in some sequences."""
    rng, letters = np.random.default_rng(7), np.frombuffer(b"ACGT", np.uint8)

    def changed(codes: np.ndarray, errors: int) -> np.ndarray:
        own, places = codes.copy(), rng.choice(len(codes), errors, replace=False)
        own[places] = (own[places] + 1) % 4
        return own

    one = rng.integers(0, 4, 12_000)
    one[9_000:9_500] = one[2_000:2_500]  # twice
    other = changed(one, 40)
    with (folder / "reads.fa").open("wb") as stream:
        for number in range(2_400):
            codes = (one, other)[number % 2]
            at = int(rng.integers(0, len(codes) - 150))
            read = changed(codes[at : at + 150], int(rng.random() < 0.4))
            stream.write(b">%d\n%b\n" % (number, letters[read if number % 3 else 3 - read[::-1]].tobytes()))
    for name, codes, errors, cut in (("asm1", one, 9, 5_000), ("asm2", other[:10_000], 3, 9_970)):
        text = letters[changed(codes, errors)].tobytes()
        gap = text[:300] + b"NNNNN" + text[500:800].lower()
        (folder / f"{name}.fasta").write_bytes(b">a\n%b\n>b\n%b\n>gap\n%b\n" % (text[:cut], text[cut:], gap))


def rows_of(table: str) -> list[list[str]]:
    """The rows of a table."""
    return [line.split("\t") for line in table.splitlines() if not line.startswith("#")][1:]


def rounded(row: list[str]) -> str:
    """A row in as many digits as awk writes."""
    return "\t".join(text if text.isdigit() else f"{float(text):.6g}" for text in row)


def assessed(folder: Path, engine: Engine) -> tuple[str, str, str]:
    """What `kmers qv` writes of them, in the columns and digits of Merqury."""
    count_to_database([folder / "reads.fa"], CountOptions(21), folder / "reads.db", engine=engine)
    assemblies, tracks = [folder / "asm1.fasta", folder / "asm2.fasta"], [folder / f"own#.{end}" for end in TRACKS]
    report = qv(assemblies, folder / "reads.db", bed=tracks[0], wig=tracks[1], engine=engine)
    (folder / "own.hist").write_text(copy_table(report.whole))
    rows = rows_of(quality_table(report, {}))
    tables = [[*row[:1], rounded(row[1:5])] for row in rows], [[row[0], "all", rounded(row[5:])] for row in rows]
    tables[0][2][0] = "Both"
    sequences = [[row[1], rounded(row[2:])] for row in rows_of(sequence_table(report, {}))]
    quality, completeness, each = (
        "".join("\t".join(row) + "\n" for row in table) for table in (*tables, sequences)
    )  # fmt: skip
    return quality, completeness, each


def test_qv_and_completeness_have_the_digits_of_merqury(engines: list[Engine], tmp_path: Path) -> None:
    write_assemblies(tmp_path)
    for engine in engines:
        assert assessed(tmp_path, engine) == (MERQURY_QV, MERQURY_COMPLETENESS, MERQURY_SEQUENCES)


@pytest.mark.skipif(
    not MERQURY or shutil.which("meryl") is None,
    reason="Merqury, which no package has, is not here: MERQURY names no folder",
)
def test_merqury_writes_the_same(engines: list[Engine], tmp_path: Path) -> None:
    write_assemblies(tmp_path)
    command = "meryl count threads=1 memory=1 k=21 reads.fa output reads.meryl && "
    command += "bash $MERQURY/eval/spectra-cn.sh reads.meryl asm1.fasta asm2.fasta out"
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    each = "".join((tmp_path / f"out.asm{number}.qv").read_text() for number in (1, 2))
    theirs = *((tmp_path / f"out.{name}").read_text() for name in ("qv", "completeness.stats")), each
    assert theirs == assessed(tmp_path, engines[0])
    assert (tmp_path / "own.hist").read_text() == (tmp_path / "out.spectra-cn.hist").read_text()
    for number, end in itertools.product((1, 2), TRACKS):
        own, their = tmp_path / f"own_{number}.{end}", tmp_path / f"asm{number}_only.{end}"
        assert own.read_bytes() == their.read_bytes()
