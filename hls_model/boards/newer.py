"""Newer boards: Alveo U50, U55C and V80, the VCK190, an Agilex 7 kit, and the card of AWS F2 instances.

Public pages give the memories of most of them. What their devices hold stands in product tables that were not at hand,
and no page with a measured kernel was found for any of them, so much is assumed here, as each source says. Operators
are counted as on UltraScale+ everywhere: Versal and Agilex have DSP blocks with float32 adders, which would take less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hls_model.boards.alveo import U280
from hls_model.boards.board import KINDS, Amount, Board, Region, Source, assumed
from hls_model.boards.documents import POWER_REPORT, static_watts
from hls_model.ranges import Range

__all__ = ["NEWER"]

_HBM = Source(
    "UG1393, HBM Configuration and Use",
    "https://docs.amd.com/r/2023.1-English/ug1393-vitis-application-acceleration/HBM-Configuration-and-Use",
    "16 GB in pseudo channels of 512 MB on the U55C, 8 GB in ones of 256 MB on the U50; 14.375 GB/s of each",
)
_F2 = Source(
    "AWS EC2 FPGA Development Kit User Guide",
    "https://awsdocs-fpga-f2.readthedocs-hosted.com/latest/User-Guide-AWS-EC2-FPGA-Development-Kit.html",
    "a VU47P with 16 GiB of HBM, up to 460 GiB/s; the 64 GiB of DDR4 are not counted",
)
_AMR = Source(
    "AMR documentation 3.0.0, V80 Board Documentation",
    "https://xilinx.github.io/amr-docs/docs/3.0.0/V80/index.html",
    "32 GB of HBM, PCIe Gen5 x8 of about 32 GB/s; the 36 GB of DDR4 are not counted",
)
_AVED = Source(
    "AVED V80/V80P, XBTEST Design",
    "https://xilinx.github.io/AVED/amd_v80_gen5x8_exdes_1_20231204/AVED+V80&V80P+-+XBTEST+Design.html",
    "three SLRs; equal ones and a shell of a tenth of each are assumed",
)
_AGILEX = Source(
    "Agilex 7 FPGA I-Series Development Kit User Guide",
    "https://intel.com/content/www/us/en/programmable/documentation/erf1627634789502.html",
    "the kit has an AGIB027R29A; one die, and a shell of a tenth of it is assumed",
)
_HBM_POWER = Source(
    "xbtest, Calibration - Memory CU power",
    "https://xilinx.github.io/xbtest/doc/main/checklist/build/html/_sources/docs/calibration-memory-cu-power.rst.txt",
    "all channels of HBM at full rate (400 GB/s) draw up to 40 W, of which the U50's supply gives 10; likely, low: "
    "316 and 201 GB/s, as revisions of the data sheet (DS965) are quoted, which was not at hand; high: UG1393",
)
_HBM2E = Source(
    "DS960, High Bandwidth Memory Controller",
    "https://docs.amd.com/r/en-US/ds960-versal-hbm/High-Bandwidth-Memory-Controller",
    "3,200 Mb/s a line: two stacks of 1,024 bit give 819 GB/s, of which each of 64 ports has 12.8",
)
_TABLE = "as in the vendor's product table, which was not at hand"
_AS_U280 = "as the U280's; no page with a kernel's measurement was found"


def _sources(base: Board, changed: Mapping[str, Source], title: str) -> dict[str, Source]:
    """The sources of a board: those that are its own, and for what it shares with another one that it does."""
    kept = {name: assumed(f"as the {base.title}'s; no page for the {title} was found") for name in base.sources}
    kept |= {name: base.sources[name] for name in ("placeable", "static_watts", "memory_pj_per_bit", "price_usd")}
    return kept | dict(changed)


def _split(whole: Amount, names: tuple[str, ...], shell: float) -> tuple[Region, ...]:
    """Regions that are as equal as whole numbers are, a share of each taken by the shell."""
    regions = []
    for index, name in enumerate(names):
        amounts = {kind: (getattr(whole, kind) + index) // len(names) for kind in KINDS}
        taken = {kind: int(shell * count) for kind, count in amounts.items()}
        regions.append(Region(name, Amount(**amounts), Amount(**taken)))
    return tuple(regions)


_XCU50 = Amount(bram18k=2_688, dsp=5_952, ff=1_743_360, lut=871_680)

U50 = replace(
    U280,
    name="u50",
    title="Alveo U50",
    device="XCU50",
    available=_XCU50,
    uram=640,
    regions=_split(_XCU50, ("SLR0", "SLR1"), 0.2),
    total_gbps=Range(201.0, 316.0, 460.0),
    static_watts=static_watts(_XCU50.lut),
    idle_watts=Range(12.0, 20.0, 35.0),
    max_watts=75.0,
    sources=_sources(
        U280,
        {
            "available": Source(
                POWER_REPORT.document, POWER_REPORT.url,
                "871,680 LUT; the other kinds are those of the vendor's product table, which was not at hand",
            ),
            "uram": assumed(_TABLE),
            "regions": assumed("two equal SLRs, and a shell of a fifth of each"),
            "banks": _HBM, "ports": _HBM, "port_bits": _HBM, "bank_gib": _HBM,
            "bank_gbps": replace(_HBM, note="14.375 GB/s of each channel, 460 in all"),
            "total_gbps": _HBM_POWER,
            "idle_watts": assumed("below the U280's, as a card of a third of its power"),
            "max_watts": assumed("what a PCIe slot gives; the card has no connector for power"),
        },
        "U50",
    ),
)  # fmt: skip

U55C = replace(
    U280,
    name="u55c",
    title="Alveo U55C",
    device="XCU55C",
    bank_gib=0.5,
    idle_watts=Range(20.0, 35.0, 58.0),
    max_watts=150.0,
    sources=_sources(
        U280,
        {
            "available": assumed("as the U280, whose device has the same logic; DS978 was not at hand"),
            "uram": assumed("as the U280"),
            "regions": assumed("as the U280, less than which its shell takes, as it has no DDR4"),
            "banks": _HBM, "ports": _HBM, "port_bits": _HBM, "bank_gbps": _HBM, "bank_gib": _HBM,
            "idle_watts": assumed("from the U280's measured cards"),
            "max_watts": assumed("150 W, as the data sheet (DS978) has it, which was not at hand"),
        },
        "U55C",
    ),
)  # fmt: skip

F2 = replace(
    U280,
    name="f2",
    title="FPGA of an AWS F2 instance",
    device="XCVU47P",
    bank_gib=0.5,
    clock_limit="assumed: as the Alveo cards",
    sources=_sources(
        U280,
        {
            "available": assumed("as the U280's device, which has the same logic as a VU47P; DS890 was not at hand"),
            "uram": assumed("as the U280"),
            "banks": _F2, "ports": assumed("as the U280: an AXI port for each pseudo channel"), "bank_gib": _F2,
            "bank_gbps": replace(_F2, note="460 GiB/s of HBM at most; 14.4 GB/s of each channel, as on the U280"),
            "max_watts": assumed("as the U280: no page gives it"),
        },
        "F2",
    ),
)  # fmt: skip

_XCV80 = Amount(bram18k=7_482, dsp=10_848, ff=5_148_416, lut=2_574_208)

V80 = replace(
    U280,
    name="v80",
    title="Alveo V80",
    device="XCV80",
    available=_XCV80,
    uram=1_925,
    regions=_split(_XCV80, ("SLR0", "SLR1", "SLR2"), 0.1),
    memory="HBM2e",
    banks=64,
    bank_gbps=12.8,
    total_gbps=Range(460.0, 819.2, 819.2),
    bank_gib=0.5,
    ports=64,
    clock_limit="assumed: as the Alveo cards before it",
    host_link="PCIe 5.0 x8",
    host_gbps=Range(12.0, 20.0, 28.0),
    static_watts=static_watts(_XCV80.lut),
    idle_watts=Range(25.0, 45.0, 80.0),
    max_watts=190.0,
    sources=_sources(
        U280,
        {
            "available": assumed(f"{_TABLE}; its DSP58 are counted as DSP slices"),
            "uram": assumed(_TABLE),
            "regions": _AVED,
            "banks": assumed("64 pseudo channels, as HBM2e of two stacks has; the product brief was not at hand"),
            "ports": assumed("one for each pseudo channel, through the network on chip"),
            "port_bits": assumed("256 bit, as a pseudo channel of the U280"),
            "bank_gib": _AMR,
            "bank_gbps": _HBM2E,
            "total_gbps": replace(_AMR, note="low: HBM of about 460 GB/s; likely: the 819 of its lines (DS960)"),
            "host_gbps": replace(_AMR, note="PCIe Gen5 x8, about 32 GB/s; what a copy reaches is assumed"),
            "idle_watts": assumed("from the U280's measured cards, with twice the logic"),
            "max_watts": assumed("190 W, as product pages say, which were not at hand"),
        },
        "V80",
    ),
)  # fmt: skip

_XCVC1902 = Amount(bram18k=1_934, dsp=1_968, ff=1_799_680, lut=899_840)

VCK190 = replace(
    U280,
    name="vck190",
    title="Versal VCK190",
    device="XCVC1902",
    available=_XCVC1902,
    uram=463,
    regions=(Region("PL", _XCVC1902, Amount()),),
    memory="DDR4",
    banks=1,
    bank_gbps=25.6,
    bank_gib=8.0,
    ports=4,
    port_bits=256,
    efficiency_range=Range(0.5, 0.75, 0.925),
    latency_ns=Range(150.0, 300.0, 640.0),
    clock_limit="assumed: as the Alveo cards",
    host_link="shared memory",
    host_gbps=Range(1.0, 4.0, 14.4),
    launch_us=Range(1.0, 10.0, 60.0),
    static_watts=static_watts(_XCVC1902.lut),
    idle_watts=Range(15.0, 30.0, 50.0),
    memory_pj_per_bit=Range(15.0, 25.0, 45.0),
    max_watts=180.0,
    sources=_sources(
        U280,
        {
            "available": assumed(f"{_TABLE}; its DSP58 are counted as DSP slices, its AI engines not at all"),
            "uram": assumed(_TABLE),
            "regions": assumed("one die; processors, memory controllers and network on chip are hard"),
            "banks": assumed("the DDR4 DIMM; the board's LPDDR4 is not counted (UG1366)"),
            "bank_gbps": assumed("64 bit at 3,200 MT/s"),
            "bank_gib": assumed("a DIMM of 8 GiB (UG1366, which was not at hand)"),
            "ports": assumed("four ports of the network on chip to a controller"),
            "port_bits": assumed("256 bit at 300 MHz are 9.6 GB/s"),
            **{name: assumed("as the ZCU102's; no page with a measurement was found")
               for name in ("efficiency_range", "latency_ns", "host_gbps", "launch_us")},
            "memory_pj_per_bit": assumed("as the DDR4 of the Alveo cards"),
            "idle_watts": assumed("board with processors and DDR4; no page with a measurement was found"),
            "max_watts": assumed("12 V at 15 A of the supply that comes with it"),
        },
        "VCK190",
    ),
)  # fmt: skip

_AGI027 = Amount(bram18k=13_272, dsp=8_528, ff=3_651_200, lut=912_800)

AGILEX7 = replace(
    U280,
    name="agilex7",
    title="Agilex 7 I-Series development kit",
    device="AGIB027R29A",
    available=_AGI027,
    uram=0,
    regions=_split(_AGI027, ("fabric",), 0.1),
    memory="DDR4",
    banks=2,
    bank_gbps=21.3,
    bank_gib=8.0,
    ports=2,
    port_bits=512,
    efficiency_range=Range(0.6, 0.8, 0.94),
    latency_ns=Range(150.0, 300.0, 640.0),
    clock_limit="assumed: as the Alveo cards",
    host_link="PCIe 5.0 x16",
    host_gbps=Range(12.0, 24.0, 50.0),
    static_watts=static_watts(_AGI027.lut).times(2.0),
    idle_watts=Range(25.0, 45.0, 80.0),
    memory_pj_per_bit=Range(15.0, 25.0, 45.0),
    max_watts=225.0,
    sources=_sources(
        U280,
        {
            "available": assumed(
                "912,800 ALMs, 3,651,200 registers, 13,272 M20K and 8,528 DSP blocks of an AGI 027 (Intel FPGA Product "
                "Catalog, in an excerpt); an ALM counts as one LUT, an M20K as one block RAM of 18 kbit"
            ),
            "uram": assumed("M20K are its only memory blocks that are counted"),
            "regions": _AGILEX,
            "banks": assumed("two DDR4 channels for kernels; the kit's guide was not at hand in full"),
            "bank_gbps": assumed("64 bit at 2,666 MT/s"),
            "bank_gib": assumed("8 GiB on a channel"),
            "ports": assumed("one port of 512 bit uses up a bank"),
            "port_bits": assumed("one port of 512 bit uses up a bank"),
            "efficiency_range": assumed("as DDR4 of other boards"),
            "latency_ns": assumed("as the ZCU102's, in want of a page with a measurement"),
            "host_gbps": assumed("PCIe 5.0 x16 of the R tiles; what a copy reaches is assumed"),
            "static_watts": assumed("twice what UltraScale+ has for as many LUTs"),
            "memory_pj_per_bit": assumed("as the DDR4 of the Alveo cards"),
            "idle_watts": assumed("a kit with processors and DDR4; no page with a measurement was found"),
            "max_watts": assumed("PCIe slot of 75 W and a connector of 150 W"),
        },
        "Agilex 7 kit",
    ),
)  # fmt: skip

NEWER = (U50, U55C, VCK190, V80, AGILEX7, F2)
