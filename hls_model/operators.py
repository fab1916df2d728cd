"""Latencies of the lane's operators (Fig. 8 of the paper): as set, or those of the clock.

At 250 MHz they are what HLS 2019.2 reports for UltraScale+. Slower clocks fit more logic between two registers, faster
ones less: adders at 300 MHz are again those of reports; 100 MHz is an estimate, and so is everything above 250 MHz but
the adders.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import ceil

REPORTED_MHZ = 250.0
SLOWEST_TABLE_MHZ = 100.0
FASTER_ADDER = 7  # of HLS reports at 300 MHz


@dataclass(frozen=True)
class Operators:
    """Latency of each operator as set, in cycles; 0 is that of the clock (`latencies_at`)."""

    fadd: int = 0
    fsub: int = 0
    fdiv: int = 0
    i2f: int = 0
    imul: int = 0
    iadd: int = 0
    fcmp: int = 0

    def at(self, clock_mhz: float) -> Latencies:
        """Return the latencies at a clock: what is set, and the clock's for the rest."""
        usual = latencies_at(clock_mhz)
        return Latencies(**{name: cycles or getattr(usual, name) for name, cycles in vars(self).items()})


@dataclass(frozen=True)
class Latencies:
    """Latency of each operator in cycles, 1 or more; all accept new operands in every cycle."""

    fadd: int
    fsub: int
    fdiv: int
    i2f: int
    imul: int
    iadd: int
    fcmp: int

    @property
    def numerator_ready(self) -> int:
        """Cycle in which (LS + RS) / (C(k,2) + C(m,2)) leaves its divider, counted from the operands."""
        return max(self.fadd, self.imul + self.iadd + self.i2f) + self.fdiv

    @property
    def denominator_ready(self) -> int:
        """Cycle in which (TS - LS - RS) / (k m) + offset leaves its adder."""
        return max(2 * self.fsub, self.imul + self.i2f) + self.fdiv + self.fadd

    @property
    def omega_ready(self) -> int:
        """Cycle in which omega leaves the last divider."""
        return max(self.numerator_ready, self.denominator_ready) + self.fdiv

    @property
    def depth(self) -> int:
        """Cycles from the issue of a beat until the lane's running maximum holds it."""
        return self.omega_ready + self.fcmp


REPORTED = Latencies(fadd=5, fsub=5, fdiv=10, i2f=4, imul=2, iadd=1, fcmp=2)
_SLOW = Latencies(fadd=4, fsub=4, fdiv=8, i2f=3, imul=2, iadd=1, fcmp=1)


def latencies_at(clock_mhz: float) -> Latencies:
    """Return the operators' latencies at a clock.

    Up to 100 MHz they are an estimate. Between 100 and 250 MHz those of 250 MHz are taken; above, they grow in
    proportion to the clock, and adders have at least the 7 cycles that HLS reports at 300 MHz.
    """
    if clock_mhz <= SLOWEST_TABLE_MHZ:
        return _SLOW
    if clock_mhz <= REPORTED_MHZ:
        return REPORTED
    ratio = clock_mhz / REPORTED_MHZ  # rounded below, so that a clock at which a product is whole does not exceed it
    longer = {entry.name: ceil(round(getattr(REPORTED, entry.name) * ratio, 9)) for entry in fields(REPORTED)}
    return Latencies(**longer | {name: max(FASTER_ADDER, longer[name]) for name in ("fadd", "fsub")})
