"""The format of the exact sums: what it holds, what it keeps, and how devices round to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.omega.device.fixed_point import FLOAT_BITS, MAX_FRACTION_BITS, fraction_bits, whole_unit
from oclgenomics.omega.options import ScanOptions
from oclgenomics.runtime import Device, Engine, kernel_cache, program
from oclgenomics.runtime.source import load_source

OPTIONS = ScanOptions(grid=2, minwin=0, maxwin=1)


@given(haplotypes=st.integers(2, 1 << 20), span=st.integers(2, 200_000))
def test_values_keep_their_digits_and_fit(haplotypes: int, span: int) -> None:
    """n r^2 of two singletons averages 1/n; its rounding stays below 1e-5 of that. The largest value is n."""
    bits = fraction_bits(haplotypes, span, OPTIONS)
    assert bits <= MAX_FRACTION_BITS
    assert haplotypes * 2**bits < 2**55  # what fixed_point() in pair_value.clh takes
    if bits < min(MAX_FRACTION_BITS, FLOAT_BITS - haplotypes.bit_length()):
        assert 0.5 * 2**-bits < 1e-5 / haplotypes


@given(haplotypes=st.integers(2, 1 << 20), span=st.integers(2, 200_000))
def test_bits_beyond_the_digits_are_taken_only_where_no_sum_can_outgrow_them(haplotypes: int, span: int) -> None:
    bits = fraction_bits(haplotypes, span, OPTIONS)
    wanted = haplotypes.bit_length() + 17
    assert bits <= wanted or haplotypes * (span * span // 2) * 2**bits < 2**62


def test_covariances_have_bits_of_their_own() -> None:
    assert fraction_bits(100, 1000, ScanOptions(grid=2, minwin=0, maxwin=1, ld="D")) == 30


@pytest.mark.parametrize(
    ("haplotypes", "ld", "precision", "complete", "unit"),
    [
        (2048, "D", "accurate", True, 2048**2), (2049, "D", "accurate", True, 0), (50, "ABSD", "accurate", False, 0),
        (50, "RSQUARE", "accurate", True, 0), (50, "DOM", "compat", True, 0),
    ],
)  # fmt: skip
def test_whole_numbers_where_float32_restores_them(haplotypes, ld, precision, complete, unit) -> None:
    options = ScanOptions(grid=2, minwin=0, maxwin=1, ld=ld, precision=precision)
    assert whole_unit(haplotypes, options, complete=complete) == unit


@pytest.mark.parametrize("haplotypes", [1999, 2048])
def test_float32_restores_the_whole_covariance(haplotypes: int) -> None:
    """As pair_value.clh divides by N twice and fixed_point multiplies, and adds a half in single precision."""
    most = haplotypes**2 // 4
    whole = np.concatenate([np.arange(1, 100_000), np.arange(most - 300_000, most + 1)])
    units, scale = np.float32(haplotypes), np.float32(haplotypes**2)
    found = np.trunc(whole.astype(np.float32) / units / units * scale + np.float32(0.5))
    np.testing.assert_array_equal(found, whole)


KERNEL = """
__kernel void round_all(__global const float *values, float scale, __global long *found)
{
    const size_t place = get_global_id(0) * VW;
    float_v value;
    long_v rounded;
    for (int lane = 0; lane < VW; ++lane)
        ((float *)&value)[lane] = values[place + lane];
    rounded = fixed_point(value, scale);
    for (int lane = 0; lane < VW; ++lane)
        found[place + lane] = ((long *)&rounded)[lane];
}
"""


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("bits", [0, 3, 30])
def test_values_of_either_sign_go_to_the_nearest(
    device: Device, width: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that are as near, the one farther from 0: a value and its negative have opposite integers.

    What a half that is added in single precision makes of a value has the same bound there: one more.
    """
    rng = np.random.default_rng(bits)
    halves = np.arange(0, 200, dtype=np.float32) / 2
    near = np.concatenate([halves[1:] - np.float32(2**-9), halves + np.float32(2**-9), np.zeros(1, np.float32)])
    small = rng.uniform(0, 1 << 20, 400).astype(np.float32)
    large = np.ldexp(rng.uniform(0.5, 1, 400).astype(np.float32), rng.integers(25, 54, 400))
    edges = np.array([*(np.nextafter(halves[1::2], 0)), *range((1 << 23) + 1, (1 << 24), 400_002)], np.float32)
    scaled = np.concatenate([halves, near, small, large.astype(np.float32), edges])
    scaled = np.concatenate([np.zeros(-len(scaled) % width, np.float32), scaled])
    values = np.ldexp(np.concatenate([scaled, -scaled]), -bits).astype(np.float32)
    expected = [int(np.floor(np.longdouble(one) + np.longdouble(0.5))) for one in scaled]
    text = load_source("omega/pair_values.cl") + KERNEL
    for module in (program, kernel_cache):
        monkeypatch.setattr(module, "load_source", lambda _: text)
    with Engine(device) as engine:
        kernel = engine.kernel("omega/pair_values.cl", "round_all", VW=width, MASKED=0, GENOTYPES=0)
        found = engine.empty(values.size, np.int64)
        engine.launch(
            kernel, (values.size // width,), None, values=engine.upload(values), scale=float(1 << bits), found=found
        )
        rounded = engine.download(found).reshape(2, -1)
    assert (rounded[0] == -rounded[1]).all()
    assert rounded[0, : -len(edges)].tolist() == expected[: -len(edges)]
    assert all(0 <= one - other <= 1 for one, other in zip(rounded[0].tolist(), expected, strict=True))
