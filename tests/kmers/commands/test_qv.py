"""`kmers qv`: its tables, tracks and figure on assemblies with known errors, and what it refuses."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import random_set, set_of, write_database

from oclgenomics import kmers
from oclgenomics.cli.main import main
from oclgenomics.errors import UsageError
from oclgenomics.kmers import CountOptions, QualityOptions, count_to_database, read_spectrum, reference
from oclgenomics.kmers.database.kmer_set import CountedKmers
from oclgenomics.runtime import Device, Engine

K, COVERAGE = 15, 20
ERRORS = (100, 300, 305, 900)  # substitutions: the second and the third share k-mers
BASES = np.frombuffer(b"ACGT", np.uint8)


def spelled(codes: np.ndarray) -> bytes:
    return BASES[codes].tobytes()


def genome() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 4, 1500)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of reads that are a genome twenty times over, and assemblies of it."""
    made = tmp_path_factory.mktemp("qv")
    whole = genome()
    text = b"".join(b">r\n%b\n" % spelled(whole) for _ in range(COVERAGE)) + b">wrong\n%b\n" % spelled(whole[::-1])
    write_database(made / "reads.db", set_of(reference.count([text], CountOptions(K)), K))
    own = whole[:1200].copy()
    own[list(ERRORS)] = (own[list(ERRORS)] + 1) % 4
    lower = spelled(own[400:]).lower()
    first = b">one x\n%b\n>gap\n%bNNN\n>none\nACGT\n>end\n%b\n" % (spelled(own[:400]), lower[:300], lower[300:])
    (made / "one.fa").write_bytes(first)
    (made / "one.fa.gz").write_bytes(gzip.compress(first))
    (made / "two.fasta").write_bytes(b">both\n%b\n>again\n%b\n" % (spelled(whole[1100:]), spelled(whole[:50])))
    return made


@pytest.fixture(autouse=True)
def _there(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)


def qv(*words: object) -> int:
    return main(["kmers", "qv", *map(str, words)])


