"""Letters and qualities in place, against the oracle, for every way to cut a text."""

from __future__ import annotations

import functools
import gzip
import io
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from helpers.bgzf import bgzip
from helpers.products import examples, on_one_cpu, tried
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import AllocationError, InputError
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence import LetterBlock, letter_blocks, line_breaks, packed_blocks, reference, text
from oclgenomics.sequence.reference import Record

FASTA = (
    b">r1\nACGTNacgtaAC\n\nGGTTRCCATG\n>\n> r2\tdesc > x\n\nTTTT>TTT\n>a>b \n"
    b">last\x0cx\nACGT\r\n\r\nAC\rGT\r\n>\xff\r\n"
)
MAC = FASTA.replace(b"\n", b"\r")
FASTQ = (
    b"@r1 x\nACGTNacgta\n+\n@!\"#$%&'IJ\n@@r2\n\n+@r2\n\n"
    b"@\tr3\ty\r\nGGTTR\r\n+\r\n+++~~\r\n@\nCCATGACCATGACCATG\n+\n@bcd5f6hij7lm4op!"
)
FASTAS = [FASTA + b"ACG", FASTA[:-2], b"\n\r\n" + FASTA, MAC, MAC[:-2] + b"\n" + MAC]
WRAPPED = (
    b"@r1 x\nACGT\nNacg\nta\n+\n@!\"#$%\n&'IJ\n@@r2\n+@r2  \n\r\n\n"
    b"@\tr3\ty\r\nGG\r\nTTR\r\n+\r\n+++~~\r\n\r\n@\n\nCCATGACCA \nTGACCATG\n\n+\n@bcd\n"
    b"5f6hij7\n+\n@\n\nlm4o\n@s a\nA\n+s a\n!"
)
FASTQS = [FASTQ, FASTQ + b"\r\n", FASTQ + b"\n\n\n\n\n\n", b"\n\n" + FASTQ, WRAPPED, FASTQ + b"\n" + WRAPPED + b"\n\n"]
NAMES = (b"", b"r", b"one two", b" lead\tx", b"@>+", b"\xff\xfe", b"\xe2\x82", b"\xc3\xa9t\xc3\xa9", b"x" * 300 + b" y")


class PutTogether:
    """The records of blocks, put together from their pieces."""

    def __init__(self, engine: Engine, overlap: int, records: Sequence[Record]) -> None:
        self.names: list[str] = []
        self.headers: list[str] = []
        self.letters = [""] * len(records)
        self.qualities: list[list[int]] = [[] for _ in records]
        self.ended: list[int] = []
        self.text = b""
        self._engine, self._overlap, self._records = engine, overlap, records

    def add(self, block: LetterBlock) -> None:
        """Add a block, all of whose pieces hold what they say."""
        assert block.first == len(self.names)
        self.names += block.names
        self.headers += block.headers()
        on_device = self._engine.download(block.text.memory, block.text.size, block.text.skip)
        pieces, whole, texts = block.pieces, block.host.tobytes(), block.texts()
        assert on_device.tobytes() == whole
        assert len(pieces) == len(texts) > 0
        for begin, end, ends in zip(texts.starts[:-1], texts.starts[1:], pieces.ends, strict=True):
            part = texts.letters[begin:end].tobytes()
            self.text += part + (b"\n" if ends and not part.endswith((b"\n", b"\r")) else b"")
        kinds = [array.dtype.name for array in (pieces.record, pieces.start, pieces.letters, pieces.size, pieces.owned)]
        assert kinds == ["int64", "int64", "uint32", "uint32", "uint32"]
        columns: Iterable[Any] = zip(
            pieces.record, pieces.start, pieces.letters, pieces.size, pieces.owned, pieces.ends, strict=True
        )
        for i, (record, start, place, size, owned, ends) in enumerate(columns):
            letters = whole[place : place + size].decode("latin-1")
            assert len(self.ended) == record
            assert start == len(self.letters[record])
            assert self._records[record].letters[start : start + size] == letters
            self.letters[record] += letters[:owned]
            assert size - owned == (0 if ends else self._overlap)
            assert ends or owned
            if ends:
                self.ended.append(record)
            if pieces.qualities is not None:
                assert ends
                qualities = whole[pieces.qualities[i] :][:size]
                self.qualities[record] = [max(quality - 33, 0) for quality in qualities]


