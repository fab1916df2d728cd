"""A model of the FPGA omega pipeline: throughput, resources and bottlenecks of a design, cycle by cycle.

The pipeline is the one of "Accelerating selective sweep detection using GPUs and FPGAs", sections V and VI.
NumPy is all it needs (Matplotlib for pictures).

Examples
--------
>>> from hls_model import Workload, load, simulate
>>> timing = simulate(Workload.uniform(13_000), load("u200"))
>>> timing.hardware_rate / 1e9  # doctest: +SKIP
3.22
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from hls_model.config import Config as Config, Memory as Memory
    from hls_model.errors import ModelError as ModelError
    from hls_model.operators import Operators as Operators
    from hls_model.presets import PRESETS as PRESETS, change as change, load as load, parse_settings as parse_settings
    from hls_model.timing import Timing as Timing, simulate as simulate
    from hls_model.workload import Workload as Workload

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "config": "Config Memory",
        "errors": "ModelError",
        "operators": "Operators",
        "presets": "PRESETS change load parse_settings",
        "timing": "Timing simulate",
        "workload": "Workload",
    },
)
