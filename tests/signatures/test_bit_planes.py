"""Bit planes of letters."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.signature_samples import SampleRecord, random_letters, sample_letters

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.bit_planes import CPU_BLOCK, GPU_BLOCK, PADDING, make_planes
from oclgenomics.signatures.letters import is_concrete, sets_of

SIZES = [1, 7, 8, 9, 31, 32, 33, 511, 512, 513, 1024, 1500]


@pytest.mark.parametrize("singles", [False, True])
def test_planes_hold_the_letters_of_pieces(shaped: Engine, singles: bool) -> None:
    rng = np.random.default_rng(1)
    letters = [random_letters(rng, size, 0.1, "ACGTRYKMSWBDHVN") for size in SIZES]
    samples = sample_letters(shaped, [SampleRecord(text) for text in letters])
    chosen = np.array([0, *range(2, len(SIZES))], np.uint32)
    sets = np.array([1, 2, 4, 8, 5, 14, 15], np.uint8)
    made = make_planes(shaped, samples, chosen, shaped.upload(chosen), sets, singles=singles)
    planes, places = shaped.download(made.planes), shaped.download(made.places)
    block = CPU_BLOCK if shaped.tuning.cpu else GPU_BLOCK
    assert (places % block == 0).all()
    expected = np.zeros((len(sets) + singles, made.stride * 32), np.uint8)
    for place, piece in zip(places.tolist(), chosen.tolist(), strict=True):
        codes = sets_of(letters[piece])
        bits = [codes & one != 0 for one in sets] + [is_concrete(codes)] * singles
        expected[:, place * 32 : place * 32 + len(codes)] = bits
    found = np.unpackbits(planes.astype("<u4").view(np.uint8), axis=1, bitorder="little")
    np.testing.assert_array_equal(found, expected)
    assert not planes[:, -PADDING:].any()
    if singles:
        assert made.ranks is not None
        counts = expected[made.single].reshape(-1, 32).sum(axis=1)
        np.testing.assert_array_equal(shaped.download(made.ranks), np.cumsum(counts) - counts)
    else:
        assert made.ranks is None
