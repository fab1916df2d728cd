"""Timing parameters of the DRAMs on the boards, in nanoseconds and in clocks.

Sources of the figures, and of what is assumed:

- DDR4-2400, four RDIMMs on the U200 and U250. Public builds for the U200 name the Micron MTA18ASF2G72PZ-2G3 (16 GB: one
  rank of 18 devices of 8 Gbit x4, of which two hold ECC and cost no time) with CL 17, a clock of 0.833 ns and the map
  ROW_COLUMN_BANK_INTLV (corundum/corundum, fpga/mqnic/Alveo/fpga_100g/ip/ddr4_0.tcl, among others). CL, tRCD and tRP of
  14.16 ns and tRAS of 32 ns: Micron 4Gb DDR4 SDRAM data sheet (PDF 09005aef84af6dd0 Rev. G, Table 152, speed bin -083);
  tRTP and tCCD_L: ibid., Table 157. tRFC1 of 8 Gbit and tREFI up to 85 degrees: Micron Automotive DDR4 SDRAM data
  sheet, Table 159; JEDEC JESD79-4 has the same. tRRD and tFAW of a page of 1/2 KB: the configuration `DDR4_8Gb_x4_2400`
  of the simulator DRAMsim3 (commit 29817593). Assumed: the fields of the map are row, column, bank and bank group, from
  the highest bits on; the U250 has the DIMM of the U200.
- DDR4-2133, the SODIMM of the ZCU102's processing system: Micron MTA4ATF51264HZ-2G6E1, 4 devices of 8 Gbit x16 (board
  revision 1.1 and later; AMD UG1182 v1.6 and answer record 71961), at the 2133 MT/s that the device reaches with one
  rank. CL, tRCD and tRP of 16 clocks, tRAS, tRRD and tFAW of a page of 2 KB: the configuration `DDR4_8Gb_x16_2133` of
  DRAMsim3; the rest as above. Assumed: the map.
- HBM2, a pseudo channel of the U280: 14.4 GB/s are 64 bits at 900 MHz (AMD UG1393: 32 pseudo channels, 460 GB/s). JEDEC
  JESD235 leaves most times to the vendor; those here are of the configuration `HBM2_4Gb_x128` of DRAMsim3, all-bank
  refresh included (260 ns every 3.9 us; AMD's controller can also refresh single rows, PG276). Assumed: a tCCD_L of 4
  clocks (it lies between 2 and 4), a tRTP of 6 ns, and the map, in which READs alternate between two bank groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

from hls_model.errors import ModelError


@dataclass(frozen=True)
class Part:
    """One channel of a DRAM, seen from its controller. Times are in clocks of `mhz`.

    Attributes
    ----------
    name, kind : str
        Its name in `memory.dram`, and the kind of memory that a board has to have ("DDR4" or "HBM2").
    mhz : Fraction
        Frequency of the command clock; data come on both its edges.
    access_bytes : int
        Bytes that one READ brings.
    groups, banks, rows, columns : int
        Bank groups, banks in each, rows of a bank, and READs to a row.
    cl, burst : int
        Clocks from a READ to its first data, and from there to the end of the last.
    rcd, rp, ras, rtp : int
        ACT to READ, PRE to ACT, ACT to PRE, READ to PRE; all of one bank.
    ccd_s, ccd_l, rrd_s, rrd_l : int
        READ to READ and ACT to ACT, in another bank group and in the same.
    faw : int
        Clocks that hold four ACT at most.
    rfc, refi : int
        Clocks of a refresh, and between two.
    split_bus : bool
        Whether READ has a command bus of its own (HBM), so that it can go with an ACT or PRE in one clock.
    order : tuple of (str, int)
        Fields of an address from the highest bits on ("row", "column", "bank", "group"), with their bits.
    """

    name: str
    kind: str
    mhz: Fraction
    access_bytes: int
    groups: int
    banks: int
    rows: int
    columns: int
    cl: int
    burst: int
    rcd: int
    rp: int
    ras: int
    rtp: int
    ccd_s: int
    ccd_l: int
    rrd_s: int
    rrd_l: int
    faw: int
    rfc: int
    refi: int
    split_bus: bool = False
    order: tuple[tuple[str, int], ...] = field(default=())

    @property
    def peak_gbps(self) -> float:
        """Bytes per nanosecond of an uninterrupted data bus."""
        return float(self.access_bytes * self.mhz / (1000 * self.burst))

    def ns(self, clocks: int) -> float:
        """Return nanoseconds of a number of clocks."""
        return float(1000 * clocks / self.mhz)


def _up(mhz: Fraction, ns: str, least: int = 1) -> int:
    """Clocks that hold a time in nanoseconds; JESD79-4 takes the greater of a time and a number of clocks."""
    return max(least, ceil(Fraction(ns) * mhz / 1000))


def _down(mhz: Fraction, ns: str) -> int:
    return floor(Fraction(ns) * mhz / 1000)


def _ddr4_2400() -> Part:
    mhz = Fraction(1200)
    return Part(
        "ddr4_2400", "DDR4", mhz, access_bytes=64, groups=4, banks=4, rows=1 << 17, columns=128,
        cl=17, burst=4, rcd=_up(mhz, "14.16"), rp=_up(mhz, "14.16"), ras=_up(mhz, "32"), rtp=_up(mhz, "7.5", 4),
        ccd_s=4, ccd_l=_up(mhz, "5", 4), rrd_s=4, rrd_l=6, faw=16,
        rfc=_up(mhz, "350"), refi=_down(mhz, "7800"),
        order=(("row", 17), ("column", 7), ("bank", 2), ("group", 2)),
    )  # fmt: skip


def _ddr4_2133() -> Part:
    mhz = Fraction(3200, 3)
    return Part(
        "ddr4_2133", "DDR4", mhz, access_bytes=64, groups=2, banks=4, rows=1 << 16, columns=128,
        cl=16, burst=4, rcd=16, rp=16, ras=_up(mhz, "33"), rtp=_up(mhz, "7.5", 4),
        ccd_s=4, ccd_l=_up(mhz, "5.355", 4), rrd_s=_up(mhz, "5.3", 4), rrd_l=_up(mhz, "6.4", 4), faw=_up(mhz, "30"),
        rfc=_up(mhz, "350"), refi=_down(mhz, "7800"),
        order=(("row", 16), ("column", 7), ("bank", 2), ("group", 1)),
    )  # fmt: skip


def _hbm2() -> Part:
    mhz = Fraction(900)
    return Part(
        "hbm2", "HBM2", mhz, access_bytes=32, groups=4, banks=4, rows=1 << 14, columns=32,
        cl=_up(mhz, "14"), burst=2, rcd=_up(mhz, "14"), rp=_up(mhz, "14"), ras=_up(mhz, "34"), rtp=_up(mhz, "6"),
        ccd_s=2, ccd_l=4, rrd_s=_up(mhz, "4"), rrd_l=_up(mhz, "6"), faw=_up(mhz, "30"),
        rfc=_up(mhz, "260"), refi=_down(mhz, "3900"), split_bus=True,
        order=(("row", 14), ("group", 1), ("bank", 2), ("column", 5), ("group", 1)),
    )  # fmt: skip


PARTS: Mapping[str, Part] = {part.name: part for part in (_ddr4_2133(), _ddr4_2400(), _hbm2())}


def find_part(name: str) -> Part:
    """Return a part by its name.

    Raises
    ------
    ModelError
        No such part.
    """
    if name not in PARTS:
        raise ModelError(f"memory.dram is {name!r}; choose one of {', '.join(PARTS)}, none")
    return PARTS[name]
