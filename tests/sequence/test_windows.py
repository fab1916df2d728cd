"""Packing at the borders of windows of 64 letters, of groups of symbols, of lines and of tiles, against the oracle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from helpers.products import examples
from helpers.symbols import bases_of
from hypothesis import example, given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.sequence import Census, parse as tiles, reference
from oclgenomics.sequence.block_records import RecordTable
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.parse import NO_QUALITY, FastaState, line_table, parse_fasta, parse_fastq

ALPHABET = np.frombuffer(b"ACGTACGTACGTacgtNnUR-", np.uint8)
QUALITIES = np.frombuffer(bytes(range(33, 127)), np.uint8)
LONGEST = 200  # letters: more than three windows


@pytest.fixture(params=[41, 64, 500], scope="module")
def tiled(request: pytest.FixtureRequest, shaped: Engine) -> Iterator[Engine]:
    """An engine whose texts are cut into tiles of so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("CPU_TILES", 1 << 20), ("CPU_TILE", request.param), ("GPU_TILE", request.param)):
            patch.setattr(tiles, name, value)
        yield shaped


def drawn(rng: np.random.Generator, letters: np.ndarray, length: int) -> bytes:
    return rng.choice(letters, length).tobytes()


def on_device(engine: Engine, text: bytes, skip: int) -> Text:
    """A text that ends where its memory ends; before it are newlines, which it has to ignore."""
    return Text(engine.upload(np.frombuffer(b"\n" * skip + text, np.uint8)), skip, len(text))


def fastq_of(rng: np.random.Generator, lengths: list[int], newline: bytes = b"\n") -> list[bytes]:
    return [
        newline.join(
            [b"@" + b"n" * int(rng.integers(0, 70)), drawn(rng, ALPHABET, n), b"+", drawn(rng, QUALITIES, n), b""]
        )
        for n in lengths
    ]


def check_fastq(engine: Engine, text: bytes, skip: int, min_quality: int | None, *, names: bool) -> None:
    """Each record has its letters and qualities at its place, and all else is gaps."""
    table = RecordTable(engine) if names else None
    part = on_device(engine, text, skip)
    result = parse_fastq(engine, part, final=True, min_quality=min_quality, qualities=names, table=table)
    assert result.defect is None
    assert result.tail == len(text)
    records = reference.records(text)
    letters = [reference.symbols(record, min_quality) for record in records]
    found = bases_of(engine, result.symbols)
    assert result.census.records == len(records)
    assert result.census.letters == sum(map(len, letters))
    if table is None:
        assert [run for run in found.split("-") if run] == [run for one in letters for run in one.split("-") if run]
        return
    assert result.qualities is not None
    qualities = engine.download(result.qualities)[: result.symbols.size]
    starts = engine.download(table.gather(part, continued=False).starts, len(records)).tolist()
    expected, expected_qualities = ["-"] * len(found), np.full(len(found), NO_QUALITY, np.uint8)
    for start, one, record in zip(starts, letters, records, strict=True):
        expected[start : start + len(one)] = one
        expected_qualities[start : start + len(one)] = record.qualities
    assert found == "".join(expected)
    np.testing.assert_array_equal(qualities, expected_qualities)


@pytest.mark.parametrize("min_quality", [None, 20])
def test_reads_of_every_length(tiled: Engine, min_quality: int | None) -> None:
    rng = np.random.default_rng(5)
    lengths = rng.permutation(LONGEST + 1).tolist()
    for skip, newline in ((0, b"\n"), (1, b"\r\n")):
        text = b"".join(fastq_of(rng, lengths, newline))
        check_fastq(tiled, text, skip, min_quality, names=True)
        check_fastq(tiled, text, skip, min_quality, names=False)


@pytest.mark.parametrize("shift", range(0, 64, 7))
def test_short_texts_at_the_end_of_memory(tiled: Engine, shift: int) -> None:
    """The last letters have no 64 bytes behind them, with or without a newline at the end."""
    rng = np.random.default_rng(shift)
    for length in (1, 2, 30, 31, 63, 64, 65, 128):
        text = b"".join(fastq_of(rng, [length]))
        check_fastq(tiled, text, shift, None, names=False)
        check_fastq(tiled, text[:-1], shift, 30, names=False)


