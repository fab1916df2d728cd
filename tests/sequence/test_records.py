"""Records, names and qualities of blocks against the oracle, for every way to cut a text."""

from __future__ import annotations

import dataclasses
import functools
import gzip
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers.products import examples, tried
from helpers.symbols import bases_of
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine
from oclgenomics.sequence import PackedBlock, names_of, packed_blocks, records, records_at, reference
from oclgenomics.sequence.parse import NO_QUALITY

FASTA = (
    b">r1\nACGTNacgtaAC\n\nGGTTRCCATG\n>\n> r2\tdesc > x\n\nTTTTTTTT\n>a>b \n"
    b">last\x0cx\nACGT\r\n\r\nAC\rGT\r\n>\xff\r\n"
)
FASTQ = (
    b"@r1 x\nACGTNacgta\n+\n@!\"#$%&'IJ\n@@r2\n\n+@r2\n\n"
    b"@\tr3\ty\r\nGGTTR\r\n+\r\n+++~~\r\n@\nCCATGACCATGACCATG\n+\n@bcd5f6hij7lm4op!"
)
NAMES = (b"", b"r", b"one two", b" lead\tx", b"\tx", b"@>+", b"\xff\xfe", b"\xc3\xa9t\xc3\xa9", b"x" * 300 + b" y")


@dataclasses.dataclass
class Found:
    """A record put together from the blocks it was spread over."""

    letters: str = ""
    qualities: list[int] = dataclasses.field(default_factory=list)


def put_together(engine: Engine, blocks: Sequence[PackedBlock]) -> tuple[list[str], list[Found]]:
    """Names and records of blocks without repeated symbols."""
    names: list[str] = []
    found: list[Found] = []
    for block in blocks:
        records = block.records
        assert records is not None
        assert records.first == len(names)
        names += names_of(engine, records)
        assert len(names) == records.first + records.size
        text = bases_of(engine, block.symbols)
        qualities = [] if block.qualities is None else engine.download(block.qualities).tolist()
        starts = engine.download(records.starts, records.size).tolist()
        assert starts == sorted(set(starts))
        bounds = [0, *starts, len(text)]
        if records.continued:
            found[-1].letters += text[: bounds[1]]
        else:
            assert "-" * bounds[1] == text[: bounds[1]]
        for begin, end in pairwise(bounds[1:]):
            found.append(Found(text[begin:end], qualities[begin:end]))
    return names, found


records_of = functools.lru_cache(maxsize=8)(reference.records)


def check(engine: Engine, path: Path, text: bytes, block_bytes: int, min_quality: int | None = None) -> None:
    fastq = text.lstrip().startswith(b"@")
    blocks = list(
        packed_blocks(engine, [path], block_bytes=block_bytes, names=True, qualities=fastq, min_quality=min_quality)
    )
    expected = records_of(text)
    names, found = put_together(engine, blocks)
    assert names == [record.name for record in expected]
    for one, record in zip(found, expected, strict=True):
        symbols = reference.symbols(record, min_quality)
        assert one.letters.ljust(len(symbols), "-").rstrip("-") == symbols.rstrip("-")
        assert one.qualities[: len(symbols)] == record.qualities
        assert set(one.qualities[len(symbols) :]) <= {NO_QUALITY}


MAC = FASTA.replace(b"\n", b"\r")


TEXTS = [FASTA, FASTA[:-2], b"\n\n" + FASTA, MAC, MAC[:-2] + b"\n" + MAC]
WRAPPED = (
    b"@r1 x\nACG\n\nTNacgta\n+\n@!\"#$%\n&'IJ\n@@r2\n+@r2 \n\n\r\n"
    b"@\tr3\r\nGG\r\nTTR\r\n+\r\n++\r\n+~~\r\n@\nCCATGACCATGACCATG\n+\n@bcd5f6hij\n7lm4op!"
)
TEXTS += [FASTQ, FASTQ + b"\r\n", FASTQ + b"\n\n\n\n\n\n", WRAPPED, FASTQ + b"\n\n" + WRAPPED + b"\n\n"]


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_every_size_of_block(shaped: Engine, tmp_path: Path, number: int, stride: int) -> None:
    """Each text with every third size, three texts with all."""
    text, path = TEXTS[number], tmp_path / "x"
    path.write_bytes(text)
    step = 1 if WRAPPED not in text else 1 + len(text) // 40
    some = tried(range(1 + number % 3, len(text), 3 * step * stride), whole=range(1, len(text), step * stride))
    for block_bytes in [*some, len(text), len(text) + 1]:
        check(shaped, path, text, block_bytes)


@pytest.mark.parametrize("min_quality", [0, 1, 20, 93])
def test_every_size_of_block_with_a_least_quality(
    shaped: Engine, tmp_path: Path, min_quality: int, stride: int
) -> None:
    path = tmp_path / "x"
    path.write_bytes(FASTQ)
    some = tried(range(1 + min_quality % 8, len(FASTQ) + 2, 8 * stride), whole=range(1, len(FASTQ) + 2, 3 * stride))
    for block_bytes in some:
        check(shaped, path, FASTQ, block_bytes, min_quality)


def text_of(
    rng: np.random.Generator, records: Sequence[tuple[bytes, int]], fastq: bool, width: int, newline: bytes
) -> bytes:
    lines: list[bytes] = []
    for name, length in records:
        sequence = rng.choice(np.frombuffer(b"ACGTACGTacgtNn-R", np.uint8), length).tobytes()
        if fastq:
            qualities = rng.choice(np.frombuffer(bytes(range(33, 127)) + b"@@++", np.uint8), length).tobytes()
            lines += [b"@" + name, sequence, b"+", qualities]
        else:
            lines += [b">" + name, *(sequence[i : i + width] for i in range(0, length, width))]
            lines += [b""] * (length % 2)
    return newline.join(lines)


