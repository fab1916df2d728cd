"""Calling reads in a thread of its own: order, errors and ends."""

import os
import threading
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from helpers.classified import DATA

from oclgenomics.classify import Index, build
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.options import Input, QueryOptions, Wanted
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.calls import Caller
from oclgenomics.errors import InputError
from oclgenomics.runtime import Device, Engine

EDGE = DATA / "edge"
READS, LETTERS = 3000, 100
BLOCK = 1 << 16  # bytes, a tenth of the reads


@pytest.fixture(scope="module")
def database(device: Device) -> Database:
    return build(EDGE / "edge_ref.fna", taxonomy=EDGE, engine=device)


@pytest.fixture(autouse=True)
def blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oclgenomics.classify.index.BLOCKS", {"cpu": BLOCK, "gpu": BLOCK})


@pytest.fixture
def reads(tmp_path: Path) -> Path:
    lines = (EDGE / "edge_ref.fna").read_bytes().split(b"\n")
    genome = b"".join(line for line in lines if not line.startswith(b">"))
    begins = np.random.default_rng(1).integers(0, len(genome) - LETTERS, READS)
    records = [
        b"@r%d\n%b\n+\n%b\n" % (i, genome[begin : begin + LETTERS], b"I" * LETTERS) for i, begin in enumerate(begins)
    ]
    (tmp_path / "reads.fq").write_bytes(b"".join(records))
    return tmp_path / "reads.fq"


def threads_left() -> bool:
    return any(thread.name.startswith("work-behind") for thread in threading.enumerate())


def test_parts_are_those_of_one_thread(
    engine: Engine, database: Database, reads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index(database, engine=engine) as index:
        parts = list(index.iter_query(reads, wanted=Wanted(texts=True)))
        monkeypatch.setattr(Input, "stored", False)  # so that it is called where it is read
        alone = list(index.iter_query(reads))
    assert "".join([text for part in parts for text in part.texts[0]]) == reads.read_text()
    assert len(parts) == len(alone) > 5
    assert [part.reads.number for part in parts] == np.cumsum([0, *map(len, parts)])[:-1].tolist()
    for part, other in zip(parts, alone, strict=True):
        assert list(part.reads.names) == list(other.reads.names)
        assert np.array_equal(part.calls.taxon, other.calls.taxon)
        assert np.array_equal(part.candidates.hits, other.candidates.hits)
    assert not threads_left()


def test_parts_before_a_defect_come_first(engine: Engine, database: Database, reads: Path) -> None:
    whole = reads.read_bytes()
    reads.write_bytes(whole + b"@bad\nACGT\n+\nIII\n")
    found: list[ClassifiedReads] = []
    with Index(database, engine=engine) as index:
        with pytest.raises(InputError, match=f"record {READS + 1}"):
            found.extend(index.iter_query([Input(str(reads))]))
        assert sum(map(len, found)) > READS // 2
        assert not threads_left()
        reads.write_bytes(whole)
        assert len(index.query([Input(str(reads))])) == READS  # the index still works


def test_errors_of_calls_reach_the_caller(
    engine: Engine, database: Database, reads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(*_: object) -> None:
        raise MemoryError("no room for calls")

    with Index(database, engine=engine) as index:
        monkeypatch.setattr(Caller, "call", call)
        with pytest.raises(MemoryError, match="no room for calls"):
            next(index.iter_query([Input(str(reads))]))
        assert not threads_left()


def test_closing_early_ends_the_thread(engine: Engine, database: Database, reads: Path) -> None:
    with Index(database, engine=engine) as index:
        with closing(index.iter_query([Input(str(reads))])) as parts:
            assert sum(map(len, islice(parts, 2))) < READS
        assert not threads_left()
        assert len(index.query([Input(str(reads))], QueryOptions(2))) == READS


def test_what_comes_through_a_pipe_is_told_at_once(
    engine: Engine, database: Database, reads: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = reads.read_bytes()
    first = text.index(b"@r9\n")
    told = threading.Event()
    waited = []

    def write() -> None:
        with open(pipe, "wb", buffering=0) as stream:
            stream.write(text[:first])
            waited.append(told.wait(20))
            stream.write(text[first:])

    writer = threading.Thread(target=write)
    writer.start()
    with Index(database, engine=engine) as index:
        parts = index.iter_query([Input(str(pipe))])
        found = len(next(parts))
        told.set()
        found += sum(map(len, parts))
    writer.join()
    assert found == READS
    assert waited == [True]
