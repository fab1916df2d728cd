"""The ZCU102: a Zynq UltraScale+ whose logic shares the memory of the processing system."""

from __future__ import annotations

from hls_model.boards.board import Amount, Board, Region
from hls_model.boards.documents import PLACEABLE, PLACEABLE_SOURCE
from hls_model.boards.source import Source, assumed
from hls_model.ranges import Range

__all__ = ["ZCU102"]

_DEVICE = Amount(bram18k=1_824, dsp=2_520, ff=548_160, lut=274_080)
_FPT2019 = "https://research.manchester.ac.uk/en/publications/unexpected-diversity-quantitative-memory-analysis-for-zynq-ultras"
_PORTS = Source(
    "UG1085, PS-PL AXI Interfaces", "https://docs.amd.com/r/en-US/ug1085-zynq-ultrascale-trm",
    "S_AXI_HP0 to HP3 and HPC0 and HPC1 of 128 bit read the memory of the processing system",
)  # fmt: skip

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
    ports=6,
    port_bits=128,
    efficiency_range=Range(0.5, 0.75, 0.925),
    latency_ns=Range(150.0, 300.0, 640.0),
    clock_mhz=100.0,
    max_clock_mhz=775.0,
    clock_limit="global clock tree (BUFG) and DSP slices of speed grade -2, DS925",
    host_link="shared memory",
    host_gbps=Range(1.0, 4.0, 14.4),
    launch_us=Range(1.0, 10.0, 60.0),
    static_watts=Range(0.5, 1.0, 2.0),
    typical_watts=Range(15.0, 20.0, 35.0),
    max_watts=60.0,
    price_usd=None,
    sources={
        "available": Source(
            "DS891", "https://docs.amd.com/v/u/en-US/ds891-zynq-ultrascale-plus-overview",
            "XCZU9EG; Table I of the paper prints the same device in percent",
        ),
        "uram": Source("DS891", "https://docs.amd.com/v/u/en-US/ds891-zynq-ultrascale-plus-overview", "XCZU9EG"),
        "regions": assumed("one die, and the processing system is hard: no shell is taken off"),
        "placeable": PLACEABLE_SOURCE,
        "banks": Source(
            "UG1182", "https://docs.amd.com/v/u/en-US/ug1182-zcu102-eval-bd", "one 64-bit DDR4 SODIMM at the PS"
        ),
        "ports": _PORTS,
        "port_bits": _PORTS,
        "bank_gbps": assumed("64 bit at 2,400 MT/s; the controller of the PS may be set slower"),
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
        "static_watts": assumed("no page with a figure was found"),
        "typical_watts": assumed("board with processors and DDR4; no page with a measurement was found"),
        "max_watts": assumed("12 V at 5 A of the supply that comes with it"),
        "price_usd": assumed("no page with a price was found; none is given"),
    },
)  # fmt: skip
