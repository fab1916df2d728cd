"""Counting only the k-mers of a set, and counting for a histogram alone: as counting all and looking at that."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import A, as_dict, random_set, random_text, set_of, write_database
from hypothesis import given, settings, strategies as st

from oclgenomics.cli.main import main
from oclgenomics.errors import UsageError
from oclgenomics.kmers import (
    CountOptions,
    KmerDatabase,
    count,
    count_to_database,
    histogram,
    histogram_of_reads,
    reference,
)
from oclgenomics.kmers.device.counting import KmerCounter
from oclgenomics.kmers.sets import algebra as restriction
from oclgenomics.kmers.sets.algebra import restricted
from oclgenomics.runtime import Device

RNG = np.random.default_rng(5)
TEXT = random_text(RNG, 10_000, b"ACGT", 1000)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "reads.fa"
    path.write_bytes(TEXT)
    return path


@pytest.fixture(params=[False, True], ids=["whole", "parts"])
def parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether each block is counted apart, as where memory is short."""
    if request.param:
        monkeypatch.setattr(KmerCounter, "has_room", lambda self, symbols: not self.kmers)
    return bool(request.param)


@pytest.fixture
def tmp_dir(tmp_path: Path) -> Path:
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


WORDS = st.dictionaries(st.sampled_from([a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT"]), st.integers(1, 9))


@settings(max_examples=100, deadline=None)
@given(WORDS, WORDS, st.integers(1, 70), st.integers(1, 70), st.integers(1, 70))
def test_restriction(stream: dict[str, int], only: dict[str, int], size: int, held: int, cut: int) -> None:
    """Blocks of any sizes on either side."""

    class Pieces:
        def blocks(self) -> object:
            return (piece for block in set_of(only, 3).blocks() for piece in block.pieces(held))

    blocks = (piece for block in set_of(stream, 3).blocks() for piece in block.pieces(size))
    before, restriction.CUT = restriction.CUT, cut
    try:
        found = list(restricted(blocks, Pieces()))  # type: ignore[arg-type]
    finally:
        restriction.CUT = before
    assert all(len(block) for block in found)
    assert list(as_dict(found, 3).items()) == [(kmer, stream[kmer]) for kmer in sorted(stream) if kmer in only]


@pytest.mark.parametrize("k", [33, 64, 70])
def test_restriction_of_long_kmers(k: int) -> None:
    """Half of the k-mers, and some that differ from others in their last letter alone."""
    stream = random_set(k, 200)
    pairs = as_dict(list(stream.blocks()), k)
    some = dict.fromkeys(list(pairs)[::2], 1)
    near = {kmer[:-1] + "ACGT"["CGTA".index(kmer[-1])]: 1 for kmer in list(pairs)[1::2]}
    found = as_dict(list(restricted(stream.blocks(), set_of(some | near, k))), k)
    assert found == {kmer: pairs[kmer] for kmer in pairs if kmer in some or kmer in near}


@pytest.mark.parametrize("k", [9, 40])
def test_counts_are_those_of_all(
    k: int, parts: bool, device: Device, text: Path, tmp_path: Path, tmp_dir: Path
) -> None:
    options = CountOptions(k, min_count=1 if k > 16 else 2, counter_max=3)
    every = reference.count([TEXT, TEXT], options)
    only = dict.fromkeys([*list(every)[::3], min(every), max(every)], 1)
    expected = {kmer: times for kmer, times in every.items() if kmer in only}
    database = write_database(tmp_path / "only.db", set_of(only, k))
    counted = count([text, text], options, engine=device, only=database, tmp_dir=tmp_dir)
    assert as_dict(list(counted.blocks()), k) == expected
    summary = count_to_database(
        [text, text], options, tmp_path / "x.db", engine=device, only=set_of(only, k), tmp_dir=tmp_dir
    )
    assert (summary.temporary_runs > 1) == parts
    assert (summary.distinct, summary.total) == (len(expected), sum(expected.values()))
    with KmerDatabase.open(tmp_path / "x.db") as found:
        assert as_dict(list(found.blocks()), k) == expected
        assert found.options == options
    assert not list(tmp_dir.iterdir())


def test_an_empty_set(device: Device, text: Path) -> None:
    assert count(text, CountOptions(9), engine=device, only=set_of({}, 9)).distinct == 0


@pytest.mark.parametrize(("only", "part"), [(set_of({}, 8), "same k"), (set_of({}, 9, False), "in the same way")])
def test_sets_of_other_kmers(only: object, part: str, text: Path) -> None:
    with pytest.raises(UsageError, match=part):
        count(text, CountOptions(9), only=only)  # type: ignore[arg-type]


def test_the_command_takes_files(device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.fa").write_bytes(A)
    (tmp_path / "s.fa").write_bytes(b">s\nGATTACAGG\n")
    words = ["kmers", "count", str(tmp_path / "a.fa"), "-k", "5", "-o", str(tmp_path / "x"), "-d", str(device.index)]
    assert main([*words, "--only", str(tmp_path / "s.fa"), "-q"]) == 0
    with KmerDatabase.open(tmp_path / "x") as found:
        assert as_dict(list(found.blocks()), 5) == {"ATTAC": 3, "CTGTA": 1, "GATTA": 3, "TGTAA": 3}
    write_database(tmp_path / "six", set_of({}, 6))
    assert main([*words, "--only", str(tmp_path / "six"), "-q"]) == 2
    assert "--only holds 6-mers, and 5-mers are counted" in capsys.readouterr().err


# Histograms of reads


def test_histogram_of_reads(parts: bool, device: Device, text: Path, tmp_path: Path, tmp_dir: Path) -> None:
    for options in (CountOptions(7), CountOptions(7, False, min_count=2, max_count=20, counter_max=9)):
        count_to_database([text, text], options, tmp_path / "x.db", engine=device)
        expected = histogram(tmp_path / "x.db")
        found = histogram_of_reads([text, text], options, engine=device, tmp_dir=tmp_dir)
        assert found.rows() == expected.rows()
        assert not list(tmp_dir.iterdir())


def test_lists_of_files(
    device: Device, text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(text.parent)
    Path("list").write_text("reads.fa\nreads.fa\n")
    words = ["-k", "7", "-d", str(device.index), "-q"]
    assert main(["kmers", "histogram", "reads.fa", "reads.fa", *words]) == 0
    expected = capsys.readouterr().out
    assert main(["kmers", "histogram", "@list", *words]) == 0
    assert capsys.readouterr().out == expected
    before = text.read_bytes()
    for command in (["histogram", "@list"], ["count", "list", "--only", "@list"]):
        assert main(["kmers", *command, *words, "-o", "reads.fa"]) == 2
        assert "-o reads.fa: the same file as" in capsys.readouterr().err
    assert text.read_bytes() == before


def test_the_command_counts_reads(
    device: Device, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count_to_database(text, CountOptions(7), tmp_path / "x.db", engine=device)
    assert main(["kmers", "histogram", str(tmp_path / "x.db"), "-q"]) == 0
    expected = capsys.readouterr().out
    words = ["kmers", "histogram", str(text), "-k", "7", "-d", str(device.index)]
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr().out == expected
    assert main([*words, "--json", "--plot", str(tmp_path / "x.png")]) == 0
    out, err = capsys.readouterr()
    record = json.loads(out)
    assert "".join(f"{count}\t{kmers}\n" for count, kmers in record["histogram"]) == expected
    assert (record["k"], record["canonical"]) == (7, True)
    assert "7-mers" in err
    assert {path.name for path in tmp_path.iterdir()} == {"reads.fa", "x.db", "x.png"}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("reads.fa", "reads.fa is no database of `kmers count`; if it holds reads, give -k to count them"),
        ("x.db -k 7", "-k says how reads are counted"),
        ("x.db --no-canonical", "--no-canonical says how reads are counted"),
        ("x.db reads.fa", "x.db is a database; give it alone"),
        ("reads.fa -k 0", "-k 0: k-mers have 1 to 256 bases"),
        ("none.fq.zst", "none.fq.zst is no database of `kmers count`; if it holds reads, give -k to count them"),
    ],
)
def test_mistakes_of_histogram(
    words: str, part: str, text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(text.parent)
    write_database(Path("x.db"), set_of({"ACGTACG": 1}, 7))
    assert main(["kmers", "histogram", *words.split(), "-q"]) == 2
    assert part in capsys.readouterr().err
