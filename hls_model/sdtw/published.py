"""SquiggleFilter's numbers beside the model's, each with what their agreement is worth.

SquiggleFilter (Dunn et al., MICRO-54, 2021) is a chip that was not made: its authors give a clock and an area from
synthesis. Their code is https://github.com/TimD1/SquiggleFilter, here at commit 11ddd72. The model has no board for it
(`ASIC`), and says nothing of whether its clock can be reached.
"""

from __future__ import annotations

from hls_model.paper.compared import Compared, Kind
from hls_model.sdtw.design import ASIC, SystolicArray
from hls_model.sdtw.timing import time_read

__all__ = ["RTL_RUNS", "SQUIGGLEFILTER", "compared"]

SQUIGGLEFILTER = SystolicArray(board=ASIC, pes=2_000, clock_mhz=2_500.0, load_stages=2)
COLUMNS, SAMPLES = 97_004, 2_000
SECONDS, CYCLES, READS_PER_S = 40.8e-6, 107_000, 23_364.0  # sdtw_analysis.ipynb; scripts/plots/plot_latencies.py; ibid.
# Their sDTW.sv, PE.sv and last_col.sv in Verilator 5.006: (PEs, columns, cycle in which the last PE takes its sample,
# cycles of the first and the last column in PE 0 and in the last PE). To be compiled, sDTW.sv lost connections to a
# port that PE has not, and the reset of a wire.
RTL_RUNS = ((8, 40, 15, 1, 40, 8, 47), (16, 100, 31, 1, 100, 16, 115), (32, 200, 63, 1, 200, 32, 231))


def compared() -> list[Compared]:
    """Return the model's numbers beside theirs: seconds, cycles, reads a second, and cycles of their circuit."""
    timed = time_read(SQUIGGLEFILTER, COLUMNS, SAMPLES)
    hertz = SQUIGGLEFILTER.clock_mhz * 1e6
    why_load = "cycles of loading are read off their RTL; the published number was not used"
    why_normaliser = "that these cycles hold a normaliser of two runs over the samples is inferred from them"
    why_rate = "theirs is their clock over their cycles; the model's normaliser works beside the array"
    rows: list[tuple[str, float, float, Kind, str]] = [
        ("us of a read, without normaliser", timed.busy / hertz * 1e6, SECONDS * 1e6, "predicted", why_load),
        ("cycles of a read", timed.normalise + timed.busy, CYCLES, "calibrated", why_normaliser),
        ("reads/s of a tile", hertz / timed.period, READS_PER_S, "restated", why_rate),
    ]
    for pes, columns, _, first, _, _, last in RTL_RUNS:
        small = time_read(SystolicArray(board=ASIC, pes=pes, load_stages=2), columns, pes)
        name, why = (
            f"cycles of their RTL, {pes} PEs x {columns} columns",
            "simulated; from the first column to the last score",
        )
        rows.append((name, small.stream + small.drain - 1, last - first + 1, "predicted", why))
    return [Compared(*row) for row in rows]
