"""Sketches against the oracle."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers.devices import gpu_shape, narrow_shape
from helpers.products import only_whole
from hypothesis import example, given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.classify import reference
from oclgenomics.classify.database.features import NO_FEATURE
from oclgenomics.classify.device.sketches import Sketcher, WindowCut, cut_windows
from oclgenomics.classify.options import METACACHE_SKETCH, SketchOptions
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence import letter_blocks
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.pieces import Pieces

SKIP = 3  # bytes of the memory before the text
BASES = np.frombuffer(b"ACGT", np.uint8)
LETTERS = np.frombuffer(b"ACGTacgtUuNR-\n\x00\xff", np.uint8)
SHARES = [0.18] * 4 + [0.06] * 4 + [0.005] * 8


@pytest.fixture(params=["own", "narrow", "gpu"], scope="module")
def shaped(request: pytest.FixtureRequest, device: Device) -> Iterator[Engine]:
    """An engine with kernels of its class, or on Intel's runtime, with those for narrower vectors or for GPUs."""
    if request.param != "own" and device.family != "intel":
        pytest.skip("the kernels of other devices run on Intel's CPU runtime, as a check")
    tuning = {"own": None, "narrow": narrow_shape(device), "gpu": gpu_shape(device)}[request.param]
    with Engine(device, tuning=tuning) as engine:
        yield engine


def sketched(engine: Engine, records: Sequence[bytes], options: SketchOptions) -> NDArray[np.uint32]:
    """Sketches of records that follow each other, up to the end of the memory."""
    text = np.frombuffer(b"".join(records), np.uint8)
    size = np.array([len(letters) for letters in records], np.uint32)
    letters = (np.cumsum(size) - size).astype(np.uint32)
    start = np.zeros(len(records), np.int64)
    pieces = Pieces(np.arange(len(records)), start, letters, size, size, None, np.ones(len(records), np.bool_))
    memory = engine.upload(np.concatenate([np.full(SKIP, ord("A"), np.uint8), text]))
    found = Sketcher(engine, options).sketch(Text(memory, SKIP, len(text)), cut_windows(pieces, options))
    assert found.size == options.sketchlen
    return engine.download(found.features, found.windows * found.size).reshape(found.windows, found.size)


def check(engine: Engine, records: Sequence[bytes], options: SketchOptions) -> NDArray[np.uint32]:
    found = sketched(engine, records, options)
    features = [sketch for letters in records for sketch in oracle(letters, options)]
    rows = [sketch + [NO_FEATURE] * (options.sketchlen - len(sketch)) for sketch in features]
    np.testing.assert_array_equal(found, np.array(rows, np.uint32).reshape(-1, options.sketchlen))
    return found


@functools.lru_cache(maxsize=4096)
def oracle(letters: bytes, options: SketchOptions) -> list[list[int]]:
    """The right sketches, which are the same for all engines."""
    return reference.sketches(letters, options)


def random_record(size: int, seed: int = 0) -> bytes:
    return np.random.default_rng(seed).choice(LETTERS, size, p=SHARES).tobytes()


def tandem(period: int, size: int) -> bytes:
    """A repeat of so many letters."""
    return (random_base(period, period) * size)[:size]


def random_base(size: int, seed: int) -> bytes:
    return np.random.default_rng(seed).choice(BASES, size).tobytes()


RECORDS = [
    b"", b"A", random_base(15, 1), random_base(16, 2), random_base(17, 3), random_base(126, 4), random_base(127, 5),
    random_base(128, 6), random_base(143, 7), random_base(1000, 8), random_record(1000), random_record(400, 1).lower(),
    random_base(300, 9).replace(b"T", b"U"), random_base(300, 9).replace(b"T", b"u"), b"N" * 300, b"A" * 300,
    b"n" * 100 + random_base(50, 9) + b"N" * 100, b"AT" * 150, b"ACG" * 100, random_base(60, 10) + b"t" * 80,
    random_base(60, 11) * 3, *(tandem(period, 260) for period in (5, 8, 15, 16, 17, 33)),
]  # fmt: skip


