"""Marked k-mers of databases: which sections are read for them, and that these are verified as ever."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from helpers.products import examples
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.kmers.database.keys import key_words, texts_of
from oclgenomics.kmers.database.kmer_set import CountedKmers, KmerBlock
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.section_file import SectionFile
from oclgenomics.kmers.device.look_up import TextMarks
from oclgenomics.kmers.device.marks import Marks
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import memory as plan
from oclgenomics.runtime import Engine
from oclgenomics.sequence.device_text import Text

SIZES = {1: 9, 4: 3 * SECTION_KMERS + 9}  # k-mers of so many sections


@pytest.fixture
def two_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many at a time."""
    monkeypatch.setattr(plan, "SECTIONS_EACH", 0)
    monkeypatch.setattr(plan, "MIN_MARKED_DECODED", 0)
    monkeypatch.setattr(plan, "MIN_DECODED", 2)
    monkeypatch.setattr(plan, "MAX_KEY_BYTES", 2 * 8 * SECTION_KMERS)


@functools.cache
def many_kmers(k: int, size: int) -> CountedKmers:
    """K-mers none of which is followed by the next number, or is the first one of all, with counts of all sizes."""
    rng = np.random.default_rng(k + size)
    numbers, below = np.arange(1, size + 1, dtype=np.uint64), rng.integers(0, 1 << 32, size, np.uint64)
    keys = (numbers << np.uint64(36) | below)[None]
    if k > 32:
        keys = np.stack([numbers % 4 << np.uint64(62) | below, numbers // 4])
    return CountedKmers(k, False, keys, (1 + rng.pareto(0.5, size).clip(0, 2**32 - 2)).astype(np.uint32))


_written: dict[tuple[int, int], bytes] = {}


def write(path: Path, kmers: CountedKmers) -> bytes:
    """Write a database of `many_kmers`, which is encoded once."""
    known = kmers.k, kmers.distinct
    if known not in _written:
        with DatabaseWriter(path, CountOptions(kmers.k, canonical=False), threads=1) as writer:
            writer.append(KmerBlock(kmers.keys, kmers.counts))
        _written[known] = path.read_bytes()
    path.write_bytes(_written[known])
    return _written[known]


def marks_of(engine: Engine, database: KmerDatabase, keys: NDArray[np.uint64]) -> Marks:
    """Mark keys that are records of a k-mer each."""
    text = "".join(f"{kmer}\n" for kmer in texts_of(keys, database.k)).encode()
    letters = np.arange(keys.shape[1], dtype=np.int64) * (database.k + 1)
    marking = TextMarks(engine, database, 4)
    uploaded = Text(engine.upload(np.frombuffer(text, np.uint8)), 0, len(text))
    marking.mark(uploaded, letters, np.ones(keys.shape[1], np.int64))
    return marking.marks


def counts_of(engine: Engine, database: KmerDatabase, marks: Marks) -> dict[tuple[int, ...], int]:
    """What marks leave of a database."""
    counts: dict[tuple[int, ...], int] = {}
    for runs in database.runs(engine, marks):
        keys, some = engine.download(runs.keys), engine.download(runs.counts)
        assert keys.shape[1] == len(some) == runs.size
        more = dict(zip(map(tuple, keys.T.tolist()), some.tolist(), strict=True))
        assert len(more) == runs.size
        counts.update(more)
    return counts


@pytest.mark.parametrize("k", [31, 40])
@pytest.mark.parametrize("sections", [1, 4])
@pytest.mark.parametrize("seeks", [True, False])
@pytest.mark.usefixtures("two_sections")
def test_marked_kmers_come_back(
    shaped: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, k: int, sections: int, seeks: bool
) -> None:
    """At the ends of sections and within them; sections without any are not read where their k-mers are few."""
    monkeypatch.setattr(plan, "SOUGHT", 64 if seeks else 0)
    kmers, read, read_raw = many_kmers(k, SIZES[sections]), [], SectionFile.read_raw
    write(tmp_path / "set", kmers)
    places = [0, SECTION_KMERS - 1, 2 * SECTION_KMERS, 2 * SECTION_KMERS + 77, kmers.distinct - 2, kmers.distinct - 1]
    places = [place for place in places if place < kmers.distinct]
    there, absent = kmers.keys[:, places], kmers.keys[:, places]
    absent[0] += np.uint64(1)
    least = np.zeros((key_words(k), 1), np.uint64)

    def reading(file: SectionFile, table: NDArray[np.void], room: NDArray[np.uint64]) -> None:
        read.extend(np.searchsorted(file.index.table["offset"], table["offset"]).tolist())
        read_raw(file, table, room)

    monkeypatch.setattr(SectionFile, "read_raw", reading)
    with KmerDatabase.open(tmp_path / "set") as database:
        marks = marks_of(shaped, database, np.concatenate([absent, least, there], axis=1))
        found = counts_of(shaped, database, marks)
    keys = np.array(list(found), np.uint64).T
    numbers = keys[0] >> np.uint64(36) if k <= 32 else keys[1] * np.uint64(4) + (keys[0] >> np.uint64(62))
    rows = numbers.astype(np.int64) - 1
    np.testing.assert_array_equal(kmers.keys[:, rows], keys)
    np.testing.assert_array_equal(kmers.counts[rows], list(found.values()))
    assert found.keys() >= set(map(tuple, there.T.tolist()))
    assert read == (sorted({place // SECTION_KMERS for place in places}) if seeks else list(range(sections)))
    if shaped.tuning.cpu:
        assert len(found) < len(places) + 200


@given(
    k=st.sampled_from([2, 31, 32, 33, 64, 70]),
    seed=st.integers(0, 1 << 32),
    sections=st.integers(1, 9),
    size=st.integers(1, 40),
)
@settings(max_examples=examples(60))
def test_sections_of_marked_kmers(engine: Engine, k: int, seed: int, sections: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    firsts = sorted({int.from_bytes(rng.bytes(20), "little") % 4**k for _ in range(sections)})
    near = [first + step for first in firsts for step in (-1, 0, 1)] + [0, 4**k - 1]
    asked = [min(max(0, near[int(at)]), 4**k - 1) for at in rng.integers(0, len(near), size)]
    marking = TextMarks(engine, CountedKmers(k, False, keys_of(firsts, k), np.ones(len(firsts), np.uint32)), 1)
    marking.marks = Marks(engine, 1, keys_of(firsts, k))
    text = "".join(f"{kmer}\n" for kmer in texts_of(keys_of(asked, k), k)).encode()
    letters = np.arange(size, dtype=np.int64) * (k + 1)
    uploaded = Text(engine.upload(np.frombuffer(text, np.uint8)), 0, len(text))
    marking.mark(uploaded, letters, np.ones(size, np.int64))
    found = marking.marks.sections()
    assert found is not None
    assert found.tolist() == sorted({sum(first <= one for first in firsts) - 1 for one in asked} - {-1})


def keys_of(numbers: list[int], k: int) -> NDArray[np.uint64]:
    return np.array([[one >> 64 * word & (1 << 64) - 1 for one in numbers] for word in range(key_words(k))], np.uint64)


@pytest.mark.parametrize("damaged", range(4))
@pytest.mark.usefixtures("two_sections")
def test_damage_in_sections_that_are_read(shaped: Engine, tmp_path: Path, damaged: int) -> None:
    kmers = many_kmers(31, SIZES[4])
    whole = bytearray(write(tmp_path / "set", kmers))
    with KmerDatabase.open(tmp_path / "set") as database:
        marks = marks_of(shaped, database, kmers.keys[:, [7, 3 * SECTION_KMERS + 4]])
        whole[int(database._file.index.table["offset"][damaged]) + 20] ^= 1
        (tmp_path / "set").write_bytes(whole)
        if damaged in (0, 3):
            with pytest.raises(InputError, match=rf"set, byte \d+: section {damaged + 1} of 4 is damaged"):
                counts_of(shaped, database, marks)
        else:
            assert len(counts_of(shaped, database, marks)) >= 2
        (tmp_path / "set").write_bytes(whole[: int(database._file.index.table["offset"][3]) + 5])
        with pytest.raises(InputError, match=rf"section {1 if damaged == 0 else 4} of 4 is (damaged|cut off)"):
            counts_of(shaped, database, marks)
