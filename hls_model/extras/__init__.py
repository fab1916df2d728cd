"""What the core of the model can do without, and who needs it.

dram       level L2 with a DRAM behind the ports (`memory.dram`): who doubts the fixed latency and efficiency of memory
explore    many designs on one workload, and their Pareto front: who looks for a design rather than judges one
hls        the pipeline as C++ for high-level synthesis: who has a vendor's tools
power      watts, joules and the cost of scans: who pays for them
recording, trace, waves
           one grid position cycle by cycle, as text, in figures and as waveforms: who looks for lost cycles
sdtw       a systolic array for sDTW, the second client of the event engine: who compares nanopore accelerators

The core takes nothing of them but the names below, each when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from hls_model.extras.dram.memory import time_passes as time_passes
    from hls_model.extras.power import Power as Power, memory_joules as memory_joules, power_of as power_of

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "dram.memory": "time_passes",
        "power": "Power memory_joules power_of",
    },
)
