"""K-mers of sequences with homopolymers compressed: counted, kept, looked up, and not mixed with others."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from helpers.kmer_sets import as_dict, set_of, write_database
from hypothesis import given, settings, strategies as st

from oclgenomics import kmers
from oclgenomics.cli.main import main
from oclgenomics.errors import UsageError
from oclgenomics.kmers import CountOptions, KmerDatabase, count, count_to_database, reference
from oclgenomics.kmers.database.kmer_set import CountedKmers
from oclgenomics.kmers.database.layout import Head
from oclgenomics.runtime import Device, Engine

READS = b">a\nGATTTACAGGATTACATGTAATC\n>b\nATTACCCATGTNNGGATTTTA\n"
OPTIONS = CountOptions(4, compressed=True)


def counted(text: bytes, options: CountOptions = OPTIONS) -> CountedKmers:
    found = set_of(reference.count([text], options), options.k, options.canonical)
    return CountedKmers(found.k, found.canonical, found.keys, found.counts, options.compressed)


@pytest.fixture
def database(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("reads.fa").write_bytes(READS)
    count_to_database("reads.fa", OPTIONS, "x.db", engine=engine)
    return "x.db"


@settings(max_examples=25)
@given(st.lists(st.text("AACGTN", max_size=60), max_size=4), st.sampled_from([2, 3, 9, 33]), st.booleans())
def test_counts_against_the_oracle(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, texts: list[str], k: int, canonical: bool
) -> None:
    path = tmp_path_factory.mktemp("x") / "x.fa"
    path.write_text("".join(f">r\n{text}\n" for text in ["ACGT", *texts]))
    options = CountOptions(k, canonical, compressed=True)
    found = count(path, options, engine=engine)
    assert as_dict(list(found.blocks()), k) == reference.count([path.read_bytes()], options)
    assert found.compressed


def test_a_known_sequence() -> None:
    assert reference.count([b">x\nAAACCGGGTNNTTTA\n"], CountOptions(3, canonical=False, compressed=True)) == {
        "ACG": 1, "CGT": 1,
    }  # fmt: skip


def test_the_head_says_so(database: str) -> None:
    assert struct.unpack_from("<8sIII", Path(database).read_bytes())[1:] == (2, 4, 3)
    with KmerDatabase.open(database) as held:
        assert held.options == OPTIONS
        assert held.compressed
    plain, compressed = Head(CountOptions(4), "x"), Head(CountOptions(4, canonical=False, compressed=True), "x")
    assert plain.pack()[8:20] == struct.pack("<III", 1, 4, 1)
    assert Head.unpack(compressed.pack()).options == compressed.options


def test_pieces_add_up_to_it(database: str, device: Device) -> None:
    words = ["kmers", "count", "reads.fa", "-k", "4", "--compress-homopolymers", "-q", "-d", str(device.index)]
    assert main([*words, "-o", "whole.db"]) == 0
    assert Path("whole.db").read_bytes() == Path(database).read_bytes()
    for shard in ("1/2", "2/2"):
        assert main([*words, "--shard", shard, "-o", f"{shard[0]}.piece"]) == 0
    assert main(["kmers", "combine", "1.piece", "2.piece", "-o", "all.db", "-q"]) == 0
    assert Path("all.db").read_bytes() == Path(database).read_bytes()


def test_a_query_compresses_alike(database: str, device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.fa").write_bytes(b">q\nGGGATTTAAAC\nNNccAATTTG\n>none\nAAAAAAAAA\n")
    held = reference.count([READS], OPTIONS)
    expected = [reference.counts_along("".join(letters), held, 4, canonical=True) for letters in ("GATACNNcATG", "A")]
    for where in ("host", str(device.index)):
        assert main(["kmers", "query", database, "--file", "q.fa", "--counts", "--json", "-q", "-d", where]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert [row["counts"] for row in rows] == expected
    assert main(["kmers", "query", database, "GGaattAACC", "-q"]) == 0
    lines = [line.split("\t")[1:3] for line in capsys.readouterr().out.splitlines()[1:]]
    assert lines == [["1", "GatA"], ["2", "atAC"]]


def test_quality_of_a_compressed_assembly(database: str, engine: Engine) -> None:
    Path("asm.fa").write_bytes(b">x\nGGATACAGGGATTTACCCC\n")
    report = kmers.qv("asm.fa", database, engine=engine)
    along = reference.counts_along("GATACAGATAC", reference.count([READS], OPTIONS), 4, canonical=True)
    assert (report.whole.kmers, report.whole.assembly_only) == (8, sum(not each for each in along))
    assert report.whole.sequences is not None
    assert report.whole.sequences.assembly_only.tolist() == [report.whole.assembly_only]


def test_sets_are_not_mixed(database: str, engine: Engine, device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    plain = write_database(Path("plain.db"), counted(READS, CountOptions(4)))
    with pytest.raises(UsageError, match="some sets hold k-mers of compressed sequences"):
        kmers.merge([database, plain])
    with pytest.raises(UsageError, match="holds k-mers of uncompressed sequences"):
        count("reads.fa", OPTIONS, engine=engine, only=plain)
    with pytest.raises(UsageError, match="k-mers of compressed sequences"):
        kmers.filter_reads(database, "reads.fa", "out.fa", engine=engine)
    with pytest.raises(UsageError, match="ask for counts"):
        list(kmers.query(database, ["GATTACA"]).intervals())
    with pytest.raises(UsageError, match="ask for counts"):
        list(kmers.query(database, ["GATTACA"]).count_intervals())
    with pytest.raises(UsageError, match="leave bed and wig out"):
        kmers.qv("reads.fa", database, engine=engine, wig="x.wig")
    with pytest.raises(UsageError, match="k=1"):
        CountOptions(1, compressed=True)
    assert main(["kmers", "merge", database, database, "-o", "both.db", "-q"]) == 0
    assert main(["kmers", "info", "both.db"]) == 0
    assert "compressed\tyes\n" in capsys.readouterr().out
    assert count("reads.fa", OPTIONS, engine=engine, only="reads.fa").distinct == len(reference.count([READS], OPTIONS))
    assert kmers.merge([database, database]).compressed


def test_a_long_sequence(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "x.fa"
    path.write_bytes(b">x\n" + b"AACCCGTTTAGGGC" * 3000 + b"\n")
    found = count(path, CountOptions(11, compressed=True), engine=engine)
    assert as_dict(list(found.blocks()), 11) == reference.count([path.read_bytes()], CountOptions(11, compressed=True))
