"""Live selection by the messages of MinKNOW's data service, as bytes."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.read_until import BACKGROUND, LEVELS, classifier_of, read_of, stages_of
from helpers.read_until_wire import WireClient, decoded, encoded, read_data, response, varint
from hypothesis import given, strategies as st

STAGES = stages_of((40, 400.0), (80, 600.0))
GOOD = read_of(LEVELS, 100, seed=1)
BAD = read_of(BACKGROUND.levels, 100, seed=4)


@given(st.lists(st.tuples(st.integers(1, 4000), st.integers(1, 2**64 - 1) | st.floats(allow_nan=False) | st.binary())))
def test_the_helper_reads_what_it_writes(fields: list[tuple[int, object]]) -> None:
    assert list(decoded(encoded(fields))) == fields


def test_the_helper_writes_what_is_published() -> None:
    """The examples of the documentation of protocol buffers."""
    assert encoded([(1, 150)]) == bytes.fromhex("089601")
    assert encoded([(2, "testing")]) == bytes.fromhex("120774657374696e67")
    with pytest.raises(AssertionError):
        varint(np.int64(3))  # type: ignore[arg-type]


@pytest.mark.parametrize("with_numbers", [False, True])
def test_reads_are_named_as_the_version_names_them(with_numbers: bool) -> None:
    """Chunks with new samples only: the first ones of a run start at sample 0, which is not sent."""
    numbers = {"good": 7, "bad": 300} if with_numbers else {"good": 0, "bad": 0}
    turns = []
    for begin, end in ((0, 30), (30, 60), (60, 100)):
        chunks = {
            channel: read_data(name, samples[begin:end].astype("<i2").tobytes(), 0, begin, number=numbers[name])
            for channel, name, samples in ((3, "good", GOOD), (512, "bad", BAD))
        }
        turns.append(response(chunks))
    client = WireClient([*turns, response({})], with_numbers)
    classifier, _ = classifier_of(STAGES, unblock_duration=0.25)
    with classifier:
        metrics = classifier.run(client)
    named = numbers if with_numbers else {"good": "good", "bad": "bad"}
    assert client.actions() == [(512, named["bad"], "unblock", 0.25), (3, named["good"], "stop", 0.0)]
    assert (metrics.reads, metrics.malformed) == (2, 0)


def test_chunks_that_lack_samples_are_malformed() -> None:
    """A read of half a sample, of none, or of fewer than it says goes on."""
    odd = GOOD.astype("<i2").tobytes()[:-1]
    short = encoded([(1, "short"), (5, 100), (7, GOOD[:50].astype("<i2").tobytes())])
    chunks = {1: read_data("odd", odd, 10, 10), 2: read_data("none", b"", 10, 10), 3: short,
              4: read_data("bad", BAD.astype("<i2").tobytes(), 10, 10)}  # fmt: skip
    client = WireClient([response(chunks), response({})])
    classifier, _ = classifier_of(STAGES)
    with classifier:
        metrics = classifier.run(client)
    assert client.actions() == [(4, "bad", "unblock", 0.1)]
    assert metrics.malformed == 3


def test_nothing_is_sent_where_nothing_is_decided() -> None:
    """Only the setup, which the client sends before it gets chunks."""
    client = WireClient([response({}), response({1: read_data("good", GOOD[:30].tobytes(), 5, 5)})])
    classifier, _ = classifier_of(STAGES)
    with classifier:
        classifier.run(client)
    assert [list(decoded(setup)) for _, setup in decoded(client.sent[0])] == [[(1, 1), (2, 512), (3, 3)]]
    assert len(client.sent) == 1
