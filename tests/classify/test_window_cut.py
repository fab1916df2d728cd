"""Windows of pieces against those of whole records, for every way to cut records into pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oclgenomics.classify import reference
from oclgenomics.classify.device.sketches import WindowCut, cut_windows
from oclgenomics.classify.options import METACACHE_SKETCH, SketchOptions
from oclgenomics.runtime import Engine
from oclgenomics.sequence import letter_blocks
from oclgenomics.sequence.pieces import Pieces

OPTIONS = (
    METACACHE_SKETCH,
    SketchOptions(kmerlen=4, winlen=12, winstride=12),
    SketchOptions(kmerlen=4, winlen=12, winstride=1),
    SketchOptions(kmerlen=5, winlen=13, winstride=3),  # less than winlen - kmerlen + 1
    SketchOptions(kmerlen=5, winlen=13, winstride=11),  # more than that
    SketchOptions(kmerlen=7, winlen=7),
)


PartWindows = dict[int, tuple[int, list[bytes]]]  # of each record: windows before, and windows


def windows_of(text: bytes, pieces: Pieces, cut: WindowCut, options: SketchOptions) -> PartWindows:
    """Take the windows of each record that has any from the text, as the kernel does."""
    kinds = [array.dtype.name for array in (cut.letters, cut.sizes, cut.first, cut.windows)]
    assert kinds == ["uint32", "uint32", "uint32", "int64"]
    assert cut.size == cut.counts.sum() == cut.first[-1]
    assert cut.first[0] == 0
    found = {}
    for piece, count in enumerate(cut.counts.tolist()):
        places = [int(cut.letters[piece]) + i * options.winstride for i in range(count)]
        end = int(cut.letters[piece]) + int(cut.sizes[piece])
        windows = [text[place : min(place + options.winlen, end)] for place in places]
        if count:
            assert places[0] >= pieces.letters[piece]
            assert places[-1] + len(windows[-1]) <= int(pieces.letters[piece]) + int(pieces.size[piece])
            found[int(pieces.record[piece])] = (int(cut.windows[piece]), windows)
    return found


def together(parts: list[PartWindows]) -> dict[int, list[bytes]]:
    """Join the windows of records."""
    joined: dict[int, list[bytes]] = {}
    for part in parts:
        for record, (before, windows) in part.items():
            assert len(joined.setdefault(record, [])) == before
            joined[record] += windows
    return joined


def expected_windows(records: list[bytes], options: SketchOptions) -> dict[int, list[bytes]]:
    windows = {number: reference.windows(letters, options) for number, letters in enumerate(records)}
    return {number: found for number, found in windows.items() if found}


def distinct_letters(size: int, seed: int) -> bytes:
    """Letters of many kinds, so that no window is like another one."""
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8).tobytes()


@st.composite
def cut_records(draw: st.DrawFn) -> tuple[SketchOptions, list[bytes], list[list[int]]]:
    """Options, records, and how many letters each piece of a record owns."""
    options = draw(st.sampled_from(OPTIONS))
    sizes = draw(st.lists(st.integers(0, 4 * options.winlen), min_size=1, max_size=6))
    records = [distinct_letters(size, number) for number, size in enumerate(sizes)]
    owned = []
    for size in sizes:
        left, parts = size, []
        while left >= options.winlen and draw(st.booleans()):  # a piece shares `winlen` - 1 letters with the next one
            parts.append(draw(st.integers(1, left - options.winlen + 1)))
            left -= parts[-1]
        owned.append([*parts, left])
    return options, records, owned


@given(cut_records())
def test_any_pieces(case: tuple[SketchOptions, list[bytes], list[list[int]]]) -> None:
    options, records, owned = case
    overlap, parts = options.winlen - 1, []
    for number, (letters, pieces_of) in enumerate(zip(records, owned, strict=True)):
        start = 0
        for i, count in enumerate(pieces_of):
            ends = i == len(pieces_of) - 1
            parts.append((number, start, letters[start : start + count + (0 if ends else overlap)], count, ends))
            start += count
    record, starts, texts, owns, ended = zip(*parts, strict=True)
    sizes = np.array([len(text) for text in texts], np.uint32)
    places = (np.cumsum(sizes) - sizes).astype(np.uint32)
    pieces = Pieces(
        np.array(record), np.array(starts, np.int64), places, sizes, np.array(owns, np.uint32), None, np.array(ended)
    )
    found = []
    for i in range(len(parts)):  # a piece at a time
        one = slice(i, i + 1)
        single = Pieces(record=pieces.record[one], start=pieces.start[one], letters=places[one], size=sizes[one],
                        owned=pieces.owned[one], qualities=None, ends=pieces.ends[one])  # fmt: skip
        found.append(windows_of(b"".join(texts), single, cut_windows(single, options), options))
    assert together(found) == expected_windows(records, options)
    cut = cut_windows(pieces, options)  # and all at once
    of_pieces = [next(iter(part.values()), (0, [])) for part in found]
    np.testing.assert_array_equal(cut.counts, [len(windows) for _, windows in of_pieces])
    np.testing.assert_array_equal(cut.windows[cut.counts > 0], [before for before, windows in of_pieces if windows])


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("fastq", [False, True])
def test_blocks_of_files(engine: Engine, tmp_path: Path, options: SketchOptions, fastq: bool) -> None:
    rng = np.random.default_rng(5)
    sizes = [0, 3, options.winlen, 700, options.winlen + 1, options.kmerlen, 41, 1200]
    records = [rng.choice(np.frombuffer(b"ACGTN", np.uint8), size).tobytes() for size in sizes]
    lines = [b">%d\n%b\n" % (i, b"\n".join(x[at : at + 60] for at in range(0, len(x), 60)))
             for i, x in enumerate(records)]  # fmt: skip
    if fastq:
        lines = [b"@%d\n%b\n+\n%b\n" % (i, x, b"I" * len(x)) for i, x in enumerate(records)]
    path = tmp_path / "x"
    path.write_bytes(b"".join(lines))
    for block_bytes in (3000, 1024, 500, 99, options.winlen, 7):
        found = []
        for block in letter_blocks(engine, [path], overlap=options.winlen - 1, block_bytes=block_bytes):
            cut = cut_windows(block.pieces, options)
            found.append(windows_of(block.host.tobytes(), block.pieces, cut, options))
        assert together(found) == expected_windows(records, options)


@settings(max_examples=20)
@given(size=st.integers(0, 600), options=st.sampled_from(OPTIONS))
def test_no_pieces_and_one(size: int, options: SketchOptions) -> None:
    none, letters = np.empty(0, np.uint32), np.array([size], np.uint32)
    empty = Pieces(np.empty(0, np.int64), np.empty(0, np.int64), none, none, none, None, np.empty(0, np.bool_))
    assert cut_windows(empty, options).size == 0
    zero = np.zeros(1, np.int64)
    whole = Pieces(zero, zero, zero.astype(np.uint32), letters, letters, None, np.ones(1, np.bool_))
    assert cut_windows(whole, options).size == len(reference.windows(bytes(size), options))
