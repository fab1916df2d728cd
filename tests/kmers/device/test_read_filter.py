"""Reads filtered by their k-mers against the oracle, for every k and every way to cut inputs into blocks."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import random_set, set_of, write_database
from helpers.products import on_one_cpu
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError, UsageError
from oclgenomics.kmers import FilterOptions, filter_reads, reference
from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.database.kmer_set import CountedKmers
from oclgenomics.kmers.device.key_table import ChosenKmers, CountBounds
from oclgenomics.kmers.device.look_up import TextKmers
from oclgenomics.kmers.device.read_filter import HowToRead, counted_reads
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.runtime import Device, Engine

KS = (1, 2, 16, 31, 32, 33, 63, 64, 65, 96, 256)
LETTERS = np.frombuffer(b"ACGT", np.uint8)

ALL_COUNTS = CountBounds()


def counts_of_set(kmers: CountedKmers, bounds: CountBounds = ALL_COUNTS) -> dict[str, int]:
    pairs = zip(texts_of(kmers.keys, kmers.k), kmers.counts.tolist(), strict=True)
    return {kmer: count for kmer, count in pairs if bounds.least <= count <= bounds.most}


def expected_numbers(
    reads: Sequence[str], kmers: CountedKmers, bounds: CountBounds = ALL_COUNTS
) -> list[tuple[int, int]]:
    """K-mers of each read, and those that a set has."""
    counts = counts_of_set(kmers, bounds)
    along = [reference.counts_along(read, counts, kmers.k, canonical=kmers.canonical) for read in reads]
    return [(sum(one is not None for one in some), sum(bool(one) for one in some)) for some in along]


def numbers_of(
    engine: Engine,
    path: Path,
    kmers: CountedKmers,
    bounds: CountBounds = ALL_COUNTS,
    block_bytes: int | None = None,
    room: int | None = None,
) -> tuple[list[tuple[int, int]], list[bytes]]:
    """The same as the device finds it, and the texts of the reads."""
    look_up = TextKmers(engine, kmers, ChosenKmers(bounds), room=room)
    numbers, texts = [], []
    for run in counted_reads(engine, path, look_up, HowToRead(kmers.k - 1, block_bytes)):
        numbers += list(zip(run.kmers.tolist(), run.found.tolist(), strict=True))
        texts += [text.encode() for text in run.texts]
    return numbers, texts


def random_reads(k: int, seed: int = 1) -> list[str]:
    """Reads of a small genome on both strands, some with N, lower case, or too short, and some of one letter."""
    rng = np.random.default_rng(seed)
    genome = LETTERS[rng.integers(0, 4, 4 * k + 300)].tobytes().decode()
    reads = []
    for length in [0, 1, k - 1, k, k + 1, *rng.integers(1, 3 * k + 50, 25)]:
        begin = int(rng.integers(0, len(genome) - length + 1))
        read = genome[begin : begin + length]
        read = reference.reverse_complement(read) if rng.random() < 0.5 else read
        if rng.random() < 0.3 and read:
            at = int(rng.integers(0, len(read)))
            read = read[:at] + "N" + read[at + 1 :]
        reads.append(read.lower() if rng.random() < 0.3 else read)
    return [*reads, "A" * (k + 3), "T" * (k + 3), "C" * (k + 3), "G" * (k + 3)]


def fastq(reads: Sequence[str], mate: str = "") -> bytes:
    records = [f"@r{number}{mate} x\n{read}\n+\n{'I' * len(read)}\n" for number, read in enumerate(reads)]
    return "".join(records).encode()


def fasta(reads: Sequence[str], width: int = 60) -> bytes:
    lines = ["\n".join([f">r{n} x", *(read[i : i + width] for i in range(0, len(read), width))]) for n, read in
             enumerate(reads)]  # fmt: skip
    return ("\n".join(lines) + "\n").encode()


def set_of_reads(reads: Sequence[str], k: int, canonical: bool) -> CountedKmers:
    return set_of(reference.count([fasta(reads)], CountOptions(k, canonical=canonical)), k, canonical)


@pytest.mark.each_value
@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("canonical", [True, False])
def test_every_k(engine: Engine, tmp_path: Path, k: int, canonical: bool) -> None:
    reads = random_reads(k)
    kmers = set_of_reads(reads[::2], k, canonical)
    path = tmp_path / "reads"
    path.write_bytes(fastq(reads))
    assert numbers_of(engine, path, kmers)[0] == expected_numbers(reads, kmers)
    assert any(0 < found < seen for seen, found in expected_numbers(reads, kmers)) or k < 3


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("letter", "ACGT")
@pytest.mark.parametrize("k", [32, 64])
def test_kmers_of_one_letter(engine: Engine, tmp_path: Path, k: int, letter: str, canonical: bool) -> None:
    """Keys without a bit set, and with all of them."""
    reads = [other * (k + 2) for other in "ACGT"]
    kmers = set_of_reads([letter * k], k, canonical)
    (tmp_path / "reads").write_bytes(fastq(reads))
    assert numbers_of(engine, tmp_path / "reads", kmers)[0] == expected_numbers(reads, kmers)


@pytest.mark.parametrize("k", [33, 64, 70])
def test_kmers_that_end_alike(engine: Engine, tmp_path: Path, k: int) -> None:
    """Their keys differ in a word behind the first one alone."""
    end = ("GATTACACCGT" * 7)[: k - 1]
    reads = [first + end for first in "ACGT"]
    (tmp_path / "reads").write_bytes(fastq(reads))
    for held in ("C", "GT"):
        kmers = set_of(dict.fromkeys([first + end for first in held], 1), k, canonical=False)
        assert numbers_of(engine, tmp_path / "reads", kmers)[0] == [(1, int(first in held)) for first in "ACGT"]


@pytest.mark.parametrize("room", [2, 100])
@pytest.mark.parametrize(("least", "most"), [(1, 1), (2, 3), (3, 1 << 32), (4, 4), (9, 10)])
def test_bounds_on_counts(engine: Engine, tmp_path: Path, room: int, least: int, most: int) -> None:
    kmers = set_of({"AAAA": 4, "ACGA": 1, "CAGA": 2, "CCCA": 3, "GATA": 4, "GCCA": (1 << 32) - 1}, 4, canonical=False)
    reads = texts_of(kmers.keys, 4)
    (tmp_path / "reads").write_bytes(fastq(reads))
    expected = [(1, int(least <= count <= most)) for count in kmers.counts.tolist()]
    assert numbers_of(engine, tmp_path / "reads", kmers, CountBounds(least, most), room=room)[0] == expected


@pytest.mark.parametrize("k", [5, 21, 40])
@pytest.mark.parametrize("room", [1, *on_one_cpu(3, 64), 1000])
def test_tables_smaller_than_the_set(engine: Engine, tmp_path: Path, k: int, room: int) -> None:
    reads = random_reads(k)
    kmers = set_of_reads(reads[::2], k, True)
    bounds = CountBounds(2, 9)
    kmers = CountedKmers(k, True, kmers.keys[:, :150], kmers.counts[:150])
    (tmp_path / "reads").write_bytes(fastq(reads))
    for some in (ALL_COUNTS, bounds):
        found, _ = numbers_of(engine, tmp_path / "reads", kmers, some, room=room)
        assert found == expected_numbers(reads, kmers, some)


@pytest.mark.parametrize("k", [7, 31])
def test_full_lines_go_on_in_the_next(engine: Engine, tmp_path: Path, k: int) -> None:
    """Many k-mers in a database: some lines of a table have more than they hold."""
    kmers = random_set(k, 6000)
    reads = [*texts_of(kmers.keys, k)[::7], *random_reads(k)]
    (tmp_path / "reads").write_bytes(fastq(reads))
    assert numbers_of(engine, tmp_path / "reads", kmers)[0] == expected_numbers(reads, kmers)


@pytest.mark.parametrize("block_bytes", [7, 64, 300, 5000])
def test_records_over_many_blocks(engine: Engine, tmp_path: Path, block_bytes: int) -> None:
    reads = random_reads(20)
    kmers = set_of_reads(reads[::2], 20, True)
    expected = expected_numbers(reads, kmers)
    for text, mark in ((fasta(reads, 17), b">"), (fastq(reads), b"@")):
        (tmp_path / "reads").write_bytes(text)
        numbers, texts = numbers_of(engine, tmp_path / "reads", kmers, block_bytes=block_bytes)
        assert numbers == expected
        assert b"".join(texts) == text
        assert all(one.startswith(mark) for one in texts)


def test_a_read_longer_than_what_a_work_item_takes(engine: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    reads = [LETTERS[rng.integers(0, 4, size)].tobytes().decode() for size in (70_000, 100, (1 << 14) + 20)]
    kmers = set_of_reads([reads[0][:40_000], reads[1], reads[2][::-1]], 21, True)
    (tmp_path / "reads").write_bytes(fasta(reads))
    numbers, _ = numbers_of(engine, tmp_path / "reads", kmers)
    assert numbers == expected_numbers(reads, kmers)
    assert numbers[0][1] == 40_000 - 20


@given(
    reads=st.lists(st.text("ACGTacgtN", max_size=40), min_size=1, max_size=8),
    k=st.integers(1, 12),
    canonical=st.booleans(),
    block_bytes=st.integers(1, 200),
    width=st.integers(1, 50),
    blank=st.sampled_from(["\n", "\r\n", "\n\n", "\r"]),
)
@settings(max_examples=40)
def test_texts_stay_as_they_are(
    engine: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    reads: list[str],
    k: int,
    canonical: bool,
    block_bytes: int,
    width: int,
    blank: str,
) -> None:
    text = fasta(reads, width).replace(b"\n", blank.encode())
    path = tmp_path_factory.mktemp("x") / "reads.fa"
    path.write_bytes(text)
    kmers = set_of_reads(reads[::2], k, canonical)
    numbers, texts = numbers_of(engine, path, kmers, block_bytes=block_bytes)
    assert numbers == expected_numbers(reads, kmers)
    assert b"".join(texts) == text


# Options


def test_bounds() -> None:
    kmers, found = np.array([0, 10, 10, 10, 100]), np.array([0, 0, 1, 7, 55])
    for options, expected in (
        (FilterOptions(), [0, 0, 1, 1, 1]),
        (FilterOptions(min_kmers=0), [1, 1, 1, 1, 1]),
        (FilterOptions(min_kmers=7), [0, 0, 0, 1, 1]),
        (FilterOptions(max_kmers=7), [1, 1, 1, 1, 0]),
        (FilterOptions(min_fraction=0.55), [0, 0, 0, 1, 1]),
        (FilterOptions(max_fraction=0.55), [1, 1, 1, 0, 1]),
        (FilterOptions(min_fraction=0.7), [0, 0, 0, 1, 0]),
        (FilterOptions(max_fraction=0), [1, 1, 0, 0, 0]),
        (FilterOptions(min_kmers=1, max_fraction=0.1), [0, 0, 1, 0, 0]),
    ):
        assert options.passing(kmers, found).tolist() == [bool(one) for one in expected], options


def test_a_share_is_what_it_is_written_as() -> None:
    """No rounding between a bound and found / k-mers."""
    for kmers in range(1, 120):
        for found in range(kmers + 1):
            one = np.array([kmers]), np.array([found])
            share = found / kmers
            assert FilterOptions(min_fraction=share, max_fraction=share).passing(*one)[0]


@pytest.mark.one_cpu  # refusals
@pytest.mark.parametrize(
    "wrong",
    [
        {"min_kmers": -1},
        {"max_kmers": -1},
        {"min_kmers": 3, "max_kmers": 2},
        {"min_fraction": 1.5},
        {"max_fraction": -0.1},
        {"min_fraction": float("nan")},
        {"min_fraction": 0.5, "max_fraction": 0.4},
        {"min_count": 0},
        {"min_count": 3, "max_count": 2},
        {"min_count": 1 << 32, "max_count": 1 << 33},
        {"pairs": "one"},
    ],
)
def test_options_out_of_range(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        FilterOptions(**wrong)  # type: ignore[arg-type]


@pytest.mark.one_cpu  # options alone
def test_the_largest_count_is_a_bound() -> None:
    options = FilterOptions(min_count=MAX_COUNTER, max_count=MAX_COUNTER)
    assert CountBounds(options.min_count, options.max_count).highest == MAX_COUNTER


# Files


def filtered(
    engine: Engine, tmp_path: Path, kmers: CountedKmers, reads: Sequence[Path], options: FilterOptions, **how: object
) -> tuple[bytes, bytes]:
    """What is kept, and the rest."""
    out, rest = tmp_path / "kept", tmp_path / "rest"
    filter_reads(kmers, reads, out, options, rest=rest, engine=engine, **how)  # type: ignore[arg-type]
    return out.read_bytes(), rest.read_bytes()


def records_in(text: bytes) -> list[bytes]:
    lines = text.splitlines(keepends=True)
    return [b"".join(lines[i : i + 4]) for i in range(0, len(lines), 4)]


@pytest.mark.one_cpu  # files of reads, which the host writes
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("kind", ["set", "database"])
def test_single_reads(engine: Engine, tmp_path: Path, drop: bool, kind: str) -> None:
    reads = random_reads(15)
    kmers = set_of_reads(reads[::2], 15, True)
    source = kmers if kind == "set" else write_database(tmp_path / "db", kmers)
    (tmp_path / "a.fq").write_bytes(fastq(reads))
    (tmp_path / "b.fq.gz").write_bytes(gzip.compress(fastq(reads[::-1])))
    options = FilterOptions(min_fraction=0.6, min_count=2, max_count=6, drop=drop)
    paths = [tmp_path / "a.fq", tmp_path / "b.fq.gz"]
    summary = filter_reads(source, paths, tmp_path / "out", options, rest=tmp_path / "no", engine=engine)
    numbers = expected_numbers([*reads, *reads[::-1]], kmers, CountBounds(2, 6))
    passing = [seen > 0 and found / seen >= 0.6 for seen, found in numbers]
    assert set(passing) == {True, False}
    texts = [*records_in(fastq(reads)), *records_in(fastq(reads[::-1]))]
    kept = [text for text, passes in zip(texts, passing, strict=True) if passes != drop]
    others = [text for text, passes in zip(texts, passing, strict=True) if passes == drop]
    assert (tmp_path / "out").read_bytes() == b"".join(kept)
    assert (tmp_path / "no").read_bytes() == b"".join(others)
    found = sum(there for _, there in numbers)
    (record,) = summary.records()
    assert record == {
        "reads": len(texts), "kept": len(kept), "pairs": 0, "kmers": sum(seen for seen, _ in numbers), "found": found
    }  # fmt: skip


@pytest.mark.one_cpu  # files of reads, which the host writes
@pytest.mark.parametrize("rule", ["either", "both"])
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("outputs", ["one", "two"])
def test_pairs_stay_together(engine: Engine, tmp_path: Path, rule: str, drop: bool, outputs: str) -> None:
    first, second = random_reads(12), [*random_reads(12, seed=2)[:0:-1], "ACGTTGCATTACG"]
    kmers = set_of_reads([*first[::3], *second[::4]], 12, True)
    passing = [[found >= 4 for _, found in expected_numbers(reads, kmers)] for reads in (first, second)]
    joined = [(any if rule == "either" else all)(pair) for pair in zip(*passing, strict=True)]
    assert len({*zip(*passing, strict=True)}) > 2
    texts = [records_in(fastq(reads, mate)) for reads, mate in ((first, "/1"), (second, "/2"))]
    wanted = [passes != drop for passes in joined]
    kept = [[text for text, one in zip(mates, wanted, strict=True) if one] for mates in texts]
    in_turn = [text for pair in zip(*kept, strict=True) for text in pair]
    for name, mates in zip(("1.fq", "2.fq"), texts, strict=True):
        (tmp_path / name).write_bytes(b"".join(mates).removesuffix(b"\n"))
    (tmp_path / "both.fq").write_bytes(b"".join(text for pair in zip(*texts, strict=True) for text in pair))
    options = FilterOptions(min_kmers=4, pairs=rule, drop=drop)  # type: ignore[arg-type]
    out = tmp_path / ("out#.fq" if outputs == "two" else "out.fq")
    ways: list[tuple[list[Path], dict[str, object]]] = [
        ([], {"paired": [(tmp_path / "1.fq", tmp_path / "2.fq")]}),
        ([tmp_path / "both.fq"], {"interleaved": True}),
    ]
    for reads, how in ways:
        summary = filter_reads(kmers, reads, out, options, engine=engine, **how)  # type: ignore[arg-type]
        assert (summary.pairs, summary.reads, summary.kept) == (len(first), 2 * len(first), 2 * sum(wanted))
        if outputs == "two":
            assert [(tmp_path / f"out_{n}.fq").read_bytes() for n in (1, 2)] == [b"".join(mates) for mates in kept]
        else:
            assert out.read_bytes() == b"".join(in_turn)


def test_packed_outputs(engine: Engine, tmp_path: Path) -> None:
    reads = random_reads(10)
    (tmp_path / "a.fq").write_bytes(fastq(reads))
    kmers = set_of_reads(reads, 10, False)
    for name in ("plain", "packed.gz"):
        filter_reads(kmers, tmp_path / "a.fq", tmp_path / name, engine=engine)
    assert gzip.decompress((tmp_path / "packed.gz").read_bytes()) == (tmp_path / "plain").read_bytes() != b""


def test_standard_output(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = random_reads(10)
    (tmp_path / "a.fq").write_bytes(fastq(reads))
    shown = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", shown)
    filter_reads(set_of({}, 10), tmp_path / "a.fq", "-", FilterOptions(drop=True), engine=engine)
    assert shown.buffer.getvalue() == fastq(reads)  # type: ignore[attr-defined]


def test_little_memory(device: Device, tmp_path: Path) -> None:
    """A database in many tables, read anew for each block."""
    keys = np.unique(np.random.default_rng(1).integers(0, 1 << 62, 100_000, dtype=np.uint64))
    kmers = CountedKmers(31, False, keys.reshape(1, -1), np.ones(len(keys), np.uint32))
    write_database(tmp_path / "db", kmers)
    reads = [*texts_of(kmers.keys[:, ::50], 31), *random_reads(31)]
    (tmp_path / "a.fq").write_bytes(fastq(reads))
    with Engine(device, max_memory=2 << 20) as engine:
        summary = filter_reads(tmp_path / "db", tmp_path / "a.fq", tmp_path / "out", engine=engine)
    expected = expected_numbers(reads, kmers)
    assert (summary.kmers, summary.found) == tuple(map(sum, zip(*expected, strict=True)))


@pytest.mark.one_cpu  # refusals
@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (b"@a\nAC\n+\nII\n", b"@b\nAC\n+\nII\n", "different names"),
        (b"@a\nAC\n+\nII\n@b\nAC\n+\nII\n", b"@a\nAC\n+\nII\n", "equally many"),
        (b"@a\nAC\n+\nII\n", b">a\nAC\n", "is FASTA, but"),
        (b"@a\nAC\n+\nI\n", b"@a\nAC\n+\nII\n", "record 1"),
    ],
)
def test_mates_that_do_not_belong_together(
    engine: Engine, tmp_path: Path, first: bytes, second: bytes, message: str
) -> None:
    for name, text in (("1", first), ("2", second)):
        (tmp_path / name).write_bytes(text)
    with pytest.raises(InputError, match=message):
        filter_reads(
            set_of({"AC": 1}, 2), [], tmp_path / "out", paired=[(tmp_path / "1", tmp_path / "2")], engine=engine
        )
    assert not (tmp_path / "out").exists()


def test_a_mate_that_is_missing(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"@a\nAC\n+\nII\n" * 3)
    with pytest.raises(InputError, match="odd number"):
        filter_reads(set_of({"AC": 1}, 2), tmp_path / "a", tmp_path / "out", interleaved=True, engine=engine)


def test_outputs_are_no_inputs(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"@a\nAC\n+\nII\n")
    kmers = set_of({"AC": 1}, 2)
    with pytest.raises(UsageError, match="same file"):
        filter_reads(kmers, tmp_path / "a", tmp_path / "a", engine=engine)
    with pytest.raises(UsageError, match="same file"):
        filter_reads(kmers, tmp_path / "a", tmp_path / "b", rest=tmp_path / "b", engine=engine)
    with pytest.raises(UsageError, match="one file"):
        filter_reads(kmers, [], tmp_path / "b", paired=[(tmp_path / "a", tmp_path / "a")], engine=engine)
    with pytest.raises(UsageError, match="no reads"):
        filter_reads(kmers, [], tmp_path / "b", engine=engine)
