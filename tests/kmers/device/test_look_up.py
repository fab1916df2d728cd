"""Counts of k-mers looked up on the device: the same bytes as on the host, however inputs and databases are cut."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from helpers.kmer_sets import random_set, set_of, write_database
from helpers.products import drawn, examples
from hypothesis import example, given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.kmers import count, query, reference
from oclgenomics.kmers.analysis import query as query_module
from oclgenomics.kmers.analysis.query import QueryResult
from oclgenomics.kmers.database.kmer_set import CountedKmers
from oclgenomics.kmers.device import look_up
from oclgenomics.kmers.device.key_table import ChosenKmers, CountBounds
from oclgenomics.kmers.device.look_up import TextKmers
from oclgenomics.kmers.formats import query as texts
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.kmers.plan import memory
from oclgenomics.runtime import Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.records import Record

FEW_KS = (1, 5, 9, 16, 31, 32, 33, 64, 65, 256)  # of 1, 2, 3 and 8 words
KS = drawn(
    st.sampled_from(FEW_KS),
    whole=st.one_of(st.integers(1, 12), st.sampled_from([*FEW_KS, 63, 96, 97, 128, 200, 255])),
)
COUNTS = (1, 2, 7, 99, 100, 999, 1000, 1001, 123_456, MAX_COUNTER - 1, MAX_COUNTER)
NAMES = (b"r", b"", b" spaced name", b"\xff\xfe", "ü".encode(), b"a\tb", b"tab\x0bbed")
LETTERS = np.frombuffer(b"ACGT", np.uint8)


def reads_of(k: int, seed: int, size: int) -> list[bytes]:
    """Reads of a small genome, on both strands, with N and other characters, lower case, or shorter than a k-mer."""
    rng = np.random.default_rng(seed)
    genome = LETTERS[rng.integers(0, 4, 2 * k + 60)]
    reads = []
    for _ in range(size):
        length = int(rng.choice([0, 1, k - 1, k, k + 1, rng.integers(0, len(genome))]))
        begin = int(rng.integers(0, len(genome) - length + 1))
        read = genome[begin : begin + length].tobytes()
        if rng.random() < 0.4:
            read = reference.reverse_complement(read.decode()).encode()
        if rng.random() < 0.4 and read:
            at = int(rng.integers(0, len(read)))
            read = read[:at] + bytes([rng.choice(list(b"NRU-*"))]) + read[at + 1 :]
        reads.append(read.lower() if rng.random() < 0.3 else read)
    return [*reads, b"A" * (k + 2)][: max(size, 1)]


def set_of_reads(reads: list[bytes], k: int, canonical: bool, seed: int) -> CountedKmers:
    """The k-mers of half of the reads, with counts of up to 2^32 - 1."""
    text = b"".join(b">x\n%b\n" % read for read in reads[::2])
    kmers = sorted(reference.count([text], CountOptions(k, canonical=canonical)))
    counts = np.random.default_rng(seed).choice(COUNTS, len(kmers)).tolist()
    return set_of(dict(zip(kmers, counts, strict=True)), k, canonical)


def text_of(reads: list[bytes], seed: int, fastq: bool, width: int, newline: bytes) -> bytes:
    names = np.random.default_rng(seed).integers(0, len(NAMES), len(reads)).tolist()
    text = b""
    for number, read in zip(names, reads, strict=True):
        if fastq:
            text += b"@%b\n%b\n+\n%b\n" % (NAMES[number], read, b"I" * len(read))
        else:
            lines = [read[begin : begin + width] for begin in range(0, len(read), width)]
            text += b"\n".join([b">" + NAMES[number], *lines]) + b"\n"
    return text.replace(b"\n", newline)


@contextmanager
def cut(block_bytes: int | None = None, room: int | None = None, most_marked: int = 0) -> Iterator[None]:
    """Blocks of so many bytes, tables of so many k-mers, and files of so many bases at most that are marked first."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(query_module, "most_marked", return_value=most_marked))
        stack.enter_context(mock.patch.object(memory, "MIN_LOOK_UP", 1))  # so that tables of marked k-mers are enlarged
        if block_bytes is not None:
            stack.enter_context(mock.patch.object(query_module, "query_block_bytes", return_value=block_bytes))
        if room is not None:
            stack.enter_context(mock.patch.object(look_up, "table_room", return_value=room))
        yield