def test_the_incomplete_record_of_every_cut(tiled: Engine, stride: int) -> None:
    """Its letters are no symbols, and count for nothing."""
    rng = np.random.default_rng(9)
    records = fastq_of(rng, [150, 0, 64, 63, 127, 5])
    text, ends = b"".join(records), np.cumsum([0, *map(len, records)])
    for size in range(1, len(text) + 1, stride if tiled.tuning.cpu else 5):
        result = parse_fastq(tiled, on_device(tiled, text[:size], size % 3), final=False)
        whole = int(np.searchsorted(ends, size, side="right")) - 1
        assert result.defect is None
        assert (result.tail, result.census.records) == (ends[whole], whole)
        if size % 37 == 0:
            runs = [run for run in bases_of(tiled, result.symbols).split("-") if run]
            assert runs == reference.runs(b"".join(records[:whole]))


@pytest.mark.parametrize("at", range(7))
def test_defects_at_the_same_bytes(tiled: Engine, at: int) -> None:
    rng = np.random.default_rng(at)
    records = fastq_of(rng, [64, 63, 65, 128, 0, 150, 1])
    start = len(b"".join(records[:at]))
    header, letters, plus, qualities, _ = records[at].split(b"\n")
    for lines, byte, kind in (
        ([b"x" + header, letters, plus, qualities], start, 0),
        ([header, letters, b"x", qualities], start + len(header) + len(letters) + 2, 1),
        ([header, letters + b"A", plus, qualities], start, 2),
        ([header, letters, plus, qualities + b"\r\r"], start, 2),
    ):
        text = b"".join([*records[:at], b"\n".join([*lines, b""]), *records[at + 1 :]])
        assert parse_fastq(tiled, on_device(tiled, text, 0), final=True).defect == (byte, kind)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("before", [150, 149])
def test_odd_characters_at_every_place(tiled: Engine, before: int, newline: bytes) -> None:
    """Each window of letters and of qualities is looked at, whether or not a line is as long as the one before."""
    rng = np.random.default_rng(before)
    first, text, last = fastq_of(rng, [before, 150, 150], newline)
    odd = np.resize(np.frombuffer(b"\0\t \x1f\x7f\x80\r\xc3\xff", np.uint8), 150).tolist()
    for line in (1, 3):
        start = len(newline.join(text.split(newline)[:line])) + len(newline)
        for place in (*range(0, 150, 11), 62, 63, 64, 127, 128, 148, 149):
            broken = bytearray(text)
            broken[start + place] = odd[place]
            found = parse_fastq(tiled, on_device(tiled, first + broken + last, place % 3), final=True)
            assert found.defect == (len(first), 2)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_second_titles_of_every_length(tiled: Engine, newline: bytes) -> None:
    title = bytes(range(33, 127))
    for length in (1, 2, 7, 8, 9, 16, 17, 62, 63, 64, 65, 90):
        name = title[:length]
        parts = [b"@" + name, b"ACGT", b"+" + name, b"IIII", b""]
        text = newline.join(parts)
        check_fastq(tiled, 3 * text, length % 3, None, names=True)
        for other in (name[:-1] + b" ", b" " + name[1:], name + b" ", name[:-1]):
            broken = newline.join([*parts[:2], b"+" + other, *parts[3:]])
            defect = parse_fastq(tiled, on_device(tiled, text + broken + text, 0), final=True).defect
            assert defect == ((len(text), 1) if other else None)


def test_letters_may_not_start_with_a_plus(tiled: Engine) -> None:
    text = b"@a\nA+G\n+\nIII\n"
    for letters, defect in ((b"+CG", (len(text), 1)), (b"C++", None)):
        broken = text + b"@b\n" + letters + b"\n+\nIII\n" + text
        assert parse_fastq(tiled, on_device(tiled, broken, 0), final=True).defect == defect


def check_fasta(engine: Engine, text: bytes, skip: int, carried: int) -> None:
    """Symbols are those of the block before, then a gap and the letters of each record."""
    before = parse_fasta(engine, on_device(engine, b">\n" + b"GATTACA" * 9, 0), FastaState(), None, 0).symbols
    table = RecordTable(engine)
    part = on_device(engine, text, skip)
    result = parse_fasta(engine, part, FastaState(), before, carried, table)
    records = reference.records(text)
    expected = [(b"GATTACA" * 9)[63 - carried :].decode(), *("-" + reference.symbols(record) for record in records)]
    assert bases_of(engine, result.symbols) == "".join(expected)
    starts = engine.download(table.gather(part, continued=True).starts, len(records)).tolist()
    assert starts == [1 + sum(map(len, expected[: place + 1])) for place in range(len(records))]
    found = result.census(engine)
    others = [letter.upper() for record in records for letter in record.letters if letter not in "ACGTacgt"]
    foreign = [letter for letter in others if letter not in "URYSWKMBDHVNX-.?"]
    letters = sum(len(record.letters) for record in records)
    assert found == Census(len(records), letters, len(others), len(foreign), others.count("U"))
    assert found == Census.of(record.letters.encode("latin-1") for record in records)


