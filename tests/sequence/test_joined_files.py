"""Several files read as one text hold the records that they have one by one."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.io import joined_source
from oclgenomics.io.joined_source import JoinedSource
from oclgenomics.runtime import Engine
from oclgenomics.sequence import letter_blocks

FILES = [
    b">a x\nACGT\nAC\n>b\nGG",
    b"\r\n\n>c\r\nNNNN\r\n",
    b">\n",
    b">d\n" + b"ACGTTGCA\n" * 40,
    b">e\rAC\rGT\r>f\r",
    b">g\n>h\n>i\nT",
]


def told(engine: Engine, paths: list[Path], *, join: bool, block_bytes: int) -> list[tuple[str, int, str, bytes]]:
    """The file of each record, its number there, its name and its letters."""
    found: list[tuple[str, int, str]] = []
    letters: list[bytes] = []
    for block in letter_blocks(engine, paths, overlap=3, join=join, block_bytes=block_bytes):
        if block.origins is None:
            numbers = range(block.first - block.before, block.first - block.before + len(block.names))
            found += [(block.source, number, name) for number, name in zip(numbers, block.names, strict=True)]
        else:
            files = [block.origins.source.paths[file] for file in block.origins.file.tolist()]
            found += list(zip(files, block.origins.record.tolist(), block.names, strict=True))
        letters += [b""] * len(block.names)
        pieces = block.pieces
        for record, place, owned in zip(pieces.record, pieces.letters, pieces.owned, strict=True):
            letters[record] += block.host[place : place + owned].tobytes()
    return [(*row, text) for row, text in zip(found, letters, strict=True)]


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.sampled_from(FILES), min_size=1, max_size=6), st.sampled_from((16, 33, 64, 1 << 16)))
def test_joined_files_hold_the_same_records(engine: Engine, tmp_path_factory: pytest.TempPathFactory,
                                            texts: list[bytes], block_bytes: int) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("joined")
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}.fa")
        paths[-1].write_bytes(text)
    expected = told(engine, paths, join=False, block_bytes=1 << 16)
    assert told(engine, paths, join=True, block_bytes=block_bytes) == expected


def test_other_files_stay_by_themselves(engine: Engine, tmp_path: Path) -> None:
    names = ["a.fa", "b.fa.gz", "c.fq", "d.fa", "e.fa"]
    texts = [FILES[0], gzip.compress(FILES[3]), b"@q\nACGT\n+\nIIII\n", FILES[1], FILES[5]]
    for name, text in zip(names, texts, strict=True):
        (tmp_path / name).write_bytes(text)
    paths = [tmp_path / name for name in names]
    expected = told(engine, paths, join=False, block_bytes=1 << 16)
    assert told(engine, paths, join=True, block_bytes=1 << 16) == expected
    assert [row[2] for row in expected] == ["a", "b", "d", "q", "c", "g", "h", "i"]


@pytest.mark.parametrize(("text", "message"), [(b"", "empty"), (b"no sequence", "neither FASTA nor FASTQ")])
def test_a_defect_names_its_file(engine: Engine, tmp_path: Path, text: bytes, message: str) -> None:
    good, bad = tmp_path / "good.fa", tmp_path / "bad.fa"
    good.write_bytes(FILES[0])
    bad.write_bytes(text)
    with pytest.raises(InputError, match=rf"bad\.fa.*{message}"):
        told(engine, [good, bad, good], join=True, block_bytes=1 << 16)


def test_a_letter_is_found_in_its_file(engine: Engine, tmp_path: Path) -> None:
    paths = [tmp_path / "0.fa", tmp_path / "1.fa"]
    for path in paths:
        path.write_bytes(b">x y\nAC\nGT\n")
    (block,) = letter_blocks(engine, paths, join=True)
    place = int(block.pieces.letters[1]) + 2
    error = block.error_at(place, "is G")
    assert "1.fa" in str(error)
    assert "byte 8" in str(error)


@pytest.mark.parametrize("part_bytes", [1, 7, 1 << 20])
def test_parts_fill_the_text(tmp_path: Path, part_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined_source, "PART_BYTES", part_bytes)
    monkeypatch.setattr(joined_source, "PIECE_BYTES", 5)
    texts = [b"abcdefghijklmnop", b"", b"q", b"rstuvwxyz"]
    paths = [str(tmp_path / str(number)) for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        Path(path).write_bytes(text)
    whole = b"".join(text + b"\n" for text in texts)
    for size in (1, 2, 3, 16, 17, 18, 29, 30, 31):
        source, found = JoinedSource(paths, [len(text) for text in texts]), b""
        room = np.zeros(size, np.uint8)
        while count := source.read_into(room):
            found += room[:count].tobytes()
        assert found == whole


def test_a_file_that_became_shorter_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    with pytest.raises(InputError, match="became shorter"):
        JoinedSource([str(path)], [4]).read_into(np.zeros(8, np.uint8))
