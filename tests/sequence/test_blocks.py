"""Packed blocks against the oracle, for every way to cut a text."""

from __future__ import annotations

import functools
import gzip
import re
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest
from helpers.products import examples, tried
from helpers.symbols import bases_of
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.runtime import Device, DeviceArray, Engine, SharedArray
from oclgenomics.sequence import Census, files as opening, packed_blocks, parse as tiles, reference
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.parse import FastaState, parse_fasta, parse_fastq

FASTA = b">r1\nACGTNacgtaAC\nGGTTRCCATG\n>r2 desc > x\n\nTTTTTTTT\n>\n>last\nACGT\r\nAC\rGT\r\n"
FASTQ = (
    b"@r1 x\nACGTNacgta\n+\n@@@@@@@@@@\n@r2\n\n+r2\n\n"
    b"@r3\r\nGGTTR\r\n+\r\n+++++\r\n@r4\nCCATGACCATGACCATG\n+\n@bcdefghijklmnopq"
)


def windows(texts: list[str], k: int) -> list[str]:
    found = [run[i : i + k] for text in texts for run in re.findall("[ACGT]+", text) for i in range(len(run) - k + 1)]
    return sorted(found)


@functools.lru_cache(maxsize=8)
def expected_windows(text: bytes, k: int) -> list[str]:
    return windows(reference.runs(text), k)


@functools.lru_cache(maxsize=8)
def census_of(text: bytes, min_quality: int = 0) -> Census:
    records = reference.records(text)
    pairs = [pair for record in records for pair in zip_longest(record.letters, record.qualities, fillvalue=93)]
    others = [letter.upper() for letter, quality in pairs if quality >= min_quality and letter not in "ACGTacgt"]
    foreign = [letter for letter in others if letter not in "URYSWKMBDHVNX-.?"]
    return Census(len(records), len(pairs), len(others), len(foreign), others.count("U"))


def check(engine: Engine, path: Path, text: bytes, block_bytes: int, k: int) -> None:
    census = Census()
    blocks = packed_blocks(engine, [path], overlap=k - 1, block_bytes=block_bytes, census=census)
    assert windows([bases_of(engine, block.symbols) for block in blocks], k) == expected_windows(text, k)
    assert census == census_of(text)


MIXED = b"\r>r1\rACGTN\r\nacgtaAC\n\rGGTT\r\r>r2 desc > x\r\nTTTTTTTT\r>\r>last\nACGT\n>x\r\n>y\rACGTACG\r"


TEXTS = [FASTA, FASTA[:-2], FASTA.replace(b"\n", b"\r"), MIXED, MIXED[:-1], b"\n\n" + FASTA]
WRAPPED = (
    b"@r1 x\nACG\n\nTNacgta\n+\n@@@@\n@\n@@@@@\n@r2\n+r2 \n\n\r\n"
    b"@r3\r\nGG\r\nTTR\r\n+\r\n++\r\n+++\r\n@r4\nCCATGACCATGACCATG\n+r4\n@bcdefghij\n+lmnopq"
)
TEXTS += [FASTQ, FASTQ + b"\n", FASTQ + b"\n\n\r\n", WRAPPED, FASTQ + b"\n\n\n" + WRAPPED + b"\n"]


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_every_size_of_block(engine: Engine, tmp_path: Path, number: int, stride: int) -> None:
    """Each text with every third size, three texts with all."""
    text, path = TEXTS[number], tmp_path / "x"
    path.write_bytes(text)
    step = 1 if WRAPPED not in text else 1 + len(text) // 40
    some = tried(range(1 + number % 3, len(text), 3 * step * stride), whole=range(1, len(text), step * stride))
    for block_bytes in [*some, len(text), len(text) + 1]:
        check(engine, path, text, block_bytes, 5)


MAX_BLOCKS = 150  # of one text; smaller blocks have tests of their own


