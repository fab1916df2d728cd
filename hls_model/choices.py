"""What can be chosen by name, and sizes that are tried where none is given: what helps list, without NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Level = Literal["L1", "L2"]
LEVELS: tuple[Level, ...] = get_args(Level)  # of timing: by events, and cycle by cycle

Accounting = Literal["design", "paper"]
ACCOUNTINGS: Mapping[Accounting, str] = {
    "design": "LD, layout of columns and starts of kernels as the design has them",
    "paper": "LD of all pairs of SNPs at the rate of the accelerator that it cites, columns aligned as they come from "
    "memory, one start of the kernels for all positions",
}

Matrix = Literal["float32", "exact"]
"""How M is made: by the recurrence in float32, or summed in float64 and rounded once to float32."""
MATRICES: tuple[Matrix, ...] = get_args(Matrix)

Method = Literal["bottom-up", "paper-calibrated"]
METHODS: tuple[Method, ...] = get_args(Method)  # of estimates of resources

Operands = Literal["plain", "ties", "tiny", "special"]
OPERANDS: tuple[Operands, ...] = get_args(Operands)  # of a bench

ASIC = "asic"  # instead of a board: a chip of one's own, of which nothing is claimed
LEFT_BORDERS = 1000  # of the curve's position; the pipeline starts anew at each, so more change little
BURSTS = (64, 256, 1024, 4096)  # bytes that are read from DRAM
STRIDES = (64, 256, 1024, 4096, 65_536, 1 << 20)  # bytes from one of them to the next
