"""Counts along sequences and intervals of found k-mers against the oracle, however long sequences are cut."""

from __future__ import annotations

import json
from itertools import chain, pairwise
from pathlib import Path
from statistics import median
from unittest import mock

import numpy as np
import pytest
from helpers.kmer_sets import set_of, write_database
from hypothesis import given, strategies as st

from oclgenomics.cli.main import main
from oclgenomics.kmers import query, reference
from oclgenomics.kmers.analysis.found import RecordCounts, joined_records, summaries_of
from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.database.kmer_set import CountedKmers
from oclgenomics.kmers.formats import query as formats
from oclgenomics.kmers.formats.query import CountLines, write_counts_npz
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.sequence.records import Record

SEQUENCES = st.lists(st.text("ACGTacgtN", max_size=40), min_size=1, max_size=5)
REPEATS = st.lists(st.text("ACN", max_size=40), min_size=1, max_size=5)  # many k-mers are found
CASES = {
    "texts": st.one_of(SEQUENCES, REPEATS),
    "k": st.integers(1, 6),
    "canonical": st.booleans(),
    "batch": st.integers(1, 50),
}


def case(texts: list[str], k: int, canonical: bool) -> tuple[list[Record], CountedKmers, dict[str, int]]:
    """Records, the set of the k-mers of every second of them, and the same as text."""
    records = [Record(str(number), text.encode()) for number, text in enumerate(texts)]
    fasta = b"".join(b">x\n" + record.letters + b"\n" for record in records[::2])
    kmers = set_of(reference.count([fasta], CountOptions(k, canonical=canonical)), k, canonical)
    return records, kmers, dict(zip(texts_of(kmers.keys, k), kmers.counts.tolist(), strict=True))


def along(text: str, counts: dict[str, int], k: int, canonical: bool) -> list[int | None]:
    return reference.counts_along(text, counts, k, canonical=canonical)


@given(**CASES)
def test_counts_along_records(texts: list[str], k: int, canonical: bool, batch: int) -> None:
    records, kmers, counts = case(texts, k, canonical)
    expected = [along(text, counts, k, canonical) for text in texts]
    found = query(kmers, records, batch_letters=batch)
    joined = list(chain.from_iterable(part.records() for part in joined_records(found.along_records())))
    assert [(row["record"], row["counts"]) for row in joined] == [(str(n), row) for n, row in enumerate(expected)]
    lines = [",".join(["NA" if count is None else str(count) for count in row]) for row in expected]
    written = b"".join(map(CountLines().body, found.along_records())).decode()
    assert written == "".join(f"{number}\t{line}\n" for number, line in enumerate(lines))


@given(**CASES, size=st.integers(1, 40))
def test_pieces(texts: list[str], k: int, canonical: bool, batch: int, size: int) -> None:
    records, kmers, _ = case(texts, k, canonical)
    for part in query(kmers, records, batch_letters=batch):
        pieces = list(part.pieces(size))
        assert all(len(piece.along.counts) <= size for piece in pieces)
        expected = zip(part.record.tolist(), part.position.tolist(), part.letters().tolist(), part.counts, strict=True)
        assert [
            (piece.names[record], position, letters, count)
            for piece in pieces
            for record, position, letters, count in zip(
                piece.record.tolist(), piece.position.tolist(), piece.letters().tolist(), piece.counts, strict=True
            )
        ] == [(part.names[record], *rest) for record, *rest in expected]
        for one, other in pairwise(pieces):
            assert one.along.ends == other.along.begins
        if pieces and part.windows[-1]:
            assert pieces[-1].whole == part.whole
        if pieces and part.windows[0]:
            assert (pieces[0].along.begins, pieces[0].offset) == (part.along.begins, part.offset)


@given(
    rows=st.lists(
        st.lists(st.sampled_from([None, 0, 1, 9, 10, 999, 1000, 1001, MAX_COUNTER]), max_size=20),
        min_size=1,
        max_size=6,
    ),
    cells=st.integers(1, 9),
)
def test_large_counts(rows: list[list[int | None]], cells: int) -> None:
    """Lines and summaries of counts of any size, in sequences of any length."""
    flat = [count for row in rows for count in row]
    along = RecordCounts(
        [f"r{number}" for number in range(len(rows))], np.cumsum([0, *map(len, rows)]),
        np.array([count or 0 for count in flat], np.uint32), np.array([count is not None for count in flat], np.bool_),
    )  # fmt: skip
    with mock.patch.object(formats, "CELLS", cells):
        written = CountLines().body(along).decode()
    lines = [",".join(["NA" if count is None else str(count) for count in row]) for row in rows]
    assert written == "".join(f"r{number}\t{line}\n" for number, line in enumerate(lines))
    for row, (_, windows, found, average, middle) in zip(rows, summaries_of(along).rows(), strict=True):
        counts = [count for count in row if count is not None]
        assert (windows, found) == (len(counts), sum(count > 0 for count in counts))
        assert (average, middle) == ((sum(counts) / len(counts), median(counts)) if counts else (None, None))


