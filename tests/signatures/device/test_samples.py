"""Letters as codes on the device, what is counted on the way, and prefix sums of qualities."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine
from oclgenomics.sequence.device_text import Text
from oclgenomics.signatures.device import samples as encoding
from oclgenomics.signatures.device.samples import Encoder, SampleLetters, group_sums, quality_sums, sum_type, tiles_of
from oclgenomics.signatures.panels.letters import IUPAC

SIZES = (0, 1, 15, 16, 17, 127, 128, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 20_000)
EVERY_LETTER = "".join(IUPAC) + "".join(IUPAC).lower()


def record(seed: int, size: int, letters: str, *, qualities: bool) -> SampleRecord:
    rng = np.random.default_rng(seed)
    drawn = rng.integers(33, 127, size).astype(np.uint8).tobytes()
    return SampleRecord(random_letters(rng, size, 0.1, letters), drawn if qualities else None)


def own_codes(engine: Engine, samples: SampleLetters) -> list[NDArray[np.uint8]]:
    """The codes of each piece; what is between them means nothing."""
    codes, pieces = engine.download(samples.codes), samples.block.pieces
    return [codes[a : a + n] for a, n in zip(pieces.letters.tolist(), pieces.size.tolist(), strict=True)]


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.sampled_from(SIZES), max_size=5), st.sampled_from(["ACGT", "ACGTacgtN", EVERY_LETTER]), st.booleans(),
    st.sampled_from([None, 1000, 5000]), st.integers(0, 300), st.integers(0, 9),
)  # fmt: skip
def test_codes_and_counts(
    shaped: Engine, sizes: list[int], letters: str, qualities: bool, piece: int | None, overlap: int, seed: int
) -> None:
    records = [record(seed + i, size, letters, qualities=qualities) for i, size in enumerate(sizes)]
    wanted = sample_letters(shaped, records, piece=piece, overlap=overlap)
    found = Encoder(shaped).encode(wanted.block)
    for one, other in zip(own_codes(shaped, found), own_codes(shaped, wanted), strict=True):
        np.testing.assert_array_equal(one, other)
    for name in ("ns", "ambiguous", "quality_sum", "least_quality"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)
    assert found.has_qualities == wanted.has_qualities


@pytest.mark.each_value
@pytest.mark.parametrize("byte", [0, 32, ord("-"), ord("@"), ord("E"), ord("X"), ord("["), ord("z"), 128, 255])
@pytest.mark.parametrize("at", [0, 2047, 2048, 9000, 20_479])
def test_a_byte_that_is_no_letter_is_refused(shaped: Engine, byte: int, at: int) -> None:
    good = record(1, 20_480, "ACGT", qualities=True)
    letters = bytearray(good.letters)
    letters[at] = byte
    block = sample_letters(shaped, [good, good]).block
    host = block.host.copy()
    second = int(block.pieces.letters[1])
    host[second + at] = byte
    with pytest.raises(InputError, match=rf"record 2, byte {second + at}: .* is no nucleotide"):
        Encoder(shaped).encode(changed(shaped, block, host))


@pytest.mark.each_value
@pytest.mark.parametrize("byte", [0, 32, 127, 255])
@pytest.mark.parametrize("at", [0, 8191, 20_479])
def test_a_byte_that_is_no_quality_is_refused(shaped: Engine, byte: int, at: int) -> None:
    block = sample_letters(shaped, [record(1, 20_480, "ACGT", qualities=True)]).block
    assert block.pieces.qualities is not None
    host = block.host.copy()
    place = int(block.pieces.qualities[0]) + at
    host[place] = byte
    with pytest.raises(InputError, match=rf"byte {place}: .* is no quality"):
        Encoder(shaped).encode(changed(shaped, block, host))


def changed(engine: Engine, block: encoding.LetterBlock, host: NDArray[np.uint8]) -> encoding.LetterBlock:
    """The block with other bytes."""
    text = dataclasses.replace(block.text, memory=engine.upload(host), skip=0)
    return dataclasses.replace(block, text=text, to_host=host.view)


def test_one_encoder_takes_blocks_of_any_size(engine: Engine) -> None:
    encoder = Encoder(engine)
    for size in (100, 9000, 50, 0, 20_000):
        wanted = sample_letters(engine, [record(size, size, EVERY_LETTER, qualities=True)])
        found = encoder.encode(wanted.block)
        for one, other in zip(own_codes(engine, found), own_codes(engine, wanted), strict=True):
            np.testing.assert_array_equal(one, other)


def test_tiles_cover_every_letter_once() -> None:
    piece, begin = tiles_of(np.array([0, 1, 10, 11, 25, 0], np.uint32), 10)
    assert piece.tolist() == [1, 2, 3, 3, 4, 4, 4]
    assert begin.tolist() == [0, 0, 0, 10, 0, 10, 20]
    assert tiles_of(np.array([0, 10, 0, 9], np.uint32), 10)[0].tolist() == [1, 3]
    piece, begin = tiles_of(np.array([10, 1, 9], np.uint32), 10)
    assert (piece.tolist(), begin.tolist()) == ([0, 1, 2], [0, 0, 0])
    assert (piece.dtype, begin.dtype) == (np.uint32, np.uint32)


SKIP = 5


def text_of(engine: Engine, size: int) -> tuple[Text, np.ndarray]:
    memory = np.random.default_rng(size).integers(0, 256, SKIP + size, np.uint8)
    return Text(engine.upload(memory), SKIP, size), memory[SKIP:].astype(np.int64)


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 64, 1000])
@pytest.mark.parametrize(("kind", "bits"), [("uint", 32), ("ulong", 64)])
def test_sums_before_bytes_and_groups(shaped: Engine, size: int, kind: str, bits: int) -> None:
    text, values = text_of(shaped, size)
    before = np.concatenate([[0], np.cumsum(values - 33)])
    sums = shaped.download(quality_sums(shaped, text, kind))
    assert sums.dtype == np.dtype(f"u{bits // 8}")
    assert [int(number) for number in sums] == [number % (1 << bits) for number in before.tolist()]
    groups = shaped.download(group_sums(shaped, text, kind))
    assert groups.tolist() == np.concatenate([[0], np.cumsum(values)])[::32].tolist()


def test_sums_of_windows_fit_their_type() -> None:
    assert sum_type((1 << 32) // 93) == "uint"
    assert sum_type((1 << 32) // 93 + 1) == "ulong"
