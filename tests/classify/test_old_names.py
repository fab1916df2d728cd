"""The spelling of the version before still works, and says what is written now."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from helpers.classified import DATA

from oclgenomics import classify
from oclgenomics.classify import Index, build, query
from oclgenomics.runtime import Device, Engine

EDGE = DATA / "edge"
READS = EDGE / "edge_reads.fa"


@contextmanager
def deprecated(what: str) -> Iterator[None]:
    with pytest.warns(DeprecationWarning, match=what):
        yield


def test_old_keywords_and_names(device: Device, engine: Engine) -> None:
    told: list[int] = []
    with deprecated("build: device, threads, progress"):
        database = build(
            EDGE / "edge_ref.fna", taxonomy=EDGE, device=device, threads=1, progress=lambda done, _: told.append(done)
        )  # type: ignore[call-arg]
    assert told
    found = query(READS, database, engine=engine).records()
    with deprecated("query: device, max_memory"):
        assert query(READS, database, device=device, max_memory=1 << 26).records() == found  # type: ignore[call-arg]
    with deprecated("query_parts is now called iter_query"):
        parts = classify.query_parts(READS, database, engine=engine)
    assert sum(map(len, parts)) == len(found)
    with deprecated("Index: device, max_memory"):
        index = Index(database, device=device, max_memory=1 << 26)
    with index:
        with deprecated("query: threads"):
            assert index.query(classify.inputs_of([READS]), threads=1).records() == found  # type: ignore[call-arg]
        with deprecated("Index.parts is now called Index.iter_query"):
            parts = index.parts(classify.inputs_of([READS]))
        assert sum(map(len, parts)) == len(found)


@pytest.mark.parametrize("name", ["Evaluation", "RankMeasures", "Truth", "evaluate", "read_calls", "read_truth"])
def test_old_places(name: str) -> None:
    old = importlib.import_module("oclgenomics.classify.evaluation")
    with deprecated(f"classify.evaluation.{name} is now oclgenomics.classify.{name}"):
        found = getattr(old, name)
    assert found is getattr(classify, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not hasattr(old, "no_such_name")
