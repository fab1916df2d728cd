"""The format of the exact sums: 64-bit integers with some fraction bits."""

from __future__ import annotations

from oclgenomics.omega.options import ScanOptions

__all__ = ["RETRY_BITS", "fraction_bits", "whole_unit"]

FULL_BITS = 62  # a fixed-point sum stays below 2^62
FLOAT_BITS = 54  # fixed_point() takes values below 2^55
MAX_FRACTION_BITS = 40
SIGNED_FRACTION_BITS = 30  # covariances are below 1/4
WHOLE_HAPLOTYPES = 2048  # float32 restores N^2 D of so many, and N^2
RETRY_BITS = 4  # fewer after a sum outgrew its format


def fraction_bits(haplotypes: int, span: int, options: ScanOptions) -> int:
    """Fraction bits of the sums of an alignment whose widest window spans so many sites.

    n r^2 of independent sites averages 1 and of two singletons 1/n; 17 bits below 1/n keep the rounding of a value
    below 1e-5 of that. If even the largest conceivable sum leaves room for more bits, they are used; if it does not,
    the sums are watched for overflow.
    """
    if options.ld != "RSQUARE":
        return SIGNED_FRACTION_BITS
    value_bits = haplotypes.bit_length()
    sure = FULL_BITS - value_bits - (span * span // 2).bit_length()
    wanted = value_bits + 17
    return min(max(sure, wanted), MAX_FRACTION_BITS, FLOAT_BITS - value_bits)


def whole_unit(haplotypes: int, options: ScanOptions, *, complete: bool) -> int:
    """N^2, in units of which D and its kin are whole numbers on complete data; 0 where they are rounded."""
    exact = options.ld != "RSQUARE" and options.precision == "accurate" and complete
    return haplotypes**2 if exact and haplotypes <= WHOLE_HAPLOTYPES else 0