def table(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def expected_of(*names: str) -> reference.Assessment:
    reads = {record["kmer"]: record["count"] for record in kmers.KmerDatabase.open("reads.db").records()}
    return reference.assess(b"".join(Path(name).read_bytes() for name in names), reads, K)


def test_known_errors_are_all_that_is_found(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    """Each substitution makes k wrong k-mers, and two that are 5 bases apart make k + 5 together."""
    outputs = ["--per-sequence", "seq.tsv", "--hist", "x.hist", "--bed", "x.bed", "--wig", "x.wig.gz"]
    assert qv("one.fa.gz", "reads.db", "-d", device.index, *outputs, "--min-solid", COVERAGE) == 0
    shown = capsys.readouterr()
    head, row = table(shown.out)
    only = 2 * K + K + 5
    assert head[:4] == ["assembly", "assembly_only", "kmers", "qv"]
    assert row[:2] == ["one", str(only)]
    total = 3 * (1 - K) + 1200
    error = 1 - (1 - only / total) ** (1 / K)
    assert int(row[2]) == total
    assert float(row[3]) == pytest.approx(-10 * np.log10(error), rel=1e-8)
    assert float(row[4]) == pytest.approx(error, rel=1e-8)
    expected = expected_of("one.fa")
    assert [line[1:4] for line in table(Path("seq.tsv").read_text())[1:]] == [
        [name, str(wrong), str(all_)] for name, wrong, all_ in expected.sequences
    ]
    assert table(Path("seq.tsv").read_text())[3][4:] == ["NA", "NA"]
    solid = {copies: n for copies, n in expected.copies.items() if copies[1] >= COVERAGE}
    found = sum(n for (copies, _), n in solid.items() if copies)
    assert row[5:7] == [str(found), str(sum(solid.values()))]
    assert float(row[7]) == pytest.approx(100 * found / sum(solid.values()), rel=1e-8)
    names = ["read-only", "1", "2", "3", "4", ">4"]
    lines = [f"{names[copies]}\t{count}\t{n}\n" for (copies, count), n in sorted(expected.copies.items())]
    assert Path("x.hist").read_text() == "Copies\tkmer_multiplicity\tCount\n" + "".join(lines)
    assert Path("x.bed").read_text() == "".join(f"{name}\t{p}\t{p + K}\n" for name, p in expected.places)
    wig = gzip.decompress(Path("x.wig.gz").read_bytes()).decode().splitlines()
    assert [line for line in wig if line.startswith("v")] == [
        f"variableStep chrom={name}" for name, *_ in expected.sequences
    ]
    assert sum(int(line.split("\t")[1]) for line in wig if not line.startswith("v")) == only * K
    assert "in no read; completeness" in shown.err


def test_two_assemblies_and_both(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["one.fa", "two.fasta", "reads.db", "-d", device.index, "--json", "--bed", "x#.bed", "--hist", "h", "-q"]
    assert qv(*words, "--plot", "x.png", "--wig", "x#.wig") == 0
    report = json.loads(capsys.readouterr().out)
    rows = report["assemblies"]
    assert [row["assembly"] for row in rows] == ["one", "two", "both"]
    for row, names in zip(rows, (["one.fa"], ["two.fasta"], ["one.fa", "two.fasta"]), strict=True):
        expected = expected_of(*names)
        assert row["assembly_only"] == len(expected.places)
        assert row["distinct_only"] == expected.distinct_only
        assert row["kmers"] == sum(kmers for *_, kmers in expected.sequences)
        found = {(copies, count): n for copies, count, n in row["spectrum"]}
        names_of = ["read-only", "1", "2", "3", "4", ">4"]
        assert found == {(names_of[copies], count): n for (copies, count), n in expected.copies.items()}
    assert (rows[1]["qv"], rows[1]["error"]) == (None, 0)
    assert "sequences" not in rows[2]
    assert [each["sequence"] for each in rows[1]["sequences"]] == ["both", "again"]
    assert Path("x_1.bed").read_text() == "".join(f"{name}\t{p}\t{p + K}\n" for name, p in expected_of("one.fa").places)
    assert Path("x_2.bed").read_bytes() == b""
    assert Path("x_2.wig").read_text() == "variableStep chrom=both\nvariableStep chrom=again\n"
    assert Path("x.png").read_bytes().startswith(b"\x89PNG")


def test_tracks_of_two_assemblies_in_one_file(engine: Engine) -> None:
    report = kmers.qv(["two.fasta", "one.fa"], "reads.db", QualityOptions(2), engine=engine, wig="x.wig")
    heads = [line.split("=")[1] for line in Path("x.wig").read_text().splitlines() if line.startswith("v")]
    assert heads == ["both", "again", "one", "gap", "none", "end"]
    assert report.to_frame().shape == (3, 8)
    assert report.whole.sequences is None
    assert "AssemblyQuality('two', qv=inf" in repr(report.assemblies[0])


def test_standard_input_is_the_same_as_a_file(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(name: str, output: str) -> list[list[str]]:
        assert qv(name, "reads.db", "-d", device.index, "--per-sequence", output, "-q", "-o", "out.tsv") == 0
        return [line[1:] for line in table(Path(output).read_text())] + [table(Path("out.tsv").read_text())[1][1:]]

    expected = read("one.fa", "file.tsv")
    for text in (Path("one.fa").read_bytes(), Path("one.fa.gz").read_bytes()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert read("-", "stdin.tsv") == expected


def test_errors_name_standard_input(
    device: Device, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"this is no FASTA\n")))
    assert qv("-", "reads.db", "-d", device.index, "-q", "--bed", "x.bed") == 3
    assert capsys.readouterr().err.startswith("oclgenomics: error: standard input: ")
    assert not Path("x.bed").exists()


def test_reads_without_a_peak_have_no_solid_kmers(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    write_database(Path("few.db"), set_of({"AAAAC": 1, "ACGTA": 2}, 5))
    Path("x.fa").write_bytes(b">x\nACGTAAAAC\n")
    assert qv("x.fa", "few.db", "-d", device.index) == 0
    shown = capsys.readouterr()
    assert table(shown.out)[1] == ["x", "3", "5", cell(shown.out, 3), cell(shown.out, 4), "NA", "NA", "NA"]
    assert "completeness is not known" in shown.err


def test_solid_kmers_are_those_behind_the_valley(engine: Engine) -> None:
    rng = np.random.default_rng(1)
    made = random_set(12, 6_000)
    genuine = np.maximum(rng.poisson(30, made.distinct), 5)
    counts = np.where(rng.random(made.distinct) < 0.5, rng.integers(1, 3, made.distinct), genuine).astype(np.uint32)
    reads = CountedKmers(12, True, made.keys, counts)
    texts = [record["kmer"] for record in reads.records()]
    Path("x.fa").write_text("".join(f">x{number}\n{text}\n" for number, text in enumerate(texts[::3])))
    report = kmers.qv("x.fa", reads, engine=engine)
    valley = read_spectrum(kmers.histogram(reads), 12).valley
    assert valley is not None
    assert 2 <= valley < 5 <= genuine.min()
    assert report.min_solid == valley + 1
    assert (report.whole.solid, report.whole.solid_found) == (
        np.count_nonzero(counts > valley), np.count_nonzero(counts[::3] > valley),
    )  # fmt: skip


def cell(text: str, column: int) -> str:
    return table(text)[1][column]


def test_databases_that_lack_kmers(engine: Engine, device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    Path("reads.fa").write_bytes(b">r\n" + spelled(genome()) + b"\n>s\n" + spelled(genome()[:700]) + b"\n")
    count_to_database("reads.fa", CountOptions(K, min_count=2), "rare.db", engine=engine)
    assert qv("two.fasta", "rare.db", "-d", device.index) == 2
    assert "counts from 2 to" in capsys.readouterr().err
    assert qv("two.fasta", "rare.db", "-d", device.index, "--lower-bound", "--json") == 0
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["lower_bound"] is True
    assert "QVs are lower bounds: the reads' k-mers have counts from 2" in report["notes"][-1]
    assert report["assemblies"][0]["assembly_only"] == 400 - K + 1
    assert "QV at least" in shown.err


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        (["one.fa"], 2, "required: DB"),
        (["one.fa", "two.fasta", "one.fa.gz", "reads.db"], 2, "3 assemblies were given"),
        (["reads.db", "one.fa"], 3, "no k-mer database"),
        (["reads.db", "reads.db"], 2, "reads.db is a database"),
        (["-", "-", "reads.db"], 2, "standard input (-) can be read once"),
        (["one.fa", "strands.db"], 2, "count canonical k-mers"),
        (["one.fa", "reads.db", "--bed", "reads.db"], 2, "reads.db"),
        (["one.fa", "reads.db", "--plot", "x.txt"], 2, ".png, .svg or .pdf"),
        (["one.fa", "reads.db", "--min-solid", "0"], 2, "--min-solid 0"),
        (["gone.fa", "reads.db"], 3, "gone.fa: no such file"),
        (["one.fa", "reads.db", "--wig", "/nowhere/x"], 5, "there is no folder /nowhere"),
    ],
)
def test_mistakes(words: list[str], status: int, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_database(Path("strands.db"), set_of({"AAAAC": 1}, 5, canonical=False))
    assert qv(*words, "-q") == status
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert part in line


def test_an_output_that_is_an_input(engine: Engine) -> None:
    before = Path("one.fa").read_bytes()
    with pytest.raises(UsageError, match=r"one\.fa"):
        kmers.qv("one.fa", "reads.db", engine=engine, bed="one.fa")
    assert Path("one.fa").read_bytes() == before