@settings(max_examples=examples(25))
@given(
    lengths=st.lists(st.integers(0, 700), min_size=1, max_size=30),
    width=st.sampled_from([1, 7, 60, 10_000]),
    newline=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    alphabet=st.sampled_from([b"ACGT", b"acgtACGTNRY", b"A"]),
    fastq=st.booleans(),
    ends=st.booleans(),
    block_bytes=st.integers(1, 9000),
    k=st.integers(1, 40),
    seed=st.integers(0, 1 << 32),
)
def test_any_input(
    engine: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[int],
    width: int,
    newline: bytes,
    alphabet: bytes,
    fastq: bool,
    ends: bool,
    block_bytes: int,
    k: int,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    newline = b"\n" if fastq and newline == b"\r" else newline
    lines = []
    for record, length in enumerate(lengths):
        sequence = rng.choice(np.frombuffer(alphabet, np.uint8), length).tobytes()
        name = b"r%d" % record + b"x" * int(rng.integers(0, 300))
        if fastq:
            lines += [b"@" + name, sequence, b"+", rng.choice(np.frombuffer(b"@+IF#", np.uint8), length).tobytes()]
        else:
            lines += [b">" + name, *(sequence[i : i + width] for i in range(0, length, width))]
    text = newline.join(lines) + (newline if ends or (fastq and not lengths[-1]) else b"")
    path = tmp_path_factory.mktemp("any") / "x"
    path.write_bytes(text)
    check(engine, path, text, max(block_bytes, len(text) // MAX_BLOCKS), k)


def test_large_blocks_of_many_tiles(engine: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    bases = np.frombuffer(b"ACGT", np.uint8)
    reads = [rng.choice(bases, 150).tobytes() for _ in range(1000)]
    fastq = b"".join(b"@%d\n%b\n+\n%b\n" % (i, read, b"I" * 150) for i, read in enumerate(reads))
    genome = b">g\n" + b"\n".join(reads) + b"\n"
    for name, text in (("q", fastq), ("a", genome)):
        (tmp_path / name).write_bytes(text)
        check(engine, tmp_path / name, text, 1 << 20, 21)
        check(engine, tmp_path / name, text, 70_000, 21)


def test_gzip_and_many_files(engine: Engine, tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.fa", tmp_path / "b.fq.gz"
    plain.write_bytes(FASTA)
    packed.write_bytes(gzip.compress(FASTQ))
    blocks = list(packed_blocks(engine, [plain, packed], overlap=3))
    expected = windows(reference.runs(FASTA) + reference.runs(FASTQ), 4)
    assert windows([bases_of(engine, block.symbols) for block in blocks], 4) == expected
    assert sum(block.text_bytes for block in blocks) == len(FASTA) + len(FASTQ)


@pytest.mark.parametrize("block_bytes", [8, 40, 1 << 20])
@pytest.mark.parametrize(
    ("text", "message", "record", "byte"),
    [
        (b"@a\nACGT\n+\nIIII\nACGT\n+\nIIII\n", "has to start with @", 2, 15),
        (b"@a\nACGT\nACGT\n+\nIIII\nIIIII\n", "not equally many", 1, 0),
        (b"@a\nACGT\n+\nIIII\n@b\nACGT\n+\nIII\n@c\nA\n+\nI\n", "not equally many", 2, 15),
        (b"@a\nACGT\n+\nIIII\n@b\nACGT\n+", "ends within a record", 2, 15),
        (b"@a\nACGT\n+\nIIII\n@b", "ends within a record", 2, 15),
        (b"@a\nACGT\n+\nIIII\n\n\nb\nA\n+\nI\n", "has to start with @", 2, 17),
    ],
)
def test_defects_of_fastq(
    engine: Engine, tmp_path: Path, text: bytes, message: str, record: int, byte: int, block_bytes: int
) -> None:
    path = tmp_path / "x.fq"
    path.write_bytes(text)
    with pytest.raises(InputError, match=message) as caught:
        list(packed_blocks(engine, [path], block_bytes=block_bytes))
    assert (caught.value.source, caught.value.record, caught.value.byte) == (str(path), record, byte)


EVERY_BYTE = b"".join(bytes([byte]) for byte in range(256) if byte not in b"\n\r>@+")
PRINTABLE = bytes(byte for byte in EVERY_BYTE if 33 <= byte <= 126)


@pytest.mark.parametrize("block_bytes", [50, 333, 1 << 20])
def test_census_of_every_byte(shaped: Engine, tmp_path: Path, block_bytes: int) -> None:
    every, letters = (some + b"ACGTN" * 1000 + b"uU" * 40 for some in (EVERY_BYTE, PRINTABLE))
    path = tmp_path / "x"
    for text, quality in (
        (b">r one\n%b\n>s\n>t\n%b\n" % (every, every[::-1]), None),
        (b"@r\n%b\n+\n%b\n@s\n\n+\n\n" % (letters, b"I" * len(letters)), None),
        (b"@r\n%b\n+\n%b\n" % (letters, (b"#I5" * len(letters))[: len(letters)]), 20),
    ):
        path.write_bytes(text)
        census = Census(1, 1, 1, 1, 1)
        list(packed_blocks(shaped, [path, path], block_bytes=block_bytes, min_quality=quality, census=census))
        one = census_of(text, quality or 0)
        expected = Census(1, 1, 1, 1, 1)
        expected.add(one)
        expected.add(one)
        assert census == expected


@pytest.mark.parametrize("block_bytes", [11, 1 << 20])
@pytest.mark.parametrize("text", [b">r\n%b\n", b"@r\n%b\n+\n%b\n"])
def test_protein_is_refused(engine: Engine, tmp_path: Path, text: bytes, block_bytes: int) -> None:
    path = tmp_path / "x"
    for letters, refused in (
        (b"MKVLAEDFWTGQISPQHN", True),
        (b"ACGTACGTACGTACGTEF", True),
        (b"ACGTACGTACGTACGTAE", False),
        (b"NRYSWKMBDHVXU-.?nx", False),
    ):
        path.write_bytes(text.replace(b"%b", letters))
        if refused:
            with pytest.raises(InputError, match="of 18 characters are no nucleotides") as caught:
                list(packed_blocks(engine, [path], block_bytes=block_bytes))
            assert caught.value.source == str(path)
        else:
            list(packed_blocks(engine, [path], block_bytes=block_bytes))


def test_other_inputs(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"ACGT\n")
    with pytest.raises(InputError, match="neither FASTA nor FASTQ"):
        list(packed_blocks(engine, [path]))
    path.write_bytes(b"\n\n")
    with pytest.raises(InputError, match="holds no sequence"):
        list(packed_blocks(engine, [path]))
    text = Text(engine.upload(np.zeros(1, np.uint8)), 0, 0)
    with pytest.raises(ValueError, match="1 to"):
        parse_fastq(engine, text, final=True)
    with pytest.raises(ValueError, match="1 to"):
        parse_fasta(engine, text, FastaState(), None, 0)


def test_the_device_is_done_before_the_text_is_freed(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.fa"
    path.write_bytes(FASTA)
    order: list[str] = []
    wait, release = SharedArray.wait, DeviceArray.release
    monkeypatch.setattr(SharedArray, "wait", lambda shared: (order.append("waited"), wait(shared)))
    monkeypatch.setattr(DeviceArray, "release", lambda array: (order.append("released"), release(array)))
    reading = packed_blocks(engine, [path])
    next(reading)
    order.clear()
    reading.close()
    assert order[:2] == ["waited", "released"]


def test_a_block_takes_its_share_of_little_memory(device: Device) -> None:
    """Up to the most that suits the device, from the least that is worth a launch."""
    with Engine(device) as most:
        largest = opening.largest_block(most)
    for memory in (1 << 16, 1 << 20, 1 << 24):
        with Engine(device, max_memory=memory) as engine:
            block = opening.largest_block(engine)
        assert block == min(largest, max(opening.MIN_BLOCK, memory // opening.BLOCK_SHARE))


def test_sizes_that_a_block_may_have(engine: Engine) -> None:
    """From one byte to the most whose places the kernels can hold."""
    for size in (1, tiles.MAX_BYTES):
        assert tiles.Tiles(engine, size, "sequence/pack_fasta.cl").tiles > 0
    for size in (0, tiles.MAX_BYTES + 1):
        with pytest.raises(ValueError, match=f"a block has 1 to {tiles.MAX_BYTES} bytes, not {size}"):
            tiles.Tiles(engine, size, "sequence/pack_fasta.cl")