def reports(found: QueryResult) -> dict[str, bytes]:
    """The bytes of all reports."""
    ways = {
        "per-record": (found.by_record(), texts.SummaryLines()),
        "counts": (found.along_records(), texts.CountLines()),
        "per-kmer": (texts.pieces_of(found), texts.KmerLines()),
        "bed": (found.intervals(), texts.IntervalLines()),
        "bedgraph": (found.count_intervals(), texts.IntervalLines()),
    }
    made = {}
    for name, (parts, report) in ways.items():
        stream = io.BytesIO()
        texts.write_lines(parts, report, stream)
        made[name] = stream.getvalue()
    made["records"] = json.dumps(list(found.records())).encode()
    return made


@given(
    k=KS,
    canonical=st.booleans(),
    seed=st.integers(0, 1 << 32),
    size=st.integers(1, 12),
    block_bytes=st.integers(30, 900),
    room=st.sampled_from([None, 1, 5, 40]),
    most_marked=st.sampled_from([0, 100, 1 << 20]),
    fastq=st.booleans(),
    width=st.integers(1, 80),
    newline=st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
@settings(max_examples=examples(25))
@example(5, True, 1, 3, 1, None, 0, False, 7, b"\r\n")  # blocks of a byte or a few
@example(9, False, 2, 4, 7, 5, 100, True, 80, b"\n")
def test_all_reports_are_those_of_the_host(
    engine: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    k: int,
    canonical: bool,
    seed: int,
    size: int,
    block_bytes: int,
    room: int | None,
    most_marked: int,
    fastq: bool,
    width: int,
    newline: bytes,
) -> None:
    reads = reads_of(k, seed, size)
    kmers = set_of_reads(reads, k, canonical, seed)
    if room == 1 and kmers.distinct > 60:
        room = kmers.distinct // 9  # a table is made anew for each block
    path = tmp_path_factory.mktemp("x") / "reads"
    path.write_bytes(text_of(reads, seed, fastq, width, b"\n" if fastq and newline == b"\r" else newline))
    expected = reports(query(kmers, files=path, both_strands=True))
    with cut(block_bytes, room, most_marked):
        assert reports(query(kmers, files=path, both_strands=True, engine=engine)) == expected


def test_kmers_that_only_the_other_strand_has_are_marked(engine: Engine, tmp_path: Path) -> None:
    read = LETTERS[np.random.default_rng(3).integers(0, 4, 90)].tobytes()
    other = reference.reverse_complement(read.decode()).encode()
    database = write_database(tmp_path / "db", set_of_reads([other], 31, False, 1))
    (tmp_path / "x.fa").write_bytes(b">r\n" + read + b"\n")
    expected = reports(query(database, files=tmp_path / "x.fa", both_strands=True))
    with cut(most_marked=1 << 20):
        assert reports(query(database, files=tmp_path / "x.fa", both_strands=True, engine=engine)) == expected
    assert b"\t60\t" in expected["per-record"]


@pytest.mark.parametrize("changes", [False, True])
def test_a_file_that_changes_after_its_kmers_were_marked(engine: Engine, tmp_path: Path, *, changes: bool) -> None:
    reads = reads_of(9, 1, 8)
    kmers, path, mark = set_of_reads(reads, 9, True, 1), tmp_path / "reads", query_module.marked_files
    path.write_bytes(text_of(reads, 1, False, 60, b"\n"))

    def marked(*args: Any) -> query_module.MarkedFiles | None:
        found = mark(*args)
        assert found is not None
        if changes:
            path.write_bytes(text_of(reads_of(9, 2, 8), 1, False, 60, b"\n"))
        return found

    with cut(most_marked=1 << 20), mock.patch.object(query_module, "marked_files", marked):
        found = query(kmers, files=path, engine=engine)
        with pytest.raises(InputError, match="reads: changed while it was read") if changes else nullcontext():
            list(found.by_record())


def test_standard_input_and_a_file_with_its_name(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-").write_bytes(b">other\nACGT\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b">x\nGATTACA\n")))
    with cut(most_marked=1 << 20):
        found = query(set_of({"ATTAC": 3}, 5, False), files="-", engine=engine)
        assert [part.counts.tolist() for part in found.along_records() if len(part.counts)] == [[0, 3, 0]]


@given(k=KS, canonical=st.booleans(), seed=st.integers(0, 1 << 32), size=st.integers(1, 10), batch=st.integers(1, 600))
@settings(max_examples=examples(30))
def test_sequences_from_memory(engine: Engine, k: int, canonical: bool, seed: int, size: int, batch: int) -> None:
    reads = reads_of(k, seed, size)
    kmers = set_of_reads(reads, k, canonical, seed)
    given_records = [Record(f"s{number}", read) for number, read in enumerate(reads)]
    expected = reports(query(kmers, given_records, both_strands=True))
    for where in (None, engine):
        assert reports(query(kmers, given_records, batch_letters=batch, both_strands=True, engine=where)) == expected


