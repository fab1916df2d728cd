"""Alveo accelerator cards: the U200 and U250 with DDR4, and the U280 with HBM2."""

from __future__ import annotations

from collections.abc import Mapping

from hls_model.boards.board import Amount, Board, Region, Source, assumed
from hls_model.boards.documents import PLACEABLE, PLACEABLE_SOURCE, STATIC, example, static_watts
from hls_model.ranges import Range

__all__ = ["ALVEO"]

_REPORTS = "https://github.com/UCLA-VAST/AutoBridge/blob/master/archive/benchmarks"


def _report(path: str) -> Source:
    """Return a synthesis report as the source of what a device holds."""
    return Source(
        f"Vivado HLS 2019.2, report in UCLA-VAST/AutoBridge, {path}", f"{_REPORTS}/{path}",
        "its rows 'Available' and 'Available SLR'",
    )  # fmt: skip


_DDR_BANKS = Source(
    "UG1393, HBM Configuration and Use",
    "https://docs.amd.com/r/2023.1-English/ug1393-vitis-application-acceleration/HBM-Configuration-and-Use",
    "77 GB/s on DDR-based Alveo cards: four banks of 19.2",
)
_DDR_BANK = Source(
    "Vitis Libraries 2022.2, Theoretical throughput",
    "https://docs.amd.com/r/2022.2-English/Vitis_Libraries/quantitative_finance/guide_L2/engines/"
    "CFBlackScholesMerton.html_4",
    "19.2 GB/s of a single DDR bank as used in the U200",
)
_DDR_SIZE = Source(
    "UG1120, DMA Configurations",
    "https://docs.amd.com/r/en-US/ug1120-alveo-platforms/DMA-Configurations",
    "U200 and U250: four channels of 16 GB of DDR4, 64 GB at most",
)
_CLOCK = Source(
    "UG1393, Clock Information",
    "https://docs.amd.com/r/2022.2-English/ug1393-vitis-application-acceleration/Clock-Information",
    "greatest kernel clock of the platform's scalable clocks: 500 MHz; the default one is 300 MHz",
)
_HOST_LINK = example(
    "performance/host_global_bandwidth",
    "U200: 7,234 MiB/s with buffers of 16 MiB and at best 7,714 to the card, 11,584 from it: 7.6, 8.1 and 12.1 GB/s",
)
_LAUNCH = example(
    "performance/iops_test_xrt",
    "U250, XRT: 359,184 starts a second when a million are queued (2.8 us), 84,034 when ten are (11.9 us); "
    "high: 30 to 60 us a dispatch through OpenCL, SDAccel 2018.2, Reducing Overhead of Kernel Enqueing, "
    "https://www.xilinx.com/html_docs/xilinx2018_2/sdaccel_doc/reducing-overhead-of-kernel-enqueing-mjs1504034306269.html",
)
_LATENCY = example(
    "performance/axi_burst_performance",
    "U200: 4 bursts of 4 beats under way bring 3.93 GiB/s at 512 bit and 2.02 at 256, so a burst is back after "
    "243 and 236 ns, and its first beat 10 ns before its last; the bounds are assumed",
)
_PORTS = assumed("a controller answers 512 bit a cycle, so one port of that width uses up its bank")
_CHANNELS = Source(
    "UG1393, HBM Configuration and Use",
    "https://docs.amd.com/r/2023.1-English/ug1393-vitis-application-acceleration/HBM-Configuration-and-Use",
    "32 pseudo channels, each with an AXI port of 256 bit",
)


def _region(name: str, available: Amount, left: Amount) -> Region:
    """Return a region of which the platform leaves `left`."""
    return Region(name, available, available - left)


def _tiles(bram36: int, dsp: int, ff: int, lut: int) -> Amount:
    """Return an amount whose block RAMs are counted in tiles of 36 kbit, as platforms report them."""
    return Amount(2 * bram36, dsp, ff, lut)


_XCU200 = Amount(bram18k=1_440, dsp=2_280, ff=788_160, lut=394_080)  # of each of three regions
_XCU250 = Amount(bram18k=1_344, dsp=3_072, ff=864_000, lut=432_000)  # of each of four
_XCU280 = Amount(bram18k=1_344, dsp=3_008, ff=869_120, lut=434_560)  # of each of three

_SHARED: Mapping[str, Source] = {
    "placeable": PLACEABLE_SOURCE,
    "max_clock_mhz": _CLOCK,
    "clock_mhz": assumed("the default kernel clock of the platform, 300 MHz; the paper's U200 design has 250 MHz"),
    "host_gbps": _HOST_LINK,
    "launch_us": _LAUNCH,
    "latency_ns": _LATENCY,
    "total_gbps": assumed("the peaks of the banks; no page limits all of them together"),
    "static_watts": STATIC,
    "memory_pj_per_bit": assumed("controller, interface and DRAM; no page with the board's figure was found"),
    "price_usd": assumed("no page with a price was found; none is given"),
}

