"""Windows in lanes: what is found is where windows end with few edits, whatever streams and rounds there are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.edit_samples import edited
from helpers.pattern_sets import on_device
from helpers.products import examples
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.lanes import FoundStretches, LaneFinder
from oclgenomics.signatures.panels.letters import sets_of
from oclgenomics.signatures.panels.panel import Patterns
from oclgenomics.signatures.panels.windows import Windows, cut_windows
from oclgenomics.signatures.reference import end_costs

ALPHABETS = ("ACGT", "ACGT", "A", "AC", "ACGTRYSWKMBDHVN")
LENGTHS = [1, 2, 7, 20, 31, 32, 33, 63, 64, 65, 100]
Found = set[tuple[int, int, int]]


def stretches(texts: list[bytes], patterns: Patterns, windows: Windows, max_edits: int, *, slack: int = 0) -> Found:
    """Piece, pattern and stretch of each diagonal at which a pattern may start, from the definition."""
    found = set()
    for piece, text in enumerate(texts):
        for number in range(len(windows)):
            pattern, begin, height, edits, _ = (
                int(getattr(windows, name)[number]) for name in windows.__dataclass_fields__
            )
            distance, _, _ = end_costs(sets_of(text), patterns.of(pattern)[begin : begin + height])
            for end in (np.flatnonzero(distance[1:] <= edits) + 1).tolist():
                high = end - begin - height + max_edits + slack
                low = max(0, high - 2 * (max_edits + slack)) // (2 * max_edits + 1)
                found |= {(piece, pattern, at) for at in range(low, high // (2 * max_edits + 1) + 1)}
    return found


def rows_of(lots: list[FoundStretches]) -> Found:
    every = (np.stack([lot.piece, lot.pattern, lot.stretch], axis=1).tolist() for lot in lots)
    return {(piece, pattern, stretch) for rows in every for piece, pattern, stretch in rows}


def cut(patterns: Patterns, max_edits: int, parts: int) -> Windows:
    return cut_windows(patterns, np.arange(len(patterns)), max_edits, parts)


@settings(max_examples=examples(20))
@given(
    seed=st.integers(0, 1 << 32),
    alphabet=st.sampled_from(ALPHABETS),
    max_edits=st.sampled_from([0, 1, 2, 3, 6, 9]),
    parts=st.sampled_from([1, 1, 2, 3]),
    each=st.sampled_from([3, 7]),
    share=st.sampled_from([None, 21, 84]),
    room=st.sampled_from([None, 1]),
    at_once=st.sampled_from([None, 1, 1500]),
)
def test_windows_are_found_where_they_end(
    shaped: Engine,
    seed: int,
    alphabet: str,
    max_edits: int,
    parts: int,
    each: int,
    share: int | None,
    room: int | None,
    at_once: int | None,
) -> None:
    rng = np.random.default_rng(seed)
    names = [random_letters(rng, int(rng.choice(LENGTHS)), float(rng.choice([0, 0.1])), alphabet) for _ in range(5)]
    names += [edited(rng, names[0].decode(), 1).encode() or b"A"]
    texts = []
    for _ in range(int(rng.integers(1, 6))):
        text = random_letters(rng, int(rng.choice([0, 1, 2, 30, 300])), float(rng.choice([0, 0.2])), alphabet)
        copy = edited(rng, names[int(rng.integers(len(names)))].decode(), int(rng.integers(0, max_edits + 1))).encode()
        at = int(rng.integers(0, len(text) + 1))
        texts.append(text[:at] + copy * int(rng.integers(0, 2)) + text[at:])
    patterns = on_device(shaped, names).patterns
    windows = cut(patterns, max_edits, parts)
    if not len(windows):
        return
    samples = sample_letters(shaped, [SampleRecord(text) for text in texts])
    finder = LaneFinder(shaped, patterns, windows, max_edits, each, room=room, share=share, at_once=at_once)
    lots = list(finder.find(samples))
    found = rows_of(lots)
    assert found >= stretches(texts, patterns, windows, max_edits)
    assert found <= stretches(texts, patterns, windows, max_edits, slack=each)
    known = [(lot.last_piece, int(lot.until.max(initial=0))) for lot in lots]
    assert known == sorted(known)
    if known:
        assert known[-1][0] == len(texts)


def test_blocks_of_streams_that_lie_in_one_piece(shaped: Engine) -> None:
    """Exact copies at all places of streams, of which two windows are looked for, with other records around."""
    rng = np.random.default_rng(3)
    names = [random_letters(rng, 32, 0, "ACGT") for _ in range(2)]
    text = b"".join(names[at % 2] + random_letters(rng, 20 + at % 7, 0, "ACGT") for at in range(120))
    texts = [b"GATTACA", text, b"", text[:50], text[5:]]
    patterns = on_device(shaped, names).patterns
    windows = replace(cut(patterns, 1, 1), edits=np.zeros(2, np.int64))
    samples = sample_letters(shaped, [SampleRecord(each) for each in texts])
    found = rows_of(list(LaneFinder(shaped, patterns, windows, 1, 3, share=21).find(samples)))
    assert found == stretches(texts, patterns, windows, 1)


@pytest.mark.parametrize("each", [3, 15])
def test_marks_are_few_where_nothing_matches(engine: Engine, each: int) -> None:
    rng = np.random.default_rng(1)
    patterns = on_device(engine, [random_letters(rng, 32, 0, "AC") for _ in range(9)]).patterns
    samples = sample_letters(engine, [SampleRecord(random_letters(rng, 3000, 0, "GT"))])
    finder = LaneFinder(engine, patterns, cut(patterns, 3, 1), 3, each)
    (found,) = finder.find(samples)
    assert not len(found.piece)
    assert found.last_piece == 1


def test_rounds_are_cut_by_blocks_and_then_by_windows(engine: Engine) -> None:
    """A repeat marks everything: no round may hold more marks than there is room for, and none may be lost."""
    texts = [b"A" * 4000, b"", b"C", b"A" * 700]
    patterns = on_device(engine, [b"A" * size for size in range(1, 12)]).patterns
    windows = replace(cut(patterns, 1, 1), edits=np.zeros(10, np.int64))
    samples = sample_letters(engine, [SampleRecord(text) for text in texts])
    finder = LaneFinder(engine, patterns, windows, 1, 3, room=1, share=30)
    lots = list(finder.find(samples))
    assert len(lots) > 3 * (4700 // (30 * 32))
    found = rows_of(lots)
    assert found == stretches(texts, patterns, windows, 1)


def test_streams_begin_far_enough_before_what_they_own(engine: Engine) -> None:
    """A match of as many letters as there can be, which all count, ends at every place of a stream."""
    rng = np.random.default_rng(7)
    pattern = random_letters(rng, 32, 0, "AC")
    longest = b"".join(pattern[at : at + 5] + b"G" for at in range(0, 30, 5)) + pattern[30:]
    texts = [b"T" * (100 + offset) + longest + b"T" * 50 for offset in range(21)]
    patterns = on_device(engine, [pattern]).patterns
    samples = sample_letters(engine, [SampleRecord(text) for text in texts])
    for at_once in (None, 1):
        finder = LaneFinder(engine, patterns, cut(patterns, 6, 1), 6, 3, share=21, at_once=at_once)
        expected = stretches(texts, patterns, cut(patterns, 6, 1), 6)
        assert {piece for piece, _, _ in expected} == set(range(21))
        assert rows_of(list(finder.find(samples))) == expected
