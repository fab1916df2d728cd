"""Dumps: each format gives back the k-mers and counts that went in, and KMC's own tools read its databases."""

from __future__ import annotations

import io
import itertools
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from helpers.kmer_sets import GOLDEN, pairs_of, random_set, set_of
from hypothesis import given, strategies as st

from oclgenomics.errors import MissingDependencyError, UsageError
from oclgenomics.kmers import merge, reference
from oclgenomics.kmers.database.keys import key_words, texts_of
from oclgenomics.kmers.database.kmer_set import PIECE, CountedKmers, SelectedKmers
from oclgenomics.kmers.formats.fastk import fastk_names, prefix_bytes, write_fastk
from oclgenomics.kmers.formats.kmc import prefix_length, write_kmc
from oclgenomics.kmers.formats.npz import write_npz
from oclgenomics.kmers.formats.parquet import write_parquet
from oclgenomics.kmers.formats.text import write_fasta, write_tsv
from oclgenomics.kmers.options import COUNT_MODES, CountOptions, MergeOptions

KS = (1, 2, 3, 4, 5, 8, 21, 31, 32, 33, 64, 65, 97, 256)
needs_kmc = pytest.mark.skipif(shutil.which("kmc_tools") is None, reason="KMC's tools are not installed (package kmc)")
Writer = Callable[[SelectedKmers, IO[bytes]], None]


def written(write: Writer, kmers: CountedKmers, low: int = 1, high: int = 9999) -> bytes:
    stream = io.BytesIO()
    write(SelectedKmers(kmers, low, high), stream)
    return stream.getvalue()


def lines_of(kmers: CountedKmers, low: int = 1, high: int = 9999) -> list[tuple[str, int]]:
    rows = zip(texts_of(kmers.keys, kmers.k), kmers.counts.tolist(), strict=True)
    return [(kmer, count) for kmer, count in rows if low <= count <= high]


@pytest.mark.parametrize(("text", "k", "canonical", "expected"), GOLDEN)
def test_golden_sets_as_text(text: bytes, k: int, canonical: bool, expected: str) -> None:
    kmers = set_of(pairs_of(expected, k), k, canonical)
    assert written(write_tsv, kmers).decode() == "".join(f"{w}\t{c}\n" for w, c in pairs_of(expected, k).items())
    assert written(write_fasta, kmers).decode() == "".join(f">{c}\n{w}\n" for w, c in pairs_of(expected, k).items())


@pytest.mark.parametrize("k", KS)
def test_text_of_every_length(k: int) -> None:
    kmers = random_set(k, 50)
    assert written(write_tsv, kmers).decode() == "".join(f"{w}\t{c}\n" for w, c in lines_of(kmers))


@given(counts=st.lists(st.one_of(st.integers(1, 1100), st.integers(1, (1 << 32) - 1)), min_size=1, max_size=64))
def test_counts_of_every_size(counts: list[int]) -> None:
    kmers = CountedKmers(3, False, np.arange(len(counts), dtype=np.uint64)[None], np.array(counts, np.uint32))
    rows = written(write_tsv, kmers, high=(1 << 32) - 1).decode().splitlines()
    assert [int(row.split("\t")[1]) for row in rows] == counts
    names = written(write_fasta, kmers, high=(1 << 32) - 1).decode().splitlines()[::2]
    assert names == [f">{count}" for count in counts]


def test_filters() -> None:
    kmers = random_set(9, 400, most=20)
    assert written(write_tsv, kmers, 3, 7).decode() == "".join(f"{w}\t{c}\n" for w, c in lines_of(kmers, 3, 7))
    chosen = SelectedKmers(kmers, 3, 7)
    expected = [count for _, count in lines_of(kmers, 3, 7)]
    assert (chosen.distinct, chosen.total, chosen.largest) == (len(expected), sum(expected), max(expected))
    assert written(write_tsv, kmers, 500) == b""


@pytest.mark.parametrize("bounds", [(0, 5), (6, 5)])
def test_filters_that_leave_nothing(bounds: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match=r"^min_count=\d max_count=\d: "):
        SelectedKmers(random_set(5, 3), *bounds)