U200 = Board(
    name="u200",
    title="Alveo U200",
    device="XCU200",
    available=_XCU200.times(3),
    uram=960,
    regions=(
        _region("SLR0", _XCU200, _tiles(638, 2_265, 723_308, 354_690)),
        _region("SLR1", _XCU200, _tiles(326, 1_317, 331_654, 159_739)),
        _region("SLR2", _XCU200, _tiles(638, 2_265, 723_294, 354_839)),
    ),
    placeable=PLACEABLE,
    memory="DDR4",
    banks=4,
    bank_gbps=19.2,
    total_gbps=None,
    bank_gib=16.0,
    ports=4,
    port_bits=512,
    efficiency_range=Range(0.68, 0.84, 0.94),
    latency_ns=Range(150.0, 230.0, 450.0),
    clock_mhz=250.0,
    max_clock_mhz=500.0,
    clock_limit="scalable kernel clock of the platform, UG1393",
    host_link="PCIe 3.0 x16",
    host_gbps=Range(7.6, 8.1, 12.1),
    launch_us=Range(2.8, 11.9, 60.0),
    static_watts=static_watts(_XCU200.lut * 3),
    idle_watts=Range(20.0, 35.0, 58.0),
    memory_pj_per_bit=Range(15.0, 25.0, 45.0),
    max_watts=225.0,
    price_usd=None,
    sources={
        **_SHARED,
        "available": assumed(
            "they give the percentages of the paper's Table I, and UG1702 (Resource Availability, 2025.2) prints 720 "
            "block RAM tiles and 2,280 DSP slices of a whole region"
        ),
        "uram": assumed("320 of each region, of which UG1702 prints all for SLR0"),
        "regions": Source(
            "UG1393, Resource Availability",
            "https://docs.amd.com/r/2023.1-English/ug1393-vitis-application-acceleration/Resource-Availability",
            "what the platform xilinx_u200_xdma_201830 leaves of each SLR; the rest of the SLR is counted as shell",
        ),
        "banks": _DDR_BANKS,
        "ports": _PORTS,
        "port_bits": _PORTS,
        "bank_gbps": _DDR_BANK,
        "bank_gib": _DDR_SIZE,
        "efficiency_range": example(
            "performance/kernel_global_bandwidth",
            "1 GiB read from one bank and written to another in 66.66 ms: 32.2 of 38.4 GB/s; low: the U250's four "
            "banks, 52.2 of 76.8 GB/s; high: reads from one bank, 16.83 GiB/s of 19.2 GB/s (axi_burst_performance)",
        ),
        "idle_watts": assumed("from the U280's measured cards, without its HBM"),
        "max_watts": assumed("PCIe slot of 75 W and a connector of 150 W"),
    },
)

U250 = Board(
    name="u250",
    title="Alveo U250",
    device="XCU250",
    available=_XCU250.times(4),
    uram=1_280,
    regions=(
        _region("SLR0", _XCU250, _tiles(500, 2_877, 704_801, 345_171)),
        _region("SLR1", _XCU250, _tiles(500, 2_877, 702_517, 344_533)),
        _region("SLR2", _XCU250, _tiles(500, 2_877, 703_253, 344_878)),
        _region("SLR3", _XCU250, _tiles(500, 2_877, 703_761, 345_158)),
    ),
    placeable=PLACEABLE,
    memory="DDR4",
    banks=4,
    bank_gbps=19.2,
    total_gbps=None,
    bank_gib=16.0,
    ports=4,
    port_bits=512,
    efficiency_range=Range(0.60, 0.68, 0.94),
    latency_ns=Range(150.0, 230.0, 450.0),
    clock_mhz=300.0,
    max_clock_mhz=500.0,
    clock_limit="scalable kernel clock of the platform, UG1393",
    host_link="PCIe 3.0 x16",
    host_gbps=Range(7.6, 8.1, 12.1),
    launch_us=Range(2.8, 11.9, 60.0),
    static_watts=static_watts(_XCU250.lut * 4),
    idle_watts=Range(20.0, 37.0, 60.0),
    memory_pj_per_bit=Range(15.0, 25.0, 45.0),
    max_watts=225.0,
    price_usd=None,
    sources={
        **_SHARED,
        "available": _report("Stencil/1PE/tapa_result/report/load_csynth.rpt"),
        "uram": _report("Stencil/1PE/tapa_result/report/load_csynth.rpt"),
        "regions": Source(
            "Xtra-Computing/ThunderGP, xilinx_u250_xdma_201830_2.h",
            "https://github.com/Xtra-Computing/ThunderGP/blob/master/automation/devices/xilinx_u250_xdma_201830_2.h",
            "what the platform xilinx_u250_xdma_201830_2 leaves of each SLR; the rest is counted as shell",
        ),
        "banks": _DDR_BANKS,
        "ports": _PORTS,
        "port_bits": _PORTS,
        "bank_gbps": _DDR_BANK,
        "bank_gib": _DDR_SIZE,
        "efficiency_range": Source(
            "Vitis_Accel_Examples 2021.2, bandwidth_test",
            "https://xilinx.github.io/Vitis_Accel_Examples/2021.2/html/bandwidth_test.html",
            "four banks, each read and written at once: 52,207 MB/s of 76.8 GB/s; low: assumed; high: as the U200",
        ),
        "idle_watts": assumed("from the U280's measured cards, with a third more logic and no HBM"),
        "max_watts": assumed("PCIe slot of 75 W and a connector of 150 W"),
    },
)

