"""The format of the exact sums: what it holds, and what it keeps. No device is needed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.omega.device.fixed_point import FLOAT_BITS, MAX_FRACTION_BITS, fraction_bits
from oclgenomics.omega.options import ScanOptions

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
