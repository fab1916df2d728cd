"""The memory of the paper's simulation, as far as its numbers let us infer it.

The FPGA's rates come "from post-place-and-route cycle accurate simulations" (section VI.D), not from a board. The paper
states neither bandwidth nor latency of the memory there. A memory that keeps up with the ports, and a latency of 64
cycles, give the first two rates of Table III within 8 %. The 64 cycles are calibrated: 64 is the default of
`m_axi_latency` in the Vitis flow of HLS, a scheduling expectation, but 0 is that of the Vivado flow (AMD UG1399,
Default Settings of Vivado/Vitis Flows), and the paper used Vivado HLS 2020.1. By the rates alone 50 cycles would fit
better (`hls_model.paper.table3.fitted_latency`).
"""

from __future__ import annotations

import dataclasses

from hls_model.config import Config

__all__ = ["LATENCY_CYCLES", "OVERHEAD_CYCLES", "OVERHEAD_US", "as_simulated", "with_overhead"]

LATENCY_CYCLES = 64
OVERHEAD_CYCLES, OVERHEAD_US = 37, 133.0  # latency and cost per grid position that fit all three omega rates


def as_simulated(config: Config) -> Config:
    """Return the design with that memory, where it does not set its own latency or efficiency."""
    memory = config.memory
    return config.but(
        memory=dataclasses.replace(
            memory,
            latency_ns=memory.latency_ns or LATENCY_CYCLES * 1e3 / config.clock_mhz,
            efficiency=memory.efficiency or 1.0,
        )
    )


def with_overhead(config: Config) -> Config:
    """Return the design with a shorter latency and a cost per grid position: two numbers that fit three rates."""
    memory = dataclasses.replace(config.memory, latency_ns=OVERHEAD_CYCLES * 1e3 / config.clock_mhz)
    return config.but(memory=memory, position_overhead_us=OVERHEAD_US)
