"""The seed index against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import signature_samples
from helpers.pattern_sets import cut_from, expected_pairs, on_device, same_pairs
from helpers.products import drawn, examples, only_whole
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device import index
from oclgenomics.signatures.device.index import IndexMatcher
from oclgenomics.signatures.device.pairs import FoundPairs
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.seeds import make_table


def find(
    engine: Engine,
    records: list[SampleRecord],
    signatures: list[bytes],
    options: ScanOptions = ScanOptions(),
    *,
    head: int = 2,
    room: int | None = None,
    piece: int | None = None,
    overlap: int = 0,
) -> FoundPairs:
    """Find pairs and check them; patterns without seeds are left out of what is expected."""
    samples = sample_letters(engine, records, piece=piece, overlap=overlap)
    patterns = on_device(engine, signatures, options)
    matcher = IndexMatcher(engine, patterns, make_table(patterns.patterns, options.max_mismatches, head), room=room)
    found = matcher.pairs(samples)
    every = expected_pairs(samples, signatures, options)
    unseeded = set(matcher.unseeded.tolist())
    same_pairs(found, {pair: values for pair, values in every.items() if pair[1] not in unseeded})
    return found


def records_of(rng: np.random.Generator, sizes: list[int], n_rate: float, letters: str) -> list[SampleRecord]:
    return [
        SampleRecord(random_letters(rng, size, n_rate, letters), rng.integers(33, 127, size, np.uint8).tobytes())
        for size in sizes
    ]


@settings(max_examples=examples(30))
@given(
    sizes=st.lists(st.integers(0, 400), min_size=1, max_size=4),
    lengths=st.lists(st.integers(1, 200), min_size=1, max_size=6),
    sample_ns=st.sampled_from([0.0, 0.1, 0.6]),
    pattern_ns=st.sampled_from([0.0, 0.1, 0.6]),
    change=st.sampled_from([0.0, 0.02]),
    alphabet=st.sampled_from(["ACGT", "A", "AC", "ACGTRYSWKMBDHVN"]),
    mismatches=st.integers(0, 3),
    strand=st.sampled_from(["+", "-", "both"]),
    least=st.sampled_from([(0.0, 0.0), (0.5, 0.0), (0.0, 40.0), (0.4, 45.0)]),
    piece=st.sampled_from([None, 1, 37, 100]),
    overlap=st.sampled_from([0, 5, 199]),
    head=drawn(st.just(2), whole=st.integers(2, 5)),
    room=st.sampled_from([None, 500]),
    seed=st.integers(0, 1 << 32),
)
def test_same_as_the_oracle(
    shaped: Engine,
    sizes: list[int],
    lengths: list[int],
    sample_ns: float,
    pattern_ns: float,
    change: float,
    alphabet: str,
    mismatches: int,
    strand: str,
    least: tuple[float, float],
    piece: int | None,
    overlap: int,
    head: int,
    room: int | None,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    records = records_of(rng, sizes, sample_ns, alphabet)
    whole = b"".join(record.letters for record in records) or b"A"
    signatures = [cut_from(rng, whole, length, change, pattern_ns) for length in lengths]
    options = ScanOptions(
        strand=strand,  # type: ignore[arg-type]
        max_mismatches=mismatches,
        min_informative=least[0],
        min_score=least[1],
    )
    find(shaped, records, signatures, options, head=head, room=room, piece=piece, overlap=overlap)


@pytest.mark.parametrize("head", [3, 9, *only_whole(5, 6, 7, 8)])
def test_heads_of_all_lengths(shaped: Engine, head: int) -> None:
    rng = np.random.default_rng(head)
    records = records_of(rng, [997, 64, 1200], 0.05, "ACGT")
    signatures = [cut_from(rng, records[i % 3].letters, size, 0.0, 0.05) for i, size in enumerate([15, 19, 60, 300])]
    assert len(find(shaped, records, signatures, head=head)) >= 3


@pytest.mark.parametrize("mismatches", [0, 2])
def test_long_patterns(shaped: Engine, mismatches: int) -> None:
    rng = np.random.default_rng(mismatches)
    records = records_of(rng, [15_000, 11_000], 0.1, "ACGT")
    signatures = [cut_from(rng, records[i % 2].letters, size, 0.0, 0.1) for i, size in enumerate([10_000, 9001, 3000])]
    changed = bytearray(signatures[0])
    changed[700:702] = b"CA" if changed[700:702] != b"CA" else b"GT"
    options = ScanOptions(max_mismatches=mismatches)
    found = find(shaped, records, [*signatures, bytes(changed)], options, head=4, piece=4500, overlap=9999)
    assert {0, 1, 2} <= set(found.pattern.tolist())


def test_patterns_that_are_nearly_the_same(shaped: Engine) -> None:
    rng = np.random.default_rng(5)
    base = random_letters(rng, 300)
    signatures = []
    for _ in range(40):
        letters = np.frombuffer(base, np.uint8).copy()
        letters[rng.integers(0, 300, 2)] = rng.choice(np.frombuffer(b"ACGTNR", np.uint8), 2)
        signatures.append(letters.tobytes())
    records = [SampleRecord(random_letters(rng, 100) + base + random_letters(rng, 77) + base)]
    for mismatches in (0, 1, 2):
        found = find(shaped, records, signatures, ScanOptions(max_mismatches=mismatches), head=4)
    assert found.hits.tolist() == [2] * 40


@pytest.mark.parametrize("room", [None, 1])
def test_repeats_overlap(shaped: Engine, room: int | None) -> None:
    qualities = bytes(np.random.default_rng(6).integers(33, 127, 900, np.uint8))
    letters = [b"A" * 900, b"ACG" * 300, b"N" * 300]
    records = [SampleRecord(part, qualities[: len(part)]) for part in letters]
    signatures = [b"A" * 20, b"ACG" * 9, b"N" * 10 + b"GACGACGACGACGACG", b"AN" * 20]
    found = find(shaped, records, signatures, ScanOptions(max_mismatches=1), head=2, room=room)
    assert found.hits.sum() > 3000


def test_borders_of_tiles(shaped: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (index, signature_samples):
        monkeypatch.setattr(module, "TILE", 32)
    rng = np.random.default_rng(7)
    records = records_of(rng, list(range(20, 140)), 0.0, "AC")
    signatures = [cut_from(rng, records[i].letters, 14 + i, 0.0, 0.1) for i in range(12)]
    assert len(find(shaped, records, signatures, head=4, piece=50, overlap=25)) >= 12


def test_rounds_do_not_show(shaped: Engine) -> None:
    rng = np.random.default_rng(8)
    samples = sample_letters(shaped, records_of(rng, [3000, 9000, 10, 500], 0.5, "ACGT"))
    patterns = on_device(shaped, [random_letters(rng, 20, 0.3) for _ in range(20)])
    table = make_table(patterns.patterns, 0, 2)
    whole = IndexMatcher(shaped, patterns, table).pairs(samples)
    assert whole.hits.sum() > 200
    for room in (1, 100, 333):
        part = IndexMatcher(shaped, patterns, table, room=room).pairs(samples)
        for name in ("piece", "pattern", "hits", "first", "best"):
            np.testing.assert_array_equal(getattr(part, name), getattr(whole, name))


def test_some_pieces_only(engine: Engine) -> None:
    rng = np.random.default_rng(9)
    letters = random_letters(rng, 100)
    samples = sample_letters(engine, [SampleRecord(letters)] * 4)
    patterns = on_device(engine, [letters[30:60]])
    matcher = IndexMatcher(engine, patterns, make_table(patterns.patterns, 0, 4))
    assert matcher.pairs(samples, np.array([True, False, False, True])).piece.tolist() == [0, 3]
    assert len(matcher.pairs(samples, np.zeros(4, np.bool_))) == 0


def test_nothing_to_find(engine: Engine) -> None:
    patterns = on_device(engine, [b"ACG", b"NNNNNNNNNNNNNNNNNNNNN"])
    matcher = IndexMatcher(engine, patterns, make_table(patterns.patterns, 0, 4))
    assert matcher.unseeded.tolist() == [0, 1]
    samples = sample_letters(engine, [SampleRecord(b"ACGT" * 9)])
    assert len(matcher.pairs(samples)) == 0
    assert matcher.candidates(samples).tolist() == [0]
    some = on_device(engine, [b"ACGTTGCATGACTGATT"])
    matcher = IndexMatcher(engine, some, make_table(some.patterns, 0, 4))
    empty = sample_letters(engine, [])
    assert len(matcher.pairs(empty)) == 0
    assert matcher.candidates(empty).tolist() == []


def test_candidates_of_pieces(shaped: Engine) -> None:
    rng = np.random.default_rng(10)
    patterns = on_device(shaped, [random_letters(rng, 50) for _ in range(5)])
    table = make_table(patterns.patterns, 0, 4)
    matcher = IndexMatcher(shaped, patterns, table)
    records = records_of(rng, [9000, 9000, 30, 0], 0.0, "ACGT")
    letters = [*(record.letters for record in records), b"N" * 9000, b"N" * 32]
    samples = sample_letters(shaped, [SampleRecord(part) for part in letters])
    estimates = matcher.candidates(samples)
    codes, pieces = shaped.download(samples.codes) >> 4, samples.block.pieces
    size = table.head + 3
    for piece in range(len(pieces)):
        begin, end = int(pieces.letters[piece]), int(pieces.letters[piece]) + int(pieces.size[piece])
        exact = 0
        for place in range(-(-begin // 4) * 4, end - size + 1, 4):
            row, tail = (codes[place:][: table.head], codes[place + table.head :][:3])
            number, bit = (sum(int(code) * 5**j for j, code in enumerate(part)) for part in (row, tail))
            if int(table.bits[4 * number + bit // 32]) >> bit % 32 & 1:
                exact += int(table.first[number + 1]) - int(table.first[number])
        if pieces.size[piece] <= 32:
            assert estimates[piece] == exact
        else:
            assert exact / 2 - 20 <= estimates[piece] <= 2 * exact + 20


def test_a_table_for_other_mismatches_is_refused(engine: Engine) -> None:
    patterns = on_device(engine, [b"ACGTTGCATGACTGATT"])
    with pytest.raises(ValueError, match="a table for 1 mismatches"):
        IndexMatcher(engine, patterns, make_table(patterns.patterns, 1, 2))


def test_the_last_place_of_a_piece(shaped: Engine) -> None:
    rng = np.random.default_rng(11)
    pattern = random_letters(rng, 8)  # its last seed ends where it does
    for before in range(8):
        found = find(shaped, [SampleRecord(random_letters(rng, before) + pattern)], [pattern])
        assert len(found) == 1