@given(k=KS, canonical=st.booleans(), backward=st.booleans(), seed=st.integers(0, 1 << 32), room=st.integers(1, 400))
@settings(max_examples=examples(30))
def test_counts_are_those_of_the_oracle(
    engine: Engine, k: int, canonical: bool, backward: bool, seed: int, room: int
) -> None:
    backward = backward and not canonical
    reads = [read.decode() for read in reads_of(k, seed, 8)]
    kmers = set_of_reads([read.encode() for read in reads], k, canonical, seed)
    counts = {record["kmer"]: record["count"] for record in kmers.records()}
    text = "".join(f"{read}\n" for read in reads).encode()
    sizes = np.array([len(read) for read in reads])
    uploaded = Text(engine.upload(np.frombuffer(b"..." + text, np.uint8)), 3, len(text))
    finder = TextKmers(engine, kmers, ChosenKmers(CountBounds()), max(room, kmers.distinct // 7), with_counts=True)
    found, valid = finder.counts_along(
        uploaded, np.cumsum(sizes + 1) - sizes - 1, np.maximum(sizes - k + 1, 0), backward=backward
    )
    expected: list[int | None] = []
    for read in reads:
        one = reference.reverse_complement(read.upper()) if backward else read
        along = reference.counts_along(one, counts, k, canonical=canonical)
        expected += along[::-1] if backward else along
    assert valid.tolist() == [count is not None for count in expected]
    assert found.tolist() == [count or 0 for count in expected]


@pytest.mark.parametrize("k", [31, 40])
def test_a_database_larger_than_memory(engine: Engine, tmp_path: Path, k: int) -> None:
    rng = np.random.default_rng(k)
    genome = LETTERS[rng.integers(0, 4, 60_000)].tobytes()
    (tmp_path / "genome.fa").write_bytes(b">x\n" + genome)
    kmers = count([tmp_path / "genome.fa"], CountOptions(k), engine=engine)
    database = write_database(tmp_path / "db", kmers)
    (tmp_path / "x.fa").write_bytes(b">a\n" + genome[:45_000] + b"N\n>b\n" + genome[40_000:][::-1] + b"\n>c\nACG\n")
    expected = reports(query(database, files=tmp_path / "x.fa"))
    with Engine(engine.device, max_memory=5 << 18) as small:
        assert TextKmers(small, kmers, ChosenKmers(CountBounds()), with_counts=True)._table is None
        assert reports(query(database, files=tmp_path / "x.fa", engine=small)) == expected
        assert small.memory.peak <= 5 << 18
    assert b"\ta\t" not in expected["bed"]


def test_several_files_and_sequences(engine: Engine, tmp_path: Path) -> None:
    kmers = random_set(9, 400)
    for number, text in enumerate(
        (b">a\nACGTACGTAC\n>b\n\n", b"@c\nACGTACGTACGT\n+\nIIIIIIIIIIII\n", b">d\nGATTACAGATTACA")
    ):
        (tmp_path / f"{number}").write_bytes(text)
    files = [tmp_path / f"{number}" for number in range(3)]
    given_here = ["ACGTACGTA", Record("x", b"ACGT")]
    expected = reports(query(kmers, given_here, files=files))
    assert reports(query(kmers, given_here, files=files, engine=engine)) == expected
    names = [line.split(b"\t")[0] for line in expected["per-record"].splitlines()[1:]]
    assert names == [b"1", b"x", b"a", b"b", b"c", b"d"]


@pytest.mark.parametrize("text", [b"", b"\n", b"ACGT\n", b"@a\nACGT\n+\nIII\n", b"@a\nACGT\n+\nIIII\nb\nA\n+\nI\n"])
def test_defects_of_files(engine: Engine, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x").write_bytes(text)
    for where in (None, engine):
        with pytest.raises(InputError):
            list(query(random_set(9, 10), files=tmp_path / "x", engine=where))


def test_parts_keep_their_arrays(engine: Engine, tmp_path: Path) -> None:
    """All of a query may be held, though blocks of text are overwritten."""
    reads = [b"ACGTT"[number % 5 :] * 9 for number in range(90)]
    (tmp_path / "x.fq").write_bytes(text_of(reads, 1, True, 0, b"\n"))
    with cut(300):
        found = query(random_set(4, 90), files=tmp_path / "x.fq", engine=engine)
        parts = list(found)
        assert len(parts) > 5
        assert [row for part in parts for row in part.rows()] == [row for part in found for row in part.rows()]
    host = query(random_set(4, 90), files=tmp_path / "x.fq")
    assert [row for part in parts for row in part.rows()] == [row for part in host for row in part.rows()]