@pytest.mark.parametrize("sketchlen", [1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 48, 64])
def test_every_sketchlen(shaped: Engine, sketchlen: int) -> None:
    for triplets in (0, 9):
        check(shaped, RECORDS, SketchOptions(sketchlen=sketchlen, winlen=127, min_triplets=triplets))


@pytest.mark.parametrize("kmerlen", [4, 5, 8, 11, 15])
def test_every_kmerlen(shaped: Engine, kmerlen: int) -> None:
    check(shaped, RECORDS, SketchOptions(kmerlen, 16, 60))
    check(shaped, RECORDS[:8], SketchOptions(kmerlen, 5, kmerlen))


@pytest.mark.parametrize(
    "options",
    [
        SketchOptions(16, 16, 4096),
        SketchOptions(16, 16, 4096, min_triplets=0),
        SketchOptions(16, 64, 4096, 1024, 0),
        SketchOptions(16, 20, 511, 33),
        SketchOptions(12, 16, 127, 127, 0),
    ],
)
def test_long_windows_and_strides(shaped: Engine, options: SketchOptions) -> None:
    size = 20 * options.winstride
    repeats = [tandem(period, 4200) for period in (1, 2, 17, 300)]
    check(
        shaped,
        [random_base(min(size, 9000), 1), random_record(4200)[: size // 2], *(x[:size] for x in repeats)],
        options,
    )


@pytest.mark.parametrize(
    ("kmerlen", "triplets"),
    [(4, 2), (8, 3), (15, 13), (16, 1), (16, 9), (16, 14), *only_whole((5, 2), (6, 4), (12, 6), (16, 2))],
)
def test_k_mers_of_few_triplets(shaped: Engine, kmerlen: int, triplets: int) -> None:
    """Windows of few letters, of which some k-mers have one triplet less than is needed, and some have as many."""
    options, rng = SketchOptions(kmerlen, 16, 60, 0, triplets), np.random.default_rng(kmerlen)
    records = [rng.choice(BASES[:kinds], size).tobytes() for kinds in (1, 2, 3, 4) for size in (kmerlen, 59, 150, 400)]
    records += [tandem(period, 200) for period in range(1, 16)] + [b"N".join([tandem(3, 40), random_base(50, 1)])]
    assert len({reference.count_triplets(record[:kmerlen]) >= triplets for record in records}) > (triplets > 1)
    check(shaped, records, options)


def test_lower_case_is_masked_on_request(shaped: Engine) -> None:
    base = random_base(200, 5)
    records = [base, base.lower(), base[:90] + base[90:100].lower() + base[100:], *RECORDS]
    for triplets in (0, 9):
        masked = SketchOptions(16, 16, 91, min_triplets=triplets, soft_masked=True)
        found = check(shaped, records, masked)
        assert (found[0] != NO_FEATURE).all()
        assert (found[3:6] == NO_FEATURE).all()
        assert (check(shaped, records[:2], dataclasses.replace(masked, soft_masked=False)) != NO_FEATURE).all()


def test_windows_of_a_repeat_have_no_feature(shaped: Engine) -> None:
    """Of units of up to eight letters, wherever a window begins; of nine there are nine triplets."""
    for period in range(1, 10):
        unit = next(u for u in (random_base(period, seed) for seed in range(99)) if _triplets_of(u) == period)
        found = check(shaped, [unit * 40, unit[period // 2 :] + unit * 3], SketchOptions())
        assert (found == NO_FEATURE).all() == (period < 9)


def _triplets_of(unit: bytes) -> int:
    return reference.count_triplets(unit + (unit * 2)[:2])


@settings(max_examples=20)
@given(
    kmerlen=st.sampled_from([4, 9, 15, 16]),
    sketchlen=st.integers(1, 64),
    more=st.integers(0, 200),
    stride=st.integers(0, 250),
    sizes=st.lists(st.integers(0, 600), max_size=12),
    period=st.integers(1, 200),
    triplets=st.sampled_from([-1, 0]),
    seed=st.integers(0, 1 << 32),
)
@example(16, 16, 111, 0, [127] * 40, 1, 0, 0)
def test_any_records(
    shaped: Engine, kmerlen: int, sketchlen: int, more: int, stride: int, sizes: list[int], period: int, triplets: int,
    seed: int,
) -> None:  # fmt: skip
    """Records with repeats, and letters of all kinds."""
    winlen = kmerlen + more
    options = SketchOptions(kmerlen, sketchlen, winlen, min(stride, winlen), triplets)
    rng = np.random.default_rng(seed)
    records = []
    for size in sizes:
        repeated = np.resize(rng.choice(BASES, period), size)
        mixed = np.where(rng.random(size) < rng.choice([0, 0.02, 1]), rng.choice(LETTERS, size, p=SHARES), repeated)
        records.append(mixed.astype(np.uint8).tobytes())
    check(shaped, records, options)


def test_each_byte(shaped: Engine) -> None:
    """No byte but the letters counts, wherever it stands in a word."""
    base = random_base(40, 3)
    records = [base[:at] + bytes([byte]) + base[at + 1 :] for byte in range(256) for at in (0, 17, 18, 19, 20, 39)]
    check(shaped, records, SketchOptions(11, 32, 40))


def test_the_greatest_hash_is_no_feature(shaped: Engine) -> None:
    greatest, next_to_it = b"CCGATCCCGGGTGAAG", b"TCCAACATTAATCGGA"
    for options in (SketchOptions(16, 2, 16, 0, 0), SketchOptions(16, 33, 40)):
        found = check(shaped, [greatest, next_to_it, greatest + b"N" + next_to_it], options)
        assert (found[0] == NO_FEATURE).all()
        assert found[1, 0] == NO_FEATURE - 1


def test_nothing_to_sketch(shaped: Engine) -> None:
    for records in ([], [b""], [b"ACGT"] * 40):
        assert check(shaped, records, METACACHE_SKETCH).shape == (0, 16)


def test_memory_is_used_again_and_grows(shaped: Engine) -> None:
    options = METACACHE_SKETCH
    sketcher = Sketcher(shaped, options)
    arrays = []
    for size in (100_000, 64, 99_000, 1_000_000):
        text = np.frombuffer(random_base(size, size), np.uint8)
        whole, zero = np.array([size], np.uint32), np.zeros(1, np.int64)
        pieces = Pieces(zero, zero, zero.astype(np.uint32), whole, whole, None, np.ones(1, np.bool_))
        found = sketcher.sketch(Text(shaped.upload(text), 0, size), cut_windows(pieces, options))
        features = shaped.download(found.features, found.windows * 16).reshape(-1, 16)
        some = np.linspace(0, found.windows - 1, 20).astype(np.int64)
        windows = reference.windows(text.tobytes(), options)
        np.testing.assert_array_equal(features[some], [reference.sketch(windows[i], options) for i in some])
        arrays.append(found.features)
    assert arrays[0] is arrays[1] is arrays[2] is not arrays[3]


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


@pytest.mark.each_value
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("fastq", [False, True])
def test_blocks_of_files(engine: Engine, tmp_path: Path, options: SketchOptions, fastq: bool) -> None:
    rng = np.random.default_rng(5)
    sizes = [0, 3, options.winlen, 140, options.winlen + 1, options.kmerlen, 41, 300]
    records = [rng.choice(np.frombuffer(b"ACGTN", np.uint8), size).tobytes() for size in sizes]
    lines = [b">%d\n%b\n" % (i, b"\n".join(x[at : at + 60] for at in range(0, len(x), 60)))
             for i, x in enumerate(records)]  # fmt: skip
    if fastq:
        lines = [b"@%d\n%b\n+\n%b\n" % (i, x, b"I" * len(x)) for i, x in enumerate(records)]
    path = tmp_path / "x"
    path.write_bytes(b"".join(lines))
    for block_bytes in (3000, 300, 99, options.winlen, 7):
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
