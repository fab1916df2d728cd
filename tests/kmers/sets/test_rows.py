"""Matrices of counts: rows against plain Python, formats against each other, samples counted on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import A, B, as_dict, pairs_of, random_set, random_text, set_of, write_database
from helpers.matrices import table_of
from hypothesis import given, settings, strategies as st

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, OutputError, UsageError
from oclgenomics.kmers import CountedKmers, CountMatrix, CountOptions, KmerBlock, matrix, reference, write_matrix
from oclgenomics.kmers.commands.matrix import samples_of
from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.sets import rows as rows_module
from oclgenomics.kmers.sets.rows import RowChoice, rows_of
from oclgenomics.runtime import Device, Engine


@dataclass(frozen=True)
class InPieces:
    """A set that comes in blocks of a size."""

    kmers: CountedKmers
    size: int

    @property
    def k(self) -> int:
        return self.kmers.k

    @property
    def canonical(self) -> bool:
        return self.kmers.canonical

    @property
    def compressed(self) -> bool:
        return self.kmers.compressed

    @property
    def distinct(self) -> int:
        return self.kmers.distinct

    @property
    def total(self) -> int:
        return self.kmers.total

    def blocks(self) -> Iterator[KmerBlock]:
        for block in self.kmers.blocks():
            yield from block.pieces(self.size)


def rows(found: CountMatrix) -> dict[str, list[int]]:
    return dict(zip(texts_of(found.keys, found.k), found.counts.tolist(), strict=True))


def counts_of(kmers: CountedKmers) -> dict[str, int]:
    return as_dict(list(kmers.blocks()), kmers.k)


def named(sets: list[CountedKmers]) -> dict[str, CountedKmers]:
    return {f"s{number}": kmers for number, kmers in enumerate(sets)}


SMALL = st.dictionaries(st.sampled_from([a + b for a in "ACGT" for b in "ACGT"]), st.integers(1, 5), max_size=16)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(SMALL, min_size=1, max_size=4), st.integers(1, 4), st.integers(1, 4),
    st.none() | SMALL, st.booleans(), st.integers(1, 20),
)  # fmt: skip
def test_rows_are_those_of_the_definition(
    samples: list[dict[str, int]], min_count: int, min_samples: int, only: dict[str, int] | None, zeros: bool, size: int
) -> None:
    zeros = zeros and only is not None
    min_samples = 1 if zeros else min(min_samples, len(samples))
    expected = table_of(samples, min_count=min_count, min_samples=min_samples, only=only, keep_zeros=zeros)
    sets = [InPieces(set_of(sample, 2, False), size) for sample in samples]
    found = matrix(
        {f"s{number}": one for number, one in enumerate(sets)}, min_count=min_count, min_samples=min_samples,
        only=None if only is None else set_of(only, 2, False), keep_zeros=zeros,
    )  # fmt: skip
    assert rows(found) == expected
    assert list(rows(found)) == list(expected)


@pytest.mark.parametrize("k", [11, 32, 33, 70])
@pytest.mark.parametrize("cells", [1, 7, 1 << 20])
def test_rows_do_not_depend_on_chunks(k: int, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [random_set(k, 300, seed, most=1 << 31) for seed in (1, 1, 2)]
    expected = table_of([counts_of(kmers) for kmers in sets])
    monkeypatch.setattr(rows_module, "CELLS", cells)
    monkeypatch.setattr(rows_module, "LEAST_KMERS", 10)
    monkeypatch.setattr(rows_module, "RANGE_KMERS", 30 * cells)
    blocks = list(rows_of(sets, RowChoice()))
    assert len(blocks) >= (100 if cells < 10 else 1)
    keys, counts = np.hstack([block.keys for block in blocks]), np.concatenate([block.counts for block in blocks])
    found = dict(zip(texts_of(keys, k), counts.tolist(), strict=True))
    assert found == expected
    assert list(found) == list(expected)


def test_formats_hold_the_same(tmp_path: Path) -> None:
    sets = [random_set(31, 200, seed, most=100_000) for seed in (1, 2, 1)]
    expected = matrix(named(sets), min_samples=1)
    for format in ("tsv", "npz"):
        summary = write_matrix(named(sets), tmp_path / f"x.{format}", format)  # type: ignore[arg-type]
        assert (summary.kmers, summary.names) == (len(expected.counts), ("s0", "s1", "s2"))
    head, *lines = (tmp_path / "x.tsv").read_text().splitlines()
    assert head == "kmer\ts0\ts1\ts2"
    assert lines == ["\t".join([kmer, *map(str, row)]) for kmer, row in rows(expected).items()]
    with np.load(tmp_path / "x.npz") as arrays:
        assert arrays["names"].tolist() == ["s0", "s1", "s2"]
        assert (arrays["k"], arrays["canonical"]) == (31, True)
        for name in ("keys", "counts"):
            assert arrays[name].dtype == getattr(expected, name).dtype
            np.testing.assert_array_equal(arrays[name], getattr(expected, name))
    assert expected.records()[0] == {"kmer": lines[0].split("\t")[0]} | dict(
        zip(expected.names, map(int, lines[0].split("\t")[1:]), strict=True)
    )


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    sets = [random_set(33, 100, seed) for seed in (1, 2)]
    write_matrix(named(sets), tmp_path / "x", "parquet")
    table = parquet.read_table(tmp_path / "x")
    found = {row["kmer"]: [row["s0"], row["s1"]] for row in table.to_pylist()}
    assert found == table_of([counts_of(kmers) for kmers in sets])


@pytest.mark.parametrize("format", ["tsv", "npz", "parquet"])
def test_no_row(format: str, tmp_path: Path) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    assert write_matrix({"a": set_of({}, 5)}, tmp_path / "x", format).kmers == 0  # type: ignore[arg-type]
    if format == "tsv":
        assert (tmp_path / "x").read_text() == "kmer\ta\n"
    if format == "npz":
        assert np.load(tmp_path / "x")["counts"].shape == (0, 1)


def test_samples_are_counted_on_the_way(device: Device, tmp_path: Path) -> None:
    """In memory and in parts, beside a database."""
    rng = np.random.default_rng(1)
    texts = [random_text(rng, 30_000, b"ACGT", 1000), A, B]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.fa").write_bytes(text)
    options = CountOptions(9)
    counts = [reference.count(some, options) for some in (texts[:1], texts[1:], texts[:2])]
    database = write_database(tmp_path / "x.db", set_of(counts[2], 9))
    samples = {"one": tmp_path / "0.fa", "two": [tmp_path / "1.fa", tmp_path / "2.fa"], "three": database}
    only = reference.count([texts[0][:5000]], options)
    (tmp_path / "only.fa").write_bytes(texts[0][:5000])
    for most in (1 << 20, 1 << 28):
        with Engine(device, max_memory=most) as engine:
            found = matrix(samples, options, engine=engine, tmp_dir=tmp_path)
        assert rows(found) == table_of(counts)
    with Engine(device) as engine:
        found = matrix(samples, options=options, engine=engine, only=tmp_path / "only.fa", tmp_dir=tmp_path)
        assert engine.download(engine.upload(np.arange(3))).tolist() == [0, 1, 2]
    assert rows(found) == table_of(counts, only=only)
    assert len(list(tmp_path.iterdir())) == 5


@pytest.mark.parametrize(
    ("how", "part"),
    [
        ({"min_samples": 3}, "only 2 samples given"),
        ({"min_samples": 0}, "take 1 or more"),
        ({"min_count": 0}, "take 1 to"),
        ({"min_count": 1 << 32}, "take 1 to 4,294,967,295"),
        ({"keep_zeros": True}, "name it with only"),
        ({"keep_zeros": True, "min_samples": 2, "only": set_of({}, 5)}, "take one of them"),
        ({"only": set_of({}, 6)}, "of one k"),
        ({"only": set_of({}, 5, False)}, "in the same way"),
    ],
)
def test_mistakes(how: dict[str, object], part: str) -> None:
    with pytest.raises(UsageError, match=part):
        matrix({"a": set_of({}, 5), "b": set_of({}, 5)}, **how)


def test_the_largest_count_is_one() -> None:
    assert RowChoice(min_count=MAX_COUNTER).min_count == MAX_COUNTER


def test_mistakes_of_samples(tmp_path: Path) -> None:
    one = set_of({}, 5)
    wrong: dict[str, dict[str, CountedKmers]] = {"no samples": {}}
    wrong |= {f"{name!r} is no name": {name: one} for name in ("kmer", "a\tb", "")}
    for part, samples in wrong.items():
        with pytest.raises(UsageError, match=re.escape(part)):
            matrix(samples)
    with pytest.raises(UsageError, match="choose one of tsv, npz, parquet"):
        write_matrix({"a": one}, tmp_path / "x", "xml")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="options has to say k"):
        matrix({"a": tmp_path / "none"})
    with pytest.raises(InputError, match="no such file"):
        matrix({"a": tmp_path / "none"}, options=CountOptions(5))
    with pytest.raises(OutputError, match="there is no such folder"):
        write_matrix({"a": one}, tmp_path / "x", "npz", tmp_dir=tmp_path / "none")
    assert not list(tmp_path.iterdir())


def test_kinds_are_compared_before_reads_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The reads are not there, and nobody has looked; nothing is written."""
    one, reads = set_of({}, 5), tmp_path / "none.fq"
    for options, part in ((CountOptions(6), "have 5, 6"), (CountOptions(5, False), "in the same way")):
        for how in ({"samples": {"r": reads, "a": one}}, {"samples": {"r": reads}, "only": one}):
            with pytest.raises(UsageError, match=part):
                write_matrix(output="-", options=options, **how)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="in the same way"):
        write_matrix({"a": one, "b": set_of({}, 5, False)}, "-")
    assert capsys.readouterr().out == ""
    unused = write_matrix({"a": one}, tmp_path / "x", options=CountOptions(9))
    assert (unused.k, unused.kmers) == (5, 0)


