"""The ZCU102: a Zynq UltraScale+ whose logic shares the memory of the processing system."""

from __future__ import annotations

from hls_model.boards.board import Amount, Board, Region, Source, assumed
from hls_model.boards.documents import PLACEABLE, PLACEABLE_SOURCE, STATIC, static_watts
from hls_model.ranges import Range

__all__ = ["ZCU102"]

_DEVICE = Amount(bram18k=1_824, dsp=2_520, ff=548_160, lut=274_080)
_FPT2019 = "https://research.manchester.ac.uk/en/publications/unexpected-diversity-quantitative-memory-analysis-for-zynq-ultras"
_PORTS = Source(
    "PG201, AXI4 I/O Compliant Interfaces",
    "https://docs.amd.com/r/en-US/pg201-zynq-ultrascale-plus-processing-system/AXI4-I/O-Compliant-Interfaces",
    "seven general-purpose interfaces with masters in the logic, of 32, 64 or 128 bit",
)

ZCU102 = Board(
    name="zcu102",
    title="Zynq UltraScale+ ZCU102",
    device="XCZU9EG",
    available=_DEVICE,
    uram=0,
    regions=(Region("PL", _DEVICE, Amount()),),
    placeable=PLACEABLE,
    memory="DDR4 of the processing system",
    banks=1,
    bank_gbps=19.2,
    total_gbps=None,
    bank_gib=4.0,
    ports=7,
    port_bits=128,
    efficiency_range=Range(0.5, 0.75, 0.925),
    latency_ns=Range(150.0, 300.0, 640.0),
    clock_mhz=100.0,
    max_clock_mhz=775.0,
    clock_limit="global clock tree (BUFG) and DSP slices of speed grade -2, DS925",
    host_link="shared memory",
    host_gbps=Range(1.0, 4.0, 14.4),
    launch_us=Range(1.0, 10.0, 60.0),
    static_watts=static_watts(_DEVICE.lut),
    idle_watts=Range(10.0, 18.0, 28.0),
    memory_pj_per_bit=Range(15.0, 25.0, 45.0),
    max_watts=60.0,
    price_usd=None,
    sources={
        "available": assumed(
            "as in the family's product table (DS891), which was not at hand; they give the percentages of the paper's "
            "Table I"
        ),
        "uram": assumed("as in the family's product table (DS891), which was not at hand"),
        "regions": assumed("one die, and the processing system is hard: no shell is taken off"),
        "placeable": PLACEABLE_SOURCE,
        "banks": assumed("one DDR4 SODIMM at the processing system; the board's guide, UG1182, was not at hand"),
        "ports": _PORTS,
        "port_bits": _PORTS,
        "bank_gbps": assumed("64 bit at 2,400 MT/s; the controller of the PS may be set slower"),
        "total_gbps": assumed("one bank"),
        "bank_gib": Source(
            "Linux, arch/arm64/boot/dts/xilinx/zynqmp-zcu102-revA.dts",
            "https://github.com/torvalds/linux/blob/master/arch/arm64/boot/dts/xilinx/zynqmp-zcu102-revA.dts",
            "memory of the processing system: two ranges of 2 GiB, which its software shares",
        ),
        "efficiency_range": Source(
            "Manev, Vaishnav and Koch, FPT 2019", _FPT2019,
            "75 % of the theoretical maximum on the ZCU102, 92.5 % on the Ultra96; the low bound is assumed",
        ),
        "latency_ns": assumed("no page with a measurement was found; the high bound is 64 cycles at 100 MHz"),
        "clock_mhz": assumed("the clock of the paper's ZCU102 design (Table I)"),
        "max_clock_mhz": Source(
            "DS925", "https://docs.amd.com/r/en-US/ds925-zynq-ultrascale-plus/Clock-Buffers-and-Networks",
            "BUFG and DSP48 with all registers: 775 MHz at -2 and 0.85 V",
        ),
        "host_gbps": assumed("a copy by the processor; nothing crosses a link, and the memory bounds it"),
        "launch_us": assumed("a few register writes at best, an interrupt through Linux at worst"),
        "static_watts": STATIC,
        "memory_pj_per_bit": assumed("as the DDR4 of the Alveo cards"),
        "idle_watts": assumed("board with processors and DDR4; no page with a measurement was found"),
        "max_watts": assumed("12 V at 5 A of the supply that comes with it"),
        "price_usd": assumed("no page with a price was found; none is given"),
    },
)  # fmt: skip
