"""`oclgenomics kmers` but for counting: outputs whole or absent, one line and the right exit code for a mistake."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import GOLDEN, A, C, pairs_of, random_set, set_of, write_database

from oclgenomics.cli.main import main
from oclgenomics.kmers.device.reader import KmerDatabase

PAIRS_A = pairs_of(GOLDEN[0][3], 5)


@pytest.fixture
def golden(tmp_path: Path) -> str:
    """A database of golden set A."""
    return str(write_database(tmp_path / "a.kmers", set_of(PAIRS_A, 5)))


def kmers(*words: object) -> int:
    return main(["kmers", *map(str, words)])


def fails(capsys: pytest.CaptureFixture[str], status: int, *words: object) -> str:
    """The one line that a mistake gives."""
    assert kmers(*words) == status
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert line.startswith("oclgenomics: error: ")
    return line


# dump


@pytest.mark.parametrize(("text", "k", "canonical", "expected"), GOLDEN)
def test_dump_of_golden_sets(
    text: bytes, k: int, canonical: bool, expected: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    pairs = pairs_of(expected, k)
    assert kmers("dump", write_database(tmp_path / "x", set_of(pairs, k, canonical))) == 0
    found = capsysbinary.readouterr().out.decode()
    assert found == "".join(f"{w}\t{c}\n" for w, c in pairs.items())


def test_dump_filters_into_a_file(golden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a.fa"
    assert kmers("dump", golden, "--format", "fasta", "--min-count", 2, "--max-count", 2, "-o", out) == 0
    assert out.read_text() == ">2\nACATG\n>2\nATGTA\n"
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", f"oclgenomics: wrote {out}\n")


def test_dump_as_jellyfish_writes_columns(golden: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert kmers("dump", golden, "--format", "jellyfish") == 0
    assert capsys.readouterr().out == "".join(f"{kmer} {count}\n" for kmer, count in PAIRS_A.items())


def test_dump_as_arrays(golden: str, tmp_path: Path) -> None:
    assert kmers("dump", golden, "--format", "npz", "-o", tmp_path / "a.npz", "-q") == 0
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["keys"].tolist() == [[55, 72, 78, 222, 236, 241, 492, 572, 944]]
        assert arrays["counts"].tolist() == list(PAIRS_A.values())


def test_dump_as_parquet(golden: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    assert kmers("dump", golden, "--format", "parquet", "-o", tmp_path / "a.parquet", "-q") == 0
    table = parquet.read_table(tmp_path / "a.parquet")
    assert dict(zip(table["kmer"].to_pylist(), table["count"].to_pylist(), strict=True)) == PAIRS_A


@pytest.mark.skipif(shutil.which("kmc_dump") is None, reason="KMC's tools are not installed (package kmc)")
def test_dump_for_kmc(golden: str, tmp_path: Path) -> None:
    assert kmers("dump", golden, "--format", "kmc", "-o", tmp_path / "a", "-q") == 0
    subprocess.run(["kmc_dump", tmp_path / "a", tmp_path / "text"], check=True, capture_output=True, timeout=60)
    assert (tmp_path / "text").read_text() == "".join(f"{w}\t{c}\n" for w, c in PAIRS_A.items())


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        (["--format", "xml"], 2, "choose one of tsv, jellyfish, fasta, npz, kmc, fastk, parquet"),
        (["--format", "kmc"], 2, "-o OUT makes OUT.kmc_pre and OUT.kmc_suf"),
        (["--format", "fastk"], 2, "-o OUT makes OUT.ktab and .OUT.ktab.1"),
        (["--min-count", "3", "--max-count", "2"], 2, "take 1 <= min <= max"),
        (["-o", "/nowhere/x"], 5, "there is no folder /nowhere"),
        (["--loud"], 2, "unknown arguments: --loud"),
    ],
)
def test_mistakes_of_dump(
    words: list[str], status: int, part: str, golden: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert part in fails(capsys, status, "dump", golden, *words)


def test_parquet_without_pyarrow(
    golden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    line = fails(capsys, 2, "dump", golden, "--format", "parquet", "-o", tmp_path / "x")
    assert "pip install 'oclgenomics[parquet]'" in line
    assert not (tmp_path / "x").exists()


def test_dump_for_fastk(golden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kmers("dump", golden, "--format", "fastk", "-o", tmp_path / "a.ktab", "-q") == 0
    assert sorted(path.name for path in tmp_path.iterdir() if "ktab" in path.name) == [".a.ktab.1", "a.ktab"]
    strands = write_database(tmp_path / "x", random_set(15, 5, canonical=False))
    assert "is for canonical k-mers" in fails(capsys, 2, "dump", strands, "--format", "fastk", "-o", tmp_path / "b")
    (tmp_path / ".c.ktab.1").hardlink_to(golden)
    assert "input" in fails(capsys, 2, "dump", golden, "--format", "fastk", "-o", tmp_path / "c")


@pytest.mark.parametrize("format", ["tsv", "npz", "kmc", "fastk"])
def test_a_damaged_database_leaves_no_output(format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_database(tmp_path / "x", random_set(15, 500))
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    assert "damaged" in fails(capsys, 3, "dump", path, "--format", format, "-o", tmp_path / "out")
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("action", ["dump", "histogram", "info", "query"])
def test_what_is_no_database(action: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ACGTA"] if action == "query" else []
    assert "no such file" in fails(capsys, 3, action, tmp_path / "missing", *words).lower()
    (tmp_path / "x").write_bytes(A)
    assert "no k-mer database" in fails(capsys, 3, action, tmp_path / "x", *words)


# histogram and info


def test_histogram_of_golden_a(golden: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert kmers("histogram", golden) == 0
    shown = capsys.readouterr()
    assert shown.out == "1\t4\n2\t2\n3\t3\n"
    assert shown.err == "oclgenomics: no coverage peak: too few k-mers\n"


def genome_database(path: Path) -> Path:
    """K-mers of a genome at a coverage of 30, and of errors."""
    rng = np.random.default_rng(1)
    made = random_set(14, 30_000)
    genuine = np.maximum(rng.poisson(30, made.distinct), 1)
    counts = np.where(rng.random(made.distinct) < 0.6, 1, genuine).astype(np.uint32)
    return write_database(path, type(made)(14, True, made.keys, counts))


def test_histogram_as_json_and_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, plot = genome_database(tmp_path / "x"), tmp_path / "x.png"
    assert kmers("histogram", database, "--json", "--plot", plot) == 0
    shown = capsys.readouterr()
    record = json.loads(shown.out)
    assert record["spectrum"]["coverage"] == pytest.approx(30, rel=0.02)
    assert sum(count * number for count, number in record["histogram"]) == record["total"]
    assert (record["k"], record["canonical"], record["provenance"]["program"]) == (14, True, "oclgenomics")
    first, second, third = shown.err.splitlines()
    assert "k-mer coverage" in first
    assert re.search(r"genome size 1[0-9.]* kb \([0-9.]+ to [0-9.]+ kb\); heterozygosity at most ", first)
    assert second == (
        "oclgenomics: in brackets: approximate 95 % confidence intervals; they cover random error (sampling of reads), "
        "not systematic error (uneven coverage, repeats, ends of sequences)"
    )
    sure = record["spectrum"]["intervals"]["genome_size"]
    assert 0 < sure["low"] < record["spectrum"]["genome_size"] < sure["high"]
    assert third == f"oclgenomics: wrote {plot}"
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_mistakes_of_histogram(golden: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ".png, .svg or .pdf" in fails(capsys, 2, "histogram", golden, "--plot", "x.txt")
    assert "/nowhere" in fails(capsys, 5, "histogram", golden, "--plot", "/nowhere/x.png")


def test_info(golden: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert kmers("info", golden) == 0
    table = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert (table["k"], table["canonical"], table["distinct"], table["total"]) == ("5", "yes", "9", "17")
    assert (table["once"], table["largest_count"]) == ("4", "3")
    assert kmers("info", golden, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["k"], record["canonical"], record["distinct"]) == (5, True, 9)
    assert record["bytes"] == Path(golden).stat().st_size


# query


def test_query_of_sequences(golden: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert kmers("query", golden, "GATTA", "taatcN", "GGGGGT") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["record", "position", "kmer", "count"],
        ["1", "1", "GATTA", "3"],
        ["2", "1", "taatc", "3"],
        ["3", "1", "GGGGG", "0"],
        ["3", "2", "GGGGT", "0"],
    ]


def test_query_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = write_database(tmp_path / "c.kmers", set_of(pairs_of(GOLDEN[3][3], 8), 8))
    (tmp_path / "c.fa").write_bytes(C + b">short\nACG\n")
    assert kmers("query", database, "--file", tmp_path / "c.fa") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["record", "kmers", "found", "mean", "median"]
    assert [row[:3] for row in rows[1:]] == [["a", "9", "9"], ["b", "17", "17"], ["c", "3", "3"], ["short", "0", "0"]]
    assert rows[-1][3:] == ["NA", "NA"]
    assert kmers("query", database, "--file", tmp_path / "c.fa", "--per-kmer", "--json") == 0
    found = json.loads(capsys.readouterr().out)["rows"]
    assert len(found) == 29
    assert found[0] == {"record": "a", "position": 1, "kmer": "ACGTACGT", "count": 3}
    assert kmers("query", database, "ACGTACGTN", "--per-record", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row == {"record": "1", "kmers": 1, "found": 1, "mean": 3.0, "median": 3.0}


def test_query_without_a_kmer(golden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kmers("query", golden, "NNNNNNNN") == 0
    assert capsys.readouterr().out == "record\tposition\tkmer\tcount\n"
    (tmp_path / "gap.fa").write_bytes(b">gap\n" + b"N" * (9 << 20) + b"\n>short\nACG\n")
    assert kmers("query", golden, "--file", tmp_path / "gap.fa") == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert rows == ["gap\t0\t0\tNA\tNA", "short\t0\t0\tNA\tNA"]


def test_mistakes_of_query(golden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "give sequences, or --file FILE" in fails(capsys, 2, "query", golden)
    assert "'GATT' has 4 bases" in fails(capsys, 2, "query", golden, "GATT", "-o", tmp_path / "out")
    assert "'GATT' has 4 bases" in fails(capsys, 2, "query", golden, "GATTA", "GATT")
    assert "not allowed with" in fails(capsys, 2, "query", golden, "GATTA", "--per-kmer", "--per-record")
    (tmp_path / "x.fq").write_bytes(b"@a\nACGTACGT\n+\nIII\n")
    said = fails(capsys, 3, "query", golden, "--file", tmp_path / "x.fq", "-o", tmp_path / "out", "-q")
    assert "x.fq, record 1, byte 0" in said
    assert not (tmp_path / "out").exists()


# merge


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("union", {"AAAAC": 1, "ACGTA": 5, "CCCCA": 7}),
        ("intersect", {"ACGTA": 2}),
        ("subtract", {"AAAAC": 1}),
    ],
)
def test_merge(operation: str, expected: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = write_database(tmp_path / "one", set_of({"AAAAC": 1, "ACGTA": 2}, 5))
    other = write_database(tmp_path / "other", set_of({"ACGTA": 3, "CCCCA": 7}, 5))
    assert kmers("merge", one, other, "-o", tmp_path / "out", "--operation", operation) == 0
    assert capsys.readouterr().err == f"oclgenomics: {len(expected)} 5-mers; wrote {tmp_path / 'out'}\n"
    with KmerDatabase.open(tmp_path / "out") as database:
        assert {record["kmer"]: record["count"] for record in database.records()} == expected


def test_mistakes_of_merge(golden: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    other = write_database(tmp_path / "other", set_of({"ACGTAC": 3}, 6))
    assert "two databases or more" in fails(capsys, 2, "merge", golden, "-o", out)
    assert "required: -o/--output" in fails(capsys, 2, "merge", golden, golden)
    assert "choose one of" in fails(capsys, 2, "merge", golden, golden, "-o", out, "--operation", "xor")
    assert "of one k" in fails(capsys, 2, "merge", golden, other, "-o", out)
    assert not out.exists()