# The command


def test_names_of_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a=b.fa").write_text(">\nA\n")
    Path("list").write_text("a=b.fa\n\n./a=b.fa\n")
    assert samples_of("a=b.fa") == [("a=b", ["a=b.fa"])]
    assert samples_of("x/reads.1.fq.gz") == [("reads.1", ["x/reads.1.fq.gz"])]
    assert samples_of("a=x,y/z") == [("a", ["x", "y/z"])]
    assert samples_of(".db") == [(".db", [".db"])]
    assert samples_of("@list") == [("a=b", ["a=b.fa"]), ("a=b", ["./a=b.fa"])]
    assert samples_of("x=c,@list") == [("x", ["c", "a=b.fa", "./a=b.fa"])]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_database(Path("a.db"), set_of(pairs_of("AAAAC3 AAAAG1 ACGTA2", 5), 5))
    write_database(Path("b.db"), set_of(pairs_of("AAAAG4 ACGTA10", 5), 5))
    Path("c.fa").write_text(">c\nAAAACGTA\n")
    Path("databases").write_text("a.db\nb.db\n")
    Path("reads").write_text("c.fa\nc.fa\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("a.db b.db", "kmer a b|AAAAC 3 0|AAAAG 1 4|ACGTA 2 10"),
        ("a.db y=b.db --min-samples 2", "kmer a y|AAAAG 1 4|ACGTA 2 10"),
        ("a.db b.db --min-count 3", "kmer a b|AAAAC 3 0|AAAAG 0 4|ACGTA 0 10"),
        ("b.db c.fa -k 5", "kmer b c|AAAAC 0 1|AAAAG 4 0|AAACG 0 1|AACGT 0 1|ACGTA 10 1"),
        ("b.db --only c.fa -k 5 --keep-zeros", "kmer b|AAAAC 0|AAACG 0|AACGT 0|ACGTA 10"),
        ("a.db b.db --only b.db --min-count 5", "kmer a b|ACGTA 0 10"),
        ("@databases --min-samples 2", "kmer a b|AAAAG 1 4|ACGTA 2 10"),
        ("b.db y=c.fa,@reads --only @reads -k 5 --min-samples 2", "kmer b y|ACGTA 10 3"),
    ],
)
def test_the_command(words: str, expected: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kmers", "matrix", *words.split(), "-o", "-", "-q"]) == 0
    shown = capsys.readouterr()
    assert (shown.out.replace("\t", " ").splitlines(), shown.err) == (expected.split("|"), "")


def test_formats_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kmers", "matrix", "a.db", "b.db", "-o", "x.npz"]) == 0
    assert np.load("x.npz")["counts"].tolist() == [[3, 0], [1, 4], [2, 10]]
    assert capsys.readouterr().err.splitlines() == ["oclgenomics: 3 5-mers in 2 samples", "oclgenomics: wrote x.npz"]
    assert main(["kmers", "matrix", "a.db", "-o", "x.npz", "--format", "tsv"]) == 0
    assert Path("x.npz").read_text().startswith("kmer\ta\n")


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        ("a.db x/a.db", 2, "two samples are named a; name one of them otherwise: NAME=FILE"),
        ("a.db c.fa", 2, "c.fa is no database of `kmers count`; if it holds reads, give -k"),
        ("a.db -k 5", 2, "-k says how reads are counted"),
        ("x=a.db,b.db", 2, "a sample has one at most"),
        ("x=a.db,", 2, "the name of a file is empty"),
        ("a.db c.fa -k 6", 2, "these have 5, 6"),
        ("a.db --format xml", 2, "choose one of tsv, npz, parquet"),
        ("a.db --min-samples 2", 2, "--min-samples 2: only 1 sample given"),
        ("a.db --keep-zeros", 2, "--keep-zeros keeps the rows of a set: name it with --only"),
        ("none -k 5", 3, "none"),
        ("x=@databases", 2, "a sample has one at most"),
        ("@none", 3, "none: no such file"),
        ("@reads -k 5", 2, "two samples are named c"),
        ("x=@reads -k 5 -o c.fa", 2, "-o c.fa: the same file as the input c.fa"),
        ("a.db --only @reads -k 5 -o c.fa", 2, "-o c.fa: the same file as --only c.fa"),
    ],
)
def test_mistakes_of_the_command(
    words: str, status: int, part: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kmers", "matrix", "-o", "out", *words.split(), "-q"]) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert part in line
    assert not Path("out").exists()
    assert Path("c.fa").read_text() == ">c\nAAAACGTA\n"


def test_a_damaged_database_leaves_no_matrix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_database(tmp_path / "x", random_set(15, 500))
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    for format in ("tsv", "npz"):
        assert main(["kmers", "matrix", str(path), "-o", str(tmp_path / "out"), "--format", format]) == 3
        assert "damaged" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]