MAX_BLOCKS = 150  # of one text; smaller blocks have tests of their own


@settings(max_examples=examples(25))
@given(
    records=st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 700)), min_size=1, max_size=30),
    width=st.sampled_from([1, 7, 60, 10_000]),
    newline=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    fastq=st.booleans(),
    ends=st.booleans(),
    block_bytes=st.integers(1, 9000),
    min_quality=st.one_of(st.none(), st.integers(0, 93)),
    seed=st.integers(0, 1 << 32),
)
def test_any_input(
    shaped: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    records: list[tuple[bytes, int]],
    width: int,
    newline: bytes,
    fastq: bool,
    ends: bool,
    block_bytes: int,
    min_quality: int | None,
    seed: int,
) -> None:
    newline = b"\n" if fastq and newline == b"\r" else newline
    text = text_of(np.random.default_rng(seed), records, fastq, width, newline)
    text += newline if ends or (fastq and not records[-1][1]) else b""
    path = tmp_path_factory.mktemp("any") / "x"
    path.write_bytes(text)
    check(shaped, path, text, max(block_bytes, len(text) // MAX_BLOCKS), min_quality if fastq else None)


@pytest.mark.parametrize("min_quality", [None, 20])
def test_large_blocks_of_many_tiles(shaped: Engine, tmp_path: Path, min_quality: int | None) -> None:
    rng = np.random.default_rng(3)
    records = [(b"read/%d of many" % number, int(rng.integers(0, 200))) for number in range(1000)]
    path = tmp_path / "x"
    for fastq in (True, False) if min_quality is None else (True,):
        text = text_of(rng, records, fastq, 60, b"\n") + b"\n"
        path.write_bytes(text)
        check(shaped, path, text, 70_000, min_quality)
        check(shaped, path, text, 1 << 20, min_quality)


@pytest.mark.parametrize("block_bytes", [7, 30, 90, None])
def test_windows_by_record_over_several_files(engine: Engine, tmp_path: Path, block_bytes: int | None) -> None:
    k = 4
    texts = [FASTA, FASTQ, b">only\nACGTACGT"]
    paths = [tmp_path / name for name in ("a.fa", "b.fq.gz", "c.fa")]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    names: list[str] = []
    found = []
    for block in packed_blocks(engine, paths, overlap=k - 1, block_bytes=block_bytes, names=True):
        assert block.records is not None
        names += names_of(engine, block.records)
        text = bases_of(engine, block.symbols)
        places = [place for place in range(len(text) - k + 1) if "-" not in text[place : place + k]]
        owners = records_at(engine, block.records, places).tolist()
        found += [(owner, text[place : place + k]) for owner, place in zip(owners, places, strict=True)]
    records = [record for text in texts for record in reference.records(text)]
    expected = [
        (number, run[i : i + k])
        for number, record in enumerate(records)
        for run in reference.symbols(record).split("-")
        for i in range(len(run) - k + 1)
    ]
    assert sorted(found) == sorted(expected)
    assert names == [record.name for record in records]


def test_without_names_and_qualities_blocks_have_none(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "x.fq"
    path.write_bytes(FASTQ)
    (block,) = packed_blocks(engine, [path], min_quality=20)
    assert block.records is None
    assert block.qualities is None


def test_the_least_and_the_highest_quality(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "x.fq"
    path.write_bytes(b'@r\nACGTAC\n+\n!"#!}~\n')
    (block,) = packed_blocks(engine, [path], min_quality=2, qualities=True)
    assert block.qualities is not None
    found = engine.download(block.qualities)
    place = int(np.flatnonzero(found != NO_QUALITY)[0])
    assert found[place : place + 6].tolist() == [0, 1, 2, 0, 92, 93]
    assert bases_of(engine, block.symbols)[place : place + 6] == "--G-AC"


@pytest.mark.parametrize("options", [{"qualities": True}, {"min_quality": 0}])
def test_fasta_has_no_qualities(engine: Engine, tmp_path: Path, options: dict[str, int]) -> None:
    path = tmp_path / "x.fa"
    path.write_bytes(FASTA)
    with pytest.raises(InputError, match="has no qualities") as caught:
        list(packed_blocks(engine, [path], **options))
    assert caught.value.source == str(path)


@pytest.mark.parametrize("min_quality", [-1, 94])
def test_qualities_that_there_are_not(engine: Engine, tmp_path: Path, min_quality: int) -> None:
    with pytest.raises(ValueError, match="qualities are 0 to 93"):
        list(packed_blocks(engine, [tmp_path / "x.fq"], min_quality=min_quality))


def test_a_line_that_would_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed zeros could ask for any memory."""
    monkeypatch.setattr(records, "MAX_LINE_BYTES", 20)
    behind = [b">x\nA\n" + b"A" * 20, b"A\n"]
    for chunks in ([b">x" + b"A" * 30 + b"\n"], [b">x\n", b"A" * 11, b"A" * 10, b"\n"], behind):
        with pytest.raises(InputError, match="x: a line of more than 20 bytes; wrap its sequence"):
            list(records.records_of(chunks, "x"))
    wrapped = [b">x\n", *[b"A" * 15 + b"\n"] * 5, b"A" * 10, b"A" * 10]
    assert [len(record.letters) for record in records.records_of(wrapped, "x")] == [95]