@pytest.mark.parametrize("batch", [3, 1000])
def test_counts_as_arrays(tmp_path: Path, batch: int) -> None:
    texts = ["ACGTNACGTACC", "AC", "", "GGGTTTACGT"]
    records, kmers, counts = case(texts, 3, True)
    write_counts_npz(query(kmers, records, batch_letters=batch).along_records(), tmp_path / "x.npz")
    expected = [along(text, counts, 3, True) for text in texts]
    with np.load(tmp_path / "x.npz") as arrays:
        assert arrays["names"].tolist() == ["0", "1", "2", "3"]
        assert arrays["starts"].tolist() == [0, *np.cumsum([len(row) for row in expected])]
        assert arrays["counts"].dtype == np.uint32
        assert arrays["counts"].tolist() == [count or 0 for row in expected for count in row]
        assert arrays["valid"].tolist() == [count is not None for row in expected for count in row]


def covered(there: list[bool], k: int) -> list[tuple[int, int]]:
    """Intervals of the letters that windows cover."""
    letters = {place + i for place, found in enumerate(there) if found for i in range(k)}
    starts = sorted(place for place in letters if place - 1 not in letters)
    return [(start, next(end for end in range(start, 1000) if end not in letters)) for start in starts]


@given(**CASES)
def test_intervals(texts: list[str], k: int, canonical: bool, batch: int) -> None:
    records, kmers, counts = case(texts, k, canonical)
    expected: list[tuple[object, ...]] = []
    for number, text in enumerate(texts):
        row = along(text, counts, k, canonical)
        forward = [(str(number), start, end) for start, end in covered([bool(count) for count in row], k)]
        if canonical:
            expected += forward
            continue
        other = along(reference.reverse_complement(text.upper()), counts, k, False)[::-1]
        backward = [(str(number), start, end) for start, end in covered([bool(count) for count in other], k)]
        both = [(*one, ".", 0, "+") for one in forward] + [(*one, ".", 0, "-") for one in backward]
        expected += sorted(both, key=lambda one: (one[1], one[-1]))
    found = query(kmers, records, batch_letters=batch, both_strands=True).intervals()
    assert list(chain.from_iterable(part.rows() for part in found)) == expected


@given(**CASES)
def test_intervals_of_equal_counts(texts: list[str], k: int, canonical: bool, batch: int) -> None:
    records, kmers, counts = case(texts, k, canonical)
    expected: list[tuple[str, int, int, int]] = []
    for number, text in enumerate(texts):
        for place, count in enumerate(along(text, counts, k, canonical)):
            if not count:
                continue
            if expected and (expected[-1][0], expected[-1][2], expected[-1][3]) == (str(number), place, count):
                expected[-1] = (*expected[-1][:2], place + 1, count)
            else:
                expected.append((str(number), place, place + 1, count))
    found = query(kmers, records, batch_letters=batch).count_intervals()
    assert list(chain.from_iterable(part.rows() for part in found)) == expected


# The command


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    _, kmers, _ = case(["GATTACAGATTACA"], 5, True)
    write_database(tmp_path / "db", kmers)
    write_database(tmp_path / "stranded", case(["GATTACAGATTACA"], 5, False)[1])
    (tmp_path / "x.fa").write_bytes(b">c1\nTTGATTACATT\nTNTGTAATC\n>c2\nAC\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["db", "--counts"], "record\tcounts\nc1\t0,0,2,2,2,0,0,0,NA,NA,NA,NA,NA,2,2,2\nc2\t\n"),
        (["db", "--bed"], "c1\t2\t9\nc1\t13\t20\n"),
        (["stranded", "--bed"], "c1\t2\t9\t.\t0\t+\nc1\t13\t20\t.\t0\t-\n"),
        (["stranded", "--bedgraph"], "c1\t2\t5\t2\n"),
    ],
)
def test_the_command(files: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected: str) -> None:
    database, how = words
    assert main(["kmers", "query", database, "--file", "x.fa", how]) == 0
    assert capsys.readouterr().out == expected
    assert main(["kmers", "query", database, "--file", "x.fa", how, "--json", "-o", "x.json", "-q"]) == 0
    rows = json.loads((files / "x.json").read_text())["rows"]
    assert len(rows) == expected.count("\n") - (how == "--counts")
    assert rows[0]["record"] == "c1"


def test_the_command_writes_arrays(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kmers", "query", "db", "--file", "x.fa", "--counts", "-o", "x.npz"]) == 0
    with np.load(files / "x.npz") as arrays:
        assert arrays["names"].tolist() == ["c1", "c2"]
    assert main(["kmers", "query", "db", "--file", "x.fa", "--counts", "-o", "y.npz", "--json"]) == 2
    assert "contradict" in capsys.readouterr().err
    assert not (files / "y.npz").exists()