U280 = Board(
    name="u280",
    title="Alveo U280",
    device="XCU280",
    available=_XCU280.times(3),
    uram=960,
    regions=(
        Region("SLR0", _XCU280, Amount(bram18k=131, dsp=2, ff=306_000, lut=196_000)),
        Region("SLR1", _XCU280, Amount(bram18k=131, dsp=102, ff=118_000, lut=72_000)),
        Region("SLR2", _XCU280, Amount(bram18k=131, dsp=2, ff=46_000, lut=36_000)),
    ),
    placeable=PLACEABLE,
    memory="HBM2",
    banks=32,
    bank_gbps=14.4,
    total_gbps=None,
    bank_gib=0.25,
    ports=32,
    port_bits=256,
    efficiency_range=Range(0.80, 0.92, 0.93),
    latency_ns=Range(110.0, 250.0, 500.0),
    clock_mhz=300.0,
    max_clock_mhz=500.0,
    clock_limit="scalable kernel clock of the platform, UG1393",
    host_link="PCIe 3.0 x16",
    host_gbps=Range(7.6, 8.1, 12.1),
    launch_us=Range(2.8, 11.9, 60.0),
    static_watts=static_watts(_XCU280.lut * 3),
    idle_watts=Range(25.0, 40.0, 58.0),
    memory_pj_per_bit=Range(4.0, 8.0, 16.0),
    max_watts=225.0,
    price_usd=None,
    sources={
        **_SHARED,
        "available": _report("PageRank/tapa_result/report/ProcElem_csynth.rpt"),
        "uram": _report("PageRank/tapa_result/report/ProcElem_csynth.rpt"),
        "regions": Source(
            "rapidstream-org/rapidstream-tapa, tests/regression/serpens-32ch/rapidstream/gen_config.py",
            "https://github.com/rapidstream-org/rapidstream-tapa/blob/main/tests/regression/serpens-32ch/rapidstream/"
            "gen_config.py",
            "reserves 160,000 LUT and 260,000 FF in SLR0 for HBM and DDR, 36,000 and 72,000 in SLR1; a shell of 36,000 "
            "LUT, 46,000 FF and 131 block RAMs in each region on top is assumed",
        ),
        "banks": _CHANNELS,
        "ports": _CHANNELS,
        "port_bits": _CHANNELS,
        "bank_gbps": Source(
            "UG1393, HBM Configuration and Use",
            "https://docs.amd.com/r/2023.1-English/ug1393-vitis-application-acceleration/HBM-Configuration-and-Use",
            "14.375 GB/s of each pseudo channel, 460 in all: 64 bit at 1,800 MT/s are 14.4",
        ),
        "bank_gib": Source(
            "UG1393, HBM Configuration and Use",
            "https://docs.amd.com/r/2023.1-English/ug1393-vitis-application-acceleration/HBM-Configuration-and-Use",
            "8 GB of HBM in pseudo channels of 256 MB on the U280; the card's two DDR4 channels are not counted",
        ),
        "efficiency_range": Source(
            "Wang et al., Shuhai, FCCM 2020 (arXiv 2005.04324)",
            "https://arxiv.org/abs/2005.04324",
            "up to 425 of 460 GB/s; kernels of hbm_bandwidth reach 421.3; low: hbm_bandwidth_pseudo_random, 11.5 of "
            "14.375 GB/s a channel",
        ),
        "latency_ns": assumed("no page with a kernel's measurement was found; the scale is that of the U200's DDR4"),
        "idle_watts": Source(
            "Paderborn Center for Parallel Computing, power measurements",
            "https://upb-pc2.atlassian.net/wiki/spaces/PC2DOK/pages/1902007/Power+and+Energy+Measurements+of+FPGAs",
            "three cards show 39.2, 41.4 and 58.3 W, their load is not told; the low bound is assumed",
        ),
        "max_watts": assumed("PCIe slot of 75 W and a connector of 150 W"),
    },
)  # fmt: skip

ALVEO = (U200, U250, U280)
