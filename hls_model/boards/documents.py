"""Documents that more than one board's figures come from."""

from __future__ import annotations

from collections.abc import Mapping

from hls_model.boards.source import Source

__all__ = ["EXAMPLES", "PLACEABLE", "PLACEABLE_SOURCE", "example"]

PLACEABLE: Mapping[str, float] = {"bram18k": 0.8, "dsp": 0.8, "ff": 0.5, "lut": 0.7}
PLACEABLE_SOURCE = Source(
    "Xilinx Tcl Store, designutils::report_failfast",
    "https://github.com/Xilinx/XilinxTclStore/blob/master/tclapp/xilinx/designutils/report_failfast.tcl",
    "the vendor's guidelines of utilisation for a region: LUT 70 %, FD 50 %, DSP 80 %, RAMB/FIFO 80 %",
)

EXAMPLES = "https://github.com/Xilinx/Vitis_Accel_Examples/blob/main"


def example(path: str, note: str) -> Source:
    """Return a log of the vendor's examples as a source."""
    return Source(f"Vitis_Accel_Examples, {path}", f"{EXAMPLES}/{path}/README.rst", note)