def test_large_blocks_come_in_pieces() -> None:
    size = 2 * PIECE + 5
    kmers = CountedKmers(20, True, np.arange(size, dtype=np.uint64)[None], np.ones(size, np.uint32))
    assert [len(block) for block in SelectedKmers(kmers).blocks()] == [PIECE, PIECE, 5]
    assert written(write_tsv, kmers).count(b"\n") == size
    with np.load(io.BytesIO(written(write_npz, kmers))) as arrays:
        np.testing.assert_array_equal(arrays["keys"], kmers.keys)


@pytest.mark.parametrize(("k", "size"), [(5, 40), (31, 60), (65, 60), (21, 0)])
def test_npz(k: int, size: int) -> None:
    kmers = random_set(k, size, canonical=False)
    data = written(write_npz, kmers)
    with np.load(io.BytesIO(data)) as arrays:
        assert int(arrays["k"]) == k
        assert not arrays["canonical"]
        assert arrays["keys"].shape == (key_words(k), kmers.distinct)
        np.testing.assert_array_equal(arrays["keys"], kmers.keys)
        np.testing.assert_array_equal(arrays["counts"], kmers.counts)
        assert (arrays["keys"].dtype, arrays["counts"].dtype) == (np.uint64, np.uint32)
    assert written(write_npz, kmers) == data


# FastK


def write_table(kmers: CountedKmers, folder: Path, low: int = 1) -> Path:
    stub, part = fastk_names(str(folder / "x.ktab"))
    with open(stub, "wb") as first, open(part, "wb") as second:
        write_fastk(SelectedKmers(kmers, low), first, second)
    return Path(stub)


def test_fastk_files_byte_by_byte(tmp_path: Path) -> None:
    kmers = set_of({"AAAAC": 2, "AAACA": 32_767, "CCCCT": 40_000, "TAAAA": 1}, 5)
    stub = write_table(kmers, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".x.ktab.1", "x.ktab"]
    part = bytes([5, 0, 0, 0, 4, *[0] * 7, 0b01000000, 2, 0, 0b00000000, 255, 127, 0b11000000, 255, 127, 0, 1, 0])
    assert (tmp_path / ".x.ktab.1").read_bytes() == part
    assert np.frombuffer(stub.read_bytes()[:16], "<i4").tolist() == [5, 1, 1, 1]
    index = np.frombuffer(stub.read_bytes()[16:], "<i8")
    assert len(index) == 256
    assert [int(index[prefix]) for prefix in (0b00000000, 0b00000001, 0b01010100, 0b01010101, 0b11000000, 255)] == [
        1, 2, 2, 3, 4, 4,
    ]  # fmt: skip


