"""Reads with their sketches against the oracle, for every way to cut inputs into blocks."""

from __future__ import annotations

import functools
import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from oclgenomics.classify import Wanted, reference
from oclgenomics.classify.database.features import NO_FEATURE
from oclgenomics.classify.device.reads import HowToRead, SketchedReads, sketched_reads
from oclgenomics.classify.options import METACACHE_SKETCH, Input, SketchOptions, inputs_of
from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine
from oclgenomics.sequence.name_list import NameList, first_difference

SMALL = SketchOptions(kmerlen=6, sketchlen=4, winlen=16)
Record = tuple[str, bytes]


def random_records(seed: int, lengths: Sequence[int], suffix: str = "") -> list[Record]:
    rng = np.random.default_rng(seed)
    letters = np.frombuffer(b"ACGTNacgtR", np.uint8)
    return [(f"r{i}{suffix}", rng.choice(letters, length).tobytes()) for i, length in enumerate(lengths)]


def written(path: Path, records: Sequence[Record], *, fastq: bool, newline: bytes = b"\n", width: int = 10) -> Path:
    """Write records with a word behind each name; a name that ends with .gz is packed."""
    lines: list[bytes] = []
    for name, letters in records:
        if fastq:
            lines += [b"@%b more" % name.encode(), letters, b"+", b"I" * len(letters)]
        else:
            lines += [b">%b more" % name.encode()]
            lines += [letters[i : i + width] for i in range(0, len(letters), width)]
    content = newline.join([*lines, b""])
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def sketches_of(engine: Engine, batch: SketchedReads, read: int) -> list[list[int]]:
    rows = engine.download(batch.sketches.features)[int(batch.first[read]) : int(batch.first[read + 1])]
    return [[feature for feature in row if feature != NO_FEATURE] for row in rows.tolist()]


@functools.lru_cache(maxsize=4096)
def oracle(letters: bytes, options: SketchOptions) -> list[list[int]]:
    """The right sketches, which are the same for all engines and blocks."""
    return reference.sketches(letters, options)


def check(engine: Engine, paths: dict[str, Any], expected: Sequence[Sequence[Record]], how: HowToRead) -> None:
    """Compare what is read with records: one of a read, two of a pair."""
    inputs = inputs_of(paths.get("reads", ()), paths.get("paired", ()), interleaved=paths.get("interleaved", False))
    seen = 0
    for batch in sketched_reads(engine, inputs, how):
        reads = batch.reads
        assert (reads.number, len(reads) > 0, len(batch.first)) == (seen, True, len(reads) + 1)
        for i, mates in enumerate(expected[seen : seen + len(reads)]):
            assert reads.names[i] == mates[0][0]
            assert reads.letters[i] == len(mates[0][1])
            assert (reads.mate_letters is None) == (len(mates) == 1)
            assert reads.mate_letters is None or reads.mate_letters[i] == len(mates[1][1])
            wanted = [row for _, letters in mates for row in oracle(letters, how.options)]
            assert sketches_of(engine, batch, i) == wanted
            if how.wanted.texts:
                for texts, (name, letters) in zip(batch.texts, mates, strict=True):
                    header, *lines = texts[i].split()
                    assert (header[1:], lines[0]) == (name, "more")
                    assert "".join(lines[1:]).replace("+" + "I" * len(letters), "") == letters.decode()
        seen += len(reads)
    assert seen == len(expected)


lengths = st.lists(st.integers(0, 90), min_size=1, max_size=25)


@settings(max_examples=examples(24))
@given(lengths, st.booleans(), st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.integers(1, 3000), st.booleans())
def test_single_reads(
    shaped: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[int],
    fastq: bool,
    newline: bytes,
    packed: bool,
    block_bytes: int,
    texts: bool,
) -> None:
    records = random_records(len(lengths), lengths)
    name = "x.gz" if packed else "x"
    path = written(tmp_path_factory.mktemp("single") / name, records, fastq=fastq, newline=newline)
    check(
        shaped, {"reads": [path, path]}, [[r] for r in records * 2], HowToRead(SMALL, Wanted(texts=texts), block_bytes)
    )


