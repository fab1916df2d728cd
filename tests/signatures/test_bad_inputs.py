"""What other matchers get wrong about their inputs: samples and signatures that are odd, and those that are no good."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine
from oclgenomics.signatures import ScanOptions, read_panel, scan

SIGNATURES = b">s1\nACGT\n>s2\nGATTACA\n"
GOOD = b"@a\nACGTTT\n+\nIIIIII\n"


def found(
    engine: Engine, folder: Path, samples: bytes, signatures: bytes = SIGNATURES, report: str = "all"
) -> list[tuple[str, str, int]]:
    """Sample, signature and start of every match."""
    (folder / "samples").write_bytes(samples)
    (folder / "signatures").write_bytes(signatures)
    options = ScanOptions(report)  # type: ignore[arg-type]
    rows = scan(folder / "samples", folder / "signatures", options, engine=engine).records()
    return [(row["sample"], row["signature"], row["start"]) for row in rows]


@pytest.mark.parametrize(
    ("samples", "matches"),
    [
        (b"@a\nTTacgtT\n+\nIIIIIII\n", [("a", "s1", 2)]),
        (b"@a\nTTACGU\n+\nIIIIII\n", [("a", "s1", 2)]),
        (b"@a\nTTRYST\n+\nIIIIII\n", [("a", "s1", 2)]),
        (b"@a\r\nACGT\r\n+\r\nIIII\r\n", [("a", "s1", 0)]),
        (b"@a\nACGT\n+\nIIII", [("a", "s1", 0)]),
        (b"@a\nACGTAC\n+\n@+@I@@\n@b\nACGT\n+b\n+@@@\n", [("a", "s1", 0), ("b", "s1", 0)]),
        (b"@a\nACGT\n+\nIIII\n@a\nTACGT\n+\nIIIII\n", [("a", "s1", 0), ("a", "s1", 1)]),
        (b"@a\n\n+\n\n@b\nACGT\n+\nIIII\n", [("b", "s1", 0)]),
        (b"@\nACGT\n+\nIIII\n", [("", "s1", 0)]),
        (b"@a\tb c\nACGT\n+\nIIII\n", [("a", "s1", 0)]),
        (b">a b\nAC\nGT\r\n\nGATT\nACA\n>b\n>c\nACGT", [("a", "s1", 0), ("a", "s2", 4), ("c", "s1", 0)]),
        (b"@a\nACG\n+\nIII\n", []),
        (b"@a\nNNNN\n+\n!!!!\n", [("a", "s1", 0)]),
        (b"@a\nACGT\n+\n!~!~\n", [("a", "s1", 0)]),
        (b"", []),
        (b"\n\n\n", []),
    ],
)
def test_odd_samples_are_read(
    engine: Engine, tmp_path: Path, samples: bytes, matches: list[tuple[str, str, int]]
) -> None:
    assert found(engine, tmp_path, samples) == matches


def test_no_samples_have_the_types_of_some(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "none").touch()
    (tmp_path / "some").write_bytes(GOOD)
    (tmp_path / "signatures").write_bytes(SIGNATURES)
    none, some = (scan(tmp_path / name, tmp_path / "signatures", engine=engine) for name in ("none", "some"))
    for empty, full in ((none.samples, some.samples), (none.matches, some.matches)):
        for field in fields(full):
            assert getattr(empty, field.name).dtype == getattr(full, field.name).dtype, field.name
            assert getattr(empty, field.name).shape == (0,)


@pytest.mark.parametrize(
    "signatures",
    [
        b">s1\r\nAC\r\nGT\r\n>s2\r\nGATTACA",
        b"\n\n>s1\nacgu\n\n>s2 virus\nGATTACA\n\n",
        b">s1\nA\nC\nG\nT\n>s2\tx\nGATT\nACA\n",
        b">s1\rACGT\r>s2\rGATTACA\r",
        b"@s1\nACGT\n+\nIIII\n@s2\nGATTACA\n+\n@@@@@@@\n",
    ],
)
def test_odd_signatures_are_read(engine: Engine, tmp_path: Path, signatures: bytes) -> None:
    assert found(engine, tmp_path, b">a\nACGTGATTACA\n", signatures) == [("a", "s1", 0), ("a", "s2", 4)]


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        # a quality line that is too short takes in no header, and one that is too long loses no record
        (GOOD + b"@b\nACGT\n+\nIII\n@c\nACGT\n+\nIIII\n", "record 2, byte 19: letters and qualities of a record"),
        (GOOD + b"@b\nACGT\n+\nIIIII\n@c\nACGT\n+\nIIII\n", "record 2, byte 19: letters and qualities of a record"),
        (b"@b\nACGT\n+\nIIIII\n" + GOOD, "record 1, byte 0: letters and qualities of a record"),
        (GOOD + b"@b\nAC\nGT\n+x\nII\nII\n", "record 2, byte 28: the line that starts with + has another title"),
        (GOOD + b"@b\nACGT\n", "record 2, byte 19: the text ends within a record"),
        (GOOD + b"@b\nACGT\n+", "record 2, byte 19: the text ends within a record"),
        (GOOD + b"ACGT\n+\nIIII\n@c\n", "record 2, byte 19: a record has to start with @"),
        (GOOD + b"@b\nACXT\n+\nIIII\n", "record 2, byte 24: 'X' is no nucleotide"),
        (GOOD + b"@b\nAC T\n+\nIIII\n", "record 2, byte 24: ' ' is no nucleotide"),
        (GOOD + b"@b\nAC-T\n+\nIIII\n", "record 2, byte 24: '-' is no nucleotide"),
        (GOOD + b"@b\nACGT\n+\nI\x1fII\n", "record 2, byte 30: '\\x1f' is no quality"),
        (GOOD + b"@b\nACGT\n+\nI II\n", "record 2, byte 30: ' ' is no quality"),
        (GOOD + b"@b\nACGT\n+\nI\x7fII\n", "record 2, byte 30: '\\x7f' is no quality"),
        (GOOD + b"@b\nACGT\n+\nI\xe9II\n", "record 2, byte 30: 'é' is no quality"),
        (b">a\nACGT\nAC\nGT*\n>b\nACGT\n", "record 1, byte 13: '*' is no nucleotide"),
        (b">a\nACGT\n>b\nAC\nGT\n@c\nACGT\n", "record 2, byte 17: '@' is no nucleotide"),
        (b"ACGT\n", "is neither FASTA nor FASTQ"),
    ],
)
def test_samples_that_are_no_good_are_refused(engine: Engine, tmp_path: Path, samples: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        found(engine, tmp_path, samples)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "samples"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("signatures", "message"),
    [
        (b">s1\nACGT\n>s2\n\n>s3\nAC\n", "record 2: signature s2 has no letters"),
        (b">s1\nACGT\n>s2\nAC\nG?\n", "record 2, byte 17: signature s2, base 4: '?' is no nucleotide"),
        (b">s1\nACGT\n>s1\nAC\n", "record 2: signature s1 has the name of record 1"),
        (b"ACGT\n", "is neither FASTA nor FASTQ"),
        (b"", "the file is empty"),
    ],
)
def test_signatures_that_are_no_good_are_refused(tmp_path: Path, signatures: bytes, message: str) -> None:
    (tmp_path / "signatures").write_bytes(signatures)
    with pytest.raises(InputError) as caught:
        read_panel(tmp_path / "signatures")
    assert str(caught.value).startswith(f"{tmp_path / 'signatures'}")
    assert message in str(caught.value)
