"""Good and bad FASTQ, case by case, as Cock et al. (2010, doi:10.1093/nar/gkp1137) list them; Biopython is the judge.

The cases are made here. Where Biopython is installed, it says of each what it says there.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from helpers.products import tried

from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Census, letter_blocks, packed_blocks
from oclgenomics.sequence.records import read_records

Case = tuple[bytes, int | None, int | None]
Found = tuple[list[tuple[str, str]], list[str]]

FIRST = b"@one a title\nACGTACGTAC\n+one a title\nIIIIIIIIII\n"
LAST = b"@three\nGGCC\n+\n!~@+\n"
SECOND = (b"@two\n", b"ACGTNACG\n", b"+two\n", b"@IIII+I5\n")
RANGE = bytes(range(33, 127))


def second(*lines: bytes) -> bytes:
    """Three records of which the second has other lines."""
    return FIRST + b"".join(lines) + LAST


def changed(line: int, at: int, byte: bytes) -> bytes:
    """Three records, with another byte in a line of the second."""
    lines = list(SECOND)
    lines[line] = lines[line][:at] + byte + lines[line][at + len(byte) :]
    return second(*lines)


START = len(FIRST)
LETTERS, PLUS, QUALITIES = START + 5, START + 14, START + 19
ODD = {"tab": b"\t", "space": b" ", "null": b"\0", "escape": b"\x1b", "unit separator": b"\x1f", "vertical tab": b"\v",
       "delete": b"\x7f"}  # fmt: skip
CUT = FIRST + b"".join(SECOND)

# Text, and the record and the byte of its defect.
GOOD: dict[str, bytes] = {
    "four lines": second(*SECOND),
    "without a title": second(SECOND[0], SECOND[1], b"+\n", SECOND[3]),
    "dos": second(*SECOND).replace(b"\n", b"\r\n"),
    "all qualities": second(b"@two\n", b"A" * 94 + b"\n", b"+\n", RANGE + b"\n"),
    "no letters": second(b"@two\n", b"\n", b"+\n", b"\n"),
    "no letters and no lines for them": second(b"@two\n", b"+\n"),
    "letters are wrapped": second(SECOND[0], b"ACG\nTNA\nCG\n", *SECOND[2:]),
    "qualities are wrapped": second(*SECOND[:3], b"@II\nII+\nI5\n"),
    "both are wrapped": second(SECOND[0], b"ACGT\nNACG\n", b"+\n", b"@III\nI+I5\n"),
    "a line of qualities is like a header": second(SECOND[0], SECOND[1], b"+\n", b"IIII\n@two\n"),
    "a line of qualities is like a +": second(SECOND[0], SECOND[1], b"+\n", b"IIII\n+two\n"),
    "wrapped dos": second(SECOND[0], b"ACG\nTNA\nCG\n", b"+\n", b"@II\nII+\nI5\n").replace(b"\n", b"\r\n"),
    "blank lines": second(*SECOND, b"\n\n\n"),
    "blank lines within": second(SECOND[0], b"ACGT\n\nNACG\n\n", b"+\n", b"\n@III\n\nI+I5\n"),
    "spaces at the ends of lines": second(b"@two \n", b"ACGTNACG \n", b"+two\n", b"@IIII+I5\t\n"),
    "rna": second(SECOND[0], b"ACGUNACG\n", *SECOND[2:]),
    "no newline at the end": second(*SECOND)[:-1],
}
BAD: dict[str, Case] = {
    "other title": (second(*SECOND[:2], b"+twp\n", SECOND[3]), 2, PLUS),
    "longer title": (second(*SECOND[:2], b"+two a\n", SECOND[3]), 2, PLUS),
    "title of a record of no letters": (second(b"@two\n", b"\n", b"+twp\n", b"\n"), 2, START + 6),
    "qualities twice": (second(*SECOND, *SECOND[2:]), 3, START + len(b"".join(SECOND))),
    "letters twice": (second(*SECOND[:2], *SECOND[1:]), 2, START),
    "long qualities": (second(*SECOND[:3], b"@IIII+I5I\n"), 2, START),
    "short qualities": (second(*SECOND[:3], b"@IIII+I\n"), 2, START),
    "no qualities": (second(*SECOND[:3], b"\n"), 2, START),
    "no record": (second(b"two\n", *SECOND[1:]), 2, START),
    "fasta within": (second(b">two\n", *SECOND[1:]), 2, START),
    **{f"{name} among qualities": (changed(3, 3, byte), 2, QUALITIES + 3) for name, byte in ODD.items()},
    **{f"{name} among letters": (changed(1, 3, byte), 2, LETTERS + 3) for name, byte in ODD.items()},
    "space in letters and qualities": (
        second(SECOND[0], b"ACGT NACG\n", SECOND[2], b"@III I+I5\n"), 2, LETTERS + 4,
    ),
    "no ascii among qualities": (changed(3, 3, b"\xc3\xa9"), 2, QUALITIES + 3),
    "a line of letters starts with +": (second(b"@two\n+CGT\n+\nIIII\n"), 2, START + 5),
    "cut in the title": (CUT[: START + 3], 2, START),
    "cut at the letters": (CUT[:LETTERS], 2, START),
    "cut in the letters": (CUT[: LETTERS + 4], 2, START),
    "cut at the plus": (CUT[:PLUS], 2, START),
    "cut in the plus": (CUT[: PLUS + 3], 2, START),
    "cut at the qualities": (CUT[:QUALITIES], 2, START),
    "cut in the qualities": (CUT[: QUALITIES + 5], 2, START),
}  # fmt: skip
SIZES = (3, 40, 1 << 20)  # of blocks


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.fastq"


@pytest.fixture
def sizes(stride: int) -> tuple[int, ...]:
    """All sizes of blocks, or some of them beside a CPU runtime that takes all: the host cuts texts into blocks."""
    return tuple(tried(SIZES, whole=(1, *SIZES))) if stride == 1 else SIZES[1:2]


def by_device(engine: Engine, path: Path, block_bytes: int) -> Found:
    records, qualities = [], []
    for block in letter_blocks(engine, [path], block_bytes=block_bytes):
        text, pieces = block.host.tobytes().decode("latin-1"), block.pieces
        assert pieces.qualities is not None
        for name, letters, beside, size in zip(
            block.names, pieces.letters.tolist(), pieces.qualities.tolist(), pieces.size.tolist(), strict=True
        ):
            records.append((name, text[letters : letters + size]))
            qualities.append(text[beside : beside + size])
    return records, qualities


def by_host(path: Path) -> list[tuple[str, str]]:
    return [(record.name, record.letters.decode("latin-1")) for record in read_records(path)]


@pytest.mark.parametrize("name", GOOD)
def test_good(engine: Engine, path: Path, sizes: tuple[int, ...], name: str) -> None:
    path.write_bytes(GOOD[name])
    found = by_device(engine, path, 1 << 20)
    assert [record[0] for record in found[0]] == ["one", "two", "three"]
    assert (found[0][0][1], found[0][2][1]) == ("ACGTACGTAC", "GGCC")
    assert (found[1][0], found[1][2]) == ("IIIIIIIIII", "!~@+")
    assert all(by_device(engine, path, size) == found for size in sizes)
    assert by_host(path) == found[0]
    for size in sizes:
        census = Census()
        list(packed_blocks(engine, [path], block_bytes=size, census=census))
        assert (census.records, census.letters) == (3, sum(len(record[1]) for record in found[0]))


@pytest.mark.parametrize("name", BAD)
def test_bad(engine: Engine, path: Path, sizes: tuple[int, ...], name: str) -> None:
    text, record, byte = BAD[name]
    path.write_bytes(text)
    said = set()
    for size in sizes:
        for blocks in (
            letter_blocks(engine, [path], block_bytes=size),
            packed_blocks(engine, [path], block_bytes=size),
            packed_blocks(engine, [path], block_bytes=size, min_quality=60, names=True),
        ):
            with pytest.raises(InputError) as caught:
                list(blocks)
            assert (caught.value.source, caught.value.record, caught.value.byte) == (str(path), record, byte)
            said.add(str(caught.value))
    with pytest.raises(InputError) as caught:
        by_host(path)
    assert said == {str(caught.value)}


def test_a_mark_counts_among_the_bytes(engine: Engine, path: Path) -> None:
    text, record, byte = BAD["tab among letters"]
    assert byte is not None
    path.write_bytes(b"\xef\xbb\xbf" + text)
    for read in (lambda: list(letter_blocks(engine, [path])), lambda: list(read_records(path))):
        with pytest.raises(InputError) as caught:
            read()
        assert (caught.value.record, caught.value.byte) == (record, byte + 3)


@pytest.mark.one_cpu  # `test_good` and `test_bad` say what every device finds
@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_biopython_says_the_same(engine: Engine, path: Path, name: str) -> None:
    seqio = pytest.importorskip("Bio.SeqIO")
    text = GOOD[name] if name in GOOD else BAD[name][0]
    path.write_bytes(text)
    if name in BAD:
        with pytest.raises(ValueError, match=r"."):
            list(seqio.parse(io.StringIO(text.decode("utf-8"), newline=None), "fastq"))
        return
    known = list(seqio.parse(io.StringIO(text.decode("utf-8"), newline=None), "fastq"))
    records, qualities = by_device(engine, path, 1 << 20)
    assert records == [(record.id, str(record.seq)) for record in known]
    numbers = [record.letter_annotations["phred_quality"] for record in known]
    assert [[ord(quality) - 33 for quality in some] for some in qualities] == numbers