@settings(max_examples=examples(24))
@given(lengths, st.booleans(), st.booleans(), st.integers(1, 3000), st.integers(1, 3000), st.booleans())
def test_pairs_of_two_files(
    shaped: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[int],
    fastq: bool,
    other_fastq: bool,
    block_bytes: int,
    longest: int,
    texts: bool,
) -> None:
    """Mates of very different lengths, so that blocks hold other numbers of them."""
    folder = tmp_path_factory.mktemp("pairs")
    others = [length * 7 % (longest // 10 + 1) for length in lengths]
    records = [random_records(1, lengths, "/1"), random_records(2, others, "/2")]
    paths = [
        written(folder / name, mates, fastq=kind, newline=b"\r\n" if kind else b"\n")
        for name, mates, kind in zip("ab", records, (fastq, other_fastq), strict=True)
    ]
    expected = list(zip(*records, strict=True))
    check(shaped, {"paired": [tuple(paths)]}, expected, HowToRead(SMALL, Wanted(texts=texts), block_bytes))


@settings(max_examples=examples(24))
@given(lengths, st.booleans(), st.integers(1, 3000), st.booleans())
def test_interleaved_mates(
    shaped: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[int],
    fastq: bool,
    block_bytes: int,
    texts: bool,
) -> None:
    both = [random_records(1, lengths, "/1"), random_records(2, lengths[::-1], "/2")]
    pairs = list(zip(*both, strict=True))
    path = written(tmp_path_factory.mktemp("mates") / "x", [mate for pair in pairs for mate in pair], fastq=fastq)
    check(shaped, {"reads": [path], "interleaved": True}, pairs, HowToRead(SMALL, Wanted(texts=texts), block_bytes))


def test_a_genome_of_many_blocks(shaped: Engine, tmp_path: Path) -> None:
    options = METACACHE_SKETCH
    records = random_records(5, [130, 5000, 0, 12_000, 15])
    path = written(tmp_path / "x", records, fastq=False, width=60)
    for block_bytes in (500, 1700, 10_000, None):
        check(shaped, {"reads": [path]}, [[r] for r in records], HowToRead(options, Wanted(texts=True), block_bytes))


def consumed(engine: Engine, paths: dict[str, Any], **more: Any) -> int:
    inputs = inputs_of(paths.get("reads", ()), paths.get("paired", ()), interleaved=paths.get("interleaved", False))
    return sum(map(len, sketched_reads(engine, inputs, HowToRead(SMALL, Wanted(**more), 300))))


def test_mates_that_do_not_fit(engine: Engine, tmp_path: Path) -> None:
    records = random_records(3, [30] * 20)
    whole = written(tmp_path / "whole", records, fastq=True)
    short = written(tmp_path / "short", records[:13], fastq=True)
    others = written(tmp_path / "others", [*records[:11], ("other", b"ACGT"), *records[12:]], fastq=True)
    for paired in ((short, whole), (whole, short)):
        with pytest.raises(InputError, match=rf"{short}, record 13: ends after 13 records, but {whole} goes on"):
            consumed(engine, {"paired": [paired]})
    with pytest.raises(InputError, match=r"others, record 12: .* different names, 'r11' and 'other'; give any_mates"):
        consumed(engine, {"paired": [(whole, others)]})
    assert consumed(engine, {"paired": [(whole, others)]}, any_mates=True) == 20
    with pytest.raises(InputError, match=r"record 1: the mates of a pair have different names, 'r0' and 'r1'"):
        consumed(engine, {"reads": [whole], "interleaved": True})
    with pytest.raises(InputError, match=r"short, record 13: has an odd number of records, so the last one has no"):
        consumed(engine, {"reads": [short], "interleaved": True}, any_mates=True)


def test_a_limit_counts_for_each_input(engine: Engine, tmp_path: Path) -> None:
    path = written(tmp_path / "x", random_records(3, [30] * 20), fastq=True)
    numbers = [
        (batch.reads.number, len(batch.reads.names))
        for batch in sketched_reads(engine, inputs_of([path] * 2), HowToRead(SMALL, Wanted(limit=7)))
    ]
    assert numbers == [(0, 7), (7, 7)]


NAMES = ["", "a", "/1", "a/1", "a/2", "a/3", "b/1", "ab", "/", "1", "a/1/2"]


def bare(name: str) -> str:
    return name[:-2] if name.endswith(("/1", "/2")) else name


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))), st.integers(0, 5))
def test_names_of_mates(pairs: list[tuple[str, str]], begin: int) -> None:
    lists = [NameList.of([*map(str, range(begin)), *names])[begin:] for names in zip(*pairs, strict=True)]
    lists = lists or [NameList.of([]), NameList.of([])]
    different = [i for i, (a, b) in enumerate(pairs) if bare(a) != bare(b)]
    assert first_difference(*lists) == (different[0] if different else None)


def test_inputs_that_are_stored_are_files_alone(tmp_path: Path) -> None:
    """What comes through a pipe is classified as it comes, also where it is the one mate only."""
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.write_text("")
    os.mkfifo(pipe)
    assert Input(str(file)).stored
    assert Input(str(file), str(file)).stored
    for mates in ((str(file), "-"), ("-", str(file)), (str(file), str(pipe)), (str(pipe), str(file))):
        assert not Input(*mates).stored
    assert not Input("-").stored
