"""What designs are made of: equal instances of a part, and what one floating-point operator takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hls_model.boards import Amount

__all__ = ["OPERATORS", "PLACED", "Part"]

# From reports of Vivado HLS 2019.2 for UltraScale+ of speed grade -2L, where a name ends in the latency. They lie in
# archive/benchmarks of https://github.com/UCLA-VAST/AutoBridge: PageRank/tapa_result/report has, at 4.00 ns on the
# XCU280, fadd, fsub, fcmp and a multiplier (ProcElem_csynth.rpt), fdiv and uitofp (Control_csynth.rpt). fmul is that of
# another report of the same project.

# (latency to which the flip-flops belong, amount) of one operator
OPERATORS: Mapping[str, tuple[int, Amount]] = {
    "fadd": (5, Amount(dsp=2, ff=205, lut=220)),
    "fsub": (5, Amount(dsp=2, ff=205, lut=220)),
    "fmul": (4, Amount(dsp=3, ff=143, lut=78)),
    "fdiv": (10, Amount(ff=461, lut=770)),
    "i2f": (4, Amount(ff=168, lut=283)),
    "imul": (2, Amount(dsp=2, ff=34, lut=20)),
    "fcmp": (2, Amount(ff=66, lut=46)),
}
PLACED = 0.75  # LUTs after placement for one in the report; an assumption


@dataclass(frozen=True)
class Part:
    """Equal instances of one part.

    Attributes
    ----------
    name, kind : str
        What it is, and the row of a synthesis report to which it belongs (`hls_model.resources.REPORT_ROWS`).
    count : int
        Instances.
    each : Amount
        What one takes.
    """

    name: str
    kind: str
    count: int
    each: Amount

    @property
    def total(self) -> Amount:
        """What all of them take."""
        return self.each.times(self.count)
