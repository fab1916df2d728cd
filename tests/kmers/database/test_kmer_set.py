"""Sets of k-mers as a notebook sees them: one line, records and a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.kmer_sets import random_set, set_of, write_database

from oclgenomics.app import frames
from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.database.kmer_set import PIECE, CountedKmers, KmerBlock, KmerSet, KmerTable, SelectedKmers
from oclgenomics.kmers.device.reader import KmerDatabase

COUNTS = {"AATCT": 1, "ACAGA": 300, "GATTA": 3}


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have tables be the columns that they are made of, whatever is installed."""

    def made(columns: Mapping[str, Any]) -> dict[str, list[Any]]:
        return {name: np.asarray(column).tolist() for name, column in columns.items()}

    monkeypatch.setattr(frames.importlib, "import_module", lambda _: SimpleNamespace(DataFrame=made))


@pytest.mark.parametrize("kind", ["memory", "database", "selected"])
@pytest.mark.usefixtures("tables")
def test_records_and_table(kind: str, tmp_path: Path) -> None:
    kmers = set_of(COUNTS, 5)
    with KmerDatabase.open(write_database(tmp_path / "x", kmers)) as database:
        sets: dict[str, KmerSet] = {"memory": kmers, "database": database, "selected": SelectedKmers(database)}
        found = sets[kind]
        assert isinstance(found, KmerTable)
        assert list(found.records()) == [{"kmer": kmer, "count": count} for kmer, count in COUNTS.items()]
        assert found.to_frame() == {"kmer": list(COUNTS), "count": list(COUNTS.values())}


@pytest.mark.usefixtures("tables")
def test_an_empty_set() -> None:
    kmers = set_of({}, 5)
    assert list(kmers.records()) == []
    assert kmers.to_frame() == {"kmer": [], "count": []}


def test_records_come_as_they_are_asked_for() -> None:
    class Endless(KmerTable):
        k, canonical, distinct, total = 5, True, 1, 1

        def blocks(self) -> Any:
            while True:
                yield KmerBlock(np.array([[572]], np.uint64), np.array([3], np.uint32))

    assert next(Endless().records()) == {"kmer": "GATTA", "count": 3}


def test_large_blocks_become_text_in_pieces() -> None:
    size = PIECE + 3
    kmers = CountedKmers(20, True, np.arange(size, dtype=np.uint64)[None], np.arange(1, size + 1, dtype=np.uint32))
    (block,) = kmers.blocks()
    assert [len(piece) for piece in block.pieces()] == [PIECE, 3]
    assert [record["count"] for record in kmers.records()] == kmers.counts.tolist()


def test_one_line_says_what_a_set_is(tmp_path: Path) -> None:
    kmers = set_of(COUNTS, 5, canonical=False)
    assert repr(kmers) == "CountedKmers(k=5, canonical=False, distinct=3, total=304)"
    assert repr(next(kmers.blocks())) == "KmerBlock(3 k-mers)"
    with KmerDatabase.open(write_database(tmp_path / "x", kmers)) as database:
        assert repr(database) == "KmerDatabase(k=5, canonical=False, distinct=3, total=304)"
    assert "\n" not in repr(SelectedKmers(random_set(40, 1000), 2, 5))


@pytest.mark.parametrize("k", [1, 7, 8, 32, 33, 100])
def test_numbers_as_text(k: int) -> None:
    kmers = random_set(k, 20)
    assert [len(text) for text in texts_of(kmers.keys, k)] == [k] * kmers.distinct
    assert texts_of(kmers.keys[:, :0], k) == []