def test_lines_of_every_length(tiled: Engine) -> None:
    rng = np.random.default_rng(6)
    lines = [drawn(rng, ALPHABET, int(length)) for length in rng.permutation(LONGEST + 1)]
    for carried, newline in ((0, b"\n"), (5, b"\r\n"), (31, b"\r")):
        text = b">r" + newline + newline.join(lines[:100]) + newline + b">s" + newline + newline.join(lines[100:])
        check_fasta(tiled, text, carried % 4, carried)


@pytest.mark.parametrize("width", [60, 63, 64, 65, 80, 128])
def test_every_phase_of_symbols(tiled: Engine, width: int) -> None:
    rng = np.random.default_rng(width)
    for carried in range(0, 64, 9):
        lines = [drawn(rng, ALPHABET, width) for _ in range(8)]
        check_fasta(tiled, b">r\n" + b"\n".join(lines) + b"\n" * (carried % 2), carried, carried)


@settings(max_examples=examples(60))
@given(
    parts=st.lists(
        st.tuples(st.sampled_from([b"A", b"ACGT", b"N", b">", b"\n", b"\r", b"\n>", b"*>", b"@"]), st.integers(0, 90)),
        max_size=14,
    ),
    carried=st.integers(0, 63),
    skip=st.integers(0, 3),
)
@example(parts=[(b"\n", 1), (b"A", 70), (b"\n", 1), (b"A>", 64), (b"\n", 1), (b">", 90)], carried=1, skip=0)
def test_any_fasta(tiled: Engine, parts: list[tuple[bytes, int]], carried: int, skip: int) -> None:
    text = b">" + b"".join(part * count for part, count in parts) + b"\n"
    check_fasta(tiled, text, skip, carried)


@settings(max_examples=examples(60))
@given(
    lengths=st.lists(st.one_of(st.integers(0, 200), st.sampled_from([31, 32, 33, 63, 64, 65])), min_size=1, max_size=9),
    min_quality=st.one_of(st.none(), st.integers(0, 93)),
    names=st.booleans(),
    skip=st.integers(0, 3),
    seed=st.integers(0, 1 << 32),
)
def test_any_fastq(
    tiled: Engine, lengths: list[int], min_quality: int | None, names: bool, skip: int, seed: int
) -> None:
    text = b"".join(fastq_of(np.random.default_rng(seed), lengths))
    check_fastq(tiled, text, skip, min_quality, names=names)


@pytest.mark.parametrize("every", [1, 2, 61, 64, 65, 700])
def test_large_tiles(shaped: Engine, every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window of line breaks counts 64, and so many windows count more than a byte holds."""
    monkeypatch.setattr(tiles, "CPU_TILES", 8)
    text = np.full(190_000, ord("A"), np.uint8)
    text[every - 1 :: every] = ord("\n")
    breaks = np.flatnonzero(text == ord("\n"))
    part = Text(shaped.upload(text), 0, len(text))
    lines = line_table(shaped, part)
    np.testing.assert_array_equal(shaped.download(lines.newlines, lines.size), breaks)
    result = parse_fasta(shaped, part, FastaState(), None, 0)
    assert result.symbols.size == len(text) - len(breaks)
    assert set(bases_of(shaped, result.symbols)) <= {"A"}


def test_newlines_before_the_place_where_one_is_expected(shaped: Engine) -> None:
    """Lines end at their first newline, also where there is one at the length of the record before."""
    whole = b"@header\nACGTACGTA\n+\nIIIIIIIII\n"
    check_fastq(shaped, whole + b"@head\nA\n+\nI\n" + whole + b"@header\nACG\n+\nIII\n" + whole, 0, None, names=True)
    for qualities in (b"III\nIIIII", b"\n" * 9, b"IIIIIIII\n"):
        text = whole + b"@header\nACGTACGTA\n+\n" + qualities + b"\n"
        found = parse_fastq(shaped, on_device(shaped, text, 0), final=True).defect
        assert found == (len(whole), 2)
