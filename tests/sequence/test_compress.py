"""Homopolymer compression on the device and in text against the oracle, at all borders of groups, tiles and blocks."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.products import tried
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.sequence import packed_blocks, reference
from oclgenomics.sequence.compress import compressed_letters, compressed_symbols
from oclgenomics.sequence.parse import Symbols, empty_symbols

FASTA = b">a\nAAACCGTTTT\nTTNNNnnAAac\n>b\n>c\nCCCCCCCCCCCCCCCCCCCCCCCC\nCCCCCCCCCCCG\n>d\nGGAT\rT-TT\n"
FASTQ = b"@a\nAAACCGTTTT\n+\nIIIIIIIIII\n@b\n\n+\n\n@c\nTTNNAAaacc\n+\nIIIIIIIIII\n"


def symbols_of(engine: Engine, text: str) -> Symbols:
    """A stream on the device."""
    codes, valid = np.zeros(2 * (len(text) // 32 + 2), np.uint32), np.zeros(len(text) // 32 + 2, np.uint32)
    for s, letter in enumerate(text):
        if letter != "-":
            codes[s // 16] |= np.uint32("ACGT".index(letter) << (30 - 2 * (s % 16)))
            valid[s // 32] |= np.uint32(1 << (31 - s % 32))
    return Symbols(engine.upload(codes), engine.upload(valid), len(text))


def text_of(engine: Engine, symbols: Symbols) -> str:
    codes, valid = engine.download(symbols.codes), engine.download(symbols.valid)
    return reference.symbols_text(codes.tolist(), valid.tolist(), symbols.size)


def without_gaps_in_a_row(text: str) -> str:
    return re.sub("-+", "-", text)


RUNS = st.lists(st.tuples(st.sampled_from("ACGT-"), st.sampled_from([1, 1, 1, 2, 3, 31, 32, 33, 64])), max_size=60)


@settings(max_examples=60)
@given(RUNS)
def test_any_stream(engine: Engine, runs: list[tuple[str, int]]) -> None:
    text = "".join(letter * length for letter, length in runs)
    found = text_of(engine, compressed_symbols(engine, symbols_of(engine, text)))
    assert found == without_gaps_in_a_row(reference.compressed(text))


def test_many_tiles(shaped: Engine) -> None:
    rng = np.random.default_rng(2)
    text = "".join(rng.choice(list("AAAACG-"), 40_000))
    found = text_of(shaped, compressed_symbols(shaped, symbols_of(shaped, text)))
    assert found == without_gaps_in_a_row(reference.compressed(text))


def test_nothing(engine: Engine) -> None:
    assert compressed_symbols(engine, empty_symbols(engine, 0)).size == 0


@given(st.text("AaCNn-", max_size=20))
def test_text(letters: str) -> None:
    """What stays is the first letter of each run."""
    found = compressed_letters(letters.encode()).decode()
    symbols = re.sub("[^ACGT]", "-", found.upper())
    assert symbols == reference.compressed(re.sub("[^ACGT]", "-", letters.upper()))
    places = iter(letters)
    assert all(letter in places for letter in found)


def windows(texts: list[str], k: int) -> list[str]:
    found = [run[i : i + k] for text in texts for run in re.findall("[ACGT]+", text) for i in range(len(run) - k + 1)]
    return sorted(found)


@pytest.mark.parametrize("text", [FASTA, FASTQ])
@pytest.mark.parametrize("k", [2, 5])
def test_every_size_of_block(engine: Engine, tmp_path: Path, text: bytes, k: int, stride: int) -> None:
    """Runs that go on in the next block, and blocks that add nothing to one."""
    path = tmp_path / "x"
    path.write_bytes(text)
    expected = windows(reference.runs(text, compress=True), k)
    some = tried(range(1 + k % 2, len(text) + 2, 2 * stride), whole=range(1, len(text) + 2, stride))
    for block_bytes in some:
        blocks = packed_blocks(engine, [path], overlap=k - 1, block_bytes=block_bytes, compress=True)
        assert windows([text_of(engine, block.symbols) for block in blocks], k) == expected


def test_what_it_does_not_go_with(engine: Engine) -> None:
    with pytest.raises(ValueError, match="with an overlap"):
        next(packed_blocks(engine, ["x"], compress=True))
