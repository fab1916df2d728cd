"""Look-ups: the k-mers of letters against the oracle, and their counts, however they are asked for."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest
from helpers.kmer_sets import GOLDEN, A, C, pairs_of, random_set, set_of, write_database
from hypothesis import given, strategies as st

from oclgenomics.errors import InputError, UsageError
from oclgenomics.kmers import reference
from oclgenomics.kmers.analysis.query import kmers_of_letters, look_up
from oclgenomics.kmers.api import counts_of, query
from oclgenomics.kmers.database.keys import keys_of, texts_of
from oclgenomics.kmers.database.kmer_set import CountedKmers
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.options import CountOptions
from oclgenomics.sequence.records import Record, read_records


def expected_windows(text: str, k: int, canonical: bool) -> list[tuple[int, str]]:
    windows = [(place, text[place : place + k].upper()) for place in range(len(text) - k + 1)]
    windows = [(place, kmer) for place, kmer in windows if set(kmer) <= set("ACGT")]
    return [(place, min(kmer, reference.reverse_complement(kmer)) if canonical else kmer) for place, kmer in windows]


@given(text=st.text("ACGTacgtN", max_size=90), k=st.integers(1, 70), canonical=st.booleans())
def test_windows(text: str, k: int, canonical: bool) -> None:
    keys, places = kmers_of_letters(np.frombuffer(text.encode(), np.uint8), k, canonical=canonical)
    found = list(zip(places.tolist(), texts_of(keys, k), strict=True))
    assert found == expected_windows(text, k, canonical)


@pytest.mark.each_value
@pytest.mark.parametrize("k", [31, 32, 33, 64, 65, 96, 200, 256])
@pytest.mark.parametrize("canonical", [True, False])
def test_windows_of_long_kmers(k: int, canonical: bool) -> None:
    letters = np.random.default_rng(k).choice(np.frombuffer(b"ACGT", np.uint8), 700)
    letters[300] = ord("N")
    keys, places = kmers_of_letters(letters, k, canonical=canonical)
    found = list(zip(places.tolist(), texts_of(keys, k), strict=True))
    assert found == expected_windows(letters.tobytes().decode(), k, canonical)


@pytest.mark.parametrize(("text", "k", "canonical", "expected"), GOLDEN)
def test_golden_counts(text: bytes, k: int, canonical: bool, expected: str) -> None:
    pairs = pairs_of(expected, k)
    kmers = set_of(pairs, k, canonical)
    assert counts_of(kmers, list(pairs)).tolist() == list(pairs.values())
    others = [reference.reverse_complement(kmer).lower() for kmer in pairs]
    counts = counts_of(kmers, others).tolist()
    if canonical:
        assert counts == list(pairs.values())
    else:
        assert counts == [pairs.get(kmer.upper(), 0) for kmer in others]


@pytest.mark.parametrize("words", [["GATTACA"], ["GATT"], ["GATTN"], ["GATTA", "GA"]])
def test_kmers_that_are_none(words: list[str]) -> None:
    with pytest.raises(UsageError, match=r"bases|characters"):
        counts_of(set_of({"GATTA": 1}, 5), words)


@pytest.mark.parametrize("k", [5, 31, 40, 100])
def test_a_database_and_memory_say_the_same(k: int, tmp_path: Path) -> None:
    kmers = random_set(k, 500)
    queries = np.concatenate([kmers.keys[:, ::3], random_set(k, 100, seed=2).keys], axis=1)
    held = dict(zip(texts_of(kmers.keys, k), kmers.counts.tolist(), strict=True))
    expected = [held.get(kmer, 0) for kmer in texts_of(queries, k)]
    assert look_up(kmers, queries).tolist() == expected
    with KmerDatabase.open(write_database(tmp_path / "x", kmers)) as database:
        assert look_up(database, queries).tolist() == expected


def test_an_empty_set_has_nothing() -> None:
    assert look_up(set_of({}, 5), keys_of(["ACGTA"])).tolist() == [0]


@pytest.mark.parametrize("letters", [b"N" * 90, b"ACG", b"", b"ACGTACGT" + b"N" * 90 + b"ACGTA"], ids=len)
@pytest.mark.parametrize("batch", [20, 1000])
def test_sequences_without_a_kmer(letters: bytes, batch: int, tmp_path: Path) -> None:
    kmers = set_of(pairs_of(GOLDEN[0][3], 5), 5)
    with KmerDatabase.open(write_database(tmp_path / "a.kmers", kmers)) as database:
        (held,) = query(database, [Record("x", letters)], batch_letters=batch).by_record()
    (known,) = query(kmers, [Record("x", letters)], batch_letters=batch).by_record()
    assert (held.kmers, held.found) == (known.kmers, known.found)
    assert held.kmers == len(expected_windows(letters.decode(), 5, True))


def counted(records: list[Record], k: int) -> CountedKmers:
    text = b"".join(b">x\n" + record.letters + b"\n" for record in records)
    return set_of(reference.count([text], CountOptions(k)), k)


SEQUENCES = st.lists(st.text("ACGTacgtN", max_size=30), min_size=1, max_size=6)


@given(texts=SEQUENCES, k=st.integers(1, 9), batch=st.integers(1, 60))
def test_every_batch_size_gives_the_same(texts: list[str], k: int, batch: int) -> None:
    records = [Record(str(number), text.encode()) for number, text in enumerate(texts)]
    kmers = counted(records[::2], k)
    held = dict(zip(texts_of(kmers.keys, k), kmers.counts.tolist(), strict=True))
    expected = [
        (
            record.name,
            place,
            record.letters[place : place + k].decode(),  # as it stands there
            held.get(min(kmer, reference.reverse_complement(kmer)), 0),
        )
        for record in records
        for place, kmer in expected_windows(record.letters.decode(), k, False)
    ]
    found = []
    for some in query(kmers, records, batch_letters=batch):
        names = [some.names[number] for number in some.record]
        letters = [row.tobytes().decode() for row in some.letters()]
        found += list(zip(names, some.position.tolist(), letters, some.counts.tolist(), strict=True))
    assert found == expected

    rows = []
    for summary in query(kmers, records, batch_letters=batch).by_record():
        columns = summary.kmers.tolist(), summary.found.tolist(), summary.mean.tolist(), summary.median.tolist()
        rows += list(zip(summary.names, *columns, strict=True))
    assert [name for name, *_ in rows] == [record.name for record in records]
    for name, windows, there, average, middle in rows:
        counts = [count for record, _, _, count in expected if record == name]
        assert (windows, there) == (len(counts), sum(count > 0 for count in counts))
        if counts:
            assert (average, middle) == (pytest.approx(mean(counts)), median(counts))
        else:
            assert math.isnan(average)
            assert math.isnan(middle)


# Records


def test_fasta_and_fastq_give_the_same_records(tmp_path: Path) -> None:
    expected = [Record("a", b"ACGT"), Record("b", b""), Record("c", b"GGN")]
    texts = {
        "fa": b"\n>a first\nAC\nGT\n>b\n\n>c\nGGN",
        "crlf.fa": b">a first\r\nAC\r\nGT\r\n>b\r\n>c\r\nGGN\r\n",
        "mac.fa": b"\r>a first\rAC\rGT\r>b\r\r>c\rGGN\r",
        "mixed.fa": b">a first\r\nAC\rGT\n>b\r>c\n\rGG\r\rN",
        "fq": b"@a first\nACGT\n+\nIIII\n@b\n\n+\n\n@c\nGGN\n+c\n@@@\n",
        "crlf.fq": b"@a\r\nACGT\r\n+\r\nIIII\r\n@b\r\n\r\n+\r\n\r\n@c\r\nGGN\r\n+\r\n@@@",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text))
        assert list(read_records(tmp_path / name)) == expected
        assert list(read_records(tmp_path / f"{name}.gz")) == expected


def test_records_across_chunks(tmp_path: Path) -> None:
    letters = np.random.default_rng(1).choice(np.frombuffer(b"ACGT", np.uint8), 3_000_000).tobytes()
    lines = b"\n".join([letters[begin : begin + 70] for begin in range(0, len(letters), 70)])
    (tmp_path / "x.fa").write_bytes(b">x\n" + lines + b"\n>y\nAC\n")
    assert list(read_records(tmp_path / "x.fa")) == [Record("x", letters), Record("y", b"AC")]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (b"ACGT\n", "neither FASTA nor FASTQ"),
        (b"\n\n", "neither FASTA nor FASTQ"),
        (b"@a\nACGT\n+\nIII\n", "record 1, byte 0: letters and qualities"),
        (b"@a\nACGT\n+\nIIII\n@b\nACGT\n", "record 2, byte 15: .*cut off"),
        (b"@a\nACGT\n+\nIIII\nb\nACGT\n+\nIIII\n", "record 2, byte 15: .*start with @"),
        (b"@a\nAC\nGT\n+\nII\nI\n", "record 1, byte 0: letters and qualities"),
    ],
)
def test_texts_that_are_no_records(text: bytes, where: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(text)
    with pytest.raises(InputError, match=where):
        list(read_records(tmp_path / "x"))


def test_sequences_agree_with_the_oracle(tmp_path: Path) -> None:
    for text, k in ((A, 5), (C, 8)):
        (tmp_path / "x.fa").write_bytes(text)
        kmers = set_of(reference.count([text], CountOptions(k)), k)
        (summary,) = query(kmers, read_records(tmp_path / "x.fa")).by_record()
        assert summary.kmers.sum() == summary.found.sum() == kmers.total