records_of = functools.lru_cache(maxsize=64)(reference.records)


@functools.lru_cache(maxsize=64)
def headers_of(content: bytes) -> list[str]:
    """Lines of headers, without > or @."""
    if content.lstrip(b"\r\n").startswith(b"@"):
        return [one.header[1:].decode("utf-8", "replace") for one in reference.fastq_records(content)]
    lines = content.replace(b"\r", b"\n").split(b"\n")
    return [line[1:].decode("utf-8", "replace") for line in lines if line.startswith(b">")]


def check(engine: Engine, path: Path | str, content: bytes, block_bytes: int | None, overlap: int) -> None:
    expected = records_of(content)
    found = PutTogether(engine, overlap, expected)
    for block in letter_blocks(engine, [path], overlap=overlap, block_bytes=block_bytes):
        assert block.source == str(path)
        found.add(block)
    assert found.names == [record.name for record in expected]
    assert found.headers == headers_of(content)
    assert found.letters == [record.letters for record in expected]
    assert found.qualities == [record.qualities for record in expected]
    assert found.ended == list(range(len(expected)))
    assert records_of(found.text) == expected


@pytest.mark.parametrize("number", range(len(FASTAS)))
def test_every_size_of_block_of_fasta(shaped: Engine, tmp_path: Path, number: int, stride: int) -> None:
    """Each text with every third size and one of the overlaps, three texts with all sizes."""
    content, path = FASTAS[number], tmp_path / "x"
    path.write_bytes(content)
    some = tried(range(1 + number % 3, len(content), 3 * stride), whole=range(1, len(content), stride))
    for block_bytes in [*some, len(content), len(content) + 1]:
        overlaps = (0, block_bytes % 5, block_bytes % 4 * block_bytes)
        for overlap in set(tried(overlaps[block_bytes // 3 % 3 :][:1], whole=overlaps)):
            check(shaped, path, content, block_bytes, overlap)


@pytest.mark.parametrize("number", range(len(FASTQS)))
def test_every_size_of_block_of_fastq(shaped: Engine, tmp_path: Path, number: int, stride: int) -> None:
    """Each text with every third size, three texts with all."""
    content, path = FASTQS[number], tmp_path / "x"
    path.write_bytes(content)
    every = stride if WRAPPED not in content else stride * (1 + len(content) // 40)
    some = tried(range(1 + number % 3, len(content), 3 * every), whole=range(1, len(content), every))
    for block_bytes in [*some, len(content), len(content) + 1]:
        check(shaped, path, content, block_bytes, 3)


MAX_BLOCKS = 100  # of one text; smaller blocks have tests of their own


@settings(max_examples=examples(20))
@given(
    lengths=st.lists(st.integers(0, 700), min_size=1, max_size=30),
    width=st.sampled_from([1, 7, 60, 10_000]),
    newline=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    fastq=st.booleans(),
    ends=st.booleans(),
    block_bytes=st.integers(1, 9000),
    overlap=st.integers(0, 3),
    seed=st.integers(0, 1 << 32),
)
def test_any_input(
    shaped: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[int],
    width: int,
    newline: bytes,
    fastq: bool,
    ends: bool,
    block_bytes: int,
    overlap: int,
    seed: int,
) -> None:
    """`overlap` counts blocks; where it is 0, it is a few letters."""
    rng = np.random.default_rng(seed)
    newline = b"\n" if fastq and newline == b"\r" else newline
    lines = []
    for length in lengths:
        sequence = rng.choice(np.frombuffer(b"ACGTNacgtR-", np.uint8), length).tobytes()
        name = NAMES[int(rng.integers(len(NAMES)))]
        if fastq:
            lines += [b"@" + name, sequence, b"+", rng.choice(np.frombuffer(b"@+IF#", np.uint8), length).tobytes()]
        else:
            lines += [b">" + name, *(sequence[i : i + width] for i in range(0, length, width))]
    content = newline.join(lines) + (newline if ends or (fastq and not lengths[-1]) else b"")
    path = tmp_path_factory.mktemp("any") / "x"
    path.write_bytes(content)
    block_bytes = max(block_bytes, len(content) // MAX_BLOCKS)
    check(shaped, path, content, block_bytes, overlap * block_bytes or int(rng.integers(40)))


def reads(count: int, length: int) -> bytes:
    rng = np.random.default_rng(3)
    bases = np.frombuffer(b"ACGT", np.uint8)
    rows = [rng.choice(bases, length).tobytes() for _ in range(count)]
    return b"".join(b"@%d\n%b\n+\n%b\n" % (i, row, b"I" * length) for i, row in enumerate(rows))


def test_blocks_of_many_tiles_and_records_of_many_blocks(shaped: Engine, tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content in (reads(1000, 150), reads(2, 75_000)):
        path.write_bytes(content)
        for block_bytes in (None, 70_000):
            check(shaped, path, content, block_bytes, 3)
        letters = b"\n".join(content.split(b"\n")[1::4])
        genome = b">g\n%b\n>h\n%b" % (letters, letters[:1000])
        path.write_bytes(genome)
        for overlap in (0, 64, 50_000):
            check(shaped, path, genome, 20_000, overlap)


def test_files_of_all_kinds_in_a_row(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fasta, fastq = tmp_path / "a.fa.gz", tmp_path / "b.fq.gz"
    fasta.write_bytes(gzip.compress(FASTA))
    fastq.write_bytes(bgzip(FASTQ, 20))
    paths = [fasta, fastq, fasta, "-"]
    expected = [record for part in (FASTA, FASTQ, FASTA, FASTQ) for record in reference.records(part)]
    for packed in (False, True):
        for block_bytes in (13, None):
            stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(FASTQ) if packed else FASTQ))
            monkeypatch.setattr(sys, "stdin", stdin)
            found = PutTogether(engine, 5, expected)
            sources = []
            for block in letter_blocks(engine, paths, overlap=5, block_bytes=block_bytes):
                sources += [block.source] * len(block.names)
                found.add(block)
            assert (found.names, found.letters) == ([r.name for r in expected], [r.letters for r in expected])
            assert found.qualities == [record.qualities for record in expected]
            counts = [len(reference.records(part)) for part in (FASTA, FASTQ)]
            assert sources == [*[str(fasta)] * counts[0], *[str(fastq)] * counts[1], *[str(fasta)] * counts[0],
                               *["-"] * counts[1]]  # fmt: skip


def places_of(content: bytes) -> list[list[int]]:
    """Where the letters of each record are in a text, found letter by letter."""
    if content.lstrip(b"\r\n").startswith(b"@"):
        return [one.places for one in reference.fastq_records(content)]
    places: list[list[int]] = []
    header, starts = False, True
    for at in range(len(content) - len(content.lstrip(b"\r\n")), len(content)):
        byte = content[at : at + 1]
        if starts:
            header = byte == b">"
            if header:
                places.append([])
        starts = byte in b"\r\n"
        if not header and not starts:
            places[-1].append(at)
    return places


@pytest.mark.parametrize("number", range(len(FASTAS + FASTQS)))
def test_the_place_of_a_wrong_letter(shaped: Engine, tmp_path: Path, number: int) -> None:
    """Each text with every second size, two texts with all."""
    content, path, first = (FASTAS + FASTQS)[number], tmp_path / "x", tmp_path / "first"
    path.write_bytes(content)
    first.write_bytes(b">a\nACGT\n>b\nACGT\n")
    expected = places_of(content)
    sizes = (1, 3, 7, 20, 64, 1000)
    for block_bytes in tried(sizes[number % 2 :: 2], whole=sizes):
        blocks = letter_blocks(shaped, [first, path], overlap=4, block_bytes=block_bytes)
        for block in (block for block in blocks if block.source == str(path)):
            pieces = block.pieces
            for record, start, place, size in zip(
                pieces.record, pieces.start, pieces.letters, pieces.size, strict=True
            ):
                for i in range(size):
                    error = block.error_at(int(place) + i, "no base")
                    assert (error.source, error.record) == (str(path), record - 1)
                    assert error.byte == expected[record - 2][start + i]
                    assert str(error).endswith("no base")


def outcome(blocks: Iterable[Any]) -> tuple[str, int | None, int | None]:
    """What is said of a text, and where; not that its letters are no nucleotides, which only packed blocks say."""
    try:
        for _ in blocks:
            pass
    except InputError as error:
        if "are no nucleotides" not in str(error):
            return str(error), error.record, error.byte
    return "", None, None


DEFECTIVE = [
    (b"@a\nACGT\n+\nIIII\nACGT\n+\nIIII\n", "has to start with @", 2, 15),
    (b"@a\nACGT\nACGT\n+\nIIII\nIIIII\n", "not equally many", 1, 0),
    (b"@a\nACGT\n+\nIIII\n@b\nACGT\n+\nIII\n@c\nA\n+\nI\n", "not equally many", 2, 15),
    (b"@a\nACGT\n+\nIIII\n@b\nACGT\n+", "ends within a record", 2, 15),
    (b"@a\nACGT\n+\nIIII\n@b\nACGT\n+\n", "ends within a record", 2, 15),
    (b"@a\nACGT\n+\nIIII\n@b\nACGT\n+\nII\nI\n", "not equally many", 2, 15),
    (b"@a\nACGT\n+\nIIII\n@b", "ends within a record", 2, 15),
    (b"@a\nACGT\n+\nIIII\n\n\nb\nA\n+\nI\n", "has to start with @", 2, 17),
    (b"@a\nACGT\n+\nIIII\n" * 40 + b"\n\n\n\n\n\n>b\nA\n+\nI\n", "has to start with @", 41, 606),
    (b"ACGT\n", "neither FASTA nor FASTQ", None, None),
    (b"\n\r\n", "holds no sequence", None, None),
    (b"", "the file is empty", None, None),
]


@pytest.mark.parametrize("block_bytes", [1, *on_one_cpu(8, 40), 1 << 20])
@pytest.mark.parametrize(("content", "message", "record", "byte"), DEFECTIVE)
def test_defects(
    shaped: Engine, tmp_path: Path, content: bytes, message: str, record: int, byte: int, block_bytes: int
) -> None:
    path, sound = tmp_path / "x.fq", tmp_path / "sound"
    path.write_bytes(content)
    sound.write_bytes(b"@s\nAC\n+\nII\n")
    block_bytes = max(block_bytes, len(content) // MAX_BLOCKS)
    said, *where = outcome(letter_blocks(shaped, [sound, path], block_bytes=block_bytes))
    assert message in said
    assert where == [record, byte]
    assert outcome(packed_blocks(shaped, [path], block_bytes=block_bytes)) == (said, record, byte)


LINES = (b"@", b"@a", b"+", b"+x", b"", b"AC", b"\r", b"ACG\r", b"@I", b"+I", b"II")


@settings(max_examples=examples(150))
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=24),
    block_bytes=st.integers(1, 80),
)
def test_any_lines_are_read_or_refused_as_packed_blocks_do(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], block_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("any") / "x"
    path.write_bytes(b"\n".join([b"@a", b"AC", b"+", b"II", *lines]))
    said = outcome(letter_blocks(engine, [path], block_bytes=block_bytes))
    assert said == outcome(packed_blocks(engine, [path], block_bytes=block_bytes))
    if not said[0]:
        check(engine, path, path.read_bytes(), block_bytes, 0)


def test_records_that_are_too_long(
    engine: Engine, device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(FASTQ + b"\n" + reads(1, 200_000))
    with Engine(device, max_memory=1 << 18) as small, pytest.raises(AllocationError, match="max_memory"):
        list(letter_blocks(small, [path]))
    monkeypatch.setattr(text, "MAX_BYTES", 100_000)
    with pytest.raises(InputError, match="a record of FASTQ, or a header, takes more than") as caught:
        list(letter_blocks(engine, [path], block_bytes=5000))
    assert (caught.value.source, caught.value.byte) == (str(path), len(FASTQ) + 1)


@given(content=st.text("\n\rA>", max_size=30), count=st.integers(0, 30), step=st.integers(1, 8))
def test_places_found_from_the_end(content: str, count: int, step: int) -> None:
    array = np.frombuffer(content.encode(), np.uint8)
    letters = [at for at, letter in enumerate(content) if letter in "A>"]
    with mock.patch.object(line_breaks, "STEP_BYTES", step):
        for breaks in (False, True):
            found = [at for at in range(len(content)) if (at not in letters) == breaks]
            assert line_breaks.last_place(array, breaks=breaks) == max(found, default=-1)
        count = min(count, len(letters))
        place = line_breaks.first_of_last(array, count)
        assert place == (letters[-count] if count else len(content))


class Writer(threading.Thread):
    """Writes the parts of a text into a pipe, each after the first one when it is asked for."""

    def __init__(self, target: int, parts: Sequence[bytes]) -> None:
        super().__init__(daemon=True)
        self._target, self._parts = target, parts
        self.asked = [threading.Event() for _ in parts[1:]]
        self.in_time = True
        self.start()

    def run(self) -> None:
        """Write; go on without being asked after a while, so that a test that fails ends."""
        with os.fdopen(self._target, "wb", buffering=0) as pipe:
            pipe.write(self._parts[0])
            for part, asked in zip(self._parts[1:], self.asked, strict=True):
                self.in_time = asked.wait(20) and self.in_time
                pipe.write(part)


PIPED = [
    ([FASTQ + b"\n", FASTQ + b"\n@half", b"\nAC\n+\nII\n"], [4, 4, 1]),
    ([b"@a\nACG\n+\n~~~\n@b\nA\n+\nI\n@c\nA", b"C\n+\nII\n@d", b"\nA\n+\nI"], [2, 1, 1]),
    ([b">a first\nACGT\n>b\nAC\n", b"GT\n>c\nA\n", b"CC\n"], [2, 1, 0]),
]


@pytest.mark.one_cpu  # the host waits for data
@pytest.mark.parametrize("standard_input", [False, True])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("parts", "begun"), PIPED)
def test_results_come_as_the_data_come(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    parts: list[bytes],
    begun: list[int],
    packed: bool,
    standard_input: bool,
) -> None:
    """A block comes before the rest has been written, with the records that begin in the first parts."""
    source, target = os.pipe()
    stdin = os.fdopen(source, encoding="latin-1")
    if standard_input:
        monkeypatch.setattr(sys, "stdin", stdin)
    path = "-" if standard_input else f"/dev/fd/{source}"
    writer = Writer(target, [gzip.compress(part) for part in parts] if packed else parts)
    expected = reference.records(b"".join(parts))
    found = PutTogether(engine, 0, expected)
    blocks = letter_blocks(engine, [path])
    for count, asked in zip(begun, [*writer.asked, None], strict=True):
        before = len(found.names)
        while len(found.names) < before + count:
            found.add(next(blocks))
        if asked is not None:
            asked.set()
    for block in blocks:
        found.add(block)
    assert writer.in_time
    assert found.letters == [record.letters for record in expected]
    assert len(found.ended) == len(expected)
    stdin.close()


def test_a_pipe_that_is_fast_fills_blocks(engine: Engine) -> None:
    source, target = os.pipe()
    content = reads(20_000, 150)
    writer = Writer(target, [content])
    with os.fdopen(source, "rb"):
        sizes = [len(block.names) for block in letter_blocks(engine, [f"/dev/fd/{source}"], block_bytes=1_000_000)]
        assert sum(sizes) == 20_000
        assert max(sizes) <= 1_000_000 // 300 + 3
    writer.join()


def test_the_text_in_use_is_not_read_into(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content in (reads(2000, 150), b">g\n" + reads(2000, 150).replace(b"@", b"A").replace(b"+", b"C")):
        path.write_bytes(content)
        for block in letter_blocks(engine, [path], block_bytes=20_000, overlap=7):
            before = block.host.copy()
            threading.Event().wait(0.002)  # the next blocks are read meanwhile
            np.testing.assert_array_equal(before, block.host)