def read_table(stub: Path) -> tuple[int, dict[str, int]]:
    """The least count and the k-mers of a table, as FastK's documentation has it."""
    data = stub.read_bytes()
    k, parts, least, p = np.frombuffer(data[:16], "<i4").tolist()
    having = np.diff(np.frombuffer(data[16:], "<i8"), prepend=0)
    prefixes = np.repeat(np.arange(256**p), having).tolist()
    rest, found, at = -(-k // 4) - p, {}, 0
    for number in range(1, parts + 1):
        part = stub.with_name(f".{stub.name}.{number}").read_bytes()
        assert int.from_bytes(part[:4], "little") == k
        for begin in range(12, len(part), rest + 2):
            code = prefixes[at].to_bytes(p, "big") + part[begin : begin + rest]
            letters = "".join("ACGT"[byte >> shift & 3] for byte in code for shift in (6, 4, 2, 0))
            assert set(letters[k:]) <= {"A"}
            found[letters[:k]] = int.from_bytes(part[begin + rest : begin + rest + 2], "little")
            at += 1
        assert int.from_bytes(part[4:12], "little") == (len(part) - 12) // (rest + 2)
    return least, found


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("p", [1, 2])
def test_fastk_tables_of_every_length(k: int, p: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oclgenomics.kmers.formats.fastk.prefix_bytes", lambda k, distinct: min(p, -(-k // 4)))
    kmers = random_set(k, 40, canonical=True, most=70_000)
    expected = {kmer: min(count, 32_767) for kmer, count in lines_of(kmers, 3, 70_000)}
    assert read_table(write_table(kmers, tmp_path, 3)) == (3, expected)


def test_fastk_prefixes_make_files_small() -> None:
    assert [prefix_bytes(21, distinct) for distinct in (0, 10**5, 10**6, 10**7, 10**9)] == [1, 1, 2, 2, 3]
    assert [prefix_bytes(k, 10**9) for k in (1, 4, 5, 9)] == [1, 1, 2, 3]


def test_fastk_tables_are_canonical(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^format=.fastk. is for canonical k-mers"):
        write_table(random_set(5, 3, canonical=False), tmp_path)


@pytest.mark.skipif(
    shutil.which("FastK") is None or shutil.which("Tabex") is None, reason="FastK, which no package has, is not here"
)
@pytest.mark.parametrize("k", [21, 40])
def test_fastk_reads_it_and_counts_the_same(k: int, tmp_path: Path) -> None:
    letters = np.random.default_rng(3).choice(np.frombuffer(b"ACGT", np.uint8), 2_000).tobytes()
    (tmp_path / "x.fa").write_bytes(b">x\n" + letters + b"\n>y\n" + letters[:700] + b"\n")
    counted = reference.count([b">x\n" + letters, b">y\n" + letters[:700]], CountOptions(k))
    stub = write_table(set_of(counted, k), tmp_path)
    tool("FastK", f"-k{k}", "-t1", "-T2", f"-N{tmp_path / 'theirs'}", f"-P{tmp_path}", tmp_path / "x.fa")
    assert read_table(stub) == read_table(tmp_path / "theirs.ktab")
    assert tool("Tabex", "-A", stub).upper() == tool("Tabex", "-A", tmp_path / "theirs").upper()
    assert "Table is OK" in tool("Tabex", "-C", stub)


# KMC


def write_pair(kmers: CountedKmers, path: Path) -> Path:
    with open(f"{path}.kmc_pre", "wb") as prefixes, open(f"{path}.kmc_suf", "wb") as suffixes:
        write_kmc(SelectedKmers(kmers), prefixes, suffixes)
    return path


def tool(*words: object) -> str:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_kmc_files_byte_by_byte(tmp_path: Path) -> None:
    kmers = set_of({"AAAAACGTA": 1, "AAAACTTTT": 258, "TTTTTAAAC": 3}, 9, canonical=False)
    path = write_pair(kmers, tmp_path / "x")
    suffixes = bytes([0b01101100, 1, 0, 0b11111111, 2, 1, 0b00000001, 3, 0])
    assert Path(f"{path}.kmc_suf").read_bytes() == b"KMCS" + suffixes + b"KMCS"
    prefixes = Path(f"{path}.kmc_pre").read_bytes()
    assert np.frombuffer(prefixes[4:8196], "<u8").tolist() == [0, 1] + [2] * 1022
    assert np.frombuffer(prefixes[8196:8220], "<u4").tolist() == [9, 0, 2, 5, 1, (1 << 32) - 1]
    assert prefixes[8228] == 1
    assert len(prefixes) == 4 + 8192 + 64 + 4 + 4


@needs_kmc
def test_kmc_sorts_its_own_into_the_same_suffixes(tmp_path: Path) -> None:
    letters = np.random.default_rng(3).choice(np.frombuffer(b"ACGT", np.uint8), 2_000).tobytes()
    (tmp_path / "x.fa").write_bytes(b">x\n" + letters + b"\n")
    tool("kmc", "-k21", "-ci1", "-fa", "-t1", tmp_path / "x.fa", tmp_path / "theirs", tmp_path)
    tool("kmc_tools", "-t1", "transform", tmp_path / "theirs", "sort", tmp_path / "sorted")
    (p,) = np.frombuffer((tmp_path / "sorted.kmc_pre").read_bytes()[-60:-56], "<u4").tolist()
    kmers = set_of(reference.count([b">x\n" + letters], CountOptions(21)), 21)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oclgenomics.kmers.formats.kmc.prefix_length", lambda k, distinct: p)
        write_pair(kmers, tmp_path / "ours")
    assert (tmp_path / "ours.kmc_suf").read_bytes() == (tmp_path / "sorted.kmc_suf").read_bytes()
    ours, theirs = (tmp_path / "ours.kmc_pre").read_bytes(), (tmp_path / "sorted.kmc_pre").read_bytes()
    # They differ in the largest count asked for, which is part of the header.
    assert (ours[:-52], ours[-48:]) == (theirs[:-52], theirs[-48:])


def test_kmc_prefixes_leave_whole_bytes() -> None:
    for k, distinct in itertools.product(range(1, 257), (0, 10**6, 3 * 10**9)):
        p = prefix_length(k, distinct)
        assert min(k, 5) <= p <= 12
        assert (k - p) % 4 == 0


@needs_kmc
@pytest.mark.each_value
@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("canonical", [True, False])
def test_kmc_dumps_what_was_written(k: int, canonical: bool, tmp_path: Path) -> None:
    kmers = random_set(k, 40, canonical=canonical, most=70_000)
    path = write_pair(kmers, tmp_path / "x")
    expected = "".join(f"{w}\t{c}\n" for w, c in lines_of(kmers, high=70_000))
    tool("kmc_dump", path, tmp_path / "plain")
    tool("kmc_tools", "-t1", "transform", path, "dump", "-s", tmp_path / "sorted")
    assert (tmp_path / "plain").read_text() == expected
    assert (tmp_path / "sorted").read_text() == expected


@needs_kmc
def test_kmc_histogram_and_intersection(tmp_path: Path) -> None:
    first, second = random_set(11, 3000, seed=1, most=9), random_set(11, 3000, seed=2, most=9)
    common = set_of(dict(lines_of(first)[::3] + lines_of(second)), 11)
    one, other = write_pair(first, tmp_path / "one"), write_pair(common, tmp_path / "other")
    tool("kmc_tools", "-t1", "transform", one, "histogram", tmp_path / "histogram", "-ci1", "-cx20")
    found = [tuple(map(int, line.split())) for line in (tmp_path / "histogram").read_text().splitlines()]
    assert [kmers for _, kmers in found] == np.bincount(first.counts, minlength=21)[1:].tolist()
    tool("kmc_tools", "-t1", "simple", one, other, "intersect", tmp_path / "both", "-ci1", "-ocmin")
    tool("kmc_tools", "-t1", "transform", tmp_path / "both", "dump", "-s", tmp_path / "text")
    held = dict(lines_of(common))
    expected = [(kmer, min(count, held[kmer])) for kmer, count in lines_of(first) if kmer in held]
    assert len(expected) > 900
    assert (tmp_path / "text").read_text() == "".join(f"{kmer}\t{count}\n" for kmer, count in expected)


@needs_kmc
def test_merges_are_those_of_kmc(tmp_path: Path) -> None:
    """All operations and ways to count of `kmc_tools simple`, in one run of it."""
    first = random_set(7, 1500, seed=1, most=5)
    second = random_set(7, 1500, seed=2, most=5)
    merges = [MergeOptions(operation, mode) for operation in ("union", "intersect") for mode in COUNT_MODES[:-1]]
    merges += [MergeOptions("subtract"), MergeOptions("subtract-counts"), MergeOptions("union", "sum", 3, 6)]
    names = {"subtract": "kmers_subtract", "subtract-counts": "counters_subtract"}
    words = []
    for number, options in enumerate(merges):
        words += [names.get(options.operation, options.operation), str(tmp_path / f"out{number}")]
        words += [f"-ci{options.min_count}", f"-cx{min(options.max_count, 10**9)}"]
        words += [f"-oc{options.counts}"] if options.counts else []
    one, other = write_pair(first, tmp_path / "one"), write_pair(second, tmp_path / "other")
    tool("kmc_tools", "-t1", "simple", one, other, *words)
    for number, options in enumerate(merges):
        tool("kmc_tools", "-t1", "transform", tmp_path / f"out{number}", "dump", "-s", tmp_path / "text")
        found = merge([first, second], options)
        assert found.distinct > 0
        lines = "".join(f"{record['kmer']}\t{record['count']}\n" for record in found.records())
        assert (tmp_path / "text").read_text() == lines, options


@needs_kmc
def test_kmc_takes_an_empty_set(tmp_path: Path) -> None:
    path = write_pair(set_of({}, 21), tmp_path / "x")
    tool("kmc_dump", path, tmp_path / "text")
    assert (tmp_path / "text").read_text() == ""


# Parquet


@pytest.mark.parametrize(("k", "size"), [(5, 40), (31, 300), (65, 60), (21, 0)])
def test_parquet(k: int, size: int) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    kmers = random_set(k, size)
    table = parquet.read_table(io.BytesIO(written(write_parquet, kmers)))
    assert list(zip(table["kmer"].to_pylist(), table["count"].to_pylist(), strict=True)) == lines_of(kmers)
    assert table.schema.metadata == {b"k": str(k).encode(), b"canonical": b"true"}
    assert str(table.schema.field("count").type) == "uint32"


def test_parquet_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'oclgenomics\[parquet\]'"):
        written(write_parquet, random_set(5, 3))
