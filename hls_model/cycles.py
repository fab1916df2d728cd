"""Nanoseconds and bytes a second in cycles of a clock."""

from __future__ import annotations

import math
from fractions import Fraction


def cycles_of(nanoseconds: float, clock_mhz: float) -> int:
    """Return a latency in cycles of a clock, rounded up; 1 at least."""
    return max(1, math.ceil(round(nanoseconds * clock_mhz / 1e3, 6)))


def pace_of(ports: int, port_bits: int, clock_mhz: float, bytes_per_s: float) -> Fraction:
    """Return the mean cycles of a bank of so many bytes/s for a port beat of each of its ports; 1 where it keeps up."""
    asked = ports * port_bits / 8 * clock_mhz * 1e6
    return max(Fraction(1), Fraction(asked / bytes_per_s).limit_denominator(1000))
