"""Documents that more than one board's figures come from."""

from __future__ import annotations

from collections.abc import Mapping

from hls_model.boards.board import Source
from hls_model.ranges import Range

__all__ = ["EXAMPLES", "PLACEABLE", "PLACEABLE_SOURCE", "POWER_REPORT", "STATIC", "example", "static_watts"]

PLACEABLE: Mapping[str, float] = {"bram18k": 0.8, "dsp": 0.8, "ff": 0.5, "lut": 0.7}
PLACEABLE_SOURCE = Source(
    "Xilinx Tcl Store, designutils::report_failfast",
    "https://github.com/Xilinx/XilinxTclStore/blob/master/tclapp/xilinx/designutils/report_failfast.tcl",
    "the vendor's guidelines of utilisation for a region: LUT 70 %, FD 50 %, DSP 80 %, RAMB/FIFO 80 %",
)

POWER_REPORT = Source(
    "rapidstream-org/rapidstream-cookbook, design_1_wrapper_power_routed.rptx",
    "https://github.com/rapidstream-org/rapidstream-cookbook/blob/main/benchmarks/vivado_flow/cnn13x2/archive/"
    "metadata_vivado/design_1_wrapper_power_routed.rptx",
    "report_power of Vivado 2022.2 for a routed HLS design in float32 on the XCU50 at 300 MHz, confidence Medium",
)
REPORT_STATIC_WATTS, REPORT_LUTS = 2.28, 871_680  # 'Device Static' at a junction of 34 C, and the LUTs of its device
STATIC = Source(
    POWER_REPORT.document,
    POWER_REPORT.url,
    "2.28 W of a device of 871,680 LUT at 34 C, in proportion to the LUTs; the bounds, for process and temperature, "
    "are assumed",
)


def static_watts(luts: int) -> Range:
    """Return the static power of a device of this family by its LUTs."""
    return Range(0.8, 1.0, 3.0).times(round(REPORT_STATIC_WATTS * luts / REPORT_LUTS, 1))


EXAMPLES = "https://github.com/Xilinx/Vitis_Accel_Examples/blob/main"


def example(path: str, note: str) -> Source:
    """Return a log of the vendor's examples as a source."""
    return Source(f"Vitis_Accel_Examples, {path}", f"{EXAMPLES}/{path}/README.rst", note)
