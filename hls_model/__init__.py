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
    from hls_model.config import Config, Memory
    from hls_model.errors import ModelError
    from hls_model.operators import Operators
    from hls_model.presets import PRESETS, change, load, parse_settings
    from hls_model.timing import Timing, simulate
    from hls_model.workload import Workload

__all__ = [
    "PRESETS",
    "Config",
    "Memory",
    "ModelError",
    "Operators",
    "Timing",
    "Workload",
    "change",
    "load",
    "parse_settings",
    "simulate",
]

HOMES = {
    "Config": "config",
    "Memory": "config",
    "ModelError": "errors",
    "Operators": "operators",
    "PRESETS": "presets",
    "Timing": "timing",
    "Workload": "workload",
    "change": "presets",
    "load": "presets",
    "parse_settings": "presets",
    "simulate": "timing",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
